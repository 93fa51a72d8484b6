//! `concat`: joins tensors along an axis. d = the parts of g. ggml's CONCAT has no backward.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ShapeCx, Site, Storage, axis_param, forward,
};
use super::lines::{Around, axis_of, entire, send};
use crate::graph::{Index, Value};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "concat",
    aliases: &["concatenate", "cat"],
    ggml: "GGML_OP_CONCAT",
    sign: None,
    formula: "y = a, b, .. along an axis",
    says: "Joins tensors along an axis they already have.",
    arity: Arity { min: 1, max: usize::MAX },
    params: &[axis_param(ParamKind::Axis, Default::Int(0))],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("its part of g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no CONCAT case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param a [2,3] = rand(seed=1)\nparam b [1,3] = rand(seed=2)\ny = concat(a, b)",
            "param a [2,1,2] = rand(seed=3)\nparam b [2,3,2] = rand(seed=4)\ny = concat(a, b, a, axis=1)",
            "param a [2] = rand(seed=5)\nparam b [3] = rand(seed=6)\ny = concat(a, b, axis=-1)",
        ],
        kink: None,
    },
    place: here!(),
};

const AXIS: usize = 0;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let axis = axis_of(cx.params, AXIS, 0, of.shape)?;
    let mut extent = 0u32;
    for t in cx.src {
        let same = t.shape.rank() == of.shape.rank()
            && t.shape.with_dim(axis, 0) == of.shape.with_dim(axis, 0);
        if !same {
            return Err(Reason::ShapesDisagree {
                wants: "operands that differ along the axis alone",
                a: of.shape,
                b: t.shape,
            });
        }
        extent = extent.checked_add(t.shape.dim(axis)).ok_or(Reason::BadShape {
            wants: "extents that add up to less than 2^32",
            got: t.shape,
        })?;
    }
    Ok(TensorType { shape: of.shape.with_dim(axis, extent), ..of.as_f32() })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let shape = cx.ty.shape;
    let Ok(axis) = axis_of(cx.params, AXIS, 0, shape) else { return };
    let all = Around::new(shape, axis);
    let mut from = 0;
    for src in cx.src {
        let part = Around::new(src.ty.shape, axis);
        let len = part.n * part.inner;
        for (block, piece) in src.data.chunks_exact(len.max(1)).enumerate() {
            let start = (block * all.n + from) * all.inner;
            if let Some(out) = cx.out.get_mut(start..start + len) {
                out.copy_from_slice(piece);
            }
        }
        from += part.n;
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let axis = axis_of(site.params, AXIS, 0, site.ty.shape)?;
    let mut out = Vec::new();
    let mut from = 0;
    for src in 0..site.src.len() {
        let to = from + i64::from(site.shape(src).dim(axis));
        if site.wants(src) {
            let mut index = vec![entire(); axis];
            index.push(Index::Range { start: Some(from), stop: Some(to), step: None });
            let part = emit.with(OpKind::Slice, &[site.grad], vec![Value::Index(index.into())])?;
            out.push(send(src, part));
        }
        from = to;
    }
    Ok(out)
}
