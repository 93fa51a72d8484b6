//! `elu`, elementwise: x above 0, else alpha (e^x - 1). d = g, or g alpha e^x. ggml computes it and has no backward
//! for it.
//! The exponential is taken of what is not above 0 only: in the other branch it could overflow.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, Mend, OpDef,
    ParamKind, ParamSpec, Read, Site, Storage, forward, one, same_as_first,
};
use super::terms;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

const ALPHA: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "elu",
    aliases: &[],
    ggml: "GGML_UNARY_OP_ELU",
    sign: None,
    formula: "y = a where a > 0, else alpha · (e^a − 1)",
    says: "Keeps numbers above 0 and bends those below towards -alpha.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("alpha", ParamKind::Num, Default::Num(1.0))],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g where a > 0, else g · alpha · e^a", &[Read::Src(0)])],
    forward: forward!(value, Each),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's unary backward switch has no ELU case"),
        cite: "ggml.c:7080, default case of the unary backward switch",
        mends: &[Mend {
            text: "relu({0}) + {alpha} * expm1(-relu(-{0}))",
            replaces: None,
            without: &[],
            note: "The value is the same, made of ops that have a backward.",
        }],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = elu(x)",
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = elu(x, alpha=0.5)",
        ],
        kink: Some(|src, params| params.num(ALPHA) != Some(1.0) && terms::hits(src, &[0.0])),
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let alpha = T::from_f64(cx.params.num(ALPHA).unwrap_or(1.0));
    cx.map(|x| if x > T::ZERO { x } else { alpha * x.exp_m1() });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let x = site.src(0);
    let low = emit.within(x, None, Some(0.0))?;
    let power = emit.op(OpKind::Exp, &[low])?;
    let slope = emit.affine(power, site.params.num(ALPHA).unwrap_or(1.0), 0.0)?;
    let bent = emit.mul(site.grad, slope)?;
    let above = emit.above(x, 0.0)?;
    one(emit.pick(above, site.grad, bent)?)
}
