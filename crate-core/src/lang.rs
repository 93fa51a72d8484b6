//! The `.fold` language: text in, a syntax tree and diagnostics out, and text edits back.
//!
//! Reading never fails and never panics: a line that cannot be read becomes a hole, the rest works.
//! Nothing here names an individual op; names, signs and spellings come from the op table's rows.
//! Nothing here reads a file or evaluates a tensor.

pub mod ast;
pub mod edit;
pub mod format;
pub mod lex;
pub mod lower;
pub mod parse;
#[cfg(feature = "full")]
pub mod patch;
pub mod source_map;
pub mod spell;
pub mod suggest;

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

pub use ast::Ast;
pub use format::{format, format_with};
pub use lower::{Lowered, lower, lower_with};
pub use parse::{Parsed, parse};
pub use source_map::SourceMap;

use crate::ops::OpKind;
pub use crate::refusal::{Code, Severity};

/// A half-open range of bytes in the text; both ends stand on character boundaries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of these bytes.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The empty span before this byte.
    pub const fn at(place: u32) -> Self {
        Self { start: place, end: place }
    }

    /// The smallest span that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The same as a range of `usize`, for slicing.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The text under this span; empty where the span does not belong to the text.
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or("")
    }

    /// Whether the byte lies inside, or the caret stands at one of the ends.
    pub const fn touches(self, place: u32) -> bool {
        self.start <= place && place <= self.end
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}..{}", self.start, self.end)
    }
}

/// One replacement in a text: the bytes under `span` become `text`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TextEdit {
    /// What is replaced; empty to insert.
    pub span: Span,
    /// What stands there afterwards; empty to delete.
    pub text: String,
}

impl TextEdit {
    /// Replaces the bytes under `span`.
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    /// Inserts before the byte at `place`.
    pub fn insert(place: u32, text: impl Into<String>) -> Self {
        Self { span: Span::at(place), text: text.into() }
    }
}

/// An edit that one click applies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What the click does, as an imperative: "Add `)`".
    pub title: String,
    /// The edits, which do not overlap.
    pub edits: Vec<TextEdit>,
}

/// Something to say about a place in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// How much it weighs.
    pub severity: Severity,
    /// Where.
    pub span: Span,
    /// What is wrong and what to do, in one or two short sentences.
    pub message: String,
    /// What one click can do about it.
    pub fixes: Vec<Fix>,
    /// The node that could not be made, where it is about one.
    pub about: Option<About>,
}

/// The node that a diagnostic is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct About {
    /// The name that it would have.
    pub node: String,
    /// Its op; `None` for a leaf.
    pub op: Option<OpKind>,
    /// The operand to blame, counted from 0.
    pub src: Option<usize>,
}

impl Diagnostic {
    /// An error without a fix.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, severity: Severity::Error, span, message, fixes: Vec::new(), about: None }
    }

    /// In the place of all that the part of the engine does not say, so that the whole is asked.
    pub(crate) fn beyond() -> Self {
        Self::error(Code::Syntax, Span::at(0), String::new())
    }

    /// The same with one more fix, made of one edit.
    #[must_use]
    pub fn fix(self, title: impl Into<String>, edit: TextEdit) -> Self {
        self.fix_all(title, vec![edit])
    }

    /// The same with one more fix, made of several edits.
    #[must_use]
    pub fn fix_all(mut self, title: impl Into<String>, edits: Vec<TextEdit>) -> Self {
        self.fixes.push(Fix { title: title.into(), edits });
        self
    }
}
