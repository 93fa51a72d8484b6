//! The trace: every event of building a backward graph, and the fold that turns a prefix of it into a picture.
//! Deliberately absent: values, strings and copies of nodes inside an event, and any notion of a current step.

use crate::graph::{Graph, NodeId};
use crate::refusal::Finding;

/// Why a node needs a gradient.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// It is a trainable leaf.
    Param,
    /// It is where backward starts.
    Loss,
    /// It reads, as this source, a node that needs one.
    Via(u8),
}

/// Why a node needs none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Skip {
    /// Nothing trainable reaches it.
    NoParam,
    /// It does not reach the loss.
    NoLoss,
    /// It stores integers or truth values.
    NotFloat,
}

/// Who made a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Author {
    /// The walk, as the gradient it starts from.
    Seed,
    /// The user, as the value a gradient starts from.
    Accumulator {
        /// Whose gradient.
        of: NodeId,
    },
    /// The rule of a forward node.
    Rule {
        /// The forward node.
        of: NodeId,
    },
    /// The driver, folding a contribution onto a source that was stretched.
    Fold {
        /// The forward node whose rule sent the contribution.
        of: NodeId,
        /// The source it is for.
        src: u8,
    },
    /// The driver, adding a contribution to an earlier gradient.
    Accumulate {
        /// The forward node whose rule sent the contribution.
        of: NodeId,
        /// The source it is for.
        src: u8,
    },
}

/// How a contribution joins what is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accum {
    /// Added.
    Add,
    /// Repeated to the source's shape and added. Upstream can add only one number to what is there.
    Add1,
}

/// A place in the list of findings.
pub type FindingIx = u32;

/// One event. Forward nodes come first, in order; exactly one terminal event stands last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A forward node has a type.
    Shaped { node: NodeId },
    /// A forward node has a value.
    Evaluated { node: NodeId },
    /// A node needs a gradient.
    Marked { node: NodeId, why: Why },
    /// A node needs none.
    Skipped { node: NodeId, why: Skip },
    /// A node's gradient starts from a supplied accumulator.
    Supplied { node: NodeId, grad: NodeId },
    /// The loss has its gradient.
    Seeded { node: NodeId, grad: NodeId },
    /// The walk asks the rule of a node.
    Entered { node: NodeId, grad: NodeId },
    /// A node was appended.
    Emitted { node: NodeId, by: Author },
    /// A contribution was folded onto the shape of a source; `from == to` when there was nothing to do.
    Folded { from: NodeId, to: NodeId, into: NodeId },
    /// A source's gradient grew from `before` to `after`; the contribution came through source `src` of `by`.
    Contributed {
        into: NodeId,
        by: NodeId,
        src: u8,
        via: Accum,
        before: Option<NodeId>,
        after: NodeId,
    },
    /// The walk is done with a node.
    Left { node: NodeId },
    /// A warning; the payload stands in the trace's findings.
    Flagged(FindingIx),
    /// The build stops here; the payload stands in the trace's findings.
    Refused(FindingIx),
    /// The build is complete.
    Finished,
}

/// The forward graph, whatever of the backward graph was built, and how.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Forward nodes first, then gradient nodes in order of creation.
    pub graph: Graph,
    /// How many of them are forward nodes.
    pub n_forward: usize,
    /// What happened.
    pub events: Vec<Event>,
    /// Side table of the events' findings, in the order the build met them.
    pub findings: Vec<Finding>,
}

/// How a trace ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// All gradients stand.
    Finished,
    /// Stopped by this finding.
    Refused(FindingIx),
}

/// What a forward node's mark says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mark {
    /// The walk has not been here.
    #[default]
    Unknown,
    /// It needs a gradient.
    Needed(Why),
    /// It needs none.
    Skipped(Skip),
}

/// The state of the build after a number of events.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// How many forward nodes have a type.
    pub n_shaped: usize,
    /// How many forward nodes have a value.
    pub n_evaluated: usize,
    /// How many nodes exist, forward and backward.
    pub n_nodes: usize,
    /// For each forward node, whether it needs a gradient.
    pub marks: Vec<Mark>,
    /// For each forward node, its gradient so far.
    pub grads: Vec<Option<NodeId>>,
    /// The node whose rule is at work.
    pub inside: Option<NodeId>,
    /// Set once the trace has ended.
    pub end: Option<End>,
}

impl Frame {
    /// The state before any event.
    pub fn new(n_forward: usize) -> Self {
        Self {
            marks: vec![Mark::Unknown; n_forward],
            grads: vec![None; n_forward],
            ..Self::default()
        }
    }

    /// The state after one more event.
    pub fn apply(&mut self, event: &Event) {
        fn set<T>(slots: &mut [T], node: NodeId, value: T) {
            if let Some(slot) = slots.get_mut(node.index()) {
                *slot = value;
            }
        }
        match *event {
            Event::Shaped { node } => {
                self.n_shaped = node.index() + 1;
                self.n_nodes = self.n_nodes.max(node.index() + 1);
            }
            Event::Evaluated { node } => self.n_evaluated = node.index() + 1,
            Event::Marked { node, why } => set(&mut self.marks, node, Mark::Needed(why)),
            Event::Skipped { node, why } => set(&mut self.marks, node, Mark::Skipped(why)),
            Event::Supplied { node, grad } | Event::Seeded { node, grad } => {
                set(&mut self.grads, node, Some(grad));
            }
            Event::Entered { node, .. } => self.inside = Some(node),
            Event::Emitted { node, .. } => self.n_nodes = self.n_nodes.max(node.index() + 1),
            Event::Contributed { into, after, .. } => set(&mut self.grads, into, Some(after)),
            Event::Left { .. } => self.inside = None,
            Event::Folded { .. } | Event::Flagged(_) => {}
            Event::Refused(ix) => self.end = Some(End::Refused(ix)),
            Event::Finished => self.end = Some(End::Finished),
        }
    }
}

/// Folds the first `step` events; total for any `step`.
pub fn frame(events: &[Event], n_forward: usize, step: usize) -> Frame {
    let mut frame = Frame::new(n_forward);
    for event in events.iter().take(step) {
        frame.apply(event);
    }
    frame
}

impl Trace {
    /// The state after the first `step` events; total for any `step`.
    pub fn frame(&self, step: usize) -> Frame {
        frame(&self.events, self.n_forward, step)
    }

    /// The gradient of each forward node when the trace ended.
    pub fn grads(&self) -> Vec<Option<NodeId>> {
        self.frame(self.events.len()).grads
    }

    /// The finding that stopped the build.
    pub fn refusal(&self) -> Option<&Finding> {
        match self.events.last() {
            Some(Event::Refused(ix)) => self.findings.get(*ix as usize),
            _ => None,
        }
    }

    /// Who made each node; `None` for forward nodes.
    pub fn authors(&self) -> Vec<Option<Author>> {
        let mut out = vec![None; self.graph.len()];
        for event in &self.events {
            if let Event::Emitted { node, by } = *event
                && let Some(slot) = out.get_mut(node.index())
            {
                *slot = Some(by);
            }
        }
        out
    }
}

/// The kind of a tick of the stepper: its glyph, and what "run to" looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TickKind {
    /// A node has a shape.
    Shape,
    /// A node has a value.
    Value,
    /// The mark walk, whole.
    Mark,
    /// The gradient backward starts from.
    Seed,
    /// A rule is asked.
    Rule,
    /// A rule appended a node.
    Emit,
    /// A contribution was folded.
    Fold,
    /// A fold had nothing to do.
    FoldNoOp,
    /// A contribution joined an earlier gradient.
    Accumulate,
    /// The build stopped.
    Refusal,
}

/// One tick of the stepper at micro-step granularity: a run of events that are shown as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tick {
    /// Its kind.
    pub kind: TickKind,
    /// How many events are behind once the tick is done.
    pub end: usize,
    /// The event that gives it its place and words.
    pub event: usize,
}

/// The ticks of a trace. Ticks of inline constants are left out: they are drawn inside their consumer.
pub fn ticks(trace: &Trace) -> Vec<Tick> {
    let shown = |node: NodeId| trace.graph.get(node).is_some_and(|n| !n.flags.inline);
    let computed = |node: NodeId| trace.graph.get(node).is_some_and(|n| n.op().is_some());
    let mut out: Vec<Tick> = Vec::new();
    for (event, what) in trace.events.iter().enumerate() {
        let kind = match *what {
            Event::Shaped { node } if shown(node) => Some(TickKind::Shape),
            Event::Evaluated { node } if shown(node) && computed(node) => Some(TickKind::Value),
            Event::Marked { .. } | Event::Skipped { .. } | Event::Supplied { .. } => {
                Some(TickKind::Mark)
            }
            Event::Seeded { .. } => Some(TickKind::Seed),
            Event::Entered { .. } => Some(TickKind::Rule),
            Event::Emitted { node, by: Author::Rule { .. } } if shown(node) => Some(TickKind::Emit),
            Event::Folded { from, to, .. } if from == to => Some(TickKind::FoldNoOp),
            Event::Folded { .. } => Some(TickKind::Fold),
            Event::Contributed { before: Some(_), .. } => Some(TickKind::Accumulate),
            Event::Refused(_) => Some(TickKind::Refusal),
            _ => None,
        };
        let end = event + 1;
        match (kind, out.last_mut()) {
            (Some(TickKind::Mark), Some(last)) if last.kind == TickKind::Mark => last.end = end,
            (Some(kind), _) => out.push(Tick { kind, end, event }),
            // What follows a tick without being one (a source's first gradient, a rule left) belongs to it,
            // unless it prepares the next: the seed's leaf, and the nodes of a fold or an accumulation.
            (None, Some(last)) => {
                let prepares = matches!(
                    what,
                    Event::Emitted {
                        by: Author::Seed | Author::Fold { .. } | Author::Accumulate { .. },
                        ..
                    }
                );
                if !prepares {
                    last.end = end;
                }
            }
            (None, None) => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Event;

    #[test]
    fn an_event_stays_small() {
        assert!(size_of::<Event>() <= 24, "{}", size_of::<Event>());
    }
}
