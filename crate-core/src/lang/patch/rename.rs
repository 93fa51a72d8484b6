//! Another name for a node, wherever it stands.

use super::Refused;
use super::change::{Draft, applied};
use super::connect::extract;
use super::names;
use super::sketch::Doc;
use crate::lang::edit;

/// Renames a node; a part of an expression gets a line of its own.
pub(super) fn rename(doc: &Doc, node: &str, to: &str) -> Result<Draft, Refused> {
    if node == to {
        return Ok(Draft::new(doc.clone(), [node]));
    }
    names::check(doc, to)?;
    if doc.line_of_name(node).is_none() && !doc.node(node)?.is_line {
        let made = extract(doc, node, Some(to))?;
        return Ok(Draft::new(made.doc, [to]));
    }
    let text = applied(&doc.text, &edit::rename(&doc.ast, node, to))?;
    Ok(Draft::new(Doc::read(text), [to]))
}
