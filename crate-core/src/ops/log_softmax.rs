//! `log_softmax` over one axis: a - ln Σ e^a. d = g - e^y Σ g. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    Read, ShapeCx, Site, Storage, axis_param, forward, one,
};
use super::reduce;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

const AXIS: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "log_softmax",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = a − ln Σ e^a",
    says: "The logarithms of the shares that softmax gives.",
    arity: Arity::exactly(1),
    params: &[axis_param(ParamKind::Axis, Default::Int(-1))],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g − e^y · Σ g", &[Read::Out])],
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
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = log_softmax(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = log_softmax(x, axis=1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let axis = cx.params.int(AXIS).unwrap_or(-1);
    of.shape.resolve_axis(axis).ok_or(Reason::NoSuchAxis { axis, shape: of.shape })?;
    Ok(of.as_f32())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(axis) = cx.shape(0).resolve_axis(cx.params.int(AXIS).unwrap_or(-1)) else { return };
    reduce::map_lines(cx, &[axis], |line| {
        let total = super::logsumexp::of_line(line);
        for x in line {
            // Where all is minus infinity, so is the logarithm of each share.
            *x = if *x <= -T::INFINITY { *x } else { *x - total };
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let axis = site.params.int(AXIS).unwrap_or(-1);
    let shape = site.shape(0);
    let axis = shape.resolve_axis(axis).ok_or(Reason::NoSuchAxis { axis, shape })?;
    let share = emit.op(OpKind::Exp, &[site.node])?;
    let total = emit.sum_kept(site.grad, &[axis])?;
    let part = emit.mul(share, total)?;
    one(emit.sub(site.grad, part)?)
}
