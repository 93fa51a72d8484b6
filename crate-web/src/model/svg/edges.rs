//! The inside of an edge: its line, arrowhead, chips, and the fork, fan or stop at its end.

use super::{draw, path, push_escaped, text};
use crate::model::picture::{Chip, PicEdge};

use crate::model::scene::LinkKind;

/// Whose colour an edge has.
pub(super) fn side(e: &PicEdge) -> &'static str {
    match e.kind {
        LinkKind::Value | LinkKind::Turn => "fw",
        LinkKind::Gradient => "bw",
        LinkKind::Fold => "bw folds",
        LinkKind::Refused => "bw refusal",
    }
}

/// What is inside an edge's group, the same at every step.
pub fn edge_inner(e: &PicEdge) -> String {
    let mut out = String::with_capacity(512);
    if !e.own.is_empty() {
        if e.kind == LinkKind::Refused {
            path(&mut out, "double", &e.own);
            path(&mut out, "hollow", &e.own);
        }
        path(&mut out, "e", &e.own);
        if e.whole != e.own {
            path(&mut out, "e all", &e.whole);
        }
    }
    if !e.fork.is_empty() {
        path(&mut out, "e prong", &e.fork);
    }
    if let Some(fan) = &e.fan {
        out.push_str("<g class=\"fan\">");
        for p in &fan.pleats {
            path(&mut out, "pleat", p);
        }
        for s in &fan.strands {
            path(&mut out, "strand", s);
        }
        if let Some(count) = &fan.count {
            let (x, y) = (count.rect.x + count.rect.w / 2.0, count.rect.y + 11.0);
            text(&mut out, "count", x, y, &count.text);
        }
        out.push_str("</g>");
    }
    if !e.arrow.is_empty() {
        path(&mut out, "ah", &e.arrow);
    }
    for p in &e.dots {
        draw(&mut out, "<circle class=\"dot\" cx=\"~\" cy=\"~\" r=\"3\"/>", &[p.x, p.y]);
    }
    if let Some((at, rest)) = &e.stop {
        path(&mut out, "rest", rest);
        draw(
            &mut out,
            "<g class=\"cross\" transform=\"translate(~ ~)\"><circle r=\"12\"/><path d=\"M-4.5 -4.5L4.5 4.5M4.5 -4.5L-4.5 4.5\"/></g>",
            &[at.x, at.y],
        );
    }
    for c in &e.chips {
        chip(c, &mut out);
    }
    if let Some(word) = &e.stretch {
        let (x, y) = (word.rect.x + word.rect.w / 2.0, word.rect.y + 11.0);
        text(&mut out, "stretch", x, y, &word.text);
    }
    out
}

fn chip(c: &Chip, out: &mut String) {
    let r = c.rect;
    // On half pixels, so that hairlines are sharp.
    let (x, y) = ((r.x - 0.5).round() + 0.5, (r.y - 0.5).round() + 0.5);
    out.push_str(if c.folded { "<g class=\"chip folded\">" } else { "<g class=\"chip\">" });
    draw(
        out,
        "<rect x=\"~\" y=\"~\" width=\"~\" height=\"~\" rx=\"4\"/><text x=\"~\" y=\"~\">",
        &[x, y, r.w, r.h, x + r.w / 2.0, y + 12.2],
    );
    let inside = c.text.trim_matches(['[', ']']);
    let mut underlines = String::new();
    let advance = 6.6;
    let start = x + r.w / 2.0 - c.text.chars().count() as f64 * advance / 2.0;
    let mut place = 1.0;
    out.push('[');
    for (axis, extent) in inside.split(',').enumerate().filter(|(_, e)| !e.is_empty()) {
        if axis > 0 {
            out.push(',');
            place += 1.0;
        }
        let n = extent.chars().count() as f64;
        if c.clash.contains(&axis) {
            out.push_str("<tspan class=\"clash\">");
            push_escaped(out, extent);
            out.push_str("</tspan>");
            draw(
                &mut underlines,
                "<path class=\"under\" d=\"M~ ~h~\"/>",
                &[start + place * advance, y + 14.2, n * advance],
            );
        } else {
            push_escaped(out, extent);
        }
        place += n;
    }
    out.push_str("]</text>");
    out.push_str(&underlines);
    out.push_str("</g>");
}
