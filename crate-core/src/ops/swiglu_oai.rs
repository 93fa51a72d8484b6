//! `swiglu_oai`: x' σ(αx') (u' + 1), x' = min(x, limit), u' = clip(u, -limit, limit). ggml computes it and has no
//! backward for it (B26).
//! Beyond a limit nothing flows; on it, all of it.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, Read, Site, Storage, forward,
};
use super::gated;
use super::terms;
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

const ALPHA: usize = 1;
const LIMIT: usize = 2;

pub(super) const DEF: OpDef = OpDef {
    name: "swiglu_oai",
    aliases: &[],
    ggml: "GGML_GLU_OP_SWIGLU_OAI",
    sign: None,
    formula: "y = a′ · σ(alpha · a′) · (b′ + 1), a′ = min(a, limit), b′ = clip(b, ±limit)",
    says: "The gated unit of gpt-oss: both operands are limited, and the second is 1 more.",
    arity: Arity { min: 1, max: 2 },
    params: &[
        gated::SWAP,
        ParamSpec::new("alpha", ParamKind::Num, Default::Num(1.702)),
        ParamSpec::new("limit", ParamKind::Num, Default::Num(7.0)),
    ],
    shape: gated::shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries(
            "g · (b′ + 1) · s · (1 + alpha · a′ · (1 − s)) where a ≤ limit, s = σ(alpha · a′)",
            &[Read::Src(0), Read::Src(1)],
        ),
        Flow::carries("g · a′ · σ(alpha · a′) where |b| ≤ limit", &[Read::Src(0), Read::Src(1)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("the GLU case of ggml's backward switch knows SWIGLU alone"),
        cite: "ggml.c:7102, default of the GLU case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param g [2,4] = rand(seed=1, lo=-2, hi=2)\nparam u [2,4] = rand(seed=2, lo=-2, hi=2)\ny = swiglu_oai(g, u)",
            "param g [2,4] = rand(seed=1, lo=-2, hi=2)\nparam u [2,4] = rand(seed=2, lo=-2, hi=2)\ny = swiglu_oai(g, u, limit=1)",
            "param x [2,3,4] = rand(seed=3, lo=-2, hi=2)\ny = swiglu_oai(x, alpha=0.7, limit=1.5)",
            "param x [2,3,4] = rand(seed=3, lo=-2, hi=2)\ny = swiglu_oai(x, swapped=true, limit=1)",
        ],
        kink: Some(|src, params| {
            let limit = params.num(LIMIT).unwrap_or(7.0);
            src.iter().any(|o| terms::hits(&[*o], &[-limit, limit]))
        }),
    },
    place: here!(),
};

/// `alpha` and `limit`.
fn numbers(params: &Params) -> (f64, f64) {
    // What no number is above or below limits nothing.
    let limit = params.num(LIMIT).unwrap_or(7.0);
    let limit = if limit.is_nan() { f64::INFINITY } else { limit };
    (params.num(ALPHA).unwrap_or(1.702), limit)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let (alpha, limit) = numbers(cx.params);
    let [alpha, limit] = [alpha, limit].map(T::from_f64);
    gated::value(cx, |x, u| {
        let x = if x > limit { limit } else { x };
        let u = if u > limit { limit } else { u };
        let u = if u < -limit { -limit } else { u };
        x * (alpha * x).sigmoid() * (u + T::ONE)
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (alpha, limit) = numbers(site.params);
    let [gate, up] = gated::parts(emit, site)?;
    let low = emit.within(gate, None, Some(limit))?;
    let scaled = emit.affine(low, alpha, 0.0)?;
    let share = emit.op(OpKind::Sigmoid, &[scaled])?;
    let mut grads = [None, None];
    let [wants_gate, wants_up] = gated::wants(site);
    if wants_gate {
        let other = emit.within(up, Some(-limit), Some(limit))?;
        let other = emit.affine(other, 1.0, 1.0)?;
        let rest = emit.one_minus(share)?;
        let bend = emit.mul(scaled, rest)?;
        let bend = emit.affine(bend, 1.0, 1.0)?;
        let slope = emit.mul(share, bend)?;
        let slope = emit.mul(slope, other)?;
        let grad = emit.mul(site.grad, slope)?;
        let edge = emit.number(limit)?;
        let inside = emit.op(OpKind::LessEqual, &[gate, edge])?;
        grads[0] = Some(emit.pick_or(inside, grad, 0.0)?);
    }
    if wants_up {
        let open = emit.mul(low, share)?;
        let grad = emit.mul(site.grad, open)?;
        let size = emit.op(OpKind::Abs, &[up])?;
        let edge = emit.number(limit)?;
        let inside = emit.op(OpKind::LessEqual, &[size, edge])?;
        grads[1] = Some(emit.pick_or(inside, grad, 0.0)?);
    }
    gated::send(emit, site, grads)
}
