//! `im2col_3d_back`: the adjoint of `im2col_3d`, which adds patches up where they came from. d = g, laid out in patches
//! again. ggml has no such op.

use super::OpKind;
use super::conv::{DILATION, PADDING, STRIDE};
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, Read, ShapeCx, Site, Storage, forward,
};
use super::lines::send;
use super::repeat::shape_param;
use super::volume::{CHANNELS, Volume};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

const OF: usize = 4;

pub(super) const DEF: OpDef = OpDef {
    name: "im2col_3d_back",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y[o · stride + k · dilation − padding] += b[o, k]",
    says: "Adds the patches of a volume up where they came from; of the kernel only the shape is read.",
    arity: Arity::exactly(2),
    params: &[
        CHANNELS,
        STRIDE,
        PADDING,
        DILATION,
        ParamSpec::new("shape", ParamKind::Ints, Default::Required),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::Ignored("only its shape is used"), Flow::carries("g, in patches", &[Read::Src(0)])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml has no such op"),
        cite: "ggml.h, enum ggml_op",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "const k [1,2,2,2] = 0\nparam p [2,1,2,8] = rand(seed=1)\ny = im2col_3d_back(k, p, shape=[1,3,2,3])",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let bad = Reason::BadParam { param: "shape", wants: "the shape of a volume" };
    let of = shape_param(cx.params, OF)?.ok_or(bad)?;
    let patches = Volume::new(cx.dims(0), of, cx.params)?.patches()?;
    if !patches.same_extents(&cx.dims(1)) {
        let wants = "the patches of such a volume";
        return Err(Reason::ShapesDisagree { wants, a: patches, b: cx.dims(1) });
    }
    Ok(TensorType::f32(of))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Ok(volume) = Volume::new(cx.shape(0), cx.ty.shape, cx.params) else { return };
    let Some(patches) = cx.src.get(1) else { return };
    volume.walk(|at, place| {
        if let (Some(o), Some(x)) = (cx.out.get_mut(place), patches.data.get(at)) {
            *o += *x;
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let params = site.params.values().iter().take(OF).cloned().collect();
    let d = emit.with(OpKind::Im2col3d, &[site.src(0), site.grad], params)?;
    Ok(vec![send(1, super::matmul::shaped(emit, d, site.shape(1))?)])
}
