//! Copies of nodes.

use super::Refused;
use super::change::Draft;
use super::sketch::Doc;

pub(super) fn copy(_doc: &Doc, _nodes: &[String]) -> Result<String, Refused> {
    Err(Refused::new("this cannot be done yet"))
}

pub(super) fn duplicate(_doc: &Doc, _nodes: &[String]) -> Result<Draft, Refused> {
    Err(Refused::new("this cannot be done yet"))
}

pub(super) fn paste(_doc: &Doc, _text: &str, _at: Option<&str>) -> Result<Draft, Refused> {
    Err(Refused::new("this cannot be done yet"))
}
