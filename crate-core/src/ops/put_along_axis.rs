//! `put_along_axis`, NumPy's and PyTorch's `scatter`: a copy of a with the entries that indices name overwritten.
//! Of two writes the last holds. da = g without them, dc = g at the indices, 0 for a write that did not hold.

use super::OpKind;
use super::along;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, Read,
    Site, Storage, axis_param, forward,
};
use super::lines::send;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "put_along_axis",
    aliases: &["scatter"],
    ggml: "",
    sign: None,
    formula: "y = a, with y[b[i, j], j] = c[i, j]",
    says: "Copies the first operand and overwrites the entries that indices name. An index out of range writes nowhere.",
    arity: Arity::exactly(3),
    params: &[axis_param(ParamKind::Axis, Default::Int(-1))],
    shape: along::written,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[
        Flow::carries("g, with the entries at b zeroed", &[Read::Src(1)]),
        Flow::Ignored("indices have no gradient"),
        Flow::carries("g at b", &[Read::Src(1)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param a [3,4] = rand(seed=1)\nparam c [3,2] = rand(seed=2)\nconst i [3,2] i32 = [[3,0],[1,1],[0,2]]\ny = put_along_axis(a, i, c, axis=1)",
            "param a [3,2] = rand(seed=3)\nparam c [2,2] = rand(seed=4)\nconst i [2,2] i32 = [[0,1],[2,-1]]\ny = put_along_axis(a, i, c, axis=0)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
    let [a, ids, c] = cx.src else { return };
    for (x, place) in c.data.iter().zip(along::places(a.ty.shape, ids, cx.params)) {
        if let Some(o) = place.and_then(|p| cx.out.get_mut(p)) {
            *o = *x;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    let ids = site.src(1);
    if site.wants(0) {
        let zero = emit.fill(TensorType::f32(site.shape(2)), 0.0)?;
        let params = site.params.values().to_vec();
        out.push(send(0, emit.with(OpKind::PutAlongAxis, &[site.grad, ids, zero], params)?));
    }
    if site.wants(2) {
        let params = site.params.values().to_vec();
        out.push(send(2, emit.with(OpKind::PutAlongAxisBack, &[site.grad, ids], params)?));
    }
    Ok(out)
}
