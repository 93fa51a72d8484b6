//! The page as a whole: which panes there are, and what listens to all of it.

use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{DragEvent, Element, KeyboardEvent, ResizeObserver};

use super::app::App;
use super::{browser, canvas, dock, editor, files, help, keys, over, side, stepper, top};
use crate::model::action::Action;
use crate::model::view::{Over, Tab};

/// The page.
#[component]
pub(crate) fn Root(
    /// Its state.
    app: App,
) -> impl IntoView {
    provide_context(app);
    listen(app);
    let tab = move || match app.view.with(|view| view.tab) {
        Tab::Program => "program",
        Tab::Graph => "graph",
        Tab::Inspect => "inspect",
    };
    let is_over = move || app.view.with(|view| view.over != Over::Graph);
    view! {
        <div class="app" data-tab=tab data-over=move || is_over().to_string()>
            <top::Top/>
            <top::Tabs/>
            <main class="work">
                <editor::Program/>
                <section class="stage" id="stage" aria-label="Graph" tabindex="-1">
                    <canvas::Canvas/>
                    <over::Over/>
                </section>
                <side::Side/>
            </main>
            <stepper::Stepper/>
            <dock::Dock/>
            <help::Help/>
            <p id="live" class="vh" role="status" aria-live="polite"></p>
        </div>
    }
}

/// What the page listens to as long as it lives.
fn listen(app: App) {
    let on_key = window_event_listener(leptos::ev::keydown, move |event: KeyboardEvent| {
        keys::pressed(app, &event);
    });
    let over =
        window_event_listener(leptos::ev::dragover, |event: DragEvent| event.prevent_default());
    let drop = window_event_listener(leptos::ev::drop, move |event: DragEvent| {
        files::dropped(app, &event);
    });
    on_cleanup(move || {
        on_key.remove();
        over.remove();
        drop.remove();
    });
    // The observer lives as long as the page, and so does what it calls.
    Effect::new(move |_| {
        let resized = Closure::<dyn Fn()>::new(move || {
            app.dispatch(Action::Resize(browser::room()));
        });
        if let Ok(observer) = ResizeObserver::new(resized.as_ref().unchecked_ref()) {
            for id in ["graph", "scrubber"] {
                if let Some(element) = browser::by_id::<Element>(id) {
                    observer.observe(&element);
                }
            }
            std::mem::forget(observer);
        }
        resized.forget();
    });
}
