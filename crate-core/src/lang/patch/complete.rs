//! What can stand at the caret.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::lang::Span;

/// What a proposal is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum ItemKind {
    /// An op.
    Op,
    /// A function of the document.
    Function,
    /// A node in scope.
    Node,
    /// An attribute of the call around the caret.
    Attribute,
    /// A word of the language.
    Word,
    /// A rule set, a type, a method, an axis.
    Value,
}

/// A proposal.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Item {
    /// What is listed.
    pub label: String,
    /// What it is.
    pub kind: ItemKind,
    /// What is written in place of `span`.
    pub insert: String,
    /// The word that is replaced.
    pub span: Span,
    /// A signature or a shape, short.
    pub detail: String,
    /// What it does, one sentence; may be empty.
    pub says: String,
}

/// What can stand at the caret, a byte of the text; best first.
pub fn complete(_text: &str, _caret: u32) -> Vec<Item> {
    Vec::new()
}
