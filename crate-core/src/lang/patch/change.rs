//! A gesture as a sequence of texts: each step edits one text into the next, and directives follow their nodes.

use std::collections::BTreeMap;

use super::sketch::{Doc, Drawn, DrawnKind};
use super::{Gesture, Refused, clip, connect, delete, group, insert, leaf, pin, rename, ungroup};
use crate::lang::edit::reference;
use crate::lang::{Span, TextEdit, edit};

/// The text after a gesture, and what is selected in it.
pub(super) struct Draft {
    pub(super) doc: Doc,
    pub(super) select: Vec<String>,
}

impl Draft {
    pub(super) fn new(doc: Doc, select: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { doc, select: select.into_iter().map(Into::into).collect() }
    }
}

/// A gesture, made.
pub(super) fn make(doc: &Doc, gesture: &Gesture) -> Result<Draft, Refused> {
    match gesture {
        Gesture::Insert { what, name, near, sources } => {
            insert::insert(doc, what, name.as_deref(), near.as_deref(), sources)
        }
        Gesture::Connect { from, to, slot } => connect::connect(doc, from, to, *slot),
        Gesture::Disconnect { to, slot } => connect::disconnect(doc, to, *slot),
        Gesture::Rewire { from_node, from_slot, to, slot } => {
            connect::rewire(doc, from_node, *from_slot, to, *slot)
        }
        Gesture::Append { after, op } => insert::append(doc, after, op),
        Gesture::Prepend { before, slot, op } => insert::prepend(doc, before, *slot, op),
        Gesture::Delete { nodes, through } => delete::delete(doc, nodes, *through),
        Gesture::Rename { node, to } => rename::rename(doc, node, to),
        Gesture::Duplicate { nodes } => clip::duplicate(doc, nodes),
        Gesture::Paste { text, at } => clip::paste(doc, text, at.as_deref()),
        Gesture::Group { nodes, name } => group::group(doc, nodes, name),
        Gesture::Ungroup { call } => ungroup::ungroup(doc, call),
        Gesture::SetLiteral { node, cell, slot, value } => {
            leaf::set_literal(doc, node, cell.as_deref(), *slot, value)
        }
        Gesture::SetShape { node, shape } => leaf::set_shape(doc, node, shape),
        Gesture::SetAxisName { node, axis, name } => leaf::set_axis_name(doc, node, *axis, name),
        Gesture::SetType { node, dtype } => leaf::set_type(doc, node, dtype),
        Gesture::SetTrains { node, trains } => leaf::set_trains(doc, node, *trains),
        Gesture::SetAttribute { node, attribute, value } => {
            leaf::set_attribute(doc, node, attribute, value)
        }
        Gesture::SetRules { rules } => leaf::set_rules(doc, rules),
        Gesture::Pin { node, x, y } => pin::pin(doc, node, *x, *y),
        Gesture::Unpin { nodes } => pin::unpin(doc, nodes),
    }
}

/// A piece of the old text that an edit writes elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    /// Where it stood.
    pub(super) from: Span,
    /// Which edit holds it now, and where in that edit's text.
    pub(super) edit: usize,
    pub(super) at: usize,
}

/// A text after edits, and what became of its nodes' names.
pub(super) struct Step {
    pub(super) doc: Doc,
    /// Derived names that changed; `None` where the node is gone.
    names: BTreeMap<String, Option<Renamed>>,
}

/// Another name for a derived one.
struct Renamed {
    to: String,
    /// By how much the derived names inside a call grew: those of a whole line count on from its arguments'.
    shift: usize,
}

impl Step {
    /// What a node of the text before is called now; nothing where it is gone.
    pub(super) fn name(&self, before: &str) -> String {
        match now(&self.names, before) {
            Now::Same => before.to_owned(),
            Now::Is(name) => name,
            Now::Gone => String::new(),
        }
    }
}

/// What became of a name.
enum Now {
    Same,
    Is(String),
    Gone,
}

/// What a node is called now.
fn now(names: &BTreeMap<String, Option<Renamed>>, before: &str) -> Now {
    let mut head = before;
    loop {
        if let Some(now) = names.get(head) {
            let rest = before.strip_prefix(head).unwrap_or("");
            return now.as_ref().map_or(Now::Gone, |now| Now::Is(now.with(rest)));
        }
        let Some(dot) = head.rfind('.') else {
            return Now::Same;
        };
        head = head.get(..dot).unwrap_or("");
    }
}

impl Renamed {
    /// The new name with what follows the old one.
    fn with(&self, rest: &str) -> String {
        let inner = rest.strip_prefix('.').unwrap_or("");
        let first = inner.split('.').next().unwrap_or("");
        let tail = inner.get(first.len()..).unwrap_or("");
        match first.parse::<usize>() {
            Ok(n) => format!("{}.{}{tail}", self.to, n + self.shift),
            Err(_) => format!("{}{rest}", self.to),
        }
    }
}

/// Makes edits; directives that name a part of an expression follow it, and go with it.
pub(super) fn step(doc: &Doc, edits: &[TextEdit], moved: &[Moved]) -> Result<Step, Refused> {
    let text = applied(&doc.text, edits)?;
    let made = Doc::read(text);
    let names = renamed(doc, &made, edits, moved);
    let mut changes = Vec::new();
    for statement in made.ast.statements() {
        let Some(of) = reference(&statement.kind) else {
            continue;
        };
        let name = of.name();
        match now(&names, &name) {
            Now::Is(new) if new != name => changes.push(TextEdit::replace(of.span, new)),
            Now::Gone => changes.push(super::lines::remove(&made.text, statement.span)),
            _ => {}
        }
    }
    if changes.is_empty() {
        return Ok(Step { doc: made, names });
    }
    let text = applied(&made.text, &joined(changes))?;
    Ok(Step { doc: Doc::read(text), names })
}

/// Deletions that touch or overlap, as one.
pub(super) fn joined(mut edits: Vec<TextEdit>) -> Vec<TextEdit> {
    edits.sort_by_key(|edit| edit.span);
    let mut out: Vec<TextEdit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match out.last_mut().filter(|last| edit.span.start < last.span.end) {
            Some(last) => last.span = last.span.to(edit.span),
            None => out.push(edit),
        }
    }
    out
}

/// A text with edits made.
pub(super) fn applied(text: &str, edits: &[TextEdit]) -> Result<String, Refused> {
    edit::apply(text, edits)
        .map_err(|_meet| Refused::new("two parts of this change meet; do them one by one"))
}

/// Whether a node's name is another's, or begins with it.
pub(super) fn is_head(head: &str, name: &str) -> bool {
    name.strip_prefix(head).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Parts of expressions whose names are others after the edits.
fn renamed(
    old: &Doc,
    new: &Doc,
    edits: &[TextEdit],
    moved: &[Moved],
) -> BTreeMap<String, Option<Renamed>> {
    let parts = || old.drawn.iter().filter(|node| !node.is_line);
    if parts().next().is_none() {
        return BTreeMap::new();
    }
    let map = Mapping::new(edits, moved);
    let by_span: BTreeMap<Span, &Drawn> = new.drawn.iter().map(|node| (node.span, node)).collect();
    let mut names = BTreeMap::new();
    for node in parts() {
        let now = map.span(node.span).and_then(|span| by_span.get(&span));
        let shift = match now {
            Some(now) if now.is_line && matches!(now.kind, DrawnKind::Call(_)) => {
                new.drawn.iter().filter(|part| part.line == now.line && !part.is_line).count()
            }
            _ => 0,
        };
        let renamed = now.map(|now| Renamed { to: now.name.clone(), shift });
        if renamed.as_ref().is_none_or(|now| now.to != node.name) {
            names.insert(node.name.clone(), renamed);
        }
    }
    names
}

/// Where the bytes of a text are after edits.
struct Mapping<'e> {
    /// The edits in order, with the place of each one's text in the new text.
    edits: Vec<(&'e TextEdit, u32)>,
    /// The pieces that moved, with their new places.
    moved: Vec<(Span, u32)>,
}

impl<'e> Mapping<'e> {
    fn new(edits: &'e [TextEdit], moved: &[Moved]) -> Self {
        let mut order: Vec<usize> = (0..edits.len()).collect();
        let span = |ix: usize| edits.get(ix).map_or(Span::at(0), |edit| edit.span);
        order.sort_by_key(|ix| span(*ix));
        let mut placed = Vec::with_capacity(edits.len());
        let mut places = vec![0u32; edits.len()];
        let mut shift = 0i64;
        for ix in order {
            let Some(edit) = edits.get(ix) else {
                continue;
            };
            let place = (i64::from(edit.span.start) + shift) as u32;
            placed.push((edit, place));
            if let Some(slot) = places.get_mut(ix) {
                *slot = place;
            }
            shift += edit.text.len() as i64 - i64::from(edit.span.end - edit.span.start);
        }
        let moved = moved.iter().filter_map(|moved| {
            let place = places.get(moved.edit)?;
            Some((moved.from, place + moved.at as u32))
        });
        Self { edits: placed, moved: moved.collect() }
    }

    /// The same piece of text afterwards.
    fn span(&self, span: Span) -> Option<Span> {
        let whole = self.moved.iter().find(|(from, _)| from.to(span) == *from);
        if let Some((from, to)) = whole {
            return Some(Span::new(to + (span.start - from.start), to + (span.end - from.start)));
        }
        Some(Span::new(self.place(span.start, false)?, self.place(span.end, true)?))
    }

    /// Where a byte is that did not move with its piece.
    fn place(&self, place: u32, is_end: bool) -> Option<u32> {
        let mut shift = 0i64;
        for (edit, new) in &self.edits {
            let Span { start, end } = edit.span;
            let is_before = if is_end { start >= place } else { start > place };
            // What is put in at the beginning of a piece stands before it.
            if is_before {
                break;
            }
            let len = edit.text.len() as u32;
            if start < end && !is_end && place == start {
                return Some(*new);
            }
            if start < end && is_end && place == end {
                return Some(new + len);
            }
            if place < end {
                return None;
            }
            shift += i64::from(len) - i64::from(end - start);
        }
        Some((i64::from(place) + shift) as u32)
    }
}
