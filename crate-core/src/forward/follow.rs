//! Follows a plan: the same values as node by node, a block of rows at a time.
//! Deliberately absent: any decision. The plan has made them all.

use super::plan::{Goal, Group, Member, Part, Place, Plan, Source, Step, block};
use super::{Slot, Values, gather};
use crate::graph::{Graph, NodeId, NodeKind};
use crate::kernels::any_nan;
use crate::ops::def::{Cx, Lane, Operand};
use crate::tensor::TensorType;

/// The rows of a block: the first, how many, and how wide they are.
#[derive(Clone, Copy)]
struct Rows {
    from: usize,
    n: usize,
    width: usize,
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

impl<T: Lane> Values<T> {
    /// Evaluates a whole graph by its plan. False where some product is `0 · ∞`: then nothing stands, and the graph is to
    /// be evaluated node by node.
    pub fn follow(&mut self, graph: &Graph, plan: &Plan) -> bool {
        self.make_ready(graph);
        self.buffers.resize_with(plan.n_buffers.max(self.buffers.len()), Vec::new);
        for buffer in &mut self.buffers {
            if buffer.len() < plan.buffer {
                buffer.resize(plan.buffer, T::ZERO);
            }
        }
        for step in &plan.steps {
            let is_done = match step {
                Step::Node(id) => self.eval_node(graph, *id, true),
                Step::Pack(id) => self.pack(graph, *id),
                Step::Group(group) => self.go_through(graph, group),
            };
            if !is_done {
                return false;
            }
        }
        self.changed.fill(false);
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

    fn go_through(&mut self, graph: &Graph, group: &Group) -> bool {
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
                Goal::Buffer(_) | Goal::Nowhere => {}
            }
        }
        let width = group.width;
        for from in (0..group.rows).step_by(group.at_once) {
            let rows = Rows { from, n: group.at_once.min(group.rows - from), width };
            if !group.members.iter().all(|member| self.compute(graph, member, rows)) {
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
                self.put(member.node, Slot::Real(out));
            }
        }
        true
    }

    /// Computes one member for some rows. False for `0 · ∞`.
    fn compute(&mut self, graph: &Graph, member: &Member, rows: Rows) -> bool {
        let node = graph.node(member.node);
        let NodeKind::Op { op, params, .. } = &node.kind else { return true };
        let mut held = match member.goal {
            Goal::Nowhere => return true,
            Goal::Stripes { ix, .. } => {
                let mut stripes = self.stripes.get_mut(ix).map(std::mem::take).unwrap_or_default();
                if let Some(source) = member.src.first() {
                    stripes.add(self.part_of(source, rows, &[]));
                }
                if let Some(place) = self.stripes.get_mut(ix) {
                    *place = stripes;
                }
                return true;
            }
            Goal::Slot => match self.take(member.node) {
                Slot::Real(values) => values,
                _ => return true,
            },
            Goal::Buffer(ix) => self.buffers.get_mut(ix).map(std::mem::take).unwrap_or_default(),
        };
        let range = match member.goal {
            Goal::Slot => rows.of(member.part).unwrap_or(0..0),
            _ => 0..rows.len(member.part),
        };
        let mut is_done = true;
        if let Some(out) = held.get_mut(range) {
            let number = |ix: usize| match member.src.get(ix).map(|s| s.place) {
                Some(Place::Number(x)) => [T::from_f64(x)],
                _ => [T::ZERO],
            };
            let numbers = [number(0), number(1), number(2)];
            let nothing = Operand { data: &[][..], ty: node.ty };
            let mut operands = [nothing; 3];
            for ((operand, source), number) in operands.iter_mut().zip(&member.src).zip(&numbers) {
                let ty =
                    if source.part == Part::All { source.ty } else { block(source.ty, rows.n) };
                *operand = Operand { data: self.part_of(source, rows, number), ty };
            }
            let src = operands.get(..member.src.len()).unwrap_or(&operands);
            let ty: TensorType = block(node.ty, rows.n);
            T::pick(&op.def().forward)(&mut Cx { src, params, ty, out });
            is_done = node.flags.carries.is_none() || !any_nan(out);
        }
        match member.goal {
            Goal::Buffer(ix) => {
                if let Some(place) = self.buffers.get_mut(ix) {
                    *place = held;
                }
            }
            _ => self.put(member.node, Slot::Real(held)),
        }
        is_done
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
