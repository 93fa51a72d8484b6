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

use super::picture::{PicBox, PicEdge, Picture};
use super::route::px;
use super::stage::{BoxState, EdgeState, Hue, Phase, State};

pub use boxes::box_inner;
pub use edges::edge_inner;

/// Text as it may stand in markup and in attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(&mut out, text);
    out
}

/// Adds text as it may stand in markup and in attributes.
fn push_escaped(out: &mut String, text: &str) {
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
}

/// Adds markup with a length in the place of each `~`.
pub fn draw(out: &mut String, markup: &str, lengths: &[f64]) {
    let mut lengths = lengths.iter();
    for piece in markup.split_inclusive('~') {
        match (piece.strip_suffix('~'), lengths.next()) {
            (Some(piece), Some(length)) => {
                out.push_str(piece);
                out.push_str(&px(*length));
            }
            _ => out.push_str(piece),
        }
    }
}

/// Adds words at a place.
fn text(out: &mut String, class: &str, x: f64, y: f64, words: &str) {
    out.push_str("<text class=\"");
    out.push_str(class);
    draw(out, "\" x=\"~\" y=\"~\">", &[x, y]);
    push_escaped(out, words);
    out.push_str("</text>");
}

/// Adds a path.
fn path(out: &mut String, class: &str, d: &str) {
    for piece in ["<path class=\"", class, "\" d=\"", d, "\"/>"] {
        out.push_str(piece);
    }
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
    let mut out = ["node ", boxes::side(b), " ", phase_class(state.phase)].concat();
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
    let mut out = ["edge ", edges::side(e), " ", phase_class(state.phase)].concat();
    if state.live {
        out.push_str(" live");
    }
    out
}

/// The start of a box's group: its class and its place.
pub fn box_start(b: &PicBox, state: &BoxState) -> String {
    let mut out = ["<g class=\"", &box_class(b, state), "\""].concat();
    draw(&mut out, " transform=\"translate(~ ~)\">", &[b.rect.x, b.rect.y]);
    out
}

/// A box with everything around it. `spoken` is its name for assistive technology.
pub fn box_markup(b: &PicBox, state: &BoxState, spoken: &str) -> String {
    let mut out = box_start(b, state);
    out.pop();
    for piece in [
        " role=\"button\" tabindex=\"-1\" aria-pressed=\"",
        if state.selected { "true" } else { "false" },
        "\" aria-label=\"",
        &escape(spoken),
        "\">",
        &box_inner(b),
        "</g>",
    ] {
        out.push_str(piece);
    }
    out
}

/// An edge with everything that belongs to it.
pub fn edge_markup(e: &PicEdge, state: &EdgeState) -> String {
    let class = edge_class(e, state);
    ["<g class=\"", &class, "\" aria-hidden=\"true\">", &edge_inner(e), "</g>"].concat()
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
        draw(&mut out, "<path class=\"mirror\" d=\"M~ ~L~ ~\"/>", &[a.x, a.y, b.x, b.y]);
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
        out.push_str("<text class=\"lane ");
        out.push_str(class);
        draw(&mut out, "\" x=\"~\" y=\"~\">", &[word.rect.x, word.rect.y + 11.0]);
        push_escaped(&mut out, &word.text);
        for piece in [" <tspan>", arrow, "</tspan></text>"] {
            out.push_str(piece);
        }
    }
    out
}

/// The grounds behind the current step.
pub fn halos(state: &State) -> String {
    let mut out = String::new();
    for h in &state.halos {
        let r = h.rect;
        out.push_str("<rect class=\"halo ");
        out.push_str(hue_class(h.hue));
        draw(
            &mut out,
            "\" x=\"~\" y=\"~\" width=\"~\" height=\"~\" rx=\"12\"/>",
            &[r.x, r.y, r.w, r.h],
        );
    }
    out
}

/// The saved values that the rule at work reads.
pub fn reads(picture: &Picture, state: &State) -> String {
    let mut out = String::new();
    for r in state.reads.iter().filter_map(|r| picture.reads.get(*r)) {
        path(&mut out, "reads", &r.path);
    }
    out
}

/// The words beside the current step.
pub fn note(state: &State) -> String {
    let Some(note) = &state.note else { return String::new() };
    let mut out = String::from("<g class=\"note ");
    out.push_str(hue_class(note.hue));
    out.push_str("\">");
    let (x, mut y) = (note.rect.x, note.rect.y + 12.0);
    for line in &note.title {
        text(&mut out, "note-title", x, y, line);
        y += 17.0;
    }
    y += 3.0;
    for line in &note.lines {
        draw(&mut out, "<text x=\"~\" y=\"~\">", &[x, y]);
        push_escaped(&mut out, line);
        out.push_str("</text>");
        y += 16.0;
    }
    if let Some((a, b)) = note.leader {
        draw(
            &mut out,
            "<path class=\"leader\" d=\"M~ ~L~ ~\"/><circle class=\"leader-end\" cx=\"~\" cy=\"~\" r=\"2.5\"/>",
            &[a.x, a.y, b.x, b.y, b.x, b.y],
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
    draw(
        &mut out,
        "<rect width=\"~\" height=\"~\" fill=\"url(#graph-dots)\"/>",
        &[picture.width, picture.height],
    );
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
