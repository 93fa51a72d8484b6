//! The right column: the node of the step, or the problem.

use leptos::html;
use leptos::prelude::*;
use web_sys::MouseEvent;

use super::app::app;
use super::markup::{clicked, icon, keep};
use crate::model::action::Action;
use crate::model::markup::{inspect, problem};
use crate::model::view;

/// The right column.
#[component]
pub(crate) fn Side() -> impl IntoView {
    let app = app();
    let body = NodeRef::<html::Div>::new();
    let shows = Memo::new(move |_| app.view.with(|view| view.side));
    let n = Memo::new(move |_| app.said.with(|said| said.run.problems().len()));
    keep(
        body,
        Memo::new(move |_| {
            app.view.with(|view| {
                app.said.with(|said| match (view.side, &said.run.newest) {
                    (view::Side::Problem(ix), Some(newest)) => {
                        problem::problem(&newest.report, &said.of, ix, view.fix)
                    }
                    _ => inspect::inspect(&said.run, view),
                })
            })
        }),
    );
    let is_problem = move || matches!(shows.get(), view::Side::Problem(_));
    let head = move || {
        match shows.get() {
        view::Side::Problem(ix) => view! {
            <h2>"Problem"</h2>
            <span class="sub">{format!("{} of {}", (ix + 1).min(n.get()), n.get())}</span>
            <button class="btn icon" aria-label="Previous problem"
                on:click=move |_| app.dispatch(Action::NextProblem { forward: false })>{icon("prev")}</button>
            <button class="btn icon" aria-label="Next problem"
                on:click=move |_| app.dispatch(Action::NextProblem { forward: true })>{icon("next")}</button>
            <kbd>"F8"</kbd>
            <span class="grow"></span>
            <button class="btn" on:click=move |_| app.dispatch(Action::Inspect)>"Inspect"</button>
        }
        .into_any(),
        view::Side::Inspect => view! {
            <h2>"Inspect"</h2>
            <span class="grow"></span>
            {move || (n.get() > 0).then(|| view! {
                <button class="btn" on:click=move |_| app.dispatch(Action::NextProblem { forward: true })>
                    "Problems"<span class="count-pill refg">{n.get()}</span></button>
            })}
        }
        .into_any(),
    }
    };
    view! {
        <aside class="panel side" id="side" tabindex="-1"
            aria-label=move || if is_problem() { "Problem" } else { "Inspect" }>
            <div class="head">{head}</div>
            <div class="body" class:prob=is_problem node_ref=body
                on:click=move |event: MouseEvent| clicked(app, &event)></div>
        </aside>
    }
}
