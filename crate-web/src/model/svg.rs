//! Markup of the picture: pure strings, colours and strokes from `www/graph.css`, text always escaped.
//!
//! How the page uses it:
//! 1. The worker calls [`picture::draw`](super::picture::draw) once per report and orientation and sends the
//!    [`Picture`] over: it is plain data.
//! 2. The page writes `<svg class="graph" viewBox="0 0 {width} {height}">` with [`defs`] and [`ground`], then a `<g>`
//!    for [`halos`], [`reads`], every edge, every box, and [`note`]. A box is `<g class={box_class} transform=…>` with
//!    [`box_inner`] inside, an edge `<g class={edge_class}>` with [`edge_inner`]. What is inside never changes.
//! 3. A step calls [`stage::state`](super::stage::state) and changes classes, `aria-label`s
//!    ([`names::aloud`](super::names::aloud)), and the contents of the halos, the reads and the note. Nothing moves.
//!
//! [`whole`] does all of it for one step: a standalone picture, for exports, tests and the first paint.

mod boxes;
mod edges;
mod preview;

use std::fmt::Write;

use super::picture::{PicBox, PicEdge, Picture};
use super::route::px;
use super::stage::{BoxState, EdgeState, Hue, Phase, State};

pub use boxes::box_inner;
pub use edges::edge_inner;

/// Text as it may stand in markup and in attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters have no place in a document; a picture is never the only place where text stands.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn phase_class(phase: Phase) -> &'static str {
    match phase {
        Phase::Hidden => "masked",
        Phase::Pending => "pending",
        Phase::Begun => "begun",
        Phase::Shaped => "shaped",
        Phase::Built => "built",
        Phase::NotReached => "unreached",
        Phase::Refused => "refused",
    }
}

fn hue_class(hue: Hue) -> &'static str {
    match hue {
        Hue::Plain => "plain",
        Hue::Forward => "fw",
        Hue::Backward => "bw",
        Hue::Fold => "fold",
        Hue::Refusal => "refuse",
    }
}

/// The class of a box at a step.
pub fn box_class(b: &PicBox, state: &BoxState) -> String {
    let mut out = format!("node {} {}", boxes::side(b), phase_class(state.phase));
    if state.current {
        out.push_str(" current");
    }
    if state.selected {
        out.push_str(" selected");
    }
    out
}

/// The class of an edge at a step.
pub fn edge_class(e: &PicEdge, state: &EdgeState) -> String {
    let mut out = format!("edge {} {}", edges::side(e), phase_class(state.phase));
    if state.live {
        out.push_str(" live");
    }
    out
}

/// A box with everything around it. `spoken` is its name for assistive technology.
pub fn box_markup(b: &PicBox, state: &BoxState, spoken: &str) -> String {
    format!(
        "<g class=\"{}\" transform=\"translate({} {})\" role=\"button\" tabindex=\"-1\" aria-pressed=\"{}\" aria-label=\"{}\">{}</g>",
        box_class(b, state),
        px(b.rect.x),
        px(b.rect.y),
        state.selected,
        escape(spoken),
        box_inner(b)
    )
}

/// An edge with everything that belongs to it.
pub fn edge_markup(e: &PicEdge, state: &EdgeState) -> String {
    format!("<g class=\"{}\" aria-hidden=\"true\">{}</g>", edge_class(e, state), edge_inner(e))
}

/// What the rest refers to: the dots of the ground and the hatch of what was not reached.
pub fn defs() -> &'static str {
    concat!(
        "<defs>",
        "<pattern id=\"graph-dots\" width=\"20\" height=\"20\" patternUnits=\"userSpaceOnUse\">",
        "<circle class=\"dot\" cx=\"10\" cy=\"10\" r=\"1\"/></pattern>",
        "<pattern id=\"graph-hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" ",
        "patternTransform=\"rotate(45)\"><rect class=\"hatch-ground\" width=\"7\" height=\"7\"/>",
        "<path class=\"hatch-line\" d=\"M0 0V7\"/></pattern>",
        "</defs>"
    )
}

/// The dividing line and the names of the two sides.
pub fn ground(picture: &Picture) -> String {
    let mut out = String::new();
    for (a, b) in &picture.divider {
        let _ = write!(
            out,
            "<path class=\"mirror\" d=\"M{} {}L{} {}\"/>",
            px(a.x),
            px(a.y),
            px(b.x),
            px(b.y)
        );
    }
    let tall = picture.orientation == super::layout::Orientation::Tall;
    for word in &picture.bands {
        let back = word.text == "Backward";
        let (class, arrow) = match (back, tall) {
            (false, false) => ("fw", "→"),
            (true, false) => ("bw", "←"),
            (false, true) => ("fw", "↓"),
            (true, true) => ("bw", "↑"),
        };
        let _ = write!(
            out,
            "<text class=\"lane {class}\" x=\"{}\" y=\"{}\">{} <tspan>{arrow}</tspan></text>",
            px(word.rect.x),
            px(word.rect.y + 11.0),
            escape(&word.text)
        );
    }
    out
}

/// The grounds behind the current step.
pub fn halos(state: &State) -> String {
    let mut out = String::new();
    for h in &state.halos {
        let r = h.rect;
        let _ = write!(
            out,
            "<rect class=\"halo {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"12\"/>",
            hue_class(h.hue),
            px(r.x),
            px(r.y),
            px(r.w),
            px(r.h)
        );
    }
    out
}

/// The saved values that the rule at work reads.
pub fn reads(picture: &Picture, state: &State) -> String {
    let paths = state.reads.iter().filter_map(|r| picture.reads.get(*r));
    paths.fold(String::new(), |mut out, r| {
        let _ = write!(out, "<path class=\"reads\" d=\"{}\"/>", r.path);
        out
    })
}

/// The words beside the current step.
pub fn note(state: &State) -> String {
    let Some(note) = &state.note else { return String::new() };
    let mut out = format!("<g class=\"note {}\">", hue_class(note.hue));
    let (x, mut y) = (note.rect.x, note.rect.y + 12.0);
    for line in &note.title {
        let _ = write!(
            out,
            "<text class=\"note-title\" x=\"{}\" y=\"{}\">{}</text>",
            px(x),
            px(y),
            escape(line)
        );
        y += 17.0;
    }
    y += 3.0;
    for line in &note.lines {
        let _ = write!(out, "<text x=\"{}\" y=\"{}\">{}</text>", px(x), px(y), escape(line));
        y += 16.0;
    }
    if let Some((a, b)) = note.leader {
        let _ = write!(
            out,
            "<path class=\"leader\" d=\"M{} {}L{} {}\"/><circle class=\"leader-end\" cx=\"{}\" cy=\"{}\" r=\"2.5\"/>",
            px(a.x),
            px(a.y),
            px(b.x),
            px(b.y),
            px(b.x),
            px(b.y)
        );
    }
    out.push_str("</g>");
    out
}

/// A standalone picture of one step. `spoken` gives each box its name for assistive technology; a box that has none
/// keeps the part of its name that does not depend on the step.
pub fn whole(picture: &Picture, state: &State, label: &str, spoken: &[String]) -> String {
    let (w, h) = (px(picture.width), px(picture.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graph\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"group\" aria-roledescription=\"graph\" aria-label=\"{}\">",
        escape(label)
    );
    out.push_str(defs());
    let _ = write!(out, "<rect width=\"{w}\" height=\"{h}\" fill=\"url(#graph-dots)\"/>");
    out.push_str(&halos(state));
    out.push_str(&ground(picture));
    out.push_str(&reads(picture, state));
    for (e, s) in picture.edges.iter().zip(&state.edges) {
        out.push_str(&edge_markup(e, s));
    }
    for (at, (b, s)) in picture.boxes.iter().zip(&state.boxes).enumerate() {
        out.push_str(&box_markup(b, s, spoken.get(at).map_or(b.spoken.as_str(), String::as_str)));
    }
    out.push_str(&note(state));
    out.push_str("</svg>");
    out
}
