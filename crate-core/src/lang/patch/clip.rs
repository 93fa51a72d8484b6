//! Copies of nodes: as a text of their own, and back into a document under free names.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Draft, applied, step};
use super::names::Taken;
use super::sketch::Doc;
use super::{Code, Refused, Severity, insert, lines, spelling};
use crate::lang::ast::{ExprKind, StatementKind};
use crate::lang::{Span, TextEdit, edit, parse};

/// What becomes of names that the copied lines read and do not define.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    Opened,
    Kept,
}

/// The text of nodes, with the functions that they call; what else they read is open.
pub(super) fn copy(doc: &Doc, nodes: &[String]) -> Result<String, Refused> {
    lift(doc, nodes, Outside::Opened)
}

fn lift(doc: &Doc, nodes: &[String], outside: Outside) -> Result<String, Refused> {
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let mut parts: Vec<(Span, String)> = Vec::new();
    let mut taken = Taken::of(doc);
    for name in nodes {
        let node = doc.node(name)?;
        if node.is_line {
            chosen.extend(doc.line_of(node));
        } else {
            let stem = node.op().map_or_else(|| "y".to_owned(), spelling::stem);
            parts.push((node.span, taken.free(&stem)));
        }
    }
    if chosen.is_empty() && parts.is_empty() {
        return Err(Refused::new("nothing is selected"));
    }
    let own: BTreeSet<&str> = chosen
        .iter()
        .filter_map(|line| doc.statement(*line).and_then(|statement| statement.kind.defines()))
        .map(|name| name.text.as_str())
        .collect();
    let mut pieces: Vec<(usize, Span, String)> = Vec::new();
    for line in &chosen {
        let Some((span, _)) = lines::block(doc, *line) else {
            continue;
        };
        pieces.push((*line, span, String::new()));
    }
    for (span, name) in parts {
        let line = doc.ast.lines.iter().position(|line| {
            line.statement().is_some_and(|s| s.span.start <= span.start && span.end <= s.span.end)
        });
        if let Some(line) = line.filter(|line| !chosen.contains(line)) {
            pieces.push((line, span, name));
        }
    }
    pieces.sort_by_key(|(line, span, _)| (*line, *span));
    let mut out = functions(doc, pieces.iter().map(|(_, span, _)| *span));
    for (_, span, name) in &pieces {
        let mut opened: Vec<TextEdit> = Vec::new();
        for (_, expr) in doc.ast.exprs() {
            let is_inside = span.start <= expr.span.start && expr.span.end <= span.end;
            if let (ExprKind::Name(read), true) = (&expr.kind, is_inside)
                && outside == Outside::Opened
                && doc.is_value(read)
                && !own.contains(read.as_str())
            {
                let shifted = Span::new(expr.span.start - span.start, expr.span.end - span.start);
                opened.push(TextEdit::replace(shifted, "?"));
            }
        }
        let text = applied(span.of(&doc.text), &opened)?;
        if name.is_empty() {
            out.push_str(text.trim_end());
        } else {
            let value = insert::alone(Span::new(0, text.len() as u32), &text);
            out.push_str(&format!("{name} = {value}"));
        }
        out.push_str(lines::new_line(&doc.text));
    }
    Ok(out)
}

/// The functions that pieces of the text call, and those that these call.
fn functions(doc: &Doc, pieces: impl Iterator<Item = Span>) -> String {
    let mut open: Vec<Span> = pieces.collect();
    let mut used: BTreeMap<u32, Span> = BTreeMap::new();
    while let Some(span) = open.pop() {
        for (_, expr) in doc.ast.exprs() {
            let (ExprKind::Call(call) | ExprKind::Method { call, .. }) = &expr.kind else {
                continue;
            };
            let is_inside = span.start <= expr.span.start && expr.span.end <= span.end;
            let function = doc.ast.definition(&call.name.text).filter(|_| is_inside);
            let function = function.filter(|s| matches!(s.kind, StatementKind::Function(_)));
            if let Some(function) = function
                && used.insert(function.span.start, function.span).is_none()
            {
                open.push(function.span);
            }
        }
    }
    let mut out = String::new();
    for span in used.values() {
        out.push_str(span.of(&doc.text));
        out.push_str(lines::new_line(&doc.text));
    }
    out
}

/// Copies of nodes behind them.
pub(super) fn duplicate(doc: &Doc, nodes: &[String]) -> Result<Draft, Refused> {
    let text = lift(doc, nodes, Outside::Kept)?;
    let mut last = None;
    for name in nodes {
        last = last.max(doc.line_of(doc.node(name)?));
    }
    put(doc, &text, last)
}

/// Lines of a text, behind a node.
pub(super) fn paste(doc: &Doc, text: &str, at: Option<&str>) -> Result<Draft, Refused> {
    let after = match at {
        Some(at) => doc.line_of(doc.node(at)?),
        None => None,
    };
    put(doc, text, after)
}

fn put(doc: &Doc, text: &str, after: Option<usize>) -> Result<Draft, Refused> {
    let parsed = parse(text);
    if let Some(error) = parsed.diagnostics.iter().find(|d| d.severity == Severity::Error) {
        return Err(Refused::coded(error.code, error.message.clone()));
    }
    let other = Doc::read(text.to_owned());
    let mut taken = Taken::of(doc);
    taken.join(&other);
    let here = Taken::of(doc);
    let mut edits: Vec<TextEdit> = Vec::new();
    let mut defined = BTreeSet::new();
    let mut select = Vec::new();
    for statement in other.ast.statements() {
        let Some(name) = statement.kind.defines() else {
            // Directives and rules are the document's own.
            edits.push(lines::remove(text, statement.span));
            continue;
        };
        let name = name.text.as_str();
        if !defined.insert(name) {
            return Err(Refused::coded(
                Code::DuplicateName,
                format!("`{name}` is defined twice in what is pasted"),
            ));
        }
        let is_function = matches!(statement.kind, StatementKind::Function(_));
        let same = doc.ast.definition(name).filter(|_| is_function);
        if same.is_some_and(|s| s.span.of(&doc.text) == statement.span.of(text)) {
            edits.push(lines::remove(text, statement.span));
            continue;
        }
        let new = if here.has(name) { taken.free(name) } else { name.to_owned() };
        if new != name {
            edits.extend(edit::rename(&other.ast, name, &new));
        }
        if !is_function {
            select.push(new);
        }
    }
    if select.is_empty() {
        return Err(Refused::new("there is no node to paste"));
    }
    // What is read and defined nowhere is open; what this document defines is read here.
    let mut after = after;
    for (_, expr) in other.ast.exprs() {
        let ExprKind::Name(name) = &expr.kind else {
            continue;
        };
        let in_function = other
            .function_spans()
            .iter()
            .any(|f| f.start <= expr.span.start && expr.span.end <= f.end);
        if defined.contains(name.as_str()) || in_function {
            continue;
        }
        if doc.is_value(name) {
            after = after.max(doc.line_of_name(name));
        } else if is_read(&other, expr.span) {
            edits.push(TextEdit::replace(expr.span, "?"));
        }
    }
    let edits = apart(edits);
    let mut text = applied(text, &edits)?;
    while text.starts_with(['\n', '\r', '\u{feff}']) {
        text.remove(0);
    }
    let line_break = lines::new_line(&doc.text);
    let text = text.trim_end().replace("\r\n", "\n").replace('\n', line_break);
    let place = insert::place(doc, after, false, &text);
    let made = step(doc, &[place], &[])?;
    Ok(Draft::new(made.doc, select))
}

/// Whether a name stands where a tensor is read, so that it is no axis and no other word.
fn is_read(doc: &Doc, span: Span) -> bool {
    doc.drawn.iter().flat_map(|node| &node.slots).any(|slot| {
        doc.expr_at(slot.span).is_some_and(|id| doc.ast.expr(doc.ast.core(id)).span == span)
    })
}

/// Edits without those inside another, and removals that meet as one.
fn apart(edits: Vec<TextEdit>) -> Vec<TextEdit> {
    let (gone, kept): (Vec<TextEdit>, Vec<TextEdit>) =
        edits.into_iter().partition(|edit| edit.text.is_empty());
    let gone = super::change::joined(gone);
    let inside = |edit: &TextEdit| gone.iter().any(|gone| gone.span.to(edit.span) == gone.span);
    let mut all: Vec<TextEdit> = kept.into_iter().filter(|edit| !inside(edit)).collect();
    all.extend(gone);
    all.sort_by_key(|edit| edit.span);
    all.dedup();
    all
}
