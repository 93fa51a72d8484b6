//! `top_k`: the positions of the k largest elements of a line, largest first, equal ones in their order.
//! No gradient: a small step moves no position. Mirrors ggml.c, `TOP_K`, whose order is unspecified.

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
    name: "top_k",
    aliases: &["topk", "argtopk"],
    ggml: "GGML_OP_TOP_K",
    sign: None,
    formula: "y = where a is largest",
    says: "Gives the positions of the k largest elements, largest first; NaN counts as the largest.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("k", ParamKind::Int, Default::Required),
        axis_param(ParamKind::Axis, Default::Int(-1)),
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
            "param x [2,4] = rand(seed=1)\ny = gather(x, top_k(x, 2), axis=1)",
            "param x [4,2] = rand(seed=2)\ny = gather(x, top_k(x, k=1, axis=0), axis=0)",
        ],
        kink: None,
    },
    place: here!(),
};

const K: usize = 0;
const AXIS: usize = 1;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let axis = axis_of(cx.params, AXIS, -1, of.shape)?;
    let k = cx.params.int(K).and_then(|k| u32::try_from(k).ok());
    let k = k.filter(|k| *k <= of.shape.dim(axis));
    let k = k.ok_or(Reason::BadParam { param: "k", wants: "a count within the axis" })?;
    Ok(TensorType { dtype: DType::I32, shape: of.shape.with_dim(axis, k), ..of })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Ok(axis) = axis_of(cx.params, AXIS, -1, cx.ty.shape) else { return };
    let k = Around::new(cx.ty.shape, axis).n;
    order::lines(cx, axis, k, true);
}
