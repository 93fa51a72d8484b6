//! Builds the backward graph: mark what needs a gradient, walk back, fold, check, accumulate, and trace it all.
//! Total: a refusal ends the trace, the caller's graph never changes. Deliberately absent: values.

mod accumulate;
mod mark;
mod mutate;
mod overwrites;
mod reverse;
#[cfg(test)]
mod tests;

pub use mutate::{FLAWS, Flaw, Mutation};

use std::fmt;

use crate::construct::Budget;
use crate::graph::{Flags, Graph, Init, NodeId, View};
use crate::ops::OpKind;
use crate::ops::def::Backward;
use crate::refusal::{Finding, Hazard, HazardKind, Limit, Reason, Refusal, Stage};
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};
use crate::trace::{Author, Event, Trace};

/// A tensor from outside the graph: a cotangent or the start of an accumulator.
#[derive(Clone, PartialEq, Debug)]
pub struct Given {
    /// Its shape.
    pub shape: Shape,
    /// Its values.
    pub init: Init,
}

/// A node whose backward a request replaces: an engine without that rule, or with another one.
#[derive(Clone, Copy)]
pub struct Instead {
    /// The node.
    pub node: NodeId,
    /// What happens there instead of what its row says.
    pub backward: Backward,
}

impl fmt::Debug for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instead").field("node", &self.node).finish_non_exhaustive()
    }
}

/// What to differentiate, and by whose rules.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Where backward starts.
    pub loss: Option<NodeId>,
    /// What it starts with; 1 where it is left out.
    pub cotangent: Option<Given>,
    /// Gradients that do not start from nothing.
    pub accumulators: Vec<(NodeId, Given)>,
    /// Whose rules.
    pub rules: RuleSet,
    /// Nodes that the rules of the row do not apply to.
    pub instead: Vec<Instead>,
    /// One thing that is wrong with these rules.
    pub mutation: Option<Mutation>,
    /// What may be allocated.
    pub budget: Budget,
}

impl Request {
    /// How a node is differentiated.
    fn backward(&self, node: NodeId, op: OpKind) -> Backward {
        let mut own = self.instead.iter().filter(|i| crate::WHOLE && i.node == node);
        own.next().map_or_else(|| self.rules.backward(op), |i| i.backward)
    }

    /// Whether a source of a node carries a gradient, as far as the walk must follow it: a node without a backward
    /// is followed, so that it can be refused by name.
    fn carries(&self, node: NodeId, op: OpKind, src: usize) -> bool {
        !matches!(self.backward(node, op), Backward::Zero(_)) && self.rules.sends(op, src)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Stop at the first refusal.
    Stop,
    /// Note each refusal, put zeros where its gradient is missing, and go on.
    Collect,
}

/// The build stops: either at a refusal that has been traced, or because a bound was met.
struct Stopped;

struct Build<'a> {
    request: &'a Request,
    mode: Mode,
    trace: Trace,
    /// For each forward node, whether it needs a gradient.
    needed: Vec<bool>,
    /// For each forward node, whether it depends on a trainable leaf.
    reached: Vec<bool>,
    /// For each forward node, the last finding about it, and for each finding the one before it about the same node.
    last_said: Vec<Option<u32>>,
    said_before: Vec<Option<u32>>,
    /// For each forward node, its gradient so far.
    grads: Vec<Option<NodeId>>,
    /// In whose name nodes are appended.
    by: Author,
    /// While a rule is asked: the gradient it was given and what it has made of it.
    linear: Vec<NodeId>,
    /// Whether anybody will look at what happened.
    traced: bool,
    /// What the walk knows of the node it is at.
    desk: Desk,
}

/// What a rule may know of a node's sources. Kept from node to node, so that a long walk allocates nothing.
#[derive(Default)]
struct Desk {
    src: Vec<NodeId>,
    wants: Vec<bool>,
    src_ty: Vec<TensorType>,
    views: Vec<View>,
    is_sent: Vec<bool>,
}

/// The gradients of a graph, for whoever does not look at how they were built.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// Forward nodes first, then gradient nodes in order of creation.
    pub graph: Graph,
    /// How many of them are forward nodes.
    pub n_forward: usize,
    /// For each forward node, its gradient.
    pub grads: Vec<Option<NodeId>>,
}

impl Gradients {
    /// A forward node's gradient.
    pub fn of(&self, node: NodeId) -> Option<NodeId> {
        self.grads.get(node.index()).copied().flatten()
    }
}

/// Appends the gradients to a graph without tracing how, or says what refuses. The nodes are those of
/// [`build_backward`], in the same order.
pub fn differentiate(mut graph: Graph, request: &Request) -> Result<Gradients, Box<Finding>> {
    let n_forward = graph.len();
    // A node's rule makes two nodes or three.
    graph.reserve(3 * n_forward);
    let trace = Trace { graph, n_forward, events: Vec::new(), findings: Vec::new() };
    let build = walked(trace, request, Mode::Stop, false);
    match build.trace.refusal() {
        Some(finding) => Err(Box::new(finding.clone())),
        None => Ok(Gradients { graph: build.trace.graph, n_forward, grads: build.grads }),
    }
}

/// Builds the gradients of every trainable leaf the loss depends on, or stops at the first refusal.
pub fn build_backward(graph: &Graph, request: &Request) -> Trace {
    run(graph, request, Mode::Stop)
}

/// Every finding of the same build, in the order in which it would meet them. The first refusal of
/// [`build_backward`] is the first refusal here: both are one walk.
pub(crate) fn all_findings(graph: &Graph, request: &Request) -> Vec<Finding> {
    run(graph, request, Mode::Collect).findings
}

/// A trace of the forward graph alone.
pub fn forward_only(graph: &Graph) -> Trace {
    let mut trace = started(graph);
    trace.events.push(Event::Finished);
    trace
}

fn started(graph: &Graph) -> Trace {
    let n = graph.len();
    let mut events = Vec::with_capacity(8 * n);
    events.extend(graph.nodes().map(|(node, _)| Event::Shaped { node }));
    events.extend(graph.nodes().map(|(node, _)| Event::Evaluated { node }));
    Trace { graph: graph.clone(), n_forward: n, events, findings: Vec::new() }
}

fn run(graph: &Graph, request: &Request, mode: Mode) -> Trace {
    walked(started(graph), request, mode, true).trace
}

fn walked(trace: Trace, request: &Request, mode: Mode, traced: bool) -> Build<'_> {
    let n = trace.n_forward;
    let mut build = Build {
        request,
        mode,
        trace,
        needed: vec![false; n],
        reached: Vec::new(),
        last_said: vec![None; n],
        said_before: Vec::new(),
        grads: vec![None; n],
        by: Author::Seed,
        linear: Vec::new(),
        traced,
        desk: Desk::default(),
    };
    if build.steps().is_ok() {
        build.note(Event::Finished);
    }
    build
}

impl Build<'_> {
    fn steps(&mut self) -> Result<(), Stopped> {
        let Some(loss) = self.request.loss else {
            return self.refuse(Stage::Mark, None, None, Reason::NoLoss);
        };
        self.mark(loss)?;
        self.seed(loss)?;
        self.reverse(loss)
    }

    /// Notes what happened, where somebody looks.
    fn note(&mut self, event: Event) {
        if self.traced {
            self.trace.events.push(event);
        }
    }

    /// Notes a refusal. In `Stop` mode it is the end.
    fn refuse(
        &mut self,
        stage: Stage,
        at: Option<NodeId>,
        src: Option<usize>,
        reason: Reason,
    ) -> Result<(), Stopped> {
        let op = at.and_then(|id| self.trace.graph.get(id)).and_then(crate::graph::Node::op);
        // A bound ends the collecting walk too: there is no going on past it.
        let fatal = matches!(reason, Reason::Budget { .. });
        let ix = self.say(Finding::Refusal(Refusal { stage, at, src, op, reason }));
        if self.mode == Mode::Stop || fatal {
            self.trace.events.push(Event::Refused(ix));
            return Err(Stopped);
        }
        Ok(())
    }

    fn flag(&mut self, at: NodeId, src: Option<usize>, kind: HazardKind) {
        let ix = self.say(Finding::Hazard(Hazard { at, src, kind }));
        self.note(Event::Flagged(ix));
    }

    /// Notes a finding, and returns its place.
    fn say(&mut self, finding: Finding) -> u32 {
        let ix = self.trace.findings.len() as u32;
        let last = finding.at().and_then(|at| self.last_said.get_mut(at.index()));
        self.said_before.push(last.and_then(|last| last.replace(ix)));
        self.trace.findings.push(finding);
        ix
    }

    /// Whether something was found at this source of a node, or at the node as a whole.
    fn is_said(&self, at: NodeId, src: usize) -> bool {
        let mut next = self.last_said.get(at.index()).copied().flatten();
        while let Some(ix) = next {
            let finding = self.trace.findings.get(ix as usize);
            if finding.is_some_and(|f| f.src().is_none_or(|s| s == src)) {
                return true;
            }
            next = self.said_before.get(ix as usize).copied().flatten();
        }
        false
    }

    /// Appends a leaf in the current author's name.
    fn leaf(&mut self, ty: TensorType, init: Init) -> Result<NodeId, Reason> {
        let flags = Flags {
            inline: !matches!(self.by, Author::Seed | Author::Accumulator { .. }),
            ..Flags::default()
        };
        let graph = &mut self.trace.graph;
        let node = crate::construct::leaf(graph, &self.request.budget, ty, init, None, flags)?;
        self.emitted(node)?;
        Ok(node)
    }

    fn emitted(&mut self, node: NodeId) -> Result<(), Reason> {
        let max = self.request.budget.events;
        if self.trace.events.len() >= max {
            return Err(Reason::Budget { limit: Limit::Steps, max: max as u64 });
        }
        self.note(Event::Emitted { node, by: self.by });
        Ok(())
    }

    fn seed(&mut self, loss: NodeId) -> Result<(), Stopped> {
        let ty = self.trace.graph.node(loss).ty;
        self.by = Author::Seed;
        let init = match &self.request.cotangent {
            Some(given) => given.init.clone(),
            None => Init::Fill(1.0),
        };
        match self.leaf(ty.as_f32(), init) {
            Ok(grad) => {
                // An accumulator on the loss itself holds what the seed is added to.
                let before = self.grads.get(loss.index()).copied().flatten();
                self.note(Event::Seeded { node: loss, grad });
                self.set_grad(loss, grad);
                if let Some(before) = before {
                    let sum = self.accumulate_onto(loss, grad, before);
                    return self.or_refuse(loss, None, sum).map(|_| ());
                }
                Ok(())
            }
            Err(reason) => self.refuse(Stage::Reverse, Some(loss), None, reason),
        }
    }

    fn or_refuse<T>(
        &mut self,
        at: NodeId,
        src: Option<usize>,
        result: Result<T, Reason>,
    ) -> Result<Option<T>, Stopped> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(reason) => self.refuse(Stage::Reverse, Some(at), src, reason).map(|()| None),
        }
    }

    fn grad(&self, node: NodeId) -> Option<NodeId> {
        self.grads.get(node.index()).copied().flatten()
    }

    fn set_grad(&mut self, node: NodeId, grad: NodeId) {
        if let Some(slot) = self.grads.get_mut(node.index()) {
            *slot = Some(grad);
        }
    }

    fn needs(&self, node: NodeId) -> bool {
        self.needed.get(node.index()).copied().unwrap_or(false)
    }
}
