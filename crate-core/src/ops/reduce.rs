//! What reductions over axes share: the shape of the result, the lines they run over, and the way back.

use super::OpKind;
use super::def::{Cx, Emit, ShapeCx, shape_value};
use crate::graph::NodeId;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{MAX_RANK, Shape, TensorType};

/// The type after reducing the axes that an attribute names.
pub(super) fn shape(cx: &ShapeCx<'_>, axis: usize, keep: bool) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let axes = cx.axes(axis, of.shape)?;
    reduced(of, &axes, keep)
}

/// The type after reducing these axes.
pub(super) fn reduced(of: TensorType, axes: &[usize], keep: bool) -> Result<TensorType, Reason> {
    let mut dims = Vec::with_capacity(MAX_RANK);
    let mut names = [None; MAX_RANK];
    for (axis, d) in of.shape.dims().iter().enumerate() {
        let gone = axes.contains(&axis);
        if gone && !keep {
            continue;
        }
        if let Some(slot) = names.get_mut(dims.len()) {
            *slot = of.axes.get(axis).copied().flatten();
        }
        dims.push(if gone { 1 } else { *d });
    }
    let shape =
        Shape::new(&dims).ok_or(Reason::BadShape { wants: "at most four axes", got: of.shape })?;
    Ok(TensorType { shape, axes: names, ..TensorType::f32(shape) })
}

/// How many elements go into one.
pub(super) fn count(shape: Shape, axes: &[usize]) -> f64 {
    axes.iter().map(|a| f64::from(shape.dim(*a))).product()
}

/// Gives each element of the result the value of `f` on the elements that go into it, in row-major order.
pub(super) fn lines<T: Real>(
    cx: &mut Cx<'_, T>,
    shape: Shape,
    axes: &[usize],
    f: impl Fn(&[T]) -> T,
) {
    let Some(a) = cx.src.first() else { return };
    let rank = shape.rank();
    let last = (rank.saturating_sub(axes.len())..rank).eq(axes.iter().copied());
    let n = axes.iter().map(|x| shape.dim(*x) as usize).product::<usize>();
    if last && n > 0 {
        for (o, line) in cx.out.iter_mut().zip(a.data.chunks_exact(n)) {
            *o = f(line);
        }
        return;
    }
    let strides = shape.strides();
    let walk = |over: &[usize], from: usize, visit: &mut dyn FnMut(usize)| {
        let total: usize = over.iter().map(|x| shape.dim(*x) as usize).product();
        for i in 0..total {
            let mut rest = i;
            let mut at = from;
            for axis in over.iter().rev() {
                let d = shape.dim(*axis) as usize;
                at += (rest % d) * strides[*axis] as usize;
                rest /= d;
            }
            visit(at);
        }
    };
    let kept: Vec<usize> = (0..rank).filter(|x| !axes.contains(x)).collect();
    let mut line = Vec::with_capacity(n);
    let mut out = cx.out.iter_mut();
    walk(&kept, 0, &mut |start| {
        line.clear();
        walk(axes, start, &mut |at| line.extend(a.data.get(at).copied()));
        if let Some(o) = out.next() {
            *o = f(&line);
        }
    });
}

/// The gradient of a reduction with the reduced axes put back as 1.
pub(super) fn keep(
    emit: &mut Emit<'_>,
    grad: NodeId,
    shape: Shape,
    axes: &[usize],
) -> Result<NodeId, Reason> {
    let kept = axes.iter().fold(shape, |s, a| s.with_dim(*a, 1));
    // What follows stretches it, and that aligns at the last axis: axes of 1 on the left need not be there.
    if emit.ty(grad).shape.same_extents(&kept) {
        return Ok(grad);
    }
    emit.with(OpKind::Reshape, &[grad], vec![shape_value(kept)])
}
