//! `upscale_back`: the adjoint of `upscale`. Sends each pixel back by its shares. d = g, upscaled. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, ParamSpec,
    ShapeCx, Site, Storage, forward, one,
};
use super::repeat::shape_param;
use super::resample;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "upscale_back",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y += shares · a",
    says: "Adds pixels of a resized image up where they came from.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("factor", ParamKind::Int, Default::Absent),
        ParamSpec::new("size", ParamKind::Ints, Default::Absent),
        ParamSpec::new("mode", ParamKind::Text, Default::Absent),
        ParamSpec::new("align_corners", ParamKind::Bool, Default::Bool(false)),
        ParamSpec::new("shape", ParamKind::Ints, Default::Required),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, upscaled", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &["param x [4,6] = rand(seed=1)\ny = upscale_back(x, factor=2, shape=[2,3])"],
        kink: None,
    },
    place: here!(),
};

const SHAPE: usize = 4;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let to = shape_param(cx.params, SHAPE)?
        .ok_or(Reason::BadParam { param: "shape", wants: "given" })?;
    let [h, w] = resample::size(to, cx.params)?;
    let rank = to.rank();
    let full = to.with_dim(rank - 2, h).with_dim(rank - 1, w);
    if full != cx.dims(0) {
        return Err(Reason::ShapesDisagree { wants: "the resized image", a: cx.dims(0), b: full });
    }
    Ok(TensorType::f32(to))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(x) = cx.src.first() else { return };
    let ([a, b, h, w], [.., oh, ow]) = (cx.ty.shape.padded(), x.ty.shape.padded());
    let out = &mut *cx.out;
    let planes = a as usize * b as usize;
    resample::walk(planes, [[h, w], [oh, ow]], cx.params, |from, to, share| {
        if let (Some(o), Some(x)) = (out.get_mut(to), x.data.get(from)) {
            *o += *x * T::from_f64(share);
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut params = site.params.values().to_vec();
    params.truncate(SHAPE);
    one(emit.with(OpKind::Upscale, &[site.grad], params)?)
}
