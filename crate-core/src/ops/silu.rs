//! `silu`, elementwise: x σ(x). d = g σ (1 + x (1 - σ)). Mirrors ggml.c, unary SILU; ggml has a SILU_BACK for it.

use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Place, Read, Storage, forward, one, same_as_first,
};
use super::activation;
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "silu",
    aliases: &["swish"],
    ggml: "GGML_UNARY_OP_SILU",
    sign: None,
    formula: "y = a · σ(a)",
    says: "Lets numbers above 0 through and fades out below: x times its sigmoid.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · σ(a) · (1 + a · (1 − σ(a)))", &[Read::Src(0)])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        let slope = activation::silu_slope(emit, site.src(0))?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = silu(x)",
        ],
        kink: None,
    },
    place: Place::here(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(activation::silu);
}
