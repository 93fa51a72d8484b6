//! `gather`, PyTorch's and NumPy's `take_along_axis`: along one axis each element names the entry it takes.
//! d = g, added up where it came from. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, ParamSpec,
    Read, Site, Storage, axis_param, forward, one,
};
use super::{along, pick};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "gather",
    aliases: &["take_along_axis"],
    ggml: "",
    sign: None,
    formula: "y[i, j] = a[b[i, j], j]",
    says: "Takes along one axis the entry that each index names. An index out of range reads NaN, or `fill_value`.",
    arity: Arity::exactly(2),
    params: &[
        axis_param(ParamKind::Axis, Default::Int(-1)),
        ParamSpec::new("fill_value", ParamKind::Num, Default::Absent),
    ],
    shape: |cx| along::picked(cx.ty(0), cx.dims(1), cx.params),
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
            "param x [3,4] = rand(seed=1)\nconst i [3,2] i32 = [[3,0],[1,1],[0,2]]\ny = gather(x, i, axis=1)",
            "param x [3,4] = rand(seed=2)\nconst i [2,3] i32 = [[2,0,-1],[1,1,0]]\ny = gather(x, i, axis=0)",
        ],
        kink: None,
    },
    place: here!(),
};

const AXIS: usize = 0;
const FILL: usize = 1;

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, ids] = cx.src else { return };
    let missing = pick::missing(cx.params, FILL);
    let places = along::places(a.ty.shape, ids, cx.params);
    for (o, place) in cx.out.iter_mut().zip(places) {
        *o = place.and_then(|p| a.data.get(p)).copied().unwrap_or(missing);
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let zero = emit.fill(TensorType::f32(site.shape(0)), 0.0)?;
    let params = vec![site.params.value(AXIS).clone()];
    one(emit.with(OpKind::ScatterAdd, &[zero, site.src(1), site.grad], params)?)
}
