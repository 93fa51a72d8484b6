//! `gated_delta_step`: one step of the gated delta rule (3.6): the state fades by e^gate, then its answer to the key
//! moves towards the value. S' = S e^gate + k δᵀ, δ = β (v − (S e^gate)ᵀ k). A read-out is `q @ S'`.
//! ggml's `GATED_DELTA_NET` packs outputs and states of many steps into one tensor and has no backward.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read,
    ShapeCx, Site, Storage, forward, shape_value,
};
use super::lines::send;
use super::matmul::shaped;
use crate::graph::Value;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "gated_delta_step",
    aliases: &[],
    ggml: "GGML_OP_GATED_DELTA_NET",
    sign: None,
    formula: "y = a e^d + b δᵀ, δ = e · (c − (a e^d)ᵀ b)",
    says: "Takes a state one step on: it fades by its gate, then learns to answer the key with the value.",
    arity: Arity::exactly(5),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("(g − b dδᵀ) e^d", &[Read::Src(1), Read::Src(3), Read::Src(4)]),
        Flow::carries(
            "g δ − a e^d dδ",
            &[Read::Src(0), Read::Src(1), Read::Src(2), Read::Src(3), Read::Src(4)],
        ),
        Flow::carries("dδ = e · gᵀ b", &[Read::Src(1), Read::Src(4)]),
        Flow::carries(
            "Σ (g − b dδᵀ) · a e^d",
            &[Read::Src(0), Read::Src(1), Read::Src(3), Read::Src(4)],
        ),
        Flow::carries(
            "Σ gᵀ b · (c − (a e^d)ᵀ b)",
            &[Read::Src(0), Read::Src(1), Read::Src(2), Read::Src(3)],
        ),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no GATED_DELTA_NET case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param s [3,2] = rand(seed=1, lo=-1, hi=1)\nparam k [3] = rand(seed=2, lo=-1, hi=1)\nparam v [2] = rand(seed=3, lo=-1, hi=1)\nparam d [] = -0.3\nparam b [] = 0.7\ny = gated_delta_step(s, k, v, d, b)",
            "param s [2,3,2] = rand(seed=4, lo=-1, hi=1)\nparam k [2,3] = rand(seed=5, lo=-1, hi=1)\nparam v [2,2] = rand(seed=6, lo=-1, hi=1)\nparam d [2,3] = rand(seed=7, lo=-1, hi=0)\nparam b [2] = rand(seed=8, lo=0.2, hi=0.9)\ny = gated_delta_step(s, k, v, d, b)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let s = cx.dims(0);
    let Some(lead) = s.rank().checked_sub(2) else {
        return Err(Reason::BadShape { wants: "a state [.., keys, values]", got: s });
    };
    let dims = |tail: &[u32]| {
        let mut all = s.dims().get(..lead).unwrap_or(&[]).to_vec();
        all.extend(tail);
        Shape::new(&all).unwrap_or(s)
    };
    let (keys, values) = (s.dim(lead), s.dim(lead + 1));
    let fits = |ix: usize, allowed: &[Shape]| {
        let got = cx.dims(ix);
        let wants =
            "a state [.., k, v], key [.., k], value [.., v], gate [..] or [.., k], rate [..]";
        if allowed.contains(&got) {
            Ok(())
        } else {
            Err(Reason::ShapesDisagree { wants, a: s, b: got })
        }
    };
    fits(1, &[dims(&[keys])])?;
    fits(2, &[dims(&[values])])?;
    fits(3, &[dims(&[]), dims(&[keys])])?;
    fits(4, &[dims(&[])])?;
    Ok(cx.ty(0).as_f32())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [s, k, v, gate, rate] = cx.src else { return };
    let [.., keys, values] = s.ty.shape.padded().map(|d| d as usize);
    let per_key = gate.ty.shape.rank() + 1 == s.ty.shape.rank();
    if keys == 0 || values == 0 {
        return;
    }
    let mut column = Vec::with_capacity(keys);
    for (at, out) in cx.out.chunks_exact_mut(keys * values).enumerate() {
        let part = |data: &'_ [T], len: usize| -> Vec<T> {
            data.iter().skip(at * len).take(len).copied().collect()
        };
        let (old, key, answer) =
            (part(s.data, keys * values), part(k.data, keys), part(v.data, values));
        let fade = part(gate.data, if per_key { keys } else { 1 });
        let rate = rate.data.get(at).copied().unwrap_or(T::ZERO);
        for (i, (out, old)) in
            out.chunks_exact_mut(values).zip(old.chunks_exact(values)).enumerate()
        {
            let fade = fade.get(if per_key { i } else { 0 }).copied().unwrap_or(T::ZERO).exp();
            for (o, x) in out.iter_mut().zip(old) {
                *o = *x * fade;
            }
        }
        for (j, want) in answer.iter().enumerate() {
            column.clear();
            column.extend(out.iter().skip(j).step_by(values).copied());
            let delta = rate * (*want - kernels::dot(&column, &key));
            for (o, k) in out.iter_mut().skip(j).step_by(values).zip(&key) {
                *o += *k * delta;
            }
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let s = site.shape(0);
    let lead = s.rank() - 2;
    let matrix = |keys: u32, values: u32| s.with_dim(lead, keys).with_dim(lead + 1, values);
    let (keys, values) = (s.dim(lead), s.dim(lead + 1));
    let per_key = site.shape(3).rank() > lead;
    let g = site.grad;
    let sum = |emit: &mut Emit<'_>, of, axis: i64| {
        emit.with(OpKind::Sum, &[of], vec![Value::Int(axis), Value::Bool(true)])
    };
    let key = shaped(emit, site.src(1), matrix(keys, 1))?;
    let gk = emit.op(OpKind::Mul, &[g, key])?;
    let d_delta = sum(emit, gk, -2)?;
    let mut out = Vec::with_capacity(5);
    // What the state has become before it learns, and how far its answer is off.
    let wants = |list: &[usize]| list.iter().any(|ix| site.wants(*ix));
    let fade = if wants(&[0, 1, 3, 4]) {
        let gate = shaped(emit, site.src(3), matrix(if per_key { keys } else { 1 }, 1))?;
        Some(emit.op(OpKind::Exp, &[gate])?)
    } else {
        None
    };
    let faded = match fade {
        Some(fade) if wants(&[1, 3, 4]) => Some(emit.op(OpKind::Mul, &[site.src(0), fade])?),
        _ => None,
    };
    let miss = match faded {
        Some(faded) if wants(&[1, 4]) => {
            let weighted = emit.op(OpKind::Mul, &[faded, key])?;
            let answer = sum(emit, weighted, -2)?;
            let value = shaped(emit, site.src(2), matrix(1, values))?;
            Some(emit.op(OpKind::Sub, &[value, answer])?)
        }
        _ => None,
    };
    if let Some(miss) = miss.filter(|_| site.wants(4)) {
        let d = emit.op(OpKind::Mul, &[d_delta, miss])?;
        let d = sum(emit, d, -1)?;
        out.push(send(4, shaped(emit, d, site.shape(4))?));
    }
    if !wants(&[0, 1, 2, 3]) {
        return Ok(out);
    }
    let rate = shaped(emit, site.src(4), matrix(1, 1))?;
    let d_miss = emit.op(OpKind::Mul, &[d_delta, rate])?;
    if site.wants(2) {
        out.push(send(2, shaped(emit, d_miss, site.shape(2))?));
    }
    if let (Some(faded), Some(miss), true) = (faded, miss, site.wants(1)) {
        let delta = emit.op(OpKind::Mul, &[miss, rate])?;
        let written = emit.op(OpKind::Mul, &[g, delta])?;
        let read = emit.op(OpKind::Mul, &[faded, d_miss])?;
        let d = emit.op(OpKind::Sub, &[written, read])?;
        let d = sum(emit, d, -1)?;
        out.push(send(1, shaped(emit, d, site.shape(1))?));
    }
    if wants(&[0, 3]) {
        let target = vec![Value::None, shape_value(s)];
        let spread = emit.with(OpKind::Repeat, &[d_miss], target)?;
        let read = emit.op(OpKind::Mul, &[spread, key])?;
        let d_faded = emit.op(OpKind::Sub, &[g, read])?;
        if let (Some(fade), true) = (fade, site.wants(0)) {
            out.push(send(0, emit.op(OpKind::Mul, &[d_faded, fade])?));
        }
        if let (Some(faded), true) = (faded, site.wants(3)) {
            let d = emit.op(OpKind::Mul, &[d_faded, faded])?;
            let mut d = sum(emit, d, -1)?;
            if !per_key {
                d = sum(emit, d, -2)?;
            }
            out.push(send(3, shaped(emit, d, site.shape(3))?));
        }
    }
    Ok(out)
}
