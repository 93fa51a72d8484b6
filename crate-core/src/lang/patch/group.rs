//! Nodes become a function, and a call of it stands in their place.
//!
//! The function returns one value: the one that is read outside. Leaves that train stay outside and become arguments.

use std::collections::BTreeSet;

use super::change::{Draft, applied, is_head};
use super::sketch::{Doc, DrawnKind};
use super::{Code, Refused, lines, names, same};
use crate::lang::ast::{ExprKind, Statement, StatementKind};
use crate::lang::edit::reference;
use crate::lang::lower::LOSS;
use crate::lang::{Span, TextEdit, spell};

/// Makes a function of nodes.
pub(super) fn group(doc: &Doc, nodes: &[String], name: &str) -> Result<Draft, Refused> {
    names::check(doc, name)?;
    if spell::op(None, name).is_some() {
        let words = format!("`{name}` is an op, which the fn would hide; choose another name");
        return Err(Refused::coded(Code::DuplicateName, words));
    }
    let members = members(doc, nodes)?;
    let is_member = |line: usize| members.contains(&line);
    let name_of = |line: usize| {
        doc.statement(line).and_then(|s| s.kind.defines()).map_or("", |name| name.text.as_str())
    };
    let mut read_outside =
        members.iter().copied().filter(|line| used_outside(doc, *line, &members));
    let output = match (read_outside.next(), read_outside.next()) {
        (Some(a), Some(b)) => {
            return Err(Refused::new(format!(
                "`{}` and `{}` are both read outside, and a fn returns one value",
                name_of(a),
                name_of(b)
            )));
        }
        (Some(one), None) => one,
        (None, _) => {
            // Nothing is: the last one that no other of them reads.
            let read: BTreeSet<&str> = members.iter().flat_map(|line| doc.needs(*line)).collect();
            let last = members.iter().rev().find(|line| !read.contains(name_of(**line)));
            *last.ok_or_else(|| Refused::coded(Code::Cycle, "these lines need each other"))?
        }
    };
    let Some(value) = doc.statement(output).and_then(|s| match &s.kind {
        StatementKind::Assign { value, .. } => Some(*value),
        _ => None,
    }) else {
        let words = format!("`{}` is a constant; a fn returns what is computed", name_of(output));
        return Err(Refused::new(words));
    };
    if matches!(doc.ast.expr(doc.ast.core(value)).kind, ExprKind::Name(_)) {
        let words =
            format!("`{}` only names another node; leave it out of the group", name_of(output));
        return Err(Refused::new(words));
    }
    let out = name_of(output);
    if let Some(between) = between(doc, &members) {
        return Err(Refused::coded(
            Code::Cycle,
            format!("`{between}` stands between: it reads one of these and is read by another"),
        ));
    }
    // Arguments, in the order in which the lines read them.
    let mut arguments: Vec<&str> = Vec::new();
    for line in &members {
        let root = doc.statement(*line).and_then(|s| match &s.kind {
            StatementKind::Assign { value, .. } => Some(*value),
            _ => None,
        });
        for part in root.into_iter().flat_map(|root| doc.ast.parts(root)) {
            if let ExprKind::Name(read) = &doc.ast.expr(part).kind
                && doc.is_value(read)
                && !doc.line_of_name(read).is_some_and(is_member)
                && !arguments.contains(&read.as_str())
            {
                arguments.push(read);
            }
        }
    }
    let list = arguments.join(", ");
    let line_break = lines::new_line(&doc.text);
    let mut body = format!("fn {name}({list}) {{{line_break}");
    let mut edits = Vec::new();
    let mut gone = Vec::new();
    let result = |statement: &Statement| {
        let value = doc.ast.expr(value).span;
        vec![TextEdit::replace(Span::new(statement.span.start, value.start), "return ")]
    };
    let order = members.iter().filter(|line| **line != output).chain([&output]);
    for line in order {
        let Some(own) = doc.statement(*line) else {
            continue;
        };
        let is_alone = lines::is_alone(&doc.text, own.span);
        let Some((block, cut)) = lines::block(doc, *line) else {
            continue;
        };
        let inner = if *line == output { result(own) } else { Vec::new() };
        let shifted: Vec<TextEdit> = inner
            .into_iter()
            .map(|edit| {
                let span = Span::new(edit.span.start - block.start, edit.span.end - block.start);
                TextEdit::replace(span, edit.text)
            })
            .collect();
        let text = applied(block.of(&doc.text), &shifted)?;
        for row in text.trim_end().split('\n') {
            let row = row.trim_end_matches('\r');
            body.push_str(if row.is_empty() { "" } else { "  " });
            body.push_str(row);
            body.push_str(line_break);
        }
        match (*line == output, is_alone) {
            (true, true) => {
                edits.push(TextEdit::replace(block, format!("{out} = {name}({list}){line_break}")));
            }
            (true, false) => {
                edits.push(TextEdit::replace(block, format!("{out} = {name}({list})")));
            }
            (false, _) => gone.push(cut),
        }
    }
    body.push('}');
    let first = members.first().copied().unwrap_or(output);
    let inner = |node: &str| {
        let is_inner = |line: &&usize| **line != output && is_head(name_of(**line), node);
        if members.iter().any(|line| is_inner(&line)) {
            format!("{out}.{node}")
        } else {
            node.to_owned()
        }
    };
    for other in doc.ast.statements() {
        let Some(of) = reference(&other.kind) else {
            continue;
        };
        let (before, after) = (of.name(), inner(&of.name()));
        edits.extend((before != after).then(|| TextEdit::replace(of.span, after)));
    }
    let mut all = vec![lines::insert_before(doc, first, &body)];
    all.extend(edits);
    all.extend(super::change::joined(gone));
    let after = Doc::read(applied(&doc.text, &all)?);
    if !same::by_name(doc, &after, &inner) {
        return Err(Refused::new(
            "the nodes between these would be computed in another order, and gradients would round otherwise",
        ));
    }
    Ok(Draft::new(after, [out]))
}

/// The lines that go into the function: leaves that train stay outside, and so do constants that others read.
fn members(doc: &Doc, nodes: &[String]) -> Result<BTreeSet<usize>, Refused> {
    let mut members = BTreeSet::new();
    let mut leaves = BTreeSet::new();
    for name in nodes {
        let node = doc.node(name)?;
        if !node.is_line {
            let line = name.split('.').next().unwrap_or("");
            return Err(Refused::new(format!("`{name}` is a part of `{line}`; take `{line}`")));
        }
        let line = doc.line_of(node).ok_or_else(|| Refused::new("there is no such line"))?;
        let kind = doc.statement(line).map(|statement| &statement.kind);
        match (&node.kind, kind) {
            (DrawnKind::Unread, _) => {
                let words = format!("the line of `{name}` cannot be read; mend it first");
                return Err(Refused::new(words));
            }
            (DrawnKind::Param, _) => {}
            (_, Some(StatementKind::Leaf(_))) => {
                leaves.insert(line);
            }
            _ => {
                members.insert(line);
            }
        }
    }
    if members.is_empty() {
        return Err(Refused::new("there is nothing to group: leaves that train stay outside"));
    }
    for leaf in leaves {
        members.insert(leaf);
        if used_outside(doc, leaf, &members) {
            members.remove(&leaf);
        }
    }
    Ok(members)
}

/// Whether something outside these lines reads a line: another line, a formula, or backward by the name `loss`.
fn used_outside(doc: &Doc, line: usize, members: &BTreeSet<usize>) -> bool {
    let Some(name) = doc.statement(line).and_then(|statement| statement.kind.defines()) else {
        return false;
    };
    let spans: Vec<Span> =
        members.iter().filter_map(|line| doc.statement(*line)).map(|s| s.span).collect();
    let inside = |read: Span| spans.iter().any(|s| s.start <= read.start && read.end <= s.end);
    let says_so = |s: &Statement| matches!(s.kind, StatementKind::Backward { .. });
    let is_loss = name.text == LOSS && !doc.ast.statements().any(says_so);
    is_loss || doc.reads(&name.text).into_iter().any(|read| !inside(read))
}

/// A line outside that needs one of these and is needed by another.
fn between(doc: &Doc, members: &BTreeSet<usize>) -> Option<String> {
    // Lines outside that one of these needs, near or far.
    let mut needed: BTreeSet<usize> = BTreeSet::new();
    let mut open: Vec<usize> = members.iter().copied().collect();
    while let Some(line) = open.pop() {
        for next in doc.needs(line).into_iter().filter_map(|name| doc.line_of_name(name)) {
            if !members.contains(&next) && needed.insert(next) {
                open.push(next);
            }
        }
    }
    let reads_one = |line: &&usize| {
        let mut lines = doc.needs(**line).into_iter().filter_map(|name| doc.line_of_name(name));
        lines.any(|line| members.contains(&line))
    };
    let line = needed.iter().find(reads_one)?;
    doc.statement(*line).and_then(|s| s.kind.defines()).map(|name| name.text.clone())
}
