//! `mse_loss(a, b)`: the mean of (a - b)². d = 2 (a - b) g / n, and its opposite. Both have one shape: a column
//! against a row would be a mistake. Not a ggml op; its optimizer builds the same from SUB, SQR, SUM and SCALE.

use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, Mend, OpDef, Read,
    ShapeCx, Site, Storage, folded, forward,
};
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "mse_loss",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = mean((a − b)²)",
    says: "The mean of the squared differences.",
    arity: Arity::exactly(2),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("2 · (a − b) · g / n", &[Read::Src(0), Read::Src(1)]),
        Flow::carries("−2 · (a − b) · g / n", &[Read::Src(0), Read::Src(1)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml has no such op"),
        cite: "ggml.h, enum ggml_op",
        mends: &[Mend {
            text: "mean_rows(reshape(sqr({0} - {1}), shape=[-1]))",
            replaces: None,
            without: &[],
            note: "SUB, SQR and MEAN have a backward; the value is the same.",
        }],
    }],
    check: Check {
        samples: &[
            "param a [2,3] = rand(seed=1, lo=-2, hi=2)\nparam b [2,3] = rand(seed=2, lo=-2, hi=2)\ny = mse_loss(a, b)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    if !a.shape.same_extents(&b.shape) {
        return Err(Reason::ShapesDisagree {
            wants: "operands of one shape",
            a: a.shape,
            b: b.shape,
        });
    }
    Ok(TensorType::f32(Shape::SCALAR))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let zip = cx.data(0).iter().zip(cx.data(1));
    let off: Vec<T> = zip.map(|(a, b)| *a - *b).collect();
    if let Some(o) = cx.out.first_mut() {
        *o = kernels::dot(&off, &off) / T::from_f64(off.len() as f64);
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    let off = emit.sub(site.src(0), site.src(1))?;
    let part = emit.affine(site.grad, 2.0 / site.shape(0).n_elements() as f64, 0.0)?;
    let slope = emit.mul(off, part)?;
    if site.wants(0) {
        out.push(folded(0, slope));
    }
    if site.wants(1) {
        out.push(folded(1, emit.neg(slope)?));
    }
    Ok(out)
}
