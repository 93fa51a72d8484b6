//! `abs`, elementwise: g sgn x; 0 at 0. Mirrors ggml.c, unary ABS.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Read, Storage, forward, one, same_as_first,
};
use super::terms;
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "abs",
    aliases: &["absolute", "fabs"],
    ggml: "GGML_UNARY_OP_ABS",
    sign: None,
    formula: "y = |a|",
    says: "Takes the magnitude.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · sgn(a)", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let sign = emit.op(OpKind::Sgn, &[site.src(0)])?;
        one(emit.mul(site.grad, sign)?)
    }),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = abs(x)"],
        kink: Some(|src, _| terms::hits(src, &[0.0])),
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::abs);
}
