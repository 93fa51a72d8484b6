//! All steps as a table, the equivalent of the scrubber in words. Long ones are shown by the window.

use std::ops::Range;

use super::{Html, shape};
use crate::model::timeline::{Phase, Timeline};

/// The height of a row, in CSS pixels; `app.css` has the same number.
pub const ROW: usize = 30;
/// Rows kept ready above and below what can be seen.
const SPARE: usize = 30;
/// As many rows are simply all shown.
const ALL: usize = 300;

/// Which rows to make for a table scrolled so far, in a pane so high.
pub fn window(n: usize, scrolled: f64, height: f64) -> Range<usize> {
    if n <= ALL {
        return 0..n;
    }
    let first = (scrolled / ROW as f64) as usize;
    let seen = (height / ROW as f64) as usize + 1;
    // In leaps, so that scrolling a row makes no new table.
    let start = first.saturating_sub(SPARE) / SPARE * SPARE;
    start.min(n)..(start + seen + 3 * SPARE).min(n)
}

/// The rows of a window, between two rows that hold the place of the others.
pub fn rows(timeline: &Timeline, window: Range<usize>, current: usize) -> String {
    let mut html = Html::new();
    let n = timeline.len();
    space(&mut html, window.start);
    for step in window.clone() {
        let words = timeline.words(step);
        html.raw("<tr aria-rowindex=\"").int(step + 2).raw("\" class=\"");
        html.raw(if step == current { "now\"" } else { "\"" }).raw("><td class=\"no\">");
        html.int(step + 1).raw("</td><td class=\"ph\">").raw(timeline.phase(step).word());
        html.raw("</td><th scope=\"row\"><button data-do=\"step ").int(step);
        html.raw("\" data-key=\"s").int(step).raw("\"");
        html.raw(if step == current { " aria-current=\"step\">" } else { ">" });
        html.text(&words.title).raw("</button></th><td title=\"").text(&words.detail).raw("\">");
        html.text(&words.detail);
        match (&words.shapes, timeline.phase(step)) {
            (Some((_, after)), Phase::Shapes) => {
                html.raw("<span class=\"shape\">").text(&shape(after)).raw("</span>");
            }
            // Where there are words, they name the shapes.
            (Some((before, after)), _) if words.detail.is_empty() => {
                html.raw("<span class=\"shape\">").text(&shape(before));
                html.raw("</span> → <span class=\"shape\">").text(&shape(after)).raw("</span>");
            }
            _ => {}
        }
        html.raw("</td><td class=\"say\" title=\"").text(&words.sentence).raw("\">");
        html.prose(&words.sentence).raw("</td></tr>");
    }
    space(&mut html, n - window.end.min(n));
    html.done()
}

/// Empty rows of the height of so many, each low enough for a class.
fn space(html: &mut Html, n: usize) {
    for (power, class) in [(10_000, "x4"), (1000, "x3"), (100, "x2"), (10, "x1"), (1, "x0")] {
        let count = if power == 10_000 { n / power } else { n / power % 10 };
        for _ in 0..count {
            html.raw("<tr aria-hidden=\"true\" class=\"").raw(class).raw("\"><td></td></tr>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ROW, SPARE, window};

    #[test]
    fn short_tables_are_whole_and_long_ones_are_not() {
        assert_eq!(window(28, 0.0, 300.0), 0..28);
        assert_eq!(window(10_000, 0.0, 300.0), 0..11 + 3 * SPARE);
        let scrolled = window(10_000, (5000 * ROW) as f64, 300.0);
        assert!(scrolled.start <= 5000 && 5011 <= scrolled.end);
        assert!(scrolled.len() < 200);
        assert_eq!(window(10_000, 1e9, 300.0).end, 10_000);
    }
}
