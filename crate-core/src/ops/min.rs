//! `min` over axes: g goes to the least element, in equal parts where several tie. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, KEEPDIMS, OpDef,
    ParamKind, Read, ShapeCx, Site, Storage, axis_param, forward, one, resolve_axes,
    shape_value,
};
use super::reduce;
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

const AXIS: usize = 0;
const KEEP: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "min",
    aliases: &["amin", "reduce_min"],
    ggml: "",
    sign: None,
    formula: "y = min a",
    says: "The least element, over every axis or the named ones.",
    arity: Arity::exactly(1),
    params: &[axis_param(ParamKind::Axes, Default::Absent), KEEPDIMS],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g where a = y, shared equally", &[Read::Src(0), Read::Out])],
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
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = min(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = min(x, axis=1)",
            "param x [2,3,2] = rand(seed=3, lo=-2, hi=2)\ny = min(x, axis=[0,-1], keepdims=true)",
        ],
        kink: Some(|src, params| {
            reduce::any_line(src, params, AXIS, |xs| {
                let best = extreme(xs);
                xs.iter().filter(|x| (**x - best).abs() <= 0.0).count() > 1
            })
        }),
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.dims(0);
    let n = reduce::count(of, &cx.axes(AXIS, of)?);
    if n < 1.0 {
        return Err(Reason::BadShape { wants: "at least one element to choose from", got: of });
    }
    reduce::shape(cx, AXIS, cx.params.flag(KEEP))
}

/// The least element; a NaN is every extreme, as in NumPy.
fn extreme<T: Real>(xs: &[T]) -> T {
    let first = xs.first().copied().unwrap_or(T::ZERO);
    xs.iter().skip(1).fold(first, |m, x| if *x < m || x.is_nan() { *x } else { m })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let shape = cx.shape(0);
    if let Ok(axes) = resolve_axes(cx.params, AXIS, shape) {
        reduce::lines(cx, shape, &axes, extreme);
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (x, shape) = (site.src(0), site.shape(0));
    let axes = resolve_axes(site.params, AXIS, shape)?;
    let best = reduce::keep(emit, site.node, shape, &axes)?;
    let grad = reduce::keep(emit, site.grad, shape, &axes)?;
    let ties = emit.op(OpKind::Equal, &[x, best])?;
    let count = emit.sum_kept(ties, &axes)?;
    let part = emit.div(grad, count)?;
    let part = emit.with(OpKind::Repeat, &[part], vec![Value::None, shape_value(shape)])?;
    one(emit.pick_or(ties, part, 0.0)?)
}
