//! `cross_entropy_loss(logits, labels)`: -1/R Σ labels · `log_softmax(logits)` over R rows. d = (softmax · Σ labels -
//! labels) g / R for the logits. Mirrors ggml.c, `CROSS_ENTROPY_LOSS`. A label of 0 adds 0 even where the logit is
//! minus infinity (upstream: NaN, B29).
//! Upstream leaves out the Σ, which is right only for labels that add up to 1 (B12).

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Operand,     Read, ShapeCx, Site, Storage, When, Wrong, folded, forward, one,
};
use crate::graph::Params;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "cross_entropy_loss",
    aliases: &[],
    ggml: "GGML_OP_CROSS_ENTROPY_LOSS",
    sign: None,
    formula: "y = −1/R · Σ b · ln softmax(a)",
    says: "How badly the logits of each row foretell its labels, averaged over the rows.",
    arity: Arity::exactly(2),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("(softmax(a) · Σ b − b) · g / R", &[Read::Src(0), Read::Src(1)]),
        Flow::carries("−ln softmax(a) · g / R", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[
        Differs {
            rules: RuleSet::Upstream,
            how: How::Wrong(Wrong {
                rule: upstream,
                what: "its gradient takes each row of labels to add up to 1, and some row does not",
                when: When::Run(unequal),
            }),
            cite: "ggml.c:7088, CROSS_ENTROPY_LOSS case of the backward switch",
            mends: &[],
        },
        Differs {
            rules: RuleSet::Upstream,
            how: How::Wrong(Wrong {
                rule: upstream,
                what: "its value is NaN there: a label of 0 times a logarithm of minus infinity",
                when: When::Run(impossible),
            }),
            cite: "ggml-cpu, cross_entropy_loss",
            mends: &[],
        },
    ],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\nconst t [2,3] = [[1,0,0],[0,0.25,0.75]]\ny = cross_entropy_loss(x, t)",
            "param x [2,3] = rand(seed=2, lo=-2, hi=2)\nparam t [2,3] = rand(seed=3)\ny = cross_entropy_loss(x, t)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    if !a.shape.same_extents(&b.shape) {
        return Err(Reason::ShapesDisagree {
            wants: "logits and labels of one shape",
            a: a.shape,
            b: b.shape,
        });
    }
    if a.shape.rank() == 0 {
        return Err(Reason::BadShape { wants: "at least one axis", got: a.shape });
    }
    Ok(TensorType::f32(Shape::SCALAR))
}

fn rows(of: Shape) -> f64 {
    of.n_elements() as f64 / f64::from(of.padded()[3].max(1))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let of = cx.shape(0);
    let n = of.padded()[3].max(1) as usize;
    let mut parts = Vec::with_capacity(cx.data(0).len());
    for (row, labels) in cx.data(0).chunks_exact(n).zip(cx.data(1).chunks_exact(n)) {
        let total = super::logsumexp::of_line(row);
        for (x, label) in row.iter().zip(labels) {
            let log = if *x <= -T::INFINITY { *x } else { *x - total };
            parts.push(*label * log);
            if *label == T::ZERO && !log.is_finite() && !log.is_nan() {
                parts.pop();
            }
        }
    }
    if let Some(o) = cx.out.first_mut() {
        *o = -kernels::sum(&parts) / T::from_f64(rows(of));
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    let (x, labels) = (site.src(0), site.src(1));
    let part = emit.affine(site.grad, 1.0 / rows(site.shape(0)), 0.0)?;
    if site.wants(0) {
        let share = emit.op(OpKind::Softmax, &[x])?;
        let total = emit.op(OpKind::SumRows, &[labels])?;
        let meant = emit.mul(share, total)?;
        let off = emit.sub(meant, labels)?;
        out.push(folded(0, emit.mul(off, part)?));
    }
    if site.wants(1) {
        let log = emit.op(OpKind::LogSoftmax, &[x])?;
        let log = emit.neg(log)?;
        out.push(folded(1, emit.mul(log, part)?));
    }
    Ok(out)
}

fn upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    if site.wants(1) {
        return Err(Reason::NotThisForm("ggml gives the labels no gradient"));
    }
    let share = emit.op(OpKind::Softmax, &[site.src(0)])?;
    let off = emit.sub(share, site.src(1))?;
    let part = emit.affine(site.grad, 1.0 / rows(site.shape(0)), 0.0)?;
    one(emit.mul(off, part)?)
}

/// Whether some row of labels does not add up to 1.
fn unequal(src: &[Operand<'_, f64>], _: &Params) -> bool {
    src.get(1).is_some_and(|labels| {
        let n = labels.ty.shape.padded()[3].max(1) as usize;
        labels.data.chunks_exact(n).any(|row| (kernels::sum(row) - 1.0).abs() > 1e-6)
    })
}

/// Whether some class that cannot be has the label 0.
fn impossible(src: &[Operand<'_, f64>], _: &Params) -> bool {
    let [logits, labels] = src else { return false };
    let mut all = logits.data.iter().zip(labels.data);
    all.any(|(x, t)| *x <= f64::NEG_INFINITY && t.abs() <= 0.0)
}
