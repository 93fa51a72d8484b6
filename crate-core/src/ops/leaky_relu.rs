//! `leaky_relu`, elementwise: x above 0, else slope x. d = g, or slope g, at 0 too. ggml computes it and has no
//! backward for it.

use super::def::{
    Arity, Backward, Check, Cx, Default, Differs, Flow, How, Mend, OpDef, ParamKind, ParamSpec,
    Read, Storage, forward, one, same_as_first,
};
use super::terms;
use crate::math::Real;
use crate::rules::RuleSet;

const SLOPE: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "leaky_relu",
    aliases: &[],
    ggml: "GGML_OP_LEAKY_RELU",
    sign: None,
    formula: "y = a where a > 0, else slope · a",
    says: "Keeps numbers above 0 and shrinks those below.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("slope", ParamKind::Num, Default::Num(0.01)).or(&["negative_slope"])],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g where a > 0, else slope · g", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(|emit, site| {
        let small = emit.affine(site.grad, site.params.num(SLOPE).unwrap_or(0.01), 0.0)?;
        let above = emit.above(site.src(0), 0.0)?;
        one(emit.pick(above, site.grad, small)?)
    }),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no LEAKY_RELU case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[Mend {
            text: "relu({0}) - {slope} * relu(-{0})",
            replaces: None,
            without: &[],
            note: "The value is the same, made of ops that have a backward.",
        }],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = leaky_relu(x)",
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = leaky_relu(x, slope=0.2)",
        ],
        kink: Some(|src, params| params.num(SLOPE) != Some(1.0) && terms::hits(src, &[0.0])),
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let slope = T::from_f64(cx.params.num(SLOPE).unwrap_or(0.01));
    cx.map(|x| if x > T::ZERO { x } else { slope * x });
}
