//! Paths with round corners, arrowheads, and what two ways have in common.

use std::fmt::Write;

use foldback::decimal::hundredths;

use crate::model::picture::Point;

/// The radius of corners.
const CORNER: f64 = 9.0;
/// From the tip of an arrow to the border it points at, the head's length, and half its width.
pub(super) const TIP: f64 = 4.5;
const HEAD: f64 = 8.0;
const HALF: f64 = 3.8;

/// A length as short as it can be said.
pub(crate) fn px(x: f64) -> String {
    hundredths((x * 100.0).round() as i64)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.01
}

pub(super) fn length(a: Point, b: Point) -> f64 {
    (a.x - b.x).abs() + (a.y - b.y).abs()
}

/// Corners only: no repeated points, none in the middle of a straight line.
pub(super) fn simplified(points: &[Point]) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::with_capacity(points.len());
    for p in points {
        if out.last().is_some_and(|q| near(q.x, p.x) && near(q.y, p.y)) {
            continue;
        }
        if let [.., a, b] = out.as_slice() {
            let upright = near(a.x, b.x) && near(b.x, p.x);
            let level = near(a.y, b.y) && near(b.y, p.y);
            if upright || level {
                out.pop();
            }
        }
        out.push(*p);
    }
    out
}

/// The path through these corners, rounded.
pub(crate) fn rounded(points: &[Point]) -> String {
    let mut out = String::new();
    let Some(first) = points.first() else { return out };
    let _ = write!(out, "M{} {}", px(first.x), px(first.y));
    for (at, p) in points.iter().enumerate().skip(1) {
        let Some(next) = points.get(at + 1) else {
            let _ = write!(out, "L{} {}", px(p.x), px(p.y));
            break;
        };
        let before = points[at - 1];
        let r = CORNER.min(length(before, *p) / 2.0).min(length(*p, *next) / 2.0);
        let (a, b) = (towards(*p, before, r), towards(*p, *next, r));
        let _ =
            write!(out, "L{} {}Q{} {} {} {}", px(a.x), px(a.y), px(p.x), px(p.y), px(b.x), px(b.y));
    }
    out
}

/// The point `by` from `from` on the way to `to`.
pub(super) fn towards(from: Point, to: Point, by: f64) -> Point {
    let all = length(from, to);
    if all < 1e-6 {
        return from;
    }
    let t = by / all;
    Point { x: from.x + (to.x - from.x) * t, y: from.y + (to.y - from.y) * t }
}

/// An arrowhead whose tip stops short of `end`, and the way cut so that it ends inside the head.
pub(super) fn arrow(points: &[Point]) -> (Vec<Point>, String) {
    let [.., before, end] = points else { return (points.to_vec(), String::new()) };
    let (before, end) = (*before, *end);
    let tip = towards(end, before, TIP);
    let base = towards(end, before, TIP + HEAD);
    let (dx, dy) = if near(tip.y, base.y) { (0.0, HALF) } else { (HALF, 0.0) };
    let head = format!(
        "M{} {}L{} {}L{} {}z",
        px(tip.x),
        px(tip.y),
        px(base.x + dx),
        px(base.y + dy),
        px(base.x - dx),
        px(base.y - dy)
    );
    let mut way = points.to_vec();
    if let Some(last) = way.last_mut() {
        *last = towards(end, before, TIP + HEAD - 1.0);
    }
    (way, head)
}

/// How far from their common start two ways are the same.
pub(super) fn in_common(a: &[Point], b: &[Point]) -> f64 {
    let mut sum = 0.0;
    for (p, q) in a.windows(2).zip(b.windows(2)) {
        let heading = |w: &[Point]| {
            let (dx, dy) = (w[1].x - w[0].x, w[1].y - w[0].y);
            if dx.abs() > dy.abs() { (dx.signum(), 0.0) } else { (0.0, dy.signum()) }
        };
        let (pa, qa) = (heading(p), heading(q));
        if !near(pa.0, qa.0) || !near(pa.1, qa.1) {
            break;
        }
        let (lp, lq) = (length(p[0], p[1]), length(q[0], q[1]));
        sum += lp.min(lq);
        if !near(lp, lq) {
            break;
        }
    }
    sum
}

/// The way from `skip` on.
pub(super) fn from(points: &[Point], skip: f64) -> Vec<Point> {
    let mut left = skip;
    for (at, w) in points.windows(2).enumerate() {
        let l = length(w[0], w[1]);
        if left < l - 0.01 {
            let mut out = vec![towards(w[0], w[1], left)];
            out.extend_from_slice(&points[at + 1..]);
            return out;
        }
        left -= l;
    }
    points.to_vec()
}

/// The point `along` the way.
pub(super) fn point_at(points: &[Point], along: f64) -> Point {
    from(points, along).first().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Point, arrow, from, in_common, px, rounded, simplified};

    fn way(corners: &[(f64, f64)]) -> Vec<Point> {
        corners.iter().map(|(x, y)| Point { x: *x, y: *y }).collect()
    }

    #[test]
    fn corners_are_round_and_lengths_short() {
        let points = way(&[(0.0, 0.0), (20.0, 0.0), (20.0, 30.0)]);
        assert_eq!(rounded(&points), "M0 0L11 0Q20 0 20 9L20 30");
        assert_eq!(px(-0.001), "0");
        assert_eq!(simplified(&way(&[(0.0, 0.0), (5.0, 0.0), (5.0, 0.0), (9.0, 0.0)])).len(), 2);
    }

    #[test]
    fn an_arrow_stops_short_of_the_border() {
        let (cut, head) = arrow(&way(&[(0.0, 0.0), (100.0, 0.0)]));
        assert!(head.starts_with("M95.5 0"), "{head}");
        assert!(cut[1].x < 95.5);
    }

    #[test]
    fn ways_part_where_they_part() {
        let a = way(&[(0.0, 0.0), (20.0, 0.0), (20.0, 30.0)]);
        let b = way(&[(0.0, 0.0), (20.0, 0.0), (20.0, 50.0), (40.0, 50.0)]);
        let c = way(&[(0.0, 0.0), (60.0, 0.0)]);
        assert!((in_common(&a, &b) - 50.0).abs() < 1e-9);
        assert!((in_common(&a, &c) - 20.0).abs() < 1e-9);
        assert_eq!(from(&b, 50.0), way(&[(20.0, 30.0), (20.0, 50.0), (40.0, 50.0)]));
    }
}
