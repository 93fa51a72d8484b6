//! `rsqrt`, elementwise: 1 / √x. d = -½ g y³. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Cx, Differs, Flow, How, Mend, OpDef, Read, Storage, forward,
    one, same_as_first,
};
use crate::math::Real;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "rsqrt",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = 1 / √a",
    says: "1 divided by the square root.",
    arity: Arity::exactly(1),
    params: &[],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("−½ · g · y³", &[Read::Out])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let square = emit.op(OpKind::Sqr, &[site.node])?;
        let cube = emit.mul(square, site.node)?;
        let slope = emit.affine(cube, -0.5, 0.0)?;
        one(emit.mul(site.grad, slope)?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml has no such op"),
        cite: "ggml.h, enum ggml_op",
        mends: &[Mend {
            text: "1 / sqrt({0})",
            replaces: None,
            without: &[],
            note: "SQRT and DIV have a backward.",
        }],
    }],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1, lo=0.5, hi=2)\ny = rsqrt(x)"],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.map(|x| T::ONE / x.sqrt());
}
