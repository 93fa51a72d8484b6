//! `swiglu`: silu(gate) · up. Mirrors ggml.c, GLU with SWIGLU: the only unit that upstream differentiates, and only
//! with two operands (B26).

use super::OpKind;
use super::activation;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read, Site,
    Storage, forward,
};
use super::gated;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "swiglu",
    aliases: &[],
    ggml: "GGML_GLU_OP_SWIGLU",
    sign: None,
    formula: "y = silu(a) · b",
    says: "Opens a gate for the second operand: silu of the first, times the second; of one operand, the halves of its last axis.",
    arity: Arity { min: 1, max: 2 },
    params: &[gated::SWAP],
    shape: gated::shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("g · b · σ(a) · (1 + a · (1 − σ(a)))", &[Read::Src(0), Read::Src(1)]),
        Flow::carries("g · silu(a)", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Rule(upstream),
        cite: "ggml.c:7094, GLU case of the backward switch: asserts that there are two operands",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param g [2,4] = rand(seed=1, lo=-2, hi=2)\nparam u [2,4] = rand(seed=2, lo=-2, hi=2)\ny = swiglu(g, u)",
            "param x [2,3,4] = rand(seed=3, lo=-2, hi=2)\ny = swiglu(x)",
            "param x [2,3,4] = rand(seed=3, lo=-2, hi=2)\ny = swiglu(x, swapped=true)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    gated::value(cx, |x, u| activation::silu(x) * u);
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    gated::rule(emit, site, OpKind::Silu, activation::silu_slope)
}

fn upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    if site.src.len() < 2 {
        return Err(Reason::NotThisForm("ggml differentiates SWIGLU of two operands only"));
    }
    rule(emit, site)
}
