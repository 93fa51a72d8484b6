//! The buttons of the panels: problems on the right, checks and steps over the graph.

use leptos::prelude::*;

use super::app::app;
use crate::model::action::Action;
use crate::model::markup::prints_ne;
use crate::model::view::{Over, Side};

/// The lowest bar.
#[component]
pub(crate) fn Dock() -> impl IntoView {
    let app = app();
    let n_problems = Memo::new(move |_| app.said.with(|said| said.run.problems().len()));
    let n_steps = Memo::new(move |_| app.said.with(|said| said.run.timeline.len()));
    let checks = Memo::new(move |_| {
        app.said.with(|said| {
            let done = said.run.checks.as_ref().map(|checks| checks.rows.len().to_string());
            let asked = said.run.report().is_some_and(|report| !report.checks.is_empty());
            done.or_else(|| asked.then(|| "fd".to_owned()))
        })
    });
    let note = Memo::new(move |_| {
        app.said.with(|said| said.run.report().is_some_and(|report| prints_ne(&report.rules)))
    });
    let is = move |over: Over| move || app.view.with(|view| view.over == over).to_string();
    let shows_problem =
        move || app.view.with(|view| matches!(view.side, Side::Problem(_))).to_string();
    view! {
        <nav class="dock" id="dock" aria-label="Panels">
            <button class="tab" id="dock-first" aria-pressed=shows_problem
                disabled=move || n_problems.get() == 0
                on:click=move |_| app.dispatch(Action::NextProblem { forward: true })>"Problems"
                <span class="count-pill" class:refg=move || n_problems.get() != 0>{move || n_problems.get()}</span></button>
            <button class="tab" aria-pressed=is(Over::Checks)
                on:click=move |_| app.dispatch(Action::Toggle(Over::Checks))>"Checks"
                {move || checks.get().map(|count| view! { <span class="count-pill">{count}</span> })}</button>
            <button class="tab" aria-pressed=is(Over::Steps)
                on:click=move |_| app.dispatch(Action::Toggle(Over::Steps))>"Steps"
                <span class="count-pill">{move || n_steps.get()}</span></button>
            <span class="status">
                <span>{move || if note.get() {
                    "Shapes are row-major; ne is the order ggml prints"
                } else {
                    "Shapes are row-major"
                }}</span>
                <span>"F6 next pane"</span>
            </span>
        </nav>
    }
}
