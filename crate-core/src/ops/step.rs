//! `step`, elementwise: 1 above 0, else 0. Piecewise constant. Mirrors ggml.c, unary STEP.


use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Storage, forward, same_as_first,
};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "step",
    aliases: &["heaviside"],
    ggml: "GGML_UNARY_OP_STEP",
    sign: None,
    formula: "y = [a > 0]",
    says: "1 where the element is above 0, else 0.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::Ignored("the result is piecewise constant")],
    forward: forward!(value, Each),
    backward: Backward::Zero("the result is piecewise constant"),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = step(x) * x"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(|x| if x > T::ZERO { T::ONE } else { T::ZERO });
}
