//! What can be inserted: the ops of the table, with what fits the selected node first.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Whether an op fits the selected node.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Suits {
    /// Nothing is selected, or it is not known yet: other inputs are needed.
    Open,
    /// It does, and gives this shape.
    Yes(Vec<u32>),
    /// It does not; why.
    No(String),
}

/// An op in the palette.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Entry {
    /// Its name in the table: what [`super::Gesture::Append`] takes.
    pub op: String,
    /// How it is called: `clamp(a, min=.., max=..)`, `a + b`.
    pub signature: String,
    /// The value as a formula.
    pub formula: String,
    /// What it does, one sentence.
    pub says: String,
    /// The other spelling that the query found; empty where it found the name.
    pub alias: String,
    /// The letters of the name, or of the other spelling, that the query found: places from 0.
    pub found: Vec<u32>,
    /// Whether it fits the selected node.
    pub suits: Suits,
    /// Why the document's rules do not differentiate it; empty where they do.
    pub refused: String,
}

/// The ops that a query finds, best first.
pub fn palette(_text: &str, _selected: Option<&str>, _query: &str) -> Vec<Entry> {
    Vec::new()
}
