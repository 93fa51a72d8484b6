//! `conv1d`, PyTorch's: the signal first, `[n, ic, w]`, then the weights `[oc, ic, k]`. Gradients through the patches.

use super::conv;
use super::def::{Arity, Backward, Check, Cx, Flow, OpDef, Read, Storage, forward};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "conv1d",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = Σ b · patches of a",
    says: "Convolves a signal with weights; the signal comes first, as in PyTorch.",
    arity: Arity::exactly(2),
    params: conv::PARAMS,
    shape: |cx| conv::shape(cx, 1, 0, true),
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
            "param x [2,5] = rand(seed=1, lo=-1, hi=1)\nparam w [3,2,2] = rand(seed=2, lo=-1, hi=1)\ny = conv1d(x, w, dilation=2)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    conv::value(cx, 1, 0);
}
