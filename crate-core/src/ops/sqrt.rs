//! `sqrt`, elementwise: d sqrt(x) = g / (2 y), infinite at 0. Mirrors ggml.c, SQRT.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Storage, Read, one, forward, same_as_first,
};
use super::terms::hits;
use crate::graph::Value;
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "sqrt",
    aliases: &[],
    ggml: "GGML_OP_SQRT",
    sign: None,
    formula: "y = √a",
    says: "Takes the square root.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("½ · g / y", &[Read::Out])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let ratio = emit.op(OpKind::Div, &[site.grad, site.node])?;
        one(emit.with(OpKind::Scale, &[ratio], vec![Value::Num(0.5)])?)
    }),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=0.5, hi=2)\ny = sqrt(x)"],
        // The slope is infinite there, and none at all where a smooth function is written as a root.
        kink: Some(|src, _| hits(src, &[0.0])),
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::sqrt);
}
