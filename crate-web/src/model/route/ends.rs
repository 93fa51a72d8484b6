//! What stands at the end of an edge: the fork of a stretched operand, the fan of a fold, the stop of a refusal.

use super::path::{TIP, length, px, towards};
use crate::model::measure;
use crate::model::picture::{Fan, Point, Rect, Word};

/// Strands drawn one by one.
const STRANDS: u32 = 8;
/// Before the port, where the outer strands of a fork leave the line, and how far out they run.
const FORK: f64 = 34.0;
const APART: f64 = 8.0;
/// The length of a fan at the end of an edge, and half its width.
const FAN: f64 = 46.0;
const FAN_HALF: f64 = 11.0;

/// A point by its distance along a line and beside it.
struct Rail {
    origin: Point,
    along: (f64, f64),
}

impl Rail {
    fn new(from: Point, to: Point) -> Self {
        let l = length(from, to).max(1e-6);
        Self { origin: from, along: ((to.x - from.x) / l, (to.y - from.y) / l) }
    }

    fn at(&self, along: f64, beside: f64) -> String {
        let p = self.point(along, beside);
        format!("{} {}", px(p.x), px(p.y))
    }

    fn point(&self, along: f64, beside: f64) -> Point {
        let (dx, dy) = self.along;
        Point {
            x: self.origin.x + dx * along + dy * beside,
            y: self.origin.y + dy * along + dx * beside,
        }
    }
}

/// The outer strands of a stretched operand.
pub(super) fn fork(points: &[Point]) -> String {
    let [.., before, end] = points else { return String::new() };
    let from = towards(*end, *before, FORK.min(length(*before, *end)));
    let rail = Rail::new(from, *end);
    let all = length(from, *end);
    [-APART, APART]
        .map(|out| {
            format!(
                "M{}C{} {} {}L{}",
                rail.at(0.0, 0.0),
                rail.at(all * 0.26, 0.0),
                rail.at(all * 0.24, out),
                rail.at(all * 0.53, out),
                rail.at(all - 1.0, out)
            )
        })
        .concat()
}

/// The fan from the whole edge of a box, `wide`, to a port.
pub(super) fn whole_fan(from: Point, to: Point, wide: f64, n: u32) -> Fan {
    fan(from, to, (wide - 27.6).max(20.0) / 2.0, 11.5, n)
}

/// The fan at the end of an edge, and where the edge meets it.
pub(super) fn end_fan(points: &[Point], n: u32) -> (Fan, Point) {
    let [.., before, end] = points else { return (Fan::default(), Point::default()) };
    let meets = towards(*end, *before, FAN.min(length(*before, *end)));
    let mut out = fan(meets, *end, FAN_HALF, 5.5, n.min(STRANDS));
    let rail = Rail::new(meets, *end);
    out.strands.push(format!("M{}L{}", rail.at(0.0, -FAN_HALF), rail.at(0.0, FAN_HALF)));
    out.count = None;
    (out, meets)
}

fn fan(from: Point, to: Point, half: f64, step: f64, n: u32) -> Fan {
    let rail = Rail::new(from, to);
    let end = length(from, to) - TIP - 6.0;
    let places: Vec<f64> = if n <= STRANDS {
        let step = step.min(2.0 * half / f64::from(n.max(2) - 1));
        (0..n).map(|i| (f64::from(i) - f64::from(n - 1) / 2.0) * step).collect()
    } else {
        vec![-half, -half + step.min(half / 2.0), half]
    };
    let strand = |beside: f64| {
        format!(
            "{}C{} {} {}",
            rail.at(0.0, beside),
            rail.at(end * 0.34, beside),
            rail.at(end * 0.56, 0.0),
            rail.at(end, 0.0)
        )
    };
    let back = |beside: f64| {
        format!(
            "C{} {} {}z",
            rail.at(end * 0.56, 0.0),
            rail.at(end * 0.34, beside),
            rail.at(0.0, beside)
        )
    };
    let pleats = places
        .chunks_exact(2)
        .map(|pair| format!("M{}{}", strand(pair[0]), back(pair[1])))
        .collect();
    let count = (n > STRANDS).then(|| {
        let text = format!("+{}", n - 3);
        let wide = measure::ui_width(&text, 10.5);
        let p = rail.point(9.0, half * 0.35);
        Word { rect: Rect { x: p.x - wide / 2.0, y: p.y - 7.0, w: wide, h: 14.0 }, text }
    });
    let corners = [rail.point(0.0, -half - 2.0), rail.point(end, half + 2.0)];
    let rect = Rect {
        x: corners[0].x.min(corners[1].x),
        y: corners[0].y.min(corners[1].y),
        w: (corners[0].x - corners[1].x).abs(),
        h: (corners[0].y - corners[1].y).abs(),
    };
    Fan {
        strands: places.iter().map(|p| format!("M{}", strand(*p))).collect(),
        pleats,
        count,
        rect,
    }
}

/// Where a refused gradient stops, and the path to the place it does not reach.
pub(super) fn stop(points: &[Point]) -> (Vec<Point>, Option<(Point, String)>) {
    let [.., before, end] = points else { return (points.to_vec(), None) };
    let all = length(*before, *end);
    let at = towards(*end, *before, (all / 2.0).min(40.0));
    let (a, b) = (
        towards(*end, *before, ((all / 2.0).min(40.0) - 14.0).max(0.0)),
        towards(*end, *before, 3.0),
    );
    let mut way = points.to_vec();
    if let Some(last) = way.last_mut() {
        *last = towards(at, *before, 6.0);
    }
    // The box it leaves has a second outline.
    if let [first, second, ..] = way.as_slice() {
        way[0] = towards(*first, *second, 5.0_f64.min(length(*first, *second)));
    }
    let rest = format!("M{} {}L{} {}", px(a.x), px(a.y), px(b.x), px(b.y));
    (way, Some((at, rest)))
}
