//! `get_rows_back`: the adjoint of `get_rows`. Adds each row up at the place its id names, among zeros.
//! d = the rows of g that the ids name. Mirrors ggml.c, `GET_ROWS_BACK`, batches included.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Differs, Flow, How, OpDef, ParamKind, ParamSpec,     Read, ShapeCx, Storage, forward, one,
};
use super::matmul::shaped;
use super::repeat::shape_param;
use super::{pick, rows};
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "get_rows_back",
    aliases: &[],
    ggml: "GGML_OP_GET_ROWS_BACK",
    sign: None,
    formula: "y[.., b[.., i], :] += a[.., i, :]",
    says: "Adds rows up at the places that ids name. An id out of range writes nowhere.",
    arity: Arity::exactly(2),
    params: &[ParamSpec::new("shape", ParamKind::Ints, Default::Required)],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("the rows of g at b", &[Read::Src(1)]),
        Flow::Ignored("ids have no gradient"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        let d = emit.with(OpKind::GetRows, &[site.grad, site.src(1)], vec![Value::Num(0.0)])?;
        one(shaped(emit, d, site.shape(0))?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no GET_ROWS_BACK case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [3,2] = rand(seed=1)\nconst i [3] i32 = [2, 0, 2]\ny = get_rows_back(x, i, shape=[4,2])",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let to =
        shape_param(cx.params, 0)?.ok_or(Reason::BadParam { param: "shape", wants: "given" })?;
    let taken = rows::taken(TensorType::f32(to), cx.ty(1))?;
    if !taken.shape.same_extents(&cx.dims(0)) {
        return Err(Reason::ShapesDisagree {
            wants: "a row for each id",
            a: cx.dims(0),
            b: taken.shape,
        });
    }
    Ok(TensorType::f32(to))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, ids] = cx.src else { return };
    let [_, _, m, n] = cx.ty.shape.padded().map(|d| d as usize);
    let per_batch = ids.ty.shape.padded()[3].max(1) as usize;
    if n == 0 {
        return;
    }
    for (t, (row, id)) in a.data.chunks_exact(n).zip(ids.data).enumerate() {
        let batch = rows::batch(cx.ty.shape, t / per_batch);
        let to = pick::at(*id, m).map(|row| (batch * m + row) * n);
        if let Some(out) = to.and_then(|to| cx.out.get_mut(to..to + n)) {
            for (o, x) in out.iter_mut().zip(row) {
                *o += *x;
            }
        }
    }
}
