//! Another name for a node, wherever it stands: in lines, in directives, in the bodies of functions.

use super::change::{Draft, applied};
use super::connect::extract;
use super::sketch::{Doc, DrawnKind};
use super::{Code, Refused, names, same};
use crate::lang::ast::{ExprKind, Function, Line, Statement, StatementKind};
use crate::lang::edit::reference;
use crate::lang::lower::LOSS;
use crate::lang::parse::words;
use crate::lang::{Span, TextEdit, edit};

/// Renames a node, a function, or a name inside one; a part of an expression gets a line of its own.
pub(super) fn rename(doc: &Doc, node: &str, to: &str) -> Result<Draft, Refused> {
    if node == to && doc.find(node).is_some() {
        return Ok(Draft::new(doc.clone(), [node]));
    }
    if doc.line_of_name(node).is_some() {
        names::check(doc, to)?;
        let mut edits = edit::rename(&doc.ast, node, to);
        edits.extend(keeps_loss(doc, node, to));
        return checked(doc, &edits, to, to);
    }
    if let Some((function, local)) = local(doc, node) {
        let select = match node.rsplit_once('.') {
            Some((head, _)) => format!("{head}.{to}"),
            None => to.to_owned(),
        };
        return checked(doc, &inside(doc, function, local, to)?, to, &select);
    }
    doc.node(node)?;
    names::check(doc, to)?;
    let made = extract(doc, node, Some(to))?;
    Ok(Draft::new(made.doc, [to]))
}

/// The node called `loss` is the loss by its name; under another it needs a line that says so.
fn keeps_loss(doc: &Doc, node: &str, to: &str) -> Option<TextEdit> {
    let is_backward =
        |statement: &Statement| matches!(statement.kind, StatementKind::Backward { .. });
    if node != LOSS || !doc.is_value(node) || doc.ast.statements().any(is_backward) {
        return None;
    }
    Some(super::insert::place(doc, None, false, &format!("backward {to}")))
}

/// The edits, where the graph stays the same under them.
fn checked(doc: &Doc, edits: &[TextEdit], to: &str, select: &str) -> Result<Draft, Refused> {
    let after = Doc::read(applied(&doc.text, edits)?);
    if same::by_place(doc, &after) {
        return Ok(Draft::new(after, [select]));
    }
    let words = format!("`{to}` means something else here already; choose another name");
    Err(Refused::coded(Code::DuplicateName, words))
}

/// The function and the name in it that `u.b` or `f.b` speaks of.
fn local<'d>(doc: &'d Doc, node: &'d str) -> Option<(&'d Function, &'d str)> {
    let (head, local) = node.rsplit_once('.')?;
    let called = doc.find(head).and_then(|head| match &head.kind {
        DrawnKind::Call(function) => doc.function(function),
        _ => None,
    });
    let function = called.or_else(|| doc.function(head)).or_else(|| {
        // A node inside a call inside a call: the statement that made it stands in the function.
        let id = doc.lowered.names.get(node)?;
        let line = doc.lowered.map.line(*id)?;
        functions(doc).find(|function| {
            body(function)
                .any(|s| s.span == line && s.kind.defines().is_some_and(|n| n.text == local))
        })
    })?;
    let gives = function.formals.iter().any(|formal| formal.name.text == local)
        || body(function).filter_map(|s| s.kind.defines()).any(|name| name.text == local);
    gives.then_some((function, local))
}

fn functions(doc: &Doc) -> impl Iterator<Item = &Function> {
    doc.ast.statements().filter_map(|statement| match &statement.kind {
        StatementKind::Function(function) => Some(function),
        _ => None,
    })
}

fn body(function: &Function) -> impl Iterator<Item = &Statement> {
    function.body.iter().filter_map(Line::statement)
}

/// Another name for an argument or a line of a function.
fn inside(doc: &Doc, function: &Function, local: &str, to: &str) -> Result<Vec<TextEdit>, Refused> {
    if !words::is_name(to) {
        let words =
            format!("`{to}` is no name: letters, digits and `_`, and no word of the language");
        return Err(Refused::coded(Code::Syntax, words));
    }
    let whole = doc.ast.definition(&function.name.text).map_or(Span::at(0), |s| s.span);
    let is_inside = |span: Span| whole.start <= span.start && span.end <= whole.end;
    let mut spans = Vec::new();
    for formal in &function.formals {
        spans.extend((formal.name.text == local).then_some(formal.name.span));
    }
    let is_formal = !spans.is_empty();
    let mut lines = Vec::new();
    for statement in body(function) {
        if let Some(name) = statement.kind.defines().filter(|name| name.text == local) {
            spans.push(name.span);
            lines.push(statement.span);
        }
    }
    for (_, expr) in doc.ast.exprs() {
        match &expr.kind {
            ExprKind::Name(name) if name == local && is_inside(expr.span) => spans.push(expr.span),
            ExprKind::Name(name) if name == to && is_inside(expr.span) => {
                let words =
                    format!("`{to}` means something in this fn already; choose another name");
                return Err(Refused::coded(Code::DuplicateName, words));
            }
            ExprKind::Call(call) | ExprKind::Method { call, .. }
                if is_formal && call.name.text == function.name.text =>
            {
                let named = call.arguments.iter().filter_map(|argument| argument.name.as_ref());
                spans.extend(named.filter(|name| name.text == local).map(|name| name.span));
            }
            _ => {}
        }
    }
    let taken = function
        .formals
        .iter()
        .map(|formal| &formal.name)
        .chain(body(function).filter_map(|statement| statement.kind.defines()));
    if taken.into_iter().any(|name| name.text == to) {
        let words = format!("`{to}` is defined in this fn already; a name is defined once");
        return Err(Refused::coded(Code::DuplicateName, words));
    }
    // Directives speak of the node inside a call: `layout u.b 1 2`.
    for statement in doc.ast.statements() {
        let Some(of) = reference(&statement.kind) else {
            continue;
        };
        let mut name = String::new();
        for part in &of.parts {
            name.push_str(&part.text);
            let id = doc.lowered.names.get(name.as_str());
            let line = id.and_then(|id| doc.lowered.map.line(*id));
            if line.is_some_and(|line| lines.contains(&line)) && part.text == local {
                spans.push(part.span);
            }
            name.push('.');
        }
    }
    spans.sort_unstable();
    spans.dedup();
    Ok(spans.into_iter().map(|span| TextEdit::replace(span, to)).collect())
}
