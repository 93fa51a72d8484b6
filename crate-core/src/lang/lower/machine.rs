//! Makes nodes in the order of the text, each line that is needed earlier just before its first user.
//!
//! Lines and calls wait on a stack of their own, so neither long chains nor deep calls recurse.
//! Within a line the parts of an expression stand before the whole, so one pass makes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::block::{Block, Callable, Makes, Program, cycle};
use super::constant::{ConstCx, Literal, constant, list};
use super::{Complaints, Lowered, ReadFile, Val};
use crate::construct::{self, Budget};
use crate::graph::{Flags, Graph, Index, Init, NodeId, Value};
use crate::lang::ast::{Expr, ExprId, ExprKind, Ident, IndexKind, Leaf, LeafRole};
use crate::lang::lex::Infix;
use crate::lang::source_map::{NodeText, SourceMap};
use crate::lang::suggest::nearest;
use crate::lang::{About, Code, Diagnostic, Span, TextEdit, spell};
use crate::ops::def::Sign;
use crate::ops::{OpKind, by_name, by_sign};
use crate::refusal::{Limit, Reason};
use crate::rules::RuleSet;
use crate::tensor::{MAX_RANK, TensorType};

use super::call::Job;

/// How far a line of an activation is.
#[derive(Clone, Debug)]
enum State {
    New,
    /// It is being made: whoever needs it now needs itself.
    Doing,
    Done(Val),
}

/// The document, or one call of a function.
pub(super) struct Activation<'a> {
    /// `None` for the document.
    callable: Option<&'a Callable<'a>>,
    pub(super) formals: BTreeMap<&'a str, Val>,
    states: Vec<State>,
    /// What stands before the names of its lines: `r.`, or nothing.
    prefix: String,
    /// The name of the call.
    name: String,
    /// How many derived names the call's own line has.
    n_derived: usize,
    /// Where the outermost call stands.
    site: Option<Span>,
    /// How many nodes there were before the call, where it took a derived name.
    before: Option<usize>,
}

/// What becomes of an expression's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// It is the value of this line.
    Line(usize),
    /// It is the value of the call.
    Return,
    /// It is a formula's.
    Formula,
}

/// An expression while its parts are made.
pub(super) struct Running {
    activation: usize,
    purpose: Purpose,
    first: usize,
    at: usize,
    root: ExprId,
    /// The part that gets the line's own name.
    top: ExprId,
    vals: Vec<Val>,
    pub(super) name: String,
    n_derived: usize,
    pub(super) line: Span,
    pub(super) site: Option<Span>,
}

enum Task {
    /// The lines of an activation from this one on.
    Lines(usize, usize),
    Expr(Running),
}

/// What a part of an expression asks for.
pub(super) enum Step<'a> {
    Made(Val),
    /// This line must be made first.
    Needs(usize),
    /// This call must be made first.
    Calls(Activation<'a>),
}

/// The document's nodes, for a formula that reads them.
pub(super) struct Imports<'a> {
    pub(super) graph: &'a Graph,
    pub(super) names: &'a BTreeMap<Arc<str>, NodeId>,
    /// The formula's leaf for each node of the document that it reads.
    made: BTreeMap<NodeId, NodeId>,
}

/// What is known after all lines have been made.
pub(super) struct Output {
    pub(super) lowered: Lowered,
    pub(super) complaints: Complaints,
}

pub(super) struct Machine<'a> {
    pub(super) program: &'a Program<'a>,
    pub(super) budget: &'a Budget,
    pub(super) rules: RuleSet,
    files: ReadFile<'a>,
    pub(super) complaints: Complaints,
    pub(super) graph: Graph,
    map: SourceMap,
    names: BTreeMap<Arc<str>, NodeId>,
    tasks: Vec<Task>,
    pub(super) activations: Vec<Activation<'a>>,
    /// Nodes that write into another's storage, by its owner.
    writes: BTreeMap<NodeId, Vec<NodeId>>,
    n_calls: usize,
    n_parts: usize,
    /// A bound was met: nothing more is made.
    pub(super) stopped: bool,
    imports: Option<Imports<'a>>,
    result: Option<Val>,
}

impl<'a> Machine<'a> {
    /// Parts of expressions that are looked at, calls counted each time.
    const MAX_PARTS: usize = 1 << 24;

    pub(super) fn new(
        program: &'a Program<'a>,
        budget: &'a Budget,
        rules: RuleSet,
        files: ReadFile<'a>,
        complaints: Complaints,
    ) -> Self {
        Self {
            program,
            budget,
            rules,
            files,
            complaints,
            graph: Graph::default(),
            map: SourceMap::default(),
            names: BTreeMap::new(),
            tasks: Vec::new(),
            activations: Vec::new(),
            writes: BTreeMap::new(),
            n_calls: 0,
            n_parts: 0,
            stopped: false,
            imports: None,
            result: None,
        }
    }

    /// Makes all lines of the document.
    pub(super) fn run(&mut self) {
        self.activations.push(Activation {
            callable: None,
            formals: BTreeMap::new(),
            states: vec![State::New; self.program.document.lines.len()],
            prefix: String::new(),
            name: String::new(),
            n_derived: 0,
            site: None,
            before: None,
        });
        self.tasks.push(Task::Lines(0, 0));
        self.go();
    }

    /// Makes a formula in a graph of its own; the nodes that it reads are leaves there.
    pub(super) fn formula(
        mut self,
        imports: Imports<'a>,
        root: ExprId,
        line: Span,
    ) -> (Option<Val>, Graph, Vec<(NodeId, NodeId)>, Complaints) {
        self.imports = Some(imports);
        self.activations.push(Activation {
            callable: None,
            formals: BTreeMap::new(),
            states: Vec::new(),
            prefix: String::new(),
            name: String::new(),
            n_derived: 0,
            site: None,
            before: None,
        });
        let running = self.running(0, Purpose::Formula, root, String::new(), line);
        self.tasks.push(Task::Expr(running));
        self.go();
        let made = self.imports.map(|imports| imports.made).unwrap_or_default();
        let inputs = made.into_iter().map(|(node, leaf)| (leaf, node)).collect();
        (self.result, self.graph, inputs, self.complaints)
    }

    pub(super) fn finish(self) -> Output {
        let names = self.names;
        let mut valueless = Vec::new();
        let states = self.activations.first().map(|document| document.states.as_slice());
        for (line, state) in self.program.document.lines.iter().zip(states.unwrap_or(&[])) {
            if !matches!(state, State::Done(Val::Node(_))) {
                valueless.push(line.makes.name().clone());
            }
        }
        let lowered = Lowered {
            rules: self.rules,
            graph: self.graph,
            map: self.map,
            names,
            valueless,
            ..Lowered::default()
        };
        Output { lowered, complaints: self.complaints }
    }

    fn block(&self, activation: usize) -> Option<&'a Block<'a>> {
        match self.activations.get(activation)?.callable {
            Some(callable) => Some(&callable.body),
            None if self.imports.is_some() => None,
            None => Some(&self.program.document),
        }
    }

    fn go(&mut self) {
        while let Some(task) = self.tasks.pop().filter(|_| !self.stopped) {
            match task {
                Task::Lines(activation, next) => self.lines(activation, next),
                Task::Expr(running) => self.expr(running),
            }
        }
    }

    fn lines(&mut self, activation: usize, next: usize) {
        let states = self.activations.get(activation).map_or(&[][..], |a| a.states.as_slice());
        let new = states.iter().skip(next).position(|state| matches!(state, State::New));
        if let Some(skipped) = new {
            self.tasks.push(Task::Lines(activation, next + skipped + 1));
            self.start(activation, next + skipped);
            return;
        }
        let Some(call) = self.activations.get(activation) else {
            return;
        };
        if let Some(callable) = call.callable {
            let (name, n_derived) = (call.name.clone(), call.n_derived);
            let (result, line) = (callable.result, callable.result_span);
            let mut running = self.running(activation, Purpose::Return, result, name, line);
            running.n_derived = n_derived;
            self.tasks.push(Task::Expr(running));
        }
    }

    /// Begins a line, and ends it where it has no parts to wait for.
    fn start(&mut self, activation: usize, ix: usize) {
        let Some(&line) = self.block(activation).and_then(|block| block.lines.get(ix)) else {
            return;
        };
        let prefix = self.activations.get(activation).map_or("", |a| a.prefix.as_str());
        let name = format!("{prefix}{}", line.makes.name().text);
        let state = match line.makes {
            Makes::Nothing(_) => State::Done(Val::Poison),
            Makes::Leaf(leaf) => {
                let site = self.activations.get(activation).and_then(|a| a.site);
                let made = self.leaf(leaf, &name, line.span, site);
                State::Done(made.map_or(Val::Poison, Val::Node))
            }
            Makes::Value(_, value) => {
                let running = self.running(activation, Purpose::Line(ix), value, name, line.span);
                self.tasks.push(Task::Expr(running));
                State::Doing
            }
        };
        self.set_state(activation, ix, state);
    }

    fn set_state(&mut self, activation: usize, ix: usize, state: State) {
        let states = self.activations.get_mut(activation).map(|a| &mut a.states);
        if let Some(slot) = states.and_then(|states| states.get_mut(ix)) {
            *slot = state;
        }
    }

    fn running(
        &self,
        activation: usize,
        purpose: Purpose,
        root: ExprId,
        name: String,
        line: Span,
    ) -> Running {
        let ast = self.program.ast;
        let first = ast.parts(root).next().map_or(root.index(), ExprId::index);
        let site = self.activations.get(activation).and_then(|a| a.site);
        let top = ast.core(root);
        let vals = Vec::with_capacity(root.index() - first + 1);
        Running {
            activation,
            purpose,
            first,
            at: first,
            root,
            top,
            vals,
            name,
            n_derived: 0,
            line,
            site,
        }
    }

    /// Goes through the parts of an expression until one must wait, or all are made.
    fn expr(&mut self, mut running: Running) {
        let ast = self.program.ast;
        for id in ast.parts(running.root).skip(running.at - running.first) {
            self.n_parts += 1;
            if self.n_parts > Self::MAX_PARTS {
                let reason = Reason::Budget { limit: Limit::Nodes, max: self.budget.nodes as u64 };
                self.refuse(&running, None, &reason, None, running.line);
            }
            if self.stopped {
                return;
            }
            let step = self.part(&mut running, id, ast.expr(id));
            match step {
                Step::Made(val) => {
                    running.vals.push(val);
                    running.at += 1;
                }
                Step::Needs(line) => {
                    let activation = running.activation;
                    self.tasks.push(Task::Expr(running));
                    self.start(activation, line);
                    return;
                }
                Step::Calls(activation) => {
                    self.tasks.push(Task::Expr(running));
                    self.tasks.push(Task::Lines(self.activations.len(), 0));
                    self.activations.push(activation);
                    return;
                }
            }
        }
        self.end(running);
    }

    /// An expression has its value.
    fn end(&mut self, mut running: Running) {
        let val = running.vals.pop().unwrap_or(Val::Poison);
        let val = self.named(&mut running, val);
        match running.purpose {
            Purpose::Line(ix) => self.set_state(running.activation, ix, State::Done(val)),
            Purpose::Formula => self.result = Some(val),
            Purpose::Return => {
                let before = self.activations.get(running.activation).and_then(|a| a.before);
                self.activations.truncate(running.activation);
                if let Some(Task::Expr(caller)) = self.tasks.last_mut() {
                    // A call that made nothing but a number takes no name.
                    caller.n_derived -= usize::from(before == Some(self.graph.len()));
                    caller.vals.push(val);
                    caller.at += 1;
                }
            }
        }
    }

    /// Gives a line's value the line's name: a node of its own, where it is another line's node or
    /// no node at all.
    fn named(&mut self, running: &mut Running, val: Val) -> Val {
        let top = running.top;
        let expr = self.program.ast.expr(top);
        let is_line = matches!(running.purpose, Purpose::Line(_));
        match val {
            Val::Node(_) if running.purpose == Purpose::Formula => val,
            Val::Node(_) if matches!(expr.kind, ExprKind::Name(_)) => {
                let Some(op) = by_name(spell::PLAIN) else {
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
    fn part(&mut self, running: &mut Running, id: ExprId, expr: &'a Expr) -> Step<'a> {
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
            (Val::Parts, Some(op)) if has_node && self.imports.is_some() => {
                let operands = vals.into_iter().zip(parts.iter().copied()).collect();
                let mut job = Job::plain(id, op, operands, span);
                job.meets = true;
                self.apply(running, &job)
            }
            (made, _) => made,
        }
    }

    /// A name that an expression reads.
    fn read(&mut self, running: &Running, name: &str, span: Span) -> Step<'a> {
        let Some(activation) = self.activations.get(running.activation) else {
            return Step::Made(Val::Poison);
        };
        if let Some(val) = activation.formals.get(name).cloned() {
            return Step::Made(self.current(val));
        }
        let block = self.block(running.activation);
        let Some(&ix) = block.and_then(|block| block.by_name.get(name)) else {
            return Step::Made(self.import(running, name));
        };
        let state =
            self.activations.get(running.activation).and_then(|a| a.states.get(ix)).cloned();
        match state {
            Some(State::New) => Step::Needs(ix),
            Some(State::Done(val)) => Step::Made(self.current(val)),
            Some(State::Doing) | None => {
                let is_full = self.complaints.is_full();
                let message =
                    if is_full { String::new() } else { self.way_back(running.activation, ix) };
                self.complaints.error(Code::Cycle, span, message);
                Step::Made(Val::Poison)
            }
        }
    }

    /// The lines that wait for each other, from the one that is needed again.
    fn way_back(&self, activation: usize, ix: usize) -> String {
        let Some(block) = self.block(activation) else {
            return String::new();
        };
        let waiting = self.tasks.iter().filter_map(|task| match task {
            Task::Expr(Running { activation: a, purpose: Purpose::Line(ix), .. })
                if *a == activation =>
            {
                Some(*ix)
            }
            _ => None,
        });
        // The line that is running is not on the stack; it is the last that was begun.
        let states = self.activations.get(activation).map_or(&[][..], |a| a.states.as_slice());
        let on_stack: Vec<usize> = waiting.collect();
        let running = states
            .iter()
            .enumerate()
            .find(|(other, state)| matches!(state, State::Doing) && !on_stack.contains(other));
        let from = on_stack.iter().position(|other| *other == ix).unwrap_or(on_stack.len());
        let way = on_stack.into_iter().skip(from).chain(running.map(|(other, _)| other));
        let names: Vec<&str> = way
            .filter_map(|ix| block.lines.get(ix))
            .map(|line| line.makes.name().text.as_str())
            .collect();
        cycle(names.into_iter(), "needs")
    }

    /// A document's node as a leaf of the formula that reads it.
    fn import(&mut self, running: &Running, name: &str) -> Val {
        let Some(imports) = self.imports.as_ref().filter(|_| running.activation == 0) else {
            return Val::Word;
        };
        let Some(&node) = imports.names.get(name) else {
            let is_known = self.program.document.by_name.contains_key(name);
            return if is_known { Val::Poison } else { Val::Word };
        };
        if let Some(&leaf) = imports.made.get(&node) {
            return Val::Node(leaf);
        }
        let of = imports.graph.node(node);
        let mut ty = of.ty.as_f32();
        let axes = of.ty.axes.map(|axis| axis.map(|axis| imports.graph.axis_name(axis)));
        for (slot, name) in ty.axes.iter_mut().zip(axes) {
            *slot = name.and_then(|name| self.graph.intern_axis(name));
        }
        let text = NodeText { line: running.line, ..NodeText::default() };
        let Some(leaf) = self.add_leaf(ty, Init::Fill(0.0), None, Flags::default(), text) else {
            return Val::Poison;
        };
        if let Some(imports) = &mut self.imports {
            imports.made.insert(node, leaf);
        }
        Val::Node(leaf)
    }

    /// The node that holds what a name means now: an in-place write gives it a new one.
    fn current(&self, val: Val) -> Val {
        let Val::Node(node) = val else {
            return val;
        };
        let (view, shape) = (self.graph.storage(node), self.graph.node(node).ty.shape);
        let writes = self.writes.get(&view.root).map_or(&[][..], Vec::as_slice);
        let newest = writes.iter().rev().take_while(|write| **write > node).find(|write| {
            self.graph.storage(**write) == view && self.graph.node(**write).ty.shape == shape
        });
        Val::Node(newest.copied().unwrap_or(node))
    }

    /// Begins a call: its arguments are there.
    pub(super) fn activate(
        &mut self,
        running: &mut Running,
        id: ExprId,
        callable: &'a Callable<'a>,
        formals: BTreeMap<&'a str, Val>,
        span: Span,
    ) -> Step<'a> {
        self.n_calls += 1;
        if self.n_calls > self.budget.nodes {
            let reason = Reason::Budget { limit: Limit::Nodes, max: self.budget.nodes as u64 };
            self.refuse(running, None, &reason, None, span);
            return Step::Made(Val::Poison);
        }
        let n_derived = if id == running.top { running.n_derived } else { 0 };
        let name = running.name_of(id);
        Step::Calls(Activation {
            callable: Some(callable),
            formals,
            states: vec![State::New; callable.body.lines.len()],
            prefix: format!("{name}."),
            name,
            n_derived,
            site: Some(running.site.unwrap_or(span)),
            before: (id != running.top).then(|| self.graph.len()),
        })
    }

    /// A name without a value, a list or a text where a tensor should stand.
    pub(super) fn no_value(&mut self, running: &Running, val: &Val, id: ExprId) {
        let ast = self.program.ast;
        let core = ast.core(id);
        let expr = ast.expr(core);
        match (val, &expr.kind) {
            (Val::Word, ExprKind::Name(name)) => self.unknown_name(running, name, expr.span),
            (Val::Parts, ExprKind::List(parts)) => {
                let words: Vec<(ExprId, Val)> =
                    parts.iter().map(|part| (*part, running.val(*part))).collect();
                let mut any = false;
                for (part, val) in words.iter().filter(|(_, val)| matches!(val, Val::Word)) {
                    self.no_value(running, val, *part);
                    any = true;
                }
                if !any {
                    let message = "a list holds numbers; a tensor cannot stand in it";
                    self.complaints.error(Code::BadLiteral, expr.span, message);
                }
            }
            (Val::Text, _) => {
                let message =
                    "a text stands only in `load(\"file\")` and in attributes that take one";
                self.complaints.error(Code::WrongArguments, expr.span, message);
            }
            _ => {}
        }
    }

    fn unknown_name(&mut self, running: &Running, name: &str, span: Span) {
        let ident = Ident { text: name.to_owned(), span };
        let is_document = running.activation == 0;
        let document = &self.program.document;
        if super::constant::is_generator(name) {
            let message = format!("`{name}` fills a leaf; write `const NAME [SHAPE] = {name}`");
            self.complaints.error(Code::UnknownName, span, message);
            return;
        }
        if !is_document && document.by_name.contains_key(name) {
            let message = format!("a fn reads only its arguments; pass `{name}` to it");
            self.complaints.error(Code::UnknownName, span, message);
            return;
        }
        let formals = self.activations.get(running.activation).map(|a| a.formals.keys().copied());
        let lines = match self.block(running.activation) {
            Some(block) => block,
            None => document,
        };
        let known: Vec<&str> =
            formals.into_iter().flatten().chain(lines.by_name.keys().copied()).collect();
        let message = format!("nothing is called `{name}`");
        self.complaints.unknown(Code::UnknownName, &ident, message, known);
    }

    /// Says why a node could not be made; a bound that was met ends everything.
    pub(super) fn refuse(
        &mut self,
        running: &Running,
        about: Option<(OpKind, String)>,
        reason: &Reason,
        src: Option<usize>,
        span: Span,
    ) {
        if matches!(reason, Reason::Budget { limit: Limit::Nodes | Limit::Elements, .. }) {
            self.stopped = true;
        }
        let (op, node) = about.map_or((None, running.name.clone()), |(op, node)| (Some(op), node));
        let word = op.map_or("", |op| self.rules.op_name(op));
        let node = if node.is_empty() { "this formula".to_owned() } else { node };
        let name = |id: NodeId| {
            let name = self.graph.get(id).and_then(|node| node.name.as_deref());
            name.unwrap_or("a number").to_owned()
        };
        let message = reason.sentence(word, &node, src, &name);
        let mut diagnostic = Diagnostic::error(reason.code(), span, message);
        if let Reason::FirstWouldStretch { a, b } = reason
            && RuleSet::Numpy.broadcast().allows(*a, *b)
            && self.imports.is_none()
        {
            let (ast, text) = (self.program.ast, self.program.text);
            let edit = super::use_rules(ast, text, RuleSet::Numpy);
            diagnostic = diagnostic.fix("Use rules numpy", edit);
        }
        diagnostic.about = Some(About { node, op, src });
        self.complaints.add(diagnostic);
    }

    fn leaf(&mut self, leaf: &Leaf, name: &str, line: Span, site: Option<Span>) -> Option<NodeId> {
        let mut cx = self.constants();
        let shape = leaf.shape.as_ref().map(|text| cx.shape(text));
        let dtype = cx.dtype(leaf.dtype.as_ref());
        let literal = cx.literal(leaf.value);
        let (shape, axes) = match shape {
            Some(given) => given.map(|(shape, axes)| (Some(shape), axes))?,
            None => (None, Vec::new()),
        };
        let (dtype, literal) = (dtype?, literal?);
        let span = cx.ast.expr(leaf.value).span;
        let (shape, init) = cx.init(literal, shape, dtype, span)?;
        let mut ty = TensorType { dtype, ..TensorType::f32(shape) };
        for (slot, name) in ty.axes.iter_mut().zip(axes) {
            *slot = name.and_then(|name| self.graph.intern_axis(name));
        }
        let flags = Flags { param: leaf.role == LeafRole::Param, ..Flags::default() };
        let text = NodeText { span: line, line, operands: Vec::new(), site };
        self.add_leaf(ty, init, Some(Arc::from(name)), flags, text)
    }

    pub(super) fn constants(&mut self) -> ConstCx<'_> {
        ConstCx {
            ast: self.program.ast,
            rules: self.rules,
            budget: self.budget,
            files: self.files,
            complaints: &mut self.complaints,
        }
    }

    /// Appends a leaf; complains where a bound is met.
    pub(super) fn add_leaf(
        &mut self,
        ty: TensorType,
        init: Init,
        name: Option<Arc<str>>,
        flags: Flags,
        text: NodeText,
    ) -> Option<NodeId> {
        match construct::leaf(&mut self.graph, self.budget, ty, init, name.clone(), flags) {
            Ok(node) => {
                self.note(node, name, text);
                Some(node)
            }
            Err(reason) => {
                let name = name.map_or_else(|| "this number".to_owned(), |name| name.to_string());
                self.stopped |=
                    matches!(reason, Reason::Budget { limit: Limit::Nodes | Limit::Elements, .. });
                let message = reason.sentence("", &name, None, &|_| String::new());
                let mut diagnostic = Diagnostic::error(reason.code(), text.line, message);
                diagnostic.about = Some(About { node: name, op: None, src: None });
                self.complaints.add(diagnostic);
                None
            }
        }
    }

    /// Notes the name, the text and the writes of a node that was just appended.
    pub(super) fn note(&mut self, node: NodeId, name: Option<Arc<str>>, text: NodeText) {
        self.map.push(text);
        if let Some(name) = name {
            self.names.entry(name).or_insert(node);
        }
        if self.graph.node(node).flags.in_place {
            self.writes.entry(self.graph.storage(node).root).or_default().push(node);
        }
    }

    /// Whether names are given at all: a formula's nodes have none.
    pub(super) const fn names_nodes(&self) -> bool {
        self.imports.is_none()
    }

    /// The axis of a tensor that has this name.
    pub(super) fn axis(&self, ty: &TensorType, name: &str) -> Option<usize> {
        let axes = ty.axes.iter().take(ty.shape.rank().min(MAX_RANK));
        let mut names = axes.map(|axis| axis.map(|axis| self.graph.axis_name(axis)));
        names.position(|axis| axis == Some(name))
    }

    /// The fix for a misspelt axis name.
    pub(super) fn unknown_axis(&mut self, ty: &TensorType, name: &str, span: Span) {
        let known: Vec<&str> =
            ty.axes.iter().flatten().map(|axis| self.graph.axis_name(*axis)).collect();
        let message = if known.is_empty() {
            format!("no axis is called `{name}`; count axes from 0 on the left")
        } else {
            format!("no axis is called `{name}`; here are {}", known.join(", "))
        };
        let diagnostic = Diagnostic::error(Code::WrongArguments, span, message);
        let diagnostic = match nearest(name, known) {
            Some(meant) => {
                diagnostic.fix(format!("Write `{meant}`"), TextEdit::replace(span, meant))
            }
            None => diagnostic,
        };
        self.complaints.add(diagnostic);
    }
}

impl Running {
    /// The value of a part that has been made.
    pub(super) fn val(&self, id: ExprId) -> Val {
        let ix = id.index().checked_sub(self.first);
        ix.and_then(|ix| self.vals.get(ix)).cloned().unwrap_or(Val::Poison)
    }

    /// The name that a part's node gets.
    pub(super) fn name_of(&mut self, id: ExprId) -> String {
        if id == self.top {
            return self.name.clone();
        }
        self.n_derived += 1;
        format!("{}.{}", self.name, self.n_derived)
    }

    pub(super) const fn activation(&self) -> usize {
        self.activation
    }
}

impl<'a> Imports<'a> {
    pub(super) fn new(lowered: &'a Lowered) -> Self {
        Self { graph: &lowered.graph, names: &lowered.names, made: BTreeMap::new() }
    }
}

impl ConstCx<'_> {
    /// A number or a list as the default of an argument.
    pub(super) fn default(&mut self, value: ExprId) -> Val {
        self.value(value).unwrap_or(Val::Poison)
    }
}

/// What a cotangent or an accumulator starts from: the shape is the node's where none is given.
pub(super) fn given(
    cx: &mut ConstCx<'_>,
    value: ExprId,
    shape: Option<crate::tensor::Shape>,
    node: crate::tensor::Shape,
) -> Option<crate::autodiff::Given> {
    let literal = cx.literal(value)?;
    let own = matches!(literal, Literal::List(_)) && shape.is_none();
    let span = cx.ast.expr(value).span;
    let shape = if own { None } else { Some(shape.unwrap_or(node)) };
    let (shape, init) = cx.init(literal, shape, crate::tensor::DType::F32, span)?;
    Some(crate::autodiff::Given { shape, init })
}
