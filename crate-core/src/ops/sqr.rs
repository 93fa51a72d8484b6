//! `sqr`, elementwise: d(x^2) = 2 x g. Mirrors ggml.c, SQR.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Storage, Read, one, forward, same_as_first,
};
use crate::graph::Value;
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "sqr",
    aliases: &["square"],
    ggml: "GGML_OP_SQR",
    sign: None,
    formula: "y = a²",
    says: "Squares.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("2 · a · g", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let product = emit.op(OpKind::Mul, &[site.src(0), site.grad])?;
        one(emit.with(OpKind::Scale, &[product], vec![Value::Num(2.0)])?)
    }),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = sqr(x)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(|x| x * x);
}
