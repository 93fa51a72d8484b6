//! `reshape`: the same elements in another shape. d = g in the old shape. Mirrors ggml.c, RESHAPE.
//! A view where the elements lie packed, a copy where they do not (ggml refuses that).

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, ShapeCx, Storage,
    forward, one, shape_value,
};
use crate::graph::View;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{MAX_RANK, Shape, TensorType};

const SHAPE: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "reshape",
    aliases: &[],
    ggml: "GGML_OP_RESHAPE",
    sign: None,
    formula: "y = a, in another shape",
    says: "Gives the same elements another shape; one extent may be -1.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("shape", ParamKind::Ints, Default::Required)],
    shape,
    stretches: false,
    storage: Storage::Window(window),
    flow: &[Flow::carries("g, in the shape of a", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        one(emit.with(OpKind::Reshape, &[site.grad], vec![shape_value(site.shape(0))])?)
    }),
    differs: &[super::def::PACKED_SOURCE],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1)\ny = reshape(x, shape=[3,2])",
            "param x [2,3] = rand(seed=2)\ny = reshape(transpose(x), shape=[-1])",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let bad = || Reason::BadParam { param: "shape", wants: "at most four extents, one of them -1 at most" };
    let asked = cx.params.ints(SHAPE).ok_or_else(bad)?;
    let open = asked.iter().filter(|d| **d == -1).count();
    if asked.len() > MAX_RANK || open > 1 || asked.iter().any(|d| *d < -1) {
        return Err(bad());
    }
    let known = asked.iter().filter(|d| **d >= 0).fold(1u64, |n, d| n.saturating_mul(*d as u64));
    let rest = of.shape.n_elements().checked_div(known).unwrap_or(0);
    let dims: Option<Vec<u32>> =
        asked.iter().map(|d| u32::try_from(if *d == -1 { rest as i64 } else { *d }).ok()).collect();
    let shape = dims.and_then(|d| Shape::new(&d)).ok_or_else(bad)?;
    if shape.n_elements() != of.shape.n_elements() {
        return Err(Reason::ShapesDisagree { wants: "as many elements as before", a: of.shape, b: shape });
    }
    let mut out = TensorType { dtype: of.dtype, ..TensorType::f32(shape) };
    if shape == of.shape {
        out.axes = of.axes;
    }
    Ok(out)
}

fn window(cx: &ShapeCx<'_>, of: &View) -> Option<View> {
    let to = shape(cx).ok()?.shape;
    of.is_packed(cx.dims(0)).then(|| View { strides: to.strides(), ..*of })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
}
