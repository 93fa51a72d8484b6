//! `conv2d`, PyTorch's: the image first, `[n, ic, h, w]`, then the weights `[oc, ic, kh, kw]`. Gradients through the
//! patches. ggml's order of operands is `conv_2d`.

use super::conv;
use super::def::{Arity, Backward, Check, Cx, Flow, OpDef, Read, Storage, forward};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "conv2d",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = Σ b · patches of a",
    says: "Convolves an image with weights; the image comes first, as in PyTorch.",
    arity: Arity::exactly(2),
    params: conv::PARAMS,
    shape: |cx| conv::shape(cx, 1, 0, false),
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("g · b, added up", &[Read::Src(1)]),
        Flow::carries("g · patches of a", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| conv::rule(emit, site, 1, 0)),
    differs: &[],
    check: Check {
        samples: &[
            "param x [1,2,4,3] = rand(seed=1, lo=-1, hi=1)\nparam w [2,2,2,2] = rand(seed=2, lo=-1, hi=1)\ny = conv2d(x, w, padding=1, dilation=2)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    conv::value(cx, 1, 0);
}
