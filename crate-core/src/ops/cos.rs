//! `cos`, elementwise: d = -g sin x. Mirrors ggml.c, COS.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Read, Storage, forward, one, same_as_first,
};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "cos",
    aliases: &[],
    ggml: "GGML_OP_COS",
    sign: None,
    formula: "y = cos a",
    says: "Takes the cosine.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("−g · sin(a)", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let sine = emit.op(OpKind::Sin, &[site.src(0)])?;
        let product = emit.mul(site.grad, sine)?;
        one(emit.neg(product)?)
    }),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = cos(x)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::cos);
}
