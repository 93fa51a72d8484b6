//! Where saved values run to the rules that read them: along the edge of a column, and between the two bands.

use super::frame::Frames;
use super::path::rounded;
use crate::model::layout::{Layout, Orientation};
use crate::model::picture::{PicRead, Picture, Point, Rect};
use crate::model::scene::Scene;

/// From the edge of a column, clear of the trunks and chips in its channel.
const STRIP: f64 = 4.0;
/// From the corner of a box.
const PORT: f64 = 12.0;

pub(super) fn reads(scene: &Scene, layout: &Layout, frames: &Frames, picture: &Picture) -> Vec<PicRead> {
    let mut out: Vec<PicRead> = Vec::with_capacity(scene.reads.len());
    for read in &scene.reads {
        let points = straight(layout, picture, read.from, read.to).unwrap_or_else(|| {
            let before =
                scene.reads.iter().take(out.len()).filter(|r| scene.boxes[r.to].of == scene.boxes[read.to].of);
            let mut sources: Vec<usize> = before.map(|r| r.from).filter(|f| *f != read.from).collect();
            sources.sort_unstable();
            sources.dedup();
            around(layout, frames, read.from, read.to, sources.len())
        });
        let path = rounded(&points);
        out.push(PicRead { from: read.from, to: read.to, points, path });
    }
    out
}

/// Straight across, where the two face each other and nothing is between.
fn straight(layout: &Layout, picture: &Picture, from: usize, to: usize) -> Option<Vec<Point>> {
    let (a, b) = (picture.boxes[from].rect, picture.boxes[to].rect);
    let tall = layout.orientation == Orientation::Tall;
    let (start, end, gap) = if tall {
        let y = b.y + b.h / 2.0;
        if y < a.y + 8.0 || y > a.y + a.h - 8.0 {
            return None;
        }
        let gap = Rect { x: a.x + a.w, y: y - 3.0, w: b.x - a.x - a.w, h: 6.0 };
        (Point { x: a.x + a.w, y }, Point { x: b.x - 2.0, y }, gap)
    } else {
        let x = b.x + b.w / 2.0;
        if x < a.x + 8.0 || x > a.x + a.w - 8.0 {
            return None;
        }
        let gap = Rect { x: x - 3.0, y: a.y + a.h, w: 6.0, h: b.y - a.y - a.h };
        (Point { x, y: a.y + a.h }, Point { x, y: b.y - 2.0 }, gap)
    };
    let boxes = picture.boxes.iter().map(|b| b.rect);
    let chips = picture.edges.iter().flat_map(|e| e.chips.iter().map(|c| c.rect));
    let words = picture.edges.iter().filter_map(|e| e.stretch.as_ref().map(|w| w.rect));
    let lines = picture.edges.iter().flat_map(|e| {
        e.points.windows(2).filter(|w| tall == ((w[0].y - w[1].y).abs() < 0.01)).map(|w| Rect {
            x: w[0].x.min(w[1].x),
            y: w[0].y.min(w[1].y),
            w: (w[0].x - w[1].x).abs().max(0.5),
            h: (w[0].y - w[1].y).abs().max(0.5),
        })
    });
    let clear = boxes.chain(chips).chain(words).chain(lines).all(|r| !r.overlaps(gap));
    clear.then(|| vec![start, end])
}

/// Out beside the column, along the dividing line, and in beside the other column.
fn around(layout: &Layout, frames: &Frames, from: usize, to: usize, n: usize) -> Vec<Point> {
    let tall = layout.orientation == Orientation::Tall;
    let strip = STRIP + 4.0 * (n % 2) as f64;
    let along = [20.0, 24.0, 16.5][n % 3];
    let corridor = if tall { frames.forward.point(0.0, 15.5).x } else { frames.divider - along };
    let side = |forward: bool, b: usize| {
        let (band, frame) = (
            layout.band(forward),
            if forward { &frames.forward } else { &frames.backward },
        );
        let cell = &band.cells[layout.cell_of[b]];
        let base = cell.boxes.iter().find(|(x, _)| *x == b).map_or(0.0, |(_, base)| *base);
        let cross = cell.at + base + layout.sizes.cross[b] - PORT;
        let (start, wide) = frame.columns[cell.layer];
        let edge = frame.middle(cell.layer) + layout.sizes.main[b] / 2.0;
        (frame.point(edge, cross), frame.point(start + wide + strip, cross))
    };
    let (a, a_strip) = side(true, from);
    let (b, b_strip) = side(false, to);
    let turn = |p: Point| if tall { Point { x: corridor, y: p.y } } else { Point { x: p.x, y: corridor } };
    vec![a, a_strip, turn(a_strip), turn(b_strip), b_strip, b]
}
