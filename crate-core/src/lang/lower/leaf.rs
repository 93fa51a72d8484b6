//! Leaves: of the document, of functions, and the numbers beside tensors.

use std::sync::Arc;

use super::Val;
use super::constant::{ConstCx, Literal};
use super::machine::Machine;
use crate::autodiff::Given;
use crate::construct;
use crate::graph::{Flags, Init, NodeId};
use crate::lang::ast::{ExprId, Leaf, LeafRole};
use crate::lang::source_map::NodeText;
use crate::lang::{About, Diagnostic, Span};
use crate::refusal::{Limit, Reason};
use crate::tensor::{DType, Shape, TensorType};

impl Machine<'_> {
    pub(super) fn leaf(
        &mut self,
        leaf: &Leaf,
        name: &str,
        line: Span,
        site: Option<Span>,
    ) -> Option<NodeId> {
        let mut cx = self.constants();
        let shape = leaf.shape.as_ref().map(|text| cx.shape(text));
        let dtype = cx.dtype(leaf.dtype.as_ref());
        let literal = cx.literal(leaf.value);
        let (shape, axes) = match shape {
            Some(given) => given.map(|(shape, axes)| (Some(shape), axes))?,
            None => (None, Vec::new()),
        };
        let (dtype, literal) = (dtype?, literal?);
        let span = cx.ast.expr(leaf.value).span;
        let (shape, init) = cx.init(literal, shape, dtype, span)?;
        let mut ty = TensorType { dtype, ..TensorType::f32(shape) };
        for (slot, name) in ty.axes.iter_mut().zip(axes) {
            *slot = name.and_then(|name| self.graph.intern_axis(name));
        }
        let flags = Flags { param: leaf.role == LeafRole::Param, ..Flags::default() };
        let text = NodeText { span: line, line, operands: Vec::new(), site };
        self.add_leaf(ty, init, Some(Arc::from(name)), flags, text)
    }

    pub(super) fn constants(&mut self) -> ConstCx<'_> {
        ConstCx {
            ast: self.program.ast,
            rules: self.rules,
            budget: self.budget,
            files: self.files,
            folded: &self.program.folded,
            complaints: &mut self.complaints,
        }
    }

    /// Appends a leaf; complains where a bound is met.
    pub(super) fn add_leaf(
        &mut self,
        ty: TensorType,
        init: Init,
        name: Option<Arc<str>>,
        flags: Flags,
        text: NodeText,
    ) -> Option<NodeId> {
        match construct::leaf(&mut self.graph, self.budget, ty, init, name.clone(), flags) {
            Ok(node) => {
                self.note(node, name, text);
                Some(node)
            }
            Err(_) if !crate::WHOLE => {
                self.stopped = true;
                self.complaints.beyond();
                None
            }
            Err(reason) => {
                let name = name.map_or_else(|| "this number".to_owned(), |name| name.to_string());
                self.stopped |=
                    matches!(reason, Reason::Budget { limit: Limit::Nodes | Limit::Elements, .. });
                let message = reason.sentence("", &name, None, &|_| String::new());
                let mut diagnostic = Diagnostic::error(reason.code(), text.line, message);
                diagnostic.about = Some(About { node: name, op: None, src: None });
                self.complaints.add(diagnostic);
                None
            }
        }
    }

    /// Notes the name, the text and the writes of a node that was just appended.
    pub(super) fn note(&mut self, node: NodeId, name: Option<Arc<str>>, text: NodeText) {
        let line = text.line;
        self.map.push(text);
        if let Some(name) = name {
            self.affords(&name, line);
            self.names.entry(name).or_insert(node);
        }
        if crate::WHOLE && self.graph.node(node).flags.in_place {
            let window = (self.graph.storage(node), self.graph.node(node).ty.shape);
            self.writes.insert(window, node);
        }
    }
}

impl ConstCx<'_> {
    /// A number or a list as the default of an argument.
    pub(super) fn default(&mut self, value: ExprId) -> Val {
        self.value(value).unwrap_or(Val::Poison)
    }
}

/// What a cotangent or an accumulator starts from: the shape is the node's where none is given.
pub(super) fn given(
    cx: &mut ConstCx<'_>,
    value: ExprId,
    shape: Option<Shape>,
    node: Shape,
) -> Option<Given> {
    let literal = cx.literal(value)?;
    let own = matches!(literal, Literal::List(_)) && shape.is_none();
    let span = cx.ast.expr(value).span;
    let shape = if own { None } else { Some(shape.unwrap_or(node)) };
    let (shape, init) = cx.init(literal, shape, DType::F32, span)?;
    Some(Given { shape, init })
}
