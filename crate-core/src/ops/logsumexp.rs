//! `logsumexp` over axes: ln Σ e^a, without overflow. d = g softmax(a): e^(a - y) would lose the digits that y has
//! rounded away.
//! Nothing flows where all of a line is minus infinity. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, KEEPDIMS, OpDef,
    ParamKind, Read, ShapeCx, Site, Storage, axis_param, forward, one, resolve_axes,
    shape_value,
};
use super::reduce;
use super::terms;
use crate::graph::{NodeId, Value};
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

const AXIS: usize = 0;
const KEEP: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "logsumexp",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = ln Σ e^a",
    says: "The logarithm of the sum of exponentials, over every axis or the named ones.",
    arity: Arity::exactly(1),
    params: &[axis_param(ParamKind::Axes, Default::Absent), KEEPDIMS],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g · softmax(a)", &[Read::Src(0)])],
    forward: forward!(value, Lines(AXIS)),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml has no such op"),
        cite: "ggml.h, enum ggml_op",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = logsumexp(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = logsumexp(x, axis=1)",
            "param x [2,3,2] = rand(seed=3, lo=-2, hi=2)\ny = logsumexp(x, axis=[0,-1], keepdims=true)",
            "param x [2,3] = [[90, 100, 99], [-500, -501, -499]]\ny = logsumexp(x, axis=1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    reduce::shape(cx, AXIS, cx.params.flag(KEEP))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let shape = cx.shape(0);
    if let Ok(axes) = resolve_axes(cx.params, AXIS, shape) {
        reduce::lines(cx, shape, &axes, of_line);
    }
}

/// ln Σ e^x, by way of the greatest.
pub(super) fn of_line<T: Real>(xs: &[T]) -> T {
    let max = xs.iter().fold(-T::INFINITY, |m, x| if *x > m { *x } else { m });
    if !max.is_finite() && xs.iter().all(|x| !x.is_nan()) {
        return max;
    }
    let powers: Vec<T> = xs.iter().map(|x| (*x - max).exp()).collect();
    kernels::sum(&powers).ln() + max
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let shape = site.shape(0);
    let axes = resolve_axes(site.params, AXIS, shape)?;
    let share = share(emit, site.src(0), shape, &axes)?;
    let grad = reduce::keep(emit, site.grad, shape, &axes)?;
    one(emit.mul(share, grad)?)
}

/// The softmax over these axes; several of them are brought to the right and made one.
fn share(emit: &mut Emit<'_>, x: NodeId, shape: Shape, axes: &[usize]) -> Result<NodeId, Reason> {
    if let [axis] = axes {
        return emit.with(OpKind::Softmax, &[x], vec![Value::Int(*axis as i64)]);
    }
    let kept = (0..shape.rank()).filter(|axis| !axes.contains(axis));
    let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
    let back: Vec<usize> =
        (0..order.len()).filter_map(|axis| order.iter().position(|o| *o == axis)).collect();
    let turned = emit.with(OpKind::Permute, &[x], vec![terms::axes_value(&order)])?;
    let turned_shape = emit.ty(turned).shape;
    let n = reduce::count(shape, axes);
    let rows = (shape.n_elements() as f64 / n.max(1.0)) as u32;
    let lines = Shape::new(&[rows, n as u32]).unwrap_or(shape);
    let lines = emit.with(OpKind::Reshape, &[turned], vec![shape_value(lines)])?;
    let share = emit.op(OpKind::Softmax, &[lines])?;
    let share = emit.with(OpKind::Reshape, &[share], vec![shape_value(turned_shape)])?;
    emit.with(OpKind::Permute, &[share], vec![terms::axes_value(&back)])
}
