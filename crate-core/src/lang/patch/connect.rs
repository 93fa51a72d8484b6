//! Edges: a slot reads another node, or nothing.

use std::collections::BTreeSet;

use super::change::{Draft, Moved, Step, step};
use super::names::Taken;
use super::sketch::{Doc, Drawn, Input, Slot};
use super::{Code, Refused, insert, lines, spelling};
use crate::lang::ast::ExprKind;
use crate::lang::{Span, TextEdit};

/// In words, how a connection would make a circle.
pub(super) fn circle(doc: &Doc, from: &str, to: &Drawn) -> Option<String> {
    let source = doc.find(from)?;
    if source.line == to.line {
        let name = &to.name;
        if source.span.to(to.span) != source.span {
            return None;
        }
        let words = if source.name == *name {
            format!("`{name}` would read itself")
        } else {
            format!("`{from}` needs `{name}`")
        };
        return Some(format!("this would make a circle: {words}"));
    }
    let target = doc.line_of(to)?;
    if source.is_line {
        let way = way(doc, doc.line_of(source)?, target)?;
        return Some(format!("this would make a circle: {way}"));
    }
    // What stands in a part of the line counts, not what its other parts need.
    let mut reads = doc.ast.parts(doc.expr_at(source.span)?).filter_map(|part| {
        match &doc.ast.expr(part).kind {
            ExprKind::Name(name) => doc.line_of_name(name),
            _ => None,
        }
    });
    let needs = reads.any(|line| way(doc, line, target).is_some());
    let name = doc.statement(target).and_then(|s| s.kind.defines()).filter(|_| needs)?;
    Some(format!("this would make a circle: `{from}` needs `{}`", name.text))
}

/// Makes a slot read a node.
pub(super) fn connect(doc: &Doc, from: &str, to: &str, slot: usize) -> Result<Draft, Refused> {
    let source = doc.node(from)?;
    let user = doc.node(to)?;
    if let Some(words) = circle(doc, from, user).filter(|_| source.line == user.line) {
        return Err(Refused::coded(Code::Cycle, words));
    }
    let (mut doc, mut from, mut to) = (doc.clone(), from.to_owned(), to.to_owned());
    if !doc.node(&from)?.is_line {
        let made = extract(&doc, &from, None)?;
        (from, to) = (made.name(&from), made.name(&to));
        doc = made.doc;
    }
    let user = doc.node(&to)?;
    if let (Some(a), Some(b)) = (doc.line_of_name(&from), doc.line_of(user))
        && let Some(way) = way(&doc, a, b)
    {
        let words = format!("this would make a circle: {way}");
        return Err(Refused::coded(Code::Cycle, words));
    }
    let edit = if slot == user.slots.len() && slot > 0 {
        more(&doc, &to, &from)?
    } else {
        let read = user.slot(slot)?;
        writable(read)?;
        if let Input::Node(part) = &read.reads
            && doc.find(part).is_some_and(|part| !part.is_line)
        {
            let made = extract(&doc, part, None)?;
            to = made.name(&to);
            doc = made.doc;
        }
        TextEdit::replace(bare(&doc, doc.node(&to)?.slot(slot)?.span), from.clone())
    };
    let made = step(&doc, &[edit], &[])?;
    to = made.name(&to);
    let doc = above(made.doc, &from, &to)?;
    Ok(Draft::new(doc, [to]))
}

/// Opens a slot; a part of the expression that stood there gets a line of its own.
pub(super) fn disconnect(doc: &Doc, to: &str, slot: usize) -> Result<Draft, Refused> {
    let read = doc.node(to)?.slot(slot)?;
    writable(read)?;
    if let Some(edit) = unneeded(doc, to, slot) {
        let made = step(doc, &[edit], &[])?;
        let to = made.name(to);
        return Ok(Draft::new(made.doc, [to]));
    }
    let (mut doc, mut to) = (doc.clone(), to.to_owned());
    if let Input::Node(part) = &read.reads
        && doc.find(part).is_some_and(|part| !part.is_line)
    {
        let made = extract(&doc, &part.clone(), None)?;
        to = made.name(&to);
        doc = made.doc;
    }
    let edit = TextEdit::replace(bare(&doc, doc.node(&to)?.slot(slot)?.span), "?");
    let made = step(&doc, &[edit], &[])?;
    let to = made.name(&to);
    Ok(Draft::new(made.doc, [to]))
}

/// The edit that takes out an open argument which the op does not need.
fn unneeded(doc: &Doc, to: &str, slot: usize) -> Option<TextEdit> {
    let node = doc.find(to)?;
    let own = node.slots.get(slot).filter(|slot| slot.reads == Input::Open)?;
    node.op().filter(|op| op.def().arity.min < node.slots.len())?;
    let (ExprKind::Call(call) | ExprKind::Method { call, .. }) =
        &doc.ast.expr(doc.expr_at(node.span)?).kind
    else {
        return None;
    };
    let is_own = |value| doc.ast.expr(value).span == own.span;
    let ix = call.arguments.iter().position(|argument| is_own(argument.value))?;
    Some(super::leaf::cut(doc, call, ix, ix))
}

/// Moves the end of an edge to another slot.
pub(super) fn rewire(
    doc: &Doc,
    from_node: &str,
    from_slot: usize,
    to: &str,
    slot: usize,
) -> Result<Draft, Refused> {
    let Input::Node(source) = doc.node(from_node)?.slot(from_slot)?.reads.clone() else {
        return Err(Refused::new(format!(
            "input {} of `{from_node}` reads no node",
            from_slot + 1
        )));
    };
    doc.node(to)?.slots.get(slot).map_or(Ok(()), writable)?;
    let (mut doc, mut from_node, mut to) = (doc.clone(), from_node.to_owned(), to.to_owned());
    let mut source = source;
    if !doc.node(&source)?.is_line {
        let made = extract(&doc, &source, None)?;
        for name in [&mut from_node, &mut to, &mut source] {
            *name = made.name(name);
        }
        doc = made.doc;
    }
    let edit = TextEdit::replace(bare(&doc, doc.node(&from_node)?.slot(from_slot)?.span), "?");
    let made = step(&doc, &[edit], &[])?;
    let (source, to) = (made.name(&source), made.name(&to));
    connect(&made.doc, &source, &to, slot)
}

/// Whether a drawing may write over what a slot reads.
pub(super) fn writable(slot: &Slot) -> Result<(), Refused> {
    match &slot.reads {
        Input::Unknown(text) if text.contains(['(', '[']) => {
            Err(Refused::new(format!("`{text}` cannot be read; mend it in the text first")))
        }
        _ => Ok(()),
    }
}

/// One operand more.
fn more(doc: &Doc, to: &str, from: &str) -> Result<TextEdit, Refused> {
    let node = doc.node(to)?;
    let n = node.slots.len();
    let full = || Refused::new(format!("`{to}` has {n} inputs and takes no more"));
    let op = node.op().filter(|op| op.def().arity.max > n).ok_or_else(full)?;
    let expr = doc.expr_at(node.span).map(|id| &doc.ast.expr(id).kind);
    let (Some(ExprKind::Call(call) | ExprKind::Method { call, .. }), None) = (expr, op.def().sign)
    else {
        return Err(full());
    };
    let positional = call.arguments.iter().rfind(|argument| argument.name.is_none());
    if let Some(last) = positional {
        return Ok(TextEdit::insert(doc.ast.expr(last.value).span.end, format!(", {from}")));
    }
    let gap = if call.arguments.is_empty() { "" } else { ", " };
    Ok(TextEdit::insert(call.span.start + 1, format!("{from}{gap}")))
}

/// Gives a part of an expression a line of its own, above the one where it stands.
pub(super) fn extract(doc: &Doc, part: &str, name: Option<&str>) -> Result<Step, Refused> {
    let node = doc.node(part)?;
    let line = doc.line_of(node).ok_or_else(|| Refused::new("there is no such line"))?;
    let name = match (name, node.op()) {
        (Some(name), _) => name.to_owned(),
        (None, Some(op)) => Taken::of(doc).free(&spelling::stem(op)),
        (None, None) => Taken::of(doc).free("y"),
    };
    let value = insert::alone(node.span, &doc.text);
    let head = format!("{name} = ");
    let at = head.len() + usize::from(value.len() > node.span.of(&doc.text).len());
    let edits = vec![
        lines::insert_before(doc, line, &format!("{head}{value}")),
        TextEdit::replace(place_of(doc, part), name),
    ];
    step(doc, &edits, &[Moved { from: node.span, edit: 0, at }])
}

/// The text that stands for a part of an expression where it is read: with its parentheses.
pub(super) fn place_of(doc: &Doc, part: &str) -> Span {
    let reads = |slot: &&Slot| matches!(&slot.reads, Input::Node(name) if name == part);
    let mut slots = doc.drawn.iter().flat_map(|node| &node.slots);
    let slot = slots.find(reads).map(|slot| bare(doc, slot.span));
    slot.or_else(|| doc.find(part).map(|node| node.span)).unwrap_or_default()
}

/// What is written over in a slot: its parentheses stay where a comment stands in them.
fn bare(doc: &Doc, slot: Span) -> Span {
    match doc.expr_at(slot).filter(|_| slot.of(&doc.text).contains('#')) {
        Some(id) => doc.ast.expr(doc.ast.core(id)).span,
        None => slot,
    }
}

/// In words, how one line needs another: `c` needs `y`, which needs `x`.
fn way(doc: &Doc, from: usize, to: usize) -> Option<String> {
    let mut came: Vec<(usize, Option<usize>)> = vec![(from, None)];
    let mut seen = BTreeSet::from([from]);
    let mut ix = 0;
    while let Some(&(line, _)) = came.get(ix) {
        if line == to {
            let mut names = Vec::new();
            let mut at = Some(ix);
            while let Some((line, before)) = at.and_then(|at| came.get(at)) {
                let name = doc.statement(*line).and_then(|statement| statement.kind.defines());
                names.extend(name.map(|name| format!("`{}`", name.text)));
                at = *before;
            }
            names.reverse();
            return Some(match names.as_slice() {
                [one] => format!("{one} would read itself"),
                [first, rest @ ..] => {
                    format!("{first} needs {}", rest.join(", which needs "))
                }
                [] => String::new(),
            });
        }
        for name in doc.needs(line) {
            if let Some(next) = doc.line_of_name(name).filter(|next| seen.insert(*next)) {
                came.push((next, Some(ix)));
            }
        }
        ix += 1;
    }
    None
}

/// Moves a source, and what it needs, above the line that reads it.
///
/// Not where lines write over each other's values, since their order means something there; the language
/// lets a name be read above its line.
pub(super) fn above(doc: Doc, source: &str, user: &str) -> Result<Doc, Refused> {
    let user_line = doc.find(user).and_then(|user| doc.line_of(user));
    let (Some(source), Some(user)) = (doc.line_of_name(source), user_line) else {
        return Ok(doc);
    };
    let begins = doc.statement(user).is_some_and(|statement| {
        let start = lines::start(&doc.text, statement.span.start);
        Span::new(start, statement.span.start).of(&doc.text).trim().is_empty()
    });
    if source <= user || doc.writes_in_place() || !begins {
        return Ok(doc);
    }
    let mut moving = BTreeSet::from([source]);
    let mut open = vec![source];
    while let Some(line) = open.pop() {
        for name in doc.needs(line) {
            let later = doc.line_of_name(name).filter(|later| *later > user);
            open.extend(later.filter(|later| moving.insert(*later)));
        }
    }
    let mut text = String::new();
    let (mut moved, mut gone) = (Vec::new(), Vec::new());
    for line in moving {
        let Some((block, cut)) = lines::block(&doc, line) else {
            continue;
        };
        moved.push(Moved { from: block, edit: 0, at: text.len() });
        text.push_str(block.of(&doc.text));
        if !text.ends_with(['\n', '\r']) {
            text.push_str(lines::new_line(&doc.text));
        }
        gone.push(cut);
    }
    let mut edits = vec![TextEdit::insert(lines::top(&doc, user), text)];
    edits.extend(super::change::joined(gone));
    Ok(step(&doc, &edits, &moved)?.doc)
}
