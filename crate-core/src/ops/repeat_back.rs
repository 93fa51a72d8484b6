//! `repeat_back`: the adjoint of `repeat`. Adds up the tiles of a tensor down to a smaller shape.
//! d = g, tiled. Mirrors ggml.c, REPEAT_BACK.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, ShapeCx, Storage,
    forward, one, shape_value,
};
#[cfg(feature = "full")]
use super::reduce;
use super::repeat::{shape_param, tiles_to};
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{MAX_RANK, TensorType};

const SHAPE: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "repeat_back",
    aliases: &[],
    ggml: "GGML_OP_REPEAT_BACK",
    sign: None,
    formula: "y = Σ of the tiles of a",
    says: "Adds up the tiles of a tensor until it has the shape of the second operand.",
    arity: Arity { min: 1, max: 2 },
    params: &[ParamSpec::new("shape", ParamKind::Ints, Default::Absent)],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, tiled", &[]), Flow::Ignored("only its shape is used")],
    forward: forward!(value, Fold),
    backward: Backward::Rule(|emit, site| {
        let target = vec![Value::None, shape_value(site.shape(0))];
        one(emit.with(OpKind::Repeat, &[site.grad], target)?)
    }),
    differs: &[],
    check: Check {
        samples: &[
            "param x [4,6] = rand(seed=1, lo=-2, hi=2)\nconst t [2,3] = 0\ny = repeat_back(x, t)",
            "param x [2,3,4] = rand(seed=2, lo=-2, hi=2)\ny = repeat_back(x, shape=[1,2])",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let (target, axes) = match (cx.src.get(1), shape_param(cx.params, SHAPE)?) {
        (Some(like), _) => (like.shape, like.axes),
        (None, Some(shape)) => (shape, [None; MAX_RANK]),
        (None, None) => {
            return Err(Reason::BadParam { param: "shape", wants: "given, or a second operand" });
        }
    };
    if !tiles_to(target, of.shape) {
        return Err(Reason::NotBroadcastable { a: of.shape, b: target });
    }
    Ok(TensorType { axes, ..TensorType::f32(target) })
}

/// Every element that is a copy of one and the same lands in one of eight stripes, by its turn; the stripes
/// are folded pairwise, as in every other reduction.
fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(a) = cx.src.first() else { return };
    let from = a.ty.shape.padded().map(|d| d as usize);
    let to = cx.ty.shape.padded().map(|d| d as usize);
    if to.contains(&0) {
        return;
    }
    let reps = [0, 1, 2, 3].map(|x| from[x] / to[x]);
    #[cfg(feature = "full")]
    if to == [1, 1, 1, from[3]] {
        return reduce::columns(a.data, cx.out);
    }
    #[cfg(feature = "full")]
    if to == [from[0], from[1], from[2], 1] {
        return crate::kernels::row_sums(&crate::kernels::Terms::Plain(a.data), false, from[3], cx.out);
    }
    let mut line = Vec::with_capacity(reps.iter().product());
    for (at, o) in cx.out.iter_mut().enumerate() {
        let i = [
            at / (to[1] * to[2] * to[3]),
            (at / (to[2] * to[3])) % to[1],
            (at / to[3]) % to[2],
            at % to[3],
        ];
        line.clear();
        for r0 in 0..reps[0] {
            for r1 in 0..reps[1] {
                for r2 in 0..reps[2] {
                    let row = ((r0 * to[0] + i[0]) * from[1] + r1 * to[1] + i[1]) * from[2] + r2 * to[2] + i[2];
                    let start = row * from[3];
                    let row = a.data.get(start..start + from[3]).unwrap_or(&[]);
                    line.extend(row.iter().skip(i[3]).step_by(to[3]));
                }
            }
        }
        *o = crate::kernels::sum(&line);
    }
}
