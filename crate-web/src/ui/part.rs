//! A row of `model::parts` on the page: made anew when its signals say so, and put there if it is different.

use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, HtmlInputElement, HtmlSelectElement};

use super::app::App;
use super::browser::{all, focused, one};
use super::over;
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
        if self.part.put == Put::Items && known {
            items(app, &place, &self.last, &now);
        } else {
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
        Put::Markup | Put::Items => set_markup(app, place, text),
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

/// Replaces the items whose markup is another one; all of them where there are more or fewer. A list can be of thousands,
/// and a step changes two.
fn items(app: App, place: &Element, last: &str, now: &str) {
    const ITEM: &str = "<li>";
    if last.matches(ITEM).count() != now.matches(ITEM).count() {
        return set_markup(app, place, now);
    }
    let list = place.children();
    for (ix, (was, is)) in last.split(ITEM).zip(now.split(ITEM)).enumerate().skip(1) {
        if was != is
            && let Some(item) = list.item(ix as u32 - 1)
        {
            set_markup(app, &item, is.trim_end_matches("</li>"));
        }
    }
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
