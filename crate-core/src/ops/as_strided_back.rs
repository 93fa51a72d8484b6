//! `as_strided_back`: the adjoint of `as_strided`. Adds a tensor up through a window, among zeros. d = the window of g.

use super::OpKind;
use super::as_strided::strided;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, ParamSpec,
    ShapeCx, Site, Storage, forward, one,
};
use super::repeat::shape_param;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "as_strided_back",
    aliases: &[],
    ggml: "GGML_OP_ACC",
    sign: None,
    formula: "y = 0, with a added through a window",
    says: "Adds a tensor up through a window with strides, among zeros.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("shape", ParamKind::Ints, Default::Required),
        ParamSpec::new("strides", ParamKind::Ints, Default::Required),
        ParamSpec::new("offset", ParamKind::Int, Default::Int(0)),
        ParamSpec::new("of", ParamKind::Ints, Default::Required),
        ParamSpec::new("last", ParamKind::Bool, Default::Bool(false)),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("the window of g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,2] = rand(seed=1)\ny = as_strided_back(x, shape=[2,2], strides=[1,1], of=[4])",
        ],
        kink: None,
    },
    place: here!(),
};

const OF: usize = 3;
const LAST: usize = 4;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = shape_param(cx.params, OF)?.ok_or(Reason::BadParam { param: "of", wants: "given" })?;
    let window = strided(cx.params, of.n_elements())?;
    if window.shape != cx.dims(0) {
        return Err(Reason::ShapesDisagree {
            wants: "an operand of the window's shape",
            a: cx.dims(0),
            b: window.shape,
        });
    }
    Ok(TensorType::f32(of))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(a) = cx.src.first() else { return };
    let Ok(window) = strided(cx.params, cx.ty.shape.n_elements()) else { return };
    let last = cx.params.flag(LAST);
    for (place, x) in window.places().zip(a.data) {
        if let Some(o) = cx.out.get_mut(place) {
            *o = if last { *x } else { *o + *x };
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    if site.params.flag(LAST) {
        return Err(Reason::NotThisForm(
            "the last write wins, and which one that is has no derivative",
        ));
    }
    let params = site.params.values().iter().take(OF).cloned().collect();
    one(emit.with(OpKind::AsStrided, &[site.grad], params)?)
}
