//! `max_pool_1d`: the largest element of each window along the last axis. d = g at the first largest.
//! ggml's `POOL_1D` has no backward.

use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, OpDef, Read, Storage, forward, one,
};
use super::pool;
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "max_pool_1d",
    aliases: &["max_pool1d"],
    ggml: "GGML_OP_POOL_1D",
    sign: None,
    formula: "y = max over each window of a",
    says: "Takes the largest element of each window along the last axis.",
    arity: Arity::exactly(1),
    params: pool::PARAMS,
    shape: |cx| pool::shape(cx, true),
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, at the first largest", &[Read::Src(0)])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| one(pool::largest_back(emit, site, true)?)),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no POOL_1D case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,6] = rand(seed=1)\ny = max_pool_1d(x, kernel=3, stride=2, padding=1)",
        ],
        kink: Some(|src, params| {
            src.first().is_some_and(|o| pool::has_tie(o.data, o.ty.shape, params, true))
        }),
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    pool::over(cx, true, pool::largest);
}
