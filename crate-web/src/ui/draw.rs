//! The list of things to draw: which of its lines the keys stand at. What a line does is a command like any other.

use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement};

use super::app::App;
use super::browser::{all, by_id, focused, nearest, one};
use crate::model::action::Action;
use crate::model::view::Draw;

/// A key while the list is open; whether it was for the list.
pub(super) fn key(app: App, key: &str) -> bool {
    if key == "Escape" {
        app.dispatch(Action::Draw(Draw::Nothing));
        return true;
    }
    let Some(list) = by_id::<Element>("draw") else { return false };
    if !focused().is_some_and(|element| list.contains(Some(&element))) {
        return false;
    }
    let lines = all(&list, "[role=option]");
    let at = lines.iter().position(|line| line.class_list().contains("on"));
    let n = lines.len();
    let to = match (key, at) {
        _ if n == 0 => return false,
        ("ArrowDown", Some(at)) => (at + 1) % n,
        ("ArrowUp", Some(at)) => (at + n - 1) % n,
        ("Enter", Some(at)) => {
            lines[at].unchecked_ref::<HtmlElement>().click();
            return true;
        }
        _ => return false,
    };
    stand(&lines, to, "#draw input");
    true
}

/// A list that has just been put there: its field has the focus, and the keys stand at its first line.
pub(super) fn open(app: App, place: &Element) {
    let Some(field) = one("#draw input") else { return };
    // Who has begun to write meanwhile goes on; from there the list of everything is called by its keys.
    let writes = focused().is_some_and(|held| held.id() == "text");
    if writes && !matches!(app.read(|state| state.view.draw), Draw::Find { .. }) {
        return;
    }
    if !focused().is_some_and(|element| place.contains(Some(&element))) {
        let _ = field.unchecked_ref::<HtmlElement>().focus();
    }
    stand(&all(place, "[role=option]"), 0, "#draw input");
}

/// Puts the keys at a line; the field that has the focus says so.
pub(super) fn stand(lines: &[Element], at: usize, field: &str) {
    for (ix, line) in lines.iter().enumerate() {
        line.set_id(&["line-", &ix.to_string()].concat());
        let is = ix == at;
        let _ = line.class_list().toggle_with_force("on", is);
        let _ = line.set_attribute("aria-selected", if is { "true" } else { "false" });
        if is {
            if let Some(field) = one(field) {
                let _ = field.set_attribute("aria-activedescendant", &line.id());
            }
            nearest(line);
        }
    }
}
