//! Short words for the arithmetic that rules emit.
//! The first operand has the result's shape: under tiling rules only the second stretches.

use super::OpKind;
use super::def::{Emit, Operand};
use crate::graph::{NodeId, Value};
use crate::refusal::Reason;
use crate::tensor::{MAX_RANK, Shape, TensorType};

type Made = Result<NodeId, Reason>;

impl Emit<'_> {
    /// One number, which stretches to whatever it meets as a second operand.
    pub(super) fn number(&mut self, x: f64) -> Made {
        self.fill(TensorType::f32(Shape::SCALAR), x)
    }

    /// `a + b`.
    pub(super) fn add(&mut self, a: NodeId, b: NodeId) -> Made {
        self.op(OpKind::Add, &[a, b])
    }

    /// `a - b`.
    pub(super) fn sub(&mut self, a: NodeId, b: NodeId) -> Made {
        self.op(OpKind::Sub, &[a, b])
    }

    /// `a * b`.
    pub(super) fn mul(&mut self, a: NodeId, b: NodeId) -> Made {
        self.op(OpKind::Mul, &[a, b])
    }

    /// `a / b`.
    pub(super) fn div(&mut self, a: NodeId, b: NodeId) -> Made {
        self.op(OpKind::Div, &[a, b])
    }

    /// `-a`.
    pub(super) fn neg(&mut self, a: NodeId) -> Made {
        self.op(OpKind::Neg, &[a])
    }

    /// `s * a + bias`.
    pub(super) fn affine(&mut self, a: NodeId, s: f64, bias: f64) -> Made {
        self.with(OpKind::Scale, &[a], vec![Value::Num(s), Value::Num(bias)])
    }

    /// `1 - a`.
    pub(super) fn one_minus(&mut self, a: NodeId) -> Made {
        self.affine(a, -1.0, 1.0)
    }

    /// Where `a > x`.
    pub(super) fn above(&mut self, a: NodeId, x: f64) -> Made {
        let x = self.number(x)?;
        self.op(OpKind::Greater, &[a, x])
    }

    /// Where `a < x`.
    pub(super) fn below(&mut self, a: NodeId, x: f64) -> Made {
        let x = self.number(x)?;
        self.op(OpKind::Less, &[a, x])
    }

    /// `a` where the condition holds, else `b`; `a` has the result's shape.
    pub(super) fn pick(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> Made {
        self.op(OpKind::Where, &[condition, a, b])
    }

    /// `a` where the condition holds, else this number.
    pub(super) fn pick_or(&mut self, condition: NodeId, a: NodeId, other: f64) -> Made {
        let other = self.number(other)?;
        self.pick(condition, a, other)
    }

    /// `a`, but no less than `min` and no more than `max`.
    pub(super) fn within(&mut self, a: NodeId, min: Option<f64>, max: Option<f64>) -> Made {
        let bound = |x: Option<f64>| x.map_or(Value::None, Value::Num);
        self.with(OpKind::Clamp, &[a], vec![bound(min), bound(max)])
    }

    /// The sum over these axes, which are kept as 1.
    pub(super) fn sum_kept(&mut self, a: NodeId, axes: &[usize]) -> Made {
        self.with(OpKind::Sum, &[a], vec![axes_value(axes), Value::Bool(true)])
    }

    /// The mean over these axes, which are kept as 1.
    pub(super) fn mean_kept(&mut self, a: NodeId, axes: &[usize]) -> Made {
        self.with(OpKind::Mean, &[a], vec![axes_value(axes), Value::Bool(true)])
    }
}

/// Axes as an attribute's value.
pub(super) fn axes_value(axes: &[usize]) -> Value {
    Value::Ints(axes.iter().map(|a| *a as i64).collect())
}

/// Whether some element of the first operand equals one of these numbers.
pub(super) fn hits(src: &[Operand<'_, f64>], at: &[f64]) -> bool {
    src.first().is_some_and(|o| o.data.iter().any(|x| at.iter().any(|y| (x - y).abs() <= 0.0)))
}

/// Whether the two operands agree in some element, once both are stretched.
pub(super) fn ties(src: &[Operand<'_, f64>]) -> bool {
    let [a, b] = src else { return false };
    if a.data.is_empty() || b.data.is_empty() {
        return false;
    }
    let (pa, pb) = (a.ty.shape.padded(), b.ty.shape.padded());
    let mut dims = [1usize; MAX_RANK];
    for ((d, x), y) in dims.iter_mut().zip(pa).zip(pb) {
        *d = x.max(y) as usize;
    }
    let place = |of: [u32; MAX_RANK], mut i: usize| {
        let (mut at, mut step) = (0, 1);
        for (d, own) in dims.iter().zip(of).rev() {
            at += (i % d) % own as usize * step;
            i /= d;
            step *= own as usize;
        }
        at
    };
    (0..dims.iter().product()).any(|i| match (a.data.get(place(pa, i)), b.data.get(place(pb, i))) {
        (Some(x), Some(y)) => (x - y).abs() <= 0.0,
        _ => false,
    })
}
