//! `count_equal(a, b)`: in how many places two tensors agree. A count carries no gradient. Mirrors ggml.c,
//! `COUNT_EQUAL`.

use super::def::{Arity, Backward, Check, Cx, Flow, OpDef, ShapeCx, Storage, forward};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{DType, Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "count_equal",
    aliases: &[],
    ggml: "GGML_OP_COUNT_EQUAL",
    sign: None,
    formula: "y = Σ [a = b]",
    says: "In how many places two tensors agree; a count, which carries no gradient.",
    arity: Arity::exactly(2),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::Ignored("a count has no gradient")],
    forward: forward!(value),
    backward: Backward::Zero("a count has no gradient"),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\nconst t [2,3] = [[1,0,1],[0,0,1]]\ny = x * count_equal(step(x), t)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.dims(0), cx.dims(1));
    if !a.same_extents(&b) {
        return Err(Reason::ShapesDisagree { wants: "operands of one shape", a, b });
    }
    Ok(TensorType { dtype: DType::I32, ..TensorType::f32(Shape::SCALAR) })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let (a, b) = (cx.data(0), cx.data(1));
    let same = a.iter().zip(b).filter(|(x, y)| x == y).count();
    if let Some(o) = cx.out.first_mut() {
        *o = T::from_f64(same as f64);
    }
}
