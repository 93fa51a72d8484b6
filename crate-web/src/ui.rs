//! The page: one frame, effects that fill its places, and listeners that dispatch actions. Nothing here decides
//! anything.

mod aid;
mod app;
mod browser;
mod canvas;
mod draw;
mod editor;
mod files;
mod hand;
mod keys;
mod listen;
mod map;
mod over;
mod part;
mod scrubber;

use leptos::prelude::*;

use crate::model::markup::shell;
use crate::model::parts::{CAMERA, CARET, ENGINE, OVER, PARTS, SAID, STEP, Signals, TEXT};
use app::App;

/// What is more than a text of its own, and when it is looked at again.
const DRAWN: [(Signals, fn(App)); 6] = [
    (TEXT | CARET | SAID | STEP, editor::paint),
    (TEXT | CARET | SAID, editor::brackets),
    (SAID | STEP, canvas::draw),
    (CAMERA, canvas::look),
    (ENGINE, canvas::open_anyway),
    (OVER, over::open),
];

/// The page, for the element with the id `app`. It opens the text kept in the browser, or else this one.
pub(crate) fn page(first: &str) -> impl IntoView + use<> {
    let kept = browser::kept("text").filter(|text| !text.is_empty());
    let app = App::new(kept.as_deref(), first);
    for part in PARTS {
        let mut row = part::Row::new(part);
        watch(app, part.on, Box::new(move |app| row.refresh(app)));
    }
    for (on, draw) in DRAWN {
        watch(app, on, Box::new(draw));
    }
    // The last effect, so that the frame is there and filled.
    watch(
        app,
        0,
        Box::new(|app| {
            listen::listen(app);
            app.begin();
        }),
    );
    view! { <div class="app" inner_html=shell::shell()></div> }
}

/// Runs something after the frame is there, and again after each of these signals.
fn watch(app: App, on: Signals, mut run: Box<dyn FnMut(App)>) {
    Effect::new(move |_| {
        app.track(on);
        run(app);
    });
}
