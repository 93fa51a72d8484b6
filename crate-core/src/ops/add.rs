//! `add`, elementwise with broadcast: d(a + b) = g for both. Mirrors ggml.c, ADD.

use super::def::{
    Arity, Backward, Check, Flow, OpDef, Sign, Storage, Cx, elementwise, folded, forward
};
use crate::math::Real;


pub(super) const DEF: OpDef = OpDef {
    name: "add",
    aliases: &[],
    ggml: "GGML_OP_ADD",
    sign: Some(Sign::Infix("+")),
    formula: "y = a + b",
    says: "Adds element by element.",
    arity: Arity::exactly(2),
    params: &[],
    shape: elementwise,
    stretches: true,
    storage: Storage::OwnOrFirst,
    flow: &[
        Flow::carries("g", &[]),
        Flow::carries("g", &[]),
    ],
    forward: forward!(value, Each),
    backward: Backward::Rule(|_, site| {
        let g = site.grad;
        Ok([0, 1].into_iter().filter(|s| site.wants(*s)).map(|s| folded(s, g)).collect())
    }),
    differs: &[],
    check: Check {
        samples: &["param a [2,3] = rand(seed=1, lo=0.5, hi=2)\nparam b [2,3] = rand(seed=2, lo=0.5, hi=2)\ny = a + b", "param a [2,3] = rand(seed=3, lo=0.5, hi=2)\nparam b [2,1] = rand(seed=4, lo=0.5, hi=2)\ny = a + b", "param a [2,3] = rand(seed=5, lo=0.5, hi=2)\nparam b [3] = rand(seed=6, lo=0.5, hi=2)\ny = a + b"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.zip(|a, b| a + b);
}
