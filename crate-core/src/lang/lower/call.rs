//! Calls: whose they are, which argument is which, and what becomes of them.

use std::collections::BTreeMap;

use super::Val;
use super::block::Callable;
use super::machine::{Machine, Running, Step};
use crate::lang::ast::{Argument, Call, ExprId, Ident};
use crate::lang::{Code, Span, spell};
use crate::ops::OpKind;
use crate::ops::def::ParamKind;

/// The arguments of a call, sorted.
pub(super) struct Sorted {
    pub(super) sources: Vec<(Val, ExprId)>,
    /// For each attribute of the row, what was given for it.
    pub(super) given: Vec<Vec<(Val, ExprId)>>,
    /// Attributes that were given as nodes, and the sources that these became.
    pub(super) nodes: Vec<(usize, usize)>,
}

impl<'a> Machine<'a> {
    /// `f(…)` or `x.f(…)`.
    pub(super) fn call(
        &mut self,
        running: &mut Running,
        id: ExprId,
        call: &'a Call,
        receiver: Option<ExprId>,
        span: Span,
    ) -> Step<'a> {
        let activation = self.activations.get(running.activation);
        let prefix = receiver.filter(|_| crate::WHOLE).and_then(|receiver| {
            let is_local = |name: &str| {
                matches!(running.val(receiver), Val::Node(_) | Val::Poison)
                    || activation.is_some_and(|a| a.formals.contains_key(name))
            };
            self.program.prefix(receiver, is_local)
        });
        let receiver = receiver.filter(|_| prefix.is_none());
        let mut positional: Vec<(Val, ExprId)> =
            receiver.into_iter().map(|id| (running.val(id), id)).collect();
        let mut named: Vec<(&'a Ident, Val, ExprId)> = Vec::new();
        for Argument { name, value } in &call.arguments {
            let val = running.val(*value);
            match name {
                None => positional.push((val, *value)),
                Some(name) => named.push((name, val, *value)),
            }
        }
        if crate::WHOLE && prefix.is_none() && self.program.has_function(&call.name.text) {
            let callable = self.program.function(&call.name.text);
            let formals = callable.and_then(|callable| {
                Some((callable, self.formals(running, callable, call, positional, named)?))
            });
            return match formals {
                Some((callable, formals)) => self.activate(running, id, callable, formals, span),
                None => Step::Made(Val::Poison),
            };
        }
        let Some(op) = spell::op(prefix, &call.name.text) else {
            self.program.unknown_op(&call.name, &mut self.complaints);
            for (val, id) in positional {
                if !matches!(val, Val::Text) {
                    self.no_value(running, &val, id);
                }
            }
            return Step::Made(Val::Poison);
        };
        let Some(sorted) = self.sort(running, op, call, positional, named) else {
            return Step::Made(Val::Poison);
        };
        Step::Made(self.with_attributes(running, id, op, call, sorted, span))
    }

    /// The values of a function's arguments; `None` after a complaint.
    fn formals(
        &mut self,
        running: &Running,
        callable: &'a Callable<'a>,
        call: &'a Call,
        positional: Vec<(Val, ExprId)>,
        named: Vec<(&'a Ident, Val, ExprId)>,
    ) -> Option<BTreeMap<&'a str, Val>> {
        let function = callable.function;
        let takes: Vec<&'a str> = function.formals.iter().map(|f| f.name.text.as_str()).collect();
        let takes_text = told!("`{}` takes {}", function.name.text, join(&takes));
        let mut formals: BTreeMap<&'a str, Val> = BTreeMap::new();
        let mut whole = true;
        if call.in_place {
            let message = "a fn has no in-place form; remove the `!`";
            self.complaints.error(Code::WrongArguments, call.name.span, message);
            whole = false;
        }
        let n_given = positional.len();
        for (ix, (val, id)) in positional.into_iter().enumerate() {
            let val = self.settled(running, val, id);
            if let Some(name) = takes.get(ix) {
                formals.insert(name, val);
            } else {
                let message = told!("{takes_text}, not {n_given} arguments");
                let span = self.program.ast.expr(id).span;
                self.complaints.error(Code::WrongArguments, span, message);
                whole = false;
            }
        }
        for (name, val, id) in named {
            let val = self.settled(running, val, id);
            let formal = takes.iter().find(|formal| **formal == name.text);
            if let Some(formal) = formal.filter(|formal| !formals.contains_key(**formal)) {
                formals.insert(formal, val);
            } else {
                let message = told!("{takes_text}, each once");
                let known = takes.iter().copied().filter(|f| !formals.contains_key(*f));
                self.complaints.unknown(Code::WrongArguments, name, message, known);
                whole = false;
            }
        }
        for formal in &function.formals {
            if formals.contains_key(formal.name.text.as_str()) {
                continue;
            }
            match formal.default {
                Some(default) => {
                    let val = self.constants().default(default);
                    formals.insert(&formal.name.text, val);
                }
                None if whole => {
                    let message = told!("{takes_text}; `{}` is missing", formal.name.text);
                    self.complaints.error(Code::WrongArguments, call.name.span, message);
                    whole = false;
                }
                None => {}
            }
        }
        whole.then_some(formals)
    }

    /// A value, after a complaint about what is none.
    pub(super) fn settled(&mut self, running: &Running, val: Val, id: ExprId) -> Val {
        match val {
            Val::Word | Val::Parts | Val::Text => {
                self.no_value(running, &val, id);
                Val::Poison
            }
            val => val,
        }
    }

    /// Tells tensors from attributes; `None` after a complaint.
    ///
    /// Tensors come first, as many as the row needs at least; of what follows, tensors go on as
    /// long as the row takes them, and everything else is an attribute, in the row's order.
    fn sort(
        &mut self,
        running: &Running,
        op: OpKind,
        call: &Call,
        positional: Vec<(Val, ExprId)>,
        named: Vec<(&'a Ident, Val, ExprId)>,
    ) -> Option<Sorted> {
        let def = op.def();
        let mut given: Vec<Vec<(Val, ExprId)>> = vec![Vec::new(); def.params.len()];
        let names: Vec<&str> = def.params.iter().map(|spec| spec.name).collect();
        let mut fits = true;
        for (name, val, id) in named {
            let slot = spell::param(op, &name.text).and_then(|ix| given.get_mut(ix));
            if let Some(slot) = slot.filter(|slot| slot.is_empty()) {
                slot.push((val, id));
                continue;
            }
            if !crate::WHOLE {
                self.complaints.beyond();
                return None;
            }
            let has = if names.is_empty() { "no attributes".to_owned() } else { join(&names) };
            let message = told!("`{}` has {has}, each once", call.name.text);
            let known = names.iter().copied();
            self.complaints.unknown(Code::WrongArguments, name, message, known);
            fits = false;
        }
        let is_node = |ix: usize| def.params.get(ix).is_some_and(|p| p.kind == ParamKind::Node);
        let n_nodes = (0..given.len())
            .filter(|&ix| is_node(ix) && given.get(ix).is_some_and(|slot| !slot.is_empty()))
            .count();
        let (min, max) =
            (def.arity.min.saturating_sub(n_nodes), def.arity.max.saturating_sub(n_nodes));
        let mut sources: Vec<(Val, ExprId)> = Vec::new();
        let mut next = 0;
        for (val, id) in positional {
            // What was named is taken, and a list of numbers may come one by one.
            let goes_on = |ix: usize, given: &[Vec<(Val, ExprId)>]| {
                let kind = def.params.get(ix).map(|spec| spec.kind);
                let listed = matches!(kind, Some(ParamKind::Axes | ParamKind::Ints));
                let before = given.get(ix).map_or(&[][..], Vec::as_slice);
                let is_scalar = |val: &Val| matches!(val, Val::Number(_) | Val::Word);
                before.is_empty()
                    || listed && is_scalar(&val) && before.iter().all(|(val, _)| is_scalar(val))
            };
            let mut slot = next;
            while slot < given.len() && (is_node(slot) || !goes_on(slot, &given)) {
                slot += 1;
            }
            let kind = def.params.get(slot).map(|spec| spec.kind);
            let takes_axis = matches!(kind, Some(ParamKind::Axis | ParamKind::Axes));
            let is_tensor = match &val {
                Val::Node(_) | Val::Poison => true,
                Val::Word | Val::Parts => !takes_axis,
                Val::Number(_) | Val::Bool(_) | Val::List(_) | Val::Text => kind.is_none(),
            };
            // A text is an attribute wherever the row has one for it.
            let is_text = matches!(val, Val::Text | Val::Word) && kind == Some(ParamKind::Text);
            if !is_text && (sources.len() < min || is_tensor && sources.len() < max) {
                sources.push((val, id));
            } else if let Some(slot_given) = given.get_mut(slot) {
                slot_given.push((val, id));
                next = slot;
            } else if !crate::WHOLE {
                self.complaints.beyond();
                return None;
            } else {
                let span = self.program.ast.expr(id).span;
                let tensors = plural(def.arity.max, "tensor");
                let attributes =
                    if names.is_empty() { String::new() } else { told!(" and {}", join(&names)) };
                let message = told!("`{}` takes {tensors}{attributes}", call.name.text);
                self.complaints.error(Code::WrongArguments, span, message);
                fits = false;
            }
        }
        // A node that was given by name is a source too.
        let mut nodes = Vec::new();
        for ix in (0..given.len()).filter(|&ix| is_node(ix)) {
            let slot = given.get_mut(ix)?;
            if !slot.is_empty() {
                nodes.push((ix, sources.len()));
            }
            sources.append(slot);
        }
        if !fits {
            for (val, id) in &sources {
                self.no_value(running, val, *id);
            }
        }
        fits.then_some(Sorted { sources, given, nodes })
    }
}

fn join(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => told!("`{one}`"),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(|name| told!("`{name}`")).collect();
            told!("{} and `{last}`", most.join(", "))
        }
    }
}

fn plural(n: usize, what: &str) -> String {
    match n {
        1 => told!("1 {what}"),
        usize::MAX => told!("{what}s"),
        n => told!("{n} {what}s"),
    }
}
