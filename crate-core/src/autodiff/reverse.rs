//! The reverse walk: asks each rule, and checks its answer before anything is combined.

use super::{Build, Desk, Flaw, Mode, Stopped};
use crate::construct::{self, Apply};
use crate::graph::{Flags, Graph, Init, NodeId, NodeKind, Params};
use crate::ops::OpKind;
use crate::ops::def::{Backward, Contribution, Emit, Rule, Sign, Sink, Site, When};
use crate::refusal::{HazardKind, Reason, Stage};
use crate::rules::RuleSet;
use crate::tensor::TensorType;
use crate::trace::{Author, Event};

impl Sink for Build<'_> {
    fn op(&mut self, op: OpKind, src: &[NodeId], params: Params) -> Result<NodeId, Reason> {
        let at = src.iter().position(|s| self.linear.contains(s));
        let flags = Flags { carries: self.carries(op, src, at), ..Flags::default() };
        let apply = Apply { op, src, params, name: None, in_place: false };
        let (graph, request) = (&mut self.trace.graph, self.request);
        let node = construct::flagged(graph, &request.budget, request.rules, apply, flags)?;
        if at.is_some() {
            self.linear.push(node);
        }
        self.emitted(node)?;
        Ok(node)
    }

    fn constant(&mut self, ty: TensorType, init: Init) -> Result<NodeId, Reason> {
        self.leaf(ty, init)
    }

    fn graph(&self) -> &Graph {
        &self.trace.graph
    }
}

impl Build<'_> {
    /// The source of a product that is a gradient, by which a rule weighs a slope: where it is `0 · ∞`, evaluation
    /// looks what it tends to. A branch not taken gives 0 so. Upstream makes NaN of it.
    fn carries(&self, op: OpKind, src: &[NodeId], at: Option<usize>) -> Option<u8> {
        let at = at.filter(|_| self.request.rules != RuleSet::Upstream)?;
        let product = match op.def().sign {
            Some(Sign::Infix("*")) => true,
            Some(Sign::Infix("/")) => at == 0,
            _ => false,
        };
        let size = |id: &NodeId| self.trace.graph.node(*id).ty.shape.n_elements();
        (product && src.get(at).map(size) == src.iter().map(size).max()).then_some(at as u8)
    }

    pub(super) fn reverse(&mut self, loss: NodeId) -> Result<(), Stopped> {
        for ix in (0..=loss.index()).rev() {
            let Some(id) = NodeId::at(ix) else { continue };
            let Some(grad) = self.grad(id) else { continue };
            let NodeKind::Op { op, src, params } = &self.trace.graph.node(id).kind else {
                continue;
            };
            let (op, params) = (*op, params.clone());
            let mut desk = std::mem::take(&mut self.desk);
            desk.src.clear();
            desk.src.extend_from_slice(src);
            let wants =
                |(ix, s): (usize, &NodeId)| self.needs(*s) && self.request.rules.sends(op, ix);
            desk.wants.clear();
            desk.wants.extend(desk.src.iter().enumerate().map(wants));
            let walked = if desk.wants.contains(&true) {
                self.at_node(id, grad, op, &params, &mut desk)
            } else {
                Ok(())
            };
            self.desk = desk;
            walked?;
        }
        Ok(())
    }

    /// Asks the rule of one node.
    fn at_node(
        &mut self,
        id: NodeId,
        grad: NodeId,
        op: OpKind,
        params: &Params,
        desk: &mut Desk,
    ) -> Result<(), Stopped> {
        let Desk { src, wants, src_ty, views, is_sent } = desk;
        match self.request.backward(id, op) {
            Backward::Zero(_) => {}
            Backward::Missing(why) => {
                // Where the rules look ahead, the mark walk has said so already.
                if !self.request.rules.looks_ahead() {
                    self.note(Event::Entered { node: id, grad });
                    self.refuse(Stage::Reverse, Some(id), None, Reason::NoRule(why))?;
                }
                self.fill_gaps(src, wants);
            }
            Backward::Rule(rule) => {
                self.note(Event::Entered { node: id, grad });
                let graph = &self.trace.graph;
                src_ty.clear();
                src_ty.extend(src.iter().map(|s| graph.node(*s).ty));
                views.clear();
                if src.iter().any(|s| graph.node(*s).view.is_some()) {
                    views.extend(src.iter().map(|s| graph.storage(*s)));
                }
                is_sent.clear();
                is_sent.extend(src.iter().map(|s| self.grad(*s).is_some()));
                let site = Site {
                    node: id,
                    grad,
                    src,
                    src_ty,
                    ty: graph.node(id).ty,
                    params,
                    wants,
                    is_packed: self.is_packed(grad),
                    src_view: views,
                    is_sent,
                };
                self.visit(op, rule, &site)?;
                self.note(Event::Left { node: id });
            }
        }
        Ok(())
    }

    /// Whether the elements of a node stand one after the other.
    pub(super) fn is_packed(&self, id: NodeId) -> bool {
        let node = self.trace.graph.node(id);
        node.view.is_none_or(|view| view.is_packed(node.ty.shape))
    }

    fn visit(&mut self, op: OpKind, rule: Rule, site: &Site<'_>) -> Result<(), Stopped> {
        if let Some(why) = self.request.rules.packed(op).filter(|_| !site.is_packed) {
            let reason = Reason::GradNotContiguous(why);
            self.refuse(Stage::Reverse, Some(site.node), None, reason)?;
        }
        for wrong in self.request.rules.wrong(op) {
            if let When::Built(when) = wrong.when
                && when(site)
            {
                self.flag(site.node, None, HazardKind::UpstreamValue(wrong.what));
            }
        }
        self.by = Author::Rule { of: site.node };
        self.linear.push(site.grad);
        let answer = rule(&mut Emit { sink: self }, site);
        self.linear.clear();
        let contributions = self.or_refuse(site.node, None, answer)?.unwrap_or_default();
        for c in contributions {
            if !site.wants(c.src) {
                let reason = Reason::RuleContract("answered for an operand that wants no gradient");
                self.refuse(Stage::Reverse, Some(site.node), Some(c.src), reason)?;
                continue;
            }
            let joined = self.contribute(op, site, c);
            self.or_refuse(site.node, Some(c.src), joined)?;
        }
        for (ix, s) in site.src.iter().enumerate() {
            // In the collecting walk a refused contribution has been reported already.
            if site.wants(ix) && self.grad(*s).is_none() && self.mode == Mode::Stop {
                self.refuse(Stage::Reverse, Some(site.node), Some(ix), Reason::NoContribution)?;
            }
        }
        for ix in self.request.rules.silent(op) {
            let source = site.src(*ix);
            let reached = self.reached.get(source.index()).copied().unwrap_or(false);
            if reached && self.grad(source).is_none() {
                self.refuse(Stage::Reverse, Some(site.node), Some(*ix), Reason::NoContribution)?;
            }
        }
        if self.mode == Mode::Collect {
            self.report_gaps(site)?;
            self.fill_gaps(site.src, site.wants);
        }
        Ok(())
    }

    fn contribute(&mut self, op: OpKind, site: &Site<'_>, c: Contribution) -> Result<(), Reason> {
        let into = site.src(c.src);
        let (of, src) = (site.node, c.src as u8);
        let flaw = self.flaw(op, c.src);
        let mut value = c.value;
        #[cfg(feature = "full")]
        if flaw.is_some() {
            value = self.bent(op, site, c)?;
        }
        self.by = Author::Fold { of, src };
        let folds = self.request.rules.folds(op, c.src) && flaw != Some(Flaw::Unfolded);
        if c.fold && folds {
            let from = value;
            value = self.fold(from, into)?;
            self.note(Event::Folded { from, to: value, into });
        } else {
            value = self.rank_as(value, into)?;
        }
        self.by = Author::Accumulate { of, src };
        let times = if flaw == Some(Flaw::Doubled) { 2 } else { 1 };
        for _ in 0..times {
            let before = self.grad(into);
            let joins = before.filter(|_| flaw != Some(Flaw::Overwrites));
            let after = self.accumulate(into, value, c.via, joins)?;
            self.set_grad(into, after);
            let via = c.via;
            self.note(Event::Contributed { into, by: of, src, via, before, after });
        }
        Ok(())
    }

    /// In the collecting walk: names a source that got nothing and of which nothing has been said yet.
    fn report_gaps(&mut self, site: &Site<'_>) -> Result<(), Stopped> {
        for (ix, s) in site.src.iter().enumerate() {
            if site.wants(ix) && self.grad(*s).is_none() && !self.is_said(site.node, ix) {
                self.refuse(Stage::Reverse, Some(site.node), Some(ix), Reason::NoContribution)?;
            }
        }
        Ok(())
    }

    /// In the collecting walk: zeros for wanted sources that got nothing, so that the walk reaches what is behind.
    fn fill_gaps(&mut self, src: &[NodeId], wants: &[bool]) {
        for (s, wanted) in src.iter().zip(wants) {
            if *wanted && self.grad(*s).is_none() {
                let ty = self.trace.graph.node(*s).ty.as_f32();
                if let Ok(zero) = self.leaf(ty, Init::Fill(0.0)) {
                    self.set_grad(*s, zero);
                }
            }
        }
    }
}
