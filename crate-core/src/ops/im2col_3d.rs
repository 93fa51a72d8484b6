//! `im2col_3d`, ggml's `IM2COL_3D`: what a kernel sees of a volume at each place, as rows. The kernel gives its shape
//! alone. d = g, added up where it came from. ggml has no backward for it.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read, ShapeCx,
    Site, Storage, forward, shape_value,
};
use super::lines::send;
use super::volume::{self, Volume};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "im2col_3d",
    aliases: &[],
    ggml: "GGML_OP_IM2COL_3D",
    sign: None,
    formula: "y[o, k] = b[o · stride + k · dilation − padding]",
    says: "Lays out what a kernel sees of a volume at each place, as rows; of the kernel only the shape is read.",
    arity: Arity::exactly(2),
    params: volume::PARAMS,
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::Ignored("only its shape is used"),
        Flow::carries("g, added up where it came from", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no IM2COL_3D case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "const k [4,2,2,2] = 0\nparam x [4,2,3,2] = rand(seed=1)\ny = im2col_3d(k, x, channels=2)",
            "const k [1,2,1,3] = 0\nparam x [1,3,2,4] = rand(seed=2)\ny = im2col_3d(k, x, stride=[1,2,1], padding=1, dilation=[2,1,1])",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    Ok(TensorType::f32(Volume::new(cx.dims(0), cx.dims(1), cx.params)?.patches()?))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Ok(volume) = Volume::new(cx.shape(0), cx.shape(1), cx.params) else { return };
    let Some(x) = cx.src.get(1) else { return };
    volume.walk(|at, place| {
        if let (Some(o), Some(x)) = (cx.out.get_mut(at), x.data.get(place)) {
            *o = *x;
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut params = site.params.values().to_vec();
    params.push(shape_value(site.shape(1)));
    let d = emit.with(OpKind::Im2col3dBack, &[site.src(0), site.grad], params)?;
    Ok(vec![send(1, d)])
}
