//! `group_norm`: the channels, the third axis from the right as in ggml, split into groups; each group with all
//! that lies to the right is normalised as one row. d = as for `norm`, on those rows. ggml computes it and has no
//! backward for it.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, Read, ShapeCx, Site, Storage, axis_param, forward, one, shape_value,
};
use super::normal::{self, Mean};
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

const GROUPS: usize = 0;
const EPS: usize = 1;
const AXIS: usize = 2;

pub(super) const DEF: OpDef = OpDef {
    name: "group_norm",
    aliases: &[],
    ggml: "GGML_OP_GROUP_NORM",
    sign: None,
    formula: "y = (a − mean) / √(variance + eps), group by group",
    says: "Takes the mean off each group of channels and brings it to size 1.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("groups", ParamKind::Int, Default::Required).or(&["num_groups", "n_groups"]),
        ParamSpec::new("eps", ParamKind::Num, Default::Num(1e-5)),
        axis_param(ParamKind::Axis, Default::Int(-3)),
    ],
    shape,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries(
        "r · (g − mean g − y · mean(y · g)), group by group",
        &[Read::Src(0), Read::Out],
    )],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no GROUP_NORM case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,4,2,3] = rand(seed=1, lo=-2, hi=2)\ny = group_norm(x, groups=2)",
            "param x [2,6,3] = rand(seed=5, lo=-2, hi=2)\ny = group_norm(x, groups=3, eps=0.1, axis=1)",
        ],
        kink: None,
    },
    place: here!(),
};

/// The operand as rows, one a group.
fn rows(of: Shape, params: &Params) -> Result<Shape, Reason> {
    let axis = params.int(AXIS).unwrap_or(-3);
    let at = of.resolve_axis(axis).ok_or(Reason::NoSuchAxis { axis, shape: of })?;
    let channels = of.dim(at);
    let bad = Reason::BadParam { param: "groups", wants: "a count that divides the channels" };
    let groups = params.int(GROUPS).and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
    let groups = groups.filter(|n| channels.is_multiple_of(*n)).ok_or(bad.clone())?;
    let product = |dims: &[u32]| dims.iter().fold(1u32, |n, d| n.saturating_mul(*d));
    let (outer, inner) = of.dims().split_at(at);
    let rows = product(outer).saturating_mul(groups);
    Shape::new(&[rows, product(inner) / groups]).ok_or(bad)
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    rows(cx.dims(0), cx.params)?;
    Ok(cx.ty(0).as_f32())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(a) = cx.src.first() else { return };
    let Ok(shape) = rows(a.ty.shape, cx.params) else { return };
    let n = shape.dim(1).max(1) as usize;
    for (out, row) in cx.out.chunks_exact_mut(n).zip(a.data.chunks_exact(n)) {
        normal::row(row, out, Mean::Off, cx.params.num(EPS).unwrap_or(1e-5));
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let shape = rows(site.shape(0), site.params)?;
    let mut as_rows = [site.src(0), site.node, site.grad];
    for node in &mut as_rows {
        *node = emit.with(OpKind::Reshape, &[*node], vec![shape_value(shape)])?;
    }
    let eps = site.params.num(EPS).unwrap_or(1e-5);
    let grad = normal::back(emit, as_rows, Mean::Off, eps)?;
    one(emit.with(OpKind::Reshape, &[grad], vec![shape_value(site.shape(0))])?)
}
