//! `scatter_add`, PyTorch's: adds each element of c to the entry of a that its index names along one axis.
//! da = g, dc = the elements of g at the indices. Not a ggml op.

use super::OpKind;
use super::along;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, Read,
    Site, Storage, axis_param, forward,
};
use super::lines::send;
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;

pub(super) const DEF: OpDef = OpDef {
    name: "scatter_add",
    aliases: &["index_add"],
    ggml: "",
    sign: None,
    formula: "y = a, with y[b[i, j], j] += c[i, j]",
    says: "Adds each element of the third operand to the entry of the first that its index names. An index out of range writes nowhere.",
    arity: Arity::exactly(3),
    params: &[axis_param(ParamKind::Axis, Default::Int(-1))],
    shape: along::written,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[
        Flow::carries("g", &[]),
        Flow::Ignored("indices have no gradient"),
        Flow::carries("g at b", &[Read::Src(1)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param a [3,4] = rand(seed=1)\nparam c [3,2] = rand(seed=2)\nconst i [3,2] i32 = [[3,0],[1,1],[0,2]]\ny = scatter_add(a, i, c, axis=1)",
            "param a [3,2] = rand(seed=3)\nparam c [4,2] = rand(seed=4)\nconst i [4,2] i32 = [[0,1],[0,2],[2,-1],[0,0]]\ny = scatter_add(a, i, c, axis=0)",
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
            *o += *x;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(send(0, site.grad));
    }
    if site.wants(2) {
        let params = vec![site.params.value(0).clone(), Value::Num(0.0)];
        out.push(send(2, emit.with(OpKind::Gather, &[site.grad, site.src(1)], params)?));
    }
    Ok(out)
}
