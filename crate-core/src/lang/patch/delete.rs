//! Nodes go; what read them is open, and directives that name them go too.

use std::collections::BTreeSet;

use super::change::{Draft, Step, joined, reference, step};
use super::connect::place_of;
use super::sketch::{Doc, Drawn, Input};
use super::{Refused, insert, lines};
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
            // The line keeps its name and loses the op around its first part.
            (true, Some(Kept::Part(inner))) => {
                edits.push((node.span, inner.of(&doc.text).to_owned()));
            }
            (true, keeps) => {
                removed.push(lines::remove(&doc.text, node.line));
                let instead = match keeps {
                    Some(Kept::Name(name)) => name,
                    _ => "?".to_owned(),
                };
                let reads = doc.reads(&node.name).into_iter();
                edits.extend(reads.map(|span| (span, instead.clone())));
                for statement in doc.ast.statements() {
                    let of = reference(&statement.kind);
                    let head = of.and_then(|of| of.parts.first());
                    if head.is_some_and(|head| head.text == node.name) {
                        removed.push(lines::remove(&doc.text, statement.span));
                    }
                }
            }
            (false, Some(Kept::Part(inner))) => {
                let text = inner.of(&doc.text);
                let id = doc.expr_at(inner);
                let text = id.map_or_else(|| text.to_owned(), |id| insert::inside(doc, id, text));
                edits.push((place_of(doc, &node.name), text));
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
