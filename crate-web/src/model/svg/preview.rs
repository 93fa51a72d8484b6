//! The values inside a box: area is magnitude, filled is positive, outlined is negative, a dot is zero.

use super::{draw, text};
use crate::model::measure;
use crate::model::number::short;
use crate::model::picture::PicBox;
use crate::model::route::px;

/// A preview's measures in one orientation.
struct Grid {
    first: f64,
    step: f64,
    rows: [f64; 2],
    row: f64,
    most: f64,
}

/// The values of a box.
pub(super) fn preview(b: &PicBox, tall: bool) -> String {
    let p = &b.preview;
    if p.values.is_empty() {
        return String::new();
    }
    let down = (b.rect.h - if tall { 56.0 } else { 72.0 }) / 2.0;
    if p.scalar {
        return scalar(b, tall, down);
    }
    if p.n_cols == 1 && p.n_rows <= 2 && !p.more {
        return column(b, tall, down);
    }
    let g = if tall {
        Grid { first: 13.5, step: 11.0, rows: [30.5, 43.5], row: 37.0, most: 9.5 }
    } else {
        Grid { first: 13.75, step: 11.5, rows: [39.5, 54.5], row: 47.0, most: 10.0 }
    };
    let mut out = String::new();
    for r in 0..p.n_rows {
        let y = down + if p.n_rows == 1 { g.row } else { g.rows[r] };
        for c in 0..p.n_cols {
            let Some(v) = p.values.get(r * p.n_cols + c) else { continue };
            cell(*v, p.most, g.most, g.first + g.step * c as f64, y, &mut out);
        }
    }
    if p.more {
        let (x, y) = (b.rect.w - 10.0, b.rect.h - 5.0);
        for dot in 0..3 {
            draw(
                &mut out,
                "<circle class=\"more\" cx=\"~\" cy=\"~\" r=\"1\"/>",
                &[x - 4.0 * f64::from(2 - dot), y],
            );
        }
    }
    out
}

fn cell(v: f64, most: f64, side: f64, x: f64, y: f64, out: &mut String) {
    if v.is_nan() {
        draw(out, "<path class=\"nan\" d=\"M~ ~l6 6m0-6l-6 6\"/>", &[x - 3.0, y - 3.0]);
        return;
    }
    if v == 0.0 {
        draw(out, "<circle class=\"zero\" cx=\"~\" cy=\"~\" r=\"1.1\"/>", &[x, y]);
        return;
    }
    let share = if v.is_infinite() || most <= 0.0 { 1.0 } else { (v.abs() / most).min(1.0) };
    let size = (side * share.sqrt()).max(3.2);
    // An outline is drawn on its edge: inset by half its stroke.
    let (class, size) = if v > 0.0 { ("pos", size) } else { ("neg", (size - 1.25).max(3.2)) };
    out.push_str("<rect class=\"");
    out.push_str(class);
    draw(
        out,
        "\" x=\"~\" y=\"~\" width=\"~\" height=\"~\" rx=\"1\"/>",
        &[x - size / 2.0, y - size / 2.0, size, size],
    );
}

/// As many digits as fit, five at most.
fn fitting(v: f64, px: f64, room: f64) -> String {
    let mut text = short(v, 5);
    for digits in (1..5).rev() {
        if measure::mono_width(&text, px) <= room {
            break;
        }
        text = short(v, digits);
    }
    text
}

fn column(b: &PicBox, tall: bool, down: f64) -> String {
    let p = &b.preview;
    let (x, text_x, size, font) =
        if tall { (14.0, 25.0, 8.0, 11.0) } else { (14.0, 29.0, 9.0, 12.0) };
    let rows: &[f64] = match (p.n_rows, tall) {
        (1, true) => &[36.5],
        (1, false) => &[45.0],
        (_, true) => &[30.5, 43.5],
        (_, false) => &[37.0, 53.0],
    };
    let mut out = String::new();
    for (v, y) in p.values.iter().zip(rows) {
        let y = y + down;
        cell(*v, p.most, size, x, y, &mut out);
        let number = fitting(*v, font, b.rect.w - text_x - 7.0);
        text(&mut out, if tall { "num small" } else { "num" }, text_x, y + 4.2, &number);
    }
    out
}

fn scalar(b: &PicBox, tall: bool, down: f64) -> String {
    let v = b.preview.values.first().copied().unwrap_or_default();
    let room = b.rect.w - 16.0;
    let sizes: &[f64] = if tall { &[16.0, 13.0, 11.0] } else { &[20.0, 16.0, 13.0] };
    let full = short(v, 5);
    let size =
        sizes.iter().copied().find(|s| measure::mono_width(&full, *s) <= room).unwrap_or(11.0);
    let y = if tall { 37.0 } else { 45.0 } + down + size * 0.35;
    // A class for each size: the page's content security policy allows no `style`.
    let class = ["scalar s", &px(size)].concat();
    let mut out = String::new();
    text(&mut out, &class, b.rect.w / 2.0, y, &fitting(v, size, room));
    out
}
