//! `avg_pool_2d`: the mean of each window, padding counted as zeros. d = g / window, spread over it.
//! Mirrors ggml.c, `POOL_2D` with AVG, whatever the layout of g (B6).

use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Site,
    Storage, Wrong, forward, one,
};
use super::pool;
use super::stored;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "avg_pool_2d",
    aliases: &["avg_pool2d"],
    ggml: "GGML_OP_POOL_2D",
    sign: None,
    formula: "y = mean over each window of a",
    says: "Averages each window over the last two axes; padding counts as zeros.",
    arity: Arity::exactly(1),
    params: pool::PARAMS,
    shape: |cx| pool::shape(cx, false),
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g / n, spread over the window", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| one(pool::average_back(emit, site, false)?)),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Wrong(Wrong { rule: as_upstream, what: stored::WHAT, when: stored::WHEN }),
        cite: "ggml-cpu, POOL_2D_BACK takes the gradient to be packed",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,4,4] = rand(seed=1)\ny = avg_pool_2d(x, kernel=2)",
            "param x [1,2,3,4] = rand(seed=2)\ny = avg_pool_2d(x, kernel=[2,3], stride=1, padding=1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    pool::over(cx, false, pool::mean);
}

fn as_upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let grad = stored::grad(emit, site)?;
    one(pool::average_back(emit, &Site { grad, ..*site }, false)?)
}
