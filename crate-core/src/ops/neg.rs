//! `neg`, elementwise: d(-x) = -g. Mirrors ggml.c, unary NEG.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Storage, Sign, one, forward, same_as_first,
};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "neg",
    aliases: &["negative"],
    ggml: "GGML_UNARY_OP_NEG",
    sign: Some(Sign::Prefix("-")),
    formula: "y = −a",
    says: "Changes the sign.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("−g", &[])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        one(emit.op(OpKind::Neg, &[site.grad])?)
    }),
    differs: &[super::def::PACKED],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = -x"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(|x| -x);
}
