//! `stop_gradient`: the same value, and no gradient flows back. Not a ggml op.


use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Storage, forward, same_as_first,
};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "stop_gradient",
    aliases: &["detach"],
    ggml: "",
    sign: None,
    formula: "y = a",
    says: "Passes the value on and stops the gradient.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::Ignored("the gradient is stopped here")],
    forward: forward!(value, Each),
    backward: Backward::Zero("the gradient is stopped here"),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = stop_gradient(x) * x"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    // By way of a plain number: a slope that travels with the value is left behind.
    cx.map(|x| T::from_f64(x.to_f64()));
}
