//! Where lines of a text begin and end, and how one is put in, taken out or cut with its comments.

use super::sketch::Doc;
use crate::lang::ast::LineKind;
use crate::lang::{Span, TextEdit};

/// The break that the text uses.
pub(super) fn new_line(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The first byte of the line around a place.
pub(super) fn start(text: &str, place: u32) -> u32 {
    let before = text.get(..place as usize).unwrap_or("");
    before.rfind(['\n', '\r']).map_or(0, |at| at as u32 + 1)
}

/// The break at the end of the line around a place.
pub(super) fn end(text: &str, place: u32) -> u32 {
    let rest = text.get(place as usize..).unwrap_or("");
    place + rest.find(['\n', '\r']).unwrap_or(rest.len()) as u32
}

/// One past the break that stands at a place.
pub(super) fn past_break(text: &str, place: u32) -> u32 {
    let rest = text.get(place as usize..).unwrap_or("");
    let n = if rest.starts_with("\r\n") { 2 } else { u32::from(rest.starts_with(['\n', '\r'])) };
    place + n
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || matches!(c, ';' | '\u{feff}' | '\u{200b}'))
}

/// Whether nothing else of the program stands on the lines of a statement.
pub(super) fn is_alone(text: &str, statement: Span) -> bool {
    let before = Span::new(start(text, statement.start), statement.start).of(text);
    let behind = Span::new(statement.end, end(text, statement.end)).of(text);
    let behind = behind.split('#').next().unwrap_or("");
    is_blank(before) && is_blank(behind)
}

/// Whether only blanks stand before it on its line.
fn begins_line(text: &str, place: u32) -> bool {
    is_blank(Span::new(start(text, place), place).of(text))
}

/// The lines of a statement that stands alone on them: with the comment behind it and the last break.
pub(super) fn whole(text: &str, statement: Span) -> Span {
    // A mark at the start of the text stays there.
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() as u32 } else { 0 };
    let from = start(text, statement.start).max(mark.min(statement.start));
    Span::new(from, past_break(text, end(text, statement.end)))
}

/// Where the comments directly above a statement begin, or the statement's own line.
pub(super) fn top(doc: &Doc, line: usize) -> u32 {
    let text = doc.text.as_str();
    let Some(statement) = doc.statement(line) else {
        return 0;
    };
    let mut top = whole(text, statement.span).start;
    let mut below = doc.ast.lines.get(line);
    for above in doc.ast.lines.get(..line).unwrap_or(&[]).iter().rev() {
        let LineKind::Comment(comment) = &above.kind else {
            break;
        };
        let is_title = doc.ast.title.as_ref().is_some_and(|title| title.span == comment.span);
        let is_apart = below.is_some_and(|below| below.blank_before);
        if is_title || is_apart || comment.span.end > top || !begins_line(text, comment.span.start)
        {
            break;
        }
        top = start(text, comment.span.start);
        below = Some(above);
    }
    top
}

/// A statement with its comments, those directly above and the one behind it, and the edit that cuts it out.
pub(super) fn block(doc: &Doc, line: usize) -> Option<(Span, TextEdit)> {
    let text = doc.text.as_str();
    let own = doc.ast.lines.get(line)?;
    let statement = own.statement()?.span;
    if is_alone(text, statement) {
        let span = Span::new(top(doc, line), whole(text, statement).end);
        return Some((span, TextEdit::replace(span, "")));
    }
    let behind = own.trailing.as_ref().filter(|comment| comment.span.start >= statement.end);
    let span = behind.map_or(statement, |comment| statement.to(comment.span));
    let cut = remove(text, statement);
    let end = cut.span.end.max(span.end);
    Some((span, TextEdit::replace(Span::new(cut.span.start, end), "")))
}

/// Takes a statement out with the comment behind it; comments above it stay.
pub(super) fn without(doc: &Doc, line: usize) -> Option<TextEdit> {
    let statement = doc.statement(line)?.span;
    if is_alone(&doc.text, statement) {
        return Some(remove(&doc.text, statement));
    }
    block(doc, line).map(|(_, cut)| cut)
}

/// Puts lines after a statement.
pub(super) fn insert_after(text: &str, statement: Span, lines: &str) -> TextEdit {
    let line_end = end(text, statement.end);
    let rest = Span::new(statement.end, line_end).of(text);
    let next = rest.trim_start_matches([' ', '\t', ';']);
    // Another statement on the same line comes after the new ones.
    let is_last = next.is_empty() || next.starts_with('#');
    let line_break = new_line(text);
    if is_last {
        return TextEdit::insert(line_end, format!("{line_break}{lines}"));
    }
    // A comment must not swallow it.
    let end = if lines.contains('#') { line_break } else { "" };
    TextEdit::insert(statement.end, format!("{line_break}{lines}{end}"))
}

/// Puts lines before a statement and the comments directly above it.
pub(super) fn insert_before(doc: &Doc, line: usize, lines: &str) -> TextEdit {
    let text = doc.text.as_str();
    let Some(statement) = doc.statement(line) else {
        return append(text, lines);
    };
    if begins_line(text, statement.span.start) {
        return TextEdit::insert(top(doc, line), format!("{lines}{}", new_line(text)));
    }
    TextEdit::insert(statement.span.start, format!("{lines}; "))
}

/// Puts lines at the end of the text.
pub(super) fn append(text: &str, lines: &str) -> TextEdit {
    let is_open = !text.is_empty() && !text.ends_with(['\n', '\r']);
    let before = if is_open { new_line(text) } else { "" };
    TextEdit::insert(text.len() as u32, format!("{before}{lines}{}", new_line(text)))
}

/// Takes a statement out, with the comment behind it where the line goes with it.
pub(super) fn remove(text: &str, statement: Span) -> TextEdit {
    if is_alone(text, statement) {
        return TextEdit::replace(whole(text, statement), "");
    }
    let line_end = end(text, statement.end);
    let behind = Span::new(statement.end, line_end).of(text);
    let next = behind.trim_start_matches([' ', '\t', ';']);
    if !next.is_empty() && !next.starts_with('#') {
        // Another statement follows and takes its place.
        return TextEdit::replace(Span::new(statement.start, line_end - next.len() as u32), "");
    }
    if begins_line(text, statement.start) {
        return TextEdit::replace(statement, "");
    }
    let before = text.get(..statement.start as usize).unwrap_or("");
    let kept = before.trim_end_matches([' ', '\t', ';']).len() as u32;
    let gone = behind.len() - behind.trim_start_matches(';').len();
    TextEdit::replace(Span::new(kept, statement.end + gone as u32), "")
}
