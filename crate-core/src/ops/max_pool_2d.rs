//! `max_pool_2d`: the largest element of each window. d = g at the first largest, in row-major order.
//! Mirrors ggml.c, `POOL_2D` with MAX; a window of padding alone gives ggml's -`FLT_MAX`, and no gradient.

use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read, Site,
    Storage, Wrong, forward, one,
};
use super::pool;
use super::stored;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "max_pool_2d",
    aliases: &["max_pool2d"],
    ggml: "GGML_OP_POOL_2D",
    sign: None,
    formula: "y = max over each window of a",
    says: "Takes the largest element of each window over the last two axes.",
    arity: Arity::exactly(1),
    params: pool::PARAMS,
    shape: |cx| pool::shape(cx, false),
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, at the first largest", &[Read::Src(0)])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| one(pool::largest_back(emit, site, false)?)),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Wrong(Wrong { rule: as_upstream, what: stored::WHAT, when: stored::WHEN }),
        cite: "ggml-cpu, POOL_2D_BACK takes the gradient to be packed",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,4,4] = rand(seed=1)\ny = max_pool_2d(x, kernel=2)",
            "param x [1,2,3,4] = rand(seed=2, lo=-1, hi=1)\ny = max_pool_2d(x, kernel=[2,3], stride=1, padding=1)",
        ],
        kink: Some(|src, params| {
            src.first().is_some_and(|o| pool::has_tie(o.data, o.ty.shape, params, false))
        }),
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    pool::over(cx, false, pool::largest);
}

fn as_upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let grad = stored::grad(emit, site)?;
    one(pool::largest_back(emit, &Site { grad, ..*site }, false)?)
}
