//! `tanh`, elementwise. d = g (1 - y²). ggml computes it and has no backward for it.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, Mend, OpDef, Read, Storage, forward,
    one, same_as_first,
};
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "tanh",
    aliases: &[],
    ggml: "GGML_UNARY_OP_TANH",
    sign: None,
    formula: "y = tanh a",
    says: "Squeezes every number between -1 and 1.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · (1 − y²)", &[Read::Out])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let square = emit.op(OpKind::Sqr, &[site.node])?;
        let slope = emit.one_minus(square)?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's unary backward switch has no TANH case"),
        cite: "ggml.c:7080, default case of the unary backward switch",
        mends: &[Mend {
            text: "1 - 2 * exp(-softplus(2 * {0}))",
            replaces: None,
            without: &[],
            note: "The value is the same, made of ops that have a backward.",
        }],
    }],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = tanh(x)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::tanh);
}
