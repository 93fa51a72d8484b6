//! The order of cells within each layer: barycentre sweeps, the best order seen is kept.

use super::{Band, Cell};

/// Sweeps there and back.
const SWEEPS: usize = 6;
/// Lines of different nets that run side by side are at least this far apart.
const CLEAR: f64 = 6.0;
/// How far beyond all others a pin may put a cell, in pixels.
const REACH: f64 = 2000.0;
/// Cells from which on less is tried.
const LARGE: usize = 4000;

/// One end of a hop, as seen from the other: the cell, and how far its port is from that cell's origin.
#[derive(Clone, Copy)]
struct Touch {
    cell: usize,
    off: f64,
}

struct Neighbours {
    before: Vec<Vec<Touch>>,
    after: Vec<Vec<Touch>>,
}

/// Orders the layers of a band.
pub(super) fn reduce_crossings(band: &mut Band) {
    let neighbours = neighbours(band);
    let mut place = vec![0usize; band.cells.len()];
    let Band { cells, layers, .. } = band;
    for layer in layers.iter_mut() {
        pin(cells, layer);
        note(layer, &mut place);
    }
    let mut best = (crossings(layers, &neighbours, &place), layers.clone());
    for sweep in 0..SWEEPS {
        if best.0 == 0 {
            break;
        }
        let there = sweep % 2 == 0;
        let n = layers.len();
        for step in 1..n {
            let at = if there { step } else { n - 1 - step };
            let side = if there { &neighbours.before } else { &neighbours.after };
            sort(cells, &mut layers[at], side, &mut place);
        }
        // Large graphs get one round of swaps: they are looked at in parts.
        let rounds = if cells.len() > LARGE { 1 } else { 4 };
        for layer in layers.iter_mut() {
            exchange(cells, layer, &neighbours, &mut place, rounds);
        }
        let found = crossings(layers, &neighbours, &place);
        if found < best.0 {
            best = (found, layers.clone());
        }
    }
    *layers = best.1;
}

fn neighbours(band: &Band) -> Neighbours {
    let n = band.cells.len();
    let mut out = Neighbours { before: vec![Vec::new(); n], after: vec![Vec::new(); n] };
    for net in &band.nets {
        for hop in &net.hops {
            let off = if hop.from == net.cell { net.base + net.out } else { 0.0 };
            for end in &hop.ends {
                out.before[end.cell].push(Touch { cell: hop.from, off });
                out.after[hop.from].push(Touch { cell: end.cell, off: end.off });
            }
        }
    }
    out
}

/// What must be nearest to the line goes last.
fn pin(cells: &[Cell], layer: &mut [usize]) {
    layer.sort_by_key(|c| (cells[*c].on_line, cells[*c].nearest));
}

/// Puts pinned cells where they come by their height among those that are free, and says whether there are any.
/// A height out of reach is brought into it, so that no text makes a picture without end.
pub(super) fn heed_pins(band: &mut Band) -> bool {
    let is_pinned = |c: &Cell| c.pinned.is_some();
    if !cfg!(feature = "full") || !band.cells.iter().any(is_pinned) {
        return false;
    }
    let farthest = band.cells.iter().map(|c| c.at + c.lo).fold(0.0, f64::min);
    for cell in &mut band.cells {
        cell.pinned = cell.pinned.map(|at| at.clamp(farthest - REACH, 0.0));
    }
    let Band { cells, layers, .. } = band;
    let middle =
        |c: usize| cells[c].pinned.unwrap_or(cells[c].at) + f64::midpoint(cells[c].lo, cells[c].hi);
    for layer in layers.iter_mut() {
        let (pinned, mut free): (Vec<usize>, Vec<usize>) =
            layer.iter().partition(|c| is_pinned(&cells[**c]));
        for cell in pinned {
            let place = free.iter().position(|other| middle(*other) > middle(cell));
            free.insert(place.unwrap_or(free.len()), cell);
        }
        pin(cells, &mut free);
        *layer = free;
    }
    true
}

/// Moves pinned cells a little outwards where two lines between the same layers would have to change places; whether
/// there were any.
pub(super) fn nudge(band: &mut Band) -> bool {
    let mut lines: Vec<Vec<(f64, f64)>> = vec![Vec::new(); band.layers.len() + 1];
    for net in &band.nets {
        for hop in &net.hops {
            let cell = band.cells[hop.from].at;
            let from = if hop.from == net.cell { cell + net.base + net.out } else { cell };
            for end in &hop.ends {
                let to = band.cells[end.cell].at + end.off;
                if (from - to).abs() > 0.25 {
                    lines[hop.layer].push((from, to));
                }
            }
        }
    }
    let near = |a: f64, b: f64| (a - b).abs() < CLEAR;
    let mut found = false;
    for (layer, lines) in lines.iter().enumerate() {
        let swaps = |(ix, a): (usize, &(f64, f64))| {
            lines[..ix].iter().any(|b| near(a.0, b.1) && near(a.1, b.0))
        };
        if !lines.iter().enumerate().any(swaps) {
            continue;
        }
        for cell in band.cells.iter_mut().filter(|c| c.layer == layer || c.layer + 1 == layer) {
            found |= cell.pinned.is_some();
            cell.pinned = cell.pinned.map(|at| at - CLEAR - 1.0);
        }
    }
    found
}

fn note(layer: &[usize], place: &mut [usize]) {
    for (at, cell) in layer.iter().enumerate() {
        place[*cell] = at;
    }
}

fn height(touch: Touch, place: &[usize]) -> f64 {
    place[touch.cell] as f64 + touch.off / 10_000.0
}

fn sort(cells: &[Cell], layer: &mut Vec<usize>, side: &[Vec<Touch>], place: &mut [usize]) {
    let mut keyed: Vec<(f64, usize)> = layer
        .iter()
        .map(|c| {
            let touches = &side[*c];
            let key = if touches.is_empty() {
                place[*c] as f64
            } else {
                touches.iter().map(|t| height(*t, place)).sum::<f64>() / touches.len() as f64
            };
            (key, *c)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    *layer = keyed.into_iter().map(|(_, c)| c).collect();
    pin(cells, layer);
    note(layer, place);
}

/// Swaps neighbours in a layer where that saves crossings.
fn exchange(
    cells: &[Cell],
    layer: &mut [usize],
    neighbours: &Neighbours,
    place: &mut [usize],
    rounds: usize,
) {
    for _ in 0..rounds {
        let mut changed = false;
        for at in 1..layer.len() {
            let (a, b) = (layer[at - 1], layer[at]);
            let pinned = |c: usize| cells[c].nearest || cells[c].on_line;
            if pinned(a) || pinned(b) {
                continue;
            }
            let cost = |x: usize, y: usize| {
                pair(&neighbours.before[x], &neighbours.before[y], place)
                    + pair(&neighbours.after[x], &neighbours.after[y], place)
            };
            if cost(b, a) < cost(a, b) {
                layer.swap(at - 1, at);
                (place[b], place[a]) = (at - 1, at);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
}

/// Crossings between the links of two cells of one layer, the first standing before the second.
fn pair(first: &[Touch], second: &[Touch], place: &[usize]) -> usize {
    // Hubs have many links; counting all pairs of two hubs would cost more than it brings.
    if first.len() * second.len() > 400 {
        return 0;
    }
    let crossed =
        |a: &Touch| second.iter().filter(|b| height(*a, place) > height(**b, place)).count();
    first.iter().map(crossed).sum()
}

/// All crossings between neighbouring layers.
fn crossings(layers: &[Vec<usize>], neighbours: &Neighbours, place: &[usize]) -> usize {
    let mut total = 0;
    for layer in layers {
        let mut ends: Vec<f64> = Vec::new();
        for cell in layer {
            let mut own: Vec<f64> =
                neighbours.after[*cell].iter().map(|t| height(*t, place)).collect();
            own.sort_by(f64::total_cmp);
            ends.append(&mut own);
        }
        total += inversions(&ends);
    }
    total
}

/// Pairs that stand in the wrong order, counted by merging runs.
fn inversions(values: &[f64]) -> usize {
    let mut from = values.to_vec();
    let mut into = from.clone();
    let (mut width, mut count) = (1, 0);
    while width < from.len() {
        let mut start = 0;
        while start < from.len() {
            let middle = (start + width).min(from.len());
            let end = (start + 2 * width).min(from.len());
            let (mut left, mut right) = (start, middle);
            for slot in &mut into[start..end] {
                let take_left = right >= end || (left < middle && from[left] <= from[right]);
                if take_left {
                    *slot = from[left];
                    left += 1;
                } else {
                    count += middle - left;
                    *slot = from[right];
                    right += 1;
                }
            }
            start = end;
        }
        std::mem::swap(&mut from, &mut into);
        width *= 2;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::inversions;

    #[test]
    fn inversions_are_counted() {
        assert_eq!(inversions(&[1.0, 2.0, 3.0]), 0);
        assert_eq!(inversions(&[3.0, 2.0, 1.0]), 3);
        assert_eq!(inversions(&[2.0, 1.0, 2.0, 1.0, 0.0]), 7);
    }
}
