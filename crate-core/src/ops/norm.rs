//! `norm` over the last axis: (a - mean) r, r = 1 / √(variance + eps). d = r (g - mean g - y mean(y g)). ggml
//! computes it and has no backward for it.

use super::def::{
    Arity, Backward, Check, Cx, Default, Differs, Flow, How, Mend, OpDef, ParamKind, ParamSpec,
    Read, Storage, forward, one, same_as_first,
};
use super::normal::{self, Mean};
use crate::math::Real;
use crate::rules::RuleSet;

const EPS: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "norm",
    aliases: &[],
    ggml: "GGML_OP_NORM",
    sign: None,
    formula: "y = (a − mean a) / √(variance + eps)",
    says: "Takes the mean off each row and brings it to size 1.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("eps", ParamKind::Num, Default::Num(1e-5))],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries(
        "r · (g − mean g − y · mean(y · g)), r = 1 / √(variance + eps)",
        &[Read::Src(0), Read::Out],
    )],
    forward: forward!(value, Rows),
    backward: Backward::Rule(|emit, site| {
        let eps = site.params.num(EPS).unwrap_or(1e-5);
        one(normal::back(emit, [site.src(0), site.node, site.grad], Mean::Off, eps)?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no NORM case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[Mend {
            text: "rms_norm({0} - repeat(mean_rows({0} + 0), {0}), eps={eps})",
            replaces: None,
            without: &[],
            note: "RMS_NORM has a backward; the value is the same. The sum with 0 has a gradient of its own, which MEAN needs.",
        }],
    }],
    check: Check {
        samples: &[
            "param x [2,4] = rand(seed=1, lo=-2, hi=2)\ny = norm(x)",
            "param x [2,2,3] = rand(seed=2, lo=-2, hi=2)\ny = norm(x, eps=0.1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let eps = cx.params.num(EPS).unwrap_or(1e-5);
    let n = cx.ty.shape.padded()[3].max(1) as usize;
    let Some(a) = cx.src.first() else { return };
    for (out, row) in cx.out.chunks_exact_mut(n).zip(a.data.chunks_exact(n)) {
        normal::row(row, out, Mean::Off, eps);
    }
}
