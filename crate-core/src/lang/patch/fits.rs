//! Whether a connection fits, before it is made: the patched text is really lowered, and its first finding about
//! the node is what is said.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::change::applied;
use super::connect::{circle, connect};
use super::sketch::{Doc, Drawn};
use super::{Code, Refused, Severity};
use crate::graph::NodeId;
use crate::lang::ast::ExprKind;
use crate::lang::{Span, TextEdit};
use crate::tensor::{MAX_RANK, TensorType};

/// An axis along which an operand is stretched.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Stretch {
    /// The axis of the result, from the left.
    pub axis: u8,
    /// Its name, or `axis N`.
    pub name: String,
    /// The operand's extent.
    pub from: u32,
    /// The result's.
    pub to: u32,
}

/// A connection that fits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Fit {
    /// The shape of the node then; `None` while something else is open.
    pub shape: Option<Vec<u32>>,
    /// How what is connected would be stretched.
    pub stretches: Vec<Stretch>,
    /// The node's expression then.
    pub text: String,
    /// Whether something that is read only now does not fit: a node further on.
    pub breaks: Vec<String>,
}

/// A connection that does not fit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Misfit {
    /// Why, short: `2 against 3 on axis token`.
    pub words: String,
    /// The whole sentence.
    pub message: String,
    /// The stable code, where there is one.
    pub code: String,
    /// The two shapes that clash, of what is connected and of what stands beside it, where shapes are the matter.
    pub clash: Option<(Vec<u32>, Vec<u32>)>,
    /// The axis that clashes in each of them.
    pub axis: Option<(u8, u8)>,
}

/// Whether a slot of `to` can read `from`.
pub fn fits(text: &str, from: &str, to: &str, slot: usize) -> Result<Fit, Box<Misfit>> {
    let doc = Doc::read(text.to_owned());
    fit(&doc, from, to, slot)
}

/// One end of a connection that could be made.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Candidate {
    /// The node.
    pub node: String,
    /// Its slot; for a source, the slot that asks.
    pub slot: usize,
    /// Whether the slot is open: a list offers these first.
    pub is_open: bool,
    /// Whether it fits.
    pub fit: Result<Fit, Box<Misfit>>,
}

/// All slots that could read a node: open ones first, and among these the ones that fit.
///
/// So that a list of a thousand is quick, each slot is judged on a text of its own, with tensors of the same types;
/// [`fits`] asks the whole text, which knows also what is a view and which nodes further on would break.
pub fn targets(text: &str, from: &str) -> Vec<Candidate> {
    let doc = Doc::read(text.to_owned());
    let mut out = Vec::new();
    for node in &doc.drawn {
        for (slot, read) in node.slots.iter().enumerate() {
            let fit = alone(&doc, from, node, slot);
            let is_open = read.reads == super::Input::Open;
            out.push(Candidate { node: node.name.clone(), slot, is_open, fit });
        }
    }
    out.sort_by_key(|candidate| (!candidate.is_open, candidate.fit.is_err()));
    out
}

/// All nodes that a slot could read: the ones that fit first. They are judged as in [`targets`].
pub fn sources(text: &str, to: &str, slot: usize) -> Vec<Candidate> {
    let doc = Doc::read(text.to_owned());
    let user = doc.find(to).filter(|node| slot < node.slots.len());
    let read = user.and_then(|node| node.slots.get(slot));
    let is_open = read.is_some_and(|slot| slot.reads == super::Input::Open);
    let candidate = |node: &Drawn| {
        let fit = alone(&doc, &node.name, user?, slot);
        Some(Candidate { node: node.name.clone(), slot, is_open, fit })
    };
    let mut out: Vec<Candidate> = doc.drawn.iter().filter_map(candidate).collect();
    out.sort_by_key(|candidate| candidate.fit.is_err());
    out
}

/// Whether a slot can read a node, judged on a text that holds nothing else.
fn alone(doc: &Doc, from: &str, to: &Drawn, slot: usize) -> Result<Fit, Box<Misfit>> {
    if let Some(words) = circle(doc, from, to) {
        let code = Code::Cycle.name().to_owned();
        return Err(Box::new(Misfit {
            words: words.clone(),
            message: words,
            code,
            ..Misfit::default()
        }));
    }
    let Some(text) = sample(doc, from, to, slot) else {
        return fit(doc, from, &to.name, slot);
    };
    let sample = Doc::read(text);
    let Some(node) = sample.drawn.iter().rfind(|node| node.is_line) else {
        return fit(doc, from, &to.name, slot);
    };
    let judged = judge(&sample, &sample, node, slot);
    judged.map(|fit| {
        // The expression in the document's own words.
        let own = to.slots.get(slot).map_or(to.span, |slot| slot.span);
        let before = Span::new(to.span.start, own.start).of(&doc.text);
        let behind = Span::new(own.end, to.span.end).of(&doc.text);
        Fit { text: format!("{before}{from}{behind}"), ..fit }
    })
}

/// A text with a node alone: constants of the types that it reads, and its expression. `None` where more counts.
fn sample(doc: &Doc, from: &str, to: &Drawn, slot: usize) -> Option<String> {
    to.op()?;
    let own = doc.ast.parts(doc.expr_at(to.span)?);
    let in_slot = |span: Span| to.slots.iter().any(|slot| slot.span.to(span) == slot.span);
    for part in own {
        let expr = doc.ast.expr(part);
        // An attribute that is a node's value.
        if matches!(&expr.kind, ExprKind::Name(name) if doc.is_value(name) && !in_slot(expr.span)) {
            return None;
        }
    }
    let mut text = format!("rules {}\n", doc.lowered.rules.name());
    let mut edits = Vec::new();
    for (ix, read) in to.slots.iter().enumerate() {
        let source = match &read.reads {
            _ if ix == slot => from,
            super::Input::Node(name) => name.as_str(),
            super::Input::Number(_) | super::Input::Open => continue,
            super::Input::Unknown(_) => return None,
        };
        let name = format!("a{ix}");
        let span = Span::new(read.span.start - to.span.start, read.span.end - to.span.start);
        let id = doc.lowered.names.get(source);
        edits.push(TextEdit::replace(span, if id.is_some() { name.as_str() } else { "?" }));
        let Some(id) = id else {
            continue;
        };
        let ty = doc.lowered.graph.node(*id).ty;
        let axes = ty.shape.dims().iter().zip(ty.axes).map(|(extent, axis)| {
            let axis = axis.map(|axis| doc.lowered.graph.axis_name(axis));
            axis.map_or_else(|| extent.to_string(), |axis| format!("{extent} {axis}"))
        });
        let shape = axes.collect::<Vec<_>>().join(", ");
        text.push_str(&format!("const {name} [{shape}] {} = 0\n", ty.dtype.name()));
    }
    let line = to.name.split('.').next().unwrap_or("y");
    let is_free = !line.starts_with('a');
    let expr = applied(to.span.of(&doc.text), &edits).ok()?;
    text.push_str(&format!("{} = ({expr})\n", if is_free { line } else { "y" }));
    Some(text)
}

pub(super) fn fit(doc: &Doc, from: &str, to: &str, slot: usize) -> Result<Fit, Box<Misfit>> {
    let refused = |refused: Refused| {
        let (words, message) = (refused.words.clone(), refused.words);
        Box::new(Misfit { words, message, code: refused.code, ..Misfit::default() })
    };
    let draft = connect(doc, from, to, slot).map_err(refused)?;
    let Some(node) = draft.select.first().and_then(|name| draft.doc.find(name)) else {
        return Ok(Fit::default());
    };
    judge(doc, &draft.doc, node, slot)
}

/// What lowering says of a node that was just connected.
pub(super) fn judge(
    before: &Doc,
    after: &Doc,
    node: &Drawn,
    slot: usize,
) -> Result<Fit, Box<Misfit>> {
    let errors = || after.lowered.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let own = errors().find(|d| {
        let about = d.about.as_ref().map(|about| about.node.as_str());
        d.code != Code::OpenInput
            && (about == Some(node.name.as_str())
                || about.is_none() && node.span.to(d.span) == node.span)
    });
    if let Some(own) = own {
        let mut misfit = Misfit {
            words: own.message.clone(),
            message: own.message.clone(),
            code: own.code.name().to_owned(),
            ..Misfit::default()
        };
        clash(after, node, slot, &mut misfit);
        return Err(Box::new(misfit));
    }
    let known = |name: &str| {
        before
            .lowered
            .diagnostics
            .iter()
            .any(|d| d.about.as_ref().is_some_and(|about| about.node == name))
    };
    let abouts = errors().filter_map(|d| d.about.as_ref());
    let breaks = abouts.filter(|about| !known(&about.node)).map(|about| about.node.clone());
    let text = node.span.of(&after.text).to_owned();
    let mut fit =
        Fit { shape: node.shape.clone(), text, breaks: breaks.collect(), ..Fit::default() };
    if let Some(id) = after.lowered.names.get(node.name.as_str()) {
        fit.stretches = stretches(after, *id, slot);
    }
    Ok(fit)
}

/// How a source is stretched to the node's shape.
fn stretches(doc: &Doc, id: NodeId, slot: usize) -> Vec<Stretch> {
    let graph = &doc.lowered.graph;
    let node = graph.node(id);
    let (Some(op), Some(source)) = (node.op(), node.src().get(slot)) else {
        return Vec::new();
    };
    if !op.def().stretches {
        return Vec::new();
    }
    let own = graph.node(*source).ty.shape.padded();
    let lead = MAX_RANK - node.ty.shape.rank();
    let axes = own.into_iter().zip(node.ty.shape.padded()).enumerate().skip(lead);
    let stretched = axes.filter(|(_, (from, to))| from != to);
    stretched
        .map(|(at, (from, to))| {
            let axis = at - lead;
            Stretch { axis: axis as u8, name: axis_name(doc, &node.ty, axis), from, to }
        })
        .collect()
}

fn axis_name(doc: &Doc, ty: &TensorType, axis: usize) -> String {
    let name = ty.axes.get(axis).copied().flatten().filter(|_| axis < ty.shape.rank());
    let name = name.map(|name| doc.lowered.graph.axis_name(name));
    name.map_or_else(|| format!("axis {axis}"), str::to_owned)
}

/// Names the axis on which what was connected and its neighbour clash.
fn clash(doc: &Doc, node: &Drawn, slot: usize, misfit: &mut Misfit) {
    let ty = |slot: usize| -> Option<TensorType> {
        let super::Input::Node(name) = &node.slots.get(slot)?.reads else {
            return None;
        };
        let id = doc.lowered.names.get(name.as_str())?;
        Some(doc.lowered.graph.node(*id).ty)
    };
    let stretches = node.op().is_some_and(|op| op.def().stretches);
    let other = (0..node.slots.len()).find(|other| *other != slot && ty(*other).is_some());
    let (Some(own), Some(other)) = (ty(slot), other.and_then(ty)) else {
        return;
    };
    misfit.clash = Some((own.shape.dims().to_vec(), other.shape.dims().to_vec()));
    if !stretches {
        return;
    }
    let pairs = own.shape.padded().into_iter().zip(other.shape.padded()).enumerate();
    let mut clashes = pairs.filter(|(_, (a, b))| a != b);
    let two_sided = |a: u32, b: u32| a == 1 || b == 1;
    let hard = clashes.clone().find(|(_, (a, b))| !two_sided(*a, *b));
    let Some((at, (a, b))) = hard.or_else(|| clashes.next()) else {
        return;
    };
    let axis = |ty: &TensorType| (at + ty.shape.rank()).checked_sub(MAX_RANK);
    let name = axis(&own).map_or_else(|| "axis".to_owned(), |axis| axis_name(doc, &own, axis));
    let named = match axis(&other).map(|axis| axis_name(doc, &other, axis)) {
        Some(other) if name.starts_with("axis") => other,
        _ => name,
    };
    misfit.axis = axis(&own).zip(axis(&other)).map(|(a, b)| (a as u8, b as u8));
    misfit.words = format!("{a} against {b} on {named}");
}
