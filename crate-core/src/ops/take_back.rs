//! `take_back`: the adjoint of `take`. Adds entries up at the places that indices name, among zeros.
//! d = the entries of g at the indices. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, Read, ShapeCx,
    Storage, axis_param, forward, one,
};
use super::pick;
use super::repeat::shape_param;
use super::take::{around, picked};
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "take_back",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y[.., b[i], ..] += a[.., i, ..]",
    says: "Adds entries up at the places of an axis that indices name. An index out of range writes nowhere.",
    arity: Arity::exactly(2),
    params: &[
        axis_param(ParamKind::Axis, Default::Absent),
        ParamSpec::new("shape", ParamKind::Ints, Default::Required),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("the entries of g at b", &[Read::Src(1)]),
        Flow::Ignored("indices have no gradient"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        one(emit.with(
            OpKind::Take,
            &[site.grad, site.src(1)],
            vec![site.params.value(0).clone(), Value::Num(0.0)],
        )?)
    }),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1)\nconst i [3] i32 = [3,0,3]\ny = take_back(x, i, axis=1, shape=[2,4])",
        ],
        kink: None,
    },
    place: here!(),
};

const SHAPE: usize = 1;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let to = shape_param(cx.params, SHAPE)?
        .ok_or(Reason::BadParam { param: "shape", wants: "given" })?;
    let taken = picked(cx.params, TensorType::f32(to), cx.dims(1))?;
    if taken.shape != cx.dims(0) {
        return Err(Reason::ShapesDisagree {
            wants: "an entry for each index",
            a: cx.dims(0),
            b: taken.shape,
        });
    }
    Ok(TensorType::f32(to))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, ids] = cx.src else { return };
    let Ok(to) = around(cx.params, cx.ty.shape) else { return };
    if to.inner == 0 || ids.data.is_empty() {
        return;
    }
    for (t, entry) in a.data.chunks_exact(to.inner).enumerate() {
        let (block, id) = (t / ids.data.len(), ids.data.get(t % ids.data.len()));
        let at = id.and_then(|id| pick::wrapped(*id, to.n));
        let start = at.map(|e| (block * to.n + e) * to.inner);
        if let Some(out) = start.and_then(|s| cx.out.get_mut(s..s + to.inner)) {
            for (o, x) in out.iter_mut().zip(entry) {
                *o += *x;
            }
        }
    }
}
