//! What stands over and under the editor when something is wrong with the engine or with the text.

use foldback::report::Weight;

use super::Html;
use crate::model::reduce::Run;
use crate::model::supervise::{Crash, LinkState};

/// What happened to the engine, and what the user can do about it.
pub fn crash(link: &LinkState) -> String {
    let mut html = Html::new();
    let LinkState::Down { crash, gave_up } = link else { return html.done() };
    html.raw("<div class=\"crash\" role=\"alert\"><p><strong>");
    html.raw(match crash {
        Crash::TimedOut => "The engine took too long and was stopped.",
        Crash::Panicked { .. } | Crash::Failed { .. } => "The engine crashed: this is our mistake.",
    });
    html.raw("</strong> Your text is kept. ").raw(if *gave_up {
        "It crashed twice in a row, so it stays off until you press Retry."
    } else {
        "A new one is running. This text is not sent to it again unless you change it or press Retry."
    });
    html.raw("</p>");
    match crash {
        Crash::Panicked { message, place } => {
            html.raw("<p><code>").text(message).raw(", ").text(place).raw("</code></p>");
        }
        Crash::Failed { message } if !message.is_empty() => {
            html.raw("<p><code>").text(message).raw("</code></p>");
        }
        Crash::Failed { .. } | Crash::TimedOut => {}
    }
    html.raw("<button class=\"btn line\" data-do=\"retry\">Retry</button></div>");
    html.done()
}

/// The first problem of a text that has no graph, with its first fix: the rest of the problems are on the right.
pub fn complaint(run: &Run) -> String {
    let mut html = Html::new();
    let whole = run.newest.as_ref().is_none_or(|answer| answer.report.whole);
    let first = run.problems().iter().position(|problem| problem.weight == Weight::Error);
    let Some(ix) = first.filter(|_| !whole) else { return html.done() };
    let problem = &run.problems()[ix];
    html.raw("<p>").icon("cross");
    if let Some(line) = problem.line {
        html.raw("<strong>Line ").int(line as usize).raw("</strong> ");
    }
    html.prose(&problem.message).raw("</p>");
    if let Some(fix) = problem.fixes.first() {
        html.raw("<button class=\"btn line\" data-do=\"fix ").int(ix).raw(" 0\">");
        html.prose(&fix.title).raw("</button>");
    }
    html.done()
}

/// What stands in the places of a training run whose worker has ended, and the way to another.
pub fn trainer(why: &str) -> [String; 2] {
    let mut html = Html::new();
    html.raw("<p class=\"runstate\"><span class=\"tag refg\">").icon("cross");
    html.raw("Stopped by an error</span></p><p class=\"prose\" role=\"alert\">").text(why);
    html.raw("</p>");
    let mut again = Html::new();
    again.raw("<button class=\"btn line\" data-do=\"train again\">").icon("undo");
    again.raw("Train again</button>");
    [html.done(), again.done()]
}

#[cfg(test)]
mod tests {
    use super::{Crash, LinkState, crash};

    #[test]
    fn a_crash_is_told_with_what_is_known_of_it() {
        assert_eq!(crash(&LinkState::Ready), "");
        let message = "index < length".to_owned();
        let down = |crash| LinkState::Down { crash, gave_up: false };
        let told = crash(&down(Crash::Panicked { message, place: "a.rs:7".to_owned() }));
        assert!(told.contains("<code>index &lt; length, a.rs:7</code>"), "{told}");
        assert!(!crash(&down(Crash::TimedOut)).contains("<code>"));
        let off = LinkState::Down { crash: Crash::TimedOut, gave_up: true };
        assert!(crash(&off).contains("twice in a row"));
    }
}
