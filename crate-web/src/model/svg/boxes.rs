//! The inside of a box: outlines for every state, name, label, values, ports. Classes choose what shows.

use super::text as words;
use super::{draw, preview, push_escaped};
use crate::model::measure;
use crate::model::picture::PicBox;

use crate::model::scene::BoxKind;

/// Whose colour a box has.
pub(super) fn side(b: &PicBox) -> &'static str {
    match b.kind {
        BoxKind::Param => "fw param",
        BoxKind::Const => "fw const",
        BoxKind::Op => "fw",
        BoxKind::Fold => "fold",
        BoxKind::Seed => "bw seed",
        BoxKind::Slot => "bw slot",
        BoxKind::Missing => "bw missing",
        _ => "bw",
    }
}

/// What is inside a box's group, the same at every step.
pub fn box_inner(b: &PicBox) -> String {
    let (w, h) = (b.rect.w, b.rect.h);
    let radius = if b.pill || b.kind == BoxKind::Seed { h / 2.0 } else { 8.0 };
    let mut out = String::with_capacity(1024);
    draw(
        &mut out,
        "<rect class=\"ring\" x=\"-5\" y=\"-5\" width=\"~\" height=\"~\" rx=\"~\"/>",
        &[w + 10.0, h + 10.0, radius + 5.0],
    );
    if b.refused || !b.badge.is_empty() {
        draw(
            &mut out,
            "<rect class=\"outer\" x=\"-5\" y=\"-5\" width=\"~\" height=\"~\" rx=\"12\"/>",
            &[w + 10.0, h + 10.0],
        );
    }
    for start in ["<rect class=\"ghost", "<rect class=\"box"] {
        out.push_str(start);
        draw(&mut out, "\" width=\"~\" height=\"~\" rx=\"~\"/>", &[w, h, radius]);
    }
    if b.kind == BoxKind::Param {
        draw(&mut out, "<path class=\"bar\" d=\"M-5 14V~\"/>", &[h - 14.0]);
    }
    match b.kind {
        BoxKind::Seed => {
            let text = [b.name.as_str(), if is_one(b) { " = 1" } else { "" }].concat();
            words(&mut out, "one", w / 2.0, 17.0, &text);
        }
        _ if b.pill => {
            words(&mut out, "nm", 16.0, 17.5, &b.name);
            words(&mut out, "op", w - 16.0, 17.5, &b.label);
        }
        _ => body(b, &mut out),
    }
    for (class, ports) in [("in", &b.ins), ("out", &b.outs)] {
        for p in ports {
            out.push_str("<circle class=\"port ");
            out.push_str(class);
            draw(&mut out, "\" cx=\"~\" cy=\"~\" r=\"3.5\"/>", &[p.x, p.y]);
        }
    }
    if !b.badge.is_empty() {
        badge(b, &mut out);
    }
    out
}

fn is_one(b: &PicBox) -> bool {
    b.preview.values.is_empty() || b.preview.values.iter().all(|v| (v - 1.0).abs() < f64::EPSILON)
}

fn body(b: &PicBox, out: &mut String) {
    let (w, h) = (b.rect.w, b.rect.h);
    let tall = h < 64.0 || w < 60.0;
    let line = if tall { 17.0 } else { 19.0 };
    // Words in capitals are the engine's own and set a little tighter.
    let caps = b.label.chars().any(char::is_alphabetic) && !b.label.chars().any(char::is_lowercase);
    words(out, "nm", 10.0, line, &b.name);
    words(out, if caps { "op caps" } else { "op" }, w - 10.0, line, &b.label);
    let (middle, low) =
        (w / 2.0, if tall { 40.0 } else { 50.0 } + (h - if tall { 56.0 } else { 72.0 }) / 2.0);
    if b.kind == BoxKind::Slot {
        out.push_str("<g class=\"expects\">");
        words(out, "says", middle, low - 5.0, "expects");
        words(out, "shape", middle, low + 10.0, &b.shape);
        out.push_str("</g>");
    }
    if b.nodes.is_empty() {
        let plate = measure::ui_width("not reached", 11.0) + 8.0;
        draw(
            out,
            "<g class=\"not\"><rect x=\"~\" y=\"~\" width=\"~\" height=\"18\" rx=\"4\"/><text class=\"says\" x=\"~\" y=\"~\">not reached</text></g>",
            &[middle - plate / 2.0, low - 10.0, plate, middle, low + 3.0],
        );
        return;
    }
    out.push_str("<g class=\"vals\">");
    out.push_str(&preview::preview(b, tall));
    out.push_str("</g>");
    if let Some(step) = b.built {
        words(out, "says step", middle, low, &["step ", &step.to_string()].concat());
    }
}

/// The code of a refusal, on the top edge; where links come in from above, the cross alone, on the corner.
fn badge(b: &PicBox, out: &mut String) {
    if b.ins.iter().any(|p| p.y < 1.0 && !b.pill) && b.rect.h < 64.0 {
        draw(
            out,
            "<g class=\"badge\" transform=\"translate(~ -10)\"><rect width=\"20\" height=\"20\" rx=\"10\"/><path d=\"M6.5 6.5l7 7m0-7l-7 7\"/></g>",
            &[b.rect.w - 12.0],
        );
        return;
    }
    let wide = (measure::mono_width(&b.badge, 10.5) + 31.0).ceil();
    let x = (b.rect.w - wide) / 2.0;
    draw(
        out,
        "<g class=\"badge\" transform=\"translate(~ -15)\"><rect width=\"~\" height=\"20\" rx=\"10\"/><path d=\"M8.5 6.5l7 7m0-7l-7 7\"/><text x=\"21\" y=\"14\">",
        &[x, wide],
    );
    push_escaped(out, &b.badge);
    out.push_str("</text></g>");
}
