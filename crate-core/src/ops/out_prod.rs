//! `out_prod`, ggml's `OUT_PROD`: [.., m, n] and [.., m, p] give [.., p, n], columns with columns. Each batch of the
//! first is shared by consecutive batches of the second, as in `mul_mat`. da and db by the product rule.

use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read,
    ShapeCx, Site, Storage, forward,
};
use super::lines::send;
use super::matmul::{flipped, shaped};
use super::mul_mat::{first_grad, second_grad};
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::{RuleSet, tiles};
use crate::tensor::{MAX_RANK, Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "out_prod",
    aliases: &[],
    ggml: "GGML_OP_OUT_PROD",
    sign: None,
    formula: "y = bᵀ a",
    says: "Adds up the outer products of the rows of the second with the rows of the first.",
    arity: Arity::exactly(2),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("b g, summed over shared batches", &[Read::Src(1)]),
        Flow::carries("a gᵀ", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no OUT_PROD case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param a [2,3] = rand(seed=1, lo=-1, hi=1)\nparam b [2,4] = rand(seed=2, lo=-1, hi=1)\ny = out_prod(a, b)",
            "param a [2,1,2,3] = rand(seed=3, lo=-1, hi=1)\nparam b [2,2,2,4] = rand(seed=4, lo=-1, hi=1)\ny = out_prod(a, b)",
            "param a [3] = rand(seed=5, lo=-1, hi=1)\nparam b [2] = rand(seed=6, lo=-1, hi=1)\ny = out_prod(a, b)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    let disagree = |wants| Reason::ShapesDisagree { wants, a: a.shape, b: b.shape };
    let ([a0, a1, m, n], [b0, b1, k, p]) = (a.shape.padded(), b.shape.padded());
    if a.shape.rank() == 0 || b.shape.rank() == 0 || m != k {
        return Err(disagree("as many rows in both"));
    }
    if !tiles(a0, b0) || !tiles(a1, b1) {
        return Err(disagree("batch extents of the second that the first's divide"));
    }
    let rank = a.shape.rank().max(b.shape.rank()).max(2);
    let dims = [b0, b1, p, n];
    let shape = Shape::new(dims.get(MAX_RANK - rank..).unwrap_or(&dims));
    let mut out = TensorType::f32(shape.ok_or(disagree("at most four axes"))?);
    let name = |t: &TensorType, from_right: usize| {
        t.shape.rank().checked_sub(from_right).and_then(|ix| t.axes.get(ix).copied().flatten())
    };
    for from_right in 3..=rank {
        out.axes[rank - from_right] = name(&b, from_right);
    }
    out.axes[rank - 2] = name(&b, 1);
    out.axes[rank - 1] = name(&a, 1);
    Ok(out)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, b] = cx.src else { return };
    let [a0, a1, m, n] = a.ty.shape.padded().map(|d| d as usize);
    let [b0, b1, _, p] = b.ty.shape.padded().map(|d| d as usize);
    let group = |at: usize, small: usize, large: usize| at / (large / small.max(1)).max(1);
    let column = |data: &[T], from: usize, width: usize, line: &mut Vec<T>| {
        line.clear();
        line.extend(data.iter().skip(from).step_by(width.max(1)).take(m));
    };
    let (mut left, mut right) = (Vec::with_capacity(m), Vec::with_capacity(m));
    for (batch, out) in cx.out.chunks_exact_mut((p * n).max(1)).enumerate() {
        let (i, j) = (batch / b1.max(1), batch % b1.max(1));
        let from = (group(i, a0, b0) * a1 + group(j, a1, b1)) * m * n;
        for (row, line) in out.chunks_exact_mut(n.max(1)).enumerate() {
            column(b.data, batch * m * p + row, p, &mut right);
            for (col, o) in line.iter_mut().enumerate() {
                column(a.data, from + col, n, &mut left);
                *o = kernels::dot(&left, &right);
            }
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    // y = mul_mat(aᵀ, bᵀ).
    let turned = |emit: &mut Emit<'_>, ix: usize| {
        let of = site.shape(ix);
        let matrix = if of.rank() < 2 { Shape::new(&[1, of.dim(0)]).unwrap_or(of) } else { of };
        let node = shaped(emit, site.src(ix), matrix)?;
        flipped(emit, node)
    };
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        let bt = turned(emit, 1)?;
        let [a0, a1, m, n] = site.shape(0).padded();
        let to = Shape::new(&[a0, a1, n, m]).unwrap_or(Shape::SCALAR);
        let d = first_grad(emit, bt, site.grad, to)?;
        let d = flipped(emit, d)?;
        out.push(send(0, shaped(emit, d, site.shape(0))?));
    }
    if site.wants(1) {
        let at = turned(emit, 0)?;
        let [b0, b1, m, p] = site.shape(1).padded();
        let to = Shape::new(&[b0, b1, p, m]).unwrap_or(Shape::SCALAR);
        let d = second_grad(emit, at, site.grad, to)?;
        let d = flipped(emit, d)?;
        out.push(send(1, shaped(emit, d, site.shape(1))?));
    }
    Ok(out)
}
