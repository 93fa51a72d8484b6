//! What `var` and `std` share: attributes, the value of a line, and the deviations that both slopes are made of.

use super::def::{
    Cx, Default, Emit, KEEPDIMS, ParamKind, ParamSpec, Site, axis_param, resolve_axes,
};
use super::reduce;
use crate::graph::NodeId;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;

/// The place of the axes.
pub(super) const AXIS: usize = 0;
/// The place of `keepdims`.
pub(super) const KEEP: usize = 1;
const CORRECTION: usize = 2;

/// The attributes, with what is taken off the count when nothing is said: 0 in NumPy, 1 in PyTorch.
pub(super) const fn params(correction: f64) -> [ParamSpec; 3] {
    [
        axis_param(ParamKind::Axes, Default::Absent),
        KEEPDIMS,
        ParamSpec::new("correction", ParamKind::Num, Default::Num(correction)).or(&["ddof"]),
    ]
}

/// Σ (x - mean)² / (n - correction).
pub(super) fn of_line<T: Real>(xs: &[T], correction: f64) -> T {
    let n = xs.len() as f64;
    let mean = kernels::sum(xs) / T::from_f64(n);
    let deviations: Vec<T> = xs.iter().map(|x| *x - mean).collect();
    kernels::dot(&deviations, &deviations) / T::from_f64(n - correction)
}

/// Writes `f` of each line's variance.
pub(super) fn value<T: Real>(cx: &mut Cx<'_, T>, f: impl Fn(T) -> T) {
    let shape = cx.shape(0);
    let correction = cx.params.num(CORRECTION).unwrap_or(0.0);
    if let Ok(axes) = resolve_axes(cx.params, AXIS, shape) {
        reduce::lines(cx, shape, &axes, |xs| f(of_line(xs, correction)));
    }
}

/// `x - mean`, what it is divided by, and the axes.
pub(super) fn deviations(
    emit: &mut Emit<'_>,
    site: &Site<'_>,
) -> Result<(NodeId, f64, Vec<usize>), Reason> {
    let shape = site.shape(0);
    let axes = resolve_axes(site.params, AXIS, shape)?;
    let mean = emit.mean_kept(site.src(0), &axes)?;
    let from = emit.sub(site.src(0), mean)?;
    let n = reduce::count(shape, &axes) - site.params.num(CORRECTION).unwrap_or(0.0);
    Ok((from, n, axes))
}
