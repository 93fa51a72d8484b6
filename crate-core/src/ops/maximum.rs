//! `maximum`, elementwise with broadcast: g goes to the larger operand, half of it to each where they tie. Not a
//! ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, Mend, OpDef, Read,
    Site, Storage, elementwise, folded, forward,
};
use super::terms;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "maximum",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = max(a, b)",
    says: "The larger of two numbers, element by element.",
    arity: Arity::exactly(2),
    params: &[],
    shape: elementwise,
    stretches: true,
    storage: Storage::OwnOrFirst,
    flow: &[
        Flow::carries("g where y = a, ½ · g where a = b", &[Read::Src(0), Read::Src(1)]),
        Flow::carries("g where y = b, ½ · g where a = b", &[Read::Src(0), Read::Src(1)]),
    ],
    forward: forward!(value, Each),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml has no such op"),
        cite: "ggml.h, enum ggml_op",
        mends: &[Mend {
            text: "{0} + relu(-({0} + -{1}))",
            replaces: None,
            without: &[],
            note: "RELU has a backward; the value is the same, and a tie goes to the first operand.",
        }],
    }],
    check: Check {
        samples: &[
            "param a [2,3] = rand(seed=1, lo=-2, hi=2)\nparam b [2,3] = rand(seed=2, lo=-2, hi=2)\ny = maximum(a, b)",
            "param a [2,3] = rand(seed=3, lo=-2, hi=2)\nparam b [2,1] = rand(seed=4, lo=-2, hi=2)\ny = maximum(a, b)",
            "param a [2,3] = rand(seed=5, lo=-2, hi=2)\ny = maximum(a, 0.5)",
        ],
        kink: Some(|src, _| terms::ties(src)),
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    // A NaN on either side is the result, as in NumPy.
    cx.zip(|a, b| if a > b || a.is_nan() { a } else { b });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (a, b) = (site.src(0), site.src(1));
    let half = emit.affine(site.grad, 0.5, 0.0)?;
    let tie = emit.op(OpKind::Equal, &[a, b])?;
    let shared = emit.pick_or(tie, half, 0.0)?;
    let mut out = Vec::with_capacity(2);
    for (src, op) in [(0, OpKind::Greater), (1, OpKind::Less)] {
        if site.wants(src) {
            let wins = emit.op(op, &[a, b])?;
            out.push(folded(src, emit.pick(wins, site.grad, shared)?));
        }
    }
    Ok(out)
}
