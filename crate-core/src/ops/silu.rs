//! `silu`, elementwise: x σ(x). d = g σ (1 + x (1 - σ)). Mirrors ggml.c, unary SILU; ggml has a `SILU_BACK` for it.

use super::OpKind;
use super::activation;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read, Site,
    Storage, When, Wrong, forward, one, same_as_first, shape_value,
};
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "silu",
    aliases: &["swish"],
    ggml: "GGML_UNARY_OP_SILU",
    sign: None,
    formula: "y = a · σ(a)",
    says: "Lets numbers above 0 through and fades out below: x times its sigmoid.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · σ(a) · (1 + a · (1 − σ(a)))", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let slope = activation::silu_slope(emit, site.src(0))?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Wrong(Wrong {
            rule: in_order_of_storage,
            what: "its kernel reads a gradient that is a view in the order of its storage, and with more than two axes past its end",
            when: When::Built(|site| !site.is_packed),
        }),
        cite: "ggml-cpu, SILU_BACK takes the gradient's rows to be packed",
        mends: &[],
    }],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = silu(x)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(activation::silu);
}

/// The same with the gradient's elements as they lie in memory, taken for its rows (B6).
fn in_order_of_storage(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let strides = emit.strides(site.grad);
    let mut axes: Vec<usize> = (0..site.ty.shape.rank()).collect();
    axes.sort_by_key(|axis| strides.get(*axis).map(|s| -s));
    let axes = Value::Ints(axes.into_iter().map(|axis| axis as i64).collect());
    let stored = emit.with(OpKind::Permute, &[site.grad], vec![axes])?;
    let g = emit.with(OpKind::Reshape, &[stored], vec![shape_value(site.ty.shape)])?;
    let slope = activation::silu_slope(emit, site.src(0))?;
    one(emit.mul(g, slope)?)
}
