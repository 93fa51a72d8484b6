//! Nodes go; what read them is open, and directives that name them go too.

use std::collections::BTreeSet;

use super::change::{Draft, Step, joined, step};
use super::connect::place_of;
use super::sketch::{Doc, Drawn, Input};
use super::{Refused, insert, lines};
use crate::lang::ast::{Statement, StatementKind};
use crate::lang::edit::reference;
use crate::lang::{Span, TextEdit};

/// Removes nodes.
pub(super) fn delete(doc: &Doc, nodes: &[String], through: bool) -> Result<Draft, Refused> {
    let mut gone: BTreeSet<&str> = BTreeSet::new();
    for name in nodes {
        gone.insert(doc.node(name)?.name.as_str());
    }
    let mut edits: Vec<(Span, String)> = Vec::new();
    let mut removed: Vec<TextEdit> = Vec::new();
    for node in doc.drawn.iter().filter(|node| gone.contains(node.name.as_str())) {
        let keeps = if through { carried(doc, node, &gone) } else { None };
        match (node.is_line, keeps) {
            // The line keeps its name and its directives; the node's own position goes.
            (true, Some(Kept::Part(inner))) => {
                let text = inner.of(&doc.text);
                edits.extend(around(node.span, inner, insert::alone(inner, &doc.text) != text));
                for (ix, statement) in statements(doc) {
                    let is_pin = matches!(statement.kind, StatementKind::Layout { .. });
                    let of = reference(&statement.kind).filter(|_| is_pin);
                    if of.is_some_and(|of| of.name() == node.name) {
                        removed.extend(lines::without(doc, ix));
                    }
                }
            }
            (true, keeps) => {
                removed.extend(doc.line_of(node).and_then(|line| lines::without(doc, line)));
                let instead = match keeps {
                    Some(Kept::Name(name)) => name,
                    _ => "?".to_owned(),
                };
                let reads = doc.reads(&node.name).into_iter();
                edits.extend(reads.map(|span| (span, instead.clone())));
                for (ix, statement) in statements(doc) {
                    let of = reference(&statement.kind);
                    let head = of.and_then(|of| of.parts.first());
                    if head.is_some_and(|head| head.text == node.name) {
                        removed.extend(lines::without(doc, ix));
                    }
                }
            }
            (false, Some(Kept::Part(inner))) => {
                let text = inner.of(&doc.text);
                let is_bare =
                    doc.expr_at(inner).is_none_or(|id| insert::inside(doc, id, text) == text);
                edits.extend(around(place_of(doc, &node.name), inner, !is_bare));
            }
            (false, Some(Kept::Name(name))) => edits.push((place_of(doc, &node.name), name)),
            (false, None) => edits.push((place_of(doc, &node.name), "?".to_owned())),
        }
    }
    // What stands inside something that goes, goes with it.
    let removed = joined(removed);
    edits.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    let mut end = 0;
    let mut all = Vec::new();
    for (span, text) in edits {
        let in_removed = removed.iter().any(|edit| edit.span.to(span) == edit.span);
        if span.start >= end && !in_removed {
            end = span.end;
            all.push(TextEdit::replace(span, text));
        }
    }
    all.extend(removed);
    let Step { doc, .. } = step(doc, &all, &[])?;
    Ok(Draft::new(doc, Vec::<String>::new()))
}

/// The statements of the document, with their places among its lines.
fn statements(doc: &Doc) -> impl Iterator<Item = (usize, &Statement)> {
    let lines = doc.ast.lines.iter().enumerate();
    lines.filter_map(|(ix, line)| line.statement().map(|statement| (ix, statement)))
}

/// The edits that take away what stands around a piece of an expression.
fn around(outer: Span, inner: Span, in_parentheses: bool) -> [(Span, String); 2] {
    let (open, close) = if in_parentheses { ("(", ")") } else { ("", "") };
    [
        (Span::new(outer.start, inner.start), open.to_owned()),
        (Span::new(inner.end, outer.end), close.to_owned()),
    ]
}

/// What the users of a deleted node read instead.
enum Kept {
    /// The node of this name.
    Name(String),
    /// The part of the expression with this text.
    Part(Span),
}

/// The source that a node hands on: its only one, of its own shape.
fn carried(doc: &Doc, node: &Drawn, gone: &BTreeSet<&str>) -> Option<Kept> {
    let first = node;
    let mut node = node;
    // Deleted nodes are passed through too; a circle ends where the number of nodes does.
    for _ in 0..=doc.drawn.len() {
        let [slot] = node.slots.as_slice() else {
            return None;
        };
        let Input::Node(source) = &slot.reads else {
            return None;
        };
        let source = doc.find(source)?;
        if source.shape.is_none() || source.shape != node.shape {
            return None;
        }
        if !gone.contains(source.name.as_str()) {
            // A deleted line whose value is a part of itself keeps its name.
            let name = match (source.is_line, node.name == first.name) {
                (true, _) => &source.name,
                (false, false) if node.is_line => &node.name,
                _ => return Some(Kept::Part(slot.span)),
            };
            return Some(Kept::Name(name.clone()));
        }
        node = source;
    }
    None
}
