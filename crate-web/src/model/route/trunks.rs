//! The channel before a layer: the order of its trunks, and how wide it must be for them and for the chips.

use crate::model::layout::{Band, Inner, Layout, Orientation, chip_width};
use crate::model::measure;
use crate::model::scene::{LinkKind, Scene};

/// The first trunk, and the next ones.
const FIRST: f64 = 16.0;
const NEXT: f64 = 10.0;
/// Lines of different nets that run side by side are at least this far apart.
const CLEAR: f64 = 6.0;

/// A net's line across the flow, in one channel.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Trunk {
    pub(super) net: usize,
    pub(super) hop: usize,
    /// Where it is fed, and where its branches leave.
    from: f64,
    to: Vec<f64>,
    lo: f64,
    hi: f64,
    /// From the start of the channel.
    pub(super) at: f64,
}

/// A chip, or a chip with a word, that stands in a channel.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Standing {
    pub(super) link: usize,
    /// Across the flow.
    pub(super) lo: f64,
    pub(super) hi: f64,
    pub(super) main: f64,
    /// The least distance from the start of the channel, and from its end.
    start: f64,
    end: f64,
    /// Whether it stands as near to the end as it may, or in the middle of the room there is.
    at_end: bool,
    /// The second chip of its link.
    pub(super) second: bool,
    /// From the start of the channel, once its width is known.
    pub(super) at: f64,
}

/// The room before a layer.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Channel {
    pub(super) trunks: Vec<Trunk>,
    pub(super) standing: Vec<Standing>,
    /// The least width.
    pub(super) need: f64,
}

impl Channel {
    /// Gives the chips their places, now that the channel is `wide`.
    pub(super) fn spread(&mut self, wide: f64) {
        for s in &mut self.standing {
            let last = wide - s.end - s.main;
            let middle = (wide - s.end + s.start.min(s.end) - s.main) / 2.0;
            let wanted = if s.at_end { last } else { middle };
            s.at = wanted.max(s.start).min(last.max(s.start));
        }
    }
}

/// The channels of a band, one before each layer.
pub(super) fn channels(scene: &Scene, layout: &Layout, forward: bool) -> Vec<Channel> {
    let band = layout.band(forward);
    let mut out: Vec<Channel> = (0..layout.n_layers).map(|_| Channel::default()).collect();
    let mut needs = vec![0.0_f64; layout.n_layers];
    for (n, net) in band.nets.iter().enumerate() {
        for (h, hop) in net.hops.iter().enumerate() {
            let from = port_of(band, n, h);
            let to: Vec<f64> = hop.ends.iter().map(|e| band.cells[e.cell].at + e.off).collect();
            let (lo, hi) = to.iter().fold((from, from), |(lo, hi), t| (lo.min(*t), hi.max(*t)));
            let channel = &mut out[hop.layer];
            if hi - lo > 0.25 {
                channel.trunks.push(Trunk { net: n, hop: h, from, to, lo, hi, at: 0.0 });
            }
            for end in &hop.ends {
                let room = end.link.map_or(20.0, |l| tail(scene, layout, l) + 8.0);
                needs[hop.layer] = needs[hop.layer].max(room);
            }
        }
    }
    for (layer, channel) in out.iter_mut().enumerate() {
        order(&mut channel.trunks);
        lanes(&mut channel.trunks);
        let lanes = band.lanes[layer];
        for t in &channel.trunks {
            let hop = &band.nets[t.net].hops[t.hop];
            for (end, to) in hop.ends.iter().zip(&t.to) {
                let turned = (to - t.from).abs() > 0.25 || t.to.len() > 1;
                let after = end.link.map_or(9.0, |l| tail(scene, layout, l) + 3.0);
                if turned {
                    channel.need = channel.need.max(t.at + 9.0 + after + lanes);
                }
            }
        }
        channel.need = channel.need.max(needs[layer] + lanes);
    }
    stand(scene, layout, forward, &mut out);
    out
}

/// Where hop `h` of net `n` comes from, across the flow.
pub(super) fn port_of(band: &Band, n: usize, h: usize) -> f64 {
    let net = &band.nets[n];
    let hop = &net.hops[h];
    let cell = band.cells[hop.from].at;
    if hop.from == net.cell { cell + net.base + net.out } else { cell }
}

/// What a link needs straight before its port.
pub(super) fn tail(scene: &Scene, layout: &Layout, link: usize) -> f64 {
    let l = &scene.links[link];
    match l.kind {
        LinkKind::Fold => 56.0,
        LinkKind::Refused => 64.0,
        _ if !l.stretch.is_empty() => 36.0,
        _ if layout.orientation == Orientation::Tall => 13.0,
        _ => 14.0,
    }
}

/// What it costs when `a` runs before `b`: crossings, and lines that would lie on each other.
fn cost(a: &Trunk, b: &Trunk) -> u32 {
    let mut out = 0;
    for t in &a.to {
        out += u32::from(b.lo < *t && *t < b.hi);
        out += 1000 * u32::from((t - b.from).abs() < CLEAR);
    }
    out + u32::from(a.lo < b.from && b.from < a.hi)
}

/// Puts every trunk where it costs least among those that are there.
fn order(trunks: &mut Vec<Trunk>) {
    for _ in 0..2 {
        let waiting = std::mem::take(trunks);
        for t in waiting {
            // Before all of them; then past one after the other.
            let mut sum: i64 = trunks.iter().map(|u| i64::from(cost(&t, u))).sum();
            let mut best = (sum, 0);
            for (at, u) in trunks.iter().enumerate() {
                sum += i64::from(cost(u, &t)) - i64::from(cost(&t, u));
                if sum < best.0 {
                    best = (sum, at + 1);
                }
            }
            trunks.insert(best.1, t);
        }
    }
}

/// Trunks that do not meet share a lane.
fn lanes(trunks: &mut [Trunk]) {
    let mut lane = vec![0usize; trunks.len()];
    for at in 0..trunks.len() {
        let t = &trunks[at];
        let meets = |u: &Trunk| u.lo < t.hi + CLEAR + 1.0 && t.lo < u.hi + CLEAR + 1.0;
        lane[at] =
            (0..at).filter(|u| meets(&trunks[*u])).map(|u| lane[u] + 1).max().unwrap_or_default();
    }
    for (t, lane) in trunks.iter_mut().zip(lane) {
        t.at = FIRST + NEXT * lane as f64;
    }
}

/// Chips that stand in channels: clear of trunks, at the end of the link they belong to.
fn stand(scene: &Scene, layout: &Layout, forward: bool, channels: &mut [Channel]) {
    let band = layout.band(forward);
    let (first, end): (f64, f64) = match layout.orientation {
        Orientation::Wide => (13.5, 10.5),
        Orientation::Tall => (8.5, 8.5),
    };
    let mut is_carried = vec![false; scene.links.len()];
    for link in band.cells.iter().filter_map(|c| c.carries) {
        is_carried[link] = true;
    }
    for (n, net) in band.nets.iter().enumerate() {
        for (h, hop) in net.hops.iter().enumerate() {
            for e in &hop.ends {
                let Some(link) = e.link else { continue };
                let has_word = !scene.links[link].stretch.is_empty();
                if is_carried[link] && !has_word {
                    continue;
                }
                let channel = &mut channels[hop.layer];
                let own = channel.trunks.iter().find(|t| t.net == n && t.hop == h);
                let start = own.map_or(first, |t| first.max(t.at - 5.0));
                let port = band.cells[e.cell].at + e.off;
                let tag = layout.sizes.tag[link];
                let (lo, hi) = beside(port, tag.gap, tag.cross, tag.far);
                let end = end.max(match scene.links[link].kind {
                    LinkKind::Fold => 50.0,
                    LinkKind::Refused => 20.0,
                    _ if has_word => 14.0,
                    _ => 0.0,
                }) + band.lanes[hop.layer];
                channel.standing.push(Standing {
                    link,
                    lo,
                    hi,
                    main: tag.main,
                    start,
                    end,
                    at_end: false,
                    second: false,
                    at: 0.0,
                });
            }
        }
    }
    for (link, how) in layout.inner.iter().enumerate() {
        let l = &scene.links[link];
        if scene.boxes[l.to].kind.is_forward() != forward {
            continue;
        }
        let cell = &band.cells[layout.cell_of[l.to]];
        let Some((_, base)) = cell.boxes.iter().find(|(b, _)| *b == l.to) else { continue };
        let (base, layer) = (cell.at + base, cell.layer);
        let mut push = |lo: f64, hi: f64, main: f64, at_end: bool, second: bool| {
            let end = if at_end { 13.5 } else { 8.0 } + band.lanes[layer];
            let s = Standing { link, lo, hi, main, start: first, end, at_end, second, at: 0.0 };
            channels[layer].standing.push(s);
        };
        match how {
            Some(Inner::Around { .. }) => {
                let tag = layout.sizes.tag[link];
                let (lo, hi) = beside(base + layout.sizes.port[link], tag.gap, tag.cross, tag.far);
                push(lo, hi, tag.main, true, false);
            }
            Some(Inner::Straight) if matches!(l.kind, LinkKind::Fold | LinkKind::Refused) => {
                // Beside the fold, before and after: from the box above, and from the box beneath.
                let near = base + layout.sizes.cross[l.to];
                let Some((_, source)) = cell.boxes.iter().find(|(b, _)| *b == l.from) else {
                    continue;
                };
                let source = cell.at + source;
                let wide = |shape: &[u32]| chip_width(&measure::shape(shape));
                let after = l.wanted.clone().unwrap_or_else(|| scene.boxes[l.to].shape.clone());
                push(source - 25.5, source - 8.5, wide(&l.shape), true, false);
                push(near + 8.5, near + 25.5, wide(&after), true, true);
            }
            _ => {}
        }
    }
    for channel in channels {
        for s in &mut channel.standing {
            for t in &channel.trunks {
                if t.lo < s.hi + 4.0 && s.lo - 4.0 < t.hi {
                    s.start = s.start.max(t.at + CLEAR);
                }
            }
            channel.need = channel.need.max(s.start + s.main + s.end);
        }
    }
}

fn beside(line: f64, gap: f64, cross: f64, far: bool) -> (f64, f64) {
    if far { (line - gap - cross, line - gap) } else { (line + gap, line + gap + cross) }
}
