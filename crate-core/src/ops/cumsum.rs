//! `cumsum` along one axis, the last where none is named, as in ggml. d = the running sum of g from the other end.
//! ggml computes it and has no backward for it.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, ShapeCx, Site, Storage, axis_param, forward, one,
};
use super::reduce;
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

const AXIS: usize = 0;
const REVERSE: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "cumsum",
    aliases: &[],
    ggml: "GGML_OP_CUMSUM",
    sign: None,
    formula: "y_i = Σ_{j≤i} a_j",
    says: "The running sum along an axis.",
    arity: Arity::exactly(1),
    params: &[
        axis_param(ParamKind::Axis, Default::Int(-1)),
        ParamSpec::new("reverse", ParamKind::Bool, Default::Bool(false)),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("running sum of g, from the other end", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no CUMSUM case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = cumsum(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = cumsum(x, axis=1, reverse=true)",
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

/// The running sum, in the order in which it is given.
fn run<'a, T: Real>(line: impl Iterator<Item = &'a mut T>) {
    let mut sum = T::ZERO;
    for x in line {
        sum += *x;
        *x = sum;
    }
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(axis) = cx.shape(0).resolve_axis(cx.params.int(AXIS).unwrap_or(-1)) else { return };
    let reverse = cx.params.flag(REVERSE);
    reduce::map_lines(cx, &[axis], |line| {
        if reverse {
            run(line.iter_mut().rev());
        } else {
            run(line.iter_mut());
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let params = vec![site.params.value(AXIS).clone(), Value::Bool(!site.params.flag(REVERSE))];
    one(emit.with(OpKind::Cumsum, &[site.grad], params)?)
}
