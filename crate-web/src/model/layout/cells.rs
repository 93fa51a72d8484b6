//! Boxes that feed each other in one layer stand as one cell; links that pass a layer get a cell there.

use super::layers::Columns;
use super::sizes::Sizes;
use super::{Band, Cell, Hop, HopEnd, Inner, Net, Orientation, in_band};
use crate::model::scene::{BoxKind, LinkKind, Scene};

/// Between the boxes of two cells, half of it on each.
const MARGIN: f64 = 14.0;
/// From a passing line to what is beside it.
const LINE: f64 = 9.0;
/// The first lane beside a cell, and the next ones.
const FIRST_LANE: f64 = 12.0;
const NEXT_LANE: f64 = 9.0;

/// Which boxes stand together, in the order in which gradients (or a pill's value) run through them.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Stacks {
    pub(super) all: Vec<Stack>,
    /// For each box, its stack; the seed has none.
    of: Vec<Option<usize>>,
    pub(super) inner: Vec<Option<Inner>>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Stack {
    boxes: Vec<usize>,
    /// Where each box begins and ends, along the stack.
    places: Vec<(f64, f64)>,
    /// Whether the seed feeds it, and whether it feeds more than the first box.
    seeded: bool,
    branches: bool,
    n_lanes: usize,
}

impl Stacks {
    /// Whether a link arrives at a side port of its box.
    pub(super) fn enters_by_side(&self, link: usize) -> bool {
        self.inner[link] != Some(Inner::Straight)
    }
}

/// Finds the stacks.
pub(super) fn stacks(scene: &Scene, columns: &Columns, orientation: Orientation) -> Stacks {
    let n = scene.boxes.len();
    let mut root: Vec<usize> = (0..n).collect();
    let is_inner = |from: usize, to: usize| {
        if scene.boxes[from].kind.is_forward() {
            return columns.pill[from] == Some(to);
        }
        let level = columns.layer[from] == columns.layer[to];
        level && (orientation == Orientation::Wide || scene.boxes[from].kind == BoxKind::Seed)
    };
    for link in scene.links.iter().filter(|l| in_band(l.kind) && is_inner(l.from, l.to)) {
        let (a, b) = (find(&mut root, link.from), find(&mut root, link.to));
        root[a.max(b)] = a.min(b);
    }
    let mut out =
        Stacks { of: vec![None; n], inner: vec![None; scene.links.len()], ..Stacks::default() };
    let mut at_root: Vec<Option<usize>> = vec![None; n];
    for at in 0..n {
        let r = find(&mut root, at);
        if scene.boxes[at].kind == BoxKind::Seed {
            continue;
        }
        let stack = *at_root[r].get_or_insert_with(|| {
            out.all.push(Stack::default());
            out.all.len() - 1
        });
        out.all[stack].boxes.push(at);
        out.of[at] = Some(stack);
    }
    let mut inner_links: Vec<Vec<usize>> = vec![Vec::new(); out.all.len()];
    for (ix, link) in scene.links.iter().enumerate() {
        if in_band(link.kind)
            && is_inner(link.from, link.to)
            && let Some(stack) = out.of[link.to]
        {
            inner_links[stack].push(ix);
        }
    }
    for (stack, links) in out.all.iter_mut().zip(&inner_links) {
        stack.boxes = ordered(scene, &stack.boxes, links);
        let mut straight_in = vec![false; stack.boxes.len()];
        for ix in links {
            let link = &scene.links[*ix];
            let place = |b: usize| stack.boxes.iter().position(|x| *x == b);
            let Some(to) = place(link.to) else { continue };
            let seeded = scene.boxes[link.from].kind == BoxKind::Seed;
            stack.seeded |= seeded;
            let next = match place(link.from) {
                Some(from) => from + 1 == to,
                None => to == 0,
            };
            let straight = next && !straight_in[to];
            stack.branches |= seeded && !straight;
            straight_in[to] |= straight;
            out.inner[*ix] =
                Some(if straight { Inner::Straight } else { Inner::Around { lane: 0 } });
        }
    }
    out
}

fn find(root: &mut [usize], mut at: usize) -> usize {
    while root[at] != at {
        root[at] = root[root[at]];
        at = root[at];
    }
    at
}

/// The order of a stack: nothing before what feeds it, a fold straight after its contribution, sums first, then what
/// serves the last operand, so that the order mirrors that of the operands.
fn ordered(scene: &Scene, boxes: &[usize], links: &[usize]) -> Vec<usize> {
    if boxes.len() < 2 {
        return boxes.to_vec();
    }
    let mut waiting: Vec<usize> = vec![0; boxes.len()];
    let place = |b: usize| boxes.binary_search(&b).ok();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); boxes.len()];
    for ix in links {
        let link = &scene.links[*ix];
        if let (Some(from), Some(to)) = (place(link.from), place(link.to)) {
            waiting[to] += 1;
            next[from].push(to);
        }
    }
    let rank = |p: usize| {
        let b = &scene.boxes[boxes[p]];
        let sums = matches!(b.kind, BoxKind::Accumulate | BoxKind::Accumulator);
        (!sums, b.of_src.is_some(), std::cmp::Reverse(b.of_src), p)
    };
    let mut ready: Vec<usize> = (0..boxes.len()).filter(|p| waiting[*p] == 0).collect();
    let mut out = Vec::with_capacity(boxes.len());
    let mut last: Option<usize> = None;
    while !ready.is_empty() {
        let follows = last.and_then(|l| {
            let fed = next[l].iter().filter(|p| ready.contains(p));
            fed.min_by_key(|p| rank(**p)).copied()
        });
        let Some(chosen) = follows.or_else(|| ready.iter().min_by_key(|p| rank(**p)).copied())
        else {
            break;
        };
        ready.retain(|p| *p != chosen);
        for p in &next[chosen] {
            waiting[*p] -= 1;
            if waiting[*p] == 0 {
                ready.push(*p);
            }
        }
        out.push(boxes[chosen]);
        last = Some(chosen);
    }
    // A cycle cannot be ordered, and a report has none; what is left keeps its place all the same.
    out.extend(boxes.iter().filter(|b| !out.contains(b)).copied().collect::<Vec<_>>());
    out
}

/// Stacks the boxes of each stack, and gives links that run around others their lanes.
pub(super) fn assign_lanes(
    scene: &Scene,
    stacks: &mut Stacks,
    sizes: &Sizes,
    orientation: Orientation,
) {
    let mut links_of: Vec<Vec<usize>> = vec![Vec::new(); stacks.all.len()];
    for (ix, link) in scene.links.iter().enumerate() {
        if stacks.inner[ix].is_some()
            && let Some(stack) = stacks.of[link.to]
        {
            links_of[stack].push(ix);
        }
    }
    for (stack, links) in stacks.all.iter_mut().zip(&links_of) {
        let place = |b: usize| stack.boxes.iter().position(|x| *x == b);
        let around = |from: usize| {
            links.iter().any(|ix| {
                scene.links[*ix].from == from
                    && matches!(stacks.inner[*ix], Some(Inner::Around { .. }))
            })
        };
        let mut places = Vec::with_capacity(stack.boxes.len());
        let mut from = 0.0;
        for (p, b) in stack.boxes.iter().enumerate() {
            places.push((from, from + sizes.cross[*b]));
            let straight = links.iter().find(|ix| {
                let link = &scene.links[**ix];
                stacks.inner[**ix] == Some(Inner::Straight)
                    && link.from == *b
                    && stack.boxes.get(p + 1) == Some(&link.to)
            });
            let turn = if around(*b) { 14.0 } else { 0.0 };
            from += sizes.cross[*b]
                + match straight.map(|ix| scene.links[*ix].kind) {
                    Some(LinkKind::Fold | LinkKind::Refused) => 80.0 + turn,
                    Some(_) if orientation == Orientation::Tall => 44.0 + turn,
                    Some(_) => 46.0 + turn,
                    None => 2.0 * MARGIN + turn,
                };
        }
        // A lane runs from under its source to the port; links of one source share it.
        let mut lanes: Vec<Vec<(usize, f64, f64)>> = Vec::new();
        let mut spans: Vec<(usize, usize, f64, f64)> = Vec::new();
        for ix in links {
            let link = &scene.links[*ix];
            if !matches!(stacks.inner[*ix], Some(Inner::Around { .. })) {
                continue;
            }
            let start = place(link.from).map_or(-16.0, |p| places[p].1 + 12.0);
            let end = place(link.to).map_or(0.0, |p| places[p].1);
            spans.push((*ix, link.from, start.min(end), start.max(end)));
        }
        for (ix, source, start, end) in spans {
            let free = lanes.iter().position(|lane| {
                lane.iter().all(|(s, a, b)| *s == source || end + 6.0 < *a || *b + 6.0 < start)
            });
            let lane = free.unwrap_or_else(|| {
                lanes.push(Vec::new());
                lanes.len() - 1
            });
            lanes[lane].push((source, start, end));
            stacks.inner[ix] = Some(Inner::Around { lane });
        }
        stack.n_lanes = lanes.len();
        stack.places = places;
    }
}

/// How far beside its cell a lane runs.
pub(crate) fn lane_offset(lane: usize) -> f64 {
    FIRST_LANE + NEXT_LANE * lane as f64
}

/// Cells and nets of one side.
pub(super) fn band(
    scene: &Scene,
    columns: &Columns,
    stacks: &Stacks,
    sizes: &Sizes,
    forward: bool,
) -> Band {
    let n_layers = columns.n_layers;
    let flow = |layer: usize| if forward { layer } else { n_layers - 1 - layer };
    let mut band =
        Band { layers: vec![Vec::new(); n_layers], lanes: vec![0.0; n_layers], ..Band::default() };
    let mut home: Vec<Option<(usize, f64)>> = vec![None; scene.boxes.len()];
    for (ix, stack) in stacks.all.iter().enumerate() {
        let Some(first) = stack.boxes.first().copied() else { continue };
        if scene.boxes[first].kind.is_forward() != forward {
            continue;
        }
        let mut cell = Cell { layer: flow(columns.layer[first]), ..Cell::default() };
        let length = stack.places.last().map_or(0.0, |p| p.1);
        for (b, (start, end)) in stack.boxes.iter().zip(&stack.places) {
            // Forward stacks run towards the line, backward ones away from it.
            cell.boxes.push((*b, if forward { *start } else { length - end }));
        }
        let at = band.cells.len();
        for (b, base) in &cell.boxes {
            home[*b] = Some((at, *base));
            if let (None, Some(pin)) = (cell.pinned, scene.pin(*b)) {
                cell.pinned = Some(pin.y - base - sizes.cross[*b] / 2.0);
            }
        }
        (cell.lo, cell.hi) = (-MARGIN, length + MARGIN);
        if stack.seeded {
            cell.nearest = true;
            cell.hi += if stack.branches { 16.0 } else { 0.0 };
        }
        if forward && scene.loss.is_some_and(|l| stack.boxes.contains(&l)) {
            cell.nearest = true;
        }
        for (l, link) in scene.links.iter().enumerate() {
            // A tag of a side port may stick out.
            if stacks.of[link.to] == Some(ix) && in_band(link.kind) && stacks.enters_by_side(l) {
                let Some((_, base)) = home[link.to] else { continue };
                let (port, tag) = (base + sizes.port[l], sizes.tag[l]);
                let (lo, hi) = if tag.far {
                    (port - tag.gap - tag.cross, port)
                } else {
                    (port, port + tag.gap + tag.cross)
                };
                cell.lo = cell.lo.min(lo - 6.0);
                cell.hi = cell.hi.max(hi + 6.0);
            }
        }
        if stack.n_lanes > 0 {
            let lanes = &mut band.lanes[cell.layer];
            *lanes = lanes.max(lane_offset(stack.n_lanes - 1));
        }
        band.layers[cell.layer].push(at);
        band.cells.push(cell);
    }
    if !forward && let Some(seed) = scene.seed {
        home[seed] = Some((band.cells.len(), 0.0));
        band.cells.push(Cell {
            layer: flow(columns.layer[seed]),
            boxes: vec![(seed, 0.0)],
            on_line: true,
            ..Cell::default()
        });
        band.layers[flow(columns.layer[seed])].push(band.cells.len() - 1);
    }
    nets(scene, columns, stacks, sizes, &home, &mut band, forward);
    band
}

fn nets(
    scene: &Scene,
    columns: &Columns,
    stacks: &Stacks,
    sizes: &Sizes,
    home: &[Option<(usize, f64)>],
    band: &mut Band,
    forward: bool,
) {
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); scene.boxes.len()];
    for (ix, link) in scene.links.iter().enumerate() {
        if in_band(link.kind)
            && stacks.inner[ix].is_none()
            && scene.boxes[link.from].kind.is_forward() == forward
            && home[link.to].is_some()
        {
            leaving[link.from].push(ix);
        }
    }
    let mut passing: Vec<Vec<usize>> = vec![Vec::new(); columns.n_layers];
    for (from, links) in leaving.iter().enumerate() {
        let (Some((cell, base)), false) = (home[from], links.is_empty()) else { continue };
        let start = band.cells[cell].layer;
        let mut arrivals: Vec<(usize, usize)> = links
            .iter()
            .filter_map(|l| Some((band.cells[home[scene.links[*l].to]?.0].layer, *l)))
            .filter(|(layer, _)| *layer > start)
            .collect();
        arrivals.sort_unstable();
        let Some((last, _)) = arrivals.last().copied() else { continue };
        let cross = sizes.cross[from];
        let out = (cross / 2.0).floor();
        let slide = 14.0_f64.min(out);
        let mut net =
            Net { from, cell, base, out, range: (slide, cross - slide), hops: Vec::new() };
        let ix = band.nets.len();
        let carrier = carrier(&arrivals, start);
        let mut came_from = cell;
        for (layer, pass_here) in passing.iter_mut().enumerate().take(last + 1).skip(start + 1) {
            let mut ends: Vec<HopEnd> = Vec::new();
            for (_, l) in arrivals.iter().filter(|(at, _)| *at == layer) {
                if let Some((cell, base)) = home[scene.links[*l].to] {
                    ends.push(HopEnd { cell, off: base + sizes.port[*l], link: Some(*l) });
                }
            }
            let hop_from = came_from;
            if layer < last {
                let carries = carrier.filter(|(at, _)| *at == layer).map(|(_, l)| l);
                let half = carries.map_or(LINE, |l| LINE.max(sizes.tag[l].chip_cross / 2.0 + 5.0));
                let pass = band.cells.len();
                band.cells.push(Cell {
                    layer,
                    lo: -half,
                    hi: half,
                    passes: Some(ix),
                    carries,
                    ..Cell::default()
                });
                ends.push(HopEnd { cell: pass, off: 0.0, link: None });
                pass_here.push(pass);
                came_from = pass;
            }
            net.hops.push(Hop { layer, from: hop_from, ends });
        }
        band.nets.push(net);
    }
    // Long links start out on the far side: above values, below gradients.
    for (layer, mut passing) in band.layers.iter_mut().zip(passing) {
        passing.append(layer);
        *layer = passing;
    }
}

/// The layer in which a long link's chip sits on the line: in the middle of what it has to itself.
fn carrier(arrivals: &[(usize, usize)], start: usize) -> Option<(usize, usize)> {
    let (last, link) = arrivals.last().copied()?;
    let own_from =
        arrivals.iter().rev().nth(1).map_or(start + 1, |(layer, _)| *layer.max(&(start + 1)));
    let shared = arrivals.iter().filter(|(layer, _)| *layer == last).count() > 1;
    (!shared && own_from < last).then(|| (usize::midpoint(own_from, last - 1), link))
}
