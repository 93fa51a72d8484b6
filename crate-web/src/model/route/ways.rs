//! The way of every link, and what is drawn of it.

use super::ends;
use super::paint::Canvas;
use super::path::{arrow, from, in_common, point_at, rounded, simplified};
use super::trunks::port_of;
use crate::model::layout::{Inner, lane_offset};
use crate::model::picture::{PicEdge, Point, Rect};
use crate::model::scene::{BoxKind, Link, LinkKind};

/// How far a branch runs beside what it belongs to before it leaves.
const OVERLAP: f64 = 9.0;

/// The corners of every link.
pub(super) fn ways(canvas: &Canvas<'_>) -> Vec<Vec<Point>> {
    let Canvas { scene, layout, .. } = canvas;
    let mut out: Vec<Vec<Point>> = vec![Vec::new(); scene.links.len()];
    for forward in [true, false] {
        let (band, frame, channels) =
            (layout.band(forward), canvas.frame(forward), canvas.channels(forward));
        let mut trunk_at: Vec<Vec<Option<f64>>> =
            band.nets.iter().map(|n| vec![None; n.hops.len()]).collect();
        for (layer, channel) in channels.iter().enumerate() {
            for t in &channel.trunks {
                trunk_at[t.net][t.hop] = Some(frame.channel(layer) + t.at);
            }
        }
        for (n, net) in band.nets.iter().enumerate() {
            let half = layout.sizes.main[net.from] / 2.0;
            let start = frame.middle(band.cells[net.cell].layer) + half;
            let first = port_of(band, n, 0);
            let on_line = band.cells[net.cell].on_line;
            let mut so_far = vec![if on_line {
                let r = canvas.rects[net.from];
                if canvas.tall() {
                    Point { x: r.x + r.w / 2.0, y: r.y }
                } else {
                    Point { x: r.x, y: r.y + r.h / 2.0 }
                }
            } else {
                frame.point(start, first)
            }];
            for (h, hop) in net.hops.iter().enumerate() {
                let from = port_of(band, n, h);
                let mut passed: Option<Vec<Point>> = None;
                for end in &hop.ends {
                    let to = band.cells[end.cell].at + end.off;
                    let mut way = so_far.clone();
                    if let Some(at) = trunk_at[n][h].filter(|_| (from - to).abs() > 0.25 || on_line)
                    {
                        let turn = frame.point(at, from);
                        way.push(match way.last() {
                            // What leaves the seed turns on the dividing line.
                            Some(p) if on_line && h == 0 => {
                                if canvas.tall() {
                                    Point { x: p.x, ..turn }
                                } else {
                                    Point { y: p.y, ..turn }
                                }
                            }
                            _ => turn,
                        });
                        way.push(frame.point(at, to));
                    }
                    if let Some(link) = end.link {
                        let half = layout.sizes.main[scene.links[link].to] / 2.0;
                        way.push(frame.point(frame.middle(hop.layer) - half, to));
                        out[link] = simplified(&way);
                    } else {
                        way.push(frame.point(frame.middle(hop.layer), to));
                        passed = Some(way);
                    }
                }
                so_far = passed.unwrap_or(so_far);
            }
        }
    }
    for (link, l) in scene.links.iter().enumerate() {
        if let Some(how) = layout.inner[link] {
            out[link] = simplified(&inner(canvas, link, how));
        } else if l.kind == LinkKind::Turn {
            let (a, b) = (canvas.rects[l.from], canvas.rects[l.to]);
            out[link] = across(canvas, a, b);
        }
    }
    out
}

/// Straight from one rectangle to the next, across the flow.
fn across(canvas: &Canvas<'_>, a: Rect, b: Rect) -> Vec<Point> {
    if canvas.tall() {
        let y = b.y + b.h / 2.0;
        vec![Point { x: a.x + a.w, y }, Point { x: b.x, y }]
    } else {
        let x = b.x + b.w / 2.0;
        vec![Point { x, y: a.y + a.h }, Point { x, y: b.y }]
    }
}

fn inner(canvas: &Canvas<'_>, link: usize, how: Inner) -> Vec<Point> {
    let Canvas { scene, layout, rects, .. } = canvas;
    let l = &scene.links[link];
    let mut way = across(canvas, rects[l.from], rects[l.to]);
    let Inner::Around { lane } = how else { return way };
    let forward = canvas.is_forward(link);
    let (band, frame) = (layout.band(forward), canvas.frame(forward));
    let cell = &band.cells[layout.cell_of[l.to]];
    let base = cell.boxes.iter().find(|(b, _)| *b == l.to).map_or(0.0, |(_, base)| *base);
    let port = cell.at + base + layout.sizes.port[link];
    let beside = frame.columns[cell.layer].0 - lane_offset(lane);
    let enter = frame.middle(cell.layer) - layout.sizes.main[l.to] / 2.0;
    let Some(start) = way.first().copied() else { return way };
    let (lane_point, end) = (frame.point(beside, port), frame.point(enter, port));
    // From the seed, the branch leaves just before the first box; from a box, just after it.
    let from_seed = scene.boxes[l.from].kind == BoxKind::Seed;
    let turn = if canvas.tall() {
        let x = if from_seed {
            first_edge(canvas, cell.boxes.as_slice()) - 16.0
        } else {
            start.x + 12.0
        };
        Point { x, y: start.y }
    } else {
        let y = if from_seed {
            first_edge(canvas, cell.boxes.as_slice()) - 16.0
        } else {
            start.y + 12.0
        };
        Point { x: start.x, y }
    };
    let corner = if canvas.tall() {
        Point { x: turn.x, y: lane_point.y }
    } else {
        Point { x: lane_point.x, y: turn.y }
    };
    way = vec![start, turn, corner, lane_point, end];
    way
}

/// The edge nearest to the line of the boxes of a gradient's cell.
fn first_edge(canvas: &Canvas<'_>, boxes: &[(usize, f64)]) -> f64 {
    let edges = boxes.iter().map(|(b, _)| {
        let r = canvas.rects[*b];
        if canvas.tall() { r.x } else { r.y }
    });
    edges.fold(f64::INFINITY, f64::min)
}

pub(super) fn edges(canvas: &Canvas<'_>, ways: &[Vec<Point>]) -> Vec<PicEdge> {
    let Canvas { scene, layout, .. } = canvas;
    let mut out: Vec<PicEdge> = Vec::with_capacity(scene.links.len());
    for (link, l) in scene.links.iter().enumerate() {
        let points = ways[link].clone();
        let mut edge = PicEdge {
            kind: l.kind,
            from: l.from,
            to: l.to,
            points: points.clone(),
            own: String::new(),
            whole: String::new(),
            arrow: String::new(),
            dots: Vec::new(),
            chips: Vec::new(),
            stretch: None,
            fork: String::new(),
            fan: None,
            stop: None,
        };
        let drawn = match l.kind {
            LinkKind::Turn => points,
            LinkKind::Refused => {
                let (way, stop) = ends::stop(&points);
                edge.stop = stop;
                way
            }
            LinkKind::Fold => {
                let r = canvas.rects[l.from];
                let wide = if canvas.tall() { r.h.min(r.w) } else { r.w };
                let wide = if canvas.tall() { r.w.max(wide) } else { wide };
                let next_to = points.len() == 2 && scene.boxes[l.from].of == scene.boxes[l.to].of;
                let (way, head) = arrow(&points);
                edge.arrow = head;
                if next_to {
                    edge.fan = Some(ends::whole_fan(points[0], points[1], wide, l.strands));
                    Vec::new()
                } else {
                    let (fan, meets) = ends::end_fan(&points, l.strands);
                    edge.fan = Some(fan);
                    let mut way = way;
                    if let Some(last) = way.last_mut() {
                        *last = meets;
                    }
                    way
                }
            }
            LinkKind::Value | LinkKind::Gradient => {
                if !l.stretch.is_empty() {
                    edge.fork = ends::fork(&points);
                }
                let (way, head) = arrow(&points);
                edge.arrow = head;
                way
            }
        };
        edge.whole = rounded(&drawn);
        edge.own.clone_from(&edge.whole);
        out.push(edge);
    }
    // Links that leave by one port share their way until they part; whichever is built first draws what is shared.
    let mut order: Vec<usize> = (0..scene.links.len()).collect();
    let built = |l: &Link| scene.boxes[l.to].begun.unwrap_or(u32::MAX);
    order.sort_by_key(|l| {
        let link = &scene.links[*l];
        let across = layout.inner[*l].is_some();
        (link.from, across, built(link), *l)
    });
    let mut done: Vec<usize> = Vec::new();
    for l in order {
        let port = |l: usize| (scene.links[l].from, layout.inner[l].is_some());
        if done.first().is_some_and(|d| port(*d) != port(l)) {
            done.clear();
        }
        let common = done.iter().map(|d| in_common(&ways[*d], &ways[l])).fold(0.0, f64::max);
        // A hub's links all part near it; comparing each with a few is enough to draw it right.
        if done.len() < 64 {
            done.push(l);
        }
        let plain = matches!(scene.links[l].kind, LinkKind::Value | LinkKind::Gradient);
        if common > 0.5 && plain {
            let (drawn, _) = arrow(&ways[l]);
            out[l].dots.push(point_at(&ways[l], common));
            out[l].own = rounded(&from(&drawn, (common - OVERLAP).max(0.0)));
        }
    }
    out
}
