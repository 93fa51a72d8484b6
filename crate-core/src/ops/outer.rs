//! `outer`: every element of a vector with every element of another. da = g b, db = gᵀ a. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Emit, Flow, OpDef, Read, ShapeCx, Site,
    Storage, forward,
};
use super::lines::send;
use super::matmul::{flipped, shaped};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "outer",
    aliases: &["ger"],
    ggml: "",
    sign: None,
    formula: "y[i, j] = a[i] · b[j]",
    says: "Multiplies every element of the first with every element of the second; both are taken flat.",
    arity: Arity::exactly(2),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g b", &[Read::Src(1)]), Flow::carries("gᵀ a", &[Read::Src(0)])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param a [3] = rand(seed=1, lo=-1, hi=1)\nparam b [2] = rand(seed=2, lo=-1, hi=1)\ny = outer(a, b)",
            "param a [2,2] = rand(seed=3, lo=-1, hi=1)\nparam b [3] = rand(seed=4, lo=-1, hi=1)\ny = outer(a, b)",
        ],
        kink: None,
    },
    place: here!(),
};

fn length(of: Shape) -> Result<u32, Reason> {
    let too_long = Reason::BadShape { wants: "fewer than 2^32 elements", got: of };
    u32::try_from(of.n_elements()).ok().ok_or(too_long)
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    let shape = Shape::new(&[length(a.shape)?, length(b.shape)?]).unwrap_or(a.shape);
    let name = |t: TensorType| if t.shape.rank() == 1 { t.axes[0] } else { None };
    let axes = [name(a), name(b), None, None];
    Ok(TensorType { axes, ..TensorType::f32(shape) })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, b] = cx.src else { return };
    for (line, x) in cx.out.chunks_exact_mut(b.data.len().max(1)).zip(a.data) {
        for (o, y) in line.iter_mut().zip(b.data) {
            *o = *x * *y;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    for (ix, other) in [(0, 1), (1, 0)] {
        if site.wants(ix) {
            let flat = Shape::new(&[length(site.shape(other))?]).unwrap_or(Shape::SCALAR);
            let vector = shaped(emit, site.src(other), flat)?;
            let g = if ix == 0 { site.grad } else { flipped(emit, site.grad)? };
            let d = emit.op(OpKind::Matmul, &[g, vector])?;
            out.push(send(ix, shaped(emit, d, site.shape(ix))?));
        }
    }
    Ok(out)
}
