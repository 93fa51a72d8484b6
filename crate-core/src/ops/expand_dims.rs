//! `expand_dims`: a new axis of 1. d = g without it. A view; not a ggml op, whose RESHAPE does the same.

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
    name: "expand_dims",
    aliases: &["unsqueeze"],
    ggml: "GGML_OP_RESHAPE",
    sign: None,
    formula: "y = a, with an axis of 1",
    says: "Adds an axis of extent 1.",
    arity: Arity::exactly(1),
    params: &[axis_param(ParamKind::Int, Default::Required)],
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
            "param x [2,3] = rand(seed=1)\ny = expand_dims(x, axis=1)",
            "param x [2,3] = rand(seed=2)\ny = expand_dims(transpose(x), axis=-1)",
        ],
        kink: None,
    },
    place: here!(),
};

const AXIS: usize = 0;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let room = of.shape.rank() as i64 + 1;
    let asked = cx.params.int(AXIS).unwrap_or(0);
    let at = if asked < 0 { asked.saturating_add(room) } else { asked };
    if !(0..room).contains(&at) {
        return Err(Reason::NoSuchAxis { axis: asked, shape: of.shape });
    }
    let at = at as usize;
    let mut dims = of.shape.dims().to_vec();
    dims.insert(at, 1);
    let shape = Shape::new(&dims)
        .ok_or(Reason::BadShape { wants: "an operand of at most three axes", got: of.shape })?;
    let from = (0..shape.rank()).map(|axis| match axis {
        axis if axis < at => Some(axis),
        axis => (axis > at).then(|| axis - 1),
    });
    Ok(TensorType { shape, axes: renamed(of.axes, from), ..of })
}

fn window(cx: &ShapeCx<'_>, of: &View) -> Option<View> {
    let to = shape(cx).ok()?.shape;
    of.is_packed(cx.dims(0)).then(|| View { strides: to.strides(), ..*of })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
}
