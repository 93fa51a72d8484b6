//! The program: a text field over its own picture in colours.

use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlTextAreaElement, InputEvent};

use super::app::App;
use super::browser::{focused, one};
use crate::model::action::Action;
use crate::model::markup::code::{self, Said};
use crate::model::reduce::State;
use crate::model::utf16::byte;

/// Colours the text, and marks the lines of the caret and of the step.
pub(super) fn paint(app: App) {
    let Some(under) = one("#program div.code") else { return };
    let of = app.read(|state| Some((state.doc.rev(), state.run.version)));
    if app.desk(|desk| std::mem::replace(&mut desk.coloured, of)) != of {
        let colours = app.read(|state| code::code(state.doc.text(), said(state)));
        under.set_inner_html(&colours);
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
