//! `mul`, elementwise with broadcast: d(a b) = g b, g a. Mirrors ggml.c, MUL.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Flow, OpDef, Sign, Storage, Cx, Emit, Site, elementwise, folded, forward, Contributions, Read
};
use crate::math::Real;
use crate::refusal::Reason;


pub(super) const DEF: OpDef = OpDef {
    name: "mul",
    aliases: &["multiply"],
    ggml: "GGML_OP_MUL",
    sign: Some(Sign::Infix("*")),
    formula: "y = a · b",
    says: "Multiplies element by element.",
    arity: Arity::exactly(2),
    params: &[],
    shape: elementwise,
    stretches: true,
    storage: Storage::OwnOrFirst,
    flow: &[
        Flow::carries("g · b", &[Read::Src(1)]),
        Flow::carries("g · a", &[Read::Src(0)]),
    ],
    forward: forward!(value, Each),
    backward: Backward::Rule(rule),
    differs: &[super::def::PACKED],
    check: Check {
        samples: &["param a [2,3] = rand(seed=1, lo=0.5, hi=2)\nparam b [2,3] = rand(seed=2, lo=0.5, hi=2)\ny = a * b", "param a [2,3] = rand(seed=3, lo=0.5, hi=2)\nparam b [2,1] = rand(seed=4, lo=0.5, hi=2)\ny = a * b", "param a [2,3] = rand(seed=5, lo=0.5, hi=2)\nparam b [3] = rand(seed=6, lo=0.5, hi=2)\ny = a * b"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.zip(|a, b| a * b);
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(folded(0, emit.op(OpKind::Mul, &[site.grad, site.src(1)])?));
    }
    if site.wants(1) {
        out.push(folded(1, emit.op(OpKind::Mul, &[site.grad, site.src(0)])?));
    }
    Ok(out)
}
