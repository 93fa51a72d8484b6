//! Puts boxes, edges and words on the canvas.

use super::ends;
use super::frame::{Frame, Frames, frames};
use super::path::{arrow, from, in_common, point_at, rounded, simplified};
use super::reads;
use super::trunks::{Channel, channels, port_of};
use crate::model::layout::{CHIP_HIGH, Inner, Layout, Orientation, chip_width, lane_offset};
use crate::model::measure;
use crate::model::picture::{Chip, PicBox, PicEdge, Picture, Point, Preview, Rect, Word};
use crate::model::scene::{BoxKind, Link, LinkKind, Scene};
use foldback::report::Report;

/// How far a branch runs beside what it belongs to before it leaves.
const OVERLAP: f64 = 9.0;

/// All that painting needs to know.
struct Canvas<'a> {
    scene: &'a Scene,
    layout: &'a Layout,
    frames: &'a Frames,
    forward: &'a [Channel],
    backward: &'a [Channel],
    rects: Vec<Rect>,
}

impl Canvas<'_> {
    fn is_forward(&self, link: usize) -> bool {
        self.scene.boxes[self.scene.links[link].to].kind.is_forward()
    }

    fn frame(&self, forward: bool) -> &Frame {
        if forward { &self.frames.forward } else { &self.frames.backward }
    }

    fn channels(&self, forward: bool) -> &[Channel] {
        if forward { self.forward } else { self.backward }
    }

    fn tall(&self) -> bool {
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
                out[*b] = frame.rect((middle - main / 2.0, middle + main / 2.0), (from, from + cross));
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

/// The corners of every link.
fn ways(canvas: &Canvas<'_>) -> Vec<Vec<Point>> {
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
                    if let Some(at) = trunk_at[n][h].filter(|_| (from - to).abs() > 0.25 || on_line) {
                        let turn = frame.point(at, from);
                        way.push(match way.last() {
                            // What leaves the seed turns on the dividing line.
                            Some(p) if on_line && h == 0 => {
                                if canvas.tall() { Point { x: p.x, ..turn } } else { Point { y: p.y, ..turn } }
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
        let x = if from_seed { first_edge(canvas, cell.boxes.as_slice()) - 16.0 } else { start.x + 12.0 };
        Point { x, y: start.y }
    } else {
        let y = if from_seed { first_edge(canvas, cell.boxes.as_slice()) - 16.0 } else { start.y + 12.0 };
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

fn edges(canvas: &Canvas<'_>, ways: &[Vec<Point>]) -> Vec<PicEdge> {
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

fn chip_at(rect: Rect, shape: &[u32]) -> Chip {
    Chip { rect, text: measure::shape(shape), clash: Vec::new(), folded: false }
}

/// Every chip and the link it belongs to.
fn chips(canvas: &Canvas<'_>) -> Vec<(usize, Chip)> {
    let Canvas { scene, layout, rects, .. } = canvas;
    let mut out = Vec::new();
    let mut carried = vec![false; scene.links.len()];
    for forward in [true, false] {
        let (band, frame) = (layout.band(forward), canvas.frame(forward));
        for cell in &band.cells {
            let Some(link) = cell.carries else { continue };
            carried[link] = true;
            let tag = layout.sizes.tag[link];
            let (m, c) = (frame.middle(cell.layer), cell.at);
            let rect = frame.rect(
                (m - tag.chip_main / 2.0, m + tag.chip_main / 2.0),
                (c - tag.chip_cross / 2.0, c + tag.chip_cross / 2.0),
            );
            out.push((link, chip_at(rect, &scene.links[link].shape)));
        }
        for (layer, channel) in canvas.channels(forward).iter().enumerate() {
            for s in &channel.standing {
                let l = &scene.links[s.link];
                let from = frame.channel(layer) + s.at;
                let room = frame.rect((from, from + s.main), (s.lo, s.hi));
                if carried[s.link] {
                    continue;
                }
                let shape = match (s.second, &l.wanted) {
                    (false, _) => &l.shape,
                    (true, Some(wanted)) => wanted,
                    (true, None) => &scene.boxes[l.to].shape,
                };
                let mut chip = chip_at(within(room, chip_width(&measure::shape(shape)), canvas, s.link), shape);
                chip.folded = s.second && l.wanted.is_none();
                if let Some(wanted) = &l.wanted {
                    let other = if s.second { &l.shape } else { wanted };
                    chip.clash = clash(shape, other);
                }
                out.push((s.link, chip));
            }
        }
    }
    for (link, l) in scene.links.iter().enumerate() {
        let straight = layout.inner[link] == Some(Inner::Straight)
            && !matches!(l.kind, LinkKind::Fold | LinkKind::Refused);
        if !straight && l.kind != LinkKind::Turn {
            continue;
        }
        let (a, b) = (rects[l.from], rects[l.to]);
        let wide = chip_width(&measure::shape(&l.shape));
        let (from, to) = if canvas.tall() { (a.x + a.w, b.x) } else { (a.y + a.h, b.y) };
        let size = if canvas.tall() { wide } else { CHIP_HIGH };
        // Where a branch leaves on the way, the chip stands on the other side of it.
        let branches = branches_at(canvas, link);
        let place = match scene.boxes[l.from].kind {
            BoxKind::Seed if branches => from + 5.0,
            _ if branches => to - 14.0 - size,
            _ => f64::midpoint(from, to) - size / 2.0,
        };
        let rect = if canvas.tall() {
            Rect { x: place, y: b.y + b.h / 2.0 - 6.5 - CHIP_HIGH, w: wide, h: CHIP_HIGH }
        } else {
            Rect { x: b.x + b.w / 2.0 + 10.5, y: place, w: wide, h: CHIP_HIGH }
        };
        out.push((link, chip_at(rect, &l.shape)));
    }
    out
}

/// Whether another link leaves a straight one on its way.
fn branches_at(canvas: &Canvas<'_>, link: usize) -> bool {
    let from = canvas.scene.links[link].from;
    canvas.layout.inner.iter().zip(&canvas.scene.links).any(|(how, l)| {
        l.from == from && matches!(how, Some(Inner::Around { .. }))
    })
}

/// A chip inside the room it shares with a word: at its top, on the side of the line.
fn within(room: Rect, wide: f64, canvas: &Canvas<'_>, link: usize) -> Rect {
    let spare = room.w - wide;
    let x = if canvas.tall() {
        if layout_far(canvas, link) { room.x + spare } else { room.x }
    } else {
        room.x + spare / 2.0
    };
    let has_word = !canvas.scene.links[link].stretch.is_empty();
    let y = if has_word { room.y } else { room.y + (room.h - CHIP_HIGH) / 2.0 };
    Rect { x, y, w: wide, h: CHIP_HIGH }
}

/// Whether a link's chip stands left of its line on the screen.
fn layout_far(canvas: &Canvas<'_>, link: usize) -> bool {
    canvas.layout.sizes.tag[link].far == canvas.is_forward(link)
}

/// Axes, from the left, along which two shapes differ.
fn clash(shape: &[u32], other: &[u32]) -> Vec<usize> {
    let n = shape.len();
    (0..n)
        .filter(|axis| {
            let from_right = n - axis;
            let there = other.len().checked_sub(from_right).and_then(|at| other.get(at));
            there != shape.get(*axis)
        })
        .collect()
}

/// The words under the chips of stretched operands.
fn words(canvas: &Canvas<'_>) -> Vec<(usize, Word)> {
    let frame = canvas.frame(true);
    let mut out = Vec::new();
    for (layer, channel) in canvas.forward.iter().enumerate() {
        for s in &channel.standing {
            let l = &canvas.scene.links[s.link];
            if l.stretch.is_empty() {
                continue;
            }
            let from = frame.channel(layer) + s.at;
            let room = frame.rect((from, from + s.main), (s.lo, s.hi));
            let wide = measure::ui_width(&l.stretch, 11.0).ceil();
            let spare = room.w - wide;
            let x = match (canvas.tall(), layout_far(canvas, s.link)) {
                (false, _) => room.x + spare / 2.0,
                (true, true) => room.x + spare,
                (true, false) => room.x,
            };
            let rect = Rect { x, y: room.y + CHIP_HIGH + 2.0, w: wide, h: 14.0 };
            out.push((s.link, Word { rect, text: l.stretch.clone() }));
        }
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
        if !whole_edge && !seed && l.kind != LinkKind::Refused && !out[l.from].outs.contains(&start) {
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
    let (at, end) = (
        canvas.frames.divider,
        if tall { picture.height } else { picture.width } - 20.0,
    );
    let word = |text: &str, x: f64, y: f64| {
        let w = measure::ui_width(text, 11.0) + 18.0;
        Word { rect: Rect { x, y, w, h: 14.0 }, text: text.to_owned() }
    };
    let mut bands = vec![word("Forward", if tall { 14.0 } else { 20.0 }, if tall { 6.0 } else { 12.0 })];
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
    let point = |along: f64| if tall { Point { x: at, y: along } } else { Point { x: along, y: at } };
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
