//! The two entry points that the loader calls.

use js_sys::global;
use wasm_bindgen::prelude::*;

use crate::worker;

#[cfg(feature = "page")]
#[expect(unreachable_pub, reason = "what the loader calls")]
mod page {
    use std::panic::{self, PanicHookInfo};

    use leptos::mount::mount_to;
    use leptos::prelude::*;
    use wasm_bindgen::prelude::*;

    use crate::model::examples::FIRST;

    #[wasm_bindgen]
    extern "C" {
        /// Shows the banner of `index.html`, which needs nothing of this module any more.
        #[wasm_bindgen(js_name = fail, js_namespace = foldback)]
        fn fail(message: &str);
    }

    /// Starts the page in `#app`, with the text kept in the browser, or the first example.
    #[wasm_bindgen]
    pub fn start_page() {
        panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| fail(&panic.to_string())));
        let Some(place) = document().get_element_by_id("app").and_then(|app| app.dyn_into().ok())
        else {
            return;
        };
        mount_to(place, || crate::ui::page(FIRST)).forget();
    }
}

/// Starts the worker: the loader has already instantiated the module there. `faults` is for tests.
#[wasm_bindgen]
pub fn start_worker(faults: bool) {
    if let Ok(scope) = global().dyn_into() {
        worker::start(scope, faults);
    }
}

/// What a worker answers to a text; empty where its part of the engine does not reach. Tests compare the parts by it.
#[wasm_bindgen]
pub fn answer(text: &str) -> Vec<u8> {
    let analysis = foldback::report::analyse(text, &foldback::construct::Budget::default());
    worker::answer(&analysis, text, crate::model::layout::Orientation::Wide, "").unwrap_or_default()
}

/// A few words that stand for every bit that a text leads to. Tests compare them with the native build's, and so can
/// whoever reports that two browsers disagree.
#[cfg(feature = "full")]
#[wasm_bindgen]
pub fn digest(text: &str) -> String {
    foldback::report::analyse(text, &foldback::construct::Budget::default()).digest()
}
