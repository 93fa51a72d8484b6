//! Nodes become a function.

use super::Refused;
use super::change::Draft;
use super::sketch::Doc;

pub(super) fn group(_doc: &Doc, _nodes: &[String], _name: &str) -> Result<Draft, Refused> {
    Err(Refused::new("this cannot be done yet"))
}
