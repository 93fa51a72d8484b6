//! Changes to a document as text edits, which keep its comments and its spelling.
//!
//! They are pure: they read a text and its tree, and return edits. Whether a change makes sense is
//! the caller's to know.

use std::fmt;

use super::ast::{Ast, Check, ExprKind, Hole, Line, LineKind, Ref, Statement, StatementKind};
use super::lex::{Bracket, TokenKind, lex};
use super::{Span, TextEdit};

/// Why edits cannot be applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EditError {
    /// Two edits change the same bytes.
    Overlap(Span),
    /// An edit lies outside the text, or cuts a character.
    OutOfText(Span),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlap(span) => write!(f, "two edits change the same bytes at {}", span.start),
            Self::OutOfText(span) => write!(f, "an edit at {} does not fit the text", span.start),
        }
    }
}

impl std::error::Error for EditError {}

/// The text after all edits, in any order; insertions at one place keep theirs.
pub fn apply(text: &str, edits: &[TextEdit]) -> Result<String, EditError> {
    let mut sorted: Vec<&TextEdit> = edits.iter().collect();
    sorted.sort_by_key(|edit| edit.span);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for edit in sorted {
        let range = edit.span.range();
        if range.start < done {
            return Err(EditError::Overlap(edit.span));
        }
        let before = text.get(done..range.start);
        let (Some(before), Some(_)) = (before, text.get(range.clone())) else {
            return Err(EditError::OutOfText(edit.span));
        };
        out.push_str(before);
        out.push_str(&edit.text);
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or(""));
    Ok(out)
}

/// Gives a name of the document another one: where it is defined, where it is read, in directives,
/// in pinned positions, and in lines that cannot be read. A name inside a `fn` is another name.
pub fn rename(ast: &Ast, from: &str, to: &str) -> Vec<TextEdit> {
    let functions: Vec<Span> = ast
        .statements()
        .filter(|statement| matches!(statement.kind, StatementKind::Function(_)))
        .map(|statement| statement.span)
        .collect();
    let in_function = |span: Span| {
        let ix = functions.partition_point(|function| function.end <= span.start);
        functions.get(ix).is_some_and(|function| function.start <= span.start)
    };
    let is_function = ast
        .definition(from)
        .is_some_and(|statement| matches!(statement.kind, StatementKind::Function(_)));
    let mut spans = Vec::new();
    for (_, expr) in ast.exprs() {
        match &expr.kind {
            ExprKind::Name(name) if !is_function && name == from && !in_function(expr.span) => {
                spans.push(expr.span);
            }
            ExprKind::Call(call) | ExprKind::Method { call, .. }
                if is_function && call.name.text == from =>
            {
                spans.push(call.name.span);
            }
            _ => {}
        }
    }
    for statement in ast.statements() {
        let defined = statement.kind.defines().filter(|name| name.text == from);
        match &statement.kind {
            StatementKind::Hole(hole) => in_hole(hole, statement, from, is_function, &mut spans),
            _ => spans.extend(defined.map(|name| name.span)),
        }
        let head = reference(&statement.kind).and_then(|of| of.parts.first());
        spans.extend(head.filter(|head| head.text == from && !is_function).map(|head| head.span));
    }
    spans.sort_unstable();
    spans.into_iter().map(|span| TextEdit::replace(span, to)).collect()
}

/// The node that a directive speaks of.
pub(super) const fn reference(kind: &StatementKind) -> Option<&Ref> {
    match kind {
        StatementKind::Accumulator { of, .. }
        | StatementKind::Backward { of, .. }
        | StatementKind::Check(Check::Formula { of, .. })
        | StatementKind::Layout { of, .. } => Some(of),
        _ => None,
    }
}

/// A line that cannot be read still has words.
fn in_hole(hole: &Hole, at: &Statement, from: &str, is_function: bool, spans: &mut Vec<Span>) {
    let tokens = lex(&hole.text).tokens;
    for (ix, token) in tokens.iter().enumerate() {
        let kind = |ix: Option<usize>| ix.and_then(|ix| tokens.get(ix)).map(|token| token.kind);
        let is_call = kind(Some(ix + 1)) == Some(TokenKind::Open(Bracket::Round));
        let is_member = kind(ix.checked_sub(1)) == Some(TokenKind::Dot);
        let is_defined = hole
            .defines
            .as_ref()
            .is_some_and(|name| name.span.start == at.span.start + token.span.start);
        let fits = if is_function { is_call || is_defined } else { !is_call && !is_member };
        if fits && token.kind == TokenKind::Name && token.span.of(&hole.text) == from {
            let start = at.span.start + token.span.start;
            spans.push(Span::new(start, at.span.start + token.span.end));
        }
    }
}

/// Replaces an expression, or any other piece of the text.
pub fn replace(span: Span, text: impl Into<String>) -> TextEdit {
    TextEdit::replace(span, text)
}

/// Adds the line `NAME = EXPR` after a statement.
pub fn insert_after(text: &str, statement: &Statement, name: &str, expr: &str) -> TextEdit {
    let line_end = end_of_line(text, statement.span.end);
    let rest =
        Span::new(statement.span.end, line_end).of(text).trim_start_matches([' ', '\t', ';']);
    // Another statement on the same line comes after the new one.
    let is_last = rest.is_empty() || rest.starts_with('#');
    let place = if is_last { line_end } else { statement.span.end };
    TextEdit::insert(place, format!("{}{name} = {expr}", new_line(text)))
}

/// Removes a statement; a comment behind it stays, on a line of its own.
pub fn remove(text: &str, line: &Line) -> TextEdit {
    let span = match &line.kind {
        LineKind::Comment(comment) => comment.span,
        LineKind::Statement(statement) => statement.span,
    };
    let line_end = end_of_line(text, span.end);
    let before = text.get(..span.start as usize).unwrap_or("");
    let indent = before.len() - before.trim_end_matches([' ', '\t']).len();
    let line_start = span.start - indent as u32;
    let begins_line = before.is_empty()
        || before.trim_end_matches([' ', '\t']).ends_with(['\n', '\r'])
        || line_start == 0;
    let behind = Span::new(span.end, line_end).of(text);
    let next = behind.trim_start_matches([' ', '\t', ';']);
    if !next.is_empty() {
        // A statement or a comment follows: it takes this one's place.
        return TextEdit::replace(Span::new(span.start, line_end - next.len() as u32), "");
    }
    if begins_line {
        let after = text.get(line_end as usize..).unwrap_or("");
        let n = if after.starts_with("\r\n") { 2 } else { after.len().min(1) as u32 };
        return TextEdit::replace(Span::new(line_start, line_end + n), "");
    }
    // A statement stands before it: its `;` goes too.
    let kept = before.trim_end_matches([' ', '\t', ';']).len() as u32;
    TextEdit::replace(Span::new(kept, line_end), "")
}

/// Makes `rules NAME` the rules of the document: in place, or as its first line under the title.
pub fn set_rules(text: &str, ast: &Ast, name: &str) -> TextEdit {
    let rules = ast.statements().find_map(|statement| match &statement.kind {
        StatementKind::Rules(rules) => Some(rules),
        _ => None,
    });
    if let Some(rules) = rules {
        return TextEdit::replace(rules.span, name);
    }
    let line_break = new_line(text);
    let first = ast.statements().next().map_or(u32::MAX, |statement| statement.span.start);
    let Some(title) = ast.title.as_ref().filter(|title| title.span.start < first) else {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        return TextEdit::insert(start as u32, format!("rules {name}{line_break}"));
    };
    let place = end_of_line(text, title.span.end);
    TextEdit::insert(place, format!("{line_break}rules {name}"))
}

fn end_of_line(text: &str, place: u32) -> u32 {
    let rest = text.get(place as usize..).unwrap_or("");
    place + rest.find(['\n', '\r']).unwrap_or(rest.len()) as u32
}

fn new_line(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
