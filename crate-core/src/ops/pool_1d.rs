//! `pool_1d`, ggml's `POOL_1D` under its own name: the largest element or the mean of each window. d as in
//! `max_pool_1d` and `avg_pool_1d`.

use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Operand,     Read, ShapeCx, Site, Storage, forward, one,
};
use super::pool;
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "pool_1d",
    aliases: &[],
    ggml: "GGML_OP_POOL_1D",
    sign: None,
    formula: "y = max or mean over each window of a",
    says: "Takes the largest element or the mean of each window along the last axis, as op says.",
    arity: Arity::exactly(1),
    params: pool::NAMED,
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, at the first largest, or spread over the window", &[Read::Src(0)])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no POOL_1D case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,6] = rand(seed=1)\ny = pool_1d(x, \"max\", kernel=2)",
            "param x [2,6] = rand(seed=2)\ny = pool_1d(x, op=\"avg\", kernel=3, stride=2, padding=1)",
        ],
        kink: Some(on_a_tie),
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    pool::takes_largest(cx.params)?;
    pool::shape(cx, true)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    if pool::takes_largest(cx.params).unwrap_or(false) {
        pool::over(cx, true, pool::largest);
    } else {
        pool::over(cx, true, pool::mean);
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    if pool::takes_largest(site.params)? {
        one(pool::largest_back(emit, site, true)?)
    } else {
        one(pool::average_back(emit, site, true)?)
    }
}

fn on_a_tie(src: &[Operand<'_, f64>], params: &Params) -> bool {
    let of = src.first().filter(|_| pool::takes_largest(params).unwrap_or(false));
    of.is_some_and(|o| pool::has_tie(o.data, o.ty.shape, params, true))
}
