//! `vecdot`, NumPy's: the dot products of vectors along an axis. da = g b, db = g a. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, Read,
    ShapeCx, Site, Storage, axis_param, folded, forward, shape_value,
};
use super::lines::{Around, axis_of};
use super::{reduce, window};
use crate::graph::Value;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{MAX_RANK, Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "vecdot",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = Σ a · b",
    says: "Multiplies element by element and adds up along an axis.",
    arity: Arity::exactly(2),
    params: &[axis_param(ParamKind::Axis, Default::Int(-1))],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g · b", &[Read::Src(1)]), Flow::carries("g · a", &[Read::Src(0)])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param a [2,3] = rand(seed=1, lo=-1, hi=1)\nparam b [2,3] = rand(seed=2, lo=-1, hi=1)\ny = vecdot(a, b)",
            "param a [2,3] = rand(seed=3, lo=-1, hi=1)\nparam b [3] = rand(seed=4, lo=-1, hi=1)\ny = vecdot(a, b, axis=0)",
        ],
        kink: None,
    },
    place: here!(),
};

const AXIS: usize = 0;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let joined = cx.broadcast.join(&cx.ty(0), &cx.ty(1))?;
    cx.affords(joined.shape.dims().iter().copied())?;
    let axis = axis_of(cx.params, AXIS, -1, joined.shape)?;
    reduce::reduced(joined, &[axis], false)
}

/// The shape of the products: where one operand is stretched, the other is larger.
fn products(a: Shape, b: Shape, result: Shape) -> Shape {
    let (pa, pb) = (a.padded(), b.padded());
    let mut dims = [1; MAX_RANK];
    for (d, (x, y)) in dims.iter_mut().zip(pa.into_iter().zip(pb)) {
        *d = if x == 0 || y == 0 { 0 } else { x.max(y) };
    }
    // The result has one axis less; under tiling rules that is the first operand's rank.
    let rank = (result.rank() + 1).min(MAX_RANK);
    Shape::new(dims.get(MAX_RANK - rank..).unwrap_or(&dims)).unwrap_or(a)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, b] = cx.src else { return };
    let full = products(a.ty.shape, b.ty.shape, cx.ty.shape);
    let Ok(axis) = axis_of(cx.params, AXIS, -1, full) else { return };
    let left = window::stretched(a.data, a.ty.shape, full);
    let right = window::stretched(b.data, b.ty.shape, full);
    let terms: Vec<T> = left.zip(right).map(|(x, y)| x * y).collect();
    let of = Around::new(full, axis);
    let mut line = Vec::with_capacity(of.n);
    for (ix, o) in cx.out.iter_mut().enumerate() {
        let start = ix / of.inner.max(1) * of.n * of.inner + ix % of.inner.max(1);
        line.clear();
        line.extend(terms.iter().skip(start).step_by(of.inner.max(1)).take(of.n));
        *o = kernels::sum(&line);
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let full = products(site.shape(0), site.shape(1), site.ty.shape);
    let axis = axis_of(site.params, AXIS, -1, full)?;
    let kept = reduce::keep(emit, site.grad, full, &[axis])?;
    let g = emit.with(OpKind::Repeat, &[kept], vec![Value::None, shape_value(full)])?;
    let mut out = Vec::with_capacity(2);
    for (ix, other) in [(0, 1), (1, 0)] {
        if site.wants(ix) {
            out.push(folded(ix, emit.op(OpKind::Mul, &[g, site.src(other)])?));
        }
    }
    Ok(out)
}
