//! `scale`: s a + bias. d = s g. Mirrors ggml.c, SCALE.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Default, Flow, OpDef, ParamKind, ParamSpec, Storage, forward,
    one, same_as_first,
};
use crate::graph::Value;
use crate::math::Real;

const S: usize = 0;
const BIAS: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "scale",
    aliases: &[],
    ggml: "GGML_OP_SCALE",
    sign: None,
    formula: "y = s · a + bias",
    says: "Multiplies by one number and adds another.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("s", ParamKind::Num, Default::Required),
        ParamSpec::new("bias", ParamKind::Num, Default::Num(0.0)),
    ],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("s · g", &[])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let s = site.params.num(S).unwrap_or(1.0);
        one(emit.with(OpKind::Scale, &[site.grad], vec![Value::Num(s)])?)
    }),
    differs: &[super::def::PACKED, super::def::PACKED_SOURCE],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = scale(x, 2.5, bias=1)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let s = T::from_f64(cx.params.num(S).unwrap_or(1.0));
    let bias = T::from_f64(cx.params.num(BIAS).unwrap_or(0.0));
    cx.map(|x| s * x + bias);
}
