//! What opens over the graph: the checks, or the table of all steps.

use leptos::html;
use leptos::prelude::*;
use web_sys::MouseEvent;

use super::app::app;
use super::markup::{clicked, icon, keep};
use crate::model::action::Action;
use crate::model::markup::{checks, steps};
use crate::model::view;

/// The panel that is open, if one is.
#[component]
pub(crate) fn Over() -> impl IntoView {
    let app = app();
    let over = Memo::new(move |_| app.view.with(|view| view.over));
    move || match over.get() {
        view::Over::Graph => ().into_any(),
        view::Over::Checks => view! { <Checks/> }.into_any(),
        view::Over::Steps => view! { <Steps/> }.into_any(),
    }
}

#[component]
fn Back() -> impl IntoView {
    let app = app();
    view! {
        <button class="btn" on:click=move |_| app.dispatch(Action::Toggle(view::Over::Graph))>
            {icon("cross")}"Back to graph"<kbd>"Esc"</kbd></button>
    }
}

#[component]
fn Checks() -> impl IntoView {
    let app = app();
    let (counts, panel) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    keep(
        counts,
        Memo::new(move |_| {
            app.said.with(|said| said.run.checks.as_deref().map(checks::counts).unwrap_or_default())
        }),
    );
    keep(
        panel,
        Memo::new(move |_| {
            app.said.with(|said| {
                let run = &said.run;
                run.report().map_or(String::new(), |report| {
                    checks::panel(report, run.checks.as_deref(), run.training.as_deref(), run.pace)
                })
            })
        }),
    );
    view! {
        <div class="over" id="over">
            <div class="head"><h2>"Checks"</h2><div class="counts" node_ref=counts></div><Back/></div>
            <div class="overbody checks" on:click=move |event: MouseEvent| clicked(app, &event) node_ref=panel tabindex="0" role="region" aria-label="Checks"></div>
        </div>
    }
}

#[component]
fn Steps() -> impl IntoView {
    let app = app();
    let (body, rows) = (NodeRef::<html::Div>::new(), NodeRef::<html::Tbody>::new());
    let scroll = RwSignal::new((0.0_f64, 600.0_f64));
    let timeline = Memo::new(move |_| app.said.with(|said| said.run.version));
    let n = Memo::new(move |_| {
        timeline.get();
        app.said.with_untracked(|said| said.run.timeline.len())
    });
    let window = Memo::new(move |_| {
        let (top, height) = scroll.get();
        steps::window(n.get(), top, height)
    });
    keep(
        rows,
        Memo::new(move |_| {
            let step = app.view.with(|view| view.step);
            let window = window.get();
            app.said.with(|said| {
                let timeline = &said.run.timeline;
                let window = window.start.min(timeline.len())..window.end.min(timeline.len());
                steps::rows(timeline, window, step)
            })
        }),
    );
    let scrolled = move |_| {
        if let Some(body) = body.get_untracked() {
            scroll.set((f64::from(body.scroll_top()), f64::from(body.client_height())));
        }
    };
    // It opens where one stands.
    Effect::new(move |_| {
        if let Some(body) = body.get() {
            let step = app.view.with_untracked(|view| view.step);
            let top = (step * steps::ROW) as i32 - body.client_height() / 2;
            body.set_scroll_top(top);
        }
    });
    view! {
        <div class="over" id="over">
            <div class="head"><h2>"Steps"</h2><span class="sub">{move || format!("{} in all", n.get())}</span>
                <span class="grow"></span><Back/></div>
            <div class="overbody steps" node_ref=body on:scroll=scrolled tabindex="0" role="region" aria-label="Steps">
                <table aria-rowcount=move || (n.get() + 1).to_string()>
                    <thead><tr>
                        <th scope="col" class="no">"No."</th><th scope="col" class="ph">"Phase"</th>
                        <th scope="col">"Step"</th><th scope="col">"Detail"</th><th scope="col" class="say">"In words"</th>
                    </tr></thead>
                    <tbody node_ref=rows on:click=move |event: MouseEvent| clicked(app, &event)></tbody>
                </table>
            </div>
        </div>
    }
}
