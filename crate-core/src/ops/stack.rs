//! `stack`: puts tensors of one shape side by side along a new axis. d = the slices of g. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contribution, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind,     ShapeCx, Site, Storage, axis_param, forward,
};
use crate::graph::{Index, Params, Value};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{MAX_RANK, Shape, TensorType};
use crate::trace::Accum;

const AXIS: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "stack",
    aliases: &["[a, b]"],
    ggml: "",
    sign: None,
    formula: "y = [a, b, ..]",
    says: "Puts tensors of one shape side by side along a new axis.",
    arity: Arity { min: 1, max: usize::MAX },
    params: &[axis_param(ParamKind::Int, Default::Int(0))],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g[i]", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param a [2,3] = rand(seed=1)\nparam b [2,3] = rand(seed=2)\ny = stack(a, b, axis=1)",
            "param a [] = 0.5\nparam b [] = 0.25\ny = stack(a * b, b, a)",
        ],
        kink: None,
    },
    place: here!(),
};

/// The place of the new axis in the result; negative ones count from its right.
fn place(params: &Params, of: Shape) -> Result<usize, Reason> {
    let axis = params.int(AXIS).unwrap_or(0);
    let room = of.rank() as i64 + 1;
    let at = if axis < 0 { axis.saturating_add(room) } else { axis };
    if (0..room).contains(&at) { Ok(at as usize) } else { Err(Reason::NoSuchAxis { axis, shape: of }) }
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    if let Some(other) = cx.src.iter().find(|t| t.shape != of.shape) {
        return Err(Reason::ShapesDisagree {
            wants: "operands of one shape",
            a: of.shape,
            b: other.shape,
        });
    }
    let at = place(cx.params, of.shape)?;
    let mut dims = of.shape.dims().to_vec();
    dims.insert(at, cx.src.len() as u32);
    let shape = Shape::new(&dims)
        .ok_or(Reason::BadShape { wants: "operands of at most three axes", got: of.shape })?;
    let mut axes = [None; MAX_RANK];
    for (axis, slot) in axes.iter_mut().enumerate() {
        let from = if axis < at { Some(axis) } else { axis.checked_sub(1).filter(|_| axis > at) };
        *slot = from.and_then(|ix| of.axes.get(ix).copied().flatten());
    }
    Ok(TensorType { axes, ..TensorType::f32(shape) })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let of = cx.shape(0);
    let Ok(at) = place(cx.params, of) else { return };
    let inner: usize = of.dims().iter().skip(at).map(|d| *d as usize).product();
    let count = cx.src.len();
    for (ix, src) in cx.src.iter().enumerate() {
        for (block, part) in src.data.chunks_exact(inner.max(1)).enumerate() {
            let start = (block * count + ix) * inner;
            if let Some(out) = cx.out.get_mut(start..start + inner) {
                out.copy_from_slice(part);
            }
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let at = place(site.params, site.shape(0))?;
    let mut out = Vec::new();
    for src in (0..site.src.len()).filter(|s| site.wants(*s)) {
        let whole = Index::Range { start: None, stop: None, step: None };
        let mut index = vec![whole; at];
        index.push(Index::At(src as i64));
        let value = emit.with(OpKind::Slice, &[site.grad], vec![Value::Index(index.into())])?;
        out.push(Contribution { src, via: Accum::Add, value, fold: false });
    }
    Ok(out)
}
