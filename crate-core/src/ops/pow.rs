//! `pow`, elementwise with broadcast: d(a^b) = g b a^(b-1), g y ln a. Zero where b = 0 (first) and where a = 0 (second), never 0 times infinity. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Flow, OpDef, Sign, Storage, Cx, Emit, Site, elementwise, folded, forward, Contributions, Read
};
use crate::math::Real;
use crate::refusal::Reason;


pub(super) const DEF: OpDef = OpDef {
    name: "pow",
    aliases: &["power"],
    ggml: "",
    sign: Some(Sign::Infix("^")),
    formula: "y = a ^ b",
    says: "Raises element by element to a power.",
    arity: Arity::exactly(2),
    params: &[],
    shape: elementwise,
    stretches: true,
    storage: Storage::OwnOrFirst,
    flow: &[
        Flow::carries("g · b · a^(b−1)", &[Read::Src(0), Read::Src(1)]),
        Flow::carries("g · y · ln a", &[Read::Src(0), Read::Out]),
    ],
    forward: forward!(value, Each),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &["param a [2,3] = rand(seed=1, lo=0.5, hi=2)\nparam b [2,3] = rand(seed=2, lo=-2, hi=2)\ny = a ^ b", "param a [2,3] = rand(seed=3, lo=-2, hi=2)\ny = a ^ 3", "param a [2,3] = rand(seed=5, lo=0.5, hi=2)\nparam b [3] = rand(seed=6, lo=-2, hi=2)\ny = a ^ b"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.zip(Real::pow);
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (a, b) = (site.src(0), site.src(1));
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        let ty = emit.ty(b);
        let (one, zero) = (emit.fill(ty, 1.0)?, emit.fill(ty, 0.0)?);
        let less = emit.op(OpKind::Sub, &[b, one])?;
        let lower = emit.op(OpKind::Pow, &[a, less])?;
        let slope = emit.op(OpKind::Mul, &[lower, b])?;
        let varies = emit.op(OpKind::NotEqual, &[b, zero])?;
        let none = emit.fill(site.ty, 0.0)?;
        let slope = emit.op(OpKind::Where, &[varies, slope, none])?;
        out.push(folded(0, emit.op(OpKind::Mul, &[site.grad, slope])?));
    }
    if site.wants(1) {
        let log = emit.op(OpKind::Log, &[a])?;
        let slope = emit.op(OpKind::Mul, &[site.node, log])?;
        let zero = emit.fill(emit.ty(a), 0.0)?;
        let varies = emit.op(OpKind::NotEqual, &[a, zero])?;
        let none = emit.fill(site.ty, 0.0)?;
        let slope = emit.op(OpKind::Where, &[varies, slope, none])?;
        out.push(folded(1, emit.op(OpKind::Mul, &[site.grad, slope])?));
    }
    Ok(out)
}
