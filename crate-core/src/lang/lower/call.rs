//! Calls: whose they are, which argument is which, and what becomes of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Val;
use super::block::Callable;
use super::constant::{Const, constant, fold, folds, meet, whole, whole_numbers};
use super::machine::{Machine, Running, Step};
use crate::construct::{self, Apply};
use crate::graph::{Flags, Init, NodeId, NodeKind, Params, Value};
use crate::lang::ast::{Argument, Call, ExprId, ExprKind, Ident};
use crate::lang::source_map::NodeText;
use crate::lang::{Code, Span, spell};
use crate::ops::OpKind;
use crate::ops::def::{ParamKind, ShapeCx, defaults};
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

/// An op about to be applied.
pub(super) struct Job {
    /// The expression that it is.
    id: ExprId,
    op: OpKind,
    sources: Vec<(Val, ExprId)>,
    /// Attributes in the row's order; what is missing takes its default.
    pub(super) params: Vec<Value>,
    /// Where each attribute stands.
    pub(super) spans: Vec<Option<Span>>,
    in_place: bool,
    /// Whether numbers take the shape they meet.
    pub(super) meets: bool,
    span: Span,
}

impl Job {
    /// An op without attributes.
    pub(super) fn plain(id: ExprId, op: OpKind, sources: Vec<(Val, ExprId)>, span: Span) -> Self {
        let meets = op.def().stretches;
        let (params, spans) = (defaults(op.def()), Vec::new());
        Self { id, op, sources, params, spans, in_place: false, meets, span }
    }
}

/// The arguments of a call, sorted.
struct Sorted {
    sources: Vec<(Val, ExprId)>,
    /// For each attribute of the row, what was given for it.
    given: Vec<Vec<(Val, ExprId)>>,
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
        let activation = self.activations.get(running.activation());
        let prefix = receiver.and_then(|receiver| {
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
        if prefix.is_none() && self.program.has_function(&call.name.text) {
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
        let takes_text = format!("`{}` takes {}", function.name.text, join(&takes));
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
                let message = format!("{takes_text}, not {n_given} arguments");
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
                let message = format!("{takes_text}, each once");
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
                    let message = format!("{takes_text}; `{}` is missing", formal.name.text);
                    self.complaints.error(Code::WrongArguments, call.name.span, message);
                    whole = false;
                }
                None => {}
            }
        }
        whole.then_some(formals)
    }

    /// A value, after a complaint about what is none.
    fn settled(&mut self, running: &Running, val: Val, id: ExprId) -> Val {
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
            let has = if names.is_empty() { "no attributes".to_owned() } else { join(&names) };
            let message = format!("`{}` has {has}, each once", call.name.text);
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
            } else {
                let span = self.program.ast.expr(id).span;
                let tensors = plural(def.arity.max, "tensor");
                let attributes =
                    if names.is_empty() { String::new() } else { format!(" and {}", join(&names)) };
                let message = format!("`{}` takes {tensors}{attributes}", call.name.text);
                self.complaints.error(Code::WrongArguments, span, message);
                fits = false;
            }
        }
        // A node that was given by name is a source too.
        for ix in (0..given.len()).filter(|&ix| is_node(ix)) {
            sources.append(given.get_mut(ix)?);
        }
        if !fits {
            for (val, id) in &sources {
                self.no_value(running, val, *id);
            }
        }
        fits.then_some(Sorted { sources, given })
    }

    /// Applies an op with its attributes.
    fn with_attributes(
        &mut self,
        running: &mut Running,
        id: ExprId,
        op: OpKind,
        call: &Call,
        sorted: Sorted,
        span: Span,
    ) -> Val {
        let ast = self.program.ast;
        let first = sorted.sources.first().and_then(|(val, _)| self.ty(val));
        let mut params = defaults(op.def());
        let mut spans = vec![None; params.len()];
        let mut fits = true;
        for (ix, (given, spec)) in sorted.given.into_iter().zip(op.def().params).enumerate() {
            let Some((_, first_id)) = given.first() else {
                continue;
            };
            let is_none = |id: ExprId| matches!(&ast.expr(ast.core(id)).kind, ExprKind::Name(name) if name == "None");
            if is_none(*first_id) {
                continue;
            }
            let last_id = given.last().map_or(*first_id, |(_, id)| *id);
            let span = ast.expr(*first_id).span.to(ast.expr(last_id).span);
            let is_poison = given.iter().any(|(val, _)| matches!(val, Val::Poison));
            let value = self.attribute(running, spec.kind, given, first.as_ref());
            if let Some(slot) = spans.get_mut(ix) {
                *slot = Some(span);
            }
            match (value, params.get_mut(ix)) {
                (Ok(value), Some(slot)) => *slot = value,
                (Err(Some(wants)), _) if !is_poison => {
                    let reason = Reason::BadParam { param: spec.name, wants };
                    let name = running.name_of(id);
                    self.refuse(running, Some((op, name)), &reason, None, span);
                    fits = false;
                }
                _ => fits = false,
            }
        }
        let sources = sorted.sources;
        if !fits {
            for (val, id) in &sources {
                self.no_value(running, val, *id);
            }
            return Val::Poison;
        }
        let in_place = call.in_place;
        let meets = op.def().stretches;
        self.apply(running, &Job { id, op, sources, params, spans, in_place, meets, span })
    }

    /// The type of a source.
    fn ty(&self, val: &Val) -> Option<TensorType> {
        match val {
            Val::Node(node) => Some(self.graph.node(*node).ty),
            val => constant(val).map(|constant| constant.ty),
        }
    }

    /// The value of an attribute; what it should be, or nothing after a complaint.
    fn attribute(
        &mut self,
        running: &Running,
        kind: ParamKind,
        given: Vec<(Val, ExprId)>,
        first: Option<&TensorType>,
    ) -> Result<Value, Option<&'static str>> {
        let one = |given: &[(Val, ExprId)]| match given {
            [(val, id)] => Some((self.number_of(val), *id)),
            _ => None,
        };
        let single = one(&given);
        let wants = match kind {
            ParamKind::Num => "a number",
            ParamKind::Int => "a whole number",
            ParamKind::Bool => "true or false",
            ParamKind::Axis => "an axis",
            ParamKind::Axes => "an axis or a list of axes",
            ParamKind::Ints => "a list of whole numbers",
            ParamKind::Node => "a node",
            ParamKind::Index => "given in a bracket, as in x[0, 1:2]",
            ParamKind::Text => "a text in quotes",
        };
        match (kind, single) {
            (ParamKind::Num, Some((Val::Number(x), _))) => Ok(Value::Num(x)),
            (ParamKind::Text, Some((Val::Text | Val::Word, id))) => {
                let ast = self.program.ast;
                match &ast.expr(ast.core(id)).kind {
                    ExprKind::Text(text) | ExprKind::Name(text) => {
                        Ok(Value::Text(text.as_str().into()))
                    }
                    _ => Err(Some(wants)),
                }
            }
            (ParamKind::Int, Some((Val::Number(x), _))) => {
                whole(x).map(Value::Int).ok_or(Some(wants))
            }
            (ParamKind::Bool, Some((Val::Bool(x), _))) => Ok(Value::Bool(x)),
            (ParamKind::Num | ParamKind::Int | ParamKind::Bool, Some((Val::Word, id))) => {
                self.no_value(running, &Val::Word, id);
                Err(None)
            }
            (ParamKind::Axis | ParamKind::Axes | ParamKind::Ints, _) => {
                let listed = given.len() > 1;
                let mut whole = Vec::new();
                let mut is_list = listed;
                for (val, id) in given {
                    let (mut more, list) =
                        self.whole_list(running, kind, &val, id, first, wants)?;
                    whole.append(&mut more);
                    is_list |= list;
                }
                match whole.as_slice() {
                    &[one] if !is_list => Ok(Value::Int(one)),
                    _ if kind == ParamKind::Axis => Err(Some(wants)),
                    _ => Ok(Value::Ints(whole.into())),
                }
            }
            _ => Err(Some(wants)),
        }
    }

    /// Whole numbers or axis names, one or a list; whether it was a list.
    fn whole_list(
        &mut self,
        running: &Running,
        kind: ParamKind,
        val: &Val,
        id: ExprId,
        first: Option<&TensorType>,
        wants: &'static str,
    ) -> Result<(Vec<i64>, bool), Option<&'static str>> {
        let ast = self.program.ast;
        let core = ast.core(id);
        let expr = ast.expr(core);
        if let (ExprKind::Name(name), true) = (&expr.kind, kind != ParamKind::Ints) {
            if let Some(axis) = first.and_then(|ty| self.axis(ty, name)) {
                return Ok((vec![axis as i64], false));
            }
            if let (Val::Word, Some(first)) = (val, first) {
                self.unknown_axis(first, name, expr.span);
                return Err(None);
            }
        }
        match (self.number_of(val), &expr.kind) {
            (Val::Number(x), _) => whole(x).map(|x| (vec![x], false)).ok_or(Some(wants)),
            (Val::List(list), _) if list.ty.shape.rank() == 1 => {
                whole_numbers(&list.data).map(|list| (list, true)).ok_or(Some(wants))
            }
            (Val::Parts, ExprKind::List(parts)) => {
                let mut all = Vec::new();
                for part in parts {
                    // Lists are at most as deep as brackets.
                    if matches!(ast.expr(ast.core(*part)).kind, ExprKind::List(_)) {
                        return Err(Some(wants));
                    }
                    let val = running.val(*part);
                    let (mut one, _) = self.whole_list(running, kind, &val, *part, first, wants)?;
                    all.append(&mut one);
                }
                Ok((all, true))
            }
            (Val::Word, _) => {
                self.no_value(running, val, id);
                Err(None)
            }
            _ => Err(Some(wants)),
        }
    }

    /// The number that a name stands for where only a number can stand.
    fn number_of(&self, val: &Val) -> Val {
        let Val::Node(node) = val else {
            return val.clone();
        };
        let node = self.graph.node(*node);
        match &node.kind {
            NodeKind::Leaf(Init::Fill(x)) if node.ty.shape.rank() == 0 && !node.flags.param => {
                Val::Number(*x)
            }
            _ => val.clone(),
        }
    }

    /// Makes a node, or a number where there are only numbers.
    pub(super) fn apply(&mut self, running: &mut Running, job: &Job) -> Val {
        let ast = self.program.ast;
        let mut sources = Vec::with_capacity(job.sources.len());
        for (val, id) in &job.sources {
            sources.push((self.settled(running, val.clone(), *id), *id));
        }
        if sources.iter().any(|(val, _)| matches!(val, Val::Poison)) {
            return Val::Poison;
        }
        let def = job.op.def();
        let params = Params::new(job.params.clone());
        let about = Some((job.op, running.name.clone()));
        let (min, max, got) = (def.arity.min, def.arity.max, sources.len());
        if got < min || got > max {
            self.refuse(running, about, &Reason::Arity { min, max, got }, None, job.span);
            return Val::Poison;
        }
        let constants: Vec<Option<Const>> = sources.iter().map(|(val, _)| constant(val)).collect();
        let all: Option<Vec<Const>> = constants.iter().cloned().collect();
        if let Some(all) = all.filter(|_| folds(job.op) && !job.in_place) {
            return match fold(job.op, &all, &params, self.rules, self.budget) {
                Ok(val) => val,
                Err(reason) => {
                    let (src, span) = self.blame(&reason, job);
                    self.refuse(running, about, &reason, src, span);
                    Val::Poison
                }
            };
        }
        let name = running.name_of(job.id);
        let about = Some((job.op, name.clone()));
        let mut types: Vec<TensorType> = Vec::with_capacity(sources.len());
        for (val, _) in &sources {
            types.push(self.ty(val).unwrap_or(TensorType::f32(Shape::SCALAR)));
        }
        if job.meets {
            let numbers =
                constants.iter().map(|c| c.as_ref().is_some_and(|c| c.ty.shape.rank() == 0));
            meet(&mut types, numbers);
        }
        let cx = ShapeCx { src: &types, params: &params, broadcast: self.rules.broadcast() };
        if let Err(reason) = (def.shape)(&cx) {
            let (src, span) = self.blame(&reason, job);
            self.refuse(running, about, &reason, src, span);
            return Val::Poison;
        }
        let mut src: Vec<NodeId> = Vec::with_capacity(sources.len());
        let mut operands = Vec::with_capacity(sources.len());
        for (((val, id), constant), ty) in sources.iter().zip(&constants).zip(types) {
            let span = ast.expr(*id).span;
            operands.push(span);
            let node = match (val, constant) {
                (Val::Node(node), _) => Some(*node),
                (_, Some(constant)) => self.inline(running, constant, ty, span),
                _ => None,
            };
            let Some(node) = node else {
                return Val::Poison;
            };
            src.push(node);
        }
        let name: Option<Arc<str>> = self.names_nodes().then(|| Arc::from(name.as_str()));
        let what =
            Apply { op: job.op, src: &src, params, name: name.clone(), in_place: job.in_place };
        match construct::apply(&mut self.graph, self.budget, self.rules, what) {
            Ok(node) => {
                let span = ast.expr(job.id).span;
                let text = NodeText { span, line: running.line, operands, site: running.site };
                self.note(node, name, text);
                Val::Node(node)
            }
            Err(reason) => {
                let (src, span) = self.blame(&reason, job);
                self.refuse(running, about, &reason, src, span);
                Val::Poison
            }
        }
    }

    /// A number or a list beside a tensor: a leaf without a name.
    fn inline(
        &mut self,
        running: &Running,
        constant: &Const,
        ty: TensorType,
        span: Span,
    ) -> Option<NodeId> {
        let init = match constant.data.as_ref() {
            [x] => Init::Fill(*x),
            _ => Init::Literal(Arc::clone(&constant.data)),
        };
        let flags = Flags { inline: true, ..Flags::default() };
        let text = NodeText { span, line: running.line, operands: Vec::new(), site: running.site };
        self.add_leaf(ty, init, None, flags, text)
    }

    /// The operand to blame, and the text to underline.
    fn blame(&self, reason: &Reason, job: &Job) -> (Option<usize>, Span) {
        let src = match reason {
            Reason::FirstWouldStretch { .. }
            | Reason::BadShape { .. }
            | Reason::NoSuchAxis { .. }
            | Reason::SrcDtype { .. } => Some(0),
            Reason::NotBroadcastable { .. } | Reason::ShapesDisagree { .. } => Some(1),
            _ => None,
        };
        let src = src.filter(|&ix| ix < job.sources.len());
        let operand = src.and_then(|ix| job.sources.get(ix));
        let operand = operand.map(|(_, id)| self.program.ast.expr(*id).span);
        let attribute = |wanted: &dyn Fn(&crate::ops::def::ParamSpec) -> bool| {
            let ix = job.op.def().params.iter().position(wanted)?;
            job.spans.get(ix).copied().flatten()
        };
        let span = match reason {
            Reason::BadParam { param, .. } => attribute(&|spec| spec.name == *param),
            Reason::NoSuchAxis { .. } => {
                attribute(&|spec| matches!(spec.kind, ParamKind::Axis | ParamKind::Axes))
                    .or(operand)
            }
            _ => operand,
        };
        (src, span.unwrap_or(job.span))
    }
}

fn join(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => format!("`{one}`"),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(|name| format!("`{name}`")).collect();
            format!("{} and `{last}`", most.join(", "))
        }
    }
}

fn plural(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        usize::MAX => format!("{what}s"),
        n => format!("{n} {what}s"),
    }
}
