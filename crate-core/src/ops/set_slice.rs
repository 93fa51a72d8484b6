//! `set_slice`: a copy of a with a window overwritten by b. da = g with the window zeroed, db = the window of g.
//! Mirrors ggml.c, SET, whose byte strides and offset are taken too. A functional update: a keeps its value.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Emit, Flow, OpDef, Site, Storage, folded,
    forward,
};
use super::lines::send;
use super::window;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "set_slice",
    aliases: &["set", "dynamic_update_slice"],
    ggml: "GGML_OP_SET",
    sign: None,
    formula: "y = a, with b in a window",
    says: "Copies the first operand and writes the second over a window of it.",
    arity: Arity::exactly(2),
    params: window::PARAMS,
    shape: |cx| window::shape(cx, false),
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g, with the window zeroed", &[]), Flow::carries("the window of g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[super::def::PACKED],
    check: Check {
        samples: &[
            "param a [3,4] = rand(seed=1)\nparam b [2,4] = rand(seed=2)\ny = set_slice(a, b, start=1, stop=3, axis=0)",
            "param a [3,4] = rand(seed=3)\nparam b [2,2] = rand(seed=4)\ny = set_slice(a, b, start=[1,0], step=[1,2])",
            "param a [3,4] = rand(seed=5)\nparam b [1,2] = rand(seed=6)\ny = set_slice(a, b, start=[0,1], stop=[3,3])",
            "param a [3,4] = rand(seed=7)\nparam b [2,2] = rand(seed=8)\ny = set_slice(a, b, nb1=16, offset=4)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
    let (Some(a), Some(b)) = (cx.src.first(), cx.src.get(1)) else { return };
    let Ok(window) = window::resolve(cx.params, &a.ty, b.ty.shape) else { return };
    let part = window::stretched(b.data, b.ty.shape, window.shape);
    for (place, x) in window.places().zip(part) {
        if let Some(o) = cx.out.get_mut(place) {
            *o = x;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        let zero = emit.fill(TensorType::f32(site.shape(1)), 0.0)?;
        let params = window::for_gradient(site);
        out.push(send(0, emit.with(OpKind::SetSlice, &[site.grad, zero], params)?));
    }
    if site.wants(1) {
        out.push(folded(1, window::shown(emit, site)?));
    }
    Ok(out)
}
