//! From the browser's key events to the keyboard map of `model::keys`.

use wasm_bindgen::prelude::*;
use web_sys::{Element, KeyboardEvent};

use super::app::App;
use super::browser::focused;
use super::{aid, draw, editor, hand, map, over};
use crate::model::action::Pane;
use crate::model::keys::{Focus, Press, action};
use crate::model::view::{Aid, Draw};

pub(super) fn pressed(app: App, event: &JsValue) {
    let event: &KeyboardEvent = event.unchecked_ref();
    // A dialog or a menu that is open has the keys.
    if event.default_prevented() || event.is_composing() {
        return;
    }
    let focused = focused();
    if focused.as_ref().is_some_and(|element| within(element, "dialog, [popover]:popover-open")) {
        return;
    }
    let key = event.key();
    if key == "Escape" && hand::cancelled(app) {
        return event.prevent_default();
    }
    if focused.as_ref().is_some_and(|element| element.id() == "map") && map::key(app, &key) {
        return event.prevent_default();
    }
    if app.read(|state| state.view.draw) != Draw::Nothing && draw::key(app, &key) {
        return event.prevent_default();
    }
    // With another key held it is the text's: one selects, or goes back.
    let is_plain = !(event.shift_key() || event.ctrl_key() || event.meta_key() || event.alt_key());
    if is_plain && app.read(|state| state.view.aid) != Aid::Nothing && aid::key(app, &key) {
        return event.prevent_default();
    }
    if focused.as_ref().is_some_and(|element| element.has_attribute("data-scrub"))
        && let Some(by) = match &*key {
            "ArrowRight" | "ArrowUp" => Some("1"),
            "ArrowLeft" | "ArrowDown" => Some("-1"),
            _ => None,
        }
    {
        event.prevent_default();
        return over::turn(by);
    }
    let press = Press {
        key: &key,
        command: event.ctrl_key() || event.meta_key(),
        shift: event.shift_key(),
        alt: event.alt_key(),
        held: event.repeat(),
    };
    let (over, map) = app.read(|state| (state.view.over, state.view.keys));
    let (place, pane) = (place(focused.as_ref()), pane(focused.as_ref()));
    if let Some(action) = action(press, place, pane, over, &map) {
        event.prevent_default();
        // The browser tells of a caret that moves a little later.
        editor::caret_moved(app, event);
        app.dispatch(action);
    }
}

fn within(element: &Element, selector: &str) -> bool {
    element.closest(selector).ok().flatten().is_some()
}

fn place(focused: Option<&Element>) -> Focus {
    let Some(element) = focused else { return Focus::Nowhere };
    match element {
        _ if within(element, "textarea, input, select") => Focus::Field,
        _ if within(element, "#graph") => Focus::Graph,
        _ if within(element, "#scrubber") => Focus::Scrubber,
        _ if within(element, "#stepper") => Focus::Stepper,
        _ if element.is_instance_of::<web_sys::HtmlElement>() && element.id() == "stage" => {
            Focus::Graph
        }
        _ => Focus::Elsewhere,
    }
}

fn pane(focused: Option<&Element>) -> Option<Pane> {
    let element = focused?;
    let panes = [
        ("#program", Pane::Program),
        ("#stage", Pane::Stage),
        ("#side", Pane::Side),
        ("#stepper", Pane::Stepper),
        ("#dock", Pane::Dock),
    ];
    panes.into_iter().find(|(selector, _)| within(element, selector)).map(|(_, pane)| pane)
}
