//! `tri`, ggml's TRI: keeps a triangle of each matrix, zeros elsewhere. d = the same triangle of g.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Differs, Flow, How, OpDef, ParamKind, ParamSpec,     ShapeCx, Storage, forward, one,
};
use super::triangle;
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "tri",
    aliases: &[],
    ggml: "GGML_OP_TRI",
    sign: None,
    formula: "y = a where i, j in the triangle, else 0",
    says: "Keeps a triangle of each matrix: lower, lower_diag, upper or upper_diag.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("kind", ParamKind::Text, Default::Required).or(&["type"])],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("the same triangle of g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        one(emit.with(OpKind::Tri, &[site.grad], site.params.values().to_vec())?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no TRI case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [3,3] = rand(seed=1)\ny = tri(x, \"lower\")",
            "param x [2,3,3] = rand(seed=2)\ny = tri(x, kind=\"lower_diag\")",
            "param x [3,3] = rand(seed=3)\ny = tri(x, kind=\"upper\")",
            "param x [2,3] = rand(seed=4)\ny = tri(x, kind=\"upper_diag\")",
        ],
        kink: None,
    },
    place: here!(),
};

/// Whether the triangle has the element in this column and row.
fn keeps(params: &Params) -> Result<fn(usize, usize) -> bool, Reason> {
    match params.text(0) {
        Some("lower") => Ok(|col, row| col < row),
        Some("lower_diag") => Ok(|col, row| col <= row),
        Some("upper") => Ok(|col, row| col > row),
        Some("upper_diag") => Ok(|col, row| col >= row),
        _ => Err(Reason::BadParam {
            param: "kind",
            wants: "\"lower\", \"lower_diag\", \"upper\" or \"upper_diag\"",
        }),
    }
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    keeps(cx.params)?;
    triangle::shape(cx)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Ok(keeps) = keeps(cx.params) else { return };
    triangle::keep(cx, T::ZERO, keeps);
}
