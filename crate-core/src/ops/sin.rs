//! `sin`, elementwise: d = g cos x. Mirrors ggml.c, SIN.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Read, Storage, forward, one, same_as_first,
};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "sin",
    aliases: &[],
    ggml: "GGML_OP_SIN",
    sign: None,
    formula: "y = sin a",
    says: "Takes the sine.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · cos(a)", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let slope = emit.op(OpKind::Cos, &[site.src(0)])?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = sin(x)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::sin);
}
