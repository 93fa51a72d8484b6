//! `log`, elementwise: d ln x = g / x. Mirrors ggml.c, LOG.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Storage, Read, one, forward, same_as_first,
};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "log",
    aliases: &["ln"],
    ggml: "GGML_OP_LOG",
    sign: None,
    formula: "y = ln a",
    says: "Takes the natural logarithm.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g / a", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        one(emit.op(OpKind::Div, &[site.grad, site.src(0)])?)
    }),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=0.5, hi=2)\ny = log(x)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::ln);
}
