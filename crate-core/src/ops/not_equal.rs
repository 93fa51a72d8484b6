//! `not_equal`: 1 where a differs from b, else 0. Piecewise constant, so no gradient flows. Not a ggml op.

use super::def::{
    Arity, Backward, Check, Flow, OpDef, Sign, Storage, Cx, compared, forward
};
use crate::math::Real;


pub(super) const DEF: OpDef = OpDef {
    name: "not_equal",
    aliases: &["ne"],
    ggml: "",
    sign: Some(Sign::Infix("!=")),
    formula: "y = [a ≠ b]",
    says: "1 where the first differs from the second, else 0.",
    arity: Arity::exactly(2),
    params: &[],
    shape: compared,
    stretches: true,
    storage: Storage::Own,
    flow: &[Flow::Ignored("the result is piecewise constant")],
    forward: forward!(value, Each),
    backward: Backward::Zero("the result is piecewise constant"),
    differs: &[],
    check: Check {
        samples: &["param a [2,3] = rand(seed=1)\nparam b [3] = rand(seed=2)\nm = a != b\ny = where(m, a, a * b)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.zip(|a, b| if a == b { T::ZERO } else { T::ONE });
}
