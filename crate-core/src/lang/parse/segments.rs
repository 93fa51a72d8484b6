//! Tokens to statements: where each one begins and ends.
//!
//! A statement goes on while a bracket is open. A bracket that is never closed must not swallow the
//! rest of the document, so a line that clearly begins a statement ends the one before it.

use super::words;
use crate::lang::lex::{Bracket, Token, TokenKind};

/// What ended a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// The end of its line, or of the text.
    Line,
    /// A line that clearly begins another statement while a bracket is open.
    Guess,
    /// A `;`, the token with this index.
    Semicolon(usize),
    /// The `{` of a `fn`, which is its last token.
    OpenBrace,
    /// It is a `}`.
    CloseBrace,
}

/// The tokens `first..end` of one statement; never empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) stop: Stop,
}

/// The brackets that are open, by token index.
#[derive(Default)]
struct Open(Vec<(usize, Bracket)>);

impl Open {
    /// How far down a closing bracket looks for its partner; deeper nesting is refused anyway.
    const REACH: usize = 64;

    /// Takes the partner of a closing bracket, and what is open inside it.
    fn close(&mut self, bracket: Bracket) -> Option<usize> {
        let depth = self.0.iter().rev().take(Self::REACH).position(|&(_, b)| b == bracket)?;
        self.0.truncate(self.0.len() - depth);
        self.0.pop().map(|(ix, _)| ix)
    }
}

/// Splits a document.
pub(super) fn split(text: &str, tokens: &[Token]) -> Vec<Segment> {
    let closed = closed_brackets(text, tokens);
    let mut segments = Vec::new();
    let mut open = Open::default();
    let mut first = 0;
    for (ix, token) in tokens.iter().enumerate() {
        let in_header = is_word(text, tokens, first, "fn");
        if first < ix
            && token.first
            && !(in_header && token.kind == TokenKind::Open(Bracket::Curly))
        {
            let stop = match open.0.first() {
                None => Some(Stop::Line),
                Some(&(outer, _)) => {
                    let is_closed = closed.get(outer).copied().unwrap_or(false);
                    (begins(text, tokens, ix, &open, !is_closed)).then_some(Stop::Guess)
                }
            };
            if let Some(stop) = stop {
                segments.push(Segment { first, end: ix, stop });
                open.0.clear();
                first = ix;
            }
        }
        // Decided anew: the line above may just have ended.
        let in_header = is_word(text, tokens, first, "fn");
        let stop = match token.kind {
            TokenKind::Semicolon => Some((ix, Stop::Semicolon(ix))),
            TokenKind::Open(Bracket::Curly) if in_header => Some((ix + 1, Stop::OpenBrace)),
            TokenKind::Close(Bracket::Curly) => {
                if first < ix {
                    let stop = if open.0.is_empty() { Stop::Line } else { Stop::Guess };
                    segments.push(Segment { first, end: ix, stop });
                }
                first = ix;
                Some((ix + 1, Stop::CloseBrace))
            }
            TokenKind::Open(bracket @ (Bracket::Round | Bracket::Square)) => {
                open.0.push((ix, bracket));
                None
            }
            TokenKind::Close(bracket) => {
                open.close(bracket);
                None
            }
            _ => None,
        };
        if let Some((end, stop)) = stop {
            if first < end {
                segments.push(Segment { first, end, stop });
            }
            open.0.clear();
            first = ix + 1;
        }
    }
    if first < tokens.len() {
        let stop = if open.0.is_empty() { Stop::Line } else { Stop::Guess };
        segments.push(Segment { first, end: tokens.len(), stop });
    }
    segments
}

/// For each token: whether it opens a bracket that is closed again within its statement.
fn closed_brackets(text: &str, tokens: &[Token]) -> Vec<bool> {
    let mut closed = vec![false; tokens.len()];
    let mut open = Open::default();
    for (ix, token) in tokens.iter().enumerate() {
        if token.first && !open.0.is_empty() && begins(text, tokens, ix, &open, false) {
            open.0.clear();
        }
        match token.kind {
            TokenKind::Semicolon
            | TokenKind::Open(Bracket::Curly)
            | TokenKind::Close(Bracket::Curly) => open.0.clear(),
            TokenKind::Open(bracket) => open.0.push((ix, bracket)),
            TokenKind::Close(bracket) => {
                let partner = open.close(bracket).and_then(|ix| closed.get_mut(ix));
                if let Some(partner) = partner {
                    *partner = true;
                }
            }
            _ => {}
        }
    }
    closed
}

/// Whether the first token of a line begins a statement although a bracket is open.
///
/// `NAME =` may also be a named argument, after a comma or the parenthesis; it is taken for one
/// unless the bracket is known never to be closed.
fn begins(text: &str, tokens: &[Token], ix: usize, open: &Open, never_closed: bool) -> bool {
    let kind = |ix: usize| tokens.get(ix).map(|token| token.kind);
    if kind(ix) != Some(TokenKind::Name) {
        return false;
    }
    if words::STATEMENTS.iter().any(|word| is_word(text, tokens, ix, word)) {
        return true;
    }
    let in_list = open.0.last().is_some_and(|&(_, bracket)| bracket == Bracket::Square);
    let before = ix.checked_sub(1).and_then(kind);
    let may_be_argument =
        matches!(before, Some(TokenKind::Comma | TokenKind::Open(Bracket::Round)));
    kind(ix + 1) == Some(TokenKind::Assign) && (in_list || !may_be_argument || never_closed)
}

fn is_word(text: &str, tokens: &[Token], ix: usize, word: &str) -> bool {
    tokens.get(ix).is_some_and(|token| token.kind == TokenKind::Name && token.span.of(text) == word)
}
