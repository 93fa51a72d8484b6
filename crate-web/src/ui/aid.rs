//! What stands at a word of the program: where it is put, its keys, and the word under the pointer.

use js_sys::{Function, Reflect};
use leptos::prelude::{document, window};
use wasm_bindgen::prelude::*;
use web_sys::{
    CssStyleDeclaration, DomRect, Element, Event, HtmlElement, HtmlTextAreaElement, Node,
    PointerEvent,
};

use super::app::App;
use super::browser::{all, by_id, focused, one};
use super::draw::stand;
use super::listen::{callback, target};
use crate::model::action::Action;
use crate::model::markup::code;
use crate::model::utf16::{byte, units};
use crate::model::view::Aid;

/// How long the pointer rests on a word before something is said of it, in milliseconds.
const REST: i32 = 350;
/// What stays free around it, in pixels, and the greatest height.
const GAP: f64 = 8.0;
const MOST: f64 = 252.0;

/// A key while something stands there; whether it was for that.
pub(super) fn key(app: App, key: &str) -> bool {
    // It may have been asked for and hold nothing: then the key is not for it.
    let Some(list) = one("#aid .aid") else { return false };
    if key == "Escape" {
        app.dispatch(Action::Aid(Aid::Nothing));
        return true;
    }
    if focused().is_none_or(|held| held.id() != "text") {
        return false;
    }
    let lines = all(&list, "[role=option]");
    if lines.is_empty() {
        return false;
    }
    let at = lines.iter().position(|line| line.class_list().contains("on"));
    let asked = app.read(|state| state.view.aid) == Aid::Complete { asked: true };
    let n = lines.len();
    let to = match (key, at) {
        ("ArrowDown", at) => at.map_or(0, |at| (at + 1) % n),
        ("ArrowUp", at) => at.map_or(n - 1, |at| (at + n - 1) % n),
        ("Tab", at) => return write(&lines[at.unwrap_or(0)]),
        // Who only types ends the line; who has chosen, or has asked, writes the proposal.
        ("Enter", Some(at)) => return write(&lines[at]),
        ("Enter", None) if asked => return write(&lines[0]),
        _ => return false,
    };
    stand(&lines, to, "#text");
    true
}

fn write(line: &Element) -> bool {
    line.unchecked_ref::<HtmlElement>().click();
    true
}

/// Puts what has just been made beneath the word that it is about.
pub(super) fn place(app: App, place: &Element) {
    let found = place.query_selector(".aid").ok().flatten();
    if let Some(text) = one("#text") {
        let _ = text.remove_attribute("aria-activedescendant");
    }
    let Some(aid) = found else { return };
    let at = aid.get_attribute("data-at").and_then(|at| at.parse().ok()).unwrap_or(0);
    let Some(rect) = rect_of(app, at, at) else { return };
    let (width, height) = size();
    let aid: HtmlElement = aid.unchecked_into();
    let style = aid.style();
    // On the side with more room, and no larger than that.
    let (over, under) = (rect.top() - GAP, height - rect.bottom() - GAP);
    let own = f64::from(aid.offset_height());
    let above = own > under && over > under;
    let room = if above { over } else { under };
    pixels(&style, "max-height", room.min(MOST));
    let own = own.min(room);
    pixels(&style, "top", if above { rect.top() - own - 4.0 } else { rect.bottom() + 4.0 });
    let room = width - f64::from(aid.offset_width()) - GAP;
    pixels(&style, "left", rect.left().min(room).max(GAP));
}

/// The size of the page's window.
fn size() -> (f64, f64) {
    let number = |value: Result<JsValue, JsValue>| value.ok().and_then(|value| value.as_f64());
    let window = window();
    (
        number(window.inner_width()).unwrap_or_default(),
        number(window.inner_height()).unwrap_or_default(),
    )
}

/// A proposal that is pressed leaves the focus in the program, so that one can write on.
pub(super) fn pressed(_: App, event: &JsValue) {
    if target::<Element>(event)
        .is_some_and(|at| at.closest("[role=option]").is_ok_and(|o| o.is_some()))
    {
        event.unchecked_ref::<Event>().prevent_default();
    }
}

/// The focus has left the program: nothing is written there. A card stays until it is closed, or the pointer goes.
pub(super) fn blurred(app: App, _: &JsValue) {
    if let Aid::Complete { .. } = app.read(|state| state.view.aid) {
        app.dispatch(Action::Aid(Aid::Nothing));
    }
}

/// The program was scrolled: what stands at a word goes along.
pub(super) fn scrolled(app: App, _: &JsValue) {
    if let Some(aid) = by_id::<Element>("aid") {
        place(app, &aid);
    }
}

/// Sets a length; the content security policy lets a script do it, and no attribute.
pub(super) fn pixels(style: &CssStyleDeclaration, name: &str, value: f64) {
    let value = [(value.round() as i32).to_string().as_str(), "px"].concat();
    let _ = style.set_property(name, &value);
}

/// Where some bytes of a line of the program are on the page.
pub(super) fn rect_of(app: App, at: usize, end: usize) -> Option<DomRect> {
    let (line, column, until) = app.read(|state| {
        let text = state.doc.text();
        let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
        let column = |at: usize| Some(units(text.get(start..)?, at - start));
        Some((code::line_of(text, at), column(at)?, column(end)?))
    })?;
    let line = one("#program div.code")?.children().item(line as u32)?.last_element_child()?;
    let range = document().create_range().ok()?;
    let _ = range.select_node_contents(&line);
    if let Some((node, offset)) = inside(&line, column) {
        let _ = range.set_start(&node, offset);
        range.collapse_with_to_start(true);
        if let Some((node, offset)) = inside(&line, until) {
            let _ = range.set_end(&node, offset);
        }
    }
    Some(range.get_bounding_client_rect())
}

/// The text node of a line that holds a column, and where in it: a line is pieces of text, some of them in spans.
fn inside(line: &Element, column: u32) -> Option<(Node, u32)> {
    let mut left = column;
    let mut node = line.first_child()?;
    loop {
        let length = node.text_content().map_or(0, |text| text.encode_utf16().count() as u32);
        if left <= length {
            return Some((if node.node_type() == 3 { node } else { node.first_child()? }, left));
        }
        left -= length;
        node = node.next_sibling()?;
    }
}

/// The pointer has moved over the program: what it rests on is said something of.
pub(super) fn pointed(app: App, event: &JsValue) {
    let event: &PointerEvent = event.unchecked_ref();
    let on_text = target::<HtmlTextAreaElement>(event).is_some();
    if event.pointer_type() != "mouse" || event.buttons() != 0 || !on_text {
        return;
    }
    let (x, y) = (f64::from(event.client_x()), f64::from(event.client_y()));
    // What scrolls beneath it does not move it.
    if app.desk(|desk| desk.pointed) == Some((x, y)) {
        return;
    }
    let rest = callback(app, |app, _| {
        if let Aid::Complete { .. } = app.read(|state| state.view.aid) {
            return;
        }
        if let Some(at) = app.desk(|desk| desk.pointed).and_then(|(x, y)| byte_at(x, y)) {
            app.dispatch(Action::Aid(Aid::Card(at)));
        }
    });
    wait(app, Some((x, y)), Some(&rest));
}

/// The pointer has left the program, what stands there with it.
pub(super) fn left(app: App, _: &JsValue) {
    wait(app, None, None);
    if matches!(app.read(|state| state.view.aid), Aid::Card(_)) {
        app.dispatch(Action::Aid(Aid::Nothing));
    }
}

fn wait(app: App, at: Option<(f64, f64)>, then: Option<&Function>) {
    let timer = then.and_then(|then| {
        window().set_timeout_with_callback_and_timeout_and_arguments_0(then, REST).ok()
    });
    let old = app.desk(|desk| {
        desk.pointed = at;
        std::mem::replace(&mut desk.resting, timer)
    });
    if let Some(old) = old {
        window().clear_timeout_with_handle(old);
    }
}

/// The byte of the program under a point, where the browser can tell.
fn byte_at(x: f64, y: f64) -> Option<usize> {
    let document = document();
    let tell = Reflect::get(&document, &"caretPositionFromPoint".into()).ok()?;
    let position = tell.dyn_ref::<Function>()?.call2(&document, &x.into(), &y.into()).ok()?;
    let node = Reflect::get(&position, &"offsetNode".into()).ok()?;
    let offset = Reflect::get(&position, &"offset".into()).ok()?.as_f64()?;
    let text = node.dyn_ref::<HtmlTextAreaElement>()?.value();
    Some(byte(&text, offset as u32))
}
