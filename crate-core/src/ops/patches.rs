//! `patches`: what a kernel sees of an image at each place, as rows `[.., oh, ow, c·kh·kw]`. d = g, added up where it
//! came from. ggml's IM2COL, which reads the extents from a kernel, is `im2col`.

use super::OpKind;
use super::conv;
use super::conv::Geometry;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, ParamSpec,
    ShapeCx, Site, Storage, forward, one, shape_value,
};
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "patches",
    aliases: &[],
    ggml: "GGML_OP_IM2COL",
    sign: None,
    formula: "y[o, k] = a[o · stride + k · dilation − padding]",
    says: "Lays out what a kernel sees of an image at each place, as rows.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("kernel", ParamKind::Ints, Default::Required).or(&["kernel_size"]),
        conv::STRIDE,
        conv::PADDING,
        conv::DILATION,
        ParamSpec::new("value", ParamKind::Num, Default::Num(0.0)),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, added up where it came from", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param x [2,2,4,3] = rand(seed=1)\ny = patches(x, kernel=[2,2])",
            "param x [2,4,5] = rand(seed=2)\ny = patches(x, kernel=[3,2], stride=[1,2], padding=1, dilation=[1,2])",
            "param x [2,3,5] = rand(seed=3)\ny = patches(x, kernel=3, padding=1)",
        ],
        kink: None,
    },
    place: here!(),
};

const KERNEL: usize = 0;
const VALUE: usize = 4;

pub(super) fn geometry(image: Shape, params: &Params) -> Result<Geometry, Reason> {
    let list = params.ints(KERNEL).unwrap_or_default();
    let extents: Option<Vec<u32>> = list.iter().map(|k| u32::try_from(*k).ok()).collect();
    let bad = Reason::BadParam { param: "kernel", wants: "one extent or two" };
    Geometry::new(image, &extents.ok_or(bad)?, params, 1)
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let image = cx.dims(0);
    Ok(TensorType::f32(geometry(image, cx.params)?.patches(image)?))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Ok(g) = geometry(cx.shape(0), cx.params) else { return };
    let Some(x) = cx.src.first() else { return };
    let border = T::from_f64(cx.params.num(VALUE).unwrap_or(0.0));
    let out = &mut *cx.out;
    g.walk(|at, place| {
        if let Some(o) = out.get_mut(at) {
            *o = place.and_then(|p| x.data.get(p)).copied().unwrap_or(border);
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut params = site.params.values().to_vec();
    params.truncate(VALUE);
    params.push(shape_value(site.shape(0)));
    one(emit.with(OpKind::PatchesBack, &[site.grad], params)?)
}
