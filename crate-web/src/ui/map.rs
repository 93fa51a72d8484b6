//! The minimap under a pointer or the arrow keys: the picture moves so that the place is in the middle of its pane.

use wasm_bindgen::prelude::*;
use web_sys::{Element, PointerEvent};

use super::app::App;
use super::browser::one;
use super::listen::target;
use crate::model::action::Action;
use crate::model::map;

pub(super) fn pressed(app: App, event: &JsValue) {
    let event: &PointerEvent = event.unchecked_ref();
    if event.type_() == "pointerdown" {
        if let Some(place) = target::<Element>(event) {
            let _ = place.set_pointer_capture(event.pointer_id());
        }
    } else if event.buttons() & 1 == 0 {
        return;
    }
    let Some(room) = one("#map svg").map(|svg| svg.get_bounding_client_rect()) else { return };
    let at = (f64::from(event.client_x()) - room.left(), f64::from(event.client_y()) - room.top());
    if let Some((dx, dy)) = app.read(|state| map::pan_to(state, at, (room.width(), room.height())))
    {
        app.dispatch(Action::Pan(dx, dy));
    }
}

/// Whether a key was for the map.
pub(super) fn key(app: App, key: &str) -> bool {
    let (dx, dy) = match key {
        "ArrowLeft" => (1.0, 0.0),
        "ArrowRight" => (-1.0, 0.0),
        "ArrowUp" => (0.0, 1.0),
        "ArrowDown" => (0.0, -1.0),
        _ => return false,
    };
    app.dispatch(Action::Pan(dx * map::STRIDE, dy * map::STRIDE));
    true
}
