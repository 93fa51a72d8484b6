//! `softmax` over one axis: e^(a - max) / Σ. d = y (g - Σ y g). Mirrors ggml.c, SOFT_MAX without mask and sinks.
//! A row of minus infinities has no maximum to compare with; it gives zeros, not NaN.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, Place, Read, ShapeCx,
    Site, Storage, axis_param, forward, one,
};
use crate::graph::Value;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

const AXIS: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "softmax",
    aliases: &["soft_max"],
    ggml: "GGML_OP_SOFT_MAX",
    sign: None,
    formula: "y = e^a / Σ e^a",
    says: "Turns numbers into shares that add up to 1 along an axis.",
    arity: Arity::exactly(1),
    params: &[axis_param(ParamKind::Axis, Default::Int(-1))],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("y · (g − Σ y · g)", &[Read::Out])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = softmax(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = softmax(x, axis=1)",
        ],
        kink: None,
    },
    place: Place::here(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let axis = cx.params.int(AXIS).unwrap_or(-1);
    of.shape.resolve_axis(axis).ok_or(Reason::NoSuchAxis { axis, shape: of.shape })?;
    Ok(of.as_f32())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let shape = cx.ty.shape;
    let Some(axis) = shape.resolve_axis(cx.params.int(AXIS).unwrap_or(-1)) else { return };
    let Some(a) = cx.src.first() else { return };
    let n = shape.dim(axis) as usize;
    let step = shape.strides()[axis].max(1) as usize;
    let mut line = Vec::with_capacity(n);
    for (block, out) in a.data.chunks_exact((n * step).max(1)).zip(cx.out.chunks_exact_mut((n * step).max(1))) {
        for lane in 0..step {
            line.clear();
            line.extend(block.iter().skip(lane).step_by(step));
            let max = line.iter().fold(-T::INFINITY, |m, x| if *x > m { *x } else { m });
            if max == -T::INFINITY && line.iter().all(|x| !x.is_nan()) {
                continue;
            }
            for x in &mut line {
                *x = (*x - max).exp();
            }
            let total = kernels::sum(&line);
            for (o, x) in out.iter_mut().skip(lane).step_by(step).zip(&line) {
                *o = *x / total;
            }
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let axis = Value::Int(site.params.int(AXIS).unwrap_or(-1));
    let weighted = emit.op(OpKind::Mul, &[site.grad, site.node])?;
    let total = emit.with(OpKind::Sum, &[weighted], vec![axis, Value::Bool(true)])?;
    let centred = emit.op(OpKind::Sub, &[site.grad, total])?;
    one(emit.op(OpKind::Mul, &[centred, site.node])?)
}
