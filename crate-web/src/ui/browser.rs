//! The edge: what effects do to the browser. Everything is found by its id, and what is missing is passed over.

use std::cell::Cell;

use leptos::prelude::{document, window};
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlDialogElement, HtmlElement, HtmlTextAreaElement, Storage};

use super::app::App;
use crate::model::action::{Action, Pane};
use crate::model::utf16::units;
use crate::model::view::{Room, Size, Theme};

/// Below this width the panes are tabs; `app.css` has the same number.
const NARROW: f64 = 900.0;

/// An element by its id.
pub(super) fn by_id<T: JsCast>(id: &str) -> Option<T> {
    document().get_element_by_id(id)?.dyn_into().ok()
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

/// What was kept under a key.
pub(super) fn stored(key: &str) -> Option<String> {
    storage()?.get_item(&format!("foldback.{key}")).ok().flatten()
}

/// Keeps something; a browser that keeps nothing is no reason to fail.
pub(super) fn store(key: &str, value: &str) {
    if let Some(storage) = storage() {
        let _ = storage.set_item(&format!("foldback.{key}"), value);
    }
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

/// Says a sentence; the same one twice is said twice.
pub(super) fn announce(sentence: &str) {
    let Some(live) = by_id::<Element>("live") else { return };
    let same = live.text_content().is_some_and(|said| said == sentence);
    live.set_text_content(Some(&if same {
        format!("{sentence}\u{a0}")
    } else {
        sentence.to_owned()
    }));
}

/// Gives an element the focus, and where it already has it, leaves it there.
fn focus(element: Option<HtmlElement>) {
    if let Some(element) = element {
        let _ = element.focus();
    }
}

fn first_of(selector: &str) -> Option<HtmlElement> {
    document().query_selector(selector).ok().flatten()?.dyn_into().ok()
}

pub(super) fn focus_pane(pane: Pane) {
    match pane {
        Pane::Program => focus(by_id("text")),
        Pane::Stage => {
            // The graph's one tab stop, else the panel that is over it.
            let stop = document()
                .query_selector("#graph [tabindex='0'], #over [tabindex='0'], #over button");
            match stop.ok().flatten().and_then(|stop| stop.dyn_into::<web_sys::SvgElement>().ok()) {
                Some(node) => drop(node.focus()),
                None => focus(by_id("stage")),
            }
        }
        Pane::Side => focus(by_id("side")),
        Pane::Stepper => focus(by_id("scrubber")),
        Pane::Dock => focus(first_of("#dock button:not([disabled])")),
    }
}

pub(super) fn focus_node(node: u32) {
    let found = document().query_selector(&format!("#graph [data-node='{node}']"));
    if let Some(node) =
        found.ok().flatten().and_then(|node| node.dyn_into::<web_sys::SvgElement>().ok())
    {
        let _ = node.focus();
    }
}

pub(super) fn show_help() {
    if let Some(dialog) = by_id::<HtmlDialogElement>("keys")
        && !dialog.open()
    {
        let _ = dialog.show_modal();
    }
}

thread_local! {
    /// The one timer of playing: pausing and playing again must not make two.
    static BEAT: Cell<Option<i32>> = const { Cell::new(None) };
}

/// Waits, then says that it is time for the next step.
pub(super) fn beat(app: App, milliseconds: u32) {
    if let Some(timer) = BEAT.take() {
        window().clear_timeout_with_handle(timer);
    }
    // Without motion there is nothing to see between steps, so there has to be time to read.
    let slow = matches("(prefers-reduced-motion: reduce)");
    let wait = if slow { milliseconds.max(1000) } else { milliseconds };
    let beat = Closure::once_into_js(move || app.dispatch(Action::Beat));
    let timer = window()
        .set_timeout_with_callback_and_timeout_and_arguments_0(beat.unchecked_ref(), wait as i32);
    BEAT.set(timer.ok());
}

/// The time in milliseconds, from some moment on.
pub(super) fn now() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// Whether a media query matches.
pub(super) fn matches(query: &str) -> bool {
    window().match_media(query).ok().flatten().is_some_and(|media| media.matches())
}
