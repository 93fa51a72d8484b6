//! `log1p`, elementwise: ln(1 + x), accurate near 0. d = g / (1 + x). Not a ggml op.

use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, Mend, OpDef, Read, Storage, forward,
    one, same_as_first,
};
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "log1p",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = ln(1 + a)",
    says: "The natural logarithm of 1 more than the element.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g / (1 + a)", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let more = emit.affine(site.src(0), 1.0, 1.0)?;
        one(emit.div(site.grad, more)?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml has no such op"),
        cite: "ggml.h, enum ggml_op",
        mends: &[Mend {
            text: "log({0} + 1)",
            replaces: None,
            without: &[],
            note: "LOG has a backward; close to 0 the value is less exact.",
        }],
    }],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-0.5, hi=2)\ny = log1p(x)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::ln_1p);
}
