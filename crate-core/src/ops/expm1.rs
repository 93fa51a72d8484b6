//! `expm1`, elementwise: e^x - 1, accurate near 0. d = g e^x. Mirrors ggml.c, unary EXPM1, which takes no such care.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Read, Storage, forward, one, same_as_first,
};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "expm1",
    aliases: &[],
    ggml: "GGML_UNARY_OP_EXPM1",
    sign: None,
    formula: "y = e^a − 1",
    says: "e to the power of the element, less 1.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · e^a", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let slope = emit.op(OpKind::Exp, &[site.src(0)])?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = expm1(x)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::exp_m1);
}
