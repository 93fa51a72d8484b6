//! `upscale`: images of another size over the last two axes, nearest or bilinear. d = g, sent back by the same shares.
//! Mirrors ggml.c, UPSCALE, which has no backward; the numbers are also those of PyTorch's `interpolate`.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, ShapeCx,
    Site, Storage, forward, one, shape_value,
};
use super::resample;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "upscale",
    aliases: &["interpolate"],
    ggml: "GGML_OP_UPSCALE",
    sign: None,
    formula: "y = Σ shares · a",
    says: "Resizes images over their last two axes, by a factor or to a size.",
    arity: Arity::exactly(1),
    params: resample::PARAMS,
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, sent back by the same shares", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no UPSCALE case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,2,3] = rand(seed=1)\ny = upscale(x, factor=2)",
            "param x [2,3] = rand(seed=2)\ny = upscale(x, size=[3,4], mode=\"bilinear\")",
            "param x [2,3] = rand(seed=3)\ny = upscale(x, size=[3,5], mode=\"bilinear\", align_corners=true)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let [h, w] = resample::size(of.shape, cx.params)?;
    let rank = of.shape.rank();
    Ok(TensorType { shape: of.shape.with_dim(rank - 2, h).with_dim(rank - 1, w), ..of.as_f32() })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(x) = cx.src.first() else { return };
    let ([a, b, h, w], [.., oh, ow]) = (x.ty.shape.padded(), cx.ty.shape.padded());
    let out = &mut *cx.out;
    let planes = a as usize * b as usize;
    resample::walk(planes, [[h, w], [oh, ow]], cx.params, |to, from, share| {
        if let (Some(o), Some(x)) = (out.get_mut(to), x.data.get(from)) {
            *o += *x * T::from_f64(share);
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut params = site.params.values().to_vec();
    params.push(shape_value(site.shape(0)));
    one(emit.with(OpKind::UpscaleBack, &[site.grad], params)?)
}
