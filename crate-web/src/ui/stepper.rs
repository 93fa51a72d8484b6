//! The stepper: buttons, the scrubber with a tick a step, what the step says, and how far one has come.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Element, PointerEvent};

use super::app::{App, app};
use super::markup::{icon, keep};
use crate::model::action::{Action, Move};
use crate::model::markup::track::{self, Track};
use crate::model::markup::{Html, say};
use crate::model::timeline::{Grain, Timeline};
use crate::model::view::View;

/// A finger needs this much for a tick.
const FINGER: f64 = 24.0;
/// A mouse needs no more than the tick and some air.
const MOUSE: f64 = 16.0;

/// The stepper.
#[component]
pub(crate) fn Stepper() -> impl IntoView {
    let app = app();
    let step = move |to: Move| move |_| app.dispatch(Action::Step(to));
    let playing = move || app.view.with(|view| view.playing);
    view! {
        <section class="stepper" id="stepper" aria-label="Stepper">
            <div class="transport">
                <button class="btn wide" aria-label="First step" title="First step (Home)" on:click=step(Move::First)>{icon("first")}</button>
                <button class="btn" aria-label="Previous step" title="Previous step (←)" on:click=step(Move::Back)>{icon("prev")}</button>
                <button class="btn primary" aria-label="Next step" title="Next step (→)"
                    on:click=step(Move::Next { held: false })><span class="word">"Next step"</span>{icon("next")}</button>
                <button class="btn wide" aria-label="Last step" title="Last step (End)" on:click=step(Move::Last)>{icon("last")}</button>
                <button class="btn" aria-pressed=move || playing().to_string()
                    aria-label=move || if playing() { "Pause" } else { "Play" }
                    title="Play or pause (Space, on the scrubber)"
                    on:click=move |_| app.dispatch(Action::Play)>
                    {move || icon(if playing() { "pause" } else { "play" })}</button>
                <button class="btn speed wide" title="Speed"
                    aria-label=move || format!("Speed {}", app.view.with(|view| view.speed.word()))
                    on:click=move |_| app.dispatch(Action::Faster)>
                    {move || app.view.with(|view| view.speed.word())}</button>
                <button class="btn line nextfold" on:click=step(Move::Fold { forward: true })>"Next fold"</button>
            </div>
            <div class="track">
                <Say/>
                <Scrubber/>
            </div>
            <Place/>
        </section>
    }
}

/// What the step says, short.
#[component]
fn Say() -> impl IntoView {
    let app = app();
    let line = NodeRef::<html::P>::new();
    keep(
        line,
        Memo::new(move |_| {
            app.said.with(|said| app.view.with(|view| say::say(&said.run.timeline, view.step)))
        }),
    );
    view! { <p class="say" node_ref=line></p> }
}

#[component]
fn Scrubber() -> impl IntoView {
    let app = app();
    let drawing = NodeRef::<html::Div>::new();
    keep(drawing, Memo::new(move |_| draw(app)));
    let value = Memo::new(move |_| place_of(app));
    let text = Memo::new(move |_| {
        app.said.with(|said| {
            let words = app.view.with(|view| said.run.timeline.words(view.step));
            if words.sentence.is_empty() { words.title } else { words.sentence }
        })
    });
    let scrub = move |event: PointerEvent| {
        let Some(target) =
            event.current_target().and_then(|target| target.dyn_into::<Element>().ok())
        else {
            return;
        };
        if event.type_() == "pointerdown" {
            let _ = target.set_pointer_capture(event.pointer_id());
        } else if event.buttons() & 1 == 0 {
            return;
        }
        let x = f64::from(event.client_x()) - target.get_bounding_client_rect().left();
        let place = app.said.with_untracked(|said| {
            app.view.with_untracked(|view| track_of(app, &said.run.timeline, view).place_at(x))
        });
        app.dispatch(Action::Step(Move::Place(place)));
    };
    view! {
        <div class="scrubber" id="scrubber" role="slider" tabindex="0" aria-label="Step"
            aria-valuemin="1"
            aria-valuemax=move || value.get().1.max(1).to_string()
            aria-valuenow=move || (value.get().0 + 1).to_string()
            aria-valuetext=move || {
                let (place, n) = value.get();
                format!("{} of {n}: {}", place + 1, text.get())
            }
            on:pointerdown=scrub on:pointermove=scrub node_ref=drawing></div>
    }
}

/// Where one stands, and of how many places.
fn place_of(app: App) -> (usize, usize) {
    app.said.with(|said| {
        app.view.with(|view| {
            let timeline = &said.run.timeline;
            (timeline.place(view.grain, view.step), timeline.n_places(view.grain))
        })
    })
}

fn track_of(app: App, timeline: &Timeline, view: &View) -> Track {
    let room = app.room.get_untracked();
    let least = if room.narrow { FINGER } else { MOUSE };
    Track::new(timeline, view.grain, view.step, room.track, least)
}

fn draw(app: App) -> String {
    app.room.get();
    app.said.with(|said| {
        app.view.with(|view| {
            let timeline = &said.run.timeline;
            let mut html = Html::new();
            html.raw("<svg aria-hidden=\"true\" width=\"100%\" height=\"52\">");
            html.raw(&track::track(timeline, view.grain, &track_of(app, timeline, view)));
            html.raw("</svg>");
            html.done()
        })
    })
}

/// How far one has come, how far a step goes, and where to run to.
#[component]
fn Place() -> impl IntoView {
    let app = app();
    let value = Memo::new(move |_| place_of(app));
    let ends = Memo::new(move |_| {
        let refusal = app.said.with(|said| said.run.timeline.refusal());
        refusal.is_some() && refusal == Some(app.view.with(|view| view.step))
    });
    let has_problem = Memo::new(move |_| app.said.with(|said| !said.run.problems().is_empty()));
    let grains = [(Grain::Node, "Node"), (Grain::Micro, "Micro-step")].map(|(grain, word)| {
        let chosen = move || app.view.with(|view| view.grain == grain);
        view! {
            <button aria-pressed=move || chosen().to_string()
                on:click=move |_| app.dispatch(Action::SetGrain(grain))>{word}</button>
        }
    });
    view! {
        <div class="stepinfo">
            <div>
                <span class="count">
                    {move || (value.get().0 + usize::from(value.get().1 > 0)).to_string()}
                    <span>{move || format!(" / {}", value.get().1)}</span>
                </span>
                <span class="ink3 ends">{move || ends.get().then_some("ends here")}</span>
                <span class="grow"></span>
                <span class="seg" role="group" aria-label="How far a step goes">{grains.into_iter().collect_view()}</span>
            </div>
            <div class="runto">
                <span class="ink3">"Run to"</span>
                <button class="btn line" on:click=move |_| app.dispatch(Action::Step(Move::Fold { forward: true }))>
                    "next fold"<kbd>"."</kbd></button>
                {move || has_problem.get().then(|| view! {
                    <button class="btn line" on:click=move |_| app.dispatch(Action::NextProblem { forward: true })>
                        "next problem"<kbd>"F8"</kbd></button>
                })}
            </div>
        </div>
    }
}
