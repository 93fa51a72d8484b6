//! The keyboard map, in a dialog that the browser opens and closes.

use leptos::prelude::*;

use crate::model::keys::MAP;

/// The dialog; `#keys` opens it.
#[component]
pub(crate) fn Help() -> impl IntoView {
    let groups = MAP.map(|(title, keys)| {
        let rows = keys.iter().map(|(key, does)| {
            view! { <div><dt><kbd>{*key}</kbd></dt><dd>{*does}</dd></div> }
        });
        view! { <section><h3>{title}</h3><dl>{rows.collect_view()}</dl></section> }
    });
    view! {
        <dialog id="keys" class="keys" aria-labelledby="keys-title">
            <form method="dialog">
                <div class="head"><h2 id="keys-title">"Keyboard map"</h2><span class="grow"></span>
                    <button class="btn line">"Close"</button></div>
            </form>
            <div class="groups">{groups.into_iter().collect_view()}</div>
            <p class="ink3">"Single letters work while the graph or the stepper has the focus."</p>
        </dialog>
    }
}
