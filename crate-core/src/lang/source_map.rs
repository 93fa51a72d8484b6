//! Which text made which node, both ways.
//!
//! It knows no line numbers and no UTF-16: spans are bytes, and the page converts them once.

use super::Span;
use crate::graph::NodeId;

/// The text behind a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeText {
    /// The expression that made it; for a leaf, its statement.
    pub span: Span,
    /// The statement.
    pub line: Span,
    /// The text of each operand, in the order of the sources.
    pub operands: Vec<Span>,
    /// Where the `fn` was called whose body this text is in.
    pub site: Option<Span>,
}

/// Nodes to text and back.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceMap {
    nodes: Vec<NodeText>,
}

impl SourceMap {
    /// Notes the text of the next node.
    pub(super) fn push(&mut self, text: NodeText) {
        self.nodes.push(text);
    }

    /// The text behind a node; gradient nodes have none.
    pub fn node(&self, id: NodeId) -> Option<&NodeText> {
        self.nodes.get(id.index())
    }

    /// The expression that made a node.
    pub fn span(&self, id: NodeId) -> Option<Span> {
        self.node(id).map(|node| node.span)
    }

    /// The statement that made a node.
    pub fn line(&self, id: NodeId) -> Option<Span> {
        self.node(id).map(|node| node.line)
    }

    /// The text of a node's operand, counted from 0.
    pub fn operand(&self, id: NodeId, src: usize) -> Option<Span> {
        self.node(id).and_then(|node| node.operands.get(src).copied())
    }

    /// The node whose expression is the smallest around this byte; else the one its statement names.
    pub fn at(&self, place: u32) -> Option<NodeId> {
        let around = |of: fn(&NodeText) -> Span| {
            let nodes = self.nodes.iter().enumerate().filter(move |(_, n)| of(n).touches(place));
            nodes.map(move |(ix, n)| (of(n).end - of(n).start, ix))
        };
        let inner = around(|node| node.span).min_by_key(|&(width, ix)| (width, ix));
        let line =
            around(|node| node.line).max_by_key(|&(width, ix)| (std::cmp::Reverse(width), ix));
        inner.or(line).and_then(|(_, ix)| NodeId::at(ix))
    }

    /// All nodes that a piece of text made.
    pub fn within(&self, span: Span) -> impl Iterator<Item = NodeId> {
        let inside =
            move |node: &NodeText| span.start <= node.span.start && node.span.end <= span.end;
        let nodes = self.nodes.iter().enumerate().filter(move |(_, node)| inside(node));
        nodes.filter_map(|(ix, _)| NodeId::at(ix))
    }
}
