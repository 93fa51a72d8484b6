//! `one_hot`: a 1 where the index points, zeros elsewhere. No gradient: indices are not moved by a small step.

use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, ShapeCx,
    Storage, forward,
};
use super::pick;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "one_hot",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y[.., i] = 1 where i = a, else 0",
    says: "Turns each index into a row of zeros with a 1 where it points.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("n", ParamKind::Int, Default::Required).or(&["num_classes", "depth"])],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::Ignored("indices have no gradient")],
    forward: forward!(value),
    backward: Backward::Zero("indices have no gradient"),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1)\nconst i [2] i32 = [2, 0]\ny = one_hot(i, 3) * x"],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let n = cx.params.int(0).and_then(|n| u32::try_from(n).ok());
    let mut dims = of.shape.dims().to_vec();
    dims.push(n.ok_or(Reason::BadParam { param: "n", wants: "a count of 0 or more" })?);
    let shape =
        Shape::new(&dims).ok_or(Reason::BadShape { wants: "at most three axes", got: of.shape })?;
    Ok(TensorType { axes: of.axes, ..TensorType::f32(shape) })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let n = cx.ty.shape.padded()[3] as usize;
    let Some(a) = cx.src.first() else { return };
    if n == 0 {
        return;
    }
    for (row, id) in cx.out.chunks_exact_mut(n).zip(a.data) {
        if let Some(o) = pick::at(*id, n).and_then(|at| row.get_mut(at)) {
            *o = T::ONE;
        }
    }
}
