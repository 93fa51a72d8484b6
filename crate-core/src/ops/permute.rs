//! `permute`: reorders axes; entry i of the list names the source axis that becomes axis i, as in NumPy.
//! d = g with the axes put back. Mirrors ggml.c, PERMUTE, whose list reads the other way round.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, ShapeCx, Storage,
    forward, one,
};
use crate::graph::{Params, Value, View};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

const AXES: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "permute",
    aliases: &["moveaxes"],
    ggml: "GGML_OP_PERMUTE",
    sign: None,
    formula: "y = a, axes reordered",
    says: "Puts the axes in another order.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("axes", ParamKind::Axes, Default::Required).or(&["dims"])],
    shape,
    stretches: false,
    storage: Storage::Window(window),
    flow: &[Flow::carries("g, axes put back", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        let order = order(site.params, site.shape(0))?;
        let mut back = vec![0i64; order.len()];
        for (to, from) in order.iter().enumerate() {
            if let Some(slot) = back.get_mut(*from) {
                *slot = to as i64;
            }
        }
        one(emit.with(OpKind::Permute, &[site.grad], vec![Value::Ints(back.into())])?)
    }),
    differs: &[],
    check: Check {
        samples: &["param x [2,3,4] = rand(seed=1)\ny = permute(x, 2, 0, 1)"],
        kink: None,
    },
    place: here!(),
};

/// The source axis of each axis of the result.
fn order(params: &Params, shape: Shape) -> Result<Vec<usize>, Reason> {
    let bad = || Reason::BadParam { param: "axes", wants: "every axis of the operand, each once" };
    let list = params.ints(AXES).ok_or_else(bad)?;
    let mut out = Vec::with_capacity(4);
    for axis in list {
        let at = shape.resolve_axis(axis).ok_or(Reason::NoSuchAxis { axis, shape })?;
        if out.contains(&at) {
            return Err(bad());
        }
        out.push(at);
    }
    if out.len() == shape.rank() { Ok(out) } else { Err(bad()) }
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let mut out = of;
    for (to, from) in order(cx.params, of.shape)?.into_iter().enumerate() {
        out.shape = out.shape.with_dim(to, of.shape.dim(from));
        out.axes[to] = of.axes[from];
    }
    Ok(out)
}

fn window(cx: &ShapeCx<'_>, of: &View) -> Option<View> {
    let mut view = *of;
    for (to, from) in order(cx.params, cx.dims(0)).ok()?.into_iter().enumerate() {
        view.strides[to] = of.strides[from];
    }
    Some(view)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
}
