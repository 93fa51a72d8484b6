//! The mark walk: which nodes need a gradient, and what can be refused before anything is built.

use super::overwrites::Destroyed;
use super::{Build, Stopped};
use crate::graph::{NodeId, NodeKind};
use crate::ops::def::{Backward, Storage};
use crate::refusal::{HazardKind, Reason, Stage};
use crate::rules::Broadcast;
use crate::tensor::DType;
use crate::trace::{Author, Event, Skip, Why};

impl Build<'_> {
    pub(super) fn mark(&mut self, loss: NodeId) -> Result<(), Stopped> {
        self.check_loss(loss)?;
        self.reached = self.depends();
        let reaches = self.reaches(loss);
        self.needed = self.reached.iter().zip(&reaches).map(|(d, r)| *d && *r).collect();
        let overwrites = self.overwrites();
        let mut used = None;
        for ix in 0..self.trace.n_forward {
            let Some(id) = NodeId::at(ix) else { break };
            let node = self.trace.graph.node(id);
            let is_param = node.flags.param;
            let (depends, reaches) = (at(&self.reached, id), at(&reaches, id));
            let needed = depends && reaches;
            let event = if needed || id == loss {
                let via = node.src().iter().position(|s| self.needs(*s));
                let why = match via {
                    Some(src) => Why::Via(src as u8),
                    None if is_param => Why::Param,
                    None => Why::Loss,
                };
                Event::Marked { node: id, why }
            } else if !node.ty.dtype.is_float() {
                Event::Skipped { node: id, why: Skip::NotFloat }
            } else if depends {
                Event::Skipped { node: id, why: Skip::NoLoss }
            } else {
                Event::Skipped { node: id, why: Skip::NoParam }
            };
            self.note(event);
            if depends && !self.request.rules.looks_ahead() {
                self.check_storage(id)?;
            }
            let destroyed = overwrites.get(ix).copied().flatten();
            self.check_node(id, depends, needed, destroyed)?;
            if is_param && !reaches && self.trace.graph.node(id).ty.dtype.is_float() {
                let used: &Vec<bool> = used.get_or_insert_with(|| self.used());
                let kind = if at(used, id) {
                    HazardKind::NoGradientPath
                } else {
                    HazardKind::UnusedParameter
                };
                self.flag(id, None, kind);
            }
        }
        self.supply()
    }

    fn check_loss(&mut self, loss: NodeId) -> Result<(), Stopped> {
        let shape = self.trace.graph.node(loss).ty.shape;
        let refusal = match &self.request.cotangent {
            None if shape.n_elements() != 1 => Some(Reason::LossNotScalar { got: shape }),
            Some(given) if !self.same_shape(given.shape, shape) => {
                Some(Reason::CotangentShape { expected: shape, got: given.shape })
            }
            _ => None,
        };
        if let Some(reason) = refusal {
            self.refuse(Stage::Mark, Some(loss), None, reason)?;
        }
        if !self.trace.graph.nodes().any(|(_, n)| n.flags.param) {
            self.refuse(Stage::Mark, None, None, Reason::NoParams)?;
        }
        Ok(())
    }

    /// Whether two shapes are the same by these rules: ggml knows no rank.
    pub(super) fn same_shape(&self, a: crate::tensor::Shape, b: crate::tensor::Shape) -> bool {
        match self.request.rules.broadcast() {
            Broadcast::Tile => a.same_extents(&b),
            Broadcast::TwoSided => a == b,
        }
    }

    /// Which nodes a trainable leaf reaches through sources that carry a gradient.
    fn depends(&self) -> Vec<bool> {
        let mut out = vec![false; self.trace.n_forward];
        for (id, node) in self.trace.graph.prefix(self.trace.n_forward) {
            let depends = match &node.kind {
                NodeKind::Leaf(_) => node.flags.param,
                // Whole numbers and truth values do not move with what they are made from.
                NodeKind::Op { .. } if !node.ty.dtype.is_float() => false,
                NodeKind::Op { op, src, .. } => src
                    .iter()
                    .enumerate()
                    .any(|(ix, s)| at(&out, *s) && self.request.carries(id, *op, ix)),
            };
            if let Some(slot) = out.get_mut(id.index()) {
                *slot = depends;
            }
        }
        out
    }

    /// Which nodes reach the loss through sources that carry a gradient.
    fn reaches(&self, loss: NodeId) -> Vec<bool> {
        let mut out = vec![false; self.trace.n_forward];
        if let Some(slot) = out.get_mut(loss.index()) {
            *slot = true;
        }
        for (id, node) in self.trace.graph.prefix(loss.index() + 1).rev() {
            let NodeKind::Op { op, src, .. } = &node.kind else { continue };
            if !at(&out, id) || !node.ty.dtype.is_float() {
                continue;
            }
            for (ix, s) in src.iter().enumerate() {
                if self.request.carries(id, *op, ix)
                    && let Some(slot) = out.get_mut(s.index())
                {
                    *slot = true;
                }
            }
        }
        out
    }

    /// Which nodes some node reads.
    fn used(&self) -> Vec<bool> {
        let mut out = vec![false; self.trace.n_forward];
        for (_, node) in self.trace.graph.prefix(self.trace.n_forward) {
            for s in node.src() {
                if let Some(slot) = out.get_mut(s.index()) {
                    *slot = true;
                }
            }
        }
        out
    }

    /// Upstream carries gradients in f32 and f16 alone. It says so of the first source; a later one stops its kernel.
    fn check_storage(&mut self, id: NodeId) -> Result<(), Stopped> {
        let src = self.trace.graph.node(id).src().to_vec();
        for (ix, s) in src.into_iter().enumerate() {
            let got = self.trace.graph.node(s).ty.dtype;
            if at(&self.reached, s) && got == DType::Bf16 {
                self.refuse(Stage::Mark, Some(id), Some(ix), Reason::SrcDtype { got })?;
            }
        }
        Ok(())
    }

    fn check_node(
        &mut self,
        id: NodeId,
        depends: bool,
        needed: bool,
        destroyed: Option<Destroyed>,
    ) -> Result<(), Stopped> {
        let node = self.trace.graph.node(id);
        let (op, dtype) = (node.op(), node.ty.dtype);
        let looks_ahead = self.request.rules.looks_ahead();
        let is_param = node.flags.param;
        let writes = node.flags.in_place
            && op.is_some_and(|op| !matches!(op.def().storage, Storage::Second));
        if is_param && !dtype.is_float() {
            self.refuse(Stage::Mark, Some(id), None, Reason::SrcDtype { got: dtype })?;
        }
        if !looks_ahead && depends && writes {
            self.refuse(Stage::Mark, Some(id), None, Reason::InPlace)?;
        }
        if looks_ahead
            && needed
            && let Some(op) = op
            && let Backward::Missing(why) = self.request.backward(id, op)
        {
            self.refuse(Stage::Mark, Some(id), None, Reason::NoRule(why))?;
        }
        if !looks_ahead && !writes && destroyed.is_some() {
            let what =
                "it writes over a value that a rule reads later, and that rule reads the new one";
            self.flag(id, None, HazardKind::UpstreamValue(what));
        }
        if looks_ahead && let Some(Destroyed { victim, reader }) = destroyed {
            let reason = Reason::Overwritten { victim, reader };
            self.refuse(Stage::Mark, Some(id), None, reason)?;
        }
        Ok(())
    }

    /// Puts the supplied accumulators in place.
    fn supply(&mut self) -> Result<(), Stopped> {
        for (node, given) in self.request.accumulators.clone() {
            // A leaf that trains has a gradient even where nothing is added to what it starts from.
            if !self.needs(node) && !self.trace.graph.node(node).flags.param {
                continue;
            }
            let ty = self.trace.graph.node(node).ty;
            if !self.same_shape(given.shape, ty.shape) {
                let reason = Reason::AccumulatorShape { expected: ty.shape, got: given.shape };
                self.refuse(Stage::Mark, Some(node), None, reason)?;
                continue;
            }
            self.by = Author::Accumulator { of: node };
            match self.leaf(ty.as_f32(), given.init) {
                Ok(grad) => {
                    self.note(Event::Supplied { node, grad });
                    self.set_grad(node, grad);
                }
                Err(reason) => self.refuse(Stage::Mark, Some(node), None, reason)?,
            }
        }
        debug_assert!(self.trace.refusal().is_none(), "a refusal ends the build at once");
        Ok(())
    }
}

fn at(flags: &[bool], id: NodeId) -> bool {
    flags.get(id.index()).copied().unwrap_or(false)
}
