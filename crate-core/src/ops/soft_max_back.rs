//! `soft_max_back(a, b)`, ggml's `SOFT_MAX_BACK`: what `softmax` with the shares b sends back for the gradient a,
//! scale · b (a - Σ a b). d = the same for a, since that is symmetric in gradients. Mirrors ggml.c, `SOFT_MAX_BACK`,
//! which has no backward and does not run with a bias (B11); here there is none to give.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, Read, ShapeCx, Site, Storage, forward,
};
use super::lines::send;
use super::silu_back::same_shapes;
use crate::graph::Params;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

const SCALE: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "soft_max_back",
    aliases: &["softmax_back", "soft_max_ext_back"],
    ggml: "GGML_OP_SOFT_MAX_BACK",
    sign: None,
    formula: "y = scale · b · (a − Σ a · b)",
    says: "What softmax, whose result is the second operand, sends back for the gradient that is the first.",
    arity: Arity::exactly(2),
    params: &[ParamSpec::new("scale", ParamKind::Num, Default::Num(1.0))],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("scale · b · (g − Σ g · b)", &[Read::Src(1)]),
        Flow::carries("scale · (g · (a − Σ a · b) − a · Σ g · b)", &[Read::Src(0), Read::Src(1)]),
    ],
    forward: forward!(value, Rows),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no SOFT_MAX_BACK case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param g [2,4] = rand(seed=1, lo=-1, hi=1)\nparam x [2,4] = rand(seed=2, lo=-1, hi=1)\np = softmax(x)\ny = soft_max_back(g, p)",
            "param g [2,3] = rand(seed=3, lo=-1, hi=1)\nparam p [2,3] = rand(seed=4)\ny = soft_max_back(g, p, scale=0.5)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    if cx.dims(0).rank() == 0 {
        return Err(Reason::BadShape { wants: "at least one axis", got: cx.dims(0) });
    }
    same_shapes(cx)
}

fn scale(params: &Params) -> f64 {
    params.num(SCALE).unwrap_or(1.0)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [g, p] = cx.src else { return };
    let n = cx.ty.shape.padded()[3].max(1) as usize;
    let scale = T::from_f64(scale(cx.params));
    let rows = g.data.chunks_exact(n).zip(p.data.chunks_exact(n));
    for ((g, p), out) in rows.zip(cx.out.chunks_exact_mut(n)) {
        let total = kernels::dot(g, p);
        for ((o, g), p) in out.iter_mut().zip(g).zip(p) {
            *o = scale * *p * (*g - total);
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (g, p, to) = (site.src(0), site.src(1), site.grad);
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        let params = site.params.values().to_vec();
        out.push(send(0, emit.with(OpKind::SoftMaxBack, &[to, p], params)?));
    }
    if site.wants(1) {
        let last = site.ty.shape.rank().saturating_sub(1);
        let mut dot = |a, b| {
            let product = emit.mul(a, b)?;
            emit.sum_kept(product, &[last])
        };
        let (own, theirs) = (dot(g, p)?, dot(to, p)?);
        let centred = emit.sub(g, own)?;
        let first = emit.mul(to, centred)?;
        let second = emit.mul(g, theirs)?;
        let both = emit.sub(first, second)?;
        out.push(send(1, emit.affine(both, scale(site.params), 0.0)?));
    }
    Ok(out)
}
