//! `silu_back(a, b)`, ggml's `SILU_BACK`: what `silu` at b sends back for the gradient a. d = the same for a, and by
//! the second derivative of `silu` for b. Mirrors ggml.c, `SILU_BACK`, which has no backward.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read,
    ShapeCx, Site, Storage, forward,
};
use super::lines::send;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "silu_back",
    aliases: &[],
    ggml: "GGML_OP_SILU_BACK",
    sign: None,
    formula: "y = a · σ(b) · (1 + b · (1 − σ(b)))",
    says: "What silu at the second operand sends back for the gradient that is the first.",
    arity: Arity::exactly(2),
    params: &[],
    shape: same_shapes,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("g · σ(b) · (1 + b · (1 − σ(b)))", &[Read::Src(1)]),
        Flow::carries("g · a · σ(b) · (1 − σ(b)) · (2 + b · (1 − 2σ(b)))", &[Read::Src(0), Read::Src(1)]),
    ],
    forward: forward!(value, Each),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no SILU_BACK case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param g [2,3] = rand(seed=1, lo=-1, hi=1)\nparam x [2,3] = rand(seed=2, lo=-3, hi=3)\ny = silu_back(g, x)",
        ],
        kink: None,
    },
    place: here!(),
};

/// The type of an adjoint of two operands of one shape.
pub(super) fn same_shapes(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    if a.shape != b.shape {
        let wants = "a gradient of the operand's shape";
        return Err(Reason::ShapesDisagree { wants, a: a.shape, b: b.shape });
    }
    Ok(a.as_f32())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.zip(|g, x| {
        let s = x.sigmoid();
        g * s * (T::ONE + x * (T::ONE - s))
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (g, x) = (site.src(0), site.src(1));
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(send(0, emit.op(OpKind::SiluBack, &[site.grad, x])?));
    }
    if site.wants(1) {
        let s = emit.op(OpKind::Sigmoid, &[x])?;
        let rest = emit.one_minus(s)?;
        let steep = emit.mul(s, rest)?;
        let sides = emit.affine(s, -2.0, 1.0)?;
        let bent = emit.mul(x, sides)?;
        let bent = emit.affine(bent, 1.0, 2.0)?;
        let second = emit.mul(steep, bent)?;
        let both = emit.mul(site.grad, g)?;
        out.push(send(1, emit.mul(both, second)?));
    }
    Ok(out)
}
