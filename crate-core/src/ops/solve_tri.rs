//! `solve_tri`: X with A X = B, A triangular. dB = A⁻ᵀ g, dA = −(dB Xᵀ) on the triangle (3.8).
//! Mirrors ggml.c, `SOLVE_TRI`, which takes lower triangles alone and has no backward.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, Read, ShapeCx, Site, Storage, forward,
};
use super::lines::send;
use super::matmul::{flipped, shaped};
use crate::graph::Value;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "solve_tri",
    aliases: &["solve_triangular"],
    ggml: "GGML_OP_SOLVE_TRI",
    sign: None,
    formula: "y = a⁻¹ b",
    says: "Solves a y = b for a triangular a; what lies beside its triangle is not read.",
    arity: Arity::exactly(2),
    params: &[
        ParamSpec::new("lower", ParamKind::Bool, Default::Bool(true)),
        ParamSpec::new("unit", ParamKind::Bool, Default::Bool(false))
            .or(&["unitriangular", "unit_diagonal"]),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("−(a⁻ᵀ g) yᵀ, on the triangle", &[Read::Src(0), Read::Out]),
        Flow::carries("a⁻ᵀ g", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no SOLVE_TRI case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param a [3,3] = rand(seed=1, lo=0.5, hi=1.5)\nparam b [3,2] = rand(seed=2, lo=-1, hi=1)\ny = solve_tri(a, b)",
            "param a [2,2,2] = rand(seed=3, lo=0.5, hi=1.5)\nparam b [2,2,1] = rand(seed=4, lo=-1, hi=1)\ny = solve_tri(a, b, lower=false)",
            "param a [3,3] = rand(seed=5, lo=0.5, hi=1.5)\nparam b [3,2] = rand(seed=6, lo=-1, hi=1)\ny = solve_tri(a, b, unit=true)",
        ],
        kink: None,
    },
    place: here!(),
};

const LOWER: usize = 0;
const UNIT: usize = 1;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    let ([a0, a1, n, m], [b0, b1, k, _]) = (a.shape.padded(), b.shape.padded());
    if a.shape.rank() < 2 || n != m {
        return Err(Reason::BadShape { wants: "square matrices first", got: a.shape });
    }
    if b.shape.rank() < 2 || a0 != b0 || a1 != b1 || n != k {
        return Err(Reason::ShapesDisagree {
            wants: "as many rows and batches in both",
            a: a.shape,
            b: b.shape,
        });
    }
    Ok(b.as_f32())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, b] = cx.src else { return };
    let [_, _, n, k] = b.ty.shape.padded().map(|d| d as usize);
    let (lower, unit) = (cx.params.flag(LOWER), cx.params.flag(UNIT));
    if n == 0 || k == 0 {
        return;
    }
    let batches = a.data.chunks_exact(n * n).zip(b.data.chunks_exact(n * k));
    let mut x = vec![T::ZERO; n];
    for ((a, b), out) in batches.zip(cx.out.chunks_exact_mut(n * k)) {
        for col in 0..k {
            for step in 0..n {
                let i = if lower { step } else { n - 1 - step };
                let row = a.get(i * n..(i + 1) * n).unwrap_or(&[]);
                let known = if lower { 0..i } else { i + 1..n };
                let left = row.get(known.clone()).unwrap_or(&[]);
                let sum = kernels::dot(left, x.get(known).unwrap_or(&[]));
                let rest = b.get(i * k + col).copied().unwrap_or(T::ZERO) - sum;
                let pivot = row.get(i).copied().unwrap_or(T::ONE);
                let xi = if unit { rest } else { rest / pivot };
                if let (Some(slot), Some(o)) = (x.get_mut(i), out.get_mut(i * k + col)) {
                    *slot = xi;
                    *o = xi;
                }
            }
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (lower, unit) = (site.params.flag(LOWER), site.params.flag(UNIT));
    let turned = flipped(emit, site.src(0))?;
    let params = vec![Value::Bool(!lower), Value::Bool(unit)];
    let db = emit.with(OpKind::SolveTri, &[turned, site.grad], params)?;
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        let xt = flipped(emit, site.node)?;
        let full = emit.op(OpKind::Matmul, &[db, xt])?;
        let (triangle, k) = match (lower, unit) {
            (true, false) => (OpKind::Tril, 0),
            (true, true) => (OpKind::Tril, -1),
            (false, false) => (OpKind::Triu, 0),
            (false, true) => (OpKind::Triu, 1),
        };
        let part = emit.with(triangle, &[full], vec![Value::Int(k)])?;
        let d = emit.op(OpKind::Neg, &[part])?;
        out.push(send(0, shaped(emit, d, site.shape(0))?));
    }
    if site.wants(1) {
        out.push(send(1, db));
    }
    Ok(out)
}
