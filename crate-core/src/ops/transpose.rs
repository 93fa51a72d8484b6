//! `transpose`: swaps two axes, those of a matrix unless two are named. d = g with them swapped back.
//! Mirrors ggml.c, TRANSPOSE. A view; whoever reads it packs it, so layouts never decide what can be trained.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, ShapeCx, Storage,
    forward, one,
};
use crate::graph::{Params, View};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

const FIRST: usize = 0;
const SECOND: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "transpose",
    aliases: &["x.T", "swapaxes", "t"],
    ggml: "GGML_OP_TRANSPOSE",
    sign: None,
    formula: "y = aᵀ",
    says: "Swaps two axes: rows become columns.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("axis", ParamKind::Axis, Default::Absent).or(&["axis1", "dim0"]),
        ParamSpec::new("other", ParamKind::Axis, Default::Absent).or(&["axis2", "dim1"]),
    ],
    shape,
    stretches: false,
    storage: Storage::Window(window),
    flow: &[Flow::carries("gᵀ", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        let axes = [FIRST, SECOND].map(|ix| site.params.value(ix).clone());
        one(emit.with(OpKind::Transpose, &[site.grad], axes.to_vec())?)
    }),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1)\ny = x.T",
            "param x [2,3,4] = rand(seed=2)\ny = transpose(x, 0, 2)",
        ],
        kink: None,
    },
    place: here!(),
};

/// The two axes to swap.
fn pair(params: &Params, shape: Shape) -> Result<(usize, usize), Reason> {
    let axis = |axis: i64| shape.resolve_axis(axis).ok_or(Reason::NoSuchAxis { axis, shape });
    match (params.int(FIRST), params.int(SECOND)) {
        (Some(a), Some(b)) => Ok((axis(a)?, axis(b)?)),
        (None, None) if shape.rank() < 2 => Ok((0, 0)),
        (None, None) if shape.rank() == 2 => Ok((0, 1)),
        _ => Err(Reason::BadShape { wants: "a matrix, or the two axes by name", got: shape }),
    }
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let mut out = cx.ty(0);
    let (a, b) = pair(cx.params, out.shape)?;
    let (da, db) = (out.shape.dim(a), out.shape.dim(b));
    out.shape = out.shape.with_dim(a, db).with_dim(b, da);
    out.axes.swap(a, b);
    Ok(out)
}

fn window(cx: &ShapeCx<'_>, of: &View) -> Option<View> {
    let (a, b) = pair(cx.params, cx.dims(0)).ok()?;
    let mut view = *of;
    view.strides.swap(a, b);
    Some(view)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
}
