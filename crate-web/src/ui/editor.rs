//! The program: a text field over its own picture in colours.

use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, HtmlTextAreaElement, InputEvent};

use super::aid;
use super::app::App;
use super::browser::{by_id, focused, nearest, one};
use crate::model::action::Action;
use crate::model::markup::code::{self, Said};
use crate::model::reduce::State;
use crate::model::utf16::byte;

/// Colours the text, and marks the lines of the caret and of the step.
pub(super) fn paint(app: App) {
    let Some(under) = one("#program div.code") else { return };
    let of = app.read(|state| Some((state.doc.rev(), state.run.version)));
    let mut fresh = false;
    if app.desk(|desk| std::mem::replace(&mut desk.coloured, of)) != of {
        let colours = app.read(|state| code::code(state.doc.text(), said(state)));
        app.desk(|desk| {
            repaint(&under, &desk.colours, &colours);
            desk.colours = colours;
        });
        fresh = true;
    }
    // The caret and the step change often: only classes of lines change with them.
    let lines = app.read(|state| {
        let text = state.doc.text();
        let node = state.run.inspected(&state.view);
        let now = node.and_then(|node| code::line_of_node(text, said(state)?, node));
        [("cur", Some(code::line_of(text, state.doc.caret()))), ("now", now)]
    });
    for (class, line) in lines {
        mark(&under, class, line);
    }
    // What is said of a text takes room from it: the line that one writes in stays in sight.
    if fresh
        && focused().is_some_and(|held| held.id() == "text")
        && let Some(line) = one("#program .cur")
    {
        nearest(&line);
    }
}

/// So many lines are changed one by one.
const FEW: usize = 50;

/// Changes the lines that are others, and no others: of a long text each keystroke would make thousands of elements.
fn repaint(under: &Element, was: &str, is: &str) {
    let (head, n, come) = code::changed(was, is);
    if was.is_empty() || n > FEW {
        return under.set_inner_html(is);
    }
    let lines = under.children();
    for line in (0..n).filter_map(|_| lines.item(head as u32)) {
        line.remove();
    }
    let _ = match lines.item(head as u32) {
        Some(next) => next.insert_adjacent_html("beforebegin", &come),
        None => under.insert_adjacent_html("beforeend", &come),
    };
}

/// Marks the bracket at the caret and the one that it belongs to.
pub(super) fn brackets(app: App) {
    let pair = app.read(|state| code::brackets(state.doc.text(), state.doc.caret()));
    for (ix, id) in ["bracket", "partner"].into_iter().enumerate() {
        let Some(mark) = by_id::<HtmlElement>(id) else { continue };
        let at = pair.and_then(|pair| pair[ix]);
        let rect = at.and_then(|at| aid::rect_of(app, at, at + 1));
        let paper = mark.parent_element().map(|paper| paper.get_bounding_client_rect());
        let style = mark.style();
        let (Some(rect), Some(paper)) = (rect, paper) else {
            let _ = style.set_property("display", "none");
            continue;
        };
        let odd = pair.is_some_and(|pair| pair[1].is_none());
        let _ = mark.class_list().toggle_with_force("odd", odd);
        let _ = style.remove_property("display");
        for (name, value) in [
            ("left", rect.left() - paper.left()),
            ("top", rect.top() - paper.top()),
            ("width", rect.width()),
            ("height", rect.height()),
        ] {
            aid::pixels(&style, name, value);
        }
    }
}

/// What the engine has said of the text.
fn said(state: &State) -> Option<Said<'_>> {
    let run = &state.run;
    run.newest.as_ref().map(|answer| Said { report: &answer.report, of: &run.of })
}

/// Moves a class to a line.
fn mark(code: &Element, class: &str, line: Option<usize>) {
    let lines = code.children();
    let wanted = line.and_then(|line| lines.item(line as u32));
    let marked = code.query_selector(&[":scope > .", class].concat()).ok().flatten();
    if let Some(marked) = marked.filter(|marked| Some(marked) != wanted.as_ref()) {
        let _ = marked.class_list().remove_1(class);
    }
    if let Some(wanted) = wanted {
        let _ = wanted.class_list().add_1(class);
    }
}

/// The field's text, and its caret in bytes.
fn state_of(editor: &HtmlTextAreaElement) -> (String, usize) {
    let text = editor.value();
    let caret = editor.selection_end().ok().flatten().unwrap_or(0);
    let caret = byte(&text, caret);
    (text, caret)
}

pub(super) fn typed(app: App, event: &JsValue) {
    if let Some(editor) = super::listen::target(event) {
        let (text, caret) = state_of(&editor);
        app.dispatch(Action::Type { text, caret });
    }
}

/// The browser's own history knows nothing of fixes and rules: ours replaces it.
pub(super) fn before(app: App, event: &JsValue) {
    let event: &InputEvent = event.unchecked_ref();
    let action = match event.input_type().as_str() {
        "historyUndo" => Action::Undo,
        "historyRedo" => Action::Redo,
        _ => return,
    };
    event.prevent_default();
    app.dispatch(action);
}

pub(super) fn caret_moved(app: App, _: &JsValue) {
    if let Some(editor) = focused().and_then(|held| held.dyn_into::<HtmlTextAreaElement>().ok()) {
        app.dispatch(Action::Caret(state_of(&editor).1));
    }
}
