//! The table itself, in the page's own order.

use super::Put::{After, Attribute, Changes, Class, Flag, Markup, Pressed, Text, Value};
use super::{
    CAMERA, CHOICE, ENGINE, MADE, OVER, Part, ROOM, SAID, SCROLL, SIDE, STEP, Signals, TEXT,
};
use crate::model::asks::Slot;
use crate::model::keys::KeyMap;
use crate::model::map;
use crate::model::markup::track::{self, Track};
use crate::model::markup::{Html, outline, over, prints_ne, say, side, trouble};
use crate::model::reduce::State;
use crate::model::supervise::LinkState;
use crate::model::view::{Aid, Draw, Over, Side};
use crate::protocol::PLACES;

const fn part(at: &'static str, put: super::Put, on: Signals, make: fn(&State) -> String) -> Part {
    Part { at, put, on, make }
}

/// All that changes by a text of its own. The picture, the editor's lines and the panel over the graph are not here.
pub const PARTS: &[Part] = &[
    part("head > title", Text, SAID | MADE, |state| state.name().to_owned() + " · Foldback"),
    part("#app > .app", Attribute("data-tab"), CHOICE, |state| state.view.tab.key().to_owned()),
    part("#app > .app", Attribute("data-over"), OVER, |state| yes(state.view.over != Over::Graph)),
    // What the buttons say of keys may not be true any more.
    part("#app > .app", Class("own-keys"), CHOICE, |state| {
        set(state.view.keys != KeyMap::default())
    }),
    // The top bar.
    part("#app .doc span", Text, SAID | MADE, |state| state.name().to_owned()),
    part("#app .saved", Text, SAID | TEXT | ENGINE | MADE, |state| saved(state).to_owned()),
    part("#app [data-do=undo]", Flag("disabled"), TEXT, |state| set(!state.doc.can_undo())),
    part("#app [data-do=redo]", Flag("disabled"), TEXT, |state| set(!state.doc.can_redo())),
    part("#rules", Value, SAID, |state| {
        state.run.newest.as_ref().map_or(String::new(), |answer| answer.report.rules.clone())
    }),
    part("#themes", Pressed, CHOICE, |state| "theme ".to_owned() + state.view.theme.key()),
    part("#app .tabs", Pressed, CHOICE, |state| "tab ".to_owned() + state.view.tab.key()),
    part("#app .tabs [data-do='tab inspect']", Markup, SAID, |state| {
        with_pill("Inspect", " refg", n_problems(state))
    }),
    // The program.
    part("#program .working", Text, ENGINE, |state| working(&state.link).to_owned()),
    part("#program > .head", After, ENGINE, |state| trouble::crash(&state.link)),
    part("#complaint", Markup, SAID, |state| trouble::complaint(&state.run)),
    part("#program .outline", Changes, SAID | STEP, |state| {
        outline::outline(&state.run, &state.view)
    }),
    // The graph's head, and what is over the graph.
    part("#stage > .head > h2", After, SAID, |state| {
        let stale = "<span class=\"tag stale\">of the last text that could be built</span>";
        if state.run.is_stale() { stale } else { "" }.to_owned()
    }),
    part("#stage .percent", Text, CAMERA, |state| {
        ((state.camera.zoom * 100.0).round() as i32).to_string() + "%"
    }),
    part("#graph", Class("hidden"), OVER, |state| set(state.view.over != Over::Graph)),
    part("#map", Flag("hidden"), SAID | CAMERA | ROOM | OVER, |state| set(!map::is_shown(state))),
    part("#map > svg", Attribute("viewBox"), SAID, map::extent),
    part("#map .all", Attribute("d"), SAID, map::boxes),
    part("#map .view", Attribute("d"), SAID | CAMERA | ROOM, map::part),
    part("#over .counts", Markup, SAID, |state| over::counts(&state.run)),
    part("#over > .made", Markup, MADE | SAID, over::made),
    part("#check-rows", Markup, SAID | MADE, |state| over::checks(&state.run)),
    part(PLACES[0], Markup, SAID | MADE, |state| over::training(&state.run, 0)),
    part(PLACES[1], Markup, SAID | MADE, |state| over::training(&state.run, 1)),
    part(PLACES[2], Markup, SAID | MADE, |state| over::training(&state.run, 2)),
    part(PLACES[3], Markup, SAID | MADE, |state| over::training(&state.run, 3)),
    part("#over > .head > .sub", Text, SAID, |state| over::in_all(&state.run)),
    part("#over > .steps > table", Attribute("aria-rowcount"), SAID, |state| {
        over::row_count(&state.run)
    }),
    part("#over > .steps tbody", Markup, SAID | STEP | SCROLL, over::rows),
    // What can be drawn.
    part("#draw", Markup, MADE | CHOICE | SAID, |state| {
        if state.view.draw == Draw::Nothing {
            return String::new();
        }
        over::from_worker(state, Slot::Draw)
    }),
    part("#aid", Markup, MADE | CHOICE, |state| {
        if state.view.aid == Aid::Nothing { "" } else { state.panels.html(Slot::Aid) }.to_owned()
    }),
    part("#quiz", Markup, MADE | CHOICE, |state| {
        if state.view.quiz.is_some() { state.panels.html(Slot::Quiz) } else { "" }.to_owned()
    }),
    part("#graph", Class("predict"), CHOICE, |state| set(state.view.predict)),
    part("#predict", Attribute("aria-pressed"), CHOICE, |state| yes(state.view.predict)),
    part("#drawn", Text, MADE | CHOICE, |state| state.panels.refused.clone()),
    // The right column.
    part("#side", Attribute("aria-label"), SIDE, |state| side::word(state.view.side).to_owned()),
    part("#side > .head", Markup, SIDE | SAID, |state| side::head(&state.run, state.view.side)),
    part("#side > .body", Class("prob"), SIDE, |state| set(is_problem(state))),
    part("#side > .body > .now", Markup, SIDE | SAID | STEP, |state| {
        side::body(&state.run, &state.view)
    }),
    part("#side > .body > .made", Markup, MADE, |state| state.panels.html(Slot::Side).to_owned()),
    // The stepper.
    part("#play", Attribute("aria-pressed"), CHOICE, |state| yes(state.view.playing)),
    part("#play", Attribute("aria-label"), CHOICE, |state| {
        if state.view.playing { "Pause" } else { "Play" }.to_owned()
    }),
    part("#play", Markup, CHOICE, |state| {
        let mut html = Html::new();
        html.boxed_icon(if state.view.playing { "pause" } else { "play" });
        html.done()
    }),
    part("#speed", Attribute("aria-label"), CHOICE, |state| {
        "Speed ".to_owned() + state.view.speed.word()
    }),
    part("#speed", Text, CHOICE, |state| state.view.speed.word().to_owned()),
    part("#stepper .say", Markup, SAID | STEP, |state| {
        say::say(&state.run.timeline, state.view.step)
    }),
    part("#scrubber", Markup, SAID | STEP | ROOM, |state| {
        let track = Track::of(state);
        let mut html = Html::new();
        html.raw("<svg aria-hidden=\"true\" width=\"100%\" height=\"52\">");
        html.raw(&track::track(&state.run.timeline, state.view.grain, &track)).raw("</svg>");
        html.done()
    }),
    part("#scrubber", Attribute("aria-valuemax"), SAID | STEP, |state| {
        state.run.timeline.n_places(state.view.grain).max(1).to_string()
    }),
    part("#scrubber", Attribute("aria-valuenow"), SAID | STEP, |state| {
        (place(state) + 1).to_string()
    }),
    part("#scrubber", Attribute("aria-valuetext"), SAID | STEP, spoken_place),
    part("#stepper .count", Markup, SAID | STEP, |state| {
        let n = state.run.timeline.n_places(state.view.grain);
        let mut html = Html::new();
        html.int(place(state) + usize::from(n > 0)).raw("<span> / ").int(n).raw("</span>");
        html.done()
    }),
    part("#stepper .ends", Text, SAID | STEP, |state| {
        let ends = state.run.timeline.refusal() == Some(state.view.step);
        if ends { "ends here" } else { "" }.to_owned()
    }),
    part("#stepper .seg", Pressed, STEP, |state| "grain ".to_owned() + state.view.grain.key()),
    part("#stepper .runto > .btn", After, SAID, |state| {
        let next = "<button class=\"btn line\" data-do=\"next-problem\">next problem</button>";
        if n_problems(state) > 0 { next } else { "" }.to_owned()
    }),
    // The dock.
    part("#dock-first", Attribute("aria-pressed"), SIDE, |state| yes(is_problem(state))),
    part("#dock-first", Flag("disabled"), SAID, |state| set(n_problems(state) == 0)),
    part("#dock-first > .count-pill", Class("refg"), SAID, |state| set(n_problems(state) > 0)),
    part("#dock-first > .count-pill", Text, SAID, |state| n_problems(state).to_string()),
    part("#dock-checks", Attribute("aria-pressed"), OVER, |state| {
        yes(state.view.over == Over::Checks)
    }),
    part("#dock-checks", Markup, SAID, |state| {
        let run = &state.run;
        let asked = run.report().is_some_and(|report| !report.checks.is_empty());
        match &run.checks {
            None if asked => "Checks<span class=\"count-pill\">fd</span>".to_owned(),
            None => "Checks".to_owned(),
            Some(checks) => pill("Checks", "", checks.rows.len()),
        }
    }),
    part("#dock-steps", Attribute("aria-pressed"), OVER, |state| {
        yes(state.view.over == Over::Steps)
    }),
    part("#dock-steps > .count-pill", Text, SAID, |state| state.run.timeline.len().to_string()),
    part("#dock-rules", Attribute("aria-pressed"), OVER, |state| {
        yes(state.view.over == Over::Rules)
    }),
    part("#dock-reference", Attribute("aria-pressed"), OVER, |state| {
        yes(state.view.over == Over::Reference)
    }),
    part("#order", Text, SAID, |state| {
        let ne = state.run.report().is_some_and(|report| prints_ne(&report.rules));
        let both = "Shapes are row-major; ne is the order ggml prints";
        if ne { both } else { "Shapes are row-major" }.to_owned()
    }),
];

fn yes(is: bool) -> String {
    is.to_string()
}

/// What makes a flag or a class stand or not.
fn set(is: bool) -> String {
    if is { "on" } else { "" }.to_owned()
}

/// What became of the text: it is kept once the engine has read it.
fn saved(state: &State) -> &'static str {
    if state.run.newest.is_some() && state.run.rev == state.doc.rev() {
        if state.shelf.trouble.is_empty() {
            "Saved on this device"
        } else {
            "Saved, without a history"
        }
    } else if let LinkState::Down { .. } = state.link {
        "Not saved"
    } else {
        "Saving…"
    }
}

/// A word while the engine works for longer than one notices.
const fn working(link: &LinkState) -> &'static str {
    match link {
        LinkState::Starting => "Starting…",
        LinkState::Busy { .. } => "Working…",
        LinkState::Ready | LinkState::Down { .. } => "",
    }
}

fn n_problems(state: &State) -> usize {
    state.run.problems().len()
}

const fn is_problem(state: &State) -> bool {
    matches!(state.view.side, Side::Problem(_))
}

fn pill(word: &str, class: &str, n: usize) -> String {
    let mut html = Html::new();
    html.raw(word).raw("<span class=\"count-pill").raw(class).raw("\">").int(n).raw("</span>");
    html.done()
}

/// A word, and how many where there are some.
fn with_pill(word: &str, class: &str, n: usize) -> String {
    if n > 0 { pill(word, class, n) } else { word.to_owned() }
}

fn place(state: &State) -> usize {
    state.run.timeline.place(state.view.grain, state.view.step)
}

/// `3 of 28: …`, as the scrubber is read aloud.
fn spoken_place(state: &State) -> String {
    let (timeline, view) = (&state.run.timeline, &state.view);
    let words = timeline.words(view.step);
    let mut spoken = (place(state) + 1).to_string();
    spoken.push_str(" of ");
    spoken.push_str(&timeline.n_places(view.grain).to_string());
    spoken.push_str(": ");
    spoken.push_str(if words.sentence.is_empty() { &words.title } else { &words.sentence });
    spoken
}
