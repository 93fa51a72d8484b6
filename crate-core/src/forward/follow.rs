//! Follows a plan: the same values as node by node, a block of rows at a time.
//! Deliberately absent: any decision. The plan has made them all.

use super::fuse::Term;
use super::plan::{Goal, Group, Member, Part, Place, Plan, Source, Step, block};
use super::{Elements, Slot, Values, gather};
use crate::graph::{Graph, NodeId, NodeKind};
use crate::kernels::{Divisor, Terms, any_nan, row_sums};
use crate::ops::def::{Cx, Lane, Operand};

/// The rows of a block: the first, how many, and how wide they are.
#[derive(Clone, Copy)]
struct Rows {
    from: usize,
    n: usize,
    width: usize,
    /// Whether they are as many as go through at a time.
    is_whole: bool,
}

impl Rows {
    /// Which elements of a tensor these rows need or make; `None` for all.
    fn of(self, part: Part) -> Option<std::ops::Range<usize>> {
        match part {
            Part::Row => Some(self.from * self.width..(self.from + self.n) * self.width),
            Part::Element => Some(self.from..self.from + self.n),
            Part::All => None,
        }
    }

    /// How many elements that are.
    const fn len(self, part: Part) -> usize {
        match part {
            Part::Row => self.n * self.width,
            Part::Element | Part::All => self.n,
        }
    }
}

/// A part of a trainable leaf's gradient.
#[derive(Clone, Copy, Debug)]
pub struct Handed<'a, T> {
    /// The leaf.
    pub leaf: NodeId,
    /// How many elements come before.
    pub at: usize,
    /// The leaf's elements from there on.
    pub values: &'a [T],
    /// Their gradient.
    pub grad: &'a [T],
}

impl<T: Lane> Values<T> {
    /// Evaluates a whole graph by its plan. False where some product may be `0 · ∞`: then nothing stands, and the graph
    /// is to be evaluated node by node.
    pub fn follow(&mut self, graph: &Graph, plan: &Plan) -> bool {
        self.follow_and_hand(graph, plan, &mut |_| {})
    }

    /// The same, and hands out the nodes that the plan says, part by part. Where it is false they are worth nothing.
    pub fn follow_and_hand(
        &mut self,
        graph: &Graph,
        plan: &Plan,
        hand: &mut dyn FnMut(Handed<'_, T>),
    ) -> bool {
        self.make_ready(graph);
        let is_given = |id: &NodeId| matches!(self.given.get(id.index()), Some(Some(_)));
        if plan.numbers.iter().any(is_given) {
            return false;
        }
        self.buffers.resize_with(plan.n_buffers.max(self.buffers.len()), Elements::new);
        for buffer in &mut self.buffers {
            if buffer.len() < plan.buffer {
                buffer.resize(plan.buffer, T::ZERO);
            }
        }
        for step in &plan.steps {
            let is_done = match step {
                Step::Node(id) => self.eval_node(graph, *id, true),
                Step::Pack(id) => self.pack(graph, *id),
                Step::Group(group) => self.go_through(graph, group, hand),
            };
            if !is_done {
                return false;
            }
        }
        self.changed.fill(false);
        for (id, leaf) in &plan.whole {
            let (grad, values) = (self.packed(graph, *id), self.packed(graph, *leaf));
            hand(Handed { leaf: *leaf, at: 0, values: &values, grad: &grad });
        }
        true
    }

    /// Puts a view's elements side by side, in a buffer of its own. Those of a constant stay.
    fn pack(&mut self, graph: &Graph, id: NodeId) -> bool {
        let (view, node) = (graph.storage(id), graph.node(id));
        let len = node.ty.shape.n_elements() as usize;
        let root = graph.node(view.root);
        let is_constant = matches!(root.kind, NodeKind::Leaf(_)) && !root.flags.param;
        let is_same = self.changed.get(view.root.index()) != Some(&true);
        if is_constant && is_same && self.real(id).len() == len && len > 0 {
            return true;
        }
        let mut out = self.buffer(id, len);
        gather(self.real(view.root), &view, node.ty.shape, &mut out);
        self.put(id, Slot::Real(out));
        true
    }

    fn go_through(
        &mut self,
        graph: &Graph,
        group: &Group,
        hand: &mut dyn FnMut(Handed<'_, T>),
    ) -> bool {
        self.stripes.resize_with(group.n_stripes.max(self.stripes.len()), Default::default);
        for member in &group.members {
            match member.goal {
                Goal::Stripes { ix, columns } => {
                    if let Some(stripes) = self.stripes.get_mut(ix) {
                        stripes.begin(columns);
                    }
                }
                Goal::Slot => {
                    let n = graph.node(member.node).ty.shape.n_elements() as usize;
                    let out = self.buffer(member.node, n);
                    self.put(member.node, Slot::Real(out));
                }
                Goal::Buffer(_) | Goal::Handed(..) | Goal::Nowhere => {}
            }
        }
        let width = group.width;
        for from in (0..group.rows).step_by(group.at_once) {
            let n = group.at_once.min(group.rows - from);
            let rows = Rows { from, n, width, is_whole: n == group.at_once };
            if !group.members.iter().all(|member| self.compute(graph, member, rows, hand)) {
                return false;
            }
        }
        for member in &group.members {
            if let Goal::Stripes { ix, .. } = member.goal {
                let n = graph.node(member.node).ty.shape.n_elements() as usize;
                let mut out = self.buffer(member.node, n);
                if let Some(stripes) = self.stripes.get(ix) {
                    stripes.end(&mut out);
                }
                if member.looks && any_nan(&out) {
                    return false;
                }
                self.put(member.node, Slot::Real(out));
            }
        }
        true
    }

    /// Computes one member for some rows. False where it looks for NaN and finds one.
    fn compute(
        &mut self,
        graph: &Graph,
        member: &Member,
        rows: Rows,
        hand: &mut dyn FnMut(Handed<'_, T>),
    ) -> bool {
        let mut held = match member.goal {
            Goal::Nowhere => return true,
            Goal::Stripes { ix, .. } => {
                let mut stripes = self.stripes.get_mut(ix).map(std::mem::take).unwrap_or_default();
                stripes.take(&self.terms(member, rows), member.minus, rows.from);
                if let Some(place) = self.stripes.get_mut(ix) {
                    *place = stripes;
                }
                return true;
            }
            Goal::Slot => match self.take(member.node) {
                Slot::Real(values) => values,
                _ => return true,
            },
            Goal::Buffer(ix) | Goal::Handed(ix, _) => {
                self.buffers.get_mut(ix).map(std::mem::take).unwrap_or_default()
            }
        };
        let from = match member.goal {
            Goal::Slot => rows.of(member.part).map_or(0, |range| range.start),
            _ => 0,
        };
        let mut is_done = true;
        if let Some(out) = held.get_mut(from..from + rows.len(member.part)) {
            if member.term.is_some() {
                row_sums(&self.terms(member, rows), member.minus, rows.width, out);
            } else {
                self.value(graph, member, rows, out);
            }
            is_done = !(member.looks && any_nan(out));
            if let Goal::Handed(_, leaf) = member.goal {
                let range = rows.of(member.part).unwrap_or_default();
                let values = self.real(leaf).get(range.clone()).unwrap_or_default();
                hand(Handed { leaf, at: range.start, values, grad: out });
            }
        }
        match member.goal {
            Goal::Buffer(ix) | Goal::Handed(ix, _) => {
                if let Some(place) = self.buffers.get_mut(ix) {
                    *place = held;
                }
            }
            _ => self.put(member.node, Slot::Real(held)),
        }
        is_done
    }

    /// What the row of a member's op makes of some rows.
    fn value(&self, graph: &Graph, member: &Member, rows: Rows, out: &mut [T]) {
        let node = graph.node(member.node);
        let NodeKind::Op { op, params, .. } = &node.kind else { return };
        let number = |ix: usize| match member.src.get(ix).map(|s| s.place) {
            Some(Place::Number(x)) => [T::from_f64(x)],
            _ => [T::ZERO],
        };
        let numbers = [number(0), number(1), number(2)];
        let nothing = Operand { data: &[][..], ty: node.ty };
        let mut operands = [nothing; 3];
        for ((operand, source), number) in operands.iter_mut().zip(&member.src).zip(&numbers) {
            let is_as_planned = rows.is_whole || source.part == Part::All;
            let ty = if is_as_planned { source.ty } else { block(source.ty, rows.n) };
            *operand = Operand { data: self.part_of(source, rows, number), ty };
        }
        let src = operands.get(..member.src.len()).unwrap_or(&operands);
        let ty = if rows.is_whole { member.ty } else { block(member.ty, rows.n) };
        T::pick(&op.def().forward)(&mut Cx { src, params, ty, out });
    }

    /// What a sum adds up over some rows.
    fn terms(&self, member: &Member, rows: Rows) -> Terms<'_, T> {
        let of = |ix: usize| member.src.get(ix).map_or(&[][..], |s| self.part_of(s, rows, &[]));
        match (member.term, member.src.get(2)) {
            (Some(Term::Product), _) => Terms::Products(of(0), of(1)),
            (Some(Term::Quotient), Some(z)) => {
                let divisor = match (z.place, z.part) {
                    (Place::Number(x), _) => Divisor::Number(T::from_f64(x)),
                    (_, Part::Row) => Divisor::Each(of(2)),
                    (_, Part::Element) => Divisor::Column(of(2)),
                    (_, Part::All) => match of(2) {
                        [one] => Divisor::Number(*one),
                        row => Divisor::Row(row),
                    },
                };
                Terms::Quotients(of(0), of(1), divisor)
            }
            _ => Terms::Plain(of(0)),
        }
    }

    /// The part of an operand that some rows need.
    fn part_of<'a>(&'a self, source: &Source, rows: Rows, number: &'a [T]) -> &'a [T] {
        match source.place {
            Place::Number(_) => number,
            Place::Buffer(ix) => {
                let buffer = self.buffers.get(ix).map_or(&[][..], |b| b);
                buffer.get(..rows.len(source.part)).unwrap_or_default()
            }
            Place::Slot(id, offset) => {
                let all = self.real(id).get(offset..).unwrap_or_default();
                let len = source.ty.shape.n_elements() as usize;
                all.get(rows.of(source.part).unwrap_or(0..len)).unwrap_or_default()
            }
        }
    }
}
