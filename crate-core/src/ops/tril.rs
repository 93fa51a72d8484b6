//! `tril`, NumPy's: keeps the lower triangle up to diagonal k, zeros above. d = the same triangle of g.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Differs, Flow, How, OpDef, ParamKind, ParamSpec,     Storage, forward, one,
};
use super::triangle;
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "tril",
    aliases: &[],
    ggml: "GGML_OP_TRI",
    sign: None,
    formula: "y = a where j ≤ i + k, else 0",
    says: "Keeps the lower triangle of each matrix, up to diagonal k.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("k", ParamKind::Int, Default::Int(0)).or(&["diagonal"])],
    shape: triangle::shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("the same triangle of g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        one(emit.with(OpKind::Tril, &[site.grad], site.params.values().to_vec())?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no TRI case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [3,3] = rand(seed=1)\ny = tril(x)",
            "param x [2,2,3] = rand(seed=2)\ny = tril(x, k=-1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let k = cx.params.int(0).unwrap_or(0);
    triangle::keep(cx, T::ZERO, |col, row| col as i64 <= (row as i64).saturating_add(k));
}
