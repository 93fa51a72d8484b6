//! What is to be said of the word under a pointer.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::complete::LINES;
use super::phrase;
use super::sketch::{Doc, Drawn, DrawnKind};
use crate::lang::ast::{Call, ExprKind, StatementKind};
use crate::lang::lex::{Token, TokenKind, lex};
use crate::lang::parse::words;
use crate::lang::{Code, Diagnostic, Span, parse, spell};
use crate::ops::def::Sign;
use crate::ops::{OpKind, by_sign};
use crate::rules::RuleSet;
use crate::tensor::DType;

/// Something that is wrong under the pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Wrong {
    /// The stable code.
    pub code: String,
    /// What is said of this place.
    pub message: String,
    /// What the code means.
    pub meaning: String,
    /// What to do about it.
    pub next: String,
}

/// A card.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Hover {
    /// The word it is about.
    pub span: Span,
    /// Its heading: `clamp(a, min=…, max=…)`, `c [2 token, 1] f32`.
    pub title: String,
    /// Lines of text: formula, what it does, gradients, kinks; or the line that defines a node.
    pub lines: Vec<String>,
    /// What the text has wrong here.
    pub wrong: Vec<Wrong>,
}

/// The card for a byte of the text, where there is something to say.
pub fn hover(text: &str, caret: u32) -> Option<Hover> {
    let lexed = lex(text);
    let is_here = |token: &&Token| token.span.start <= caret && caret < token.span.end;
    let at = lexed.tokens.iter().position(|token| is_here(&token))?;
    let token = *lexed.tokens.get(at)?;
    let doc = Doc::read(text.to_owned());
    let mut card = match token.kind {
        TokenKind::Name => word(&doc, &lexed.tokens, at),
        TokenKind::Infix(sign) => {
            let infix = Sign::Infix(sign.as_str());
            let is_prefix = doc.ast.exprs().any(|(_, expr)| {
                matches!(expr.kind, ExprKind::Prefix { .. }) && expr.span.start == token.span.start
            });
            let sign = if is_prefix { Sign::Prefix(sign.as_str()) } else { infix };
            by_sign(sign).map(|op| of_op(&doc, op))
        }
        _ => None,
    };
    let parsed = parse(text);
    let own = parsed.diagnostics.iter().chain(&doc.lowered.diagnostics);
    let wrong: Vec<Wrong> =
        own.filter(|d| d.span.start <= caret && caret < d.span.end).map(say).collect();
    if card.is_none() && !wrong.is_empty() {
        let title = wrong.first().map_or_else(String::new, |wrong| wrong.code.clone());
        card = Some(Hover { title, ..Hover::default() });
    }
    card.map(|card| Hover { span: token.span, wrong, ..card })
}

fn say(diagnostic: &Diagnostic) -> Wrong {
    let code: Code = diagnostic.code;
    Wrong {
        code: code.name().to_owned(),
        message: diagnostic.message.clone(),
        meaning: code.meaning().to_owned(),
        next: code.what_next().to_owned(),
    }
}

fn of_op(doc: &Doc, op: OpKind) -> Hover {
    let lines = phrase::card(op, doc.lowered.rules);
    Hover { title: phrase::signature(op), lines, ..Hover::default() }
}

fn titled(title: impl Into<String>, line: impl Into<String>) -> Hover {
    Hover { title: title.into(), lines: vec![line.into()], ..Hover::default() }
}

/// The card of a word.
fn word(doc: &Doc, tokens: &[Token], at: usize) -> Option<Hover> {
    let token = tokens.get(at)?;
    let text = doc.text.as_str();
    let name = token.span.of(text);
    let before = at.checked_sub(1).and_then(|ix| tokens.get(ix));
    let head = tokens.get(..=at).unwrap_or(&[]).iter().rfind(|token| token.first);
    let head = head.map_or("", |head| head.span.of(text));
    let is_head = token.first;
    if let Some((word, says)) = LINES.iter().find(|(word, _)| is_head && *word == name) {
        return Some(titled(*word, *says));
    }
    if let (Some(rules), "rules") = (RuleSet::by_name(name), head) {
        return Some(titled(format!("rules {name}"), rules.says()));
    }
    if let (Some(_), "param" | "const") = (DType::by_name(name), head)
        && doc.line_of_name(name).is_none()
    {
        return Some(titled(name, "The type of the elements: storage rounds to it."));
    }
    // A call, with the module name before it.
    for (_, expr) in doc.ast.exprs() {
        let (call, receiver) = match &expr.kind {
            ExprKind::Call(call) => (call, None),
            ExprKind::Method { receiver, call } => (call, Some(*receiver)),
            _ => continue,
        };
        let prefix = receiver.and_then(|receiver| match &doc.ast.expr(receiver).kind {
            ExprKind::Name(module) if words::PREFIXES.contains(&module.as_str()) => {
                Some(module.as_str())
            }
            _ => None,
        });
        let op = spell::op(prefix, &call.name.text);
        if call.name.span == token.span {
            return of_call(doc, call, op);
        }
        let named = call.arguments.iter().filter_map(|argument| argument.name.as_ref());
        if named.into_iter().any(|name| name.span == token.span) {
            let spec = op.and_then(|op| op.def().params.get(spell::param(op, name)?))?;
            return Some(titled(
                phrase::attribute(spec),
                format!("It takes {}.", spec.kind.says()),
            ));
        }
    }
    // A node: where it is defined, where it is read, and in a directive.
    let full = name_around(tokens, at, text);
    let node = [full.as_str(), name].into_iter().find_map(|name| doc.find(name));
    let is_member = before.is_some_and(|token| token.kind == TokenKind::Dot);
    match node {
        Some(node) if !is_member || full == node.name => Some(of_node(doc, node)),
        _ => None,
    }
}

/// The name `y.1` around one of its parts.
fn name_around(tokens: &[Token], at: usize, text: &str) -> String {
    let end = tokens.get(at).map_or(0, |token| token.span.end);
    let mut start = tokens.get(at).map_or(0, |token| token.span.start);
    for token in tokens.get(..at).unwrap_or(&[]).iter().rev() {
        if token.span.end != start || token.first && token.kind != TokenKind::Name {
            break;
        }
        start = token.span.start;
    }
    Span::new(start, end).of(text).to_owned()
}

fn of_call(doc: &Doc, call: &Call, op: Option<OpKind>) -> Option<Hover> {
    let name = call.name.text.as_str();
    if let Some(function) = doc.function(name) {
        let formals: Vec<&str> = function.formals.iter().map(|f| f.name.text.as_str()).collect();
        return Some(titled(
            format!("{name}({})", formals.join(", ")),
            "A function of this document.",
        ));
    }
    op.map(|op| of_op(doc, op))
}

/// The card of a node.
fn of_node(doc: &Doc, node: &Drawn) -> Hover {
    let graph = &doc.lowered.graph;
    let id = doc.lowered.names.get(node.name.as_str());
    let ty = id.map(|id| graph.node(*id).ty);
    let title = ty.map_or_else(
        || format!("{} (open)", node.name),
        |ty| {
            let axes = ty.shape.dims().iter().zip(ty.axes).map(|(extent, axis)| match axis {
                Some(axis) => format!("{extent} {}", graph.axis_name(axis)),
                None => extent.to_string(),
            });
            let shape = axes.collect::<Vec<_>>().join(", ");
            format!("{} [{shape}] {}", node.name, ty.dtype.name())
        },
    );
    let statement = doc.line_of(node).and_then(|line| doc.statement(line));
    let is_long = statement.is_some_and(|s| matches!(s.kind, StatementKind::Leaf(_)));
    let text = node.line.of(&doc.text);
    let text: String = if is_long { text.chars().take(80).collect() } else { text.to_owned() };
    let mut lines = vec![text];
    match &node.kind {
        DrawnKind::Op(_) => {
            if let Some(op) = node.op() {
                lines.push(format!("{}: {}", op.def().name, op.def().formula));
            }
        }
        DrawnKind::Param => lines.push("A leaf that trains.".to_owned()),
        DrawnKind::Const => lines.push("A leaf that does not train.".to_owned()),
        DrawnKind::Call(function) => lines.push(format!("A call of `fn {function}`.")),
        DrawnKind::Open => lines.push("Its value is still open.".to_owned()),
        DrawnKind::Unread => lines.push("This line cannot be read.".to_owned()),
    }
    Hover { title, lines, ..Hover::default() }
}
