//! `conv_2d`, ggml's: kernel first, `[oc, ic, kh, kw]`, then the image `[n, ic, h, w]`. Gradients through the patches.
//! PyTorch's order of operands is `conv2d`. ggml's `CONV_2D` has no backward.

use super::conv;
use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, OpDef, Read, Storage, forward,
};
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "conv_2d",
    aliases: &[],
    ggml: "GGML_OP_CONV_2D",
    sign: None,
    formula: "y = Σ a · patches of b",
    says: "Convolves an image with a kernel; the kernel comes first, as in ggml.",
    arity: Arity::exactly(2),
    params: conv::PARAMS,
    shape: |cx| conv::shape(cx, 0, 1, false),
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("g · patches of b", &[Read::Src(1)]),
        Flow::carries("g · a, added up", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| conv::rule(emit, site, 0, 1)),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no CONV_2D case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param k [2,2,2,2] = rand(seed=1, lo=-1, hi=1)\nparam x [2,2,3,4] = rand(seed=2, lo=-1, hi=1)\ny = conv_2d(k, x)",
            "param k [2,1,3,2] = rand(seed=3, lo=-1, hi=1)\nparam x [1,4,4] = rand(seed=4, lo=-1, hi=1)\ny = conv_2d(k, x, stride=[2,1], padding=1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    conv::value(cx, 0, 1);
}
