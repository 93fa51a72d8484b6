//! `argmin` along one axis, or over all elements where none is named. Where the least element is does not change
//! while it moves a little, so no gradient flows. Not a ggml op.

use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, KEEPDIMS, OpDef, ParamKind, ShapeCx, Storage,
    axis_param, forward, resolve_axes,
};
use super::reduce;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{DType, TensorType};

const AXIS: usize = 0;
const KEEP: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "argmin",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = place of the least a",
    says: "The place of the least element, the first of several; an index, which carries no gradient.",
    arity: Arity::exactly(1),
    params: &[axis_param(ParamKind::Axis, Default::Absent), KEEPDIMS],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::Ignored("an index has no gradient")],
    forward: forward!(value),
    backward: Backward::Zero("an index has no gradient"),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = x * argmin(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = x * argmin(x, axis=1, keepdims=true)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.dims(0);
    if of.n_elements() == 0 {
        return Err(Reason::BadShape { wants: "at least one element to choose from", got: of });
    }
    let ty = reduce::shape(cx, AXIS, cx.params.flag(KEEP))?;
    Ok(TensorType { dtype: DType::I32, ..ty })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let shape = cx.shape(0);
    if let Ok(axes) = resolve_axes(cx.params, AXIS, shape) {
        reduce::lines(cx, shape, &axes, |xs| T::from_f64(place(xs) as f64));
    }
}

/// The first place of the least element; a NaN is every extreme, as in NumPy.
fn place<T: Real>(xs: &[T]) -> usize {
    let mut best = 0;
    for (ix, x) in xs.iter().enumerate().skip(1) {
        let held = xs.get(best).copied().unwrap_or(T::ZERO);
        if !held.is_nan() && (*x < held || x.is_nan()) {
            best = ix;
        }
    }
    best
}
