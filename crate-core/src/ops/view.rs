//! `a = b`: the same tensor under a name of its own. d = g. A view; ggml calls it VIEW.

use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, ShapeCx, Storage, forward, one,
};
use crate::graph::View;
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "view",
    aliases: &["a = b", "identity"],
    ggml: "GGML_OP_VIEW",
    sign: None,
    formula: "y = a",
    says: "The same tensor under another name.",
    arity: Arity::exactly(1),
    params: &[],
    shape: |cx| Ok(cx.ty(0)),
    stretches: false,
    storage: Storage::Window(window),
    flow: &[Flow::carries("g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|_, site| one(site.grad)),
    differs: &[],
    check: Check { samples: &["param x [2,3] = rand(seed=1)\nv = x\ny = v * v"], kink: None },
    place: here!(),
};

#[expect(clippy::unnecessary_wraps, reason = "it is a window function")]
fn window(_: &ShapeCx<'_>, of: &View) -> Option<View> {
    Some(*of)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
}
