//! `flatten`: joins neighbouring axes into one. d = g in the old shape. A view where the elements lie packed.

use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, ShapeCx,
    Storage, forward, one,
};
use super::lines::{axis_of, renamed};
use super::matmul::shaped;
use crate::graph::View;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "flatten",
    aliases: &["ravel"],
    ggml: "GGML_OP_RESHAPE",
    sign: None,
    formula: "y = a, with axes joined",
    says: "Joins neighbouring axes into one; all of them without attributes.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("start", ParamKind::Axis, Default::Int(0)).or(&["start_dim"]),
        ParamSpec::new("end", ParamKind::Axis, Default::Int(-1)).or(&["end_dim"]),
    ],
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
            "param x [2,3,2] = rand(seed=1)\ny = flatten(x)",
            "param x [2,3,2] = rand(seed=2)\ny = flatten(permute(x, 2, 0, 1), start=1)",
        ],
        kink: None,
    },
    place: here!(),
};

const START: usize = 0;
const END: usize = 1;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    if of.shape.rank() == 0 {
        return Ok(TensorType { shape: Shape::new(&[1]).unwrap_or(of.shape), ..of });
    }
    let from = axis_of(cx.params, START, 0, of.shape)?;
    let to = axis_of(cx.params, END, -1, of.shape)?;
    if from > to {
        return Err(Reason::BadParam { param: "end", wants: "an axis at or after `start`" });
    }
    let joined = (from..=to).try_fold(1u32, |n, a| n.checked_mul(of.shape.dim(a)));
    let joined =
        joined.ok_or(Reason::BadShape { wants: "fewer than 2^32 elements", got: of.shape })?;
    let mut dims = of.shape.dims().get(..from).unwrap_or(&[]).to_vec();
    dims.push(joined);
    dims.extend(of.shape.dims().iter().skip(to + 1));
    let shape = Shape::new(&dims).unwrap_or(of.shape);
    let one = from == to;
    let axes = (0..shape.rank()).map(|axis| match axis {
        axis if axis == from => one.then_some(axis),
        axis if axis > from => Some(axis + to - from),
        axis => Some(axis),
    });
    Ok(TensorType { shape, axes: renamed(of.axes, axes), ..of })
}

fn window(cx: &ShapeCx<'_>, of: &View) -> Option<View> {
    let to = shape(cx).ok()?.shape;
    of.is_packed(cx.dims(0)).then(|| View { strides: to.strides(), ..*of })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
}
