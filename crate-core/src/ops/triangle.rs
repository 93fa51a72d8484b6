//! What masks of matrices share: the last two axes as rows and columns.

use super::def::{Cx, ShapeCx, same_as_first};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

/// The type of a masked matrix.
pub(super) fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    if cx.dims(0).rank() < 2 {
        return Err(Reason::BadShape { wants: "matrices", got: cx.dims(0) });
    }
    same_as_first(cx)
}

/// Copies the elements that `keeps` says yes to by column and row, and writes `other` elsewhere.
pub(super) fn keep<T: Real>(cx: &mut Cx<'_, T>, other: T, keeps: impl Fn(usize, usize) -> bool) {
    let [.., rows, cols] = cx.ty.shape.padded().map(|d| d as usize);
    let Some(a) = cx.src.first() else { return };
    if cols == 0 {
        return;
    }
    let lines = cx.out.chunks_exact_mut(cols).zip(a.data.chunks_exact(cols));
    for (row, (out, line)) in lines.enumerate() {
        for (col, (o, x)) in out.iter_mut().zip(line).enumerate() {
            *o = if keeps(col, row % rows.max(1)) { *x } else { other };
        }
    }
}
