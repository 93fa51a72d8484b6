//! The scrubber: a tick a step, shaped by its kind, brackets for the phases, and a disc where one stands.
//!
//! Where there are more steps than room, a window of them moves along with the step.

use foldback::report::{TickGlyph, Verdict};

use super::Html;
use crate::model::measure::ui_width;
use crate::model::reduce::State;
use crate::model::timeline::{Glyph, Grain, Phase, Timeline};

/// A finger needs this much for a tick.
const FINGER: f64 = 24.0;
/// A mouse needs no more than the tick and some air.
const MOUSE: f64 = 16.0;
/// The least distance of two ticks: a glyph and some air.
const TIGHT: f64 = 16.0;
/// The most, however few there are.
const LOOSE: f64 = 40.0;
/// Free at both ends, so that the disc fits.
const MARGIN: f64 = 20.0;
/// The height of the ticks' line.
const LINE: f64 = 16.5;

/// Where the places of a timeline stand on a track.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Track {
    /// The first place shown.
    pub first: usize,
    /// How many are shown.
    pub n: usize,
    /// How many there are.
    pub all: usize,
    /// Where one stands.
    pub place: usize,
    gap: f64,
    width: f64,
}

impl Track {
    /// The places of a timeline on a track so wide. `least` is the distance that a finger needs.
    pub fn new(timeline: &Timeline, grain: Grain, step: usize, width: f64, least: f64) -> Self {
        let all = timeline.n_places(grain);
        let place = timeline.place(grain, step);
        let room = (width - 2.0 * MARGIN).max(0.0);
        let most = ((room / least.max(TIGHT)) as usize + 1).max(3);
        // What was not travelled needs room, too.
        let missing = if timeline.n_missing() > 0 { (all / 4).clamp(2, 8) } else { 0 };
        let shown = all + missing;
        let gap = if shown > 1 { room / (shown - 1) as f64 } else { LOOSE };
        if all <= most && gap >= least.min(TIGHT) {
            return Self { first: 0, n: all, all, place, gap: gap.min(LOOSE), width };
        }
        let n = most.min(all);
        let first = place.saturating_sub(n / 2).min(all - n);
        let gap = if n > 1 { room / (n - 1) as f64 } else { LOOSE };
        Self { first, n, all, place, gap: gap.min(LOOSE), width }
    }

    /// The one that a page shows.
    pub fn of(state: &State) -> Self {
        let (view, room) = (&state.view, &state.room);
        let least = if room.narrow { FINGER } else { MOUSE };
        Self::new(&state.run.timeline, view.grain, view.step, room.track, least)
    }

    /// The middle of a place.
    pub fn x(&self, place: usize) -> f64 {
        ((place as f64 - self.first as f64) * self.gap + MARGIN).round() + 0.5
    }

    /// The place nearest to a point.
    pub fn place_at(&self, x: f64) -> usize {
        let offset = ((x - MARGIN) / self.gap.max(1.0)).round().max(0.0) as usize;
        (self.first + offset).min((self.first + self.n).saturating_sub(1))
    }
}

/// Everything inside of the scrubber's `<svg>`.
pub fn track(timeline: &Timeline, grain: Grain, track: &Track) -> String {
    let mut html = Html::new();
    if track.n == 0 {
        return html.done();
    }
    let last = track.first + track.n - 1;
    let (start, end, here) = (track.x(track.first), track.x(last), track.x(track.place));
    // Where the window cuts the trace, the rail runs to the edge.
    let start = if track.first > 0 { 0.0 } else { start };
    let end = if last + 1 < track.all { track.width } else { end };
    rail(&mut html, "rail done", start, here);
    rail(&mut html, "rail", here, end);
    if timeline.refusal().is_some_and(|refusal| timeline.place(grain, refusal) <= last)
        && timeline.n_missing() > 0
    {
        rail(&mut html, "rail untravelled", end + 14.0, track.width - MARGIN / 2.0);
    }
    for place in track.first..=last {
        if place == track.place {
            continue;
        }
        let glyph = timeline.glyph(timeline.step_at(grain, place));
        html.raw("<g class=\"").raw(hue(glyph));
        html.raw(if place < track.place { " done\">" } else { " todo\">" });
        disc(&mut html, "under", track.x(place), 7.5);
        mark(&mut html, glyph, track.x(place));
        html.raw("</g>");
    }
    let glyph = timeline.glyph(timeline.step_at(grain, track.place));
    html.raw("<g class=\"").raw(hue(glyph)).raw(" here\">");
    disc(&mut html, "playhead", here, 12.5);
    mark(&mut html, glyph, here);
    html.raw("</g>");
    brackets(&mut html, timeline, grain, track);
    html.done()
}

fn rail(html: &mut Html, class: &str, from: f64, to: f64) {
    if to > from {
        html.raw("<path class=\"").raw(class).raw("\" d=\"M").at(from).raw(" ").at(LINE);
        html.raw("H").at(to).raw("\"/>");
    }
}

fn disc(html: &mut Html, class: &str, x: f64, r: f64) {
    html.raw("<circle class=\"").raw(class).raw("\" cx=\"").at(x).raw("\" cy=\"").at(LINE);
    html.raw("\" r=\"").at(r).raw("\"/>");
}

/// The colour of a glyph's meaning.
pub const fn hue(glyph: Glyph) -> &'static str {
    match glyph {
        Glyph::Build(kind) => match kind {
            TickGlyph::Shape | TickGlyph::Mark => "neug",
            TickGlyph::Value => "fwg",
            TickGlyph::Seed | TickGlyph::Rule | TickGlyph::Emit | TickGlyph::Accumulate => "bwg",
            TickGlyph::Fold | TickGlyph::FoldNoOp => "foldg",
            TickGlyph::Refusal => "refg",
        },
        Glyph::Check(Verdict::Agrees) => "okg",
        Glyph::Check(Verdict::Kink) | Glyph::Update => "neug",
        Glyph::Check(Verdict::Differs) => "refg",
    }
}

/// The icon of a glyph, beside the step's title.
pub const fn icon(glyph: Glyph) -> &'static str {
    match glyph {
        Glyph::Build(kind) => match kind {
            TickGlyph::Shape => "bar",
            TickGlyph::Value => "dot",
            TickGlyph::Mark => "flag",
            TickGlyph::Seed => "square",
            TickGlyph::Rule => "rule",
            TickGlyph::Emit => "prev",
            TickGlyph::Fold | TickGlyph::FoldNoOp => "fold",
            TickGlyph::Accumulate => "plus",
            TickGlyph::Refusal => "cross",
        },
        Glyph::Check(Verdict::Agrees) => "check",
        Glyph::Check(Verdict::Kink) => "kink",
        Glyph::Check(Verdict::Differs) => "cross",
        Glyph::Update => "stair",
    }
}

/// How a glyph is drawn: its outline around the origin, and whether it is filled.
fn mark(html: &mut Html, glyph: Glyph, x: f64) {
    const BAR: (&str, &str) = ("M0-4.5V4.5", "line");
    const FLAG: (&str, &str) = ("M-3 5V-5H4L2-2L4 0H-3", "line");
    const SQUARE: (&str, &str) = ("M-4-4H4V4H-4z", "");
    const DIAMOND: (&str, &str) = ("M0-5.3L5.3 0L0 5.3L-5.3 0z", "open");
    const TRIANGLE: (&str, &str) = ("M-5.3-4.5H5.3L0 5.3z", "");
    const HOLLOW: (&str, &str) = ("M-5-4H5L0 5z", "open");
    const PLUS: (&str, &str) = ("M0-5V5M-5 0H5", "line");
    const CROSS: (&str, &str) = ("M-4.3-4.3L4.3 4.3M4.3-4.3L-4.3 4.3", "line");
    const TICK: (&str, &str) = ("M-5 .5L-1.5 3.5L5-4", "line");
    const BENT: (&str, &str) = ("M-5 3H0L5-4", "line");
    const STAIR: (&str, &str) = ("M5-4H0V0H-5V4", "line");
    let (path, style) = match glyph {
        Glyph::Build(TickGlyph::Value) => return dot(html, x, 3.5),
        Glyph::Build(TickGlyph::Emit) => return dot(html, x, 4.0),
        Glyph::Build(TickGlyph::Shape) => BAR,
        Glyph::Build(TickGlyph::Mark) => FLAG,
        Glyph::Build(TickGlyph::Seed) => SQUARE,
        Glyph::Build(TickGlyph::Rule) => DIAMOND,
        Glyph::Build(TickGlyph::Fold) => TRIANGLE,
        Glyph::Build(TickGlyph::FoldNoOp) => HOLLOW,
        Glyph::Build(TickGlyph::Accumulate) => PLUS,
        Glyph::Build(TickGlyph::Refusal) | Glyph::Check(Verdict::Differs) => CROSS,
        Glyph::Check(Verdict::Agrees) => TICK,
        Glyph::Check(Verdict::Kink) => BENT,
        Glyph::Update => STAIR,
    };
    html.raw("<path class=\"tick ").raw(style).raw("\" transform=\"translate(").at(x);
    html.raw(" ").at(LINE).raw(")\" d=\"").raw(path).raw("\"/>");
}

fn dot(html: &mut Html, x: f64, r: f64) {
    html.raw("<circle class=\"tick\" cx=\"").at(x).raw("\" cy=\"").at(LINE).raw("\" r=\"");
    html.at(r).raw("\"/>");
}

/// A bracket and a word a phase; a word that would run into another is left out, its bracket is not.
fn brackets(html: &mut Html, timeline: &Timeline, grain: Grain, track: &Track) {
    let phase = |place: usize| timeline.phase(timeline.step_at(grain, place));
    let now = phase(track.place);
    let mut spans: Vec<(Phase, usize, usize)> = Vec::new();
    for place in track.first..track.first + track.n {
        match spans.last_mut() {
            Some((last, _, end)) if *last == phase(place) => *end = place,
            _ => spans.push((phase(place), place, place)),
        }
    }
    // The current phase's word is placed first, then the others where they fit beside the ones placed.
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|ix| {
        let (phase, start, end) = spans[*ix];
        (phase != now, std::cmp::Reverse(end - start))
    });
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for ix in order {
        let (phase, first, last) = spans[ix];
        let (x, end) = (track.x(first) - 7.0, track.x(last) + 7.0);
        let on = if phase == now { " on" } else { "" };
        html.raw("<path class=\"brace").raw(on).raw("\" d=\"M").at(x).raw(" 33.5v3H").at(end);
        html.raw("v-3\"/>");
        let width = ui_width(phase.word(), 11.0);
        let half = width / 2.0;
        let middle =
            f64::midpoint(x, end).clamp(half + 1.0, (track.width - half - 1.0).max(half + 1.0));
        let (from, to) = (middle - half - 4.0, middle + half + 4.0);
        if taken.iter().any(|(start, end)| from < *end && *start < to) {
            continue;
        }
        taken.push((from, to));
        html.raw("<text class=\"phase").raw(on).raw("\" x=\"").at(middle);
        html.raw("\" y=\"49.5\" text-anchor=\"middle\">").raw(phase.word()).raw("</text>");
    }
}

#[cfg(test)]
mod tests {
    use super::{Track, track};
    use crate::model::answer::Answer;
    use crate::model::timeline::tests::{report, tick};
    use crate::model::timeline::{Grain, Timeline};
    use foldback::report::{Report, TickGlyph};
    use std::sync::Arc;

    fn timeline(report: Report) -> Timeline {
        Timeline::new(Some(Arc::new(Answer { report, ..Answer::default() })), None, None)
    }

    #[test]
    fn a_short_trace_is_shown_whole() {
        let timeline = timeline(report(TickGlyph::Emit));
        let made = Track::new(&timeline, Grain::Micro, 10, 800.0, 16.0);
        assert_eq!((made.first, made.n, made.place), (0, 11, 10));
        let html = track(&timeline, Grain::Micro, &made);
        assert_eq!(html.matches("class=\"tick").count(), 11);
        assert_eq!(html.matches("playhead").count(), 1);
        for phase in ["Shapes", "Forward", "Mark", "Build backward"] {
            assert_eq!(html.matches(&format!(">{phase}<")).count(), 1, "{phase}");
        }
    }

    #[test]
    fn a_long_trace_is_a_window_around_the_step() {
        let ticks = (0..1000).map(|_| tick(TickGlyph::Value, None)).collect();
        let timeline = timeline(Report { ticks, ..Report::default() });
        let made = Track::new(&timeline, Grain::Micro, 500, 390.0, 24.0);
        assert_eq!(made.n, 15);
        assert!(made.first < 500 && 500 < made.first + made.n);
        let at_end = Track::new(&timeline, Grain::Micro, 999, 390.0, 24.0);
        assert_eq!(at_end.first + at_end.n, 1000);
        assert!(track(&timeline, Grain::Micro, &made).len() < 8000);
    }

    #[test]
    fn a_point_is_its_nearest_place() {
        let timeline = timeline(report(TickGlyph::Emit));
        let made = Track::new(&timeline, Grain::Micro, 10, 800.0, 16.0);
        for place in 0..made.n {
            assert_eq!(made.place_at(made.x(place) + 3.0), place);
        }
        assert_eq!(made.place_at(-100.0), 0);
        assert_eq!(made.place_at(9999.0), 10);
    }

    #[test]
    fn nothing_to_step_through_is_nothing() {
        let timeline = Timeline::default();
        let made = Track::new(&timeline, Grain::Micro, 0, 800.0, 16.0);
        assert_eq!(track(&timeline, Grain::Micro, &made), "");
    }
}
