//! What ops share that pick along one axis, element by element: PyTorch's `gather` and `scatter`.

use super::def::{Operand, ShapeCx};
use super::lines::{Around, axis_of, line_starts};
use super::pick;
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

const AXIS: usize = 0;

/// The type of what indices pick from a tensor: the indices' shape.
pub(super) fn picked(of: TensorType, ids: Shape, params: &Params) -> Result<TensorType, Reason> {
    let axis = axis_of(params, AXIS, -1, of.shape)?;
    let inside = |a: usize| a == axis || ids.dim(a) <= of.shape.dim(a);
    if ids.rank() != of.shape.rank() || !(0..ids.rank()).all(inside) {
        return Err(Reason::ShapesDisagree {
            wants: "indices of as many axes, no larger than the operand beside the picked axis",
            a: of.shape,
            b: ids,
        });
    }
    Ok(TensorType { shape: ids, ..of.as_f32() })
}

/// The type after writing `c` at the indices.
pub(super) fn written(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, ids, c) = (cx.ty(0), cx.dims(1), cx.dims(2));
    picked(a, ids, cx.params)?;
    if c != ids {
        return Err(Reason::ShapesDisagree { wants: "an index for each element", a: ids, b: c });
    }
    Ok(a.as_f32())
}

/// For each index, the place in a packed tensor that it names; nothing where it names none.
pub(super) fn places<'a, T: Real>(
    of: Shape,
    ids: &Operand<'a, T>,
    params: &Params,
) -> impl Iterator<Item = Option<usize>> + use<'a, T> {
    let axis = axis_of(params, AXIS, -1, of).unwrap_or(0);
    let around = Around::new(of, axis);
    let starts = line_starts(ids.ty.shape, of, axis);
    starts
        .zip(ids.data)
        .map(move |(start, id)| pick::wrapped(*id, around.n).map(|at| start + at * around.inner))
}
