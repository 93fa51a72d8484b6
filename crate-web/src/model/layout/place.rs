//! Where cells stand across the flow: straight runs become blocks, blocks settle near the dividing line and then
//! move towards what they are linked to. After Brandes and Köpf, with sizes and ports.

use std::cmp::Reverse;

use super::Band;
use super::sizes::Sizes;

/// Rounds of moving blocks towards their neighbours.
const ROUNDS: usize = 8;

/// Gives every cell its place and every net its port.
pub(super) fn across(band: &mut Band, sizes: &Sizes) {
    let blocks = Blocks::new(band, sizes);
    let at = blocks.settle(band);
    for (cell, c) in band.cells.iter_mut().enumerate() {
        if !c.on_line {
            c.at = at[blocks.of[cell]] + blocks.shift[cell];
        }
    }
    slide_ports(band);
}

/// Puts pinned cells where the text has them, as near as what is nearer to the line lets them; what is farther out
/// makes room. All others stay where they are.
pub(super) fn push(band: &mut Band) {
    let Band { cells, layers, .. } = band;
    for layer in layers.iter() {
        let mut most = 0.0_f64;
        for c in layer.iter().rev() {
            let cell = &mut cells[*c];
            if cell.on_line {
                continue;
            }
            let wanted = cell.pinned.map_or(cell.at, |at| (at * 2.0).round() / 2.0);
            cell.at = wanted.min(most - cell.hi);
            most = cell.at + cell.lo;
        }
    }
    slide_ports(band);
}

struct Blocks {
    /// For each cell its block, and where it stands within it.
    of: Vec<usize>,
    shift: Vec<f64>,
    n: usize,
}

/// A hop that could run straight.
struct Candidate {
    rank: (u8, Reverse<usize>, Reverse<usize>, usize, usize),
    net: usize,
    from: usize,
    to: usize,
    off: f64,
}

impl Blocks {
    fn new(band: &mut Band, sizes: &Sizes) -> Self {
        let n = band.cells.len();
        let mut place = vec![0usize; n];
        for layer in &band.layers {
            for (at, cell) in layer.iter().enumerate() {
                place[*cell] = at;
            }
        }
        let mut by_layer: Vec<Vec<Candidate>> =
            (0..band.layers.len()).map(|_| Vec::new()).collect();
        let (behind, ahead) = paths(band);
        for (ix, net) in band.nets.iter().enumerate() {
            for hop in &net.hops {
                for (order, end) in hop.ends.iter().enumerate() {
                    let (a, b) = (&band.cells[hop.from], &band.cells[end.cell]);
                    if a.on_line || b.on_line {
                        continue;
                    }
                    let rank = match (a.passes.is_some(), b.passes.is_some()) {
                        (true, true) => 0,
                        (false, false) => 1,
                        _ => 2,
                    };
                    // The longest way through the graph is the one to be straight; then, of several ends, the one
                    // nearest to the line: what is built first stands there.
                    let way = behind[hop.from] + ahead[end.cell];
                    let rank = (rank, Reverse(way), Reverse(place[end.cell]), order, ix);
                    let (from, to, off) = (hop.from, end.cell, end.off);
                    by_layer[hop.layer].push(Candidate { rank, net: ix, from, to, off });
                }
            }
        }
        let mut next: Vec<Option<(usize, f64)>> = vec![None; n];
        let mut has_before = vec![false; n];
        let mut port_taken = vec![false; band.nets.len()];
        for mut candidates in by_layer {
            candidates.sort_by_key(|c| c.rank);
            // By their first.
            let mut taken: Vec<(usize, usize)> = Vec::new();
            for c in candidates {
                let (a, b) = (place[c.from], place[c.to]);
                let after = taken.partition_point(|(p, _)| *p <= a);
                let before = after.checked_sub(1).and_then(|ix| taken.get(ix));
                let crosses = before.is_some_and(|(p, q)| *p == a || *q >= b)
                    || taken.get(after).is_some_and(|(_, q)| *q <= b);
                if crosses || next[c.from].is_some() || has_before[c.to] {
                    continue;
                }
                taken.insert(after, (a, b));
                has_before[c.to] = true;
                next[c.from] = Some((c.to, fall(band, sizes, &c, &mut port_taken)));
            }
        }
        let mut out = Self { of: vec![usize::MAX; n], shift: vec![0.0; n], n: 0 };
        for layer in &band.layers {
            for cell in layer {
                if has_before[*cell] {
                    continue;
                }
                let (mut at, mut shift) = (*cell, 0.0);
                loop {
                    out.of[at] = out.n;
                    out.shift[at] = shift;
                    let Some((to, by)) = next[at] else { break };
                    shift += by;
                    at = to;
                }
                out.n += 1;
            }
        }
        out
    }

    /// Near the line first, then towards what each block is linked to, as far as the others let it.
    fn settle(&self, band: &Band) -> Vec<f64> {
        // For each block: what stands next to it, farther and nearer, and how far apart they must be.
        let mut nearer: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.n];
        let mut farther: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.n];
        let mut bound = vec![0.0_f64; self.n];
        for layer in &band.layers {
            let cells: Vec<usize> =
                layer.iter().copied().filter(|c| !band.cells[*c].on_line).collect();
            for pair in cells.windows(2) {
                let (u, v) = (pair[0], pair[1]);
                let gap = self.shift[u] + band.cells[u].hi - band.cells[v].lo - self.shift[v];
                let (a, b) = (self.of[u], self.of[v]);
                if a != b {
                    nearer[a].push((b, gap));
                    farther[b].push((a, gap));
                }
            }
            for c in &cells {
                let b = self.of[*c];
                bound[b] = bound[b].min(-(self.shift[*c] + band.cells[*c].hi));
            }
        }
        let order = self.outward(&nearer, &farther);
        let mut at = vec![0.0_f64; self.n];
        for b in &order {
            at[*b] = nearer[*b].iter().map(|(next, gap)| at[*next] - gap).fold(bound[*b], f64::min);
        }
        let pulls = self.pulls(band);
        for round in 0..ROUNDS {
            let mut visit = |b: usize| {
                let mut wanted: Vec<(f64, f64)> = pulls[b]
                    .iter()
                    .map(|pull| (pull.other.map_or(0.0, |o| at[o]) + pull.off, pull.weight))
                    .collect();
                let Some(wanted) = median(&mut wanted) else { return };
                let most = nearer[b].iter().map(|(o, gap)| at[*o] - gap).fold(bound[b], f64::min);
                let least = farther[b]
                    .iter()
                    .map(|(o, gap)| at[*o] + gap)
                    .fold(f64::NEG_INFINITY, f64::max);
                at[b] = (wanted.max(least).min(most) * 2.0).round() / 2.0;
            };
            if round % 2 == 0 {
                for b in order.iter().rev() {
                    visit(*b);
                }
            } else {
                for b in &order {
                    visit(*b);
                }
            }
        }
        at
    }

    /// Blocks in an order in which those nearer to the line come first.
    fn outward(&self, nearer: &[Vec<(usize, f64)>], farther: &[Vec<(usize, f64)>]) -> Vec<usize> {
        let mut waiting: Vec<usize> = nearer.iter().map(Vec::len).collect();
        let mut order: Vec<usize> = (0..self.n).filter(|b| waiting[*b] == 0).collect();
        let mut done = 0;
        while let Some(b) = order.get(done).copied() {
            done += 1;
            for (other, _) in &farther[b] {
                waiting[*other] -= 1;
                if waiting[*other] == 0 {
                    order.push(*other);
                }
            }
        }
        order
    }

    /// For each block, where the far ends of its links would have it.
    fn pulls(&self, band: &Band) -> Vec<Vec<Pull>> {
        let mut out: Vec<Vec<Pull>> = vec![Vec::new(); self.n];
        for net in &band.nets {
            for hop in &net.hops {
                let from_line = band.cells[hop.from].on_line;
                let off_a = self.shift[hop.from]
                    + if hop.from == net.cell { net.base + net.out } else { 0.0 };
                for end in &hop.ends {
                    let (a, b) = (self.of[hop.from], self.of[end.cell]);
                    let off_b = self.shift[end.cell] + end.off;
                    if a == b {
                        continue;
                    }
                    let passing = band.cells[hop.from].passes.is_some()
                        || band.cells[end.cell].passes.is_some();
                    let weight = if passing { 0.5 } else { 1.0 };
                    if from_line {
                        out[b].push(Pull { other: None, off: -off_b, weight: 0.1 });
                        continue;
                    }
                    out[b].push(Pull { other: Some(a), off: off_a - off_b, weight });
                    out[a].push(Pull { other: Some(b), off: off_b - off_a, weight });
                }
            }
        }
        out
    }
}

/// For each cell, how many boxes the longest way to it and from it passes.
fn paths(band: &Band) -> (Vec<usize>, Vec<usize>) {
    let n = band.cells.len();
    let own = |c: usize| usize::from(band.cells[c].passes.is_none());
    let (mut behind, mut ahead) = (vec![0usize; n], vec![0usize; n]);
    let mut hops: Vec<_> = band.nets.iter().flat_map(|net| &net.hops).collect();
    hops.sort_by_key(|hop| hop.layer);
    for hop in &hops {
        for end in &hop.ends {
            behind[end.cell] = behind[end.cell].max(behind[hop.from] + own(hop.from));
        }
    }
    for hop in hops.iter().rev() {
        for end in &hop.ends {
            ahead[hop.from] = ahead[hop.from].max(ahead[end.cell] + own(end.cell));
        }
    }
    (behind, ahead)
}

#[derive(Clone, Copy)]
struct Pull {
    other: Option<usize>,
    off: f64,
    weight: f64,
}

/// How far across the second cell of a straight hop stands from the first; sets the out port so that boxes in a row
/// have their far edges in line.
fn fall(band: &mut Band, sizes: &Sizes, c: &Candidate, port_taken: &mut [bool]) -> f64 {
    if band.cells[c.from].passes.is_some() {
        return -c.off;
    }
    let net = &mut band.nets[c.net];
    // Where a passing net goes first.
    let first = net.hops.iter().flat_map(|hop| &hop.ends).find(|end| end.link.is_some());
    let first = first.map(|end| (end.cell, end.off));
    let aim = if band.cells[c.to].passes.is_none() { Some((c.to, c.off)) } else { first };
    if let Some((cell, off)) = aim.filter(|_| !port_taken[c.net]) {
        let inside = |(b, base): &&(usize, f64)| *base <= off && off <= base + sizes.cross[*b];
        let base = band.cells[cell].boxes.iter().find(inside).map_or(0.0, |(_, base)| *base);
        net.out = (off - base).max(net.range.0).min(net.range.1);
    }
    port_taken[c.net] = true;
    net.base + net.out - c.off
}

/// The weighted median; of two, the one nearer to the line.
fn median(wanted: &mut [(f64, f64)]) -> Option<f64> {
    wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = wanted.iter().map(|w| w.1).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    for (at, weight) in wanted.iter() {
        sum += weight;
        if sum > half {
            return Some(*at);
        }
    }
    wanted.last().map(|(at, _)| *at)
}

/// Where nothing holds an out port, it slides to where its links run straight, else as near as its box lets it.
fn slide_ports(band: &mut Band) {
    for ix in 0..band.nets.len() {
        let net = &band.nets[ix];
        let Some(hop) = net.hops.first().filter(|h| h.from == net.cell) else { continue };
        let origin = band.cells[net.cell].at + net.base;
        let ends: Vec<f64> =
            hop.ends.iter().map(|e| band.cells[e.cell].at + e.off - origin).collect();
        if ends.iter().any(|e| (e - net.out).abs() < 0.25) {
            continue;
        }
        let fits = |e: &f64| (net.range.0..=net.range.1).contains(e);
        let straight = ends.iter().copied().filter(fits);
        let nearest = straight.min_by(|a, b| (a - net.out).abs().total_cmp(&(b - net.out).abs()));
        if let Some(out) = nearest {
            band.nets[ix].out = out;
        }
    }
}
