//! `mul_mat_id_back`: what `mul_mat_id` sends to the experts' matrices: outer products, added up by expert.
//! da = the matrices of g times b, db = their transposes times a. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, ParamSpec,
    Read, ShapeCx, Site, Storage, forward,
};
use super::lines::send;
use super::matmul::shaped;
use super::mul_mat_id::{Sizes, to_rows};
use super::pick;
use super::repeat::shape_param;
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "mul_mat_id_back",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y[c[t, e]] += a[t, e, :] b[t, e mod B, :]ᵀ",
    says: "Adds up, by expert, the outer products of each slot's row with its token's row. An id out of range writes nowhere.",
    arity: Arity::exactly(3),
    params: &[ParamSpec::new("shape", ParamKind::Ints, Default::Required)],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("g[c] b", &[Read::Src(1), Read::Src(2)]),
        Flow::carries("g[c]ᵀ a", &[Read::Src(0), Read::Src(2)]),
        Flow::Ignored("ids have no gradient"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param a [2,2,3] = rand(seed=1, lo=-1, hi=1)\nparam b [2,1,4] = rand(seed=2, lo=-1, hi=1)\nconst i [2,2] i32 = [[2,0],[1,2]]\ny = mul_mat_id_back(a, b, i, shape=[3,3,4])",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let to =
        shape_param(cx.params, 0)?.ok_or(Reason::BadParam { param: "shape", wants: "given" })?;
    let sizes = Sizes::new(to, cx.dims(1), cx.dims(2))?;
    let ([_, _, t, u], m) = (cx.dims(2).padded(), sizes.m as u32);
    if cx.dims(0).padded() != [1, t, u, m] {
        return Err(Reason::ShapesDisagree {
            wants: "a row for each slot",
            a: cx.dims(0),
            b: cx.dims(2),
        });
    }
    Ok(TensorType::f32(to))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, b, ids] = cx.src else { return };
    let Ok(s) = Sizes::new(cx.ty.shape, b.ty.shape, ids.ty.shape) else { return };
    if s.m == 0 || s.n == 0 {
        return;
    }
    for (t, (column, id)) in a.data.chunks_exact(s.m).zip(ids.data).enumerate() {
        let row = b.data.get(s.row(t) * s.n..(s.row(t) + 1) * s.n).unwrap_or(&[]);
        let Some(expert) = pick::at(*id, s.experts) else { continue };
        let to = expert * s.m * s.n;
        let Some(matrix) = cx.out.get_mut(to..to + s.m * s.n) else { continue };
        for (out, x) in matrix.chunks_exact_mut(s.n).zip(column) {
            for (o, y) in out.iter_mut().zip(row) {
                *o += *x * *y;
            }
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let ids = site.src(2);
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        let src = [site.grad, site.src(1), ids];
        let d = emit.with(OpKind::MulMatId, &src, vec![Value::Num(0.0)])?;
        out.push(send(0, shaped(emit, d, site.shape(0))?));
    }
    if site.wants(1) {
        out.push(send(1, to_rows(emit, [site.grad, site.src(0), ids], site.shape(1))?));
    }
    Ok(out)
}
