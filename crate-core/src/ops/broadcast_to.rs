//! `broadcast_to`: stretches axes of 1, and adds axes on the left. d = the sum over what was stretched.
//! NumPy's meaning under every rule set; ggml's REPEAT, which tiles, is `repeat`.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, ParamSpec,
    ShapeCx, Site, Storage, forward, one,
};
use super::lines::renamed;
use super::matmul::shaped;
use super::window;
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "broadcast_to",
    aliases: &["expand", "expand_as"],
    ggml: "",
    sign: None,
    formula: "y = a, stretched",
    says: "Stretches axes of 1 and adds axes on the left, until a tensor has another shape.",
    arity: Arity { min: 1, max: 2 },
    params: &[ParamSpec::new("shape", ParamKind::Ints, Default::Absent).or(&["size", "sizes"])],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("Σ of g over what was stretched", &[]),
        Flow::Ignored("only its shape is used"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param x [1,3] = rand(seed=1)\ny = broadcast_to(x, shape=[2,3])",
            "param x [3] = rand(seed=2)\ny = broadcast_to(x, [2,4,3])",
            "param x [2,1,1] = rand(seed=3)\nconst t [3,2,2,4] = 0\ny = broadcast_to(x, t)",
            "param x [] = 0.5\ny = broadcast_to(x, shape=[2,2])",
        ],
        kink: None,
    },
    place: here!(),
};

const SHAPE: usize = 0;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let bad =
        || Reason::BadParam { param: "shape", wants: "at most four extents, or a second operand" };
    let target = if let Some(like) = cx.src.get(1) {
        like.shape
    } else {
        let asked = cx.params.ints(SHAPE).ok_or_else(bad)?;
        let lead = asked.len().checked_sub(of.shape.rank()).ok_or_else(bad)?;
        // -1 keeps the extent, as PyTorch's `expand` has it.
        let extent = |(axis, d): (usize, i64)| match axis.checked_sub(lead) {
            Some(own) if d == -1 => Ok(of.shape.dim(own)),
            _ => u32::try_from(d).ok().ok_or_else(bad),
        };
        let dims: Result<Vec<u32>, Reason> = asked.into_iter().enumerate().map(extent).collect();
        Shape::new(&dims?).ok_or_else(bad)?
    };
    let fits = of.shape.padded().iter().zip(target.padded()).all(|(a, t)| *a == t || *a == 1);
    let Some(lead) = target.rank().checked_sub(of.shape.rank()).filter(|_| fits) else {
        return Err(Reason::NotBroadcastable { a: target, b: of.shape });
    };
    let axes = renamed(of.axes, (0..target.rank()).map(|axis| axis.checked_sub(lead)));
    Ok(TensorType { axes, ..TensorType::f32(target) })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(a) = cx.src.first() else { return };
    for (o, x) in cx.out.iter_mut().zip(window::stretched(a.data, a.ty.shape, cx.ty.shape)) {
        *o = x;
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (of, to) = (site.shape(0), site.ty.shape);
    let lead = to.rank() - of.rank();
    let stretched = |axis: usize| match axis.checked_sub(lead) {
        Some(own) => of.dim(own) != to.dim(axis),
        None => true,
    };
    let axes: Vec<i64> = (0..to.rank()).filter(|a| stretched(*a)).map(|a| a as i64).collect();
    let mut d = site.grad;
    if !axes.is_empty() {
        d = emit.with(OpKind::Sum, &[d], vec![Value::Ints(axes.into()), Value::Bool(true)])?;
    }
    one(shaped(emit, d, of)?)
}
