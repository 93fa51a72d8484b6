//! `put_along_axis_back`: what `put_along_axis` sends to what it wrote: the entries at the indices, 0 for a write that
//! did not hold. d = g, written at the indices among zeros. Not a ggml op.

use super::OpKind;
use super::along;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, Read,
    Site, Storage, axis_param, forward, one,
};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "put_along_axis_back",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y[i, j] = a[b[i, j], j]",
    says: "Takes the entries that indices name; of an index that comes twice only the last counts, the others give 0.",
    arity: Arity::exactly(2),
    params: &[axis_param(ParamKind::Axis, Default::Int(-1))],
    shape: |cx| along::picked(cx.ty(0), cx.dims(1), cx.params),
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("g, written at b among zeros", &[Read::Src(1)]),
        Flow::Ignored("indices have no gradient"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param x [3,4] = rand(seed=2)\nconst i [3,2] i32 = [[3,3],[1,9],[2,2]]\ny = put_along_axis_back(x, i, axis=1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, ids] = cx.src else { return };
    let places: Vec<Option<usize>> = along::places(a.ty.shape, ids, cx.params).collect();
    let mut holds = vec![usize::MAX; a.data.len()];
    for (t, place) in places.iter().enumerate() {
        if let Some(slot) = place.and_then(|p| holds.get_mut(p)) {
            *slot = t;
        }
    }
    for (t, (o, place)) in cx.out.iter_mut().zip(places).enumerate() {
        let place = place.filter(|p| holds.get(*p) == Some(&t));
        *o = place.and_then(|p| a.data.get(p)).copied().unwrap_or(T::ZERO);
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let zero = emit.fill(TensorType::f32(site.shape(0)), 0.0)?;
    let params = site.params.values().to_vec();
    one(emit.with(OpKind::PutAlongAxis, &[zero, site.src(1), site.grad], params)?)
}
