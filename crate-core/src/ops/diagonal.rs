//! `diagonal`: the diagonals of square matrices as vectors. d = g on the diagonal, zeros elsewhere.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Emit, Flow, OpDef, ShapeCx, Site, Storage,
    forward, one,
};
use super::lines::renamed;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "diagonal",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y[i] = a[i,i]",
    says: "Takes the diagonals of square matrices.",
    arity: Arity::exactly(1),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g on the diagonal, else 0", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param x [3,3] = rand(seed=1)\ny = diagonal(x)",
            "param x [2,3,3] = rand(seed=2)\ny = diagonal(x)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let rank = of.shape.rank();
    if rank < 2 || of.shape.dim(rank - 1) != of.shape.dim(rank - 2) {
        return Err(Reason::BadShape { wants: "square matrices", got: of.shape });
    }
    let shape = Shape::new(of.shape.dims().get(..rank - 1).unwrap_or(&[])).unwrap_or(of.shape);
    Ok(TensorType { axes: renamed(of.axes, (0..rank - 1).map(Some)), ..TensorType::f32(shape) })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let n = cx.shape(0).padded()[3] as usize;
    let Some(a) = cx.src.first() else { return };
    if n == 0 {
        return;
    }
    for (row, line) in cx.out.chunks_exact_mut(n).zip(a.data.chunks_exact(n * n)) {
        for (o, x) in row.iter_mut().zip(line.iter().step_by(n + 1)) {
            *o = *x;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    // Rules without ranks take a row of one for the row itself: the elements are the same, and the driver gives the
    // shape back.
    one(emit.op(OpKind::Diag, &[site.grad])?)
}
