//! `pool_2d`, ggml's `POOL_2D` under its own name: the largest element or the mean of each window. d as in
//! `max_pool_2d` and `avg_pool_2d`.

use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Operand,     Read, ShapeCx, Site, Storage, Wrong, forward, one,
};
use super::pool;
use super::stored;
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "pool_2d",
    aliases: &[],
    ggml: "GGML_OP_POOL_2D",
    sign: None,
    formula: "y = max or mean over each window of a",
    says: "Takes the largest element or the mean of each window over the last two axes, as op says.",
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
        how: How::Wrong(Wrong { rule: as_upstream, what: stored::WHAT, when: stored::WHEN }),
        cite: "ggml-cpu, POOL_2D_BACK takes the gradient to be packed",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,4,4] = rand(seed=1)\ny = pool_2d(x, \"max\", kernel=2)",
            "param x [1,2,3,4] = rand(seed=2, lo=-1, hi=1)\ny = pool_2d(x, op=\"avg\", kernel=[2,3], stride=1, padding=1)",
        ],
        kink: Some(on_a_tie),
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    pool::takes_largest(cx.params)?;
    pool::shape(cx, false)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    if pool::takes_largest(cx.params).unwrap_or(false) {
        pool::over(cx, false, pool::largest);
    } else {
        pool::over(cx, false, pool::mean);
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    if pool::takes_largest(site.params)? {
        one(pool::largest_back(emit, site, false)?)
    } else {
        one(pool::average_back(emit, site, false)?)
    }
}

fn as_upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let grad = stored::grad(emit, site)?;
    rule(emit, &Site { grad, ..*site })
}

fn on_a_tie(src: &[Operand<'_, f64>], params: &Params) -> bool {
    let of = src.first().filter(|_| pool::takes_largest(params).unwrap_or(false));
    of.is_some_and(|o| pool::has_tie(o.data, o.ty.shape, params, false))
}
