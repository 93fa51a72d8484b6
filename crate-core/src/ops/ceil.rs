//! `ceil`, elementwise. Its derivative is 0 wherever there is one; ggml computes it and refuses to differentiate it
//! (B26).

use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, OpDef, Storage, forward, same_as_first,
};
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "ceil",
    aliases: &[],
    ggml: "GGML_UNARY_OP_CEIL",
    sign: None,
    formula: "y = ⌈a⌉",
    says: "The smallest whole number that is not below.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("0", &[])],
    forward: forward!(value, Each),
    backward: Backward::Zero("the result is piecewise constant"),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's unary backward switch has no CEIL case"),
        cite: "ggml.c:7080, default case of the unary backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = ceil(x) * x"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::ceil);
}
