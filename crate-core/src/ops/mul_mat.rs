//! `mul_mat`, ggml's `MUL_MAT`: [.., m, n] and [.., p, n] give [.., p, m], rows with rows.
//! Each batch of the first is shared by consecutive batches of the second, so its gradient is summed over groups,
//! not over tiles. Mirrors ggml.c, `MUL_MAT`.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read,
    ShapeCx, Site, Storage, forward,
};
use super::lines::send;
use super::matmul::{flipped, shaped};
use crate::graph::{NodeId, Value};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::{RuleSet, tiles};
use crate::tensor::{DType, Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "mul_mat",
    aliases: &[],
    ggml: "GGML_OP_MUL_MAT",
    sign: None,
    formula: "y = b aᵀ",
    says: "Multiplies each row of the second with each row of the first.",
    arity: Arity::exactly(2),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("gᵀ b", &[Read::Src(1)]), Flow::carries("g a", &[Read::Src(0)])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Rule(upstream),
        cite: "ggml.c:6800, MUL_MAT case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param a [2,3] = rand(seed=1, lo=-1, hi=1)\nparam b [4,3] = rand(seed=2, lo=-1, hi=1)\ny = mul_mat(a, b)",
            "param a [2,2,3] = rand(seed=3, lo=-1, hi=1)\nparam b [4,2,3] = rand(seed=4, lo=-1, hi=1)\ny = mul_mat(a, b)",
            "param a [2,1,2,3] = rand(seed=5, lo=-1, hi=1)\nparam b [2,2,2,3] = rand(seed=6, lo=-1, hi=1)\ny = mul_mat(a, b)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    let disagree = |wants| Reason::ShapesDisagree { wants, a: a.shape, b: b.shape };
    let ([a0, a1, m, n], [b0, b1, p, k]) = (a.shape.padded(), b.shape.padded());
    if a.shape.rank() == 0 || b.shape.rank() == 0 || n != k {
        return Err(disagree("rows of one length"));
    }
    if !tiles(a0, b0) || !tiles(a1, b1) {
        return Err(disagree("batch extents of the second that the first's divide"));
    }
    let rank = a.shape.rank().max(b.shape.rank()).max(2);
    let dims = [b0, b1, p, m];
    let shape = Shape::new(&dims[4 - rank..]).ok_or(disagree("at most four axes"))?;
    let mut out = TensorType::f32(shape);
    let name = |t: &TensorType, from_right: usize| {
        t.shape.rank().checked_sub(from_right).and_then(|ix| t.axes.get(ix).copied().flatten())
    };
    for from_right in 2..=rank {
        out.axes[rank - from_right] = name(&b, from_right);
    }
    out.axes[rank - 1] = name(&a, 2);
    Ok(out)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, b] = cx.src else { return };
    let [a0, a1, m, n] = a.ty.shape.padded().map(|d| d as usize);
    let [b0, b1, p, _] = b.ty.shape.padded().map(|d| d as usize);
    for (batch, out) in cx.out.chunks_exact_mut((p * m).max(1)).enumerate() {
        let (i, j) = (batch / b1.max(1), batch % b1.max(1));
        let group = |at: usize, small: usize, large: usize| at / (large / small.max(1)).max(1);
        let from = (group(i, a0, b0) * a1 + group(j, a1, b1)) * m * n;
        let rows_a = a.data.get(from..from + m * n).unwrap_or(&[]);
        let rows_b = b.data.get(batch * p * n..(batch + 1) * p * n).unwrap_or(&[]);
        crate::kernels::dots(rows_b, rows_a, out, (p, n, m));
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (a, b) = (site.src(0), site.src(1));
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(send(0, first_grad(emit, b, site.grad, site.shape(0))?));
    }
    if site.wants(1) {
        out.push(send(1, second_grad(emit, a, site.grad, site.shape(1))?));
    }
    Ok(out)
}

/// As upstream: it regroups the inner batch axis alone, its `OUT_PROD` takes no transposed first operand (B15), and
/// shares no batches of one in f16 (B25).
fn upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    if site.wants(0) {
        let ([a0, a1, ..], [b0, b1, ..]) = (site.shape(0).padded(), site.shape(1).padded());
        if (a0, a1) != (b0, b1) && b0 != 1 {
            return Err(Reason::NotThisForm(
                "ggml sums shared batches of the first operand only where the outermost axis is 1",
            ));
        }
        let view = emit.sink.graph().storage(site.src(1));
        let steps = view.strides.get(..site.shape(1).rank()).unwrap_or(&[]);
        if matches!(steps, [.., row, column] if column > row) {
            return Err(Reason::NotThisForm(
                "ggml's OUT_PROD takes no transposed second operand of MUL_MAT",
            ));
        }
    }
    if site.wants(1) {
        let of = |ix| site.shape(ix).padded().into_iter().take(2).collect::<Vec<u32>>();
        let stored = site.src_ty.first().map(|ty| ty.dtype);
        if stored == Some(DType::F16) && of(0) != of(1) {
            return Err(Reason::NotThisForm(
                "ggml's OUT_PROD shares no batches of an f16 first operand",
            ));
        }
    }
    rule(emit, site)
}

/// `gᵀ b`, summed over the batches that shared one of the first operand: the first operand's gradient.
pub(super) fn first_grad(
    emit: &mut Emit<'_>,
    b: NodeId,
    grad: NodeId,
    to: Shape,
) -> Result<NodeId, Reason> {
    let [b0, b1, p, n] = emit.ty(b).shape.padded();
    let m = to.padded()[2];
    let rows = |extent| Shape::new(&[b0, b1, p, extent]).unwrap_or(Shape::SCALAR);
    let (b, g) = (shaped(emit, b, rows(n))?, shaped(emit, grad, rows(m))?);
    let (bt, gt) = (flipped(emit, b)?, flipped(emit, g)?);
    let full = emit.op(OpKind::MulMat, &[bt, gt])?;
    grouped(emit, full, to)
}

/// `g a`: the second operand's gradient.
pub(super) fn second_grad(
    emit: &mut Emit<'_>,
    a: NodeId,
    grad: NodeId,
    to: Shape,
) -> Result<NodeId, Reason> {
    let shape = emit.ty(a).shape;
    let matrix = Shape::new(&shape.padded()).unwrap_or(shape);
    let a = if shape.rank() < 2 { shaped(emit, a, matrix)? } else { a };
    let at = flipped(emit, a)?;
    let d = emit.op(OpKind::MulMat, &[at, grad])?;
    shaped(emit, d, to)
}

/// Sums the batches of a four-axis gradient over the groups that shared one batch of the source.
fn grouped(emit: &mut Emit<'_>, full: NodeId, to: Shape) -> Result<NodeId, Reason> {
    let [f0, f1, m, n] = emit.ty(full).shape.padded();
    let [t0, t1, _, _] = to.padded();
    let mut d = full;
    let bad = Reason::BadShape { wants: "batch extents that divide", got: to };
    let mut sum_groups = |d: NodeId, [outer, kept, group, inner]: [u32; 4]| {
        let split = Shape::new(&[outer, kept, group, inner]).ok_or(bad.clone())?;
        let d = shaped(emit, d, split)?;
        emit.with(OpKind::Sum, &[d], vec![Value::Int(2)])
    };
    if f1 != t1 {
        d = sum_groups(d, [f0, t1, f1 / t1.max(1), m.saturating_mul(n)])?;
    }
    if f0 != t0 {
        let inner = t1.saturating_mul(m).saturating_mul(n);
        d = sum_groups(d, [1, t0, f0 / t0.max(1), inner])?;
    }
    shaped(emit, d, to)
}
