//! `roll`: moves entries along axes; what falls off one end comes back at the other. d = g, rolled back.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, ShapeCx, Site, Storage, axis_param, forward, one, same_as_first,
};
use crate::graph::{Params, Value};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "roll",
    aliases: &[],
    ggml: "GGML_OP_ROLL",
    sign: None,
    formula: "y[i] = a[i − shift]",
    says: "Moves entries along axes; what falls off one end comes back at the other.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("shift", ParamKind::Ints, Default::Required).or(&["shifts"]),
        axis_param(ParamKind::Axes, Default::Absent),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, rolled back", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no ROLL case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1)\ny = roll(x, shift=1, axis=1)",
            "param x [3,4] = rand(seed=2)\ny = roll(x, shift=[-1,2], axis=[0,1])",
            "param x [2,3] = rand(seed=3)\ny = roll(x, 2)",
        ],
        kink: None,
    },
    place: here!(),
};

const SHIFT: usize = 0;
const AXIS: usize = 1;

/// How far each axis moves, from 0 up; without axes the tensor is flat.
fn shifts(params: &Params, of: Shape) -> Result<(Shape, Vec<usize>), Reason> {
    let bad = || Reason::BadParam { param: "shift", wants: "one number for each axis" };
    let list = params.ints(SHIFT).ok_or_else(bad)?;
    let by = |shift: i64, d: u32| shift.rem_euclid(i64::from(d.max(1))) as usize;
    let Some(axes) = params.ints(AXIS) else {
        let n = u32::try_from(of.n_elements()).ok().ok_or_else(bad)?;
        let [shift] = list.as_slice() else { return Err(bad()) };
        return Ok((Shape::new(&[n]).unwrap_or(of), vec![by(*shift, n)]));
    };
    if axes.len() != list.len() {
        return Err(bad());
    }
    let mut out = vec![0; of.rank()];
    for (axis, shift) in axes.into_iter().zip(list) {
        let at = of.resolve_axis(axis).ok_or(Reason::NoSuchAxis { axis, shape: of })?;
        if let Some(slot) = out.get_mut(at) {
            *slot = by(shift.saturating_add(*slot as i64), of.dim(at));
        }
    }
    Ok((of, out))
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    shifts(cx.params, cx.dims(0))?;
    same_as_first(cx)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(a) = cx.src.first() else { return };
    let Ok((shape, shifts)) = shifts(cx.params, a.ty.shape) else { return };
    for (flat, x) in a.data.iter().enumerate() {
        let (mut rest, mut place, mut step) = (flat, 0, 1);
        for axis in (0..shape.rank()).rev() {
            let d = shape.dim(axis).max(1) as usize;
            place += (rest + shifts.get(axis).copied().unwrap_or(0)) % d * step;
            rest /= d;
            step *= d;
        }
        if let Some(o) = cx.out.get_mut(place) {
            *o = *x;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let back: Vec<i64> =
        site.params.ints(SHIFT).unwrap_or_default().iter().map(|s| s.saturating_neg()).collect();
    let params = vec![Value::Ints(back.into()), site.params.value(AXIS).clone()];
    one(emit.with(OpKind::Roll, &[site.grad], params)?)
}
