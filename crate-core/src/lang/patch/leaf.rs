//! Values, shapes, types and attributes, each where it stands in the text.

use super::change::{Draft, applied};
use super::insert::leaf_line;
use super::sketch::{Doc, Drawn, DrawnKind, Input};
use super::{Code, Refused, Severity};
use crate::graph::NodeKind;
use crate::lang::ast::{
    Argument, Call, ExprId, ExprKind, Leaf, LeafRole, Statement, StatementKind,
};
use crate::lang::{Span, TextEdit, edit, parse, spell};
use crate::ops::def::ParamKind;
use crate::rules::RuleSet;
use crate::tensor::{DType, Shape};

/// The most numbers that are written out where a generator or one number stood.
const MAX_WRITTEN: u64 = 4096;

/// The value of a leaf, of one element of it, or of a number beside a tensor.
pub(super) fn set_literal(
    doc: &Doc,
    node: &str,
    cell: Option<&[u32]>,
    slot: Option<usize>,
    value: &str,
) -> Result<Draft, Refused> {
    leaf_line("const", "n", "[]", value).or_else(|_| leaf_line("const", "n", "", value))?;
    let value = value.trim();
    let drawn = doc.node(node)?;
    let (root, span, shape) = if let Some(slot) = slot {
        let slot = drawn.slot(slot)?;
        let Input::Number(_) = &slot.reads else {
            return Err(Refused::new(format!("no number stands there in `{node}`")));
        };
        (doc.expr_at(slot.span), slot.span, None)
    } else {
        let root = value_of(doc, drawn)?;
        let shape = drawn.shape.as_deref().and_then(Shape::new);
        (Some(root), doc.ast.expr(root).span, shape)
    };
    let Some(cell) = cell else {
        let text = if slot.is_some() { operand(doc, drawn, span, value) } else { value.to_owned() };
        return done(doc, &[TextEdit::replace(span, text)], node);
    };
    if value.starts_with('[') || value.contains('(') {
        return Err(Refused::new("one element is one number"));
    }
    let shape = shape.or_else(|| root.and_then(|root| list_shape(doc, root)));
    let shape = shape.ok_or_else(|| Refused::new("the shape of this value is not known yet"))?;
    let inside = cell.iter().zip(shape.dims()).all(|(at, extent)| at < extent);
    if cell.len() != shape.rank() || !inside {
        return Err(Refused::new(format!("{shape} has no element {cell:?}")));
    }
    let steps = shape.strides();
    let flat: usize = cell.iter().zip(steps).map(|(at, step)| *at as usize * step as usize).sum();
    if let Some(part) = root.and_then(|root| element(doc, root, cell, flat)) {
        return done(doc, &[TextEdit::replace(doc.ast.expr(part).span, value)], node);
    }
    if shape.rank() == 0 {
        return done(doc, &[TextEdit::replace(span, value)], node);
    }
    let mut numbers = elements(doc, node, shape)?;
    if let Some(slot) = numbers.get_mut(flat) {
        *slot = value.to_owned();
    }
    done(doc, &[TextEdit::replace(span, nested(&numbers, shape))], node)
}

/// The expression that gives a leaf its value.
fn value_of(doc: &Doc, drawn: &Drawn) -> Result<ExprId, Refused> {
    let not = || Refused::new(format!("`{}` is no leaf; its value is computed", drawn.name));
    if !drawn.is_line || !matches!(drawn.kind, DrawnKind::Param | DrawnKind::Const) {
        return Err(not());
    }
    let statement = doc.line_of(drawn).and_then(|line| doc.statement(line)).ok_or_else(not)?;
    match &statement.kind {
        StatementKind::Leaf(leaf) => Ok(leaf.value),
        StatementKind::Assign { value, .. } => Ok(*value),
        _ => Err(not()),
    }
}

/// A number as an operand, in parentheses where a sign before it would bind otherwise.
fn operand(doc: &Doc, node: &Drawn, slot: Span, value: &str) -> String {
    let kind = doc.expr_at(node.span).map(|id| &doc.ast.expr(id).kind);
    let in_arguments = match kind {
        Some(ExprKind::Call(_)) => true,
        Some(ExprKind::Method { call, .. }) => call.span.start < slot.start,
        _ => false,
    };
    let is_atom = value.starts_with(['[', '('])
        || value.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    if in_arguments || is_atom { value.to_owned() } else { format!("({value})") }
}

/// The shape of a list as written.
fn list_shape(doc: &Doc, root: ExprId) -> Option<Shape> {
    let mut dims = Vec::new();
    let mut at = doc.ast.core(root);
    while let ExprKind::List(parts) = &doc.ast.expr(at).kind {
        dims.push(parts.len() as u32);
        match parts.first() {
            Some(part) => at = doc.ast.core(*part),
            None => break,
        }
    }
    Shape::new(&dims)
}

/// The number that stands for an element in a list, nested or flat.
fn element(doc: &Doc, root: ExprId, cell: &[u32], flat: usize) -> Option<ExprId> {
    let mut at = doc.ast.core(root);
    for (depth, index) in cell.iter().enumerate() {
        let ExprKind::List(parts) = &doc.ast.expr(at).kind else {
            return None;
        };
        let is_flat = depth == 0
            && cell.len() > 1
            && parts.first().is_some_and(|part| {
                !matches!(doc.ast.expr(doc.ast.core(*part)).kind, ExprKind::List(_))
            });
        if is_flat {
            return parts.get(flat).copied();
        }
        at = *parts.get(*index as usize)?;
        if depth + 1 < cell.len() {
            at = doc.ast.core(at);
        }
    }
    let is_list = matches!(doc.ast.expr(doc.ast.core(at)).kind, ExprKind::List(_));
    (!is_list && !cell.is_empty()).then_some(at)
}

/// The elements of a leaf, written out.
fn elements(doc: &Doc, node: &str, shape: Shape) -> Result<Vec<String>, Refused> {
    let n = shape.n_elements();
    if n > MAX_WRITTEN {
        let words = format!("{n} numbers are too many to write out; give the whole value");
        return Err(Refused::new(words));
    }
    let id = doc.lowered.names.get(node);
    let leaf = id.map(|id| doc.lowered.graph.node(*id));
    match leaf.map(|leaf| (&leaf.kind, leaf.ty)) {
        Some((NodeKind::Leaf(init), ty)) => {
            Ok((0..n as usize).map(|ix| number(init.element(&ty, ix))).collect())
        }
        _ => Err(Refused::new(format!("the value of `{node}` is not known yet"))),
    }
}

/// An f32 in as few digits as mean it.
fn number(x: f64) -> String {
    let x = x as f32;
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let text = format!("{x:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Numbers as a list of lists.
fn nested(numbers: &[String], shape: Shape) -> String {
    let mut parts = numbers.to_vec();
    for extent in shape.dims().iter().rev() {
        if *extent == 0 {
            return "zeros".to_owned();
        }
        let groups = parts.chunks(*extent as usize);
        parts = groups.map(|group| format!("[{}]", group.join(", "))).collect();
    }
    parts.into_iter().next().unwrap_or_default()
}

fn done(doc: &Doc, edits: &[TextEdit], node: &str) -> Result<Draft, Refused> {
    Ok(Draft::new(Doc::read(applied(&doc.text, edits)?), [node]))
}

/// The statement of a leaf that has the words `param` or `const`.
fn leaf<'d>(doc: &'d Doc, node: &str) -> Result<(&'d Statement, &'d Leaf), Refused> {
    let drawn = doc.node(node)?;
    let statement = doc.line_of(drawn).and_then(|line| doc.statement(line));
    match statement.map(|statement| (statement, &statement.kind)) {
        Some((statement, StatementKind::Leaf(leaf))) => Ok((statement, leaf)),
        Some((_, StatementKind::Assign { .. })) if drawn.kind == DrawnKind::Const => {
            Err(Refused::new(format!("`{node}` is a number; make it a `param` or a `const` first")))
        }
        _ => Err(Refused::new(format!("`{node}` is no leaf"))),
    }
}

/// The shape of a leaf; a list that does not fill it keeps its elements where they have a place, with zeros around.
pub(super) fn set_shape(doc: &Doc, node: &str, shape: &str) -> Result<Draft, Refused> {
    let (_, own) = leaf(doc, node)?;
    let shape = shape.trim();
    leaf_line("const", "n", shape, "0")?;
    let edit = match (&own.shape, shape) {
        (Some(before), "") => TextEdit::replace(Span::new(own.name.span.end, before.span.end), ""),
        (Some(before), _) => TextEdit::replace(before.span, shape),
        (None, "") => return Ok(Draft::new(doc.clone(), [node])),
        (None, _) => TextEdit::insert(own.name.span.end, format!(" {shape}")),
    };
    let made = Doc::read(applied(&doc.text, &[edit])?);
    let (_, own) = leaf(&made, node)?;
    let span = made.ast.expr(own.value).span;
    let misfit =
        made.lowered.diagnostics.iter().find(|d| d.code == Code::BadLiteral && d.span == span);
    let (Some(misfit), Some(wanted)) = (misfit, shape_text(own)) else {
        return Ok(Draft::new(made, [node]));
    };
    let before = doc.node(node)?.shape.as_deref().and_then(Shape::new);
    let before = before.filter(|before| before.rank() == wanted.rank());
    let Some(before) = before.filter(|_| wanted.n_elements() <= MAX_WRITTEN) else {
        return Err(Refused::coded(Code::BadLiteral, misfit.message.clone()));
    };
    let numbers = elements(doc, node, before)?;
    let refilled = (0..wanted.n_elements() as usize).map(|ix| {
        let mut from = Some(0);
        let dims = wanted.dims().iter().zip(before.dims());
        for ((step, step_before), (extent, extent_before)) in
            wanted.strides().into_iter().zip(before.strides()).zip(dims)
        {
            let at = ix / (step.max(1) as usize) % (*extent).max(1) as usize;
            from = from.filter(|_| at < *extent_before as usize);
            from = from.map(|from| from + at * step_before as usize);
        }
        from.and_then(|from| numbers.get(from)).cloned().unwrap_or_else(|| "0".to_owned())
    });
    let value = nested(&refilled.collect::<Vec<_>>(), wanted);
    done(&made, &[TextEdit::replace(span, value)], node)
}

/// The shape that a leaf's text gives, row-major.
fn shape_text(leaf: &Leaf) -> Option<Shape> {
    let text = leaf.shape.as_ref()?;
    let mut dims = text
        .axes
        .iter()
        .map(|axis| u32::try_from(axis.extent))
        .collect::<Result<Vec<_>, _>>()
        .ok()?;
    if text.ne {
        dims.reverse();
    }
    Shape::new(&dims)
}

/// The name of an axis of a leaf.
pub(super) fn set_axis_name(
    doc: &Doc,
    node: &str,
    axis: usize,
    name: &str,
) -> Result<Draft, Refused> {
    let (_, own) = leaf(doc, node)?;
    let dims = doc.node(node)?.shape.clone().unwrap_or_default();
    let missing = || Refused::new(format!("`{node}` has no axis {axis}"));
    let written = |extent: u64, name: &str| {
        if name.is_empty() { extent.to_string() } else { format!("{extent} {name}") }
    };
    let edit = if let Some(text) = &own.shape {
        let ix = if text.ne { text.axes.len().checked_sub(axis + 1) } else { Some(axis) };
        let axis = ix.and_then(|ix| text.axes.get(ix)).ok_or_else(missing)?;
        TextEdit::replace(axis.span, written(axis.extent, name))
    } else {
        dims.get(axis).ok_or_else(missing)?;
        let axes = dims.iter().enumerate();
        let axes = axes.map(|(ix, d)| written(u64::from(*d), if ix == axis { name } else { "" }));
        let shape = axes.collect::<Vec<_>>().join(", ");
        TextEdit::insert(own.name.span.end, format!(" [{shape}]"))
    };
    if !name.is_empty() {
        leaf_line("const", "n", &format!("[1 {name}]"), "0")?;
    }
    let draft = done(doc, &[edit], node)?;
    let errors = |doc: &Doc| {
        let all = doc.lowered.diagnostics.iter().filter(|d| d.severity == Severity::Error);
        all.map(|d| d.message.clone()).collect::<Vec<_>>()
    };
    let before = errors(doc);
    match errors(&draft.doc).into_iter().find(|error| !before.contains(error)) {
        Some(error) => Err(Refused::new(error)),
        None => Ok(draft),
    }
}

/// The element type of a leaf.
pub(super) fn set_type(doc: &Doc, node: &str, dtype: &str) -> Result<Draft, Refused> {
    let (_, own) = leaf(doc, node)?;
    let Some(known) = DType::by_name(dtype) else {
        let names: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
        let words = format!("`{dtype}` is no type; there are {}", names.join(", "));
        return Err(Refused::coded(Code::BadLiteral, words));
    };
    let before = own.shape.as_ref().map_or(own.name.span.end, |shape| shape.span.end);
    let edit = match (&own.dtype, known) {
        (Some(word), DType::F32) => TextEdit::replace(Span::new(before, word.span.end), ""),
        (Some(word), _) => TextEdit::replace(word.span, known.name()),
        (None, DType::F32) => return Ok(Draft::new(doc.clone(), [node])),
        (None, _) => TextEdit::insert(before, format!(" {}", known.name())),
    };
    done(doc, &[edit], node)
}

/// Whether a leaf trains.
pub(super) fn set_trains(doc: &Doc, node: &str, trains: bool) -> Result<Draft, Refused> {
    let word = if trains { "param" } else { "const" };
    let drawn = doc.node(node)?;
    let statement = doc.line_of(drawn).and_then(|line| doc.statement(line));
    let edit = match statement.map(|statement| (statement.span, &statement.kind)) {
        Some((span, StatementKind::Leaf(leaf))) => {
            let is_so = (leaf.role == LeafRole::Param) == trains;
            if is_so {
                return Ok(Draft::new(doc.clone(), [node]));
            }
            // Both words have five letters.
            TextEdit::replace(Span::new(span.start, span.start + 5), word)
        }
        Some((span, StatementKind::Assign { .. })) if drawn.kind == DrawnKind::Const => {
            TextEdit::insert(span.start, format!("{word} "))
        }
        _ => return Err(Refused::new(format!("`{node}` is no leaf"))),
    };
    done(doc, &[edit], node)
}

/// An attribute of an op.
pub(super) fn set_attribute(
    doc: &Doc,
    node: &str,
    attribute: &str,
    value: &str,
) -> Result<Draft, Refused> {
    let drawn = doc.node(node)?;
    let value = value.trim();
    let none = || Refused::new(format!("`{node}` has no attribute `{attribute}`"));
    let op = drawn.op().ok_or_else(none)?;
    let ix = spell::param(op, attribute).ok_or_else(none)?;
    let spec = op.def().params.get(ix).ok_or_else(none)?;
    let expr = doc.expr_at(drawn.span).map(|id| doc.ast.expr(id)).ok_or_else(none)?;
    if let (ExprKind::Index { items, .. }, ParamKind::Index) = (&expr.kind, spec.kind) {
        let first = items.first().ok_or_else(none)?;
        let last = items.last().map_or(first.span, |last| last.span);
        reads(&format!("n = x[{value}]"))?;
        return done(doc, &[TextEdit::replace(first.span.to(last), value)], node);
    }
    let (ExprKind::Call(call) | ExprKind::Method { call, .. }) = &expr.kind else {
        return Err(none());
    };
    if !value.is_empty() {
        reads(&format!("n = f({}={value})", spec.name))?;
    }
    let given = given(doc, drawn, call, ix);
    let span = |argument: &Argument| {
        let value = doc.ast.expr(argument.value).span;
        argument.name.as_ref().map_or(value, |name| name.span.to(value))
    };
    let edit = match (given.first(), given.last(), value) {
        (Some(first), Some(last), "") => cut(doc, call, *first, *last),
        (Some(first), Some(last), _) => {
            let value_at = |ix: usize| call.arguments.get(ix).map(|a| doc.ast.expr(a.value).span);
            let (first, last) = (value_at(*first), value_at(*last));
            TextEdit::replace(first.zip(last).map(|(a, b)| a.to(b)).unwrap_or_default(), value)
        }
        (_, _, "") => return Ok(Draft::new(doc.clone(), [node])),
        _ => match call.arguments.last() {
            Some(last) => TextEdit::insert(span(last).end, format!(", {}={value}", spec.name)),
            None => TextEdit::insert(call.span.start + 1, format!("{}={value}", spec.name)),
        },
    };
    done(doc, &[edit], node)
}

/// Takes arguments out of a call, with the comma that goes with them.
pub(super) fn cut(doc: &Doc, call: &Call, first: usize, last: usize) -> TextEdit {
    let span = |argument: &Argument| {
        let value = doc.ast.expr(argument.value).span;
        argument.name.as_ref().map_or(value, |name| name.span.to(value))
    };
    let at = |ix: usize| call.arguments.get(ix).map(span);
    let before = first.checked_sub(1).and_then(at);
    let (first, last) = (at(first).unwrap_or_default(), at(last).unwrap_or_default());
    let next = call.arguments.iter().map(span).find(|next| next.start >= last.end);
    match (before, next) {
        (Some(before), _) => TextEdit::replace(Span::new(before.end, last.end), ""),
        (None, Some(next)) => TextEdit::replace(Span::new(first.start, next.start), ""),
        (None, None) => TextEdit::replace(first.to(last), ""),
    }
}

/// The arguments that give an attribute: by name, or in the row's order behind the sources.
fn given(doc: &Doc, node: &Drawn, call: &Call, attribute: usize) -> Vec<usize> {
    let Some(op) = node.op() else {
        return Vec::new();
    };
    let arguments = || call.arguments.iter().enumerate();
    let named =
        |argument: &Argument| argument.name.as_ref().and_then(|name| spell::param(op, &name.text));
    let by_name = arguments().find(|(_, argument)| named(argument) == Some(attribute));
    if let Some((ix, _)) = by_name {
        return vec![ix];
    }
    let is_source = |argument: &Argument| {
        let span = doc.ast.expr(argument.value).span;
        node.slots.iter().any(|slot| slot.span == span)
    };
    let mut positional =
        arguments().filter(|(_, a)| a.name.is_none() && !is_source(a)).map(|(ix, _)| ix).peekable();
    for (ix, spec) in op.def().params.iter().enumerate() {
        let is_named = call.arguments.iter().any(|argument| named(argument) == Some(ix));
        if spec.kind == ParamKind::Node || is_named {
            continue;
        }
        let takes_all = matches!(spec.kind, ParamKind::Axes | ParamKind::Ints);
        let n = if takes_all { usize::MAX } else { 1 };
        let own: Vec<usize> = positional.by_ref().take(n).collect();
        if ix == attribute {
            return own;
        }
    }
    Vec::new()
}

/// Whether a line that holds a value reads as one line.
fn reads(line: &str) -> Result<(), Refused> {
    let parsed = parse(line);
    let error = parsed.diagnostics.iter().find(|d| d.severity == Severity::Error);
    if let Some(error) = error {
        return Err(Refused::coded(error.code, error.message.clone()));
    }
    if parsed.ast.lines.len() != 1 || line.contains(['#', '\n', '\r']) {
        return Err(Refused::new("an attribute has one value"));
    }
    Ok(())
}

/// The rules of the document.
pub(super) fn set_rules(doc: &Doc, rules: &str) -> Result<Draft, Refused> {
    if RuleSet::by_name(rules).is_none() {
        let words = format!("there are no rules called `{rules}`");
        return Err(Refused::coded(Code::UnknownName, words));
    }
    let text = applied(&doc.text, &[edit::set_rules(&doc.text, &doc.ast, rules)])?;
    Ok(Draft::new(Doc::read(text), Vec::<String>::new()))
}
