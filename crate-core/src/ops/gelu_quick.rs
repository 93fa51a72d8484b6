//! `gelu_quick`, elementwise: x σ(1.702 x). d = g s (1 + 1.702 x (1 - s)). ggml computes it and has no backward for
//! it.

use super::activation;
use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, Mend, OpDef, Read, Storage, forward,
    one, same_as_first,
};
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "gelu_quick",
    aliases: &["quick_gelu"],
    ggml: "GGML_UNARY_OP_GELU_QUICK",
    sign: None,
    formula: "y = a · σ(1.702 · a)",
    says: "x times a sigmoid: a cheap form of the same curve.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · s · (1 + 1.702 · a · (1 − s)), s = σ(1.702 · a)", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let slope = activation::gelu_quick_slope(emit, site.src(0))?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's unary backward switch has no GELU_QUICK case"),
        cite: "ggml.c:7080, default case of the unary backward switch",
        mends: &[Mend {
            text: "{0} * exp(-softplus(-1.702 * {0}))",
            replaces: None,
            without: &[],
            note: "The value is the same, made of ops that have a backward.",
        }],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = gelu_quick(x)",
            "param x [4] = [-30, -5, 5, 30]\ny = gelu_quick(x)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(activation::gelu_quick);
}
