//! `erfc`, elementwise: d = -g · 2/√π · e^(-x²). Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Flow, OpDef, Read, Storage, forward, one, same_as_first,
};
use crate::math::Real;

pub(super) const DEF: OpDef = OpDef {
    name: "erfc",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = erfc a",
    says: "1 less the error function, accurate where that is close to 1.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("−g · 2/√π · e^(−a²)", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let square = emit.op(OpKind::Sqr, &[site.src(0)])?;
        let power = emit.neg(square)?;
        let bell = emit.op(OpKind::Exp, &[power])?;
        let slope = emit.affine(bell, -std::f64::consts::FRAC_2_SQRT_PI, 0.0)?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = erfc(x)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(Real::erfc);
}
