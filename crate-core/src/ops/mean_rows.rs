//! `mean_rows`: ggml's MEAN, over the last axis, which is kept as 1.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Emit, Flow, OpDef, ShapeCx, Site, Storage, forward,
    shape_value, one, Contribution, Differs, How, Mend,
};
use super::reduce;
use crate::graph::Value;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};
use crate::trace::Accum;

pub(super) const DEF: OpDef = OpDef {
    name: "mean_rows",
    aliases: &[],
    ggml: "GGML_OP_MEAN",
    sign: None,
    formula: "y = Σ a / n over the last axis",
    says: "Averages each row; the last axis is kept as 1.",
    arity: Arity::exactly(1),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g / n, copied", &[])],
    forward: forward!(value, Rows),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Rule(upstream),
        cite: "ggml.c:6762, MEAN case of the backward switch: joins through ADD1, which takes one number",
        mends: &[Mend {
            text: "mean_rows({0} + 0)",
            replaces: None,
            without: &[],
            note: "The sum is a node of its own, whose gradient is still empty.",
        }],
    }],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = mean_rows(x)"],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    reduce::reduced(of, &last(of.shape), true)
}

/// The last axis, where there is one.
fn last(shape: Shape) -> Vec<usize> {
    shape.rank().checked_sub(1).into_iter().collect()
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let shape = cx.shape(0);
    let n = T::from_f64(reduce::count(shape, &last(shape)));
    reduce::lines(cx, shape, &last(shape), |xs| kernels::sum(xs) / n);
}

fn share(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<crate::graph::NodeId, Reason> {
    let shape = site.shape(0);
    let part = Value::Num(1.0 / reduce::count(shape, &last(shape)));
    emit.with(OpKind::Scale, &[site.grad], vec![part])
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let part = share(emit, site)?;
    one(emit.with(OpKind::Repeat, &[part], vec![Value::None, shape_value(site.shape(0))])?)
}

fn upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let value = share(emit, site)?;
    Ok(vec![Contribution { src: 0, via: Accum::Add1, value, fold: false }])
}
