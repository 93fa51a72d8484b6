//! `conv_1d`, ggml's: kernel first, `[oc, ic, k]`, then the signal `[n, ic, w]`. Gradients through the patches.
//! ggml builds it from IM2COL and `MUL_MAT`; PyTorch's order of operands is `conv1d`.

use super::conv;
use super::def::{Arity, Backward, Check, Cx, Flow, OpDef, Read, Storage, forward};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "conv_1d",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = Σ a · patches of b",
    says: "Convolves a signal with a kernel; the kernel comes first, as in ggml.",
    arity: Arity::exactly(2),
    params: conv::PARAMS,
    shape: |cx| conv::shape(cx, 0, 1, true),
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("g · patches of b", &[Read::Src(1)]),
        Flow::carries("g · a, added up", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| conv::rule(emit, site, 0, 1)),
    differs: &[],
    check: Check {
        samples: &[
            "param k [2,2,3] = rand(seed=1, lo=-1, hi=1)\nparam x [2,2,5] = rand(seed=2, lo=-1, hi=1)\ny = conv_1d(k, x, stride=2, padding=1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    conv::value(cx, 0, 1);
}
