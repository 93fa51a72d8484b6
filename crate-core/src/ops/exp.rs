//! `exp`, elementwise: d e^x = y g. Mirrors ggml.c, unary EXP.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Storage, Read, one, forward, same_as_first,
};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "exp",
    aliases: &[],
    ggml: "GGML_UNARY_OP_EXP",
    sign: None,
    formula: "y = e^a",
    says: "Raises e to the element.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("y · g", &[Read::Out])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        one(emit.op(OpKind::Mul, &[site.node, site.grad])?)
    }),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = exp(x)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::exp);
}
