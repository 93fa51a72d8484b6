//! `softplus`, elementwise: ln(1 + e^x). d = g σ(x). Mirrors ggml.c, unary SOFTPLUS, with its threshold of 20.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Read, Storage, forward, one, same_as_first,
};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "softplus",
    aliases: &[],
    ggml: "GGML_UNARY_OP_SOFTPLUS",
    sign: None,
    formula: "y = ln(1 + e^a)",
    says: "A smooth relu.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · σ(a)", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let slope = emit.op(OpKind::Sigmoid, &[site.src(0)])?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = softplus(x)",
            "param x [3] = [-30, 19, 25]\ny = softplus(x)",
        ],
        kink: None,
    },
    place: here!(),
};

/// Above it the result is the element itself: ggml's threshold, and far beyond what f32 can tell apart.
const THRESHOLD: f64 = 20.0;

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let threshold = T::from_f64(THRESHOLD);
    // In f32 it is x itself from there on; f64 still sees what is left, and its slope is the sigmoid's.
    let far = if T::STORES { threshold } else { T::from_f64(700.0) };
    cx.map(|x| if x > far { x } else { x.exp().ln_1p() });
}
