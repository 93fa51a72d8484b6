//! `take`, NumPy's: whole entries of an axis, in the shape of the indices. d = g, added up where it came from.
//! Without an axis the operand is flat. Not a ggml op; its `GET_ROWS` is `get_rows`.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, ParamSpec,
    Read, ShapeCx, Site, Storage, axis_param, forward, one, shape_value,
};
use super::lines::{Around, axis_of, renamed};
use super::pick;
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "take",
    aliases: &["index_select"],
    ggml: "",
    sign: None,
    formula: "y[.., i, ..] = a[.., b[i], ..]",
    says: "Takes whole entries of an axis, in the order and shape of the indices. An index out of range reads NaN, or `fill_value`.",
    arity: Arity::exactly(2),
    params: &[
        axis_param(ParamKind::Axis, Default::Absent),
        ParamSpec::new("fill_value", ParamKind::Num, Default::Absent),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("g, added up at b", &[Read::Src(1)]),
        Flow::Ignored("indices have no gradient"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param x [3,4] = rand(seed=1)\nconst i [2,2] i32 = [[3,0],[1,1]]\ny = take(x, i, axis=1)",
            "param x [3,4] = rand(seed=2)\nconst i [2] i32 = [2,-1]\ny = take(x, i, axis=0)",
            "param x [3,4] = rand(seed=3)\nconst i [3] i32 = [7,0,7]\ny = take(x, i)",
        ],
        kink: None,
    },
    place: here!(),
};

const AXIS: usize = 0;
const FILL: usize = 1;

/// The operand around the axis; without one it is flat.
pub(super) fn around(params: &Params, of: Shape) -> Result<Around, Reason> {
    if params.int(AXIS).is_none() {
        return Ok(Around { outer: 1, n: of.n_elements() as usize, inner: 1 });
    }
    Ok(Around::new(of, axis_of(params, AXIS, 0, of)?))
}

/// The type of what indices of a shape take from a tensor.
pub(super) fn picked(params: &Params, of: TensorType, ids: Shape) -> Result<TensorType, Reason> {
    let too_many = Reason::BadShape { wants: "indices that leave at most four axes", got: ids };
    if params.int(AXIS).is_none() {
        return Ok(TensorType::f32(ids));
    }
    let axis = axis_of(params, AXIS, 0, of.shape)?;
    let mut dims = of.shape.dims().get(..axis).unwrap_or(&[]).to_vec();
    dims.extend(ids.dims());
    dims.extend(of.shape.dims().iter().skip(axis + 1));
    let shape = Shape::new(&dims).ok_or(too_many)?;
    let from = (0..shape.rank()).map(|a| match a {
        a if a < axis => Some(a),
        a => (a >= axis + ids.rank()).then(|| a + 1 - ids.rank()),
    });
    Ok(TensorType { axes: renamed(of.axes, from), ..TensorType::f32(shape) })
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    picked(cx.params, cx.ty(0), cx.dims(1))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, ids] = cx.src else { return };
    let Ok(of) = around(cx.params, a.ty.shape) else { return };
    if of.inner == 0 || ids.data.is_empty() {
        return;
    }
    let missing = pick::missing(cx.params, FILL);
    let outs = cx.out.chunks_exact_mut(of.inner).enumerate();
    for (t, out) in outs {
        let (block, id) = (t / ids.data.len(), ids.data.get(t % ids.data.len()));
        let entry = id.and_then(|id| pick::wrapped(*id, of.n));
        let from = entry.map(|e| (block * of.n + e) * of.inner);
        match from.and_then(|from| a.data.get(from..from + of.inner)) {
            Some(entry) => out.copy_from_slice(entry),
            None => out.fill(missing),
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let params = vec![site.params.value(AXIS).clone(), shape_value(site.shape(0))];
    one(emit.with(OpKind::TakeBack, &[site.grad, site.src(1)], params)?)
}
