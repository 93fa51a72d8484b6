//! `bce_with_logits(logits, targets)`: the mean of max(x, 0) - x t + ln(1 + e^-|x|). d = (σ(x) - t) g / n for the
//! logits, -x g / n for the targets. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read,
    ShapeCx, Site, Storage, folded, forward,
};
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "bce_with_logits",
    aliases: &["binary_cross_entropy_with_logits"],
    ggml: "",
    sign: None,
    formula: "y = mean(max(a, 0) − a · b + ln(1 + e^−|a|))",
    says: "How badly each logit foretells whether its target is 0 or 1, averaged.",
    arity: Arity::exactly(2),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("(σ(a) − b) · g / n", &[Read::Src(0), Read::Src(1)]),
        Flow::carries("−a · g / n", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml has no such op"),
        cite: "ggml.h, enum ggml_op",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\nconst t [2,3] = [[1,0,1],[0,0,1]]\ny = bce_with_logits(x, t)",
            "param x [4] = [-40, -1, 1, 40]\nparam t [4] = rand(seed=2)\ny = bce_with_logits(x, t)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    if !a.shape.same_extents(&b.shape) {
        return Err(Reason::ShapesDisagree {
            wants: "logits and targets of one shape",
            a: a.shape,
            b: b.shape,
        });
    }
    Ok(TensorType::f32(Shape::SCALAR))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let zip = cx.data(0).iter().zip(cx.data(1));
    let parts: Vec<T> = zip
        .map(|(x, t)| {
            let high = if *x > T::ZERO { *x } else { T::ZERO };
            let size = if *x > T::ZERO { *x } else { -*x };
            high - *x * *t + (-size).exp().ln_1p()
        })
        .collect();
    if let Some(o) = cx.out.first_mut() {
        *o = kernels::sum(&parts) / T::from_f64(parts.len() as f64);
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    let (x, t) = (site.src(0), site.src(1));
    let part = emit.affine(site.grad, 1.0 / site.shape(0).n_elements() as f64, 0.0)?;
    if site.wants(0) {
        let share = emit.op(OpKind::Sigmoid, &[x])?;
        let off = emit.sub(share, t)?;
        out.push(folded(0, emit.mul(off, part)?));
    }
    if site.wants(1) {
        let turned = emit.neg(x)?;
        out.push(folded(1, emit.mul(turned, part)?));
    }
    Ok(out)
}
