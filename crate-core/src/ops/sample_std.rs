//! `sample_std` over axes: the standard deviation of a sample, which divides by n - 1 as PyTorch does; `std`
//! divides by n.
//! d = g (a - mean) / ((n - correction) y); 0 where all elements are equal, and the slope is a choice. Not a ggml
//! op.

use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read,
    ShapeCx, Site, Storage, forward, one,
};
use super::reduce;
use super::spread;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "sample_std",
    aliases: &["torch.std"],
    ggml: "",
    sign: None,
    formula: "y = √(Σ (a − mean)² / (n − correction))",
    says: "The standard deviation, over every axis or the named ones, divided by n - 1 unless correction says otherwise.",
    arity: Arity::exactly(1),
    params: &spread::params(1.0),
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g · (a − mean) / ((n − correction) · y)", &[Read::Src(0), Read::Out])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml has no such op"),
        cite: "ggml.h, enum ggml_op",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = sample_std(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = sample_std(x, axis=1)",
            "param x [2,3,2] = rand(seed=3, lo=-2, hi=2)\ny = sample_std(x, axis=[0,-1], keepdims=true)",
            "param x [2,3] = rand(seed=4, lo=-2, hi=2)\ny = sample_std(x, axis=-1, correction=0)",
        ],
        kink: Some(|src, params| {
            reduce::any_line(src, params, spread::AXIS, |xs| spread::of_line(xs, 0.0) <= 0.0)
        }),
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    reduce::shape(cx, spread::AXIS, cx.params.flag(spread::KEEP))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    spread::value(cx, Real::sqrt);
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (from, n, axes) = spread::deviations(emit, site)?;
    let size = reduce::keep(emit, site.node, site.shape(0), &axes)?;
    let grad = reduce::keep(emit, site.grad, site.shape(0), &axes)?;
    // All deviations are 0 where the size is: any divisor will do there but 0.
    let moves = emit.above(size, 0.0)?;
    let size = emit.pick_or(moves, size, 1.0)?;
    let ratio = emit.div(grad, size)?;
    let part = emit.affine(ratio, 1.0 / n, 0.0)?;
    one(emit.mul(from, part)?)
}
