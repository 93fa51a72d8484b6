//! The page before its engine has loaded: the first document at its refusal, as one piece of static markup.
//!
//! `xtask` calls it natively while it builds the site. It is made by the functions that make the live page, so
//! that nothing moves when the engine takes over. Its controls do nothing, and it says so to assistive technology.

use std::sync::Arc;

use foldback::construct::Budget;
use foldback::report::analyse;

use crate::model::action::Action;
use crate::model::answer::Answer;
use crate::model::examples::FIRST;
use crate::model::layout::Orientation;
use crate::model::markup::track::{Track, track};
use crate::model::markup::{Html, LEGEND, code, outline, problem, say};
use crate::model::reduce::{State, reduce};
use crate::model::view::{Room, Theme};
use crate::model::{names, stage, svg};

/// The width of the scrubber on the page's own size, 1440 pixels.
const TRACK: f64 = 799.0;

/// The markup that stands for the page until the engine runs.
pub fn page() -> String {
    let text = FIRST;
    let report = analyse(text, &Budget::default()).report;
    let (mut state, _) = State::open(text, Room::default(), Theme::System);
    let answer = Arc::new(Answer::new(report.clone(), Orientation::Wide));
    reduce(&mut state, Action::Answered { rev: 0, answer });
    let tall = Answer::new(report, Orientation::Tall);

    let mut html = Html::new();
    html.raw("<div class=\"app\" data-tab=\"graph\" inert><header class=\"top\"><div class=\"brand\"><svg width=\"22\" height=\"22\" viewBox=\"0 0 22 22\" aria-hidden=\"true\"><use href=\"#i-mark\"/></svg><span class=\"brandname\">Foldback</span></div><span class=\"sep\"></span><h1 class=\"doc own-text\">");
    if let Some(answer) = &state.run.shown {
        html.text(&answer.report.title);
    }
    html.raw("</h1><span class=\"saved\">Loading the engine…</span></header>");
    html.raw("<nav class=\"tabs\" aria-hidden=\"true\"><button tabindex=\"-1\">Program</button><button tabindex=\"-1\" aria-pressed=\"true\">Graph</button><button tabindex=\"-1\">Inspect</button></nav>");
    html.raw("<main class=\"work\"><section class=\"panel program\"><div class=\"head\"><h2>Program</h2></div><div class=\"editor\"><div class=\"paper own-text\"><div class=\"code\">");
    let run = &state.run;
    if let Some(answer) = &run.newest {
        let said = code::Said { report: &answer.report, of: text };
        html.raw(&code::code(text, Some(said)));
    }
    html.raw("</div></div></div><div class=\"head second\"><h2>Outline</h2><span class=\"sub\">gradients</span></div><ol class=\"outline own-text\">");
    html.raw(&outline::outline(run, &state.view));
    html.raw("</ol></section><section class=\"stage\"><div class=\"head\"><h2>Graph</h2></div><div class=\"graph-pane\"><div class=\"own-text wide-picture\">");
    if let Some(answer) = &run.shown {
        html.raw(&picture(answer));
    }
    html.raw("</div><div class=\"own-text tall-picture\">").raw(&picture(&tall));
    html.raw("</div></div><ul class=\"legend\">").raw(LEGEND);
    html.raw("</ul></section><aside class=\"panel side\"><div class=\"head\"><h2>Problem</h2></div><div class=\"body prob own-text\">");
    if let Some(answer) = &run.newest {
        html.raw(&problem::problem(&answer.report, text, 0, 0));
    }
    html.raw("</div></aside></main><section class=\"stepper\"><div class=\"transport\"></div><div class=\"track own-text\"><p class=\"say\">");
    html.raw(&say::say(&run.timeline, state.view.step));
    html.raw("</p><div class=\"scrubber\"><svg aria-hidden=\"true\" width=\"100%\" height=\"52\">");
    let made = Track::new(&run.timeline, state.view.grain, state.view.step, TRACK, 16.0);
    html.raw(&track(&run.timeline, state.view.grain, &made));
    html.raw("</svg></div></div><div class=\"stepinfo\"></div></section><nav class=\"dock\"></nav></div>");
    html.done()
}

/// The picture at its last step, with nothing to press in it.
fn picture(answer: &Answer) -> String {
    let picture = &answer.picture;
    let tick = answer.report.ticks.len();
    let state = stage::state(picture, &answer.report, tick, None);
    let spoken: Vec<String> = state
        .boxes
        .iter()
        .enumerate()
        .map(|(ix, at)| names::aloud(&answer.report, picture, ix, at, tick))
        .collect();
    svg::whole(picture, &state, "The router graph, refused at y", &spoken)
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_the_first_document_at_its_refusal() {
        let page = super::page();
        for part in
            ["Why does this refuse to train?", "gradient-shape", "w / repeat(c, w)", "playhead"]
        {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("style="), "the content security policy forbids it");
    }
}
