//! `add1(a, b)`: adds one number to every element. d = g for the first, the total of g for the number. Mirrors
//! ggml.c, ADD1; upstream gives the number the mean of a row (B2).

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contribution, Contributions, Cx, Differs, Emit, Flow, How, Mend, OpDef,
    ShapeCx, Site, Storage, When, Wrong, folded, forward,
};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;
use crate::trace::Accum;

pub(super) const DEF: OpDef = OpDef {
    name: "add1",
    aliases: &[],
    ggml: "GGML_OP_ADD1",
    sign: None,
    formula: "y = a + b",
    says: "Adds one number to every element.",
    arity: Arity::exactly(2),
    params: &[],
    shape,
    stretches: true,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries("g", &[]), Flow::carries("g", &[])],
    forward: forward!(value, Each),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Wrong(Wrong {
            rule: upstream,
            what: "its second operand gets the mean of the gradient, not the sum",
            when: When::Built(one_row),
        }),
        cite: "ggml.c:6678, ADD1 case of the backward switch",
        mends: &[Mend {
            text: "{0} + {1}",
            replaces: None,
            without: &[],
            note: "ADD has a rule that sums.",
        }],
    }],
    check: Check {
        samples: &[
            "param a [2,3] = rand(seed=1)\nparam b [1] = 0.5\ny = add1(a, b)",
            "param a [2,3] = rand(seed=2)\nparam b [] = 0.5\ny = add1(a, b)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    // A number written beside a tensor has met its shape already.
    if b.shape.n_elements() != 1 && !b.shape.same_extents(&a.shape) {
        return Err(Reason::BadShape { wants: "one number as its second operand", got: b.shape });
    }
    Ok(a.as_f32())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.zip(|a, b| a + b);
}

#[expect(clippy::unnecessary_wraps, reason = "it is a rule")]
fn rule(_: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    Ok((0..2).filter(|src| site.wants(*src)).map(|src| folded(src, site.grad)).collect())
}

/// Whether the mean of a row passes for the number's gradient: more rows are refused by their shape.
fn one_row(site: &Site<'_>) -> bool {
    let [i, j, k, n] = site.ty.shape.padded();
    site.wants(1) && [i, j, k] == [1, 1, 1] && n > 1
}

fn upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(folded(0, site.grad));
    }
    if site.wants(1) {
        let value = emit.op(OpKind::MeanRows, &[site.grad])?;
        out.push(Contribution { src: 1, via: Accum::Add, value, fold: false });
    }
    Ok(out)
}
