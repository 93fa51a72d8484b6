//! `relu`, elementwise: g where x > 0, else 0; 0 at 0. Mirrors ggml.c, unary RELU.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Storage, Read, one, forward, same_as_first,
};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "relu",
    aliases: &[],
    ggml: "GGML_UNARY_OP_RELU",
    sign: None,
    formula: "y = max(a, 0)",
    says: "Keeps what is above 0.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g where a > 0", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let zero = emit.fill(site.ty, 0.0)?;
        let open = emit.op(OpKind::Greater, &[site.src(0), zero])?;
        one(emit.op(OpKind::Where, &[open, site.grad, zero])?)
    }),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = relu(x)"],
        kink: Some(|src, _| src.iter().any(|o| o.data.contains(&0.0))),
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(|x| if x <= T::ZERO { T::ZERO } else { x });
}
