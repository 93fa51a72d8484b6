//! Which writes in place destroy a value that some backward reads, and of each the first it would be refused for.
//! Deliberately absent: what else a write destroys. In a chain of writes that is a list as long as its square.

use super::Build;
use crate::graph::{NodeId, NodeKind};
use crate::ops::def::{Flow, Read};
use crate::rules::RuleSet;

/// What a write destroys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Destroyed {
    /// The node whose value is lost.
    pub(super) victim: NodeId,
    /// The node that reads it; none where a trainable leaf is written over.
    pub(super) reader: Option<NodeId>,
}

/// The first and the last element of a storage that somebody touches.
type Reach = (isize, isize);

/// Touches nothing, and adds nothing to what others touch.
const NOWHERE: Reach = (isize::MAX, isize::MIN);

/// The writes that have not been found to destroy anything, as a tree: each part knows how far it reaches, so that a
/// search goes past most of them. Windows written in no order at all are the worst case: then it goes past few.
struct Writers {
    /// The storage, then the write.
    all: Vec<(NodeId, NodeId)>,
    /// The whole at 1, the halves of part `i` at `2 i` and `2 i + 1`, and in the last half the writes one by one.
    reaches: Vec<Reach>,
}

impl Writers {
    fn new(mut writers: Vec<(NodeId, NodeId, Reach)>) -> Self {
        writers.sort_unstable();
        let n = writers.len().next_power_of_two();
        let mut reaches = vec![NOWHERE; n];
        reaches.extend(writers.iter().map(|w| w.2));
        reaches.resize(2 * n, NOWHERE);
        let mut tree = Self { all: writers.iter().map(|w| (w.0, w.1)).collect(), reaches };
        for part in (1..n).rev() {
            tree.join(part);
        }
        tree
    }

    fn reach(&self, part: usize) -> Reach {
        self.reaches.get(part).copied().unwrap_or(NOWHERE)
    }

    /// How far a part reaches, from its halves.
    fn join(&mut self, part: usize) {
        let (a, b) = (self.reach(2 * part), self.reach(2 * part + 1));
        if let Some(slot) = self.reaches.get_mut(part) {
            *slot = (a.0.min(b.0), a.1.max(b.1));
        }
    }

    /// Takes out the writes into a storage after one node and before a place in the graph that touch these elements.
    fn take(
        &mut self,
        (root, after, before): (NodeId, NodeId, usize),
        (lo, hi): Reach,
        mut found: impl FnMut(NodeId),
    ) {
        let start = self.all.partition_point(|w| *w <= (root, after));
        let end = self.all.partition_point(|w| (w.0, w.1.index()) < (root, before));
        let n = self.reaches.len() / 2;
        if start >= end {
            return;
        }
        // A part, the first write in it, and how many there are.
        let mut open = vec![(1, 0, n)];
        while let Some((part, first, len)) = open.pop() {
            #[cfg(test)]
            crate::looks::look();
            let (least, most) = self.reach(part);
            if first + len <= start || end <= first || hi < least || most < lo {
                continue;
            }
            if len > 1 {
                let half = len / 2;
                open.push((2 * part, first, half));
                open.push((2 * part + 1, first + half, half));
            } else if let Some((_, writer)) = self.all.get(first) {
                found(*writer);
                self.clear(part);
            }
        }
    }

    /// Forgets one write.
    fn clear(&mut self, mut part: usize) {
        if let Some(slot) = self.reaches.get_mut(part) {
            *slot = NOWHERE;
        }
        while part > 1 {
            part /= 2;
            self.join(part);
        }
    }
}

impl Build<'_> {
    /// For each forward node, what it destroys first, in the order in which readers stand; nothing at all where no
    /// node writes in place.
    pub(super) fn overwrites(&self) -> Vec<Option<Destroyed>> {
        let graph = &self.trace.graph;
        // The part of the engine that the page starts with reads no write in place.
        if !crate::WHOLE || graph.written().is_empty() {
            return Vec::new();
        }
        let mut out = vec![None; self.trace.n_forward];
        let mut note = |writer: NodeId, victim, reader| {
            if let Some(slot) = out.get_mut(writer.index()) {
                *slot = Some(Destroyed { victim, reader });
            }
        };
        let mut writers = Vec::new();
        for (id, node) in graph.prefix(self.trace.n_forward).filter(|(_, n)| n.flags.in_place) {
            let view = graph.storage(id);
            if graph.node(view.root).flags.param && self.needs(view.root) {
                note(id, view.root, None);
            } else if let Some(reach) = view.reach(&node.ty.shape) {
                writers.push((view.root, id, reach));
            }
        }
        let mut writers = Writers::new(writers);
        let mut lose = |victim: NodeId, before, reader| {
            let view = graph.storage(victim);
            if let Some(reach) = view.reach(&graph.node(victim).ty.shape) {
                let between = (view.root, victim, before);
                writers.take(between, reach, |writer| note(writer, victim, Some(reader)));
            }
        };
        for (id, node) in graph.prefix(self.trace.n_forward).filter(|(id, _)| self.needs(*id)) {
            let NodeKind::Op { op, src, .. } = &node.kind else { continue };
            for (ix, s) in src.iter().enumerate() {
                let Flow::Carries { reads, .. } = RuleSet::flow(*op, ix) else { continue };
                if !self.needs(*s) {
                    continue;
                }
                for read in reads {
                    let victim = match read {
                        Read::Src(k) => src.get(usize::from(*k)).copied(),
                        Read::Out => Some(id),
                    };
                    if let Some(victim) = victim {
                        lose(victim, usize::MAX, id);
                    }
                }
                // A later node that reads the old name sees the new value, which is not what the graph says.
                lose(*s, id.index(), id);
            }
        }
        out
    }
}
