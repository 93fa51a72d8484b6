//! One part of an expression, whose own parts have been made.

use std::sync::Arc;

use super::Val;
use super::apply::Job;
use super::constant::{constant, list};
use super::machine::{Machine, Purpose, Running, Step};
use crate::graph::{Flags, Index, Init, Value};
use crate::lang::ast::{Expr, ExprId, ExprKind, IndexKind};
use crate::lang::lex::Infix;
use crate::lang::source_map::NodeText;
use crate::lang::{Code, Span, spell};
use crate::ops::def::Sign;
use crate::ops::{by_name, by_sign};

impl<'a> Machine<'a> {
    /// Gives a line's value the line's name: a node of its own, where it is another line's node or
    /// no node at all.
    pub(super) fn named(&mut self, running: &mut Running, val: Val) -> Val {
        let top = running.top;
        let expr = self.program.ast.expr(top);
        let is_line = matches!(running.purpose, Purpose::Line(_));
        match val {
            Val::Node(_) if running.purpose == Purpose::Formula => val,
            Val::Node(_) if matches!(expr.kind, ExprKind::Name(_)) => {
                let Some(op) = by_name(spell::PLAIN) else {
                    self.complaints.beyond();
                    return val;
                };
                let operands = vec![(val, top)];
                self.apply(running, &Job::plain(top, op, operands, expr.span))
            }
            Val::Number(_) | Val::Bool(_) | Val::List(_) if !is_line => val,
            Val::Number(_) | Val::Bool(_) | Val::List(_) => {
                let Some(made) = constant(&val) else {
                    return Val::Poison;
                };
                let init = match made.data.as_ref() {
                    [x] => Init::Fill(*x),
                    _ => Init::Literal(Arc::clone(&made.data)),
                };
                let text = NodeText {
                    span: expr.span,
                    line: running.line,
                    operands: Vec::new(),
                    site: running.site,
                };
                let name = Arc::from(running.name.as_str());
                self.add_leaf(made.ty, init, Some(name), Flags::default(), text)
                    .map_or(Val::Poison, Val::Node)
            }
            Val::Node(_) | Val::Poison => val,
            Val::Parts | Val::Word | Val::Text => {
                self.no_value(running, &val, top);
                Val::Poison
            }
        }
    }

    /// One part of an expression.
    pub(super) fn part(&mut self, running: &mut Running, id: ExprId, expr: &'a Expr) -> Step<'a> {
        let made = match &expr.kind {
            ExprKind::Number(number) => Val::Number(number.value),
            ExprKind::Inf => Val::Number(f64::INFINITY),
            ExprKind::Nan => Val::Number(f64::NAN),
            ExprKind::Bool(x) => Val::Bool(*x),
            ExprKind::Text(_) => Val::Text,
            ExprKind::Open => {
                let message = "this input is not connected yet; write a name or a number";
                self.complaints.error(Code::OpenInput, expr.span, message);
                Val::Poison
            }
            ExprKind::Name(name) => return self.read(running, name, expr.span),
            ExprKind::Paren(part) => running.val(*part),
            ExprKind::Prefix { sign: Infix::Plus, operand } => running.val(*operand),
            ExprKind::Prefix { sign, operand } => match running.val(*operand) {
                // The sign of a number belongs to the number.
                Val::Number(x) => Val::Number(-x),
                val => {
                    let sign = Sign::Prefix(sign.as_str());
                    self.signed(running, id, sign, vec![(val, *operand)], expr.span)
                }
            },
            ExprKind::Infix { sign, left, right, .. } => {
                let operands = vec![(running.val(*left), *left), (running.val(*right), *right)];
                self.signed(running, id, Sign::Infix(sign.as_str()), operands, expr.span)
            }
            ExprKind::List(parts) => self.list(running, id, parts, expr.span),
            // Only the whole engine reads what follows here.
            ExprKind::Transpose(_) | ExprKind::Index { .. } | ExprKind::Method { .. }
                if !crate::WHOLE =>
            {
                self.complaints.beyond();
                Val::Poison
            }
            ExprKind::Transpose(receiver) => {
                let operands = vec![(running.val(*receiver), *receiver)];
                match by_name(spell::TRANSPOSED) {
                    Some(op) => self.apply(running, &Job::plain(id, op, operands, expr.span)),
                    None => Val::Poison,
                }
            }
            ExprKind::Index { receiver, items } => {
                let index: Vec<Index> = items
                    .iter()
                    .map(|item| match item.kind {
                        IndexKind::NewAxis => Index::New,
                        IndexKind::Rest => Index::Rest,
                        IndexKind::At(at) => Index::At(at),
                        IndexKind::Slice { start, stop, step } => {
                            Index::Range { start, stop, step }
                        }
                    })
                    .collect();
                let span = match (items.first(), items.last()) {
                    (Some(first), Some(last)) => first.span.to(last.span),
                    _ => expr.span,
                };
                let operands = vec![(running.val(*receiver), *receiver)];
                match by_name(spell::BRACKET) {
                    Some(op) => {
                        let mut job = Job::plain(id, op, operands, expr.span);
                        job.params = vec![Value::Index(index.into())];
                        job.spans = vec![Some(span)];
                        self.apply(running, &job)
                    }
                    None => Val::Poison,
                }
            }
            ExprKind::Call(call) => return self.call(running, id, call, None, expr.span),
            ExprKind::Method { receiver, call } => {
                return self.call(running, id, call, Some(*receiver), expr.span);
            }
        };
        Step::Made(made)
    }

    fn signed(
        &mut self,
        running: &mut Running,
        id: ExprId,
        sign: Sign,
        operands: Vec<(Val, ExprId)>,
        span: Span,
    ) -> Val {
        if let Some(op) = by_sign(sign) {
            return self.apply(running, &Job::plain(id, op, operands, span));
        }
        self.complaints.error(Code::UnknownOp, span, "there is no op for this sign");
        Val::Poison
    }

    fn list(&mut self, running: &mut Running, id: ExprId, parts: &[ExprId], span: Span) -> Val {
        let vals: Vec<Val> = parts.iter().map(|part| running.val(*part)).collect();
        let made = list(&vals, span, &mut self.complaints);
        let has_node = vals.iter().any(|val| matches!(val, Val::Node(_)));
        match (made, by_name(spell::LIST)) {
            // Only a formula's list may hold tensors.
            (Val::Parts, Some(op)) if crate::WHOLE && has_node && self.imports.is_some() => {
                let operands = vals.into_iter().zip(parts.iter().copied()).collect();
                let mut job = Job::plain(id, op, operands, span);
                job.meets = true;
                self.apply(running, &job)
            }
            (made, _) => made,
        }
    }
}
