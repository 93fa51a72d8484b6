//! What opens over the graph: the checks, or the table of all steps. Here are their frames, and what fills them.

use super::{Html, steps};
use crate::model::asks::Slot;
use crate::model::reduce::{Run, State};
use crate::model::view::Over;

/// The panel that is open, as it stands now; empty where none is.
pub fn panel(state: &State) -> String {
    let (word, label) = match state.view.over {
        Over::Graph => return String::new(),
        Over::Checks => ("Checks", "made checks"),
        Over::Steps => ("Steps", "steps"),
        Over::Fold => ("Fold", "made folding"),
        Over::Rules => ("Rules side by side", "made"),
        Over::Paths => ("Paths", "made"),
        Over::Reference => ("Reference", "made"),
        Over::Keys => ("Keyboard map", "made"),
        Over::Documents => ("Documents", "made"),
    };
    let mut html = Html::new();
    html.raw("<div class=\"over\" id=\"over\"><div class=\"head\"><h2>").raw(word).raw("</h2>");
    if state.view.over == Over::Checks {
        html.raw("<div class=\"counts\">").raw(&counts(&state.run)).raw("</div>");
    } else {
        html.raw("<span class=\"sub\">");
        if state.view.over == Over::Steps {
            html.raw(&in_all(&state.run));
        }
        html.raw("</span><span class=\"grow\"></span>");
    }
    html.raw("<button class=\"btn\" data-do=\"graph\">").boxed_icon("cross");
    html.raw("Back to graph<kbd>Esc</kbd></button></div><div class=\"overbody ").raw(label);
    html.raw("\" tabindex=\"0\" role=\"region\" aria-label=\"").raw(word).raw("\">");
    match state.view.over {
        Over::Steps => {
            html.raw("<table aria-rowcount=\"").raw(&row_count(&state.run)).raw("\"><thead><tr>");
            html.raw(
                "<th scope=\"col\" class=\"no\">No.</th><th scope=\"col\" class=\"ph\">Phase</th>",
            );
            html.raw("<th scope=\"col\">Step</th><th scope=\"col\">Detail</th>");
            html.raw("<th scope=\"col\" class=\"say\">In words</th></tr></thead><tbody>");
            html.raw(&rows(state)).raw("</tbody></table>");
        }
        _ => _ = html.raw(&made(state)),
    }
    html.raw("</div></div>");
    html.done()
}

/// What the panels' worker has made for it.
pub fn made(state: &State) -> String {
    from_worker(state, Slot::Over)
}

/// What the panels' worker has made for a place, or what keeps it.
pub fn from_worker(state: &State, slot: Slot) -> String {
    match state.panels.html(slot) {
        "" if state.run.is_stale() && !state.panels.awaits(slot) => {
            "<p class=\"nopanel\">The text cannot be read as it stands; mend it first</p>"
        }
        "" => "<p class=\"nopanel\">Making this panel…</p>",
        html => html,
    }
    .to_owned()
}

/// How many checks agree.
pub fn counts(run: &Run) -> String {
    run.checks.as_deref().map(|checks| checks.counts.clone()).unwrap_or_default()
}

/// The checks, as far as they have come.
pub fn checks(run: &Run) -> String {
    let panel = run.checks.as_deref().map(|checks| checks.panel.clone());
    panel.unwrap_or_else(|| "<p class=\"nopanel\">Checking…</p>".to_owned())
}

/// What stands in one of a training run's places.
pub fn training(run: &Run, place: usize) -> String {
    match run.training.as_deref() {
        Some(training) => training.places.get(place).cloned().unwrap_or_default(),
        None if place == 0 => {
            "<p class=\"runstate\"><span class=\"tag\">Starting</span></p>".to_owned()
        }
        None => String::new(),
    }
}

/// How many steps there are.
pub fn in_all(run: &Run) -> String {
    run.timeline.len().to_string() + " in all"
}

/// With the head's.
pub fn row_count(run: &Run) -> String {
    (run.timeline.len() + 1).to_string()
}

/// The rows of the table that are in sight.
pub fn rows(state: &State) -> String {
    let (timeline, scroll) = (&state.run.timeline, state.scroll);
    let window = steps::window(timeline.len(), scroll.top, scroll.height);
    steps::rows(timeline, window, state.view.step)
}
