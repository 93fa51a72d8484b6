//! `mean` over axes: d = g / n, copied along what was averaged. ggml's MEAN, over the last axis, is `mean_rows`.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, KEEPDIMS, OpDef, ParamKind,     ShapeCx, Site, Storage, axis_param, forward, one, resolve_axes, shape_value,
};
use super::reduce;
use crate::graph::Value;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

const AXIS: usize = 0;
const KEEP: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "mean",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = Σ a / n",
    says: "Averages, over every axis or the named ones.",
    arity: Arity::exactly(1),
    params: &[axis_param(ParamKind::Axes, Default::Absent), KEEPDIMS],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g / n, copied", &[])],
    forward: forward!(value, Lines(AXIS)),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = mean(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = mean(x, axis=-2)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    reduce::shape(cx, AXIS, cx.params.flag(KEEP))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let shape = cx.shape(0);
    if let Ok(axes) = resolve_axes(cx.params, AXIS, shape) {
        let n = T::from_f64(reduce::count(shape, &axes));
        reduce::lines(cx, shape, &axes, |xs| kernels::sum(xs) / n);
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let shape = site.shape(0);
    let axes = resolve_axes(site.params, AXIS, shape)?;
    let kept = reduce::keep(emit, site.grad, shape, &axes)?;
    let share = vec![Value::Num(1.0 / reduce::count(shape, &axes))];
    let part = emit.with(OpKind::Scale, &[kept], share)?;
    one(emit.with(OpKind::Repeat, &[part], vec![Value::None, shape_value(shape)])?)
}
