//! Activations as functions and as slopes, for the rows that are one and the gated units that use one.
//! Each slope is arithmetic on nodes, so it can be differentiated again.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::OpKind;
use super::def::Emit;
use crate::graph::NodeId;
use crate::math::Real;
use crate::refusal::Reason;

/// √(2/π), as ggml has it: ggml-cpu, `SQRT_2_OVER_PI`.
const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;
/// ggml-cpu, `GELU_COEF_A`.
const GELU_A: f64 = 0.044_715;
/// ggml-cpu, `GELU_QUICK_COEF`, positive.
const QUICK: f64 = 1.702;

/// Beyond it the slope of a GELU is 0 or 1 in every bit: a bound that keeps cubes from overflowing.
const GELU_TAIL: f64 = 30.0;

type Made = Result<NodeId, Reason>;

/// `x σ(βx)`.
fn swish<T: Real>(x: T, beta: f64) -> T {
    x * (T::from_f64(beta) * x).sigmoid()
}

/// `s (1 + βx (1 - s))` with `s = σ(βx)`.
fn swish_slope(emit: &mut Emit<'_>, x: NodeId, beta: f64) -> Made {
    let scaled = if (beta - 1.0).abs() <= 0.0 { x } else { emit.affine(x, beta, 0.0)? };
    let share = emit.op(OpKind::Sigmoid, &[scaled])?;
    let rest = emit.one_minus(share)?;
    let bend = emit.mul(scaled, rest)?;
    let factor = emit.affine(bend, 1.0, 1.0)?;
    emit.mul(share, factor)
}

/// `max(x, 0)`.
pub(super) fn relu<T: Real>(x: T) -> T {
    if x > T::ZERO || x.is_nan() { x } else { T::ZERO }
}

/// 1 above 0, else 0.
pub(super) fn relu_slope(emit: &mut Emit<'_>, x: NodeId) -> Made {
    emit.op(OpKind::Step, &[x])
}

/// `x σ(x)`.
pub(super) fn silu<T: Real>(x: T) -> T {
    swish(x, 1.0)
}

/// `σ (1 + x (1 - σ))`.
pub(super) fn silu_slope(emit: &mut Emit<'_>, x: NodeId) -> Made {
    swish_slope(emit, x, 1.0)
}

/// `x σ(1.702 x)`.
pub(super) fn gelu_quick<T: Real>(x: T) -> T {
    swish(x, QUICK)
}

/// `s (1 + 1.702 x (1 - s))`.
pub(super) fn gelu_quick_slope(emit: &mut Emit<'_>, x: NodeId) -> Made {
    swish_slope(emit, x, QUICK)
}

/// `½ x (1 + tanh u)`, which is `x σ(2u)`, with `u = √(2/π) (x + 0.044715 x³)`. Exactly 0 where the share is.
pub(super) fn gelu<T: Real>(x: T) -> T {
    let cube = T::from_f64(GELU_A) * x * x * x;
    let share = (T::from_f64(2.0 * SQRT_2_OVER_PI) * (x + cube)).sigmoid();
    if share > T::ZERO || x.is_nan() { x * share } else { T::ZERO }
}

/// `s + x s (1 - s) · d(2u)/dx` with `s = σ(2u)`.
pub(super) fn gelu_slope(emit: &mut Emit<'_>, x: NodeId) -> Made {
    let c = 2.0 * SQRT_2_OVER_PI;
    let x = emit.within(x, Some(-GELU_TAIL), Some(GELU_TAIL))?;
    let square = emit.op(OpKind::Sqr, &[x])?;
    let line = emit.affine(square, c * GELU_A, c)?;
    let twice = emit.mul(x, line)?;
    let share = emit.op(OpKind::Sigmoid, &[twice])?;
    let rest = emit.one_minus(share)?;
    let spread = emit.mul(share, rest)?;
    let steep = emit.affine(square, 3.0 * c * GELU_A, c)?;
    let run = emit.mul(x, steep)?;
    let bend = emit.mul(spread, run)?;
    emit.add(share, bend)
}

/// `x Φ(x) = ½ x erfc(-x/√2)`: the complement keeps its digits on the left.
pub(super) fn gelu_erf<T: Real>(x: T) -> T {
    let share = T::from_f64(0.5) * (-x * T::from_f64(FRAC_1_SQRT_2)).erfc();
    if share > T::ZERO || x.is_nan() { x * share } else { T::ZERO }
}

/// `Φ(x) + x φ(x)`.
pub(super) fn gelu_erf_slope(emit: &mut Emit<'_>, x: NodeId) -> Made {
    // φ(40) is 0 in every number type; the bound keeps infinity from meeting it.
    let x = emit.within(x, Some(-40.0), Some(40.0))?;
    let turned = emit.affine(x, -FRAC_1_SQRT_2, 0.0)?;
    let twice = emit.op(OpKind::Erfc, &[turned])?;
    let share = emit.affine(twice, 0.5, 0.0)?;
    let square = emit.op(OpKind::Sqr, &[x])?;
    let power = emit.affine(square, -0.5, 0.0)?;
    let bell = emit.op(OpKind::Exp, &[power])?;
    let density = emit.affine(bell, 1.0 / (2.0 * PI).sqrt(), 0.0)?;
    let bend = emit.mul(density, x)?;
    emit.add(share, bend)
}
