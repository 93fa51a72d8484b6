//! `diag_mask_inf`: minus infinity where the column lies beyond `n_past` + row, so that softmax gives it nothing.
//! d = g with those elements 0. Mirrors ggml.c, `DIAG_MASK_INF`.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, Storage,
    forward, one,
};
use super::triangle;
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "diag_mask_inf",
    aliases: &["causal_mask"],
    ggml: "GGML_OP_DIAG_MASK_INF",
    sign: None,
    formula: "y = −∞ where j > n_past + i, else a",
    says: "Hides what a token must not see: minus infinity in columns beyond n_past + row.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("n_past", ParamKind::Int, Default::Int(0))],
    shape: triangle::shape,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g where j ≤ n_past + i", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        one(emit.with(OpKind::DiagMaskZero, &[site.grad], site.params.values().to_vec())?)
    }),
    differs: &[super::def::PACKED],
    check: Check {
        samples: &[
            "param x [3,3] = rand(seed=1)\ny = softmax(diag_mask_inf(x))",
            "param x [2,2,4] = rand(seed=2)\ny = softmax(diag_mask_inf(x, n_past=1))",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let past = cx.params.int(0).unwrap_or(0);
    triangle::keep(cx, -T::INFINITY, |col, row| col as i64 <= (row as i64).saturating_add(past));
}
