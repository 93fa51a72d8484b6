//! The edge: what effects do to the browser. What is missing there is passed over.

use leptos::prelude::{document, window};
use wasm_bindgen::prelude::*;
use web_sys::{
    Element, HtmlElement, HtmlTextAreaElement, ScrollIntoViewOptions, ScrollLogicalPosition,
    Storage,
};

use crate::model::action::Pane;
use crate::model::utf16::units;
use crate::model::view::{Room, Size, Tab, Theme};

/// Below this width the panes are tabs; `app.css` has the same number.
const NARROW: f64 = 900.0;

/// An element by its id.
pub(super) fn by_id<T: JsCast>(id: &str) -> Option<T> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

/// The first element that a selector finds.
pub(super) fn one(selector: &str) -> Option<Element> {
    document().query_selector(selector).ok().flatten()
}

/// All elements that a selector finds in another one.
pub(super) fn all(within: &Element, selector: &str) -> Vec<Element> {
    let mut found = Vec::new();
    if let Ok(list) = within.query_selector_all(selector) {
        for ix in 0..list.length() {
            if let Some(node) = list.get(ix) {
                found.push(node.unchecked_into());
            }
        }
    }
    found
}

/// Scrolls as little as brings an element into sight.
pub(super) fn nearest(element: &Element) {
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

/// The element with the focus, where it is not the whole page.
pub(super) fn focused() -> Option<Element> {
    document().active_element().filter(|element| element.tag_name() != "BODY")
}

/// How much room the page has now.
pub(super) fn room() -> Room {
    let width = window().inner_width().ok().and_then(|width| width.as_f64()).unwrap_or(1280.0);
    let size = |id: &str| {
        by_id::<Element>(id).map_or(Size::default(), |element| Size {
            width: f64::from(element.client_width()),
            height: f64::from(element.client_height()),
        })
    };
    Room { pane: size("graph"), track: size("scrubber").width, narrow: width < NARROW }
}

fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// What the browser's storage calls it.
fn stored_as(key: &str) -> String {
    ["foldback.", key].concat()
}

/// What was kept under a key.
pub(super) fn stored(key: &str) -> Option<String> {
    storage()?.get_item(&stored_as(key)).ok().flatten()
}

/// Keeps something; a browser that keeps nothing is no reason to fail.
pub(super) fn store(key: &str, value: &str) {
    if let Some(storage) = storage() {
        let _ = storage.set_item(&stored_as(key), value);
    }
}

/// What this tab kept under a key, or else the last one that kept anything.
pub(super) fn kept(key: &str) -> Option<String> {
    let own = window().session_storage().ok().flatten();
    let own = own.and_then(|own| own.get_item(&stored_as(key)).ok().flatten());
    own.or_else(|| stored(key))
}

/// Keeps something for this tab and for those that are opened after it.
pub(super) fn keep(key: &str, value: &str) {
    if let Some(own) = window().session_storage().ok().flatten() {
        let _ = own.set_item(&stored_as(key), value);
    }
    store(key, value);
}

/// What no other page has.
pub(super) fn seed() -> String {
    js_sys::Number::from(js_sys::Math::random())
        .to_string_with_radix(36)
        .map(String::from)
        .unwrap_or_default()
}

pub(super) fn stored_theme() -> Theme {
    Theme::from_key(&stored("theme").unwrap_or_default())
}

pub(super) fn set_theme(theme: Theme) {
    store("theme", theme.key());
    if let Some(root) = document().document_element() {
        let _ = match theme {
            Theme::System => root.remove_attribute("data-theme"),
            Theme::Light | Theme::Dark => root.set_attribute("data-theme", theme.key()),
        };
    }
}

/// Says on the root element how far the page is, for whoever waits for it.
pub(super) fn set_state(state: &str) {
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute("data-state", state);
    }
}

pub(super) fn show_text(text: &str, caret: usize) {
    let Some(editor) = by_id::<HtmlTextAreaElement>("text") else { return };
    editor.set_value(text);
    let caret = units(text, caret);
    let _ = editor.set_selection_range(caret, caret);
}

/// Puts a text on the clipboard.
pub(super) fn copy(text: &str) {
    let _ = window().navigator().clipboard().write_text(text);
    announce("Copied");
}

/// Says a sentence; the same one twice is said twice.
pub(super) fn announce(sentence: &str) {
    let Some(live) = by_id::<Element>("live") else { return };
    let same = live.text_content().is_some_and(|said| said == sentence);
    let again = [sentence, "\u{a0}"].concat();
    live.set_text_content(Some(if same { &again } else { sentence }));
}

/// Gives the first element that a selector finds the focus.
pub(super) fn focus(selector: &str) {
    if let Some(element) = one(selector) {
        // What is focused here has the method, whether it is of HTML or of SVG.
        let _ = element.unchecked_ref::<HtmlElement>().focus();
    }
}

pub(super) fn focus_pane(pane: Pane) {
    // What is not in sight cannot have the focus, and the tab is changed a little later.
    if let (Some(tab), Some(app)) = (Tab::of(pane), one("#app > .app")) {
        let _ = app.set_attribute("data-tab", tab.key());
    }
    match pane {
        Pane::Program => focus("#text"),
        Pane::Stage => {
            // The graph's one tab stop, else the panel that is over it.
            let stop = "#graph [tabindex='0'], #over [tabindex='0'], #over button";
            focus(if one(stop).is_some() { stop } else { "#stage" });
        }
        Pane::Side => focus("#side"),
        Pane::Stepper => focus("#scrubber"),
        Pane::Dock => focus("#dock button:not([disabled])"),
    }
}

pub(super) fn focus_node(node: u32) {
    focus(&["#graph [data-node='", &node.to_string(), "']"].concat());
}

/// The time in milliseconds, from some moment on.
pub(super) fn now() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// Whether a media query matches.
pub(super) fn matches(query: &str) -> bool {
    window().match_media(query).ok().flatten().is_some_and(|media| media.matches())
}
