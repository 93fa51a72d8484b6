//! `im2col`, ggml's IM2COL: what a kernel sees of an image at each place, as rows. The kernel gives its shape alone,
//! so its gradient is 0 (B8: upstream crashes there). d = g, added up where it came from, whatever its layout (B6).

use super::conv;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, ShapeCx,
    Site, Storage, Wrong, forward,
};
use super::lines::send;
use super::stored;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "im2col",
    aliases: &[],
    ggml: "GGML_OP_IM2COL",
    sign: None,
    formula: "y[o, k] = b[o · stride + k · dilation − padding]",
    says: "Lays out what a kernel sees of an image at each place, as rows; of the kernel only the shape is read.",
    arity: Arity::exactly(2),
    params: conv::PARAMS,
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::Ignored("only its shape is used"),
        Flow::carries("g, added up where it came from", &[]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[
        Differs {
            rules: RuleSet::Upstream,
            how: How::Wrong(Wrong { rule: as_upstream, what: stored::WHAT, when: stored::WHEN }),
            cite: "ggml-cpu, IM2COL_BACK takes the gradient to be packed",
            mends: &[],
        },
        Differs {
            rules: RuleSet::Upstream,
            how: How::Silent(&[0]),
            cite: "ggml.c:7115, the contract check reads a gradient that nobody made",
            mends: &[],
        },
    ],
    check: Check {
        samples: &[
            "const k [3,2,2,2] = 0\nparam x [2,2,4,3] = rand(seed=1)\ny = im2col(k, x)",
            "const k [3,2,3] = 0\nparam x [2,2,5] = rand(seed=2)\ny = im2col(k, x, stride=2, padding=1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let image = cx.dims(1);
    Ok(TensorType::f32(conv::of_kernel(cx.dims(0), image, cx.params)?.patches(image)?))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Ok(g) = conv::of_kernel(cx.shape(0), cx.shape(1), cx.params) else { return };
    let Some(x) = cx.src.get(1) else { return };
    let out = &mut *cx.out;
    g.walk(|at, place| {
        if let Some(o) = out.get_mut(at) {
            *o = place.and_then(|p| x.data.get(p)).copied().unwrap_or(T::ZERO);
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let g = conv::of_kernel(site.shape(0), site.shape(1), site.params)?;
    let d = conv::patches_back(emit, site.grad, site.shape(1), &g, site.params)?;
    Ok(vec![send(1, d)])
}

fn as_upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let grad = stored::grad(emit, site)?;
    rule(emit, &Site { grad, ..*site })
}
