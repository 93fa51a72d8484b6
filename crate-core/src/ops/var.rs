//! `var` over axes: the variance, which divides by n as NumPy does; `correction` (NumPy: `ddof`) is taken off n.
//! PyTorch divides by n - 1 when nothing is said: `torch.var` is `sample_var`.
//! d = 2 g (a - mean) / (n - correction). Not a ggml op.

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
    name: "var",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = Σ (a − mean)² / (n − correction)",
    says: "The variance, over every axis or the named ones, divided by n - correction.",
    arity: Arity::exactly(1),
    params: &spread::params(0.0),
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("2 · g · (a − mean) / (n − correction)", &[Read::Src(0)])],
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
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = var(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = var(x, axis=1)",
            "param x [2,3,2] = rand(seed=3, lo=-2, hi=2)\ny = var(x, axis=[0,-1], keepdims=true)",
            "param x [2,3] = rand(seed=4, lo=-2, hi=2)\ny = var(x, axis=-1, correction=1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    reduce::shape(cx, spread::AXIS, cx.params.flag(spread::KEEP))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    spread::value(cx, |x| x);
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (from, n, axes) = spread::deviations(emit, site)?;
    let grad = reduce::keep(emit, site.grad, site.shape(0), &axes)?;
    let part = emit.affine(grad, 2.0 / n, 0.0)?;
    one(emit.mul(from, part)?)
}
