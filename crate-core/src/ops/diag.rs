//! `diag`: a vector becomes the diagonal of a matrix. d = the diagonal of g. ggml's DIAG has no backward.
//! ggml takes rows `[.., 1, n]` and gives `[.., n, n]`; where ranks are true, the new axis is added: `[.., n, n]`.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, OpDef, ShapeCx, Storage, forward, one,
};
use super::lines::renamed;
use super::matmul::shaped;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::{Broadcast, RuleSet};
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "diag",
    aliases: &["diag_embed", "diagflat"],
    ggml: "GGML_OP_DIAG",
    sign: None,
    formula: "y[i,i] = a[i], else 0",
    says: "Puts vectors on the diagonals of matrices of zeros.",
    arity: Arity::exactly(1),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("the diagonal of g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        let d = emit.op(OpKind::Diagonal, &[site.grad])?;
        one(shaped(emit, d, site.shape(0))?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no DIAG case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [3] = rand(seed=1)\ny = diag(x)",
            "param x [2,3] = rand(seed=2)\ny = diag(x)",
            "param x [2,1,3] = rand(seed=3)\ny = diag(x)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let rank = of.shape.rank();
    let Some(last) = rank.checked_sub(1) else {
        return Err(Reason::BadShape { wants: "at least one axis", got: of.shape });
    };
    let n = of.shape.dim(last);
    let as_row = cx.broadcast == Broadcast::Tile && rank > 1 && of.shape.dim(last - 1) == 1;
    let mut dims = of.shape.dims().to_vec();
    if as_row {
        dims.remove(last - 1);
    }
    dims.push(n);
    let shape = Shape::new(&dims)
        .ok_or(Reason::BadShape { wants: "an operand of at most three axes", got: of.shape })?;
    let lead = shape.rank() - 2;
    let axes = (0..shape.rank()).map(|axis| if axis < lead { Some(axis) } else { Some(last) });
    Ok(TensorType { axes: renamed(of.axes, axes), ..TensorType::f32(shape) })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(a) = cx.src.first() else { return };
    let n = cx.ty.shape.padded()[3] as usize;
    if n == 0 {
        return;
    }
    for (row, line) in a.data.chunks_exact(n).zip(cx.out.chunks_exact_mut(n * n)) {
        for (o, x) in line.iter_mut().step_by(n + 1).zip(row) {
            *o = *x;
        }
    }
}
