//! `cross_entropy(logits, targets)`, as in PyTorch, with the classes on the last axis: targets are class numbers,
//! or a distribution of the logits' shape. The mean over rows; a class number equal to `ignore_index` leaves its
//! row out of the mean.
//! d = (softmax · Σ t - t) g / n for the logits, t being the distribution or the one-hot rows. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, Read, ShapeCx, Site, Storage, folded, forward, shape_value,
};
use super::matmul::shaped;
use super::pick;
use crate::graph::Value;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

const IGNORE: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "cross_entropy",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = −1/n · Σ b · ln softmax(a)",
    says: "How badly the logits of each row foretell its class, averaged over the rows.",
    arity: Arity::exactly(2),
    params: &[ParamSpec::new("ignore_index", ParamKind::Int, Default::Int(-100))],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("(softmax(a) · Σ b − b) · g / n", &[Read::Src(0), Read::Src(1)]),
        Flow::carries("−ln softmax(a) · g / n", &[Read::Src(0)]),
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
            "param x [3,4] = rand(seed=1, lo=-2, hi=2)\nconst t [3] i32 = [2, 0, 3]\ny = cross_entropy(x, t)",
            "param x [3,4] = rand(seed=2, lo=-2, hi=2)\nconst t [3] i32 = [2, -100, 3]\ny = cross_entropy(x, t)",
            "param x [2,3] = rand(seed=3, lo=-2, hi=2)\nparam t [2,3] = rand(seed=4)\ny = cross_entropy(x, t)",
            "param x [2,2,3] = rand(seed=5, lo=-2, hi=2)\nconst t [2,2] i32 = [[2, 0], [1, 1]]\ny = cross_entropy(x, t, ignore_index=0)",
        ],
        kink: None,
    },
    place: here!(),
};

/// Whether targets of this shape are class numbers: they have every axis of the logits but the last.
fn are_classes(logits: Shape, targets: Shape) -> bool {
    let outer = logits.dims().split_last().and_then(|(_, outer)| Shape::new(outer));
    outer.is_some_and(|outer| outer.same_extents(&targets)) && !logits.same_extents(&targets)
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    let wants = "a class for each row, or a share for each logit";
    let bad = Reason::ShapesDisagree { wants, a: a.shape, b: b.shape };
    let fits = are_classes(a.shape, b.shape) || a.shape.same_extents(&b.shape);
    if a.shape.rank() == 0 || !fits {
        return Err(bad);
    }
    Ok(TensorType::f32(Shape::SCALAR))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let of = cx.shape(0);
    let n = of.padded()[3].max(1) as usize;
    let classes = are_classes(of, cx.shape(1));
    let ignore = T::from_f64(cx.params.int(IGNORE).unwrap_or(-100) as f64);
    let mut parts = Vec::new();
    let mut count = 0usize;
    for (at, row) in cx.data(0).chunks_exact(n).enumerate() {
        let total = super::logsumexp::of_line(row);
        let log = |x: T| if x <= -T::INFINITY { x } else { x - total };
        if !classes {
            count += 1;
            let shares = cx.data(1).iter().skip(at * n);
            // A share of 0 adds 0, even of a class that cannot be.
            let live = row.iter().zip(shares).filter(|(_, t)| **t != T::ZERO);
            parts.extend(live.map(|(x, t)| *t * log(*x)));
            continue;
        }
        let Some(class) = cx.data(1).get(at).filter(|class| **class != ignore) else { continue };
        count += 1;
        let place = pick::at(*class, row.len()).and_then(|place| row.get(place));
        // A class that does not exist gives no number, and the page says where that began.
        parts.push(place.map_or(T::from_f64(f64::NAN), |x| log(*x)));
    }
    if let Some(o) = cx.out.first_mut() {
        *o = -kernels::sum(&parts) / T::from_f64(count as f64);
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    let (x, of) = (site.src(0), site.shape(0));
    let width = of.padded()[3];
    let mut labels = site.src(1);
    let part = if are_classes(of, site.shape(1)) {
        if site.wants(1) {
            return Err(Reason::NotThisForm("a class number has no slope: store the targets as i32"));
        }
        let ignore = emit.number(site.params.int(IGNORE).unwrap_or(-100) as f64)?;
        let counts = emit.op(OpKind::NotEqual, &[labels, ignore])?;
        let kept = emit.op(OpKind::Sum, &[counts])?;
        // Labels may have an axis of 1 more than the rows: with one for the classes that would be five.
        let outer = of.dims().split_last().and_then(|(_, outer)| Shape::new(outer));
        labels = shaped(emit, labels, outer.unwrap_or(of))?;
        let classes = vec![Value::Int(i64::from(width))];
        let rows = emit.with(OpKind::OneHot, &[labels], classes)?;
        let dims = shape_value(of.with_dim(of.rank() - 1, 1));
        let counts = emit.with(OpKind::Reshape, &[counts], vec![dims])?;
        labels = emit.mul(rows, counts)?;
        emit.div(site.grad, kept)?
    } else {
        let rows = of.n_elements() as f64 / f64::from(width.max(1));
        emit.affine(site.grad, 1.0 / rows, 0.0)?
    };
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
