//! From band coordinates to the canvas: where layers begin along the flow, and where the dividing line is.

use super::trunks::Channel;
use crate::model::layout::{Band, Inner, Layout, Orientation, chip_width};
use crate::model::measure;
use crate::model::picture::{Point, Rect};
use crate::model::scene::{LinkKind, Scene};

/// Empty canvas around everything.
const AROUND: f64 = 20.0;

/// Between two columns, also where nothing runs from one to the other.
const LEAST: f64 = 22.0;

/// One band's place on the canvas.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Frame {
    tall: bool,
    forward: bool,
    /// Where the band's cross 0 is.
    line: f64,
    /// The length of the canvas along the flow.
    total: f64,
    /// For each layer, where its column begins and how wide it is, and how wide the channel before it is; with the
    /// band's own flow.
    pub(super) columns: Vec<(f64, f64)>,
    pub(super) channels: Vec<f64>,
}

impl Frame {
    pub(super) fn point(&self, main: f64, cross: f64) -> Point {
        let m = if self.forward { main } else { self.total - main };
        let c = if self.forward { self.line + cross } else { self.line - cross };
        if self.tall { Point { x: c, y: m } } else { Point { x: m, y: c } }
    }

    pub(super) fn rect(&self, main: (f64, f64), cross: (f64, f64)) -> Rect {
        let (a, b) = (self.point(main.0, cross.0), self.point(main.1, cross.1));
        Rect { x: a.x.min(b.x), y: a.y.min(b.y), w: (a.x - b.x).abs(), h: (a.y - b.y).abs() }
    }

    /// The middle of a layer's column.
    pub(super) fn middle(&self, layer: usize) -> f64 {
        let (from, wide) = self.columns[layer];
        from + wide / 2.0
    }

    /// Where the channel before a layer begins.
    pub(super) fn channel(&self, layer: usize) -> f64 {
        self.columns[layer].0 - self.channels[layer]
    }
}

/// Both bands, and the canvas.
pub(super) struct Frames {
    pub(super) forward: Frame,
    pub(super) backward: Frame,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Across the flow.
    pub(super) divider: f64,
}

pub(super) fn frames(
    scene: &Scene,
    layout: &Layout,
    forward: &mut [Channel],
    backward: &mut [Channel],
) -> Frames {
    let tall = layout.orientation == Orientation::Tall;
    let n = layout.n_layers;
    let mirrored = |layer: usize| n - 1 - layer;
    let columns = columns(scene, layout);
    // Between two layers both bands have a channel; the wider one counts.
    let mut at = AROUND + if tall { 12.0 } else { 0.0 };
    at += forward.first().map_or(0.0, |c| c.need);
    let mut starts = Vec::with_capacity(n);
    let mut gaps = vec![0.0; n + 1];
    gaps[0] = forward.first().map_or(0.0, |c| c.need);
    for layer in 0..n {
        if layer > 0 {
            let need = forward[layer].need.max(backward[mirrored(layer - 1)].need);
            let gap = need.max(LEAST).ceil();
            gaps[layer] = gap;
            at += gap;
        }
        starts.push(at);
        at += columns[layer];
    }
    gaps[n] = backward.first().map_or(0.0, |c| c.need);
    let total = (at + gaps[n] + AROUND).ceil();
    for layer in 0..n {
        forward[layer].spread(gaps[layer]);
        backward[mirrored(layer)].spread(gaps[layer + 1]);
    }
    let least = |band: &Band| {
        let reach = band.cells.iter().filter(|c| !c.on_line).map(|c| c.at + c.lo);
        reach.fold(0.0_f64, f64::min)
    };
    let seed = scene.seed.map_or(0.0, |s| layout.sizes.cross[s]);
    let (before, after) = if tall {
        // Half the seed, and the chip between it and the boxes beside it.
        let chip = scene.seed.map_or(0.0, |s| chip_width(&measure::shape(&scene.boxes[s].shape)));
        let room = (seed / 2.0 + (chip - 4.0).max(18.0)).max(24.0);
        (room, room)
    } else if scene.seed.is_some() {
        (46.0, 28.0)
    } else {
        (20.0, 20.0)
    };
    let top = if tall { 12.0 } else { 36.0 };
    let divider = (top - least(&layout.forward) + before).ceil();
    let cross = (divider + after - least(&layout.backward) + 12.0).ceil();
    let forward_frame = Frame {
        tall,
        forward: true,
        line: divider - before,
        total,
        columns: starts.iter().copied().zip(columns.iter().copied()).collect(),
        channels: gaps[..n].to_vec(),
    };
    let backward_frame = Frame {
        tall,
        forward: false,
        line: divider + after,
        total,
        columns: (0..n)
            .map(|f| {
                let layer = mirrored(f);
                (total - starts[layer] - columns[layer], columns[layer])
            })
            .collect(),
        channels: (0..n).map(|f| gaps[mirrored(f) + 1]).collect(),
    };
    let (width, height) = if tall { (cross, total) } else { (total, cross) };
    Frames { forward: forward_frame, backward: backward_frame, width, height, divider }
}

/// How wide each layer's column must be, with the forward flow: for its boxes, and for chips inside it.
fn columns(scene: &Scene, layout: &Layout) -> Vec<f64> {
    let n = layout.n_layers;
    let tall = layout.orientation == Orientation::Tall;
    let mut out = vec![0.0_f64; n];
    for forward in [true, false] {
        let band = layout.band(forward);
        let layer_of = |flow: usize| if forward { flow } else { n - 1 - flow };
        for cell in &band.cells {
            let wide = &mut out[layer_of(cell.layer)];
            for (b, _) in &cell.boxes {
                *wide = wide.max(layout.sizes.main[*b]);
            }
            if let Some(link) = cell.carries {
                *wide = wide.max(layout.sizes.tag[link].chip_main + 10.0);
            }
        }
        // Beside a line that runs straight across stands its chip.
        for (ix, link) in scene.links.iter().enumerate() {
            let plain = matches!(link.kind, LinkKind::Gradient | LinkKind::Value | LinkKind::Turn);
            let across = layout.inner[ix] == Some(Inner::Straight) || link.kind == LinkKind::Turn;
            if plain && across && scene.boxes[link.to].kind.is_forward() == forward {
                let layer = layer_of(band.cells[layout.cell_of[link.to]].layer);
                let chip = if tall { 17.0 } else { chip_width(&measure::shape(&link.shape)) };
                out[layer] = out[layer].max(2.0 * (chip + 14.0));
            }
        }
    }
    out.iter().map(|w| (w / 2.0).ceil() * 2.0).collect()
}
