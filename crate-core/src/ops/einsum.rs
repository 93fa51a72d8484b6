//! `einsum`: sums of products over named axes, NumPy's subscripts. The gradient of an operand is the einsum of the
//! others and g with the subscripts turned round, so a second derivative is one more turn. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Emit, Flow, OpDef, ParamKind, ParamSpec,
    Read, ShapeCx, Site, Storage, forward, shape_value,
};
use super::einsum_spec::Plan;
use super::lines::send;
use super::repeat::shape_param;
use crate::graph::{NodeId, Params, Value};
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "einsum",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = Σ a · b · .. over the labels that y has not",
    says: "Multiplies operands along axes of one label and adds up over the labels that the result leaves out.",
    arity: Arity { min: 1, max: 4 },
    params: &[
        ParamSpec::new("spec", ParamKind::Text, Default::Required).or(&["subscripts", "equation"]),
        ParamSpec::new("shape", ParamKind::Ints, Default::Absent),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("einsum of the others and g", &[Read::Src(1), Read::Src(2), Read::Src(3)]),
        Flow::carries("einsum of the others and g", &[Read::Src(0), Read::Src(2), Read::Src(3)]),
        Flow::carries("einsum of the others and g", &[Read::Src(0), Read::Src(1), Read::Src(3)]),
        Flow::carries("einsum of the others and g", &[Read::Src(0), Read::Src(1), Read::Src(2)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param a [2,3] = rand(seed=1, lo=-1, hi=1)\nparam b [3,4] = rand(seed=2, lo=-1, hi=1)\ny = einsum(\"ij,jk->ik\", a, b)",
            "param a [2,3] = rand(seed=3, lo=-1, hi=1)\ny = einsum(\"ij->j\", a)",
            "param a [3,3] = rand(seed=4, lo=-1, hi=1)\nparam b [3] = rand(seed=5, lo=-1, hi=1)\ny = einsum(\"ii,i->i\", a, b)",
            "param a [2,3] = rand(seed=6, lo=-1, hi=1)\nparam b [3,2] = rand(seed=7, lo=-1, hi=1)\nparam c [2,2] = rand(seed=8, lo=-1, hi=1)\ny = einsum(\"ij,jk,kl->il\", a, b, c)",
            "param a [2,2,3] = rand(seed=9, lo=-1, hi=1)\nparam b [1,3,2] = rand(seed=10, lo=-1, hi=1)\ny = einsum(\"...ij,...jk->...ik\", a, b)",
            "param a [2,3] = rand(seed=11, lo=-1, hi=1)\nparam b [3] = rand(seed=12, lo=-1, hi=1)\ny = einsum(\"ba,a\", a, b)",
            "param a [2,2] = rand(seed=13, lo=-1, hi=1)\nparam b [2,2] = rand(seed=14, lo=-1, hi=1)\nparam c [2,2] = rand(seed=15, lo=-1, hi=1)\nparam d [2,2] = rand(seed=16, lo=-1, hi=1)\ny = einsum(\"ij,jk,kl,lm->im\", a, b, c, d)",
        ],
        kink: None,
    },
    place: here!(),
};

const SPEC: usize = 0;
const SHAPE: usize = 1;

fn plan(params: &Params, shapes: &[Shape]) -> Result<Plan, Reason> {
    let spec = params.text(SPEC).unwrap_or("");
    Plan::new(spec, shapes, shape_param(params, SHAPE)?)
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let shapes: Vec<Shape> = cx.src.iter().map(|t| t.shape).collect();
    let plan = plan(cx.params, &shapes)?;
    let summed = plan.extents.iter().filter(|(label, _)| !plan.output.contains(label));
    cx.affords(summed.map(|(_, d)| *d))?;
    let mut out = TensorType::f32(plan.shape);
    for (slot, label) in out.axes.iter_mut().zip(&plan.output) {
        let named = cx.src.iter().zip(&plan.inputs).find_map(|(t, labels)| {
            let axis = labels.iter().position(|c| c == label)?;
            t.axes.get(axis).copied().flatten()
        });
        *slot = named;
    }
    Ok(out)
}

/// Every combination of indices below these extents, each as its places in several tensors.
fn walk(extents: &[u32], strides: &[Vec<usize>], mut visit: impl FnMut(&[usize])) {
    let total: usize = extents.iter().map(|d| *d as usize).product();
    let mut places = vec![0; strides.len()];
    for flat in 0..total {
        let mut rest = flat;
        places.fill(0);
        for (label, d) in extents.iter().enumerate().rev() {
            let i = rest % *d as usize;
            rest /= *d as usize;
            for (place, steps) in places.iter_mut().zip(strides) {
                *place += i * steps.get(label).copied().unwrap_or(0);
            }
        }
        visit(&places);
    }
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let shapes: Vec<Shape> = cx.src.iter().map(|o| o.ty.shape).collect();
    let Ok(plan) = plan(cx.params, &shapes) else { return };
    let to = plan.strides(&plan.output, plan.shape);
    let kept = |ix: usize| {
        let (label, d) = plan.extents.get(ix).copied().unwrap_or((' ', 1));
        let axis = plan.output.iter().position(|c| *c == label);
        axis.is_some_and(|axis| plan.shape.dim(axis) == d)
    };
    let (free, summed): (Vec<usize>, Vec<usize>) =
        (0..plan.extents.len()).partition(|ix| kept(*ix));
    let only = |of: &[usize], all: &[usize]| -> Vec<usize> {
        of.iter().map(|ix| all.get(*ix).copied().unwrap_or(0)).collect()
    };
    let extents = |of: &[usize]| -> Vec<u32> {
        of.iter().map(|ix| plan.extents.get(*ix).map_or(1, |e| e.1)).collect()
    };
    let inputs: Vec<Vec<usize>> = plan
        .inputs
        .iter()
        .zip(&shapes)
        .map(|(labels, shape)| plan.strides(labels, *shape))
        .collect();
    let outer: Vec<Vec<usize>> = inputs.iter().chain([&to]).map(|all| only(&free, all)).collect();
    let inner: Vec<Vec<usize>> = inputs.iter().map(|all| only(&summed, all)).collect();
    let mut line: Vec<T> = Vec::new();
    let (src, out) = (cx.src, &mut *cx.out);
    let inner_extents = extents(&summed);
    walk(&extents(&free), &outer, |starts| {
        line.clear();
        walk(&inner_extents, &inner, |places| {
            let factors = src.iter().zip(starts).zip(places);
            line.push(factors.fold(T::ONE, |product, ((o, start), place)| {
                product * o.data.get(start + place).copied().unwrap_or(T::ZERO)
            }));
        });
        if let Some(o) = starts.last().and_then(|at| out.get_mut(*at)) {
            *o = kernels::sum(&line);
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let shapes: Vec<Shape> = site.src_ty.iter().map(|t| t.shape).collect();
    let plan = plan(site.params, &shapes)?;
    let mut out = Vec::with_capacity(site.src.len());
    for of in (0..site.src.len()).filter(|ix| site.wants(*ix)) {
        let mut src: Vec<NodeId> = site.src.to_vec();
        src.remove(of);
        src.push(site.grad);
        let params = vec![Value::Text(plan.adjoint(of).into()), shape_value(site.shape(of))];
        out.push(send(of, emit.with(OpKind::Einsum, &src, params)?));
    }
    Ok(out)
}
