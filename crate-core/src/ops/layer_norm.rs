//! `layer_norm` over the last axis, with a weight and a bias for each place of the row where they are given: b ·
//! norm(a) + c.
//! d = the way back through `norm` of g · b for the rows, g · norm(a) for the weight, g for the bias. In ggml it is
//! NORM, MUL and ADD.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, Read, ShapeCx, Site, Storage, folded, forward,
};
use super::normal::{self, Mean};
use crate::graph::{Params, Value};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

const BIAS: usize = 1;
const EPS: usize = 2;

pub(super) const DEF: OpDef = OpDef {
    name: "layer_norm",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = (a − mean a) / √(variance + eps) · b + c",
    says: "Normalises each row, then stretches and shifts it.",
    arity: Arity { min: 1, max: 3 },
    params: &[
        ParamSpec::new("weight", ParamKind::Node, Default::Absent),
        ParamSpec::new("bias", ParamKind::Node, Default::Absent),
        ParamSpec::new("eps", ParamKind::Num, Default::Num(1e-5)),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("through norm of g · b", &[Read::Src(0), Read::Src(1)]),
        Flow::carries("g · norm(a)", &[Read::Src(0)]),
        Flow::carries("g", &[]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml has no such op, and no backward for NORM"),
        cite: "ggml.h, enum ggml_op",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [2,4] = rand(seed=1, lo=-2, hi=2)\ny = layer_norm(x)",
            "param x [2,4] = rand(seed=2, lo=-2, hi=2)\nparam w [4] = rand(seed=3)\nparam b [4] = rand(seed=4)\ny = layer_norm(x, w, b)",
            "param x [2,2,3] = rand(seed=5, lo=-2, hi=2)\nparam w [3] = rand(seed=6)\ny = layer_norm(x, weight=w, eps=0.1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let width = of.shape.padded()[3];
    for part in cx.src.iter().skip(1) {
        if part.shape.padded() != [1, 1, 1, width] {
            let wants = "a weight and a bias as long as a row";
            return Err(Reason::ShapesDisagree { wants, a: of.shape, b: part.shape });
        }
    }
    if cx.params.int(BIAS) == Some(1) {
        return Err(Reason::BadParam { param: "bias", wants: "given together with a weight" });
    }
    Ok(of.as_f32())
}

fn eps(params: &Params) -> f64 {
    params.num(EPS).unwrap_or(1e-5)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(a) = cx.src.first() else { return };
    let n = cx.ty.shape.padded()[3].max(1) as usize;
    let of = |ix: usize| cx.src.get(ix).map(|o| o.data);
    for (out, row) in cx.out.chunks_exact_mut(n).zip(a.data.chunks_exact(n)) {
        normal::row(row, out, Mean::Off, eps(cx.params));
        for (o, w) in out.iter_mut().zip(of(1).unwrap_or(&[])) {
            *o = *o * *w;
        }
        for (o, b) in out.iter_mut().zip(of(2).unwrap_or(&[])) {
            *o += *b;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let x = site.src(0);
    let eps = eps(site.params);
    let mut out = Vec::with_capacity(3);
    if site.wants(0) || site.wants(1) {
        let rows = emit.with(OpKind::Norm, &[x], vec![Value::Num(eps)])?;
        if site.wants(0) {
            let grad =
                if site.src.len() > 1 { emit.mul(site.grad, site.src(1))? } else { site.grad };
            out.push(folded(0, normal::back(emit, [x, rows, grad], Mean::Off, eps)?));
        }
        if site.wants(1) {
            out.push(folded(1, emit.mul(site.grad, rows)?));
        }
    }
    if site.wants(2) {
        out.push(folded(2, site.grad));
    }
    Ok(out)
}
