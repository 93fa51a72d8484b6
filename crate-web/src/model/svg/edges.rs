//! The inside of an edge: its line, arrowhead, chips, and the fork, fan or stop at its end.

use std::fmt::Write;

use super::escape;
use crate::model::picture::{Chip, PicEdge};
use crate::model::route::px;
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
            let _ = write!(
                out,
                "<path class=\"double\" d=\"{0}\"/><path class=\"hollow\" d=\"{0}\"/>",
                e.own
            );
        }
        let _ = write!(out, "<path class=\"e\" d=\"{}\"/>", e.own);
        if e.whole != e.own {
            let _ = write!(out, "<path class=\"e all\" d=\"{}\"/>", e.whole);
        }
    }
    if !e.fork.is_empty() {
        let _ = write!(out, "<path class=\"e prong\" d=\"{}\"/>", e.fork);
    }
    if let Some(fan) = &e.fan {
        out.push_str("<g class=\"fan\">");
        for p in &fan.pleats {
            let _ = write!(out, "<path class=\"pleat\" d=\"{p}\"/>");
        }
        for s in &fan.strands {
            let _ = write!(out, "<path class=\"strand\" d=\"{s}\"/>");
        }
        if let Some(count) = &fan.count {
            let (x, y) = (count.rect.x + count.rect.w / 2.0, count.rect.y + 11.0);
            let _ = write!(
                out,
                "<text class=\"count\" x=\"{}\" y=\"{}\">{}</text>",
                px(x),
                px(y),
                escape(&count.text)
            );
        }
        out.push_str("</g>");
    }
    if !e.arrow.is_empty() {
        let _ = write!(out, "<path class=\"ah\" d=\"{}\"/>", e.arrow);
    }
    for p in &e.dots {
        let _ =
            write!(out, "<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"3\"/>", px(p.x), px(p.y));
    }
    if let Some((at, rest)) = &e.stop {
        let _ = write!(
            out,
            "<path class=\"rest\" d=\"{rest}\"/><g class=\"cross\" transform=\"translate({} {})\"><circle r=\"12\"/><path d=\"M-4.5 -4.5L4.5 4.5M4.5 -4.5L-4.5 4.5\"/></g>",
            px(at.x),
            px(at.y)
        );
    }
    for c in &e.chips {
        chip(c, &mut out);
    }
    if let Some(word) = &e.stretch {
        let (x, y) = (word.rect.x + word.rect.w / 2.0, word.rect.y + 11.0);
        let _ = write!(
            out,
            "<text class=\"stretch\" x=\"{}\" y=\"{}\">{}</text>",
            px(x),
            px(y),
            escape(&word.text)
        );
    }
    out
}

fn chip(c: &Chip, out: &mut String) {
    let r = c.rect;
    // On half pixels, so that hairlines are sharp.
    let (x, y) = ((r.x - 0.5).round() + 0.5, (r.y - 0.5).round() + 0.5);
    let _ = write!(
        out,
        "<g class=\"chip{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/><text x=\"{}\" y=\"{}\">",
        if c.folded { " folded" } else { "" },
        px(x),
        px(y),
        px(r.w),
        px(r.h),
        px(x + r.w / 2.0),
        px(y + 12.2)
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
            let _ = write!(out, "<tspan class=\"clash\">{}</tspan>", escape(extent));
            let _ = write!(
                underlines,
                "<path class=\"under\" d=\"M{} {}h{}\"/>",
                px(start + place * advance),
                px(y + 14.2),
                px(n * advance)
            );
        } else {
            out.push_str(&escape(extent));
        }
        place += n;
    }
    let _ = write!(out, "]</text>{underlines}</g>");
}
