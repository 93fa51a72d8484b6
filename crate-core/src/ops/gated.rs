//! What gated linear units share: two operands, or one whose last axis holds both halves.
//! `y = f(gate) · up`; d = g · up · f'(gate) for the gate, g · f(gate) for the other. Mirrors ggml.c, GLU.
//! Upstream has a backward for SWIGLU of two operands alone.

use super::OpKind;
use super::def::{
    Contribution, Contributions, Cx, Default, Emit, ParamKind, ParamSpec, ShapeCx, Site,
    shape_value,
};
use crate::graph::{Index, NodeId, Params, Value};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::Broadcast;
use crate::tensor::{Shape, TensorType};
use crate::trace::Accum;

/// The place of `swapped` in a unit's attributes.
const SWAPPED: usize = 0;

/// `swapped`: in one operand, the second half is the gate.
pub(super) const SWAP: ParamSpec = ParamSpec::new("swapped", ParamKind::Bool, Default::Bool(false));

/// The shape of the operand, or half of it.
pub(super) fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let a = cx.ty(0);
    if let Some(b) = cx.src.get(1) {
        let agree = match cx.broadcast {
            Broadcast::Tile => a.shape.same_extents(&b.shape),
            Broadcast::TwoSided => a.shape == b.shape,
        };
        if !agree {
            let wants = "a gate and an operand of one shape";
            return Err(Reason::ShapesDisagree { wants, a: a.shape, b: b.shape });
        }
        if cx.params.flag(SWAPPED) {
            let wants = "left out where gate and operand are two tensors";
            return Err(Reason::BadParam { param: "swapped", wants });
        }
        return Ok(a.as_f32());
    }
    let bad = Reason::BadShape { wants: "an even last axis, or two operands", got: a.shape };
    let last = a.shape.rank().checked_sub(1).ok_or(bad.clone())?;
    let whole = a.shape.dim(last);
    if !whole.is_multiple_of(2) {
        return Err(bad);
    }
    Ok(TensorType { shape: a.shape.with_dim(last, whole / 2), ..a.as_f32() })
}

/// Writes `f(gate, up)`.
pub(super) fn value<T: Real>(cx: &mut Cx<'_, T>, f: impl Fn(T, T) -> T) {
    match cx.src {
        [gate, up] => {
            for ((o, x), u) in cx.out.iter_mut().zip(gate.data).zip(up.data) {
                *o = f(*x, *u);
            }
        }
        [both] => {
            let half = cx.ty.shape.padded()[3] as usize;
            let rows = both.data.chunks_exact((2 * half).max(1));
            for (line, row) in cx.out.chunks_exact_mut(half.max(1)).zip(rows) {
                let (first, second) = row.split_at(half);
                let (gate, up) =
                    if cx.params.flag(SWAPPED) { (second, first) } else { (first, second) };
                for ((o, x), u) in line.iter_mut().zip(gate).zip(up) {
                    *o = f(*x, *u);
                }
            }
        }
        _ => {}
    }
}

/// What the bracket of each half holds: the gate's, then the other's.
fn halves(of: Shape, params: &Params) -> [Vec<Value>; 2] {
    let half = i64::from(of.padded()[3] / 2);
    let range = |start, stop| {
        let part = Index::Range { start: Some(start), stop: Some(stop), step: None };
        vec![Value::Index([Index::Rest, part].into())]
    };
    let (first, second) = (range(0, half), range(half, 2 * half));
    if params.flag(SWAPPED) { [second, first] } else { [first, second] }
}

/// The gate and the other operand, as nodes.
pub(super) fn parts(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<[NodeId; 2], Reason> {
    if site.src.len() > 1 {
        return Ok([site.src(0), site.src(1)]);
    }
    let [gate, up] = halves(site.shape(0), site.params);
    let gate = emit.with(OpKind::Slice, &[site.src(0)], gate)?;
    Ok([gate, emit.with(OpKind::Slice, &[site.src(0)], up)?])
}

/// Sends both gradients where they belong: to two operands, or to the halves of one.
pub(super) fn send(
    emit: &mut Emit<'_>,
    site: &Site<'_>,
    grads: [Option<NodeId>; 2],
) -> Result<Contributions, Reason> {
    let to = |src, value| Contribution { src, via: Accum::Add, value, fold: false };
    if site.src.len() > 1 {
        let answer = grads.into_iter().enumerate();
        return Ok(answer.filter_map(|(src, value)| Some(to(src, value?))).collect());
    }
    let whole = site.shape(0);
    let mut sum = None;
    for (grad, mut params) in grads.into_iter().zip(halves(whole, site.params)) {
        let Some(grad) = grad else { continue };
        params.push(shape_value(whole));
        let part = emit.with(OpKind::SliceBack, &[grad], params)?;
        sum = Some(match sum {
            None => part,
            Some(before) => emit.add(before, part)?,
        });
    }
    Ok(sum.into_iter().map(|value| to(0, value)).collect())
}

/// Which gradients are asked for: the gate's, then the other's.
pub(super) fn wants(site: &Site<'_>) -> [bool; 2] {
    [site.wants(0), site.wants(usize::from(site.src.len() > 1))]
}

/// The rule of a unit whose gate goes through this activation with this slope.
pub(super) fn rule(
    emit: &mut Emit<'_>,
    site: &Site<'_>,
    act: OpKind,
    slope: fn(&mut Emit<'_>, NodeId) -> Result<NodeId, Reason>,
) -> Result<Contributions, Reason> {
    let [gate, up] = parts(emit, site)?;
    let mut grads = [None, None];
    let [wants_gate, wants_up] = wants(site);
    if wants_gate {
        let slope = slope(emit, gate)?;
        let factor = emit.mul(slope, up)?;
        grads[0] = Some(emit.mul(site.grad, factor)?);
    }
    if wants_up {
        let open = emit.op(act, &[gate])?;
        grads[1] = Some(emit.mul(site.grad, open)?);
    }
    send(emit, site, grads)
}
