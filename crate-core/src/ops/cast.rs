//! `cast(x, dtype=f16)`: the same numbers in another storage type. d = g, as if nothing had been rounded; whole
//! numbers and truth values do not move with what they are made from, so nothing flows back from them. Mirrors
//! ggml.c, CPY into a tensor of its own.

use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, ShapeCx,
    Storage, forward, one,
};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{DType, TensorType};

const DTYPE: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "cast",
    aliases: &["astype", "to"],
    ggml: "GGML_OP_CPY",
    sign: None,
    formula: "y = a, stored as another type",
    says: "Stores the numbers as another type: f32, f16, bf16, i32 or bool.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("dtype", ParamKind::Text, Default::Required).or(&["type"])],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|_, site| one(site.grad)),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = cast(x, dtype=f16)",
            "param x [2,3] f16 = rand(seed=2, lo=-2, hi=2)\ny = cast(x, dtype=f32)",
            "param x [2,3] = rand(seed=3, lo=-2, hi=2)\ny = x * cast(x, dtype=i32)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let bad = Reason::BadParam { param: "dtype", wants: "f32, f16, bf16, i32 or bool" };
    let dtype = cx.params.text(DTYPE).and_then(named).ok_or(bad)?;
    Ok(TensorType { dtype, ..cx.ty(0) })
}

/// The type that a word names, in our words or in NumPy's and PyTorch's.
fn named(word: &str) -> Option<DType> {
    DType::by_name(word).or(match word {
        "float32" | "float" => Some(DType::F32),
        "float16" | "half" => Some(DType::F16),
        "bfloat16" => Some(DType::Bf16),
        "int32" | "int" => Some(DType::I32),
        _ => None,
    })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    match cx.ty.dtype {
        // Storage rounds floats when the value is put there.
        DType::F32 | DType::F16 | DType::Bf16 => cx.copy(),
        DType::I32 => cx.map(Real::trunc),
        DType::Bool => cx.map(|x| if x == T::ZERO { T::ZERO } else { T::ONE }),
    }
}
