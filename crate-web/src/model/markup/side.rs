//! The right column: a node, or a problem; its head and its body.

use super::{Html, inspect, problem};
use crate::model::reduce::Run;
use crate::model::view::{Side, View};

/// What it shows, in a word.
pub const fn word(side: Side) -> &'static str {
    match side {
        Side::Inspect => "Inspect",
        Side::Problem(_) => "Problem",
    }
}

/// Its head, with the way to the other kind.
pub fn head(run: &Run, side: Side) -> String {
    let n = run.problems().len();
    let mut html = Html::new();
    html.raw("<h2>").raw(word(side)).raw("</h2>");
    match side {
        Side::Problem(ix) => {
            html.raw("<span class=\"sub\">").int((ix + 1).min(n)).raw(" of ").int(n);
            html.raw("</span><button class=\"btn icon\" aria-label=\"Previous problem\" data-do=\"previous-problem\">");
            html.boxed_icon("prev");
            html.raw("</button><button class=\"btn icon\" aria-label=\"Next problem\" data-do=\"next-problem\">");
            html.boxed_icon("next");
            html.raw("</button><kbd>F8</kbd><span class=\"grow\"></span><button class=\"btn\" data-do=\"inspect\">Inspect</button>");
        }
        Side::Inspect => {
            html.raw("<span class=\"grow\"></span>");
            if n > 0 {
                html.raw("<button class=\"btn\" data-do=\"next-problem\">Problems<span class=\"count-pill refg\">");
                html.int(n).raw("</span></button>");
            }
        }
    }
    html.done()
}

/// Its body.
pub fn body(run: &Run, view: &View) -> String {
    match (view.side, &run.newest) {
        (Side::Problem(ix), Some(newest)) => {
            problem::problem(&newest.report, &run.of, ix, view.fix)
        }
        _ => inspect::inspect(run, view),
    }
}
