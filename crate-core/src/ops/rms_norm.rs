//! `rms_norm` over the last axis: a r, r = 1 / √(mean(a²) + eps). d = r (g - y mean(y g)). Mirrors ggml.c,
//! `RMS_NORM`.

use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, Read, Storage,
    forward, one, same_as_first,
};
use super::normal::{self, Mean};
use crate::math::Real;

const EPS: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "rms_norm",
    aliases: &[],
    ggml: "GGML_OP_RMS_NORM",
    sign: None,
    formula: "y = a / √(mean a² + eps)",
    says: "Brings each row to size 1.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("eps", ParamKind::Num, Default::Num(1e-6))],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries(
        "r · (g − y · mean(y · g)), r = 1 / √(mean a² + eps)",
        &[Read::Src(0), Read::Out],
    )],
    forward: forward!(value, Rows),
    backward: Backward::Rule(|emit, site| {
        let eps = site.params.num(EPS).unwrap_or(1e-6);
        one(normal::back(emit, [site.src(0), site.node, site.grad], Mean::Left, eps)?)
    }),
    differs: &[super::def::PACKED],
    check: Check {
        samples: &[
            "param x [2,4] = rand(seed=1, lo=-2, hi=2)\ny = rms_norm(x)",
            "param x [2,2,3] = rand(seed=2, lo=-2, hi=2)\ny = rms_norm(x, eps=0.1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let eps = cx.params.num(EPS).unwrap_or(1e-6);
    let n = cx.ty.shape.padded()[3].max(1) as usize;
    let Some(a) = cx.src.first() else { return };
    for (out, row) in cx.out.chunks_exact_mut(n).zip(a.data.chunks_exact(n)) {
        normal::row(row, out, Mean::Left, eps);
    }
}
