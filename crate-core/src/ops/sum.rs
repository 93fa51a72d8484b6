//! `sum` over axes: d = g, copied along what was summed. Without `axis` it is ggml's SUM; mirrors ggml.c, SUM.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, KEEPDIMS, OpDef, ParamKind,
    ShapeCx, Site, Storage, When, Wrong, axis_param, forward, one, resolve_axes, shape_value,
};
use super::reduce;
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

const AXIS: usize = 0;
const KEEP: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "sum",
    aliases: &[],
    ggml: "GGML_OP_SUM",
    sign: None,
    formula: "y = Σ a",
    says: "Adds up, over every axis or the named ones.",
    arity: Arity::exactly(1),
    params: &[axis_param(ParamKind::Axes, Default::Absent), KEEPDIMS],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, copied", &[])],
    forward: forward!(value, Sum(AXIS)),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Wrong(Wrong {
            rule,
            what: "its value is wrong there: it reads each row of a transposed source as if it were packed",
            when: When::Built(strides_in_rows),
        }),
        cite: "ggml-cpu, SUM checks that rows are packed in debug builds only",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = sum(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = sum(x, axis=1)",
            "param x [2,3,2] = rand(seed=3, lo=-2, hi=2)\ny = sum(x, axis=[0,2], keepdims=true)",
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
        #[cfg(feature = "full")]
        if reduce::are_leading(shape, &axes) {
            let rows = cx.src.first().map_or(&[][..], |a| a.data);
            return reduce::columns(rows, cx.out);
        }
        reduce::sums(cx, shape, &axes);
    }
}

/// Whether the elements of a row do not stand side by side (B28).
fn strides_in_rows(site: &Site<'_>) -> bool {
    let last = site.shape(0).rank().wrapping_sub(1);
    let step = site.src_view.first().and_then(|view| view.strides.get(last));
    site.params.ints(AXIS).is_none() && site.shape(0).dim(last) > 1 && step.is_some_and(|s| *s != 1)
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let shape = site.shape(0);
    let axes = resolve_axes(site.params, AXIS, shape)?;
    let kept = reduce::keep(emit, site.grad, shape, &axes)?;
    one(emit.with(OpKind::Repeat, &[kept], vec![Value::None, shape_value(shape)])?)
}
