//! Where saved values run to the rules that read them: between the bands, and beside columns where boxes are in the way.

use super::clear::Things;
use super::frame::Frames;
use super::path::{rounded, simplified};
use crate::model::layout::{Layout, Orientation};
use crate::model::picture::{PicRead, Picture, Point};
use crate::model::scene::Scene;

/// From the edge of a column, clear of the trunks and chips in its channel.
const STRIP: f64 = 7.0;
const STRIP_TALL: f64 = 4.0;
/// From the corner of a box.
const PORT: f64 = 12.0;
/// Between the values that one rule reads, and the end of their line and the box.
const NEXT: f64 = 12.0;
const SHORT: f64 = 2.0;

pub(super) fn reads(
    scene: &Scene,
    layout: &Layout,
    frames: &Frames,
    picture: &Picture,
) -> Vec<PicRead> {
    let mut out: Vec<PicRead> = Vec::with_capacity(scene.reads.len());
    let streets = Streets { layout, frames, picture, things: Things::new(picture) };
    // The values that one rule reads have lanes of their own.
    let mut lanes: Vec<(Option<u32>, Vec<usize>)> = Vec::new();
    for read in &scene.reads {
        let of = scene.boxes[read.to].of;
        if lanes.last().is_none_or(|(rule, _)| *rule != of) {
            lanes.push((of, Vec::new()));
        }
        let points = streets.straight(read.from, read.to).unwrap_or_else(|| {
            let sources = lanes.last_mut().map(|(_, sources)| sources);
            let lane = sources.map_or(0, |sources| {
                sources.iter().position(|s| *s == read.from).unwrap_or_else(|| {
                    sources.push(read.from);
                    sources.len() - 1
                })
            });
            streets.around(read.from, read.to, lane)
        });
        let path = rounded(&points);
        out.push(PicRead { from: read.from, to: read.to, points, path });
    }
    out
}

struct Streets<'a> {
    layout: &'a Layout,
    frames: &'a Frames,
    picture: &'a Picture,
    things: Things,
}

impl Streets<'_> {
    fn tall(&self) -> bool {
        self.layout.orientation == Orientation::Tall
    }

    /// Straight across, where the two face each other and nothing is between.
    fn straight(&self, from: usize, to: usize) -> Option<Vec<Point>> {
        let (a, b) = (self.picture.boxes[from].rect, self.picture.boxes[to].rect);
        [0.0, -16.0, 16.0].into_iter().find_map(|aside| {
            let (start, end) = if self.tall() {
                let y = b.y + b.h / 2.0 + aside;
                (Point { x: a.x + a.w, y }, Point { x: b.x - SHORT, y })
            } else {
                let x = b.x + b.w / 2.0 + aside;
                (Point { x, y: a.y + a.h }, Point { x, y: b.y - SHORT })
            };
            let faces = if self.tall() {
                a.y + 8.0 <= start.y && start.y <= a.y + a.h - 8.0
            } else {
                a.x + 8.0 <= start.x && start.x <= a.x + a.w - 8.0
            };
            (faces && self.things.clear(start, end)).then(|| vec![start, end])
        })
    }

    /// To the street between the bands, along it, and in: straight from the facing side where that is free, else
    /// beside the column.
    fn around(&self, from: usize, to: usize, lane: usize) -> Vec<Point> {
        let along = [20.0, 24.0, 16.5][lane % 3];
        let street = if self.tall() {
            self.frames.forward.point(0.0, [15.5, 12.0][lane % 2]).x
        } else {
            self.frames.divider - along
        };
        let mut points = self.leave(from, true, street, lane);
        let mut back = self.leave(to, false, street, lane);
        back.reverse();
        points.append(&mut back);
        simplified(&points)
    }

    /// The way between a box and the street.
    fn leave(&self, b: usize, forward: bool, street: f64, lane: usize) -> Vec<Point> {
        let r = self.picture.boxes[b].rect;
        let turn = |p: Point| {
            if self.tall() { Point { x: street, ..p } } else { Point { y: street, ..p } }
        };
        let aside = NEXT * (lane % 3 + 1) as f64;
        for off in [-aside, aside, -aside - 6.0, aside + 6.0] {
            let start = match (self.tall(), forward) {
                (true, true) => Point { x: r.x + r.w, y: r.y + r.h / 2.0 + off.clamp(-20.0, 20.0) },
                (true, false) => {
                    Point { x: r.x - SHORT, y: r.y + r.h / 2.0 + off.clamp(-20.0, 20.0) }
                }
                (false, true) => Point { x: r.x + r.w / 2.0 + off, y: r.y + r.h },
                (false, false) => Point { x: r.x + r.w / 2.0 + off, y: r.y - SHORT },
            };
            let end = turn(start);
            let (near, far) = if forward { (start, end) } else { (end, start) };
            if self.things.clear(near, far) {
                return vec![start, end];
            }
        }
        let (band, frame) = (
            self.layout.band(forward),
            if forward { &self.frames.forward } else { &self.frames.backward },
        );
        let strip = if self.tall() { STRIP_TALL } else { STRIP } + 3.0 * (lane % 2) as f64;
        let cell = &band.cells[self.layout.cell_of[b]];
        let base = cell.boxes.iter().find(|(x, _)| *x == b).map_or(0.0, |(_, base)| *base);
        let cross = cell.at + base + self.layout.sizes.cross[b] - PORT;
        let (start, wide) = frame.columns[cell.layer];
        let edge = frame.middle(cell.layer) + self.layout.sizes.main[b] / 2.0;
        let beside = frame.point(start + wide + strip, cross);
        vec![frame.point(edge, cross), beside, turn(beside)]
    }
}
