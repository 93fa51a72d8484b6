//! `clamp`: max(min(x, max), min). d = g where min <= x <= max, bounds included: the unclamped x decides.
//! ggml's CLAMP always writes over its input and has no backward; the text's `clamp!` is that one.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, Mend, OpDef, Operand,
    ParamKind, ParamSpec, Read, Site, Storage, forward, one, same_as_first,
};
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

const MIN: usize = 0;
const MAX: usize = 1;

pub(super) const DEF: OpDef = OpDef {
    name: "clamp",
    aliases: &["clip"],
    ggml: "GGML_OP_CLAMP",
    sign: None,
    formula: "y = max(min(a, max), min)",
    says: "Keeps each element between two bounds.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("min", ParamKind::Num, Default::Absent).or(&["lo", "a_min"]),
        ParamSpec::new("max", ParamKind::Num, Default::Absent).or(&["hi", "a_max"]),
    ],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g where min ≤ a ≤ max", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no CLAMP case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[
            Mend {
                text: "relu({0} - {min}) + {min}",
                replaces: None,
                without: &["max"],
                note: "RELU has a backward; the value is the same.",
            },
            Mend {
                text: "{max} - relu({max} - {0})",
                replaces: None,
                without: &["min"],
                note: "RELU has a backward; the value is the same.",
            },
        ],
    }],
    check: Check {
        samples: &[
            "param x [2,4] = [[-2, -0.5, 0.25, 3], [0.9, 1.5, -1.5, 0]]\ny = clamp(x, min=-1, max=1)",
            "param x [2,2] = [[-2, -0.5], [0.25, 3]]\ny = clamp(x, min=0.1)",
        ],
        kink: Some(on_a_bound),
    },
    place: here!(),
};

/// A bound, unless it is left out or bounds nothing.
fn bound(params: &Params, ix: usize) -> Option<f64> {
    let open = if ix == MIN { f64::NEG_INFINITY } else { f64::INFINITY };
    params.num(ix).filter(|b| !b.is_nan() && b.to_bits() != open.to_bits())
}

#[expect(clippy::float_cmp, reason = "a kink is one exact number")]
fn on_a_bound(src: &[Operand<'_, f64>], params: &Params) -> bool {
    let on = |x: &f64| [MIN, MAX].iter().any(|b| bound(params, *b).is_some_and(|b| *x == b));
    src.iter().any(|o| o.data.iter().any(on))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let min = cx.params.num(MIN).map(T::from_f64);
    let max = cx.params.num(MAX).map(T::from_f64);
    cx.map(|x| {
        let x = max.filter(|m| x > *m).unwrap_or(x);
        min.filter(|m| x < *m).unwrap_or(x)
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let x = site.src(0);
    let mut grad = site.grad;
    let zero = emit.fill(site.ty, 0.0)?;
    for (ix, op) in [(MIN, OpKind::GreaterEqual), (MAX, OpKind::LessEqual)] {
        if let Some(b) = bound(site.params, ix) {
            let edge = emit.fill(site.ty, b)?;
            let inside = emit.op(op, &[x, edge])?;
            grad = emit.op(OpKind::Where, &[inside, grad, zero])?;
        }
    }
    one(grad)
}
