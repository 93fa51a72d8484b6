//! What reductions over axes share: the shape of the result, the lines they run over, and the way back.

use super::OpKind;
use super::def::{Cx, Emit, Operand, ShapeCx, resolve_axes, shape_value};
use crate::graph::{NodeId, Params};
#[cfg(feature = "full")]
use crate::kernels;
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

/// The lines that a reduction runs over, as places in packed data.
pub(super) struct Lines {
    /// Where each line begins, in the order of the result.
    pub(super) starts: Vec<usize>,
    /// How far its elements lie from there.
    pub(super) steps: Vec<usize>,
}

impl Lines {
    /// The lines along these axes.
    pub(super) fn new(shape: Shape, axes: &[usize]) -> Self {
        let kept: Vec<usize> = (0..shape.rank()).filter(|x| !axes.contains(x)).collect();
        Self { starts: places(shape, &kept), steps: places(shape, axes) }
    }

    /// The elements of the line that begins here.
    pub(super) fn gather<T: Real>(&self, start: usize, data: &[T], line: &mut Vec<T>) {
        line.clear();
        line.extend(self.steps.iter().filter_map(|step| data.get(start + step).copied()));
    }

    /// Puts a line back where it belongs.
    pub(super) fn scatter<T: Real>(&self, start: usize, line: &[T], out: &mut [T]) {
        for (step, x) in self.steps.iter().zip(line) {
            if let Some(o) = out.get_mut(start + step) {
                *o = *x;
            }
        }
    }
}

/// Every place along these axes, row-major.
fn places(shape: Shape, axes: &[usize]) -> Vec<usize> {
    let strides = shape.strides();
    let mut out = vec![0];
    for axis in axes {
        let (d, stride) = (shape.dim(*axis) as usize, strides[*axis] as usize);
        out = out.iter().flat_map(|at| (0..d).map(move |i| at + i * stride)).collect();
    }
    out
}

/// The value of `f` on each line of `n` elements. Lines of eight are so common that they have a loop of their own.
pub(super) fn by_line<T: Real>(data: &[T], n: usize, out: &mut [T], f: impl Fn(&[T]) -> T) {
    if crate::WHOLE && n == 8 {
        for (o, line) in out.iter_mut().zip(data.as_chunks::<8>().0) {
            *o = f(line);
        }
        return;
    }
    for (o, line) in out.iter_mut().zip(data.chunks_exact(n.max(1))) {
        *o = f(line);
    }
}

/// The sum of each column of rows as wide as the result.
#[cfg(feature = "full")]
pub(super) fn columns<T: Real>(rows: &[T], out: &mut [T]) {
    let mut stripes = kernels::Stripes::default();
    stripes.begin(out.len());
    stripes.take(&kernels::Terms::Plain(rows), false, 0);
    stripes.end(out);
}

/// Whether these are all axes but the last.
#[cfg(feature = "full")]
pub(super) fn are_leading(shape: Shape, axes: &[usize]) -> bool {
    shape.rank() > 1 && (0..shape.rank() - 1).eq(axes.iter().copied())
}

/// Gives each element of the result the value of `f` on the elements that go into it, in row-major order.
pub(super) fn lines<T: Real>(
    cx: &mut Cx<'_, T>,
    shape: Shape,
    axes: &[usize],
    f: impl Fn(&[T]) -> T,
) {
    let Some(a) = cx.src.first() else { return };
    if let Some(n) = last_axes(shape, axes) {
        by_line(a.data, n, cx.out, f);
        return;
    }
    let n = axes.iter().map(|x| shape.dim(*x) as usize).product();
    let lines = Lines::new(shape, axes);
    let mut line = Vec::with_capacity(n);
    for (o, start) in cx.out.iter_mut().zip(&lines.starts) {
        lines.gather(*start, a.data, &mut line);
        *o = f(&line);
    }
}

/// Gives each element of the result the sum of the elements that go into it.
pub(super) fn sums<T: Real>(cx: &mut Cx<'_, T>, shape: Shape, axes: &[usize]) {
    #[cfg(feature = "full")]
    if let Some(n) = last_axes(shape, axes)
        && let Some(a) = cx.src.first()
    {
        return kernels::row_sums(&kernels::Terms::Plain(a.data), false, n, cx.out);
    }
    lines(cx, shape, axes, crate::kernels::sum);
}

/// How many elements of the last axes go into one, where these are the last ones.
fn last_axes(shape: Shape, axes: &[usize]) -> Option<usize> {
    let rank = shape.rank();
    let last = (rank.saturating_sub(axes.len())..rank).eq(axes.iter().copied());
    let n = axes.iter().map(|x| shape.dim(*x) as usize).product::<usize>();
    (last && n > 0).then_some(n)
}

/// Gives each line of the result the line that `f` makes of the first source's, in place.
pub(super) fn map_lines<T: Real>(cx: &mut Cx<'_, T>, axes: &[usize], f: impl Fn(&mut [T])) {
    let Some(a) = cx.src.first() else { return };
    let shape = a.ty.shape;
    cx.copy();
    lines_of(cx.out, shape, axes, f);
}

/// Has `f` change each line of packed data, in place.
pub(super) fn lines_of<T: Real>(
    data: &mut [T],
    shape: Shape,
    axes: &[usize],
    f: impl Fn(&mut [T]),
) {
    if let ([axis], Some(last)) = (axes, shape.rank().checked_sub(1))
        && *axis == last
    {
        for line in data.chunks_exact_mut(shape.dim(last).max(1) as usize) {
            f(line);
        }
        return;
    }
    let lines = Lines::new(shape, axes);
    let mut line = Vec::with_capacity(lines.steps.len());
    for start in &lines.starts {
        lines.gather(*start, data, &mut line);
        f(&mut line);
        lines.scatter(*start, &line, data);
    }
}

/// Whether some line of the first operand, along the axes that an attribute names, is as `f` says.
pub(super) fn any_line(
    src: &[Operand<'_, f64>],
    params: &Params,
    axis: usize,
    f: impl Fn(&[f64]) -> bool,
) -> bool {
    let Some(a) = src.first() else { return false };
    let Ok(axes) = resolve_axes(params, axis, a.ty.shape) else { return false };
    let lines = Lines::new(a.ty.shape, &axes);
    let mut line = Vec::with_capacity(lines.steps.len());
    lines.starts.iter().any(|start| {
        lines.gather(*start, a.data, &mut line);
        f(&line)
    })
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
