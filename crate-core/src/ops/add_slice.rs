//! `add_slice`: a copy of a with b added to a window. da = g, db = the window of g. Mirrors ggml.c, ACC, whose byte
//! strides and offset are taken too; a window that shows an element twice adds twice.

use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Site,
    Storage, When, Wrong, folded, forward,
};
use super::lines::send;
use super::stored;
use super::window;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "add_slice",
    aliases: &["acc"],
    ggml: "GGML_OP_ACC",
    sign: None,
    formula: "y = a, with b added to a window",
    says: "Copies the first operand and adds the second to a window of it.",
    arity: Arity::exactly(2),
    params: window::PARAMS,
    shape: |cx| window::shape(cx, true),
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g", &[]), Flow::carries("the window of g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[
        super::def::PACKED_SOURCE,
        Differs {
            rules: RuleSet::Upstream,
            how: How::Wrong(Wrong {
                rule: as_upstream,
                what: stored::WHAT,
                when: When::Built(|site| site.wants(1) && !site.is_packed),
            }),
            cite: "ggml.c, ACC case of the backward switch: the window of a gradient that may be transposed",
            mends: &[],
        },
    ],
    check: Check {
        samples: &[
            "param a [3,4] = rand(seed=1)\nparam b [2,4] = rand(seed=2)\ny = add_slice(a, b, start=1, axis=0)",
            "param a [3,4] = rand(seed=3)\nparam b [1,2] = rand(seed=4)\ny = add_slice(a, b, start=[0,1], stop=[3,3])",
            "param a [3,4] = rand(seed=5)\nparam b [2,2] = rand(seed=6)\ny = acc(a, b, nb1=4, offset=4)",
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
            *o += x;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(send(0, site.grad));
    }
    if site.wants(1) {
        out.push(folded(1, window::shown(emit, site)?));
    }
    Ok(out)
}

/// As upstream, whose window strides over whatever layout the gradient has (B7); the first operand's share is right.
fn as_upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(send(0, site.grad));
    }
    if site.wants(1) {
        let grad = stored::grad(emit, site)?;
        out.push(folded(1, window::shown(emit, &Site { grad, ..*site })?));
    }
    Ok(out)
}
