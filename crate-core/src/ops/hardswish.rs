//! `hardswish`, elementwise: x clip((x + 3) / 6, 0, 1). d = g (h + x / 6 between -3 and 3). ggml computes it and
//! has no backward for it. On the bends the outer slopes count, 0 and 1, as in PyTorch.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, Mend, OpDef, Read,
    Site, Storage, forward, one, same_as_first,
};
use super::terms;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "hardswish",
    aliases: &["hard_swish"],
    ggml: "GGML_UNARY_OP_HARDSWISH",
    sign: None,
    formula: "y = a · clip((a + 3) / 6, 0, 1)",
    says: "x times a step made of straight lines.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g · (clip((a + 3) / 6, 0, 1) + a / 6 where |a| < 3)", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's unary backward switch has no HARDSWISH case"),
        cite: "ggml.c:7080, default case of the unary backward switch",
        mends: &[Mend {
            text: "{0} * (relu({0} + 3) - relu({0} - 3)) / 6",
            replaces: None,
            without: &[],
            note: "The value is the same, made of ops that have a backward.",
        }],
    }],
    check: Check {
        samples: &["param x [2,3] = [[-4, -2.5, -0.5], [0.5, 2.5, 4]]\ny = hardswish(x)"],
        kink: Some(|src, _| terms::hits(src, &[-3.0, 3.0])),
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let (three, six) = (T::from_f64(3.0), T::from_f64(6.0));
    cx.map(|x| {
        if x >= three {
            x
        } else if x <= -three {
            T::ZERO
        } else {
            x * ((x + three) / six)
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let x = site.src(0);
    let line = emit.affine(x, 1.0 / 6.0, 0.5)?;
    let share = emit.within(line, Some(0.0), Some(1.0))?;
    let size = emit.op(OpKind::Abs, &[x])?;
    let inside = emit.below(size, 3.0)?;
    let tilt = emit.affine(x, 1.0 / 6.0, 0.0)?;
    let bend = emit.pick_or(inside, tilt, 0.0)?;
    let slope = emit.add(share, bend)?;
    one(emit.mul(site.grad, slope)?)
}
