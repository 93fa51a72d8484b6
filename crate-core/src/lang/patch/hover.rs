//! What is to be said of the word under a pointer.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::lang::Span;

/// A card.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Hover {
    /// The word it is about.
    pub span: Span,
    /// Its heading: `clamp(a, min=.., max=..)`, `c [2, 1] f32`.
    pub title: String,
    /// Lines of text: formula, what it does, gradient, kinks; or the line that defines a node.
    pub lines: Vec<String>,
    /// What is wrong here: code, meaning and message.
    pub findings: Vec<(String, String, String)>,
}

/// The card for a byte of the text, where there is something to say.
pub fn hover(_text: &str, _caret: u32) -> Option<Hover> {
    None
}
