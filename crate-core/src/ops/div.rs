//! `div`, elementwise with broadcast: d(a / b) = g / b, -g y / b. Mirrors ggml.c, DIV; upstream does not fold the second (B1): the failure that began this project.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Flow, OpDef, Sign, Storage, Cx, Emit, Site, elementwise, folded, Differs, How, Mend, forward, Contributions, Read
};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "div",
    aliases: &["divide"],
    ggml: "GGML_OP_DIV",
    sign: Some(Sign::Infix("/")),
    formula: "y = a / b",
    says: "Divides element by element.",
    arity: Arity::exactly(2),
    params: &[],
    shape: elementwise,
    stretches: true,
    storage: Storage::OwnOrFirst,
    flow: &[
        Flow::carries("g / b", &[Read::Src(1)]),
        Flow::carries("−g · y / b", &[Read::Out, Read::Src(1)]),
    ],
    forward: forward!(value, Each),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Unfolded(&[1]),
        cite: "ggml.c:6718, DIV case of the backward switch",
        mends: &[Mend {
            text: "repeat({1}, {0})",
            replaces: Some(1),
            without: &[],
            note: "REPEAT has a rule that sums.",
        }],
    }],
    check: Check {
        samples: &["param a [2,3] = rand(seed=1, lo=0.5, hi=2)\nparam b [2,3] = rand(seed=2, lo=0.5, hi=2)\ny = a / b", "param a [2,3] = rand(seed=3, lo=0.5, hi=2)\nparam b [2,1] = rand(seed=4, lo=0.5, hi=2)\ny = a / b", "param a [2,3] = rand(seed=5, lo=0.5, hi=2)\nparam b [3] = rand(seed=6, lo=0.5, hi=2)\ny = a / b"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.zip(|a, b| a / b);
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(folded(0, emit.op(OpKind::Div, &[site.grad, site.src(1)])?));
    }
    if site.wants(1) {
        let slope = emit.op(OpKind::Div, &[site.node, site.src(1)])?;
        let product = emit.op(OpKind::Mul, &[site.grad, slope])?;
        out.push(folded(1, emit.op(OpKind::Neg, &[product])?));
    }
    Ok(out)
}
