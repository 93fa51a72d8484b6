//! What opens over the graph: put there whole, and filled by rows of its own from then on.

use wasm_bindgen::prelude::*;
use web_sys::Element;

use super::app::App;
use super::browser::{by_id, one};
use super::listen::target;
use crate::model::action::Action;
use crate::model::markup::{over, steps};
use crate::model::view::Scroll;

/// Puts the panel there that is open now.
pub(super) fn open(app: App) {
    let (panel, step) = app.read(|state| (over::panel(state), state.view.step));
    if let Some(old) = by_id::<Element>("over") {
        old.remove();
    }
    let Some(stage) = by_id::<Element>("stage").filter(|_| !panel.is_empty()) else { return };
    let _ = stage.insert_adjacent_html("beforeend", &panel);
    // The table opens where one stands.
    if let Some(body) = one("#over > .steps") {
        body.set_scroll_top((step * steps::ROW) as i32 - body.client_height() / 2);
    }
}

pub(super) fn scrolled(app: App, event: &JsValue) {
    if let Some(body) = target::<Element>(event).filter(|body| body.class_list().contains("steps"))
    {
        let (top, height) = (f64::from(body.scroll_top()), f64::from(body.client_height()));
        app.dispatch(Action::Scroll(Scroll { top, height }));
    }
}
