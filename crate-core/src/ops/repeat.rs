//! `repeat`: tiles a tensor up to a larger shape. d = the sum of the tiles. Mirrors ggml.c, REPEAT.
//! A second operand gives only its shape; attributes can give the counts or the shape instead.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, ShapeCx, Storage,
    Stretch, forward, one, shape_value,
};
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::tiles;
use crate::tensor::{MAX_RANK, Shape, TensorType};

const REPS: usize = 0;
const SHAPE: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "repeat",
    aliases: &["tile"],
    ggml: "GGML_OP_REPEAT",
    sign: None,
    formula: "y = a, tiled",
    says: "Copies a tensor side by side until it has the shape of the second operand.",
    arity: Arity { min: 1, max: 2 },
    params: &[
        ParamSpec::new("reps", ParamKind::Ints, Default::Absent).or(&["repeats"]),
        ParamSpec::new("shape", ParamKind::Ints, Default::Absent),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("Σ of the tiles of g", &[]), Flow::Ignored("only its shape is used")],
    forward: forward!(value, Stretch),
    backward: Backward::Rule(|emit, site| {
        let target = vec![shape_value(site.shape(0))];
        one(emit.with(OpKind::RepeatBack, &[site.grad], target)?)
    }),
    differs: &[],
    check: Check {
        samples: &[
            "param x [1,3] = rand(seed=1, lo=-2, hi=2)\nconst t [4,6] = 0\ny = repeat(x, t)",
            "param x [2,1] = rand(seed=2, lo=-2, hi=2)\ny = repeat(x, reps=[2,3])",
            "param x [2] = rand(seed=3, lo=-2, hi=2)\ny = repeat(x, shape=[3,4])",
        ],
        kink: None,
    },
    place: here!(),
};

/// The shape that an attribute gives.
pub(super) fn shape_param(params: &Params, ix: usize) -> Result<Option<Shape>, Reason> {
    let bad = Reason::BadParam { param: "shape", wants: "at most four extents of 0 or more" };
    let Some(list) = params.ints(ix) else { return Ok(None) };
    let dims: Option<Vec<u32>> = list.iter().map(|d| u32::try_from(*d).ok()).collect();
    match dims.and_then(|d| Shape::new(&d)) {
        Some(shape) => Ok(Some(shape)),
        None => Err(bad),
    }
}

/// Whether a tensor of the first shape tiles up to the second.
pub(super) fn tiles_to(small: Shape, large: Shape) -> bool {
    small.padded().iter().zip(large.padded()).all(|(s, l)| tiles(*s, l))
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let (target, axes) = if let Some(like) = cx.src.get(1) {
        (like.shape, like.axes)
    } else if let Some(shape) = shape_param(cx.params, SHAPE)? {
        (shape, [None; MAX_RANK])
    } else if let Some(reps) = cx.params.ints(REPS) {
        (counted(of.shape, &reps)?, [None; MAX_RANK])
    } else {
        return Err(Reason::BadParam { param: "reps", wants: "given, or a second operand" });
    };
    if !tiles_to(of.shape, target) {
        return Err(Reason::NotBroadcastable { a: target, b: of.shape });
    }
    Ok(TensorType { axes, ..TensorType::f32(target) })
}

/// The shape times counts, aligned to the right, as NumPy's `tile`.
fn counted(of: Shape, reps: &[i64]) -> Result<Shape, Reason> {
    let bad = || Reason::BadParam { param: "reps", wants: "at most four counts of 0 or more" };
    let rank = of.rank().max(reps.len());
    let mut dims = Vec::with_capacity(MAX_RANK);
    for axis in 0..rank {
        let d = (axis + of.rank()).checked_sub(rank).map_or(1, |ix| of.dim(ix));
        let n = (axis + reps.len()).checked_sub(rank).and_then(|ix| reps.get(ix)).copied().unwrap_or(1);
        let n = u32::try_from(n).ok().ok_or_else(bad)?;
        dims.push(d.checked_mul(n).ok_or_else(bad)?);
    }
    Shape::new(&dims).ok_or_else(bad)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(a) = cx.src.first() else { return };
    let dims = cx.ty.shape.padded().map(|d| d as usize);
    if let [x] = a.data {
        return cx.out.fill(*x);
    }
    let at = Stretch::new(a.ty.shape);
    for (row, line) in cx.out.chunks_exact_mut(dims[3].max(1)).enumerate() {
        let outer = [row / (dims[2] * dims[1]), (row / dims[2]) % dims[1], row % dims[2]];
        match at.row(a.data, outer) {
            [x] => line.fill(*x),
            tile => {
                for part in line.chunks_exact_mut(tile.len().max(1)) {
                    part.copy_from_slice(tile);
                }
            }
        }
    }
}
