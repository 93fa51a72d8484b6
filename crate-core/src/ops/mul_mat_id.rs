//! `mul_mat_id`, ggml's `MUL_MAT_ID`: each token's rows times the matrices of the experts that its ids name.
//! da = the outer products, added up by expert; db = g times the transposed matrices, folded over the slots that
//! shared a row (3.8). ggml's `MUL_MAT_ID` has no backward.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, Read, ShapeCx, Site, Storage, forward, shape_value,
};
use super::lines::{renamed, send};
use super::matmul::{flipped, shaped};
use super::pick;
use crate::graph::{NodeId, Value};
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::{RuleSet, tiles};
use crate::tensor::{MAX_RANK, Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "mul_mat_id",
    aliases: &[],
    ggml: "GGML_OP_MUL_MAT_ID",
    sign: None,
    formula: "y[t, e, :] = a[c[t, e]] b[t, e mod B, :]",
    says: "Multiplies each token's rows with the matrices of the experts that its ids name. An id out of range gives NaN, or `fill_value`.",
    arity: Arity::exactly(3),
    params: &[ParamSpec::new("fill_value", ParamKind::Num, Default::Absent)],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("Σ g bᵀ, by expert", &[Read::Src(1), Read::Src(2)]),
        Flow::carries("a[c]ᵀ g", &[Read::Src(0), Read::Src(2)]),
        Flow::Ignored("ids have no gradient"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no MUL_MAT_ID case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param a [3,2,4] = rand(seed=1, lo=-1, hi=1)\nparam b [2,1,4] = rand(seed=2, lo=-1, hi=1)\nconst i [2,2] i32 = [[2,0],[1,2]]\ny = mul_mat_id(a, b, i)",
            "param a [3,2,4] = rand(seed=3, lo=-1, hi=1)\nparam b [2,2,4] = rand(seed=4, lo=-1, hi=1)\nconst i [2,4] i32 = [[2,0,2,1],[1,2,1,0]]\ny = mul_mat_id(a, b, i)",
            "param a [2,3,2] = rand(seed=5, lo=-1, hi=1)\nparam b [3,1,2] = rand(seed=6, lo=-1, hi=1)\nconst i [3,1] i32 = [[1],[1],[0]]\ny = mul_mat_id(a, b, i)",
        ],
        kink: None,
    },
    place: here!(),
};

const FILL: usize = 0;

/// `[experts, m, n]`, tokens, rows a token gives, and slots a token uses.
pub(super) struct Sizes {
    pub(super) experts: usize,
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) shared: usize,
    pub(super) used: usize,
}

impl Sizes {
    /// Of `a [experts, m, n]`, `b [tokens, shared, n]` and `ids [tokens, used]`.
    pub(super) fn new(a: Shape, b: Shape, ids: Shape) -> Result<Self, Reason> {
        let ([a0, experts, m, n], [b0, t, shared, k]) = (a.padded(), b.padded());
        let [i0, i1, tokens, used] = ids.padded();
        if a0 != 1 || b0 != 1 || n != k {
            return Err(Reason::ShapesDisagree {
                wants: "rows of one length: [experts, m, n] and [tokens, rows, n]",
                a,
                b,
            });
        }
        if i0 != 1 || i1 != 1 || t != tokens || !tiles(shared, used) {
            return Err(Reason::ShapesDisagree {
                wants: "ids [tokens, used] whose slots the rows divide",
                a: b,
                b: ids,
            });
        }
        let [experts, m, n, shared, used] = [experts, m, n, shared, used].map(|d| d as usize);
        Ok(Self { experts, m, n, shared, used })
    }

    /// The row of `b` that slot `t`, counted over all tokens, reads.
    pub(super) fn row(&self, t: usize) -> usize {
        t / self.used.max(1) * self.shared + t % self.used.max(1) % self.shared.max(1)
    }
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b, ids) = (cx.ty(0), cx.ty(1), cx.ty(2));
    Sizes::new(a.shape, b.shape, ids.shape)?;
    let ([_, _, m, _], [_, _, t, u]) = (a.shape.padded(), ids.shape.padded());
    let shape = Shape::new(&[t, u, m]).unwrap_or(Shape::SCALAR);
    let mut axes = [None; MAX_RANK];
    if ids.shape.rank() == 2 {
        axes = renamed(ids.axes, [Some(0), Some(1)]);
    }
    axes[2] = a.shape.rank().checked_sub(2).and_then(|ix| a.axes.get(ix).copied().flatten());
    Ok(TensorType { axes, ..TensorType::f32(shape) })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, b, ids] = cx.src else { return };
    let Ok(s) = Sizes::new(a.ty.shape, b.ty.shape, ids.ty.shape) else { return };
    if s.m == 0 || s.n == 0 {
        return;
    }
    let missing = pick::missing(cx.params, FILL);
    for (t, (out, id)) in cx.out.chunks_exact_mut(s.m).zip(ids.data).enumerate() {
        let row = b.data.get(s.row(t) * s.n..(s.row(t) + 1) * s.n).unwrap_or(&[]);
        let Some(expert) = pick::at(*id, s.experts) else {
            out.fill(missing);
            continue;
        };
        let matrix = a.data.get(expert * s.m * s.n..(expert + 1) * s.m * s.n).unwrap_or(&[]);
        for (o, weights) in out.iter_mut().zip(matrix.chunks_exact(s.n)) {
            *o = kernels::dot(weights, row);
        }
    }
}

/// The gradient of the rows, from that of the result: shared by the op and its adjoint.
pub(super) fn to_rows(
    emit: &mut Emit<'_>,
    [matrices, grad, ids]: [NodeId; 3],
    rows: Shape,
) -> Result<NodeId, Reason> {
    let of = emit.ty(matrices).shape;
    let [_, experts, m, n] = of.padded();
    let matrices = shaped(emit, matrices, Shape::new(&[experts, m, n]).unwrap_or(of))?;
    let turned = flipped(emit, matrices)?;
    let mut d = emit.with(OpKind::MulMatId, &[turned, grad, ids], vec![Value::Num(0.0)])?;
    if !emit.ty(d).shape.same_extents(&rows) {
        d = emit.with(OpKind::RepeatBack, &[d], vec![shape_value(rows)])?;
    }
    shaped(emit, d, rows)
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        let params = vec![shape_value(site.shape(0))];
        let src = [site.grad, site.src(1), site.src(2)];
        out.push(send(0, emit.with(OpKind::MulMatIdBack, &src, params)?));
    }
    if site.wants(1) {
        let d = to_rows(emit, [site.src(0), site.grad, site.src(2)], site.shape(1))?;
        out.push(send(1, d));
    }
    Ok(out)
}
