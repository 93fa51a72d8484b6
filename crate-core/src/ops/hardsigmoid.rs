//! `hardsigmoid`, elementwise: clip((x + 3) / 6, 0, 1). d = g / 6 between -3 and 3, else 0, on the bends too. ggml
//! computes it and has no backward for it.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, Mend, OpDef, Read, Storage, forward,
    one, same_as_first,
};
use super::terms;
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "hardsigmoid",
    aliases: &["hard_sigmoid"],
    ggml: "GGML_UNARY_OP_HARDSIGMOID",
    sign: None,
    formula: "y = clip((a + 3) / 6, 0, 1)",
    says: "A sigmoid made of straight lines.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g / 6 where |a| < 3", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let size = emit.op(OpKind::Abs, &[site.src(0)])?;
        let inside = emit.below(size, 3.0)?;
        let part = emit.affine(site.grad, 1.0 / 6.0, 0.0)?;
        one(emit.pick_or(inside, part, 0.0)?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's unary backward switch has no HARDSIGMOID case"),
        cite: "ggml.c:7080, default case of the unary backward switch",
        mends: &[Mend {
            text: "(relu({0} + 3) - relu({0} - 3)) / 6",
            replaces: None,
            without: &[],
            note: "The value is the same, made of ops that have a backward.",
        }],
    }],
    check: Check {
        samples: &["param x [2,3] = [[-4, -2.5, -0.5], [0.5, 2.5, 4]]\ny = hardsigmoid(x)"],
        kink: Some(|src, _| terms::hits(src, &[-3.0, 3.0])),
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let (three, six) = (T::from_f64(3.0), T::from_f64(6.0));
    cx.map(|x| {
        if x >= three {
            T::ONE
        } else if x <= -three {
            T::ZERO
        } else {
            (x + three) / six
        }
    });
}
