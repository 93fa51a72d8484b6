//! `l2_norm` over the last axis: a / max(‖a‖, eps). d = (g - y Σ y g) / ‖a‖ where the length counts, g / eps where
//! it does not.
//! ggml computes it and has no backward for it.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, Mend, OpDef,
    ParamKind, ParamSpec, Read, Site, Storage, forward, one, same_as_first,
};
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

const EPS: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "l2_norm",
    aliases: &[],
    ggml: "GGML_OP_L2_NORM",
    sign: None,
    formula: "y = a / max(‖a‖, eps)",
    says: "Brings each row to length 1.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("eps", ParamKind::Num, Default::Num(1e-12))],
    shape: same_as_first,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[Flow::carries(
        "(g − y · Σ y · g) / ‖a‖ where ‖a‖ > eps, else g / eps",
        &[Read::Src(0), Read::Out],
    )],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no L2_NORM case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[Mend {
            text: "{0} / repeat(relu(sqrt(sum_rows(sqr({0}))) - {eps}) + {eps}, {0})",
            replaces: None,
            without: &[],
            note: "The value is the same; a row of zeros has no gradient this way.",
        }],
    }],
    check: Check {
        samples: &[
            "param x [2,4] = rand(seed=1, lo=-2, hi=2)\ny = l2_norm(x)",
            "param x [2,3] = [[3, 4, 0], [0.1, -0.2, 0.3]]\ny = l2_norm(x, eps=1)",
            "param x [2,2] = [[0, 0], [1, 2]]\ny = l2_norm(x, eps=0.5)",
        ],
        kink: Some(|src, params| {
            let eps = params.num(EPS).unwrap_or(1e-12);
            src.first().is_some_and(|o| {
                let n = o.ty.shape.padded()[3].max(1) as usize;
                o.data.chunks_exact(n).any(|row| (length(row) - eps).abs() <= 0.0)
            })
        }),
    },
    place: here!(),
};

fn length<T: Real>(row: &[T]) -> T {
    kernels::dot(row, row).sqrt()
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let eps = T::from_f64(cx.params.num(EPS).unwrap_or(1e-12));
    let n = cx.ty.shape.padded()[3].max(1) as usize;
    let Some(a) = cx.src.first() else { return };
    for (out, row) in cx.out.chunks_exact_mut(n).zip(a.data.chunks_exact(n)) {
        let length = length(row);
        let length = if length > eps { length } else { eps };
        for (o, x) in out.iter_mut().zip(row) {
            *o = *x / length;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    // No length is below 0: a negative bound never counts, and its square would.
    let eps = site.params.num(EPS).unwrap_or(1e-12).max(0.0);
    let square = emit.op(OpKind::Sqr, &[site.src(0)])?;
    let square = emit.op(OpKind::SumRows, &[square])?;
    // The root is taken of 1 where the length does not count: at 0 its own slope is infinite.
    let counts = emit.above(square, eps * eps)?;
    let square = emit.pick_or(counts, square, 1.0)?;
    let length = emit.op(OpKind::Sqrt, &[square])?;
    let length = emit.pick_or(counts, length, eps)?;
    let along = emit.mul(site.grad, site.node)?;
    let along = emit.op(OpKind::SumRows, &[along])?;
    let along = emit.pick_or(counts, along, 0.0)?;
    let along = emit.mul(site.node, along)?;
    let across = emit.sub(site.grad, along)?;
    one(emit.div(across, length)?)
}
