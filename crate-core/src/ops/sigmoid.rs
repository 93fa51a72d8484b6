//! `sigmoid`, elementwise: 1 / (1 + e^-x). d = g y (1 - y). ggml computes it and has no backward for it.

use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, Mend, OpDef, Read, Storage, forward,
    one, same_as_first,
};
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "sigmoid",
    aliases: &["expit", "logistic"],
    ggml: "GGML_UNARY_OP_SIGMOID",
    sign: None,
    formula: "y = σ(a) = 1 / (1 + e^−a)",
    says: "Squeezes every number between 0 and 1.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · y · (1 − y)", &[Read::Out])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let rest = emit.one_minus(site.node)?;
        let slope = emit.mul(site.node, rest)?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's unary backward switch has no SIGMOID case"),
        cite: "ggml.c:7080, default case of the unary backward switch",
        mends: &[Mend {
            text: "exp(-softplus(-{0}))",
            replaces: None,
            without: &[],
            note: "The value is the same, made of ops that have a backward.",
        }],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = sigmoid(x)",
            "param x [3] = [-200, 0, 200]\ny = sigmoid(x) + x",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::sigmoid);
}
