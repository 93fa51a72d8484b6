//! `gelu` in the tanh form, elementwise: ½ x (1 + tanh u), which is x σ(2u), with u = √(2/π) (x + 0.044715 x³).
//! d = g (s + x s (1 - s) · 2u'), s = σ(2u). The exact form is `gelu_erf`. ggml computes it and has no backward for
//! it.

use super::activation;
use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, Mend, OpDef, Read, Storage, forward,
    one, same_as_first,
};
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "gelu",
    aliases: &["gelu_tanh"],
    ggml: "GGML_UNARY_OP_GELU",
    sign: None,
    formula: "y = ½ · a · (1 + tanh(√(2/π) · (a + 0.044715 · a³)))",
    says: "x times a smooth step, in the tanh form.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · slope(a), by the product rule", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let slope = activation::gelu_slope(emit, site.src(0))?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's unary backward switch has no GELU case"),
        cite: "ggml.c:7080, default case of the unary backward switch",
        mends: &[Mend {
            text: "{0} * exp(-softplus(-(1.5957691216057308 * ({0} + 0.044715 * {0} * {0} * {0}))))",
            replaces: None,
            without: &[],
            note: "The value is the same, made of ops that have a backward.",
        }],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = gelu(x)",
            "param x [4] = [-30, -5, 5, 30]\ny = gelu(x)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(activation::gelu);
}
