//! An op on values: a number where there are only numbers, else a node, else a refusal.

use std::sync::Arc;

use super::constant::{Const, constant, meet};
use super::fold::folds;
use super::machine::{Machine, Running};
use super::{Unmade, Val};
use crate::construct::{self, Apply};
use crate::graph::{Flags, Init, NodeId, Params, Value};
use crate::lang::Span;
use crate::lang::ast::ExprId;
use crate::lang::source_map::NodeText;
use crate::ops::OpKind;
use crate::ops::def::{ParamKind, ParamSpec, ShapeCx, defaults};
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

/// An op about to be applied.
pub(super) struct Job {
    /// The expression that it is.
    pub(super) id: ExprId,
    pub(super) op: OpKind,
    pub(super) sources: Vec<(Val, ExprId)>,
    /// Attributes in the row's order; what is missing takes its default.
    pub(super) params: Vec<Value>,
    /// Where each attribute stands.
    pub(super) spans: Vec<Option<Span>>,
    pub(super) in_place: bool,
    /// Whether numbers take the shape they meet.
    pub(super) meets: bool,
    pub(super) span: Span,
}

impl Job {
    /// An op without attributes.
    pub(super) fn plain(id: ExprId, op: OpKind, sources: Vec<(Val, ExprId)>, span: Span) -> Self {
        let meets = op.def().stretches;
        let (params, spans) = (defaults(op.def()), Vec::new());
        Self { id, op, sources, params, spans, in_place: false, meets, span }
    }
}

impl Machine<'_> {
    /// The type of a source.
    pub(super) fn ty(&self, val: &Val) -> Option<TensorType> {
        match val {
            Val::Node(node) => Some(self.graph.node(*node).ty),
            val => constant(val).map(|constant| constant.ty),
        }
    }

    /// Makes a node, or a number where there are only numbers.
    pub(super) fn apply(&mut self, running: &mut Running, job: &Job) -> Val {
        let ast = self.program.ast;
        let mut sources = Vec::with_capacity(job.sources.len());
        for (val, id) in &job.sources {
            sources.push((self.settled(running, val.clone(), *id), *id));
        }
        if sources.iter().any(|(val, _)| matches!(val, Val::Poison)) {
            let name = running.name_of(job.id);
            return self.unmade(running, name, job.id, job.op, &sources);
        }
        let def = job.op.def();
        let params = Params::new(job.params.clone());
        let about = Some((job.op, running.name.clone()));
        let (min, max, got) = (def.arity.min, def.arity.max, sources.len());
        if got < min || got > max {
            self.refuse(running, about, &Reason::Arity { min, max, got }, None, job.span);
            let name = running.name_of(job.id);
            return self.unmade(running, name, job.id, job.op, &sources);
        }
        let constants: Vec<Option<Const>> = sources.iter().map(|(val, _)| constant(val)).collect();
        let all: Option<Vec<Const>> = constants.iter().cloned().collect();
        if let Some(all) = all.filter(|_| folds(job.op) && !job.in_place) {
            return self.fold(running, job, &all, &params);
        }
        let name = running.name_of(job.id);
        let about = Some((job.op, name.clone()));
        let mut types: Vec<TensorType> = Vec::with_capacity(sources.len());
        for (val, _) in &sources {
            types.push(self.ty(val).unwrap_or(TensorType::f32(Shape::SCALAR)));
        }
        if job.meets {
            let numbers =
                constants.iter().map(|c| c.as_ref().is_some_and(|c| c.ty.shape.rank() == 0));
            meet(&mut types, numbers);
        }
        let (broadcast, most) = (self.rules.broadcast(), self.budget.tensor_elements);
        let cx = ShapeCx { src: &types, params: &params, broadcast, most };
        if let Err(reason) = (def.shape)(&cx) {
            let (src, span) = self.blame(&reason, job);
            self.refuse(running, about, &reason, src, span);
            return self.unmade(running, name, job.id, job.op, &sources);
        }
        let mut src: Vec<NodeId> = Vec::with_capacity(sources.len());
        let mut operands = Vec::with_capacity(sources.len());
        for (((val, id), constant), ty) in sources.iter().zip(&constants).zip(types) {
            let span = ast.expr(*id).span;
            operands.push(span);
            let node = match (val, constant) {
                (Val::Node(node), _) => Some(*node),
                (_, Some(constant)) => self.inline(running, constant, ty, span),
                _ => None,
            };
            let Some(node) = node else {
                return Val::Poison;
            };
            src.push(node);
        }
        let name: Option<Arc<str>> = self.names_nodes().then(|| Arc::from(name.as_str()));
        let what =
            Apply { op: job.op, src: &src, params, name: name.clone(), in_place: job.in_place };
        match construct::apply(&mut self.graph, self.budget, self.rules, what) {
            Ok(node) => {
                let span = ast.expr(job.id).span;
                let text = NodeText { span, line: running.line, operands, site: running.site };
                self.note(node, name, text);
                Val::Node(node)
            }
            Err(reason) => {
                let (src, span) = self.blame(&reason, job);
                self.refuse(running, about, &reason, src, span);
                let name = name.map(|name| name.to_string()).unwrap_or_default();
                self.unmade(running, name, job.id, job.op, &sources)
            }
        }
    }

    /// Notes an op that is not applied, under the name that its node would have.
    pub(super) fn unmade(
        &mut self,
        running: &Running,
        name: String,
        id: ExprId,
        op: OpKind,
        sources: &[(Val, ExprId)],
    ) -> Val {
        let ast = self.program.ast;
        let operands = sources.iter().map(|(_, id)| ast.expr(*id).span).collect();
        let span = ast.expr(id).span;
        let text = NodeText { span, line: running.line, operands, site: running.site };
        self.unmade.push(Unmade { name, op, text });
        Val::Poison
    }

    /// A number or a list beside a tensor: a leaf without a name.
    fn inline(
        &mut self,
        running: &Running,
        constant: &Const,
        ty: TensorType,
        span: Span,
    ) -> Option<NodeId> {
        let init = match constant.data.as_ref() {
            [x] => Init::Fill(*x),
            _ => Init::Literal(Arc::clone(&constant.data)),
        };
        let flags = Flags { inline: true, ..Flags::default() };
        let text = NodeText { span, line: running.line, operands: Vec::new(), site: running.site };
        self.add_leaf(ty, init, None, flags, text)
    }

    /// The operand to blame, and the text to underline.
    pub(super) fn blame(&self, reason: &Reason, job: &Job) -> (Option<usize>, Span) {
        if !crate::WHOLE {
            return (None, job.span);
        }
        let src = match reason {
            Reason::FirstWouldStretch { .. }
            | Reason::BadShape { .. }
            | Reason::NoSuchAxis { .. }
            | Reason::SrcNotContiguous
            | Reason::SrcDtype { .. } => Some(0),
            Reason::NotBroadcastable { .. } | Reason::ShapesDisagree { .. } => Some(1),
            _ => None,
        };
        let src = src.filter(|&ix| ix < job.sources.len());
        let operand = src.and_then(|ix| job.sources.get(ix));
        let operand = operand.map(|(_, id)| self.program.ast.expr(*id).span);
        let attribute = |wanted: &dyn Fn(&ParamSpec) -> bool| {
            let ix = job.op.def().params.iter().position(wanted)?;
            job.spans.get(ix).copied().flatten()
        };
        let span = match reason {
            Reason::BadParam { param, .. } => attribute(&|spec| spec.name == *param),
            Reason::NoSuchAxis { .. } => {
                attribute(&|spec| matches!(spec.kind, ParamKind::Axis | ParamKind::Axes))
                    .or(operand)
            }
            _ => operand,
        };
        (src, span.unwrap_or(job.span))
    }
}
