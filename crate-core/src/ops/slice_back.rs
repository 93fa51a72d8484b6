//! `slice_back`: the adjoint of a bracket. Puts a tensor back where the bracket took it, among zeros.
//! d = the bracket on g. ggml accumulates through ACC instead, from `source x 0`, which a NaN poisons.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, ShapeCx, Storage,
    forward, one,
};
use super::repeat::shape_param;
use super::slice::{INDEX, take};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

const SHAPE: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "slice_back",
    aliases: &[],
    ggml: "GGML_OP_ACC",
    sign: None,
    formula: "y = 0, with a at [..]",
    says: "Puts a part back where a bracket took it, among zeros.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("index", ParamKind::Index, Default::Required),
        ParamSpec::new("shape", ParamKind::Ints, Default::Required),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g[..]", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        one(emit.with(OpKind::Slice, &[site.grad], vec![site.params.value(INDEX).clone()])?)
    }),
    differs: &[],
    check: Check { samples: &[], kink: None },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let whole = shape_param(cx.params, SHAPE)?
        .ok_or(Reason::BadParam { param: "shape", wants: "given" })?;
    let taken = take(cx.params.index(INDEX), &TensorType::f32(whole))?;
    if taken.shape != cx.dims(0) {
        return Err(Reason::ShapesDisagree {
            wants: "an operand of the shape that the bracket takes",
            a: cx.dims(0),
            b: taken.shape,
        });
    }
    Ok(TensorType::f32(whole))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Ok(taken) = take(cx.params.index(INDEX), &cx.ty) else { return };
    let Some(a) = cx.src.first() else { return };
    let whole = cx.ty.shape.strides();
    let start: isize = taken.starts.iter().zip(whole).map(|(i, s)| *i as isize * s).sum();
    for (i, x) in a.data.iter().enumerate() {
        let mut rest = i;
        let mut at = start;
        for (axis, from) in taken.from.iter().enumerate().rev() {
            let d = taken.shape.dim(axis).max(1) as usize;
            if let Some((source, step)) = from {
                at += (rest % d) as isize * *step as isize * whole[*source];
            }
            rest /= d;
        }
        if let Some(o) = usize::try_from(at).ok().and_then(|at| cx.out.get_mut(at)) {
            *o += *x;
        }
    }
}
