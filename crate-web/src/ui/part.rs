//! A row of `model::parts` on the page: made anew when its signals say so, and put there if it is different.

use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, HtmlInputElement, HtmlSelectElement};

use super::app::App;
use super::browser::{all, focused, one};
use super::over;
use crate::model::parts::change::{Change, changes};
use crate::model::parts::{Part, Put};

/// A row, and what it put where.
pub(super) struct Row {
    part: &'static Part,
    place: Option<Element>,
    last: String,
}

impl Row {
    /// A row that has put nothing anywhere.
    pub(super) const fn new(part: &'static Part) -> Self {
        Self { part, place: None, last: String::new() }
    }

    /// Puts what the state says into its place.
    pub(super) fn refresh(&mut self, app: App) {
        let Some(place) = one(self.part.at) else { return };
        let now = app.read(self.part.make);
        // A place that is another element knows nothing yet.
        let known = self.place.as_ref() == Some(&place);
        if known && self.last == now {
            return;
        }
        let changes = known && self.part.put == Put::Changes;
        if !(changes && change(&place, &self.last, &now).is_some()) {
            put(app, &place, self.part.put, &now, !self.last.is_empty());
        }
        self.place = Some(place);
        self.last = now;
    }
}

fn put(app: App, place: &Element, how: Put, text: &str, again: bool) {
    let on = !text.is_empty();
    match how {
        Put::Text => place.set_text_content(Some(text)),
        Put::Markup | Put::Changes => set_markup(app, place, text),
        Put::After => {
            if let Some(old) = place.next_element_sibling().filter(|_| again) {
                old.remove();
            }
            let _ = place.insert_adjacent_html("afterend", text);
        }
        Put::Attribute(name) => _ = place.set_attribute(name, text),
        Put::Flag(name) => _ = place.toggle_attribute_with_force(name, on),
        Put::Class(name) => _ = place.class_list().toggle_with_force(name, on),
        Put::Value => {
            if let Some(select) = place.dyn_ref::<HtmlSelectElement>() {
                select.set_value(text);
            }
        }
        Put::Pressed => {
            for button in all(place, "button") {
                let pressed = button.get_attribute("data-do").is_some_and(|does| does == text);
                let _ =
                    button.set_attribute("aria-pressed", if pressed { "true" } else { "false" });
            }
        }
    }
}

/// Changes the words and attributes that are others, where nothing else is.
fn change(place: &Element, last: &str, now: &str) -> Option<()> {
    let elements = place.query_selector_all("*").ok()?;
    let n = changes(last, now, &mut |Change { element, name, value }| {
        let element: Element = elements.get(element)?.unchecked_into();
        if !name.is_empty() {
            let _ = element.set_attribute(name, value);
        } else if element.child_element_count() == 0 {
            element.set_text_content(Some(value));
        } else {
            return None;
        }
        Some(())
    })?;
    // Somebody else may have put something there, such as a translator.
    (n == elements.length()).then_some(())
}

/// Replaces the markup. A control that had the focus has it again if there still is one like it.
fn set_markup(app: App, place: &Element, markup: &str) {
    let held = focused().filter(|focused| place != focused && place.contains(Some(focused)));
    let handle = held.as_ref().and_then(|held| {
        let by = |name: &str| Some(["[", name, "=\"", &held.get_attribute(name)?, "\"]"].concat());
        by("data-key").or_else(|| by("data-do"))
    });
    place.set_inner_html(markup);
    over::dress(app, place);
    if let Some(again) = handle.and_then(|handle| place.query_selector(&handle).ok().flatten()) {
        // A field that one is writing in goes on where it was.
        if let (Some(old), Some(new)) = (
            held.as_ref().and_then(|held| held.dyn_ref::<HtmlInputElement>()),
            again.dyn_ref::<HtmlInputElement>(),
        ) {
            new.set_value(&old.value());
            if let Ok(Some(at)) = old.selection_start() {
                let _ = new.set_selection_range(at, at);
            }
        }
        let _ = again.unchecked_ref::<HtmlElement>().focus();
    }
}
