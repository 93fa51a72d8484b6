//! How a graph is evaluated again and again: which nodes go together, a block of rows at a time, so that what only they
//! read never leaves the fastest cache. The bits are those of one node after the other; a test compares them.
//!
//! A plan says nothing of values. Where some product is `0 · ∞`, it gives up and the nodes are evaluated one by one.
//! Deliberately absent: graphs that write in place or count, and any order in which a sum's terms change places.

use std::collections::BTreeMap;

use super::fuse::{Term, absorb, adds_up, look_late};
use crate::graph::{Graph, Init, Node, NodeId, NodeKind, View};
use crate::ops::def::{Pace, Sign, resolve_axes};
use crate::tensor::{DType, MAX_RANK, Shape, TensorType};

/// About as many elements of each node are in work at a time: what a group works in stays in the fastest cache.
const BLOCK: usize = 4096;

/// What to do, in order.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Evaluate a node.
    Node(NodeId),
    /// Put a view's elements side by side.
    Pack(NodeId),
    /// Evaluate nodes together.
    Group(Group),
}

/// Nodes that go through the same rows.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// How many rows.
    pub(super) rows: usize,
    /// How many of them at a time; eight divides their elements.
    pub(super) at_once: usize,
    /// How wide they are.
    pub(super) width: usize,
    /// The nodes, in order.
    pub(super) members: Vec<Member>,
    /// How many running sums they need.
    pub(super) n_stripes: usize,
}

/// How much of a tensor a row needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// The row of the same number.
    Row,
    /// The one element of the same number.
    Element,
    /// All of it.
    All,
}

/// Where a member's operand lies.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Place {
    /// In the storage of a node, from this element on.
    Slot(NodeId, usize),
    /// In a buffer of the group.
    Buffer(usize),
    /// It is this number.
    Number(f64),
}

/// An operand of a member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) place: Place,
    pub(super) part: Part,
    /// Its type, or that of a whole block of it.
    pub(super) ty: TensorType,
}

/// Where a member's value goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Goal {
    /// Into its own storage.
    Slot,
    /// Into a buffer of the group.
    Buffer(usize),
    /// The same, and it is handed out beside this leaf's values.
    Handed(usize, NodeId),
    /// Into the group's running sums of this number, so many columns wide; into its own storage at the end.
    Stripes { ix: usize, columns: usize },
    /// Nowhere: whoever reads it reads its source.
    Nowhere,
}

/// A node of a group.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) node: NodeId,
    pub(super) goal: Goal,
    pub(super) part: Part,
    pub(super) src: Vec<Source>,
    /// The type of what a whole block makes of it.
    pub(super) ty: TensorType,
    /// What it adds up, if it is a sum.
    pub(super) term: Option<Term>,
    /// Whether it takes away what it adds up.
    pub(super) minus: bool,
    /// Whether its values are looked through for NaN.
    pub(super) looks: bool,
}

/// A plan for a graph.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) steps: Vec<Step>,
    /// How many buffers the groups need.
    pub(super) n_buffers: usize,
    /// Elements of the largest.
    pub(super) buffer: usize,
    /// For each node whether it has a value of its own afterwards.
    pub(super) stands: Vec<bool>,
    /// Nodes that are handed out whole, at the end, and the leaf of each.
    pub(super) whole: Vec<(NodeId, NodeId)>,
    /// Leaves that the plan takes for the number that the graph says they are.
    pub(super) numbers: Vec<NodeId>,
}

impl Plan {
    /// A plan for a graph's first `n` nodes, by which those that `kept` names have values afterwards, and those that
    /// `handed` gives a leaf of their shape are handed out beside its values: gradients that nobody looks at any more
    /// once their parameters have moved. `None` for graphs that are evaluated node by node.
    pub fn new(
        graph: &Graph,
        n: usize,
        kept: impl Fn(NodeId) -> bool,
        handed: impl Fn(NodeId) -> Option<NodeId>,
    ) -> Option<Self> {
        let plain =
            |node: &Node| !node.flags.in_place && matches!(node.ty.dtype, DType::F32 | DType::Bool);
        if !graph.prefix(n).all(|(_, node)| plain(node)) {
            return None;
        }
        let mut planner = Planner {
            graph,
            readers: vec![0; graph.len()],
            kept: vec![false; graph.len()],
            handed: vec![None; graph.len()],
            numbers: Vec::new(),
            inside: vec![Inside::No; graph.len()],
            steps: Vec::new(),
            open: None,
            n_buffers: 0,
            buffer: 0,
            stands: vec![true; graph.len()],
        };
        for (id, node) in graph.prefix(n) {
            for s in node.src() {
                planner.read(*s);
            }
            let leaf = handed(id).filter(|leaf| graph.node(*leaf).ty.shape == node.ty.shape);
            if let Some(place) = planner.handed.get_mut(id.index()) {
                *place = leaf;
            }
            if kept(id) || leaf.is_some() && node.view.is_some() {
                // A view stands where its storage does.
                let root = graph.storage(id).root;
                for id in [id, root] {
                    if let Some(place) = planner.kept.get_mut(id.index()) {
                        *place = true;
                    }
                }
            }
        }
        for (id, node) in graph.prefix(n) {
            planner.take(id, node);
        }
        planner.close();
        let Planner { steps, n_buffers, buffer, stands, handed, numbers, .. } = planner;
        let stay = graph.prefix(n).zip(handed).zip(&stands).filter(|(_, stays)| **stays);
        let whole = stay.filter_map(|(((id, _), leaf), _)| Some((id, leaf?))).collect();
        Some(Self { steps, n_buffers, buffer, stands, whole, numbers })
    }

    /// Whether a node has a value after the plan has been followed.
    pub fn keeps(&self, id: NodeId) -> bool {
        self.stands.get(id.index()).copied().unwrap_or(false)
    }
}

/// What a node is to the group that is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Inside {
    /// It has its value before.
    No,
    /// Its rows come one after the other.
    Rows,
    /// It has its value once the group is done.
    After,
}

/// A group that may still grow.
struct Open {
    /// The shape whose rows it goes through.
    shape: Shape,
    members: Vec<(NodeId, Part)>,
    /// What waits for it.
    after: Vec<NodeId>,
}

struct Planner<'a> {
    graph: &'a Graph,
    /// How many times each node is read.
    readers: Vec<u32>,
    kept: Vec<bool>,
    handed: Vec<Option<NodeId>>,
    numbers: Vec<NodeId>,
    inside: Vec<Inside>,
    steps: Vec<Step>,
    open: Option<Open>,
    n_buffers: usize,
    buffer: usize,
    stands: Vec<bool>,
}

/// A shape as rows: what a row of `of` needs of a tensor of this shape, if rows can serve.
fn part(of: Shape, shape: Shape) -> Option<Part> {
    let ([a, b, c, n], own) = (of.padded(), shape.padded());
    if own == [a, b, c, n] {
        Some(Part::Row)
    } else if own == [a, b, c, 1] {
        Some(Part::Element)
    } else if own == [1, 1, 1, n] || own == [1; MAX_RANK] {
        Some(Part::All)
    } else {
        None
    }
}

/// How many rows a shape has.
fn rows(shape: Shape) -> usize {
    let [a, b, c, _] = shape.padded().map(|d| d as usize);
    a * b * c
}

/// The width of a shape's rows.
fn width(shape: Shape) -> usize {
    shape.padded()[MAX_RANK - 1] as usize
}

/// A type with the rows of one block only. Its rank stays, and so does what a negative axis means.
pub(super) fn block(ty: TensorType, rows: usize) -> TensorType {
    let rank = ty.shape.rank();
    let mut shape = ty.shape;
    for axis in 0..rank.saturating_sub(1) {
        shape = shape.with_dim(axis, if axis + 2 == rank { rows as u32 } else { 1 });
    }
    TensorType { shape, ..ty }
}

impl Planner<'_> {
    fn read(&mut self, id: NodeId) {
        if let Some(n) = self.readers.get_mut(id.index()) {
            *n += 1;
        }
    }

    fn inside(&self, id: NodeId) -> Inside {
        let root = self.graph.storage(id).root;
        self.inside.get(root.index()).copied().unwrap_or(Inside::No)
    }

    fn set(&mut self, id: NodeId, inside: Inside) {
        if let Some(place) = self.inside.get_mut(id.index()) {
            *place = inside;
        }
    }

    /// A number beside a tensor, that a rule wrote: it is read as a number, whatever shape it was given. Of leaves that
    /// could be given values it is the 1 that the gradient began with, and not what a step fills.
    fn number(&self, id: NodeId) -> Option<f64> {
        let node = self.graph.node(id);
        match &node.kind {
            NodeKind::Leaf(init @ Init::Fill(x))
                if node.name.is_none()
                    && (node.flags.inline || !node.flags.param && x.to_bits() == ONE) =>
            {
                Some(init.element(&node.ty, 0))
            }
            _ => None,
        }
    }

    /// Finds a place for a node: in the open group, before it, after it, or behind it.
    fn take(&mut self, id: NodeId, node: &Node) {
        if let Some(view) = &node.view {
            if !view.is_packed(node.ty.shape) {
                self.alone(id, node, Step::Pack(id));
            }
            return;
        }
        if matches!(node.kind, NodeKind::Leaf(_)) {
            self.steps.push(Step::Node(id));
            return;
        }
        if self.joins(id, node) {
            return;
        }
        let begins = self.begins(node);
        if let Some(shape) = begins {
            self.close();
            self.open = Some(Open { shape, members: Vec::new(), after: Vec::new() });
            if self.joins(id, node) {
                return;
            }
            self.open = None;
        }
        self.alone(id, node, Step::Node(id));
    }

    /// A node that is evaluated by itself.
    fn alone(&mut self, id: NodeId, node: &Node, step: Step) {
        let waits = node.src().iter().any(|s| self.inside(*s) != Inside::No);
        if !waits {
            self.steps.push(step);
            return;
        }
        let small = node.ty.shape.n_elements() <= 64 && matches!(step, Step::Node(_));
        if let Some(open) = self.open.as_mut().filter(|_| small) {
            open.after.push(id);
            self.set(id, Inside::After);
            return;
        }
        self.close();
        self.steps.push(step);
    }

    /// The shape whose rows a group that begins with this node goes through.
    fn begins(&self, node: &Node) -> Option<Shape> {
        let NodeKind::Op { op, src, .. } = &node.kind else { return None };
        let shape = match op.def().forward.pace {
            Pace::Whole => return None,
            Pace::Each | Pace::Stretch => node.ty.shape,
            Pace::Rows | Pace::SumRows | Pace::Lines(_) | Pace::Sum(_) | Pace::Fold => {
                self.graph.node(*src.first()?).ty.shape
            }
        };
        (shape.rank() > 1 && rows(shape) > 1 && width(shape) > 0).then_some(shape)
    }

    /// Takes a node into the open group, if its rows can be computed there.
    fn joins(&mut self, id: NodeId, node: &Node) -> bool {
        let Some(part) = self.part_in_open(node) else { return false };
        let adds = part == Part::All;
        if let Some(open) = self.open.as_mut() {
            open.members.push((id, part));
        }
        self.set(id, if adds { Inside::After } else { Inside::Rows });
        true
    }

    /// What of a node a row of the open group makes; `All` for a sum of rows.
    fn part_in_open(&self, node: &Node) -> Option<Part> {
        let of = self.open.as_ref()?.shape;
        let NodeKind::Op { op, src, params } = &node.kind else { return None };
        let def = op.def();
        if src.len() > 3 || src.iter().any(|s| self.inside(*s) == Inside::After) {
            return None;
        }
        // A view of what is being computed has to wait.
        let waits =
            |s: &NodeId| self.graph.node(*s).view.is_some() && self.inside(*s) != Inside::No;
        if src.iter().any(waits) {
            return None;
        }
        let source = |s: &NodeId| {
            if def.stretches && self.number(*s).is_some() {
                return Some(Part::All);
            }
            part(of, self.graph.node(*s).ty.shape)
        };
        let parts: Vec<Part> = src.iter().map(source).collect::<Option<_>>()?;
        let own = part(of, node.ty.shape);
        let first = parts.first().copied();
        match def.forward.pace {
            Pace::Whole => None,
            Pace::Each | Pace::Stretch => {
                let own = own.filter(|own| *own != Part::All)?;
                let same = |p: &Part| *p == own;
                let fits = |p: &Part| same(p) || own == Part::Row || *p == Part::All;
                // A row that is read by single elements only where it has but one.
                let narrow = own == Part::Element && width(of) > 1;
                let wide = |s: &NodeId| {
                    self.graph.node(*s).ty.shape.n_elements() == 1 || self.number(*s).is_some()
                };
                let alright = parts
                    .iter()
                    .zip(src)
                    .all(|(p, s)| fits(p) && !(narrow && *p == Part::All && !wide(s)));
                let stretches = def.stretches || def.forward.pace == Pace::Stretch;
                (alright && (stretches || parts.iter().all(same))).then_some(own)
            }
            Pace::Rows | Pace::SumRows | Pace::Lines(_) => {
                if let Pace::Lines(ix) = def.forward.pace {
                    let shape = self.graph.node(*src.first()?).ty.shape;
                    let axes = line_axes(params, ix, shape)?;
                    if axes != [shape.rank() - 1] || src.len() != 1 {
                        return None;
                    }
                }
                let rank = self.graph.node(*src.first()?).ty.shape.rank();
                let rows = parts.iter().all(|p| *p == Part::Row) && rank == node.ty.shape.rank();
                own.filter(|own| rows && *own != Part::All)
            }
            Pace::Sum(ix) => {
                let shape = self.graph.node(*src.first()?).ty.shape;
                let axes = resolve_axes(params, ix, shape).ok()?;
                let last = shape.rank().checked_sub(1)?;
                if first != Some(Part::Row) {
                    None
                } else if axes == [last] {
                    (own == Some(Part::Element) && node.ty.shape.rank() == shape.rank())
                        .then_some(Part::Element)
                } else {
                    let leading = axes.iter().copied().eq(0..last);
                    (leading || axes.len() == shape.rank()).then_some(Part::All)
                }
            }
            Pace::Fold => own.filter(|_| first == Some(Part::Row)),
        }
    }

    /// Ends the open group: says where each member's value goes, and what waits for it.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let (shape, graph) = (open.shape, self.graph);
        let places: BTreeMap<NodeId, usize> =
            open.members.iter().enumerate().map(|(ix, (id, _))| (*id, ix)).collect();
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); open.members.len()];
        for (ix, (id, _)) in open.members.iter().enumerate() {
            for s in graph.node(*id).src() {
                if let Some(list) = places.get(s).and_then(|at| readers.get_mut(*at)) {
                    list.push(ix);
                }
            }
        }
        let mut members: Vec<Member> = Vec::with_capacity(open.members.len());
        let mut n_stripes = 0;
        for ((id, part), readers) in open.members.iter().zip(&readers) {
            let node = graph.node(*id);
            let src: Vec<Source> = node
                .src()
                .iter()
                .map(|s| match places.get(s).and_then(|at| members.get(*at)) {
                    Some(Member { goal: Goal::Nowhere, src, .. }) if !src.is_empty() => {
                        src.first().copied().unwrap_or(NOTHING)
                    }
                    Some(m) => {
                        Source { place: Place::Slot(*s, 0), part: m.part, ty: graph.node(*s).ty }
                    }
                    None => self.outer(shape, node, *s),
                })
                .collect();
            let all_inside =
                self.readers.get(id.index()).is_some_and(|n| *n as usize == readers.len());
            let private = all_inside && self.kept.get(id.index()) == Some(&false);
            let handed = self.handed.get(id.index()).copied().flatten();
            let stretches = |r: &usize| {
                let op = open.members.get(*r).and_then(|(id, _)| graph.node(*id).op());
                op.is_some_and(|op| op.def().stretches)
            };
            let only_stretches = node.op().is_some_and(|op| op.def().forward.pace == Pace::Stretch)
                && src.first().is_some_and(|s| s.part != Part::Row)
                && readers.iter().all(stretches);
            let same = times_one(node, &src).filter(|s| s.part == *part);
            let mut made = Member {
                node: *id,
                goal: Goal::Slot,
                part: *part,
                src,
                ty: node.ty,
                term: (adds_up(graph, *id) && *part != Part::Row).then_some(Term::Plain),
                minus: false,
                looks: node.flags.carries.is_some(),
            };
            if *part == Part::All {
                n_stripes += 1;
                let columns = if node.ty.shape.n_elements() == 1 { 1 } else { width(shape) };
                made.goal = Goal::Stripes { ix: n_stripes - 1, columns };
            } else if private && let Some(leaf) = handed {
                made.goal = Goal::Handed(usize::MAX, leaf);
            } else if private && only_stretches {
                made.goal = Goal::Nowhere;
                let of = node.src().first().copied().filter(|s| !places.contains_key(s));
                if let Some(number) = of.and_then(|s| self.as_number(s)) {
                    made.src = vec![number];
                }
            } else if private && let Some(same) = same {
                (made.goal, made.src, made.looks) = (Goal::Nowhere, vec![same], false);
            } else if private {
                made.goal = Goal::Buffer(usize::MAX);
            }
            members.push(made);
        }
        look_late(graph, &mut members, &readers);
        absorb(graph, &mut members, &readers, &places, width(shape));
        let n_buffers = share_buffers(&mut members, &readers, &places);
        for m in &members {
            self.set(m.node, Inside::No);
            if matches!(m.goal, Goal::Buffer(_) | Goal::Handed(..) | Goal::Nowhere)
                && let Some(place) = self.stands.get_mut(m.node.index())
            {
                *place = false;
            }
        }
        let at_once = at_once(width(shape));
        self.n_buffers = self.n_buffers.max(n_buffers);
        self.buffer = self.buffer.max(at_once.min(rows(shape)) * width(shape));
        let (rows, width) = (rows(shape), width(shape));
        for m in &mut members {
            m.ty = block(m.ty, at_once);
            for s in m.src.iter_mut().filter(|s| s.part != Part::All) {
                s.ty = block(s.ty, at_once);
            }
        }
        self.steps.push(Step::Group(Group { rows, at_once, width, members, n_stripes }));
        for id in open.after {
            self.set(id, Inside::No);
            self.steps.push(Step::Node(id));
        }
    }

    /// A number as an operand.
    fn as_number(&mut self, id: NodeId) -> Option<Source> {
        let x = self.number(id)?;
        let node = self.graph.node(id);
        if !node.flags.inline {
            self.numbers.push(id);
        }
        let ty = TensorType { shape: Shape::SCALAR, ..node.ty };
        Some(Source { place: Place::Number(x), part: Part::All, ty })
    }

    /// An operand that has its value before the group begins.
    fn outer(&mut self, of: Shape, reader: &Node, id: NodeId) -> Source {
        let node = self.graph.node(id);
        let stretches = reader.op().is_some_and(|op| op.def().stretches);
        if stretches && let Some(number) = self.as_number(id) {
            return number;
        }
        let place = match node.view {
            Some(View { root, offset, .. }) if is_packed_view(node) => Place::Slot(root, offset),
            _ => Place::Slot(id, 0),
        };
        Source { place, part: part(of, node.ty.shape).unwrap_or(Part::All), ty: node.ty }
    }
}

/// How many rows of a width go through a group at a time: as many as a block holds, and so many that eight divides
/// their elements.
fn at_once(width: usize) -> usize {
    match BLOCK / width.max(1) {
        rows if rows >= 8 => rows & !7,
        rows if width.is_multiple_of(8) => rows.max(1),
        _ => 8,
    }
}

/// The bits of 1.
const ONE: u64 = 1f64.to_bits();

/// What a product with 1 is.
fn times_one(node: &Node, src: &[Source]) -> Option<Source> {
    let is_one = |s: &Source| matches!(s.place, Place::Number(x) if x.to_bits() == ONE);
    match (node.op()?.def().sign, src) {
        (Some(Sign::Infix("*")), [one, other] | [other, one]) if is_one(one) => Some(*other),
        _ => None,
    }
}

/// An operand that there is not.
const NOTHING: Source =
    Source { place: Place::Number(0.0), part: Part::All, ty: TensorType::f32(Shape::SCALAR) };

/// Numbers the buffers of a group so that one serves again once nobody reads it any more. How many there are.
fn share_buffers(
    members: &mut [Member],
    readers: &[Vec<usize>],
    places: &BTreeMap<NodeId, usize>,
) -> usize {
    // Who reads each one last, also by way of one that only stretches it.
    let mut last: Vec<usize> = (0..members.len()).collect();
    for (ix, list) in readers.iter().enumerate().rev() {
        let of = |r: &usize| {
            let through = members.get(*r).is_some_and(|m| m.goal == Goal::Nowhere);
            if through { last.get(*r).copied().unwrap_or(*r) } else { *r }
        };
        let latest = list.iter().map(of).max().unwrap_or(ix);
        if let Some(place) = last.get_mut(ix) {
            *place = latest;
        }
    }
    let mut ends: Vec<Vec<usize>> = vec![Vec::new(); members.len()];
    let mut free: Vec<usize> = Vec::new();
    let mut n_buffers = 0;
    for ix in 0..members.len() {
        let own = members.get(ix).map_or(Goal::Slot, |m| m.goal);
        if matches!(own, Goal::Buffer(_) | Goal::Handed(..)) {
            let buffer = free.pop().unwrap_or_else(|| {
                n_buffers += 1;
                n_buffers - 1
            });
            if let Some(m) = members.get_mut(ix) {
                m.goal = match own {
                    Goal::Handed(_, leaf) => Goal::Handed(buffer, leaf),
                    _ => Goal::Buffer(buffer),
                };
            }
            if let Some(list) = last.get(ix).and_then(|at| ends.get_mut(*at)) {
                list.push(buffer);
            }
        }
        free.append(&mut ends.get_mut(ix).map(std::mem::take).unwrap_or_default());
    }
    let goals: Vec<Goal> = members.iter().map(|m| m.goal).collect();
    for source in members.iter_mut().flat_map(|m| &mut m.src) {
        if let Place::Slot(id, _) = source.place
            && let Some(Goal::Buffer(b) | Goal::Handed(b, _)) =
                places.get(&id).and_then(|at| goals.get(*at))
        {
            source.place = Place::Buffer(*b);
        }
    }
    n_buffers
}

fn is_packed_view(node: &Node) -> bool {
    node.view.as_ref().is_some_and(|view| view.is_packed(node.ty.shape))
}

/// The axes that an attribute names, where a row works along one.
fn line_axes(params: &crate::graph::Params, ix: usize, shape: Shape) -> Option<Vec<usize>> {
    // What is left out is all axes to a reduction, and the last to a softmax: neither is asked here.
    params.ints(ix)?;
    resolve_axes(params, ix, shape).ok()
}
