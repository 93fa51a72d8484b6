//! What ops share that name whole rows by id, as ggml's `GET_ROWS` and `SET_ROWS` do.

use super::def::Operand;
use super::lines::renamed;
use super::pick;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::tiles;
use crate::tensor::{MAX_RANK, Shape, TensorType};

/// The batch of `a` that a batch of ids reads: its own, or the only one there is.
pub(super) fn batch(a: Shape, of_ids: usize) -> usize {
    let [a0, a1, ..] = a.padded();
    if a0 == 1 && a1 == 1 { 0 } else { of_ids }
}

/// The rows that ids `[.., i]` take from `a [.., m, n]`, batch by batch, or all from one matrix: `[.., i, n]`.
pub(super) fn taken(a: TensorType, ids: TensorType) -> Result<TensorType, Reason> {
    let ([a0, a1, _, n], [_, i0, i1, i2]) = (a.shape.padded(), ids.shape.padded());
    if a.shape.rank() < 2 {
        return Err(Reason::BadShape { wants: "matrices", got: a.shape });
    }
    let is_table = a0 == 1 && a1 == 1;
    if ids.shape.rank() == MAX_RANK || !is_table && (a0 != i0 || a1 != i1) {
        return Err(Reason::ShapesDisagree {
            wants: "ids whose batch axes are the rows' own",
            a: a.shape,
            b: ids.shape,
        });
    }
    let rank = a.shape.rank().max(ids.shape.rank() + 1);
    let dims = [i0, i1, i2, n];
    let shape = Shape::new(dims.get(MAX_RANK - rank..).unwrap_or(&dims)).unwrap_or(a.shape);
    let lead = rank - 1 - ids.shape.rank();
    let mut axes = renamed(ids.axes, (0..rank - 1).map(|axis| axis.checked_sub(lead)));
    if let (Some(slot), Some(name)) = (axes.get_mut(rank - 1), a.axes.get(a.shape.rank() - 1)) {
        *slot = *name;
    }
    Ok(TensorType { axes, ..TensorType::f32(shape) })
}

/// Whether rows `b [.., r, n]` can be written at ids `[.., r]` into `a [.., m, n]`; ids are shared by tiling batches.
pub(super) fn written(a: Shape, b: Shape, ids: Shape) -> Result<(), Reason> {
    let ([a0, a1, _, n], [b0, b1, r, k]) = (a.padded(), b.padded());
    if a.rank() < 2 || a0 != b0 || a1 != b1 || n != k {
        return Err(Reason::ShapesDisagree { wants: "rows of one length and batch", a, b });
    }
    let [i, i0, i1, i2] = ids.padded();
    if i != 1 || !tiles(i0, b0) || !tiles(i1, b1) || i2 != r {
        return Err(Reason::ShapesDisagree { wants: "an id for each row", a: b, b: ids });
    }
    Ok(())
}

/// For each row of `b`, where in `a` the row begins that its id names; nothing where it names none.
pub(super) fn places<T: Real>(
    a: Shape,
    b: Shape,
    ids: &Operand<'_, T>,
) -> impl Iterator<Item = Option<usize>> {
    let [_, _, m, n] = a.padded().map(|d| d as usize);
    let [b0, b1, r, _] = b.padded().map(|d| d as usize);
    let [_, i0, i1, _] = ids.ty.shape.padded().map(|d| d as usize);
    let data = ids.data;
    (0..b0 * b1 * r).map(move |t| {
        let (batch, row) = (t / r.max(1), t % r.max(1));
        let (j, k) = (batch / b1.max(1) % i0.max(1), batch % b1.max(1) % i1.max(1));
        let id = data.get((j * i1 + k) * r + row)?;
        pick::at(*id, m).map(|to| (batch * m + to) * n)
    })
}
