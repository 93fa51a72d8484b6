//! What normalisations share: rows brought to size 1, with or without their mean taken off, and the way back.
//! `y = r (a - mean)`, `r = 1 / √(mean of squares + eps)`; d = r (g - mean g - y mean(y g)), without the second term
//! where no mean is taken off. Mirrors ggml.c, `RMS_NORM` and NORM.

use super::OpKind;
use super::def::Emit;
use crate::graph::NodeId;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;

/// Whether the mean is taken off first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mean {
    /// As in NORM.
    Off,
    /// As in `RMS_NORM`.
    Left,
}

/// Brings a row to size 1.
pub(super) fn row<T: Real>(row: &[T], out: &mut [T], mean: Mean, eps: f64) {
    let n = T::from_f64(row.len() as f64);
    let middle = if mean == Mean::Off { kernels::sum(row) / n } else { T::ZERO };
    for (o, x) in out.iter_mut().zip(row) {
        *o = *x - middle;
    }
    let square = kernels::dot(out, out) / n;
    let size = T::ONE / (square + T::from_f64(eps)).sqrt();
    for o in out {
        *o = *o * size;
    }
}

/// The gradient of rows that were brought to size 1, from their values, the result's and its gradient.
pub(super) fn back(
    emit: &mut Emit<'_>,
    [x, y, g]: [NodeId; 3],
    mean: Mean,
    eps: f64,
) -> Result<NodeId, Reason> {
    let mut from = x;
    let mut rest = g;
    if mean == Mean::Off {
        let middle = emit.op(OpKind::MeanRows, &[x])?;
        from = emit.sub(x, middle)?;
        let middle = emit.op(OpKind::MeanRows, &[g])?;
        rest = emit.sub(g, middle)?;
    }
    let square = emit.op(OpKind::Sqr, &[from])?;
    let square = emit.op(OpKind::MeanRows, &[square])?;
    let square = emit.affine(square, 1.0, eps)?;
    let size = emit.op(OpKind::Rsqrt, &[square])?;
    let along = emit.mul(g, y)?;
    let along = emit.op(OpKind::MeanRows, &[along])?;
    let along = emit.mul(y, along)?;
    let across = emit.sub(rest, along)?;
    emit.mul(across, size)
}
