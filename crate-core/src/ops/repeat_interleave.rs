//! `repeat_interleave`, NumPy's `repeat`: every entry of an axis several times in a row (1 1 2 2, not 1 2 1 2).
//! d = the sum over each run. Not a ggml op; its `MUL_MAT` shares batches this way.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, ParamSpec,
    ShapeCx, Site, Storage, axis_param, forward, one,
};
use super::lines::{Around, axis_of};
use super::matmul::shaped;
use crate::graph::{Params, Value};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "repeat_interleave",
    aliases: &["np.repeat"],
    ggml: "",
    sign: None,
    formula: "y = a, each entry in a row",
    says: "Repeats every entry of an axis several times in a row.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("repeats", ParamKind::Int, Default::Required),
        axis_param(ParamKind::Axis, Default::Absent),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("Σ of g over each run", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1)\ny = repeat_interleave(x, 2, axis=0)",
            "param x [2,3] = rand(seed=2)\ny = repeat_interleave(x, repeats=3, axis=-1)",
            "param x [2,2] = rand(seed=3)\ny = repeat_interleave(x, 2)",
        ],
        kink: None,
    },
    place: here!(),
};

const REPEATS: usize = 0;
const AXIS: usize = 1;

fn repeats(params: &Params) -> Result<u32, Reason> {
    params
        .int(REPEATS)
        .and_then(|n| u32::try_from(n).ok())
        .ok_or(Reason::BadParam { param: "repeats", wants: "a count of 0 or more" })
}

/// The operand around the axis; without one it is flat.
fn around(params: &Params, of: Shape) -> Result<Around, Reason> {
    if params.int(AXIS).is_none() {
        return Ok(Around { outer: 1, n: of.n_elements() as usize, inner: 1 });
    }
    Ok(Around::new(of, axis_of(params, AXIS, 0, of)?))
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let times = repeats(cx.params)?;
    let bad = Reason::BadParam { param: "repeats", wants: "less" };
    if cx.params.int(AXIS).is_none() {
        let n = u32::try_from(of.shape.n_elements()).ok().and_then(|n| n.checked_mul(times));
        let shape = n.and_then(|n| Shape::new(&[n])).ok_or(bad)?;
        return Ok(TensorType::f32(shape));
    }
    let axis = axis_of(cx.params, AXIS, 0, of.shape)?;
    let extent = of.shape.dim(axis).checked_mul(times).ok_or(bad)?;
    Ok(TensorType { shape: of.shape.with_dim(axis, extent), ..of.as_f32() })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let (Ok(times), Some(a)) = (repeats(cx.params), cx.src.first()) else { return };
    let Ok(of) = around(cx.params, a.ty.shape) else { return };
    let run = of.inner * times as usize;
    if run == 0 {
        return;
    }
    for (entry, run) in a.data.chunks_exact(of.inner).zip(cx.out.chunks_exact_mut(run)) {
        for out in run.chunks_exact_mut(of.inner) {
            out.copy_from_slice(entry);
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let of = around(site.params, site.shape(0))?;
    let bad = Reason::BadShape { wants: "extents below 2^32", got: site.shape(0) };
    let runs = [of.outer, of.n, repeats(site.params)? as usize, of.inner];
    let dims: Option<Vec<u32>> = runs.iter().map(|d| u32::try_from(*d).ok()).collect();
    let split = dims.and_then(|d| Shape::new(&d)).ok_or(bad)?;
    let g = shaped(emit, site.grad, split)?;
    let sum = emit.with(OpKind::Sum, &[g], vec![Value::Int(2)])?;
    one(shaped(emit, sum, site.shape(0))?)
}
