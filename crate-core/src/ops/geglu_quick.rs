//! `geglu_quick`: gelu in the quick form of the gate, times the other operand. ggml computes it and has no backward
//! for it (B26).

use super::OpKind;
use super::activation;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, Mend, OpDef, Read,
    Site, Storage, forward,
};
use super::gated;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "geglu_quick",
    aliases: &[],
    ggml: "GGML_GLU_OP_GEGLU_QUICK",
    sign: None,
    formula: "y = a · σ(1.702 · a) · b",
    says: "Opens a gate for the second operand: gelu in the quick form of the first, times the second; of one operand, the halves of its last axis.",
    arity: Arity { min: 1, max: 2 },
    params: &[gated::SWAP],
    shape: gated::shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("g · b · slope(a)", &[Read::Src(0), Read::Src(1)]),
        Flow::carries("g · a · σ(1.702 · a)", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("the GLU case of ggml's backward switch knows SWIGLU alone"),
        cite: "ggml.c:7102, default of the GLU case of the backward switch",
        mends: &[Mend {
            text: "{0} * exp(-softplus(-1.702 * {0})) * {1}",
            replaces: None,
            without: &[],
            note: "The value is the same, made of ops that have a backward.",
        }],
    }],
    check: Check {
        samples: &[
            "param g [2,4] = rand(seed=1, lo=-2, hi=2)\nparam u [2,4] = rand(seed=2, lo=-2, hi=2)\ny = geglu_quick(g, u)",
            "param x [2,3,4] = rand(seed=3, lo=-2, hi=2)\ny = geglu_quick(x)",
            "param x [2,3,4] = rand(seed=3, lo=-2, hi=2)\ny = geglu_quick(x, swapped=true)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    gated::value(cx, |x, u| activation::gelu_quick(x) * u);
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    gated::rule(emit, site, OpKind::GeluQuick, activation::gelu_quick_slope)
}
