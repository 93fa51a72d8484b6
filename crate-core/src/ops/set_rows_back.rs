//! `set_rows_back`: what `set_rows` sends to the rows it wrote: the rows at the ids, 0 for a write that did not hold.
//! d = g, written at the ids among zeros. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, ParamSpec,
    Read, ShapeCx, Site, Storage, forward, one,
};
use super::repeat::shape_param;
use super::rows;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "set_rows_back",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y[.., i, :] = a[.., b[.., i], :]",
    says: "Takes the rows that ids name; of an id that comes twice only the last counts, the others give 0.",
    arity: Arity::exactly(2),
    params: &[ParamSpec::new("shape", ParamKind::Ints, Default::Required)],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("g, written at b among zeros", &[Read::Src(1)]),
        Flow::Ignored("ids have no gradient"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param x [4,2] = rand(seed=1)\nconst i [3] i32 = [2, 0, 2]\ny = set_rows_back(x, i, shape=[3,2])",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let to =
        shape_param(cx.params, 0)?.ok_or(Reason::BadParam { param: "shape", wants: "given" })?;
    rows::written(cx.dims(0), to, cx.dims(1))?;
    Ok(TensorType::f32(to))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, ids] = cx.src else { return };
    let n = a.ty.shape.padded()[3] as usize;
    if n == 0 {
        return;
    }
    let places: Vec<Option<usize>> = rows::places(a.ty.shape, cx.ty.shape, ids).collect();
    let mut holds = vec![usize::MAX; a.data.len() / n];
    for (t, place) in places.iter().enumerate() {
        if let Some(slot) = place.and_then(|p| holds.get_mut(p / n)) {
            *slot = t;
        }
    }
    for (t, (out, place)) in cx.out.chunks_exact_mut(n).zip(places).enumerate() {
        let from = place.filter(|p| holds.get(p / n) == Some(&t));
        if let Some(row) = from.and_then(|from| a.data.get(from..from + n)) {
            out.copy_from_slice(row);
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let zero = emit.fill(TensorType::f32(site.shape(0)), 0.0)?;
    one(emit.op(OpKind::SetRows, &[zero, site.grad, site.src(1)])?)
}
