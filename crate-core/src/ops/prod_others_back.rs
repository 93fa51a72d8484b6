//! `prod_others_back(a, b)` over axes: the gradient of `prod_others` at `a` for the cotangent `b`, Σ over i ≠ k of
//! `b_i` times the product of all but i and k. One walk from each side: products that carry their slope along b.
//! Not a ggml op.

use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, Read, ShapeCx, Storage,
    axis_param, forward, resolve_axes,
};
use super::reduce;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

const AXIS: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "prod_others_back",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y_k = Σ_{i≠k} b_i · Π_{j≠i,k} a_j",
    says: "The gradient of prod_others.",
    arity: Arity::exactly(2),
    params: &[axis_param(ParamKind::Axes, Default::Absent)],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("third derivative of a product", &[Read::Src(0), Read::Src(1)]),
        Flow::carries("g, through prod_others_back again", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Missing("third derivatives of a product are not built"),
    differs: &[],
    check: Check {
        samples: &[
            "const x [2,3] = rand(seed=1, lo=-2, hi=2)\nconst g [2,3] = rand(seed=2, lo=-2, hi=2)\nparam w [2,3] = rand(seed=3)\ny = prod_others_back(x, g, axis=1) * w",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    if !a.shape.same_extents(&b.shape) {
        let wants = "operands of one shape";
        return Err(Reason::ShapesDisagree { wants, a: a.shape, b: b.shape });
    }
    cx.axes(AXIS, a.shape)?;
    Ok(a.as_f32())
}

/// A product and its slope when each factor moves along `b`.
#[derive(Clone, Copy)]
struct Moving<T> {
    value: T,
    slope: T,
}

impl<T: Real> Moving<T> {
    fn times(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            slope: self.value * other.slope + self.slope * other.value,
        }
    }
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, b] = cx.src else { return };
    let Ok(axes) = resolve_axes(cx.params, AXIS, a.ty.shape) else { return };
    let lines = reduce::Lines::new(a.ty.shape, &axes);
    let (mut xs, mut gs) = (Vec::new(), Vec::new());
    let one = Moving { value: T::ONE, slope: T::ZERO };
    for start in &lines.starts {
        lines.gather(*start, a.data, &mut xs);
        lines.gather(*start, b.data, &mut gs);
        let factors: Vec<Moving<T>> =
            xs.iter().zip(&gs).map(|(x, g)| Moving { value: *x, slope: *g }).collect();
        let mut product = one;
        let mut step = |f: &Moving<T>| {
            let held = product;
            product = held.times(*f);
            held
        };
        let mut after: Vec<Moving<T>> = factors.iter().rev().map(&mut step).collect();
        after.reverse();
        let mut before = one;
        for ((x, f), after) in xs.iter_mut().zip(&factors).zip(&after) {
            *x = before.times(*after).slope;
            before = before.times(*f);
        }
        lines.scatter(*start, &xs, cx.out);
    }
}
