//! Rules with one thing wrong, made on the fly: a reduction, a sign, a factor, a path or an accumulation is changed at
//! one source of one row. Checks must catch each, and the doctor must name it.
//! Deliberately absent: rules of their own. What the row's rule sends is bent on its way through the driver.

use super::Build;
use crate::ops::OpKind;
#[cfg(feature = "full")]
use crate::{
    graph::{NodeId, Value},
    ops::def::{Contribution, Emit, Flow, Site, shape_value},
    refusal::Reason,
    rules::RuleSet,
    tensor::Shape,
};

/// One thing wrong: at every node of one row, with what goes to one source.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mutation {
    /// The row.
    pub op: OpKind,
    /// The source, counted from 0.
    pub src: usize,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What can be wrong with a contribution. Where a flaw does not apply, nothing changes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Flaw {
    /// It is not folded onto a source that was stretched.
    Unfolded,
    /// It is divided by how many elements go into one, or come out of one: the mean of what should be summed.
    Averaged,
    /// It is multiplied by that number: the sum of what should be averaged.
    Summed,
    /// Consecutive elements are added up where equal places of each tile should be, along one axis.
    Interleaved,
    /// It is folded along another axis of the same extent.
    WrongAxis,
    /// Its last two axes are swapped.
    Transposed,
    /// Its sign is flipped.
    Negated,
    /// It has a factor too many.
    Scaled(f64),
    /// It is zero.
    Dropped,
    /// It replaces what earlier consumers have sent instead of joining it.
    Overwrites,
    /// It joins twice.
    Doubled,
}

/// What mutation tables go through; the factor is one that no small axis has.
pub const FLAWS: &[Flaw] = &[
    Flaw::Unfolded,
    Flaw::Averaged,
    Flaw::Summed,
    Flaw::Interleaved,
    Flaw::WrongAxis,
    Flaw::Transposed,
    Flaw::Negated,
    Flaw::Scaled(0.37),
    Flaw::Dropped,
    Flaw::Overwrites,
    Flaw::Doubled,
];

impl Build<'_> {
    /// The flaw of what goes to a source, if any.
    pub(super) fn flaw(&self, op: OpKind, src: usize) -> Option<Flaw> {
        let mutation = self.request.mutation.filter(|_| crate::WHOLE);
        mutation.filter(|m| m.op == op && m.src == src).map(|m| m.flaw)
    }
}

#[cfg(feature = "full")]
impl Build<'_> {
    /// Bends a contribution before it is folded.
    pub(super) fn bent(
        &mut self,
        op: OpKind,
        site: &Site<'_>,
        c: Contribution,
    ) -> Result<NodeId, Reason> {
        let (value, into) = (c.value, site.src(c.src));
        let expected = self.trace.graph.node(into).ty.shape;
        let got = self.trace.graph.node(value).ty.shape;
        let scaled = |b: &mut Self, by: f64| {
            Emit { sink: b }.with(OpKind::Scale, &[value], vec![Value::Num(by)])
        };
        let (large, small) = {
            let (a, b) = (site.ty.shape.n_elements() as f64, expected.n_elements() as f64);
            (f64::max(a, b), f64::min(a, b))
        };
        let ratio = if small > 0.0 { large / small } else { 1.0 };
        match self.flaw(op, c.src) {
            Some(Flaw::Averaged) if ratio > 1.0 => scaled(self, 1.0 / ratio),
            Some(Flaw::Summed) if ratio > 1.0 => scaled(self, ratio),
            Some(Flaw::Negated) => Emit { sink: self }.op(OpKind::Neg, &[value]),
            Some(Flaw::Scaled(by)) => scaled(self, by),
            Some(Flaw::Dropped) => {
                let ty = self.trace.graph.node(value).ty;
                Emit { sink: self }.fill(ty, 0.0)
            }
            Some(Flaw::Transposed) if got == expected && got.rank() >= 2 => {
                let flipped = self.swapped(value, got.rank() - 2, got.rank() - 1)?;
                Emit { sink: self }.with(OpKind::Reshape, &[flipped], vec![shape_value(got)])
            }
            Some(Flaw::Interleaved) if c.fold => self.interleaved(value, expected),
            Some(Flaw::Interleaved) => {
                // A rule that folds by itself: only where what it sends is the gradient, moved.
                let moves = matches!(RuleSet::flow(op, c.src), Flow::Carries { reads: [], .. });
                let tiled = moves && site.ty.shape.n_elements() > expected.n_elements();
                let sum = if tiled { self.interleaved(site.grad, expected)? } else { value };
                let same = self.trace.graph.node(sum).ty.shape == expected;
                Ok(if same { sum } else { value })
            }
            Some(Flaw::WrongAxis) if c.fold => self.turned(value, expected),
            _ => Ok(value),
        }
    }

    fn swapped(&mut self, value: NodeId, a: usize, b: usize) -> Result<NodeId, Reason> {
        let axes = vec![Value::Int(a as i64), Value::Int(b as i64)];
        Emit { sink: self }.with(OpKind::Transpose, &[value], axes)
    }

    /// Adds up consecutive elements along the first axis that tiles, counted from the right. The same node where
    /// none does.
    fn interleaved(&mut self, value: NodeId, expected: Shape) -> Result<NodeId, Reason> {
        let got = self.trace.graph.node(value).ty.shape;
        let lead = got.rank().saturating_sub(expected.rank());
        let tiled = (lead..got.rank()).rev().find(|axis| {
            let (large, small) = (got.dim(*axis), expected.dim(axis - lead));
            small > 1 && large > small && large.is_multiple_of(small)
        });
        let Some(axis) = tiled else { return Ok(value) };
        let part = |axes: std::ops::Range<usize>| -> u32 { axes.map(|a| got.dim(a)).product() };
        let small = expected.dim(axis - lead);
        let dims = [part(0..axis), small, got.dim(axis) / small, part(axis + 1..got.rank())];
        let split = Shape::new(&dims).unwrap_or(got);
        let open = Emit { sink: self }.with(OpKind::Reshape, &[value], vec![shape_value(split)])?;
        let params = vec![Value::Int(2), Value::Bool(false)];
        let sum = Emit { sink: self }.with(OpKind::Sum, &[open], params)?;
        let back = vec![shape_value(got.with_dim(axis, small))];
        Emit { sink: self }.with(OpKind::Reshape, &[sum], back)
    }

    /// Swaps the one stretched axis with another of the same extent. The same node where there is none.
    fn turned(&mut self, value: NodeId, expected: Shape) -> Result<NodeId, Reason> {
        let got = self.trace.graph.node(value).ty.shape;
        let lead = got.rank().saturating_sub(expected.rank());
        let stretched = |axis: usize| axis < lead || expected.dim(axis - lead) != got.dim(axis);
        let from = (0..got.rank()).find(|a| stretched(*a));
        let to = (0..got.rank()).find(|a| {
            !stretched(*a) && got.dim(*a) > 1 && from.is_some_and(|f| got.dim(f) == got.dim(*a))
        });
        match (from, to) {
            (Some(from), Some(to)) => self.swapped(value, from, to),
            _ => Ok(value),
        }
    }
}
