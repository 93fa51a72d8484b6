//! Values, shapes, types and attributes.

use super::change::{Draft, applied};
use super::sketch::Doc;
use super::{Code, Refused};
use crate::lang::edit;
use crate::rules::RuleSet;

pub(super) fn set_literal(
    _doc: &Doc,
    _node: &str,
    _cell: Option<&[u32]>,
    _slot: Option<usize>,
    _value: &str,
) -> Result<Draft, Refused> {
    Err(Refused::new("this cannot be done yet"))
}

pub(super) fn set_shape(_doc: &Doc, _node: &str, _shape: &str) -> Result<Draft, Refused> {
    Err(Refused::new("this cannot be done yet"))
}

pub(super) fn set_axis_name(
    _doc: &Doc,
    _node: &str,
    _axis: usize,
    _name: &str,
) -> Result<Draft, Refused> {
    Err(Refused::new("this cannot be done yet"))
}

pub(super) fn set_type(_doc: &Doc, _node: &str, _dtype: &str) -> Result<Draft, Refused> {
    Err(Refused::new("this cannot be done yet"))
}

pub(super) fn set_trains(_doc: &Doc, _node: &str, _trains: bool) -> Result<Draft, Refused> {
    Err(Refused::new("this cannot be done yet"))
}

pub(super) fn set_attribute(
    _doc: &Doc,
    _node: &str,
    _attribute: &str,
    _value: &str,
) -> Result<Draft, Refused> {
    Err(Refused::new("this cannot be done yet"))
}

/// The rules of the document.
pub(super) fn set_rules(doc: &Doc, rules: &str) -> Result<Draft, Refused> {
    if RuleSet::by_name(rules).is_none() {
        let words = format!("there are no rules called `{rules}`");
        return Err(Refused::coded(Code::UnknownName, words));
    }
    let text = applied(&doc.text, &[edit::set_rules(&doc.text, &doc.ast, rules)])?;
    Ok(Draft::new(Doc::read(text), Vec::<String>::new()))
}
