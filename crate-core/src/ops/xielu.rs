//! `xielu`, elementwise: p x² + βx above 0, else (expm1(min(x, ε)) - x) n + βx, with p = softplus(`α_p`) and
//! n = β + softplus(`α_n`). ggml computes it and has no backward for it.
//! d = g (2px + β) above 0, else g (n (e^x - 1) + β), where the exponential stands still above ε.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, Read, Site, Storage, forward, one, same_as_first,
};
use super::terms;
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

/// The four numbers, as the formula uses them.
struct Coefs {
    n: f64,
    p: f64,
    beta: f64,
    eps: f64,
}

impl Coefs {
    fn new(params: &Params) -> Self {
        let given = |ix, default| params.num(ix).unwrap_or(default);
        let softplus = |x: f64| if x > 20.0 { x } else { Real::ln_1p(Real::exp(x)) };
        let (alpha_n, alpha_p) = (given(0, 0.8), given(1, 0.8));
        let (beta, eps) = (given(2, 0.5), given(3, -1e-6));
        Self { n: beta + softplus(alpha_n), p: softplus(alpha_p), beta, eps }
    }
}

pub(super) const DEF: OpDef = OpDef {
    name: "xielu",
    aliases: &[],
    ggml: "GGML_UNARY_OP_XIELU",
    sign: None,
    formula: "y = p · a² + beta · a where a > 0, else (e^min(a, eps) − 1 − a) · n + beta · a",
    says: "A parabola above 0 and a bent line below.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("alpha_n", ParamKind::Num, Default::Num(0.8)),
        ParamSpec::new("alpha_p", ParamKind::Num, Default::Num(0.8)),
        ParamSpec::new("beta", ParamKind::Num, Default::Num(0.5)),
        ParamSpec::new("eps", ParamKind::Num, Default::Num(-1e-6)),
    ],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries(
        "g · (2 · p · a + beta) where a > 0, else g · (n · (e^a − 1) + beta)",
        &[Read::Src(0)],
    )],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's unary backward switch has no XIELU case"),
        cite: "ggml.c:7080, default case of the unary backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = xielu(x)",
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = xielu(x, alpha_n=0.3, alpha_p=-0.5, beta=0.7, eps=-0.01)",
        ],
        kink: Some(|src, params| terms::hits(src, &[0.0, Coefs::new(params).eps])),
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Coefs { n, p, beta, eps } = Coefs::new(cx.params);
    let [n, p, beta, eps] = [n, p, beta, eps].map(T::from_f64);
    cx.map(|x| {
        if x > T::ZERO {
            p * x * x + beta * x
        } else {
            let low = if x < eps { x } else { eps };
            (low.exp_m1() - x) * n + beta * x
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let Coefs { n, p, beta, eps } = Coefs::new(site.params);
    let x = site.src(0);
    let above = emit.above(x, 0.0)?;
    let right = emit.affine(x, 2.0 * p, beta)?;
    // The exponential is taken of what is not above the bound only: in the other branch it could overflow.
    let low = emit.within(x, None, Some(eps))?;
    let power = emit.op(OpKind::Exp, &[low])?;
    let moves = emit.below(x, eps)?;
    let power = emit.pick_or(moves, power, 0.0)?;
    let left = emit.affine(power, n, beta - n)?;
    let slope = emit.pick(above, right, left)?;
    one(emit.mul(site.grad, slope)?)
}
