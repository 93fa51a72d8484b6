//! `prod_others` over axes: each element becomes the product of all the others on its line, from the products
//! before and after it.
//! It is the slope of `prod`. Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    Read, Site, Storage, axis_param, forward, one, resolve_axes, same_as_first,
};
use super::reduce;
use super::terms;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

const AXIS: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "prod_others",
    aliases: &[],
    ggml: "",
    sign: None,
    formula: "y = Π of the others",
    says: "For each element, the product of all the others along the axes.",
    arity: Arity::exactly(1),
    params: &[axis_param(ParamKind::Axes, Default::Absent)],
    shape: same_as_first,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("Σ over the others of g · Π of the rest", &[Read::Src(0)])],
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
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = prod_others(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = prod_others(x, axis=1)",
            "param x [2,3] = [[4, 0, 5], [0, 0, 6]]\ny = prod_others(x, axis=1)",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    if let Ok(axes) = resolve_axes(cx.params, AXIS, cx.shape(0)) {
        reduce::map_lines(cx, &axes, of_line);
    }
}

/// Each element's product of the others, in place.
fn of_line<T: Real>(line: &mut [T]) {
    let mut product = T::ONE;
    let mut step = |x: &T| {
        let held = product;
        product = held * *x;
        held
    };
    let mut after: Vec<T> = line.iter().rev().map(&mut step).collect();
    after.reverse();
    let mut before = T::ONE;
    for (x, after) in line.iter_mut().zip(&after) {
        let own = *x;
        *x = before * *after;
        before = before * own;
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let axes = resolve_axes(site.params, AXIS, site.shape(0))?;
    let src = [site.src(0), site.grad];
    one(emit.with(OpKind::ProdOthersBack, &src, vec![terms::axes_value(&axes)])?)
}
