//! `argsort`: the positions that sort a line, equal elements in their order. No gradient: a small step moves no
//! position. Mirrors ggml.c, ARGSORT, whose sort is not stable.

use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, ShapeCx,
    Storage, axis_param, forward,
};
use super::lines::{Around, axis_of};
use super::order;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{DType, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "argsort",
    aliases: &[],
    ggml: "GGML_OP_ARGSORT",
    sign: None,
    formula: "y = the order of a",
    says: "Gives the positions that would sort a line; NaN counts as the largest.",
    arity: Arity::exactly(1),
    params: &[
        axis_param(ParamKind::Axis, Default::Int(-1)),
        ParamSpec::new("descending", ParamKind::Bool, Default::Bool(false)),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::Ignored("positions do not change with a small step")],
    forward: forward!(value),
    backward: Backward::Zero("positions do not change with a small step"),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,4] = rand(seed=1)\ny = gather(x, argsort(x, descending=true), axis=1)",
            "param x [4,2] = rand(seed=2)\ny = gather(x, argsort(x, axis=0), axis=0)",
        ],
        kink: None,
    },
    place: here!(),
};

const AXIS: usize = 0;
const DESCENDING: usize = 1;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    axis_of(cx.params, AXIS, -1, of.shape)?;
    Ok(TensorType { dtype: DType::I32, ..of })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let shape = cx.ty.shape;
    let Ok(axis) = axis_of(cx.params, AXIS, -1, shape) else { return };
    let descending = cx.params.flag(DESCENDING);
    order::lines(cx, axis, Around::new(shape, axis).n, descending);
}
