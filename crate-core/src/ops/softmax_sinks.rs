//! `softmax_sinks(a, sinks, mask)` over the last axis: one more logit a head, which takes its share and has no
//! element of its own.
//! d z = y (g - Σ y g); d sink = -Σ over the head's rows of p · Σ y g, p = 1 - Σ y being the sink's share.
//! Mirrors ggml.c, `SOFT_MAX` with sinks, where a sink that needs a gradient ends the process (B8).

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contribution, Contributions, Cx, Default, Differs, Emit, Flow, How,
    OpDef, ParamKind, ParamSpec, Read, ShapeCx, Site, Storage, folded, forward, shape_value,
};
use super::shares::{self, Logits};
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;
use crate::trace::Accum;

const SCALE: usize = 2;
const MAX_BIAS: usize = 3;

pub(super) const DEF: OpDef = OpDef {
    name: "softmax_sinks",
    aliases: &["soft_max_add_sinks"],
    ggml: "GGML_OP_SOFT_MAX",
    sign: None,
    formula: "y = e^z / (e^b + Σ e^z), z = scale · a + c",
    says: "Turns numbers into shares, of which a sink of each head takes a part.",
    arity: Arity { min: 2, max: 3 },
    params: &[
        ParamSpec::new("sinks", ParamKind::Node, Default::Absent),
        shares::MASK,
        shares::SCALE,
        shares::MAX_BIAS,
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("scale · y · (g − Σ y · g)", &[Read::Out]),
        Flow::carries("−Σ over rows of (1 − Σ y) · Σ y · g", &[Read::Out]),
        Flow::carries("y · (g − Σ y · g)", &[Read::Out]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Rule(upstream),
        cite: "ggml.c:6977, SOFT_MAX case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,3,2,4] = rand(seed=1, lo=-2, hi=2)\nparam s [3] = rand(seed=2, lo=-2, hi=2)\ny = softmax_sinks(x, s)",
            "param x [3,2,4] = rand(seed=3, lo=-2, hi=2)\nparam s [3] = rand(seed=4, lo=-2, hi=2)\nparam m [2,4] = rand(seed=5, lo=-2, hi=2)\ny = softmax_sinks(x, s, m, scale=0.5, max_bias=8)",
            "param x [2,4] = rand(seed=6, lo=-2, hi=2)\nparam s [] = 0.5\ny = softmax_sinks(x, s)",
        ],
        kink: None,
    },
    place: here!(),
};

fn logits(params: &Params, n_src: usize) -> Logits {
    Logits::new(params, (n_src > 2).then_some(2), SCALE, MAX_BIAS)
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (of, sinks) = (cx.dims(0), cx.dims(1));
    if of.rank() == 0 || sinks.n_elements() != u64::from(of.padded()[1]) {
        let wants = "one sink for each head, the third axis from the right";
        return Err(Reason::ShapesDisagree { wants, a: of, b: sinks });
    }
    logits(cx.params, cx.src.len()).check(cx)?;
    Ok(cx.ty(0).as_f32())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    logits(cx.params, cx.src.len()).write(cx.src, cx.out);
    let dims = cx.ty.shape.padded().map(|d| d as usize);
    let Some(sinks) = cx.src.get(1) else { return };
    for (row, line) in cx.out.chunks_exact_mut(dims[3].max(1)).enumerate() {
        shares::shares(line, sinks.data.get((row / dims[2]) % dims[1]).copied());
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let logits = logits(site.params, site.src.len());
    let of = site.shape(0);
    let last = of.rank().saturating_sub(1);
    let (grad, total) = shares::to_logits(emit, site, last)?;
    let mut out = Vec::with_capacity(3);
    if site.wants(0) {
        out.push(folded(0, logits.to_operand(emit, grad)?));
    }
    if site.wants(1) {
        let given = emit.sum_kept(site.node, &[last])?;
        let share = emit.one_minus(given)?;
        let pull = emit.mul(share, total)?;
        let pull = emit.neg(pull)?;
        let head = of.rank().checked_sub(3);
        let rows: Vec<usize> = (0..of.rank()).filter(|axis| Some(*axis) != head).collect();
        let sum = emit.sum_kept(pull, &rows)?;
        let target = vec![shape_value(site.shape(1))];
        let value = emit.with(OpKind::Reshape, &[sum], target)?;
        out.push(Contribution { src: 1, via: Accum::Add, value, fold: false });
    }
    out.extend(logits.to_mask(emit, site, grad)?);
    Ok(out)
}

/// Nothing for the sinks: where they need a gradient, the driver finds it missing.
fn upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let logits = logits(site.params, site.src.len());
    if site.wants(2) {
        return Err(Reason::NotThisForm("ggml gives the mask no gradient"));
    }
    if logits.max_bias > 0.0 {
        return Err(Reason::NotThisForm("ggml's SOFT_MAX_BACK does not run with max_bias"));
    }
    if !site.wants(0) {
        return Ok(Vec::new());
    }
    let last = site.shape(0).rank().saturating_sub(1);
    let (grad, _) = shares::to_logits(emit, site, last)?;
    Ok(vec![folded(0, logits.to_operand(emit, grad)?)])
}
