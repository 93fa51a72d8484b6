//! What members of a group need not do: terms that only a sum reads are made by the sum, and where a NaN shows in what is
//! made of a product, the product is not looked at.
//! The rows that this holds for are told by their signs. Deliberately absent: any change of an order of operations.

use std::collections::BTreeMap;

use super::plan::{Goal, Member, Part, Place};
use crate::graph::{Graph, NodeId};
use crate::ops::def::{Pace, Sign};

/// What a sum adds up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Term {
    /// Its source.
    Plain,
    /// The products of two sources.
    Product,
    /// The products of the first with the quotients of the other two.
    Quotient,
}

/// The sign of a node's row.
fn sign(graph: &Graph, id: NodeId) -> Option<Sign> {
    graph.node(id).op().and_then(|op| op.def().sign)
}

/// How a node goes through its operands.
fn pace(graph: &Graph, id: NodeId) -> Option<Pace> {
    graph.node(id).op().map(|op| op.def().forward.pace)
}

/// Whether a node adds up and does nothing else.
pub(super) fn adds_up(graph: &Graph, id: NodeId) -> bool {
    matches!(pace(graph, id), Some(Pace::SumRows | Pace::Sum(_) | Pace::Fold))
}

/// Whether a NaN in any operand is a NaN in the result.
fn hands_on(graph: &Graph, id: NodeId) -> bool {
    let arithmetic =
        matches!(sign(graph, id), Some(Sign::Infix("+" | "-" | "*" | "/") | Sign::Prefix("-")));
    arithmetic || adds_up(graph, id) || pace(graph, id) == Some(Pace::Stretch)
}

/// Finds the members whose values are looked through for NaN: the last ones in which one of a product's would show.
pub(super) fn look_late(graph: &Graph, members: &mut [Member], readers: &[Vec<usize>]) {
    for ix in 0..members.len() {
        if !members.get(ix).is_some_and(|m| m.looks) {
            continue;
        }
        let shows = |r: &&usize| {
            members.get(**r).is_some_and(|m| m.goal != Goal::Nowhere && hands_on(graph, m.node))
        };
        let Some(later) = readers.get(ix).and_then(|list| list.iter().find(shows)) else {
            continue;
        };
        let later = *later;
        for (at, looks) in [(ix, false), (later, true)] {
            if let Some(m) = members.get_mut(at) {
                m.looks = looks;
            }
        }
    }
}

/// Has sums make their terms, where nobody else reads what the terms are made of.
pub(super) fn absorb(
    graph: &Graph,
    members: &mut [Member],
    readers: &[Vec<usize>],
    places: &BTreeMap<NodeId, usize>,
    width: usize,
) {
    for ix in 0..members.len() {
        while let Some((at, changed)) = members
            .get(ix)
            .and_then(|sum| Absorber { graph, members, readers, places, width, ix }.next(sum))
        {
            if let Some(m) = members.get_mut(at) {
                m.goal = Goal::Nowhere;
                m.src.clear();
            }
            if let Some(m) = members.get_mut(ix) {
                *m = changed;
            }
        }
    }
}

struct Absorber<'a> {
    graph: &'a Graph,
    members: &'a [Member],
    readers: &'a [Vec<usize>],
    /// Where in the group a node is a member.
    places: &'a BTreeMap<NodeId, usize>,
    width: usize,
    /// Which member absorbs.
    ix: usize,
}

impl Absorber<'_> {
    /// Another member that a sum can make on the way, and what the sum is then.
    fn next(&self, sum: &Member) -> Option<(usize, Member)> {
        let mut changed = sum.clone();
        match sum.term? {
            Term::Plain => {
                let (at, of) = self.own(sum, 0)?;
                match (sign(self.graph, of.node)?, of.src.as_slice()) {
                    (Sign::Prefix("-"), [x]) => {
                        changed.minus = !sum.minus;
                        changed.src = vec![*x];
                    }
                    (Sign::Infix("*"), [x, y]) if [x, y].iter().all(|s| s.part == Part::Row) => {
                        changed.term = Some(Term::Product);
                        changed.src = vec![*x, *y];
                    }
                    _ => return None,
                }
                Some((at, changed))
            }
            Term::Product => (0..2).find_map(|which| {
                let (at, of) = self.own(sum, which)?;
                let [y, z] = of.src.as_slice() else { return None };
                if sign(self.graph, of.node)? != Sign::Infix("/") || y.part != Part::Row {
                    return None;
                }
                // A single running sum goes through rows as if there were none.
                let by_one = z.part == Part::All && z.ty.shape.n_elements() == 1;
                let flat = z.part == Part::Row || by_one || matches!(z.place, Place::Number(_));
                let whole =
                    z.part != Part::All || by_one || z.ty.shape.n_elements() as usize == self.width;
                if !whole || !flat && matches!(sum.goal, Goal::Stripes { columns: 1, .. }) {
                    return None;
                }
                let x = *sum.src.get(1 - which)?;
                let mut changed = changed.clone();
                changed.term = Some(Term::Quotient);
                changed.src = vec![x, *y, *z];
                Some((at, changed))
            }),
            Term::Quotient => None,
        }
    }

    /// A source that is a member nobody else reads, which is by itself in no place that stays.
    fn own(&self, sum: &Member, which: usize) -> Option<(usize, &Member)> {
        let Place::Slot(id, 0) = sum.src.get(which)?.place else { return None };
        let at = *self.places.get(&id)?;
        let of = self.members.get(at)?;
        let private = matches!(of.goal, Goal::Buffer(_)) && self.reads_alone(at);
        (private && of.part == Part::Row && !of.looks).then_some((at, of))
    }

    /// Whether the sum is the only one that reads a member, maybe by way of what it has absorbed.
    fn reads_alone(&self, mut at: usize) -> bool {
        // What is absorbed lies between a member and the sum: each has a later place.
        while let Some([one]) = self.readers.get(at).map(Vec::as_slice) {
            if *one == self.ix {
                return true;
            }
            let is_absorbed =
                self.members.get(*one).is_some_and(|m| m.goal == Goal::Nowhere && m.src.is_empty());
            if !is_absorbed {
                return false;
            }
            at = *one;
        }
        false
    }
}
