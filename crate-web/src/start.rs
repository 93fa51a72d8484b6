//! The two entry points that the loader calls.

use js_sys::global;
use leptos::mount::mount_to;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, HtmlElement, Worker};

#[wasm_bindgen]
extern "C" {
    /// A worker running this very module; `www/loader.js` defines it before it starts the page.
    #[wasm_bindgen(js_name = spawnWorker, js_namespace = foldback)]
    fn spawn_worker() -> Worker;
}

/// Starts the page: mounts it into `#app` and starts its worker.
#[wasm_bindgen]
pub fn start_page() {
    let root = document().document_element().and_then(|root| root.dyn_into::<HtmlElement>().ok());
    let place = document().get_element_by_id("app").and_then(|app| app.dyn_into().ok());
    let (Some(root), Some(place)) = (root, place) else { return };
    mount_to(place, || view! { <h1>"Foldback"</h1> }).forget();

    let worker = spawn_worker();
    let ready = Closure::once_into_js(move || {
        let _ = root.dataset().set("state", "ready");
    });
    worker.set_onmessage(Some(ready.unchecked_ref()));
}

/// Starts the worker: the loader has already instantiated the module there.
#[wasm_bindgen]
pub fn start_worker() {
    if let Ok(scope) = global().dyn_into::<DedicatedWorkerGlobalScope>() {
        let _ = scope.post_message(&JsValue::from_str("ready"));
    }
}
