//! Makes nodes in the order of the text, each line that is needed earlier just before its first user.
//!
//! Lines and calls wait on a stack of their own, so neither long chains nor deep calls recurse.
//! Within a line the parts of an expression stand before the whole, so one pass makes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::block::{Block, Callable, Makes, Program};
use super::{Called, Complaints, Lowered, ReadFile, Unmade, Val};
use crate::construct::Budget;
use crate::graph::{Graph, NodeId, View};
use crate::lang::Span;
use crate::lang::ast::ExprId;
use crate::lang::source_map::SourceMap;
use crate::refusal::{Limit, Reason};
use crate::rules::RuleSet;
use crate::tensor::{MAX_RANK, Shape, TensorType};

/// How far a line of an activation is.
#[derive(Clone, Debug)]
pub(super) enum State {
    New,
    /// It is being made: whoever needs it now needs itself.
    Doing,
    Done(Val),
}

/// The document, or one call of a function.
pub(super) struct Activation<'a> {
    /// `None` for the document.
    pub(super) callable: Option<&'a Callable<'a>>,
    pub(super) formals: BTreeMap<&'a str, Val>,
    pub(super) states: Vec<State>,
    /// What stands before the names of its lines: `r.`, or nothing.
    pub(super) prefix: String,
    /// The name of the call.
    pub(super) name: String,
    /// How many derived names the call's own line has.
    pub(super) n_derived: usize,
    /// Where the outermost call stands.
    pub(super) site: Option<Span>,
    /// How many nodes there were before the call, where it took a derived name.
    pub(super) before: Option<usize>,
}

/// What becomes of an expression's value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is the value of this line.
    Line(usize),
    /// It is the value of the call.
    Return,
    /// It is a formula's.
    Formula,
}

/// An expression while its parts are made.
pub(super) struct Running {
    pub(super) activation: usize,
    pub(super) purpose: Purpose,
    pub(super) first: usize,
    pub(super) at: usize,
    pub(super) root: ExprId,
    /// The part that gets the line's own name.
    pub(super) top: ExprId,
    pub(super) vals: Vec<Val>,
    pub(super) name: String,
    pub(super) n_derived: usize,
    pub(super) line: Span,
    pub(super) site: Option<Span>,
}

pub(super) enum Task {
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
    pub(super) made: BTreeMap<NodeId, NodeId>,
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
    pub(super) files: ReadFile<'a>,
    pub(super) complaints: Complaints,
    pub(super) graph: Graph,
    pub(super) map: SourceMap,
    pub(super) names: BTreeMap<Arc<str>, NodeId>,
    pub(super) tasks: Vec<Task>,
    pub(super) activations: Vec<Activation<'a>>,
    pub(super) unmade: Vec<Unmade>,
    pub(super) calls: Vec<Called>,
    /// The newest node that writes into another's storage through this window, in this shape.
    pub(super) writes: BTreeMap<(View, Shape), NodeId>,
    pub(super) n_calls: usize,
    /// Of the nodes' names, and of the calls' that they begin with.
    pub(super) n_letters: usize,
    pub(super) n_parts: usize,
    /// A bound was met: nothing more is made.
    pub(super) stopped: bool,
    pub(super) imports: Option<Imports<'a>>,
    pub(super) result: Option<Val>,
}

impl<'a> Machine<'a> {
    /// Parts of expressions that are looked at, calls counted each time.
    const MAX_PARTS: usize = 1 << 24;

    /// Letters of names: calls within calls make names that grow with each.
    pub(super) const MAX_LETTERS: usize = 1 << 24;

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
            unmade: Vec::new(),
            calls: Vec::new(),
            tasks: Vec::new(),
            activations: Vec::new(),
            writes: BTreeMap::new(),
            n_calls: 0,
            n_letters: 0,
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
            unmade: self.unmade,
            calls: self.calls,
            ..Lowered::default()
        };
        Output { lowered, complaints: self.complaints }
    }

    pub(super) fn block(&self, activation: usize) -> Option<&'a Block<'a>> {
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
                let call = self.activations.get_mut(running.activation);
                let before = call.as_ref().and_then(|call| call.before);
                let name = call.map(|call| std::mem::take(&mut call.name)).unwrap_or_default();
                self.activations.truncate(running.activation);
                // A call that made nothing but a number takes no name.
                let is_number = before == Some(self.graph.len()) && !matches!(val, Val::Poison);
                if let Some(Task::Expr(caller)) = self.tasks.last_mut() {
                    if let (0, false, Some(span)) = (caller.activation, is_number, running.site) {
                        self.calls.push(Called { name, span });
                    }
                    caller.n_derived -= usize::from(is_number);
                    caller.vals.push(val);
                    caller.at += 1;
                }
            }
        }
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
        if !self.affords(&name, span) {
            return Step::Made(Val::Poison);
        }
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

    /// Whether there is still room for a name; complains and ends everything where there is none.
    pub(super) fn affords(&mut self, name: &str, at: Span) -> bool {
        self.n_letters = self.n_letters.saturating_add(name.len());
        let fits = self.n_letters <= Self::MAX_LETTERS;
        if !fits {
            self.stopped = true;
            let reason = Reason::Budget { limit: Limit::Names, max: Self::MAX_LETTERS as u64 };
            let message = reason.sentence("", "", None, &|_| String::new());
            self.complaints.error(reason.code(), at, message);
        }
        fits
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
}

impl<'a> Imports<'a> {
    pub(super) fn new(lowered: &'a Lowered) -> Self {
        Self { graph: &lowered.graph, names: &lowered.names, made: BTreeMap::new() }
    }
}
