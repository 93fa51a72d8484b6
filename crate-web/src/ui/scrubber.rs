//! The scrubber under a finger or a pressed button: the place nearest to it. Under a pointer that only rests there it
//! says what happens at that place.

use wasm_bindgen::prelude::*;
use web_sys::{Element, PointerEvent};

use super::app::App;
use super::browser;
use crate::model::action::{Action, Move};
use crate::model::markup::track::Track;

pub(super) fn scrubbed(app: App, event: &JsValue) {
    let event: &PointerEvent = event.unchecked_ref();
    let Some(scrubber) = browser::by_id::<Element>("scrubber") else { return };
    if event.type_() == "pointerdown" {
        let _ = scrubber.set_pointer_capture(event.pointer_id());
    }
    let x = f64::from(event.client_x()) - scrubber.get_bounding_client_rect().left();
    let place = app.read(|state| Track::of(state).place_at(x));
    if event.type_() == "pointermove" && event.buttons() & 1 == 0 {
        let said = app.read(|state| {
            let timeline = &state.run.timeline;
            let words = timeline.words(timeline.step_at(state.view.grain, place));
            [words.title, ": ".to_owned(), words.sentence].concat()
        });
        let _ = scrubber.set_attribute("title", said.trim_end_matches(": "));
        return;
    }
    app.dispatch(Action::Step(Move::Place(place)));
}
