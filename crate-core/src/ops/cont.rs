//! `cont`: a packed copy in storage of its own. d = g. Mirrors ggml.c, CONT.

use super::def::{Arity, Backward, Check, Cx, Flow, OpDef, Storage, forward, one};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "cont",
    aliases: &["contiguous"],
    ggml: "GGML_OP_CONT",
    sign: None,
    formula: "y = a, copied",
    says: "A packed copy in storage of its own.",
    arity: Arity::exactly(1),
    params: &[],
    shape: |cx| Ok(cx.ty(0)),
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|_, site| one(site.grad)),
    differs: &[super::def::PACKED],
    check: Check { samples: &["param x [2,3] = rand(seed=1)\ny = cont(transpose(x))"], kink: None },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
}
