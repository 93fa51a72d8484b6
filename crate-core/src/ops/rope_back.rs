//! `rope_back`: the adjoint of `rope`, the same turn backwards. d = g, turned forwards. Mirrors ggml.c, `ROPE_BACK`.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read, Site,
    Storage, forward,
};
use super::lines::send;
use super::{rope, rotation};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "rope_back",
    aliases: &[],
    ggml: "GGML_OP_ROPE_BACK",
    sign: None,
    formula: "y = a, pairs turned back",
    says: "Turns pairs of channels back by the angle that `rope` turned them.",
    arity: Arity { min: 2, max: 3 },
    params: rotation::PARAMS,
    shape: rotation::shape,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[
        Flow::carries("g, turned", &[Read::Src(1), Read::Src(2)]),
        Flow::Ignored("positions have no gradient"),
        Flow::carries("Σ (g × y) · angle / c", &[Read::Out, Read::Src(1), Read::Src(2)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no ROPE_BACK case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [3,2,4] = rand(seed=1, lo=-1, hi=1)\nconst p [3] i32 = [0, 2, 5]\nparam f [2] = [0.9, 1.1]\ny = rope_back(x, p, f)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    rotation::value(cx, true);
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut src = site.src.to_vec();
    if let Some(first) = src.first_mut() {
        *first = site.grad;
    }
    let params = site.params.values().to_vec();
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(send(0, emit.with(OpKind::Rope, &src, params)?));
    }
    if site.wants(2) {
        // The same turn the other way: every angle has the other sign.
        let d = rope::factors(emit, site)?;
        out.push(send(2, emit.op(OpKind::Neg, &[d])?));
    }
    Ok(out)
}
