//! `pad`: puts a border of one number around a tensor. d = the inside of g. ggml's PAD has no backward.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, ShapeCx, Site, Storage, forward, one,
};
use super::window::Window;
use crate::graph::{Index, Params, Value};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "pad",
    aliases: &[],
    ggml: "GGML_OP_PAD",
    sign: None,
    formula: "y = a, with a border",
    says: "Puts a border of one number around a tensor.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("before", ParamKind::Ints, Default::Int(0)).or(&["low"]),
        ParamSpec::new("after", ParamKind::Ints, Default::Int(0)).or(&["high"]),
        ParamSpec::new("value", ParamKind::Num, Default::Num(0.0)).or(&["constant_values"]),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("the inside of g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no PAD case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1)\ny = pad(x, before=[1,0], after=[0,2])",
            "param x [2,3] = rand(seed=2)\ny = pad(x, before=1, after=1, value=0.5)",
            "param x [3] = rand(seed=3)\ny = pad(x, after=2)",
        ],
        kink: None,
    },
    place: here!(),
};

const BEFORE: usize = 0;
const AFTER: usize = 1;
const VALUE: usize = 2;

/// One amount for each axis; one number serves every axis.
fn amounts(params: &Params, ix: usize, rank: usize) -> Result<Vec<u32>, Reason> {
    let param = if ix == BEFORE { "before" } else { "after" };
    let bad = || Reason::BadParam { param, wants: "one amount of 0 or more, or one for each axis" };
    let list = match params.value(ix) {
        Value::Int(n) => vec![*n; rank],
        _ => params.ints(ix).ok_or_else(bad)?,
    };
    if list.len() != rank {
        return Err(bad());
    }
    list.into_iter().map(|n| u32::try_from(n).ok().ok_or_else(bad)).collect()
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let rank = of.shape.rank();
    let mut out = of.as_f32();
    let before = amounts(cx.params, BEFORE, rank)?;
    let after = amounts(cx.params, AFTER, rank)?;
    for (axis, (b, a)) in before.into_iter().zip(after).enumerate() {
        let extent = of.shape.dim(axis).checked_add(a).and_then(|d| d.checked_add(b));
        let extent = extent.ok_or(Reason::BadParam { param: "after", wants: "less" })?;
        out.shape = out.shape.with_dim(axis, extent);
    }
    Ok(out)
}

/// The bracket that takes the inside.
fn inside(params: &Params, of: Shape) -> Result<Vec<Index>, Reason> {
    let before = amounts(params, BEFORE, of.rank())?;
    let range = |(axis, b): (usize, u32)| {
        let start = i64::from(b);
        Index::Range { start: Some(start), stop: Some(start + i64::from(of.dim(axis))), step: None }
    };
    Ok(before.into_iter().enumerate().map(range).collect())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.out.fill(T::from_f64(cx.params.num(VALUE).unwrap_or(0.0)));
    let (Some(a), whole) = (cx.src.first(), cx.ty.shape.strides()) else { return };
    let Ok(before) = amounts(cx.params, BEFORE, a.ty.shape.rank()) else { return };
    let offset: usize = before.iter().zip(whole).map(|(b, s)| *b as usize * s as usize).sum();
    let n = cx.ty.shape.n_elements();
    let Some(window) = Window::new(a.ty.shape, offset, whole, n) else { return };
    for (place, x) in window.places().zip(a.data) {
        if let Some(o) = cx.out.get_mut(place) {
            *o = *x;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let index = inside(site.params, site.shape(0))?;
    one(emit.with(OpKind::Slice, &[site.grad], vec![Value::Index(index.into())])?)
}
