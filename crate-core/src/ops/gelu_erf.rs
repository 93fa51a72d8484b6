//! `gelu_erf`, elementwise: x Φ(x), the exact form, which is PyTorch's default. d = g (Φ(x) + x φ(x)).
//! ggml computes it and has no backward for it, nor one for any op that an exact form could be made of.

use super::activation;
use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, OpDef, Read, Storage, forward, one,
    same_as_first,
};
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "gelu_erf",
    aliases: &["torch.gelu"],
    ggml: "GGML_UNARY_OP_GELU_ERF",
    sign: None,
    formula: "y = a · Φ(a)",
    says: "x times the share of a normal distribution below it: the exact form.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · (Φ(a) + a · φ(a))", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let slope = activation::gelu_erf_slope(emit, site.src(0))?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's unary backward switch has no GELU_ERF case"),
        cite: "ggml.c:7080, default case of the unary backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = gelu_erf(x)",
            "param x [4] = [-30, -5, 5, 30]\ny = gelu_erf(x)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(activation::gelu_erf);
}
