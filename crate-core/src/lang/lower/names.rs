//! What a name in an expression stands for: an argument, a line, or a document's node in a formula.

use super::Val;
use super::block::cycle;
use super::machine::{Machine, Purpose, Running, State, Step, Task};
use crate::graph::{Flags, Init};
use crate::lang::source_map::NodeText;
use crate::lang::{Code, Span};

impl<'a> Machine<'a> {
    /// A name that an expression reads.
    pub(super) fn read(&mut self, running: &Running, name: &str, span: Span) -> Step<'a> {
        let Some(activation) = self.activations.get(running.activation) else {
            return Step::Made(Val::Poison);
        };
        if crate::WHOLE
            && let Some(val) = activation.formals.get(name).cloned()
        {
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
            Some(State::Doing) | None if !crate::WHOLE => {
                self.complaints.beyond();
                Step::Made(Val::Poison)
            }
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
        let imports = self.imports.as_ref().filter(|_| crate::WHOLE && running.activation == 0);
        let Some(imports) = imports else {
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
    pub(super) fn current(&self, val: Val) -> Val {
        if !crate::WHOLE {
            return val;
        }
        let Val::Node(node) = val else {
            return val;
        };
        let window = (self.graph.storage(node), self.graph.node(node).ty.shape);
        let newest = self.writes.get(&window).filter(|write| **write > node);
        Val::Node(newest.copied().unwrap_or(node))
    }
}
