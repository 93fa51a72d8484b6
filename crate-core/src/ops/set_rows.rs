//! `set_rows`: a copy of a with the rows that ids name overwritten by those of b; of two writes the last holds.
//! da = g without the overwritten rows, db = the rows of g, 0 for a write that did not hold. Mirrors ggml.c, `SET_ROWS`,
//! which always writes over its destination and has no backward; the text's `set_rows!` is that one.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read,
    ShapeCx, Site, Storage, forward, shape_value,
};
use super::lines::send;
use super::rows;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "set_rows",
    aliases: &[],
    ggml: "GGML_OP_SET_ROWS",
    sign: None,
    formula: "y = a, with y[.., c[.., i], :] = b[.., i, :]",
    says: "Copies the first operand and overwrites the rows that ids name with the second's. An id out of range writes nowhere.",
    arity: Arity::exactly(3),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[
        Flow::carries("g, with the rows at c zeroed", &[Read::Src(2)]),
        Flow::carries("the rows of g at c", &[Read::Src(2)]),
        Flow::Ignored("ids have no gradient"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no SET_ROWS case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param a [4,3] = rand(seed=1)\nparam b [2,3] = rand(seed=2)\nconst i [2] i32 = [3, 1]\ny = set_rows(a, b, i)",
            "param a [4,3] = rand(seed=3)\nparam b [3,3] = rand(seed=4)\nconst i [3] i32 = [3, 1, 3]\ny = set_rows(a, b, i)",
            "param a [2,3,2] = rand(seed=5)\nparam b [2,2,2] = rand(seed=6)\nconst i [1,2] i32 = [[2, 0]]\ny = set_rows(a, b, i)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    rows::written(a.shape, b.shape, cx.dims(2))?;
    Ok(a.as_f32())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
    let [a, b, ids] = cx.src else { return };
    let n = a.ty.shape.padded()[3] as usize;
    if n == 0 {
        return;
    }
    for (row, to) in b.data.chunks_exact(n).zip(rows::places(a.ty.shape, b.ty.shape, ids)) {
        if let Some(out) = to.and_then(|to| cx.out.get_mut(to..to + n)) {
            out.copy_from_slice(row);
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let ids = site.src(2);
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        let zero = emit.fill(TensorType::f32(site.shape(1)), 0.0)?;
        out.push(send(0, emit.op(OpKind::SetRows, &[site.grad, zero, ids])?));
    }
    if site.wants(1) {
        let params = vec![shape_value(site.shape(1))];
        out.push(send(1, emit.with(OpKind::SetRowsBack, &[site.grad, ids], params)?));
    }
    Ok(out)
}
