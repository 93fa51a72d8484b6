//! `avg_pool_1d`: the mean of each window along the last axis, padding counted as zeros. d = g / window, spread over
//! it. ggml's `POOL_1D` has no backward.

use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, OpDef, Storage, forward, one,
};
use super::pool;
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "avg_pool_1d",
    aliases: &["avg_pool1d"],
    ggml: "GGML_OP_POOL_1D",
    sign: None,
    formula: "y = mean over each window of a",
    says: "Averages each window along the last axis; padding counts as zeros.",
    arity: Arity::exactly(1),
    params: pool::PARAMS,
    shape: |cx| pool::shape(cx, true),
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g / n, spread over the window", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| one(pool::average_back(emit, site, true)?)),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no POOL_1D case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,6] = rand(seed=1)\ny = avg_pool_1d(x, kernel=3, stride=2, padding=1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    pool::over(cx, true, pool::mean);
}
