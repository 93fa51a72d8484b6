//! `rms_norm_back(a, b)`, ggml's `RMS_NORM_BACK`: what `rms_norm` at b sends back for the gradient a. With s = Σ b² +
//! n · eps and r = √(n / s) it is r (a - b Σ a b / s). d = the same for a, since that is symmetric in gradients.
//! Mirrors ggml.c, `RMS_NORM_BACK`, which has no backward.

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

const EPS: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "rms_norm_back",
    aliases: &[],
    ggml: "GGML_OP_RMS_NORM_BACK",
    sign: None,
    formula: "y = r · (a − b · Σ a · b / s), s = Σ b² + n · eps, r = √(n / s)",
    says: "What rms_norm at the second operand sends back for the gradient that is the first.",
    arity: Arity::exactly(2),
    params: &[ParamSpec::new("eps", ParamKind::Num, Default::Num(1e-6))],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("r · (g − b · Σ g · b / s)", &[Read::Src(1)]),
        Flow::carries(
            "−r / s · (b · Σ g · a + g · Σ b · a + a · Σ b · g − 3 · b · Σ b · g · Σ b · a / s)",
            &[Read::Src(0), Read::Src(1)],
        ),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no RMS_NORM_BACK case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param g [2,4] = rand(seed=1, lo=-1, hi=1)\nparam x [2,4] = rand(seed=2, lo=-3, hi=3)\ny = rms_norm_back(g, x)",
            "param g [3] = rand(seed=3, lo=-1, hi=1)\nparam x [3] = rand(seed=4, lo=-1, hi=1)\ny = rms_norm_back(g, x, eps=0.5)",
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

fn eps(params: &Params) -> f64 {
    params.num(EPS).unwrap_or(1e-6)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [g, x] = cx.src else { return };
    let n = cx.ty.shape.padded()[3].max(1) as usize;
    let count = T::from_f64(n as f64);
    let more = count * T::from_f64(eps(cx.params));
    let rows = g.data.chunks_exact(n).zip(x.data.chunks_exact(n));
    for ((g, x), out) in rows.zip(cx.out.chunks_exact_mut(n)) {
        let s = kernels::dot(x, x) + more;
        let (r, part) = ((count / s).sqrt(), kernels::dot(g, x) / s);
        for ((o, g), x) in out.iter_mut().zip(g).zip(x) {
            *o = r * (*g - *x * part);
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (g, x, to) = (site.src(0), site.src(1), site.grad);
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        let params = site.params.values().to_vec();
        out.push(send(0, emit.with(OpKind::RmsNormBack, &[to, x], params)?));
    }
    if site.wants(1) {
        let last = site.ty.shape.rank().saturating_sub(1);
        let n = f64::from(site.ty.shape.dim(last));
        let mut dot = |a, b| {
            let product = emit.mul(a, b)?;
            emit.sum_kept(product, &[last])
        };
        let (xx, xg, xt, gt) = (dot(x, x)?, dot(x, g)?, dot(x, to)?, dot(g, to)?);
        let s = emit.affine(xx, 1.0, n * eps(site.params))?;
        let count = emit.number(n)?;
        let share = emit.div(s, count)?;
        let r = emit.op(OpKind::Rsqrt, &[share])?;
        let both = emit.mul(xt, xg)?;
        let both = emit.div(both, s)?;
        let both = emit.affine(both, 3.0, 0.0)?;
        let along = emit.sub(gt, both)?;
        let along = emit.mul(x, along)?;
        let first = emit.mul(to, xg)?;
        let second = emit.mul(g, xt)?;
        let all = emit.add(along, first)?;
        let all = emit.add(all, second)?;
        let factor = emit.div(r, s)?;
        let all = emit.mul(all, factor)?;
        out.push(send(1, emit.neg(all)?));
    }
    Ok(out)
}
