//! `fill`: one number everywhere, in the shape of its operand. Its value reads nothing, so its gradient is 0.

use super::def::{
    Arity, Backward, Check, Cx, Default, Differs, Flow, How, OpDef, ParamKind, ParamSpec,     Storage, forward, same_as_first,
};
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "fill",
    aliases: &["full_like"],
    ggml: "GGML_OP_FILL",
    sign: None,
    formula: "y = value",
    says: "Gives one number everywhere, in the shape of its operand.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("value", ParamKind::Num, Default::Required).or(&["fill_value", "c"])],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("0", &[])],
    forward: forward!(value, Each),
    backward: Backward::Zero("the value does not depend on the operand"),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no FILL case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check { samples: &["param x [2,3] = rand(seed=1)\ny = fill(x, 0.5) * x"], kink: None },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.out.fill(T::from_f64(cx.params.num(0).unwrap_or(0.0)));
}
