//! The only functions that fold a contribution, check its shape and join it to a gradient.
//! They use `add` and `repeat` to join, `repeat_back` or `sum` and `reshape` to fold, as ggml does; a sign is the
//! rule's own business.

use super::Build;
use crate::graph::{NodeId, Value};
use crate::ops::OpKind;
use crate::ops::def::{Emit, shape_value};
use crate::refusal::Reason;
use crate::rules::{Broadcast, RuleSet, tiles};
use crate::tensor::Shape;
use crate::trace::Accum;

impl Build<'_> {
    /// Sums a contribution over everything its source was stretched along. The same node where nothing was.
    pub(super) fn fold(&mut self, from: NodeId, into: NodeId) -> Result<NodeId, Reason> {
        let got = self.trace.graph.node(from).ty.shape;
        let expected = self.trace.graph.node(into).ty.shape;
        if got == expected {
            return Ok(from);
        }
        let wrong = Reason::GradShape { expected, got };
        match self.request.rules.broadcast() {
            Broadcast::Tile if got.same_extents(&expected) => self.reshaped(from, expected),
            Broadcast::Tile => {
                let tiles = expected.padded().iter().zip(got.padded()).all(|(e, g)| tiles(*e, g));
                if !tiles {
                    return Err(wrong);
                }
                let target = vec![shape_value(expected)];
                Emit { sink: self }.with(OpKind::RepeatBack, &[from], target)
            }
            Broadcast::TwoSided => {
                // A row may take an operand with more axes of 1 on the left than its result has.
                let spare = expected.rank().saturating_sub(got.rank());
                if expected.dims().iter().take(spare).any(|d| *d != 1) {
                    return Err(wrong);
                }
                let lead = got.rank().saturating_sub(expected.rank());
                let stretched = |axis: usize| {
                    axis < lead || (expected.dim(axis + spare - lead) == 1 && got.dim(axis) != 1)
                };
                let axes: Vec<i64> =
                    (0..got.rank()).filter(|a| stretched(*a)).map(|a| a as i64).collect();
                if axes.is_empty() && got.same_extents(&expected) {
                    return self.reshaped(from, expected);
                }
                let params = vec![Value::Ints(axes.into()), Value::Bool(true)];
                let sum = Emit { sink: self }.with(OpKind::Sum, &[from], params)?;
                let kept = self.trace.graph.node(sum).ty.shape;
                if kept == expected {
                    Ok(sum)
                } else if kept.same_extents(&expected) {
                    self.reshaped(sum, expected)
                } else {
                    Err(wrong)
                }
            }
        }
    }

    /// A gradient has exactly its node's rank; where the rules know no rank, a view gives it.
    pub(super) fn rank_as(&mut self, value: NodeId, into: NodeId) -> Result<NodeId, Reason> {
        let got = self.trace.graph.node(value).ty.shape;
        let expected = self.trace.graph.node(into).ty.shape;
        if got != expected && self.same_shape(got, expected) {
            return self.reshaped(value, expected);
        }
        Ok(value)
    }

    fn reshaped(&mut self, value: NodeId, shape: Shape) -> Result<NodeId, Reason> {
        Emit { sink: self }.with(OpKind::Reshape, &[value], vec![shape_value(shape)])
    }

    /// Joins a contribution to what is there. Its shape is checked first: the ops that join would stretch it.
    pub(super) fn accumulate(
        &mut self,
        into: NodeId,
        value: NodeId,
        via: Accum,
        before: Option<NodeId>,
    ) -> Result<NodeId, Reason> {
        let got = self.trace.graph.node(value).ty.shape;
        let expected = self.trace.graph.node(into).ty.shape;
        if via == Accum::Add1 {
            if before.is_some() && self.request.rules == RuleSet::Upstream && got.n_elements() != 1
            {
                return Err(Reason::GradNotScalar { got });
            }
            let target = vec![Value::None, shape_value(expected)];
            let spread = Emit { sink: self }.with(OpKind::Repeat, &[value], target)?;
            return match before {
                Some(before) => self.accumulate_onto(into, spread, before),
                None => Ok(spread),
            };
        }
        if got != expected {
            return Err(Reason::GradShape { expected, got });
        }
        match before {
            None => Ok(value),
            Some(before) => self.accumulate_onto(into, value, before),
        }
    }

    /// Adds a gradient of the right shape to an earlier one, and makes the sum the node's gradient.
    pub(super) fn accumulate_onto(
        &mut self,
        into: NodeId,
        value: NodeId,
        before: NodeId,
    ) -> Result<NodeId, Reason> {
        if self.request.rules == RuleSet::Upstream && !self.is_packed(before) {
            let why = "upstream adds to a packed one only";
            return Err(Reason::GradNotContiguous(why));
        }
        let sum = Emit { sink: self }.op(OpKind::Add, &[before, value])?;
        self.set_grad(into, sum);
        Ok(sum)
    }
}
