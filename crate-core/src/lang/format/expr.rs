//! Expressions, with an explicit stack: on one line where they fit, else broken inside brackets.

use super::{INDENT, Printer};
use crate::lang::ast::{Argument, Call, Expr, ExprId, ExprKind, Index, IndexKind};
use crate::lang::lex::Infix;

/// A line that is longer is broken inside its brackets, where it has any.
const MAX_WIDTH: usize = 100;

/// How the parts of a bracket are laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// On one line.
    Flat,
    /// One part a line.
    Broken,
    /// As many parts a line as fit.
    Filled,
}

#[derive(Clone, Copy)]
enum Parts<'a> {
    List(&'a [ExprId]),
    Arguments(&'a str, &'a [Argument]),
}

impl Parts<'_> {
    const fn len(self) -> usize {
        match self {
            Self::List(items) => items.len(),
            Self::Arguments(_, arguments) => arguments.len(),
        }
    }

    const fn close(self) -> &'static str {
        match self {
            Self::List(_) => "]",
            Self::Arguments(..) => ")",
        }
    }
}

/// A call as it is written.
struct Called<'a> {
    receiver: Option<ExprId>,
    name: &'a str,
    op: &'a str,
}

/// What is still to be written of an expression.
enum Task<'a> {
    Expr(ExprId),
    Text(&'a str),
    Index(&'a [Index]),
    Open(Parts<'a>, &'a Expr),
    Next { parts: Parts<'a>, mode: Mode, ix: usize, indent: usize, end: u32 },
}

impl<'a> Printer<'a> {
    /// The receiver where it is not a dropped prefix, what a call is written as, and the op whose
    /// arguments it has: none for a function of the document.
    fn called(&self, call: &'a Call, receiver: Option<ExprId>) -> Called<'a> {
        let prefix = receiver.and_then(|receiver| match &self.ast.expr(receiver).kind {
            ExprKind::Name(name) => Some(name.as_str()),
            _ => None,
        });
        let prefix = prefix.filter(|name| !self.own.contains(name) && self.spelling.drops(name));
        let receiver = receiver.filter(|_| prefix.is_none());
        let name = call.name.text.as_str();
        // A module has no functions of the document.
        if self.own.contains(name) && prefix.is_none() {
            return Called { receiver, name, op: "" };
        }
        let op = self.spelling.op(prefix, name);
        Called { receiver, name: op, op }
    }

    fn width(&self, id: ExprId) -> usize {
        self.widths.get(id.index()).copied().unwrap_or(0)
    }

    fn parts_width(&self, parts: Parts<'_>) -> usize {
        let inside: usize = match parts {
            Parts::List(items) => items.iter().map(|&item| self.width(item)).sum(),
            Parts::Arguments(op, arguments) => arguments
                .iter()
                .map(|Argument { name, value }| {
                    let name = name.as_ref().map(|n| self.spelling.argument(op, &n.text));
                    name.map_or(0, |name| name.len() + 1) + self.width(*value)
                })
                .sum(),
        };
        inside + 2 * parts.len().saturating_sub(1) + 2
    }

    /// The width on one line, from the widths of the parts.
    pub(super) fn flat_width(&self, expr: &'a Expr) -> usize {
        match &expr.kind {
            ExprKind::Number(number) => number.text.len(),
            ExprKind::Inf | ExprKind::Nan => 3,
            ExprKind::Bool(value) => bool_text(*value).len(),
            ExprKind::Text(text) => text.len() + 2,
            ExprKind::Name(name) => name.len(),
            ExprKind::Open => 1,
            ExprKind::Paren(inner) => self.width(*inner) + 2,
            ExprKind::List(items) => self.parts_width(Parts::List(items)),
            ExprKind::Prefix { operand, .. } => self.width(*operand) + 1,
            ExprKind::Infix { sign, left, right, .. } => {
                self.width(*left) + between(*sign).len() + self.width(*right)
            }
            ExprKind::Call(call) => self.call_width(call, None),
            ExprKind::Method { receiver, call } => self.call_width(call, Some(*receiver)),
            ExprKind::Transpose(receiver) => self.width(*receiver) + 2,
            ExprKind::Index { receiver, items } => self.width(*receiver) + index_text(items).len(),
        }
    }

    fn call_width(&self, call: &'a Call, receiver: Option<ExprId>) -> usize {
        let Called { receiver, name, op } = self.called(call, receiver);
        let arguments = self.parts_width(Parts::Arguments(op, &call.arguments));
        let receiver = receiver.map_or(0, |receiver| self.width(receiver) + 1);
        receiver + name.len() + usize::from(call.in_place) + arguments
    }

    pub(super) fn expr(&mut self, id: ExprId, indent: usize) {
        let ast = self.ast;
        let mut tasks = vec![Task::Expr(id)];
        // Where the lines of an open bracket are indented to; one entry for each that is broken.
        let mut indents = vec![indent];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Text(text) => self.out.push_str(text),
                Task::Index(items) => self.out.push_str(&index_text(items)),
                Task::Expr(id) => self.push_expr(ast.expr(id), &mut tasks),
                Task::Open(parts, expr) => {
                    let span = expr.group().unwrap_or(expr.span);
                    let from = self.comments.partition_point(|c| c.span.start < span.start);
                    let inside = self.comments.get(from);
                    let has_comment = inside.is_some_and(|c| c.span.start < span.end);
                    let mode = self.mode(parts, has_comment);
                    let indent = indents.last().copied().unwrap_or(0) + INDENT;
                    if mode != Mode::Flat {
                        indents.push(indent);
                    }
                    tasks.push(Task::Next { parts, mode, ix: 0, indent, end: span.end });
                }
                Task::Next { parts, mode, ix, indent, end } if ix == parts.len() => {
                    if mode != Mode::Flat {
                        self.flush(end, indent);
                        self.new_line(indent - INDENT);
                        indents.pop();
                    }
                    self.out.push_str(parts.close());
                }
                Task::Next { parts, mode, ix, indent, end } => {
                    tasks.push(Task::Next { parts, mode, ix: ix + 1, indent, end });
                    if mode != Mode::Flat {
                        tasks.push(Task::Text(","));
                    }
                    let value = self.lead(parts, mode, ix, indent);
                    tasks.extend(value.map(Task::Expr));
                }
            }
        }
    }

    fn mode(&self, parts: Parts<'a>, has_comment: bool) -> Mode {
        if has_comment {
            return Mode::Broken;
        }
        let column = self.out.len() - self.line_start;
        // The opening sign has been written.
        let fits = column + self.parts_width(parts) <= MAX_WIDTH + 1;
        match parts {
            _ if fits || parts.len() == 0 => Mode::Flat,
            Parts::Arguments(_, [_]) => Mode::Flat,
            Parts::List(items) if items.iter().all(|&item| self.is_scalar(item)) => Mode::Filled,
            Parts::Arguments(..) | Parts::List(_) => Mode::Broken,
        }
    }

    fn is_scalar(&self, id: ExprId) -> bool {
        let kind = &self.ast.expr(id).kind;
        let kind = match kind {
            ExprKind::Prefix { operand, .. } => &self.ast.expr(*operand).kind,
            _ => kind,
        };
        matches!(
            kind,
            ExprKind::Number(_)
                | ExprKind::Inf
                | ExprKind::Nan
                | ExprKind::Bool(_)
                | ExprKind::Name(_)
        )
    }

    /// What stands before part `ix` of a bracket, and the part.
    fn lead(&mut self, parts: Parts<'a>, mode: Mode, ix: usize, indent: usize) -> Option<ExprId> {
        let (name, value) = match parts {
            Parts::List(items) => (None, *items.get(ix)?),
            Parts::Arguments(op, arguments) => {
                let Argument { name, value } = arguments.get(ix)?;
                (name.as_ref().map(|name| (name, self.spelling.argument(op, &name.text))), *value)
            }
        };
        let column = self.out.len() - self.line_start;
        match mode {
            Mode::Flat if ix == 0 => {}
            Mode::Flat => self.out.push_str(", "),
            Mode::Filled if ix > 0 && column + self.width(value) + 2 <= MAX_WIDTH => {
                self.out.push(' ');
            }
            Mode::Filled => self.new_line(indent),
            Mode::Broken => {
                let start = name.map_or(self.ast.expr(value).span, |(name, _)| name.span).start;
                self.flush(start, indent);
                self.new_line(indent);
            }
        }
        if let Some((_, name)) = name {
            self.words(&[name, "="]);
        }
        Some(value)
    }

    /// Writes the comments that stand before a byte of the text.
    fn flush(&mut self, place: u32, indent: usize) {
        while let Some((comment, rest)) =
            self.comments.split_first().filter(|(comment, _)| comment.span.start < place)
        {
            self.comments = rest;
            if comment.own_line || self.after_comment {
                self.new_line(indent);
            } else {
                self.out.push_str("  ");
            }
            self.out.push_str(&comment.text);
            self.after_comment = true;
        }
    }

    /// Writes an expression without parts; schedules the parts of any other, last one first.
    fn push_expr(&mut self, expr: &'a Expr, tasks: &mut Vec<Task<'a>>) {
        match &expr.kind {
            ExprKind::Number(number) => self.out.push_str(&number.text),
            ExprKind::Inf => self.out.push_str("inf"),
            ExprKind::Nan => self.out.push_str("nan"),
            ExprKind::Bool(value) => self.out.push_str(bool_text(*value)),
            ExprKind::Text(text) => self.words(&["\"", text, "\""]),
            ExprKind::Name(name) => self.out.push_str(name),
            ExprKind::Open => self.out.push('?'),
            ExprKind::Paren(inner) => {
                self.out.push('(');
                tasks.push(Task::Text(")"));
                tasks.push(Task::Expr(*inner));
            }
            ExprKind::List(items) => {
                self.out.push('[');
                tasks.push(Task::Open(Parts::List(items), expr));
            }
            ExprKind::Prefix { sign, operand } => {
                self.out.push_str(sign.as_str());
                tasks.push(Task::Expr(*operand));
            }
            ExprKind::Infix { sign, left, right, .. } => {
                tasks.push(Task::Expr(*right));
                tasks.push(Task::Text(between(*sign)));
                tasks.push(Task::Expr(*left));
            }
            ExprKind::Call(call) => self.push_call(expr, call, None, tasks),
            ExprKind::Method { receiver, call } => {
                self.push_call(expr, call, Some(*receiver), tasks);
            }
            ExprKind::Transpose(receiver) => {
                tasks.push(Task::Text("T"));
                tasks.push(Task::Text(self.dot(*receiver)));
                tasks.push(Task::Expr(*receiver));
            }
            ExprKind::Index { receiver, items } => {
                tasks.push(Task::Index(items));
                tasks.push(Task::Expr(*receiver));
            }
        }
    }

    fn push_call(
        &mut self,
        expr: &'a Expr,
        call: &'a Call,
        receiver: Option<ExprId>,
        tasks: &mut Vec<Task<'a>>,
    ) {
        let Called { receiver, name, op } = self.called(call, receiver);
        tasks.push(Task::Open(Parts::Arguments(op, &call.arguments), expr));
        tasks.push(Task::Text(if call.in_place { "!(" } else { "(" }));
        tasks.push(Task::Text(name));
        if let Some(receiver) = receiver {
            tasks.push(Task::Text(self.dot(receiver)));
            tasks.push(Task::Expr(receiver));
        }
    }

    /// The dot after a receiver: a number would take it for its own.
    fn dot(&self, receiver: ExprId) -> &'static str {
        match self.ast.expr(receiver).kind {
            ExprKind::Number(_) => " .",
            _ => ".",
        }
    }
}

const fn bool_text(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// A sign with the blanks around it.
const fn between(sign: Infix) -> &'static str {
    match sign {
        Infix::Plus => " + ",
        Infix::Minus => " - ",
        Infix::Star => " * ",
        Infix::Slash => " / ",
        Infix::At => " @ ",
        Infix::Caret => "^",
        Infix::Less => " < ",
        Infix::LessEqual => " <= ",
        Infix::Greater => " > ",
        Infix::GreaterEqual => " >= ",
        Infix::Equal => " == ",
        Infix::NotEqual => " != ",
    }
}

fn index_text(items: &[Index]) -> String {
    let mut text = String::from("[");
    for (ix, item) in items.iter().enumerate() {
        text.push_str(if ix == 0 { "" } else { ", " });
        match item.kind {
            IndexKind::NewAxis => text.push('_'),
            IndexKind::Rest => text.push_str("..."),
            IndexKind::At(at) => text.push_str(&at.to_string()),
            IndexKind::Slice { start, stop, step } => {
                let int = |int: Option<i64>| int.map_or_else(String::new, |int| int.to_string());
                text.push_str(&int(start));
                text.push(':');
                text.push_str(&int(stop));
                if step.is_some() {
                    text.push(':');
                    text.push_str(&int(step));
                }
            }
        }
    }
    text.push(']');
    text
}
