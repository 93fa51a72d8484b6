//! `squeeze`: drops axes of 1. d = g with them. A view; not a ggml op, whose RESHAPE does the same.

use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ShapeCx, Storage,
    axis_param, forward, one,
};
use super::lines::renamed;
use super::matmul::shaped;
use crate::graph::View;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "squeeze",
    aliases: &[],
    ggml: "GGML_OP_RESHAPE",
    sign: None,
    formula: "y = a, without axes of 1",
    says: "Drops the axes of extent 1, all or the named ones.",
    arity: Arity::exactly(1),
    params: &[axis_param(ParamKind::Axes, Default::Absent)],
    shape,
    stretches: false,
    storage: Storage::Window(window),
    flow: &[Flow::carries("g, in the shape of a", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        let of = site.shape(0);
        one(shaped(emit, site.grad, of)?)
    }),
    differs: &[],
    check: Check {
        samples: &[
            "param x [1,3,1] = rand(seed=1)\ny = squeeze(x)",
            "param x [1,3,1] = rand(seed=2)\ny = squeeze(x, axis=-1)",
        ],
        kink: None,
    },
    place: here!(),
};

const AXIS: usize = 0;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let named = cx.params.ints(AXIS).is_some();
    let axes = cx.axes(AXIS, of.shape)?;
    if named && axes.iter().any(|a| of.shape.dim(*a) != 1) {
        return Err(Reason::BadParam { param: "axis", wants: "axes of extent 1" });
    }
    let kept: Vec<usize> =
        (0..of.shape.rank()).filter(|a| of.shape.dim(*a) != 1 || !axes.contains(a)).collect();
    let dims: Vec<u32> = kept.iter().map(|a| of.shape.dim(*a)).collect();
    let shape = Shape::new(&dims).unwrap_or(of.shape);
    Ok(TensorType { shape, axes: renamed(of.axes, kept.into_iter().map(Some)), ..of })
}

fn window(cx: &ShapeCx<'_>, of: &View) -> Option<View> {
    let to = shape(cx).ok()?.shape;
    of.is_packed(cx.dims(0)).then(|| View { strides: to.strides(), ..*of })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
}
