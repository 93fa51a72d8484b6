//! What a step says, short, above the scrubber.

use foldback::report::TickGlyph;

use super::{Html, shape, track};
use crate::model::timeline::{Glyph, Timeline};

/// The step's icon, title, detail and shapes.
pub fn say(timeline: &Timeline, step: usize) -> String {
    let mut html = Html::new();
    if timeline.is_empty() {
        html.raw("<span class=\"ink3\">Nothing to step through yet: write a line such as <code>param x = 3</code></span>");
        return html.done();
    }
    let (glyph, words) = (timeline.glyph(step), timeline.words(step));
    html.raw("<span class=\"").raw(track::hue(glyph)).raw(" tone\">").icon(track::icon(glyph));
    html.raw("</span><strong>").text(&words.title).raw("</strong>");
    if !words.detail.is_empty() {
        html.raw("<span class=\"ink2 detail\">").prose(&words.detail).raw("</span>");
    }
    // A refusal has its two shapes in its words.
    let refused = glyph == Glyph::Build(TickGlyph::Refusal);
    let begins = glyph == Glyph::Build(TickGlyph::Shape);
    if let Some((before, after)) = words.shapes.as_ref().filter(|_| !refused) {
        let (from, to) = match glyph {
            Glyph::Build(TickGlyph::Fold | TickGlyph::FoldNoOp) => ("bwg", "foldg"),
            _ => ("neug", "neug"),
        };
        if !begins {
            html.raw("<span class=\"shape ").raw(from).raw("\">").text(&shape(before));
            html.raw("</span><span class=\"ink3\">→</span>");
        }
        html.raw("<span class=\"shape ").raw(to).raw("\">").text(&shape(after)).raw("</span>");
    }
    html.done()
}
