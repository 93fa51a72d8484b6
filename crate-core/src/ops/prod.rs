//! `prod` over axes. d = g times the product of all the others, which is right with any number of zeros: nothing is
//! divided by the element. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, KEEPDIMS, OpDef,
    ParamKind, Read, ShapeCx, Site, Storage, axis_param, forward, one, resolve_axes,
};
use super::reduce;
use super::terms;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

const AXIS: usize = 0;
const KEEP: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "prod",
    aliases: &["product"],
    ggml: "",
    sign: None,
    formula: "y = Π a",
    says: "Multiplies, over every axis or the named ones.",
    arity: Arity::exactly(1),
    params: &[axis_param(ParamKind::Axes, Default::Absent), KEEPDIMS],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g · Π of the others", &[Read::Src(0)])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml has no such op"),
        cite: "ggml.h, enum ggml_op",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = prod(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = prod(x, axis=1)",
            "param x [2,3,2] = rand(seed=3, lo=-2, hi=2)\ny = prod(x, axis=[0,-1], keepdims=true)",
            "param x [3,3] = [[2, 3, 4], [4, 0, 5], [0, 0, 6]]\ny = prod(x, axis=1)",
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
        reduce::lines(cx, shape, &axes, |xs| xs.iter().fold(T::ONE, |p, x| p * *x));
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let shape = site.shape(0);
    let axes = resolve_axes(site.params, AXIS, shape)?;
    let others = emit.with(OpKind::ProdOthers, &[site.src(0)], vec![terms::axes_value(&axes)])?;
    let grad = reduce::keep(emit, site.grad, shape, &axes)?;
    one(emit.mul(others, grad)?)
}
