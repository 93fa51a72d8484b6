//! `sum_rows`: ggml's SUM_ROWS, over the last axis, which is kept as 1.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Emit, Flow, OpDef, ShapeCx, Site, Storage, forward,
    shape_value, one,
};
use super::reduce;
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "sum_rows",
    aliases: &[],
    ggml: "GGML_OP_SUM_ROWS",
    sign: None,
    formula: "y = Σ a over the last axis",
    says: "Adds up each row; the last axis is kept as 1.",
    arity: Arity::exactly(1),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, copied", &[])],
    forward: forward!(value, SumRows),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = sum_rows(x)"],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    reduce::reduced(of, &last(of.shape), true)
}

/// The last axis, where there is one.
fn last(shape: Shape) -> Vec<usize> {
    shape.rank().checked_sub(1).into_iter().collect()
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let shape = cx.shape(0);
    reduce::sums(cx, shape, &last(shape));
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    one(emit.with(OpKind::Repeat, &[site.grad], vec![Value::None, shape_value(site.shape(0))])?)
}
