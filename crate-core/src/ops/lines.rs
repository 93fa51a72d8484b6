//! What ops along one axis share: which axis, what lies before and after it, and where each line begins.

use super::def::Contribution;
use crate::graph::{Index, NodeId, Params};
use crate::refusal::Reason;
use crate::tensor::{Axes, MAX_RANK, Shape};
use crate::trace::Accum;

/// A tensor as `[outer, n, inner]` around one axis.
#[derive(Clone, Copy)]
pub(super) struct Around {
    /// How many lines lie before.
    pub(super) outer: usize,
    /// The axis's extent.
    pub(super) n: usize,
    /// The step along the axis.
    pub(super) inner: usize,
}

impl Around {
    pub(super) fn new(shape: Shape, axis: usize) -> Self {
        let product = |dims: &[u32]| dims.iter().map(|d| *d as usize).product();
        let (before, from) = shape.dims().split_at(axis.min(shape.rank()));
        Self {
            outer: product(before),
            n: from.first().map_or(1, |d| *d as usize),
            inner: product(from.get(1..).unwrap_or(&[])),
        }
    }
}

/// The axis an attribute names; `fallback` where it was left out.
pub(super) fn axis_of(
    params: &Params,
    ix: usize,
    fallback: i64,
    shape: Shape,
) -> Result<usize, Reason> {
    let axis = params.int(ix).unwrap_or(fallback);
    shape.resolve_axis(axis).ok_or(Reason::NoSuchAxis { axis, shape })
}

/// For each element of a tensor, row-major, where in `data` the line along `axis` begins that has the element's
/// other indices.
pub(super) fn line_starts(of: Shape, data: Shape, axis: usize) -> impl Iterator<Item = usize> {
    let strides = data.strides();
    (0..of.n_elements() as usize).map(move |flat| {
        let mut rest = flat;
        let mut start = 0;
        for a in (0..of.rank()).rev() {
            let d = of.dim(a).max(1) as usize;
            if a != axis {
                start += (rest % d) * strides.get(a).map_or(0, |s| *s as usize);
            }
            rest /= d;
        }
        start
    })
}

/// A contribution that is added and never needs a fold.
pub(super) const fn send(src: usize, value: NodeId) -> Contribution {
    Contribution { src, via: Accum::Add, value, fold: false }
}

/// A whole axis in a bracket.
pub(super) const fn entire() -> Index {
    Index::Range { start: None, stop: None, step: None }
}

/// The names of axes, taken from the source axis that each axis of the result comes from.
pub(super) fn renamed(of: Axes, from: impl IntoIterator<Item = Option<usize>>) -> Axes {
    let mut out = [None; MAX_RANK];
    for (slot, axis) in out.iter_mut().zip(from) {
        *slot = axis.and_then(|a| of.get(a).copied().flatten());
    }
    out
}
