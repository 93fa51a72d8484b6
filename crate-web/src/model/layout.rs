//! Where boxes stand: layers along the flow, cells across it, one band on each side of the dividing line.
//!
//! Everything here is in band coordinates: *main* runs with the flow, *cross* across it and grows towards the
//! dividing line, which is at 0. The backward band is the forward band's mirror image in both, so one algorithm
//! serves both, and both orientations. Deliberately absent: the step, so nothing can move when one steps.

mod cells;
mod layers;
mod order;
mod place;
mod sizes;

use super::scene::{LinkKind, Scene};

pub(crate) use cells::lane_offset;
pub use layers::Columns;
pub(crate) use sizes::{CHIP_HIGH, Sizes, chip_width};

/// Which way the values run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum Orientation {
    /// Values left to right above the line, gradients right to left beneath it.
    #[default]
    Wide,
    /// Values down on the left, gradients up on the right: for phones.
    Tall,
}

/// A box or several that stand as one, or a place where a long link passes a layer.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Cell {
    /// Its layer, counted with the flow of its band.
    pub(crate) layer: usize,
    /// What it needs across, from its origin, margins included.
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    /// Its boxes and where the far edge of each is, from the origin.
    pub(crate) boxes: Vec<(usize, f64)>,
    /// The net that passes here.
    pub(crate) passes: Option<usize>,
    /// The link whose chip sits here.
    pub(crate) carries: Option<usize>,
    /// Nothing of its layer stands nearer to the dividing line.
    pub(crate) nearest: bool,
    /// It stands on the dividing line, outside all stacking.
    pub(crate) on_line: bool,
    /// Where the text would have its origin.
    pub(crate) pinned: Option<f64>,
    /// Its origin, once placed.
    pub(crate) at: f64,
}

/// All links that leave one box by its out port and run between layers.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Net {
    pub(crate) from: usize,
    pub(crate) cell: usize,
    /// The far edge of the box, from the origin of its cell.
    pub(crate) base: f64,
    /// The out port, from the far edge of its box, and between what it may slide.
    pub(crate) out: f64,
    pub(crate) range: (f64, f64),
    /// One hop for each layer it reaches.
    pub(crate) hops: Vec<Hop>,
}

/// A net between two neighbouring layers.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Hop {
    /// The layer it arrives at.
    pub(crate) layer: usize,
    /// The cell it comes from.
    pub(crate) from: usize,
    pub(crate) ends: Vec<HopEnd>,
}

/// Where a hop arrives: at a box, or at a cell it passes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct HopEnd {
    pub(crate) cell: usize,
    /// From the cell's origin.
    pub(crate) off: f64,
    pub(crate) link: Option<usize>,
}

/// How a link between two boxes of one cell runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Inner {
    /// Straight across, from one box to the next.
    Straight,
    /// Out across, around the boxes between, and in by a side port.
    Around {
        /// Its lane beside the cell.
        lane: usize,
    },
}

/// One side of the dividing line.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Band {
    pub(crate) cells: Vec<Cell>,
    /// The cells of each layer, from far to near.
    pub(crate) layers: Vec<Vec<usize>>,
    pub(crate) nets: Vec<Net>,
    /// For each layer, how wide the lanes beside its cells are.
    pub(crate) lanes: Vec<f64>,
}

/// Everything but positions along the flow.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Layout {
    pub(crate) orientation: Orientation,
    pub(crate) n_layers: usize,
    pub(crate) sizes: Sizes,
    pub(crate) forward: Band,
    pub(crate) backward: Band,
    /// For each link inside a cell, how it runs.
    pub(crate) inner: Vec<Option<Inner>>,
    /// For each box, its cell within its band.
    pub(crate) cell_of: Vec<usize>,
}

impl Layout {
    pub(crate) fn band(&self, forward: bool) -> &Band {
        if forward { &self.forward } else { &self.backward }
    }
}

/// How often pinned boxes make way for lines.
const NUDGES: usize = 12;

/// Places everything across the flow.
pub(crate) fn layout(scene: &Scene, orientation: Orientation) -> Layout {
    let columns = layers::columns(scene, orientation);
    let mut stacks = cells::stacks(scene, &columns, orientation);
    let sizes = sizes::sizes(scene, &columns, &stacks, orientation);
    cells::assign_lanes(scene, &mut stacks, &sizes, orientation);
    let mut out = Layout {
        orientation,
        n_layers: columns.n_layers,
        forward: cells::band(scene, &columns, &stacks, &sizes, true),
        backward: cells::band(scene, &columns, &stacks, &sizes, false),
        inner: stacks.inner.clone(),
        cell_of: Vec::new(),
        sizes,
    };
    out.cell_of = vec![usize::MAX; scene.boxes.len()];
    for band in [&mut out.forward, &mut out.backward] {
        order::reduce_crossings(band);
        place::across(band, &out.sizes);
        if order::heed_pins(band) {
            // Two lines that change places would lie on each other, whichever turned first.
            for _ in 0..NUDGES {
                place::push(band);
                if !order::nudge(band) {
                    break;
                }
            }
        }
        for (at, cell) in band.cells.iter().enumerate() {
            for (b, _) in &cell.boxes {
                out.cell_of[*b] = at;
            }
        }
    }
    out
}

/// Whether a link runs between boxes of one band: all do but the turn from the loss to the seed.
pub(crate) fn in_band(kind: LinkKind) -> bool {
    kind != LinkKind::Turn
}
