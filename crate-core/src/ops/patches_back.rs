//! `patches_back`: the adjoint of `patches`. Adds each patch up where it lies on the image. d = the patches of g.
//! Mirrors ggml.c, `IM2COL_BACK`.

use super::OpKind;
use super::conv;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, ShapeCx, Site, Storage, forward, one,
};
use super::patches::geometry;
use super::repeat::shape_param;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "patches_back",
    aliases: &["fold"],
    ggml: "GGML_OP_IM2COL_BACK",
    sign: None,
    formula: "y[o · stride + k · dilation − padding] += a[o, k]",
    says: "Adds patches up where they lie on the image.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("kernel", ParamKind::Ints, Default::Required),
        conv::STRIDE,
        conv::PADDING,
        conv::DILATION,
        ParamSpec::new("shape", ParamKind::Ints, Default::Required),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("the patches of g", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no IM2COL_BACK case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,2,4] = rand(seed=1)\ny = patches_back(x, kernel=[2,2], shape=[1,3,3])",
        ],
        kink: None,
    },
    place: here!(),
};

const SHAPE: usize = 4;

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let to = shape_param(cx.params, SHAPE)?
        .ok_or(Reason::BadParam { param: "shape", wants: "given" })?;
    let patches = geometry(to, cx.params)?.patches(to)?;
    if patches != cx.dims(0) {
        return Err(Reason::ShapesDisagree {
            wants: "the patches of that shape",
            a: cx.dims(0),
            b: patches,
        });
    }
    Ok(TensorType::f32(to))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Ok(g) = geometry(cx.ty.shape, cx.params) else { return };
    let Some(x) = cx.src.first() else { return };
    let out = &mut *cx.out;
    g.walk(|at, place| {
        if let (Some(o), Some(x)) = (place.and_then(|p| out.get_mut(p)), x.data.get(at)) {
            *o += *x;
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut params = site.params.values().to_vec();
    params.truncate(SHAPE);
    one(emit.with(OpKind::Patches, &[site.grad], params)?)
}
