//! `sgn`, elementwise: -1, 0 or 1. Piecewise constant. Mirrors ggml.c, unary SGN.

use super::def::{Arity, Backward, Check, Cx, Flow, OpDef, Storage, forward, same_as_first};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "sgn",
    aliases: &["sign"],
    ggml: "GGML_UNARY_OP_SGN",
    sign: None,
    formula: "y = sgn a",
    says: "-1 below 0, 1 above it, 0 at 0.",
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
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = sgn(x) * x"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(|x| {
        if x > T::ZERO {
            T::ONE
        } else if x < T::ZERO {
            -T::ONE
        } else {
            // 0 and NaN are their own sign, as in NumPy.
            x
        }
    });
}
