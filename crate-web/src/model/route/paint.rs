//! Puts boxes, edges and words on the canvas.

use super::chips::{chips, words};
use super::frame::{Frame, Frames, frames};
use super::reads;
use super::trunks::{Channel, channels};
use super::ways::{edges, ways};
use crate::model::layout::{Layout, Orientation};
use crate::model::measure;
use crate::model::picture::{PicBox, Picture, Point, Preview, Rect, Word};
use crate::model::scene::{BoxKind, LinkKind, Scene};
use foldback::report::Report;

/// All that painting needs to know.
pub(super) struct Canvas<'a> {
    pub(super) scene: &'a Scene,
    pub(super) layout: &'a Layout,
    pub(super) frames: &'a Frames,
    pub(super) forward: &'a [Channel],
    pub(super) backward: &'a [Channel],
    pub(super) rects: Vec<Rect>,
}

impl Canvas<'_> {
    pub(super) fn is_forward(&self, link: usize) -> bool {
        self.scene.boxes[self.scene.links[link].to].kind.is_forward()
    }

    pub(super) fn frame(&self, forward: bool) -> &Frame {
        if forward { &self.frames.forward } else { &self.frames.backward }
    }

    pub(super) fn channels(&self, forward: bool) -> &[Channel] {
        if forward { self.forward } else { self.backward }
    }

    pub(super) fn tall(&self) -> bool {
        self.layout.orientation == Orientation::Tall
    }
}

/// Draws a laid-out scene.
pub(crate) fn picture(report: &Report, scene: &Scene, layout: &Layout) -> Picture {
    let mut forward = channels(scene, layout, true);
    let mut backward = channels(scene, layout, false);
    let frames = frames(scene, layout, &mut forward, &mut backward);
    let rects = rects(scene, layout, &frames);
    let canvas =
        Canvas { scene, layout, frames: &frames, forward: &forward, backward: &backward, rects };
    let ways = ways(&canvas);
    let mut edges = edges(&canvas, &ways);
    for (link, chip) in chips(&canvas) {
        edges[link].chips.push(chip);
    }
    for (link, word) in words(&canvas) {
        edges[link].stretch = Some(word);
    }
    let mut out = Picture {
        orientation: layout.orientation,
        width: frames.width,
        height: frames.height,
        boxes: boxes(report, &canvas, &ways),
        edges,
        box_of: scene.box_of.clone(),
        ..Picture::default()
    };
    out.reads = reads::reads(scene, layout, &frames, &out);
    (out.divider, out.bands) = divide(&canvas, &out);
    out
}

fn rects(scene: &Scene, layout: &Layout, frames: &Frames) -> Vec<Rect> {
    let mut out = vec![Rect::default(); scene.boxes.len()];
    for forward in [true, false] {
        let frame = if forward { &frames.forward } else { &frames.backward };
        for cell in &layout.band(forward).cells {
            for (b, base) in &cell.boxes {
                let (main, cross) = (layout.sizes.main[*b], layout.sizes.cross[*b]);
                let middle = frame.middle(cell.layer);
                let from = cell.at + base;
                out[*b] =
                    frame.rect((middle - main / 2.0, middle + main / 2.0), (from, from + cross));
            }
        }
    }
    // The seed stands on the line itself, in the column of the loss.
    if let Some(seed) = scene.seed {
        let r = out[seed];
        let at = frames.divider;
        out[seed] = match layout.orientation {
            Orientation::Wide => Rect { y: at - r.h / 2.0, ..r },
            Orientation::Tall => Rect { x: at - r.w / 2.0, ..r },
        };
    }
    out
}

fn boxes(report: &Report, canvas: &Canvas<'_>, ways: &[Vec<Point>]) -> Vec<PicBox> {
    let Canvas { scene, rects, .. } = canvas;
    let mut out: Vec<PicBox> = scene
        .boxes
        .iter()
        .zip(rects)
        .map(|(b, rect)| {
            let room = rect.w - 28.0 - measure::mono_width(&b.name, 12.5);
            let pill = rect.h < 30.0;
            let room = if pill { room - 12.0 } else { room };
            PicBox {
                kind: b.kind,
                rect: *rect,
                pill,
                name: measure::cut(&b.name, rect.w - 20.0, |t| measure::mono_width(t, 12.5)),
                label: measure::cut(&b.label, room + 1.0, |t| measure::ui_width(t, 11.0)),
                title: b.label.clone(),
                shape: measure::shape(&b.shape),
                preview: b.main.map_or_else(Preview::default, |id| preview(report, id)),
                ins: Vec::new(),
                outs: Vec::new(),
                nodes: b.nodes.clone(),
                node: b.main.or(b.into),
                of: b.of,
                into: b.into,
                begun: b.begun,
                built: b.built,
                valued: b.valued,
                refused: b.refused,
                badge: b.badge.clone(),
                spoken: String::new(),
                inputs: Vec::new(),
                users: Vec::new(),
                call: String::new(),
                closed: false,
                pinned: false,
            }
        })
        .collect();
    let local = |r: Rect, p: Point| Point { x: p.x - r.x, y: p.y - r.y };
    for (link, l) in scene.links.iter().enumerate() {
        let way = &ways[link];
        let (Some(first), Some(last)) = (way.first(), way.last()) else { continue };
        if l.kind == LinkKind::Turn {
            continue;
        }
        let (start, end) = (local(rects[l.from], *first), local(rects[l.to], *last));
        let whole_edge = l.kind == LinkKind::Fold && way.len() == 2;
        let seed = scene.boxes[l.from].kind == BoxKind::Seed;
        if !whole_edge && !seed && l.kind != LinkKind::Refused && !out[l.from].outs.contains(&start)
        {
            out[l.from].outs.push(start);
        }
        if l.kind != LinkKind::Refused {
            out[l.to].ins.push(end);
        }
    }
    out
}

fn preview(report: &Report, id: u32) -> Preview {
    let Some(row) = report.nodes.get(id as usize) else { return Preview::default() };
    let n_cols = row.shape.last().copied().unwrap_or(1) as usize;
    let n_rows: usize = row.shape.iter().rev().skip(1).map(|d| *d as usize).product();
    let (rows, cols) = (n_rows.min(2), n_cols.min(8));
    let mut values = Vec::with_capacity(rows * cols);
    for r in 0..rows {
        values.extend((0..cols).filter_map(|c| row.values.get(r * n_cols + c)));
    }
    if values.len() < rows * cols {
        return Preview::default();
    }
    Preview {
        n_rows: rows,
        n_cols: cols,
        values,
        most: row.stats.min.abs().max(row.stats.max.abs()),
        more: rows < n_rows || cols < n_cols,
        scalar: row.shape.is_empty(),
    }
}

/// The dividing line, broken where something stands on it, and the names of the two sides.
fn divide(canvas: &Canvas<'_>, picture: &Picture) -> (Vec<(Point, Point)>, Vec<Word>) {
    let tall = canvas.tall();
    let (at, end) =
        (canvas.frames.divider, if tall { picture.height } else { picture.width } - 20.0);
    let word = |text: &str, x: f64, y: f64| {
        let w = measure::ui_width(text, 11.0) + 18.0;
        Word { rect: Rect { x, y, w, h: 14.0 }, text: text.to_owned() }
    };
    let mut bands =
        vec![word("Forward", if tall { 14.0 } else { 20.0 }, if tall { 6.0 } else { 12.0 })];
    if picture.boxes.iter().all(|b| b.kind.is_forward()) {
        return (Vec::new(), bands);
    }
    if tall {
        let w = measure::ui_width("Backward", 11.0) + 18.0;
        bands.push(word("Backward", (at + 8.0).max(picture.width - 12.0 - w), 6.0));
    } else {
        bands.push(word("Backward", 20.0, at + 14.0));
    }
    let mut gaps: Vec<(f64, f64)> = Vec::new();
    for (ix, b) in picture.boxes.iter().enumerate().filter(|(_, b)| b.kind == BoxKind::Seed) {
        let r = b.rect.grown(10.0);
        gaps.push(if tall { (r.y, r.y + r.h) } else { (r.x, r.x + r.w) });
        for e in picture.edges.iter().filter(|e| e.from == ix) {
            if let [p, q, ..] = e.points.as_slice() {
                let (p, q) = if tall { (p.y, q.y) } else { (p.x, q.x) };
                gaps.push((p.min(q) - 6.0, p.max(q) + 6.0));
            }
        }
    }
    gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let point =
        |along: f64| if tall { Point { x: at, y: along } } else { Point { x: along, y: at } };
    let mut pieces = Vec::new();
    let mut from = if tall { 28.0 } else { 20.0 };
    for (a, b) in gaps {
        if a > from + 8.0 {
            pieces.push((point(from), point(a)));
        }
        from = b.max(from);
    }
    if end > from + 8.0 {
        pieces.push((point(from), point(end)));
    }
    (pieces, bands)
}
