//! Pinned positions: the lines `layout NODE X Y` at the end of the text.

use super::change::{Draft, Step, applied, joined, step};
use super::sketch::Doc;
use super::{Refused, lines};
use crate::lang::TextEdit;
use crate::lang::ast::{Ref, StatementKind};
use crate::lang::edit::reference;

/// Fixes a node's position.
pub(super) fn pin(doc: &Doc, node: &str, x: f64, y: f64) -> Result<Draft, Refused> {
    let known = doc.find(node).is_some() || doc.lowered.names.contains_key(node);
    if !known {
        doc.node(node)?;
    }
    if !x.is_finite() || !y.is_finite() {
        return Err(Refused::new("a position has two finite numbers"));
    }
    let line = format!("layout {node} {} {}", number(x), number(y));
    let (mut own, mut last) = (None, None);
    for statement in doc.ast.statements() {
        if let StatementKind::Layout { of, .. } = &statement.kind {
            last = Some(statement);
            own = own.or_else(|| (of.name() == node).then_some(statement));
        }
    }
    let edit = match (own, last) {
        (Some(own), _) => TextEdit::replace(own.span, line),
        (None, Some(last)) => lines::insert_after(&doc.text, last.span, &line),
        // The trailer is set off by an empty line.
        (None, None) => {
            let line_break = lines::new_line(&doc.text);
            let is_open = !doc.text.is_empty() && !doc.text.ends_with(['\n', '\r']);
            let end = if is_open { line_break } else { "" };
            let gap = if doc.text.trim().is_empty() { "" } else { line_break };
            TextEdit::insert(doc.text.len() as u32, format!("{end}{gap}{line}{line_break}"))
        }
    };
    let text = applied(&doc.text, &[edit])?;
    Ok(Draft::new(Doc::read(text), [node]))
}

/// A coordinate as it is written: whole, or with one digit.
fn number(x: f64) -> String {
    let rounded = (x * 10.0).round() / 10.0;
    // There is no minus zero on a plane.
    format!("{}", rounded + 0.0)
}

/// Gives positions free.
pub(super) fn unpin(doc: &Doc, nodes: &[String]) -> Result<Draft, Refused> {
    let mut gone = Vec::new();
    for (ix, line) in doc.ast.lines.iter().enumerate() {
        let Some(statement) = line.statement() else {
            continue;
        };
        let is_pin = matches!(statement.kind, StatementKind::Layout { .. });
        let name = reference(&statement.kind).filter(|_| is_pin).map(Ref::name);
        if name.is_some_and(|name| nodes.contains(&name)) {
            gone.extend(lines::without(doc, ix));
        }
    }
    let Step { doc, .. } = step(doc, &joined(gone), &[])?;
    Ok(Draft::new(doc, nodes))
}
