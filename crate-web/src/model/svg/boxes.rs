//! The inside of a box: outlines for every state, name, label, values, ports. Classes choose what shows.

use std::fmt::Write;

use super::{escape, preview};
use crate::model::measure;
use crate::model::picture::PicBox;
use crate::model::route::px;
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
    let _ = write!(
        out,
        "<rect class=\"ring\" x=\"-5\" y=\"-5\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
        px(w + 10.0),
        px(h + 10.0),
        px(radius + 5.0)
    );
    if b.refused || !b.badge.is_empty() {
        let _ = write!(
            out,
            "<rect class=\"outer\" x=\"-5\" y=\"-5\" width=\"{}\" height=\"{}\" rx=\"12\"/>",
            px(w + 10.0),
            px(h + 10.0)
        );
    }
    let rect = |class: &str| {
        format!(
            "<rect class=\"{class}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            px(w),
            px(h),
            px(radius)
        )
    };
    out.push_str(&rect("ghost"));
    out.push_str(&rect("box"));
    if b.kind == BoxKind::Param {
        let _ = write!(out, "<path class=\"bar\" d=\"M-5 14V{}\"/>", px(h - 14.0));
    }
    match b.kind {
        BoxKind::Seed => {
            let text = format!("{} = 1", b.name);
            let text = if is_one(b) { text } else { b.name.clone() };
            let _ = write!(
                out,
                "<text class=\"one\" x=\"{}\" y=\"17\">{}</text>",
                px(w / 2.0),
                escape(&text)
            );
        }
        _ if b.pill => {
            let _ = write!(
                out,
                "<text class=\"nm\" x=\"16\" y=\"17.5\">{}</text><text class=\"op\" x=\"{}\" y=\"17.5\">{}</text>",
                escape(&b.name),
                px(w - 16.0),
                escape(&b.label)
            );
        }
        _ => body(b, &mut out),
    }
    for (class, ports) in [("in", &b.ins), ("out", &b.outs)] {
        for p in ports {
            let _ = write!(
                out,
                "<circle class=\"port {class}\" cx=\"{}\" cy=\"{}\" r=\"3.5\"/>",
                px(p.x),
                px(p.y)
            );
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
    let _ = write!(
        out,
        "<text class=\"nm\" x=\"10\" y=\"{line}\">{}</text><text class=\"op{}\" x=\"{}\" y=\"{line}\">{}</text>",
        escape(&b.name),
        if caps { " caps" } else { "" },
        px(w - 10.0),
        escape(&b.label)
    );
    let (middle, low) =
        (w / 2.0, if tall { 40.0 } else { 50.0 } + (h - if tall { 56.0 } else { 72.0 }) / 2.0);
    if b.kind == BoxKind::Slot {
        let _ = write!(
            out,
            "<g class=\"expects\"><text class=\"says\" x=\"{m}\" y=\"{}\">expects</text><text class=\"shape\" x=\"{m}\" y=\"{}\">{}</text></g>",
            px(low - 5.0),
            px(low + 10.0),
            escape(&b.shape),
            m = px(middle)
        );
    }
    if b.nodes.is_empty() {
        let plate = measure::ui_width("not reached", 11.0) + 8.0;
        let _ = write!(
            out,
            "<g class=\"not\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"18\" rx=\"4\"/><text class=\"says\" x=\"{}\" y=\"{}\">not reached</text></g>",
            px(middle - plate / 2.0),
            px(low - 10.0),
            px(plate),
            px(middle),
            px(low + 3.0)
        );
        return;
    }
    let _ = write!(out, "<g class=\"vals\">{}</g>", preview::preview(b, tall));
    if let Some(step) = b.built {
        let _ = write!(
            out,
            "<text class=\"says step\" x=\"{}\" y=\"{}\">step {step}</text>",
            px(middle),
            px(low)
        );
    }
}

/// The code of a refusal, on the top edge; where links come in from above, the cross alone, on the corner.
fn badge(b: &PicBox, out: &mut String) {
    if b.ins.iter().any(|p| p.y < 1.0 && !b.pill) && b.rect.h < 64.0 {
        let _ = write!(
            out,
            "<g class=\"badge\" transform=\"translate({} -10)\"><rect width=\"20\" height=\"20\" rx=\"10\"/><path d=\"M6.5 6.5l7 7m0-7l-7 7\"/></g>",
            px(b.rect.w - 12.0)
        );
        return;
    }
    let wide = (measure::mono_width(&b.badge, 10.5) + 31.0).ceil();
    let x = (b.rect.w - wide) / 2.0;
    let _ = write!(
        out,
        "<g class=\"badge\" transform=\"translate({} -15)\"><rect width=\"{}\" height=\"20\" rx=\"10\"/><path d=\"M8.5 6.5l7 7m0-7l-7 7\"/><text x=\"21\" y=\"14\">{}</text></g>",
        px(x),
        px(wide),
        escape(&b.badge)
    );
}
