//! A call becomes the lines of its function. The function goes with its last call.

use std::collections::BTreeMap;

use super::change::{Draft, Moved, applied, is_head, step};
use super::connect::extract;
use super::names::Taken;
use super::sketch::{Doc, DrawnKind};
use super::{Refused, lines, same};
use crate::lang::ast::{Ast, Comment, ExprKind, Function, LineKind, Statement, StatementKind};
use crate::lang::edit::reference;
use crate::lang::{Span, TextEdit};

/// Inlines a call.
pub(super) fn ungroup(doc: &Doc, call: &str) -> Result<Draft, Refused> {
    let node = doc.node(call)?;
    if !matches!(node.kind, DrawnKind::Call(_)) {
        return Err(Refused::new(format!("`{call}` is no call of a fn")));
    }
    if node.is_line {
        let inlined = inline(doc, call)?;
        return judge(doc, inlined.0, &inlined.1, call);
    }
    let made = extract(doc, call, None)?;
    let name = made.name(call);
    let (after, inner) = inline(&made.doc, &name)?;
    judge(doc, after, &|before: &str| inner(&made.name(before)), &name)
}

fn judge(
    before: &Doc,
    after: Doc,
    name: &dyn Fn(&str) -> String,
    select: &str,
) -> Result<Draft, Refused> {
    if same::by_name(before, &after, name) {
        return Ok(Draft::new(after, [select]));
    }
    Err(Refused::new(
        "these lines would be computed in another order here, or mean something else; edit the text",
    ))
}

type Names = Box<dyn Fn(&str) -> String>;

/// The text with the lines of a function in the place of a call, and what its nodes are called then.
fn inline(doc: &Doc, call: &str) -> Result<(Doc, Names), Refused> {
    let gone = || Refused::new(format!("`{call}` is no call of a fn"));
    let node = doc.node(call)?;
    let DrawnKind::Call(name) = &node.kind else {
        return Err(gone());
    };
    let function = doc.function(name).ok_or_else(gone)?;
    let line = doc.line_of(node).ok_or_else(gone)?;
    let statement = doc.statement(line).ok_or_else(gone)?;
    let expr = doc.expr_at(node.span).map(|id| &doc.ast.expr(id).kind).ok_or_else(gone)?;
    let given = match expr {
        ExprKind::Call(call) => Doc::given(function, call, None),
        ExprKind::Method { receiver, call } => Doc::given(function, call, Some(*receiver)),
        _ => return Err(gone()),
    };
    let line_break = lines::new_line(&doc.text);
    let mut taken = Taken::outside(doc);
    let mut text = String::new();
    let mut moved = Vec::new();
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    for (formal, given) in function.formals.iter().zip(given) {
        let Some(value) = given.or(formal.default) else {
            return Err(Refused::new(format!("`{call}` leaves out `{}`", formal.name.text)));
        };
        let core = doc.ast.core(value);
        let span = doc.ast.expr(core).span;
        let is_part = doc.drawn.iter().any(|part| part.span == span && !part.is_line);
        if is_part {
            // An argument that is computed gets a line of its own.
            let own = taken.free(&formal.name.text);
            text.push_str(&format!("{own} = "));
            moved.push(Moved { from: span, edit: 0, at: text.len() });
            text.push_str(&super::insert::alone(span, &doc.text));
            text.push_str(line_break);
            names.insert(&formal.name.text, own);
        } else {
            names.insert(&formal.name.text, span.of(&doc.text).to_owned());
        }
    }
    let body = || function.body.iter().filter_map(|line| line.statement());
    let mut locals: BTreeMap<String, String> = BTreeMap::new();
    for name in body().filter_map(|statement| statement.kind.defines()) {
        let own = taken.free(&name.text);
        locals.insert(name.text.clone(), own.clone());
        names.insert(&name.text, own);
    }
    let comment = |text: &mut String, comment: &Comment| {
        text.push_str(&comment.text);
        text.push_str(line_break);
    };
    // Comments inside the call stay; an argument that moves takes its own along.
    for own in doc.ast.lines.get(line).map_or(&[][..], |line| line.inner.as_slice()) {
        let moves = |moved: &Moved| moved.from.to(own.span) == moved.from;
        if !moved.iter().any(moves) {
            comment(&mut text, own);
        }
    }
    if let Some(open) = &function.open_comment {
        comment(&mut text, open);
    }
    for own in &function.body {
        match &own.kind {
            LineKind::Comment(own) => comment(&mut text, own),
            LineKind::Statement(own_statement) => {
                let (span, head) = match own_statement.kind {
                    StatementKind::Return(value) => {
                        if let Some(own) = &own.trailing {
                            comment(&mut text, own);
                        }
                        (doc.ast.expr(value).span, format!("{call} = "))
                    }
                    _ => (own_statement.span, String::new()),
                };
                text.push_str(&head);
                text.push_str(&renamed(doc, own_statement, span, &names)?);
                if !matches!(own_statement.kind, StatementKind::Return(_)) {
                    if let Some(own) = &own.trailing {
                        text.push_str("  ");
                        text.push_str(&own.text);
                    }
                    text.push_str(line_break);
                }
            }
        }
    }
    let mut edits = vec![TextEdit::replace(statement.span, text)];
    edits.extend(goes_too(doc, function));
    let n_parts = doc.drawn.iter().filter(|n| n.line == node.line && !n.is_line).count();
    let parts: Vec<String> =
        doc.drawn.iter().filter(|n| !n.is_line).map(|n| n.name.clone()).collect();
    let made = step(doc, &edits, &moved)?;
    let head = format!("{call}.");
    let inner = move |before: &str| {
        let Some(rest) = before.strip_prefix(&head) else {
            return before.to_owned();
        };
        if parts.iter().any(|part| is_head(part, before)) {
            return before.to_owned();
        }
        let (first, tail) = rest.split_once('.').map_or((rest, None), |(a, b)| (a, Some(b)));
        let tail = tail.map_or_else(String::new, |tail| format!(".{tail}"));
        match (locals.get(first), first.parse::<usize>()) {
            (Some(own), _) => format!("{own}{tail}"),
            (None, Ok(n)) => format!("{head}{}{tail}", n.saturating_sub(n_parts)),
            (None, Err(_)) => before.to_owned(),
        }
    };
    let mut changes = Vec::new();
    for of in made.doc.ast.statements().filter_map(|statement| reference(&statement.kind)) {
        let (before, after) = (of.name(), inner(&of.name()));
        changes.extend((before != after).then(|| TextEdit::replace(of.span, after)));
    }
    let after = Doc::read(applied(&made.doc.text, &changes)?);
    let names = move |before: &str| {
        let new = inner(before);
        if new == before { made.name(before) } else { new }
    };
    Ok((after, Box::new(names)))
}

/// A piece of a statement with the names that it has outside.
fn renamed(
    doc: &Doc,
    statement: &Statement,
    span: Span,
    names: &BTreeMap<&str, String>,
) -> Result<String, Refused> {
    let mut edits = Vec::new();
    let text = &doc.text;
    let mut replace = |at: Span, name: &str| {
        let inside = Span::new(at.start - span.start, at.end - span.start);
        edits.push(TextEdit::replace(inside, name));
    };
    let defined = statement.kind.defines().filter(|name| span.to(name.span) == span);
    if let Some((name, new)) = defined.and_then(|name| Some((name, names.get(name.text.as_str())?)))
    {
        replace(name.span, new);
    }
    for (_, expr) in doc.ast.exprs() {
        let is_inside = span.start <= expr.span.start && expr.span.end <= span.end;
        let ExprKind::Name(name) = &expr.kind else {
            continue;
        };
        let Some(new) = names.get(name.as_str()).filter(|_| is_inside) else {
            continue;
        };
        let next = text.get(expr.span.end as usize..).and_then(|rest| rest.chars().next());
        let is_word = new.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_name = is_word && !new.starts_with(|c: char| c.is_ascii_digit());
        let is_atom =
            is_name || new.starts_with('[') || new.chars().all(|c| c.is_ascii_digit() || c == '.');
        let binds = !is_name && matches!(next, Some('.' | '['));
        if (is_atom || new == "?") && !binds {
            replace(expr.span, new);
        } else {
            replace(expr.span, &format!("({new})"));
        }
    }
    applied(span.of(text), &edits)
}

/// The edit that takes a function out with its last call, where no comment would be lost.
fn goes_too(doc: &Doc, function: &Function) -> Option<TextEdit> {
    let name = function.name.text.as_str();
    let calls = |ast: &Ast| {
        let calls = ast.exprs().filter(|(_, expr)| match &expr.kind {
            ExprKind::Call(call) | ExprKind::Method { call, .. } => call.name.text == name,
            _ => false,
        });
        calls.count()
    };
    let line = doc.line_of_name(name)?;
    let own = doc.ast.lines.get(line)?;
    let span = own.statement()?.span;
    let header = span.of(&doc.text).split('{').next().unwrap_or("");
    let is_commented = own.trailing.is_some() || header.contains('#');
    (calls(&doc.ast) == 1 && !is_commented).then(|| lines::remove(&doc.text, span))
}
