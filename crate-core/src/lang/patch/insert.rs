//! New nodes: on their own, behind a node, or between a slot and what it reads.

use super::change::{Draft, Moved, Step, step};
use super::connect::{self, extract};
use super::names::{self, Taken};
use super::sketch::{Doc, Input};
use super::{NewNode, Refused, lines, spelling};
use crate::lang::ast::{Ast, ExprId, LineKind, StatementKind};
use crate::lang::{Severity, Span, TextEdit, parse};

/// A node on a line of its own.
pub(super) fn insert(
    doc: &Doc,
    what: &NewNode,
    name: Option<&str>,
    near: Option<&str>,
    sources: &[Option<String>],
) -> Result<Draft, Refused> {
    if let Some(name) = name {
        names::check(doc, name)?;
    }
    let mut sources = sources.to_vec();
    let mut near = near.map(str::to_owned);
    let mut doc = doc.clone();
    for ix in 0..sources.len() {
        let Some(source) = sources.get(ix).cloned().flatten() else {
            continue;
        };
        if doc.node(&source)?.is_line {
            continue;
        }
        let made = extract(&doc, &source, None)?;
        for name in sources.iter_mut().flatten().chain(&mut near) {
            *name = made.name(name);
        }
        doc = made.doc;
    }
    let name = name.map(str::to_owned);
    let (stem, is_leaf) = match what {
        NewNode::Op(op) if doc.function(op).is_some() => ("y".to_owned(), false),
        NewNode::Op(op) => (spelling::stem(spelling::row(op)?), false),
        NewNode::Param { .. } => ("w".to_owned(), true),
        NewNode::Const { .. } => ("k".to_owned(), true),
    };
    let name = name.unwrap_or_else(|| Taken::of(&doc).free(&stem));
    let operands = |n: usize| -> Vec<String> {
        let source = |ix: usize| sources.get(ix).cloned().flatten();
        (0..n).map(|ix| source(ix).unwrap_or_else(|| "?".to_owned())).collect()
    };
    let too_many = |max: usize| {
        Refused::new(format!("this takes {max} inputs at most, and there are {}", sources.len()))
    };
    let line = match what {
        NewNode::Op(op) if let Some(function) = doc.function(op) => {
            let n_formals = function.formals.len();
            if sources.len() > n_formals {
                return Err(too_many(n_formals));
            }
            let needed = function.formals.iter().rposition(|formal| formal.default.is_none());
            let n = needed.map_or(0, |last| last + 1).max(sources.len());
            format!("{name} = {op}({})", operands(n).join(", "))
        }
        NewNode::Op(op) => {
            let op = spelling::row(op)?;
            let max = op.def().arity.max;
            if sources.len() > max {
                return Err(too_many(max));
            }
            let operands = operands(spelling::n_slots(op, sources.len()));
            format!("{name} = {}", spelling::written(op, &operands))
        }
        NewNode::Param { shape, value } => leaf_line("param", &name, shape, value)?,
        NewNode::Const { shape, value } => leaf_line("const", &name, shape, value)?,
    };
    let mut after = Vec::new();
    for node in sources.iter().flatten().chain(&near) {
        after.extend(doc.line_of(doc.node(node)?));
    }
    let edit = place(&doc, after.into_iter().max(), is_leaf, &line);
    let Step { doc, .. } = step(&doc, &[edit], &[])?;
    Ok(Draft::new(doc, [name]))
}

/// A leaf's line, which must read as one.
pub(super) fn leaf_line(
    word: &str,
    name: &str,
    shape: &str,
    value: &str,
) -> Result<String, Refused> {
    let gap = if shape.trim().is_empty() { "" } else { " " };
    let line = format!("{word} {name}{gap}{} = {}", shape.trim(), value.trim());
    let parsed = parse(&line);
    let error = parsed.diagnostics.iter().find(|d| d.severity == Severity::Error);
    if let Some(error) = error {
        return Err(Refused::coded(error.code, error.message.clone()));
    }
    let is_leaf = |ast: &Ast| match ast.lines.as_slice() {
        [line] => line.statement().is_some_and(|s| matches!(s.kind, StatementKind::Leaf(_))),
        _ => false,
    };
    if is_leaf(&parsed.ast) && !line.contains('#') {
        return Ok(line);
    }
    Err(Refused::new("a leaf has one shape and one value"))
}

/// Puts a line after this one, or where a person would put it.
pub(super) fn place(doc: &Doc, after: Option<usize>, is_leaf: bool, line: &str) -> TextEdit {
    let is_leaf_line = |kind: &StatementKind| matches!(kind, StatementKind::Leaf(_));
    let last = |fits: &dyn Fn(&StatementKind) -> bool| {
        doc.ast.statements().filter(|statement| fits(&statement.kind)).last()
    };
    let after = after.and_then(|line| doc.statement(line));
    let after = after.or_else(|| last(&is_leaf_line).filter(|_| is_leaf));
    let after = after.or_else(|| last(&|kind| kind.defines().is_some()).filter(|_| !is_leaf));
    let after = after.or_else(|| last(&|kind| matches!(kind, StatementKind::Rules(_))));
    if let Some(statement) = after {
        return lines::insert_after(&doc.text, statement.span, line);
    }
    // The first statement, if there is one, stands below the title.
    let first = doc.ast.lines.iter().position(|line| matches!(line.kind, LineKind::Statement(_)));
    match first {
        Some(first) => lines::insert_before(doc, first, line),
        None => lines::append(&doc.text, line),
    }
}

/// A new node that reads `after` first: an op, or a call of a function of the document.
pub(super) fn append(doc: &Doc, after: &str, op: &str) -> Result<Draft, Refused> {
    let what = NewNode::Op(op.to_owned());
    insert(doc, &what, None, Some(after), &[Some(after.to_owned())])
}

/// A new node between a slot and what it reads.
pub(super) fn prepend(doc: &Doc, before: &str, slot: usize, op: &str) -> Result<Draft, Refused> {
    let op = spelling::row(op)?;
    if op.def().arity.max == 0 {
        return Err(Refused::new(format!("`{}` reads nothing", op.def().name)));
    }
    let node = doc.node(before)?;
    let slot = node.slot(slot)?;
    connect::writable(slot)?;
    if let (Input::Number(number), 1) = (&slot.reads, spelling::n_slots(op, 1)) {
        return Err(Refused::new(format!(
            "what is made of the number `{number}` alone is a number too; write its value instead"
        )));
    }
    let line = doc.line_of(node).ok_or_else(|| Refused::new("there is no such line"))?;
    let name = Taken::of(doc).free(&spelling::stem(op));
    let text = slot.span.of(&doc.text);
    let old = match doc.expr_at(slot.span) {
        Some(id) => inside(doc, id, text),
        None => text.to_owned(),
    };
    let mut operands = vec!["?".to_owned(); spelling::n_slots(op, 1)];
    if let Some(first) = operands.first_mut() {
        first.clone_from(&old);
    }
    let written = spelling::written(op, &operands);
    // The first operand stands first: nothing before it holds its text.
    let at = written.find(&old).unwrap_or(0) + old.find(text).unwrap_or(0);
    let head = format!("{name} = ");
    let edits = vec![
        lines::insert_before(doc, line, &format!("{head}{written}")),
        TextEdit::replace(slot.span, name.clone()),
    ];
    let is_moved = !matches!(slot.reads, Input::Open);
    let moved = Moved { from: slot.span, edit: 0, at: head.len() + at };
    let moved: Vec<Moved> = is_moved.then_some(moved).into_iter().collect();
    let Step { doc, .. } = step(doc, &edits, &moved)?;
    Ok(Draft::new(doc, [name]))
}

/// An expression as an operand, in parentheses where it needs them.
pub(super) fn inside(doc: &Doc, id: ExprId, text: &str) -> String {
    let kind = &doc.ast.expr(id).kind;
    let written = spelling::operand(kind, text);
    if written == text && text.contains(['\n', '\r']) { format!("({text})") } else { written }
}

/// An expression as the value of a line, in parentheses where it takes several lines.
pub(super) fn alone(span: Span, text: &str) -> String {
    let part = span.of(text);
    if part.contains(['\n', '\r']) { format!("({part})") } else { part.to_owned() }
}
