//! Evaluates nodes in order, in f32 or f64, each into storage of its own or through a window into another's.
//! Deliberately absent: recursion, a clock, and any evaluation that was not asked for.

#[cfg(feature = "full")]
mod follow;
#[cfg(feature = "full")]
mod fuse;
#[cfg(feature = "full")]
mod given;
#[cfg(feature = "full")]
mod nearby;
#[cfg(feature = "full")]
mod plan;
mod window;

use std::borrow::Cow;
use std::collections::BTreeMap;

#[cfg(feature = "full")]
pub use self::follow::Handed;
#[cfg(feature = "full")]
use self::nearby::{Nearby, Product};
#[cfg(feature = "full")]
pub use self::plan::Plan;
use self::window::{Walk, gather};
#[cfg(feature = "full")]
use crate::graph::Node;
use crate::graph::{Graph, NodeId, NodeKind, View};
#[cfg(feature = "full")]
use crate::kernels::{Stripes, any_nan};
#[cfg(feature = "full")]
use crate::ops::def::Sign;
use crate::ops::def::{Cx, Lane, Operand};
use crate::tensor::{DType, Shape, round_to};

/// The elements of a node: as few as most nodes of a taught graph have lie here, without an allocation of their own.
#[cfg(feature = "full")]
type Elements<T> = smallvec::SmallVec<[T; 4]>;

/// The same for the part of the engine that the page starts with, which has the smaller code.
#[cfg(not(feature = "full"))]
type Elements<T> = Vec<T>;

/// So many zeros.
#[cfg(feature = "full")]
fn zeros<T: Lane>(n: usize) -> Elements<T> {
    if n <= 4 {
        let mut few = Elements::from_buf([T::ZERO; 4]);
        few.truncate(n);
        return few;
    }
    vec![T::ZERO; n].into()
}

/// So many zeros.
#[cfg(not(feature = "full"))]
fn zeros<T: Lane>(n: usize) -> Elements<T> {
    vec![T::ZERO; n]
}

#[derive(Clone, Debug, Default)]
enum Slot<T> {
    #[default]
    Empty,
    Real(Elements<T>),
    /// Integers keep their own type: an f32 cannot hold every i32.
    Whole(Vec<i32>),
}

/// The values of a graph's nodes.
#[derive(Clone, Debug, Default)]
pub struct Values<T> {
    slots: Vec<Slot<T>>,
    /// Values that replace a leaf's own: what training or a check has put there.
    given: Vec<Option<Vec<T>>>,
    /// Leaves whose storage some node writes over: they start afresh at every evaluation.
    written: Vec<bool>,
    /// What nodes held when they were evaluated, where a later one has written over it.
    before: BTreeMap<NodeId, Vec<T>>,
    /// By storage that some node writes over: nodes whose values lie in it and are not kept.
    fresh: Vec<Vec<NodeId>>,
    /// Whether a node is among them.
    is_fresh: Vec<bool>,
    /// The same graph with leaves moved a little, where some product is `0 · ∞`.
    #[cfg(feature = "full")]
    nearby: Option<Box<Nearby>>,
    /// What the groups of a plan work in.
    #[cfg(feature = "full")]
    buffers: Vec<Elements<T>>,
    /// Their running sums.
    #[cfg(feature = "full")]
    stripes: Vec<Stripes<T>>,
    /// Leaves that were given values since a plan was followed.
    #[cfg(feature = "full")]
    changed: Vec<bool>,
    /// Whether these are such values themselves.
    is_nearby: bool,
}

impl<T: Lane> Values<T> {
    /// No values yet.
    pub fn new() -> Self {
        Self {
            slots: Vec::new(),
            given: Vec::new(),
            written: Vec::new(),
            before: BTreeMap::new(),
            fresh: Vec::new(),
            is_fresh: Vec::new(),
            #[cfg(feature = "full")]
            nearby: None,
            #[cfg(feature = "full")]
            buffers: Vec::new(),
            #[cfg(feature = "full")]
            stripes: Vec::new(),
            #[cfg(feature = "full")]
            changed: Vec::new(),
            is_nearby: false,
        }
    }

    /// Gives a leaf other values than its own, from the next evaluation on.
    pub fn give(&mut self, leaf: NodeId, values: Vec<T>) {
        let ix = leaf.index();
        self.note_change(leaf);
        if self.given.len() <= ix {
            self.given.resize(ix + 1, None);
        }
        if self.slots.len() <= ix {
            self.slots.resize_with(ix + 1, Slot::default);
        }
        if let (Some(given), Some(slot)) = (self.given.get_mut(ix), self.slots.get_mut(ix)) {
            *slot = Slot::Real(Elements::from(values.as_slice()));
            *given = Some(values);
        }
    }

    /// The same into the buffers that the leaf has already: after the first time nothing is allocated.
    pub fn refill(&mut self, leaf: NodeId, values: &[T]) {
        let ix = leaf.index();
        self.note_change(leaf);
        match (self.given.get_mut(ix), self.slots.get_mut(ix)) {
            (Some(Some(given)), Some(Slot::Real(slot))) => {
                given.clear();
                given.extend_from_slice(values);
                slot.clear();
                slot.extend_from_slice(values);
            }
            _ => self.give(leaf, values.to_vec()),
        }
    }

    /// Elements of every buffer, by capacity.
    pub fn n_held(&self) -> usize {
        let slots = self.slots.iter().map(|slot| match slot {
            Slot::Empty => 0,
            Slot::Real(v) => v.capacity(),
            Slot::Whole(v) => v.capacity(),
        });
        let given = self.given.iter().flatten().map(Vec::capacity);
        #[cfg(feature = "full")]
        let work = self.buffers.iter().map(Elements::capacity).sum::<usize>();
        #[cfg(not(feature = "full"))]
        let work = 0;
        slots.sum::<usize>() + given.sum::<usize>() + work
    }

    /// Changes one element of what a leaf was given.
    pub fn give_element(&mut self, leaf: NodeId, element: usize, value: T) {
        self.note_change(leaf);
        if let Some(x) = self
            .given
            .get_mut(leaf.index())
            .and_then(Option::as_mut)
            .and_then(|v| v.get_mut(element))
        {
            *x = value;
        }
        if let Some(Slot::Real(slot)) = self.slots.get_mut(leaf.index())
            && let Some(x) = slot.get_mut(element)
        {
            *x = value;
        }
    }

    #[cfg(feature = "full")]
    fn note_change(&mut self, leaf: NodeId) {
        if self.changed.len() <= leaf.index() {
            self.changed.resize(leaf.index() + 1, true);
        }
        if let Some(flag) = self.changed.get_mut(leaf.index()) {
            *flag = true;
        }
    }

    #[cfg(not(feature = "full"))]
    #[expect(clippy::unused_self, reason = "the part keeps no plan that a change would touch")]
    const fn note_change(&mut self, _: NodeId) {}

    /// Evaluates the nodes of a range, in order. Their sources must have values already.
    pub fn eval(&mut self, graph: &Graph, range: std::ops::Range<usize>) {
        self.make_ready(graph);
        for ix in range {
            if let Some(id) = NodeId::at(ix)
                && graph.get(id).is_some()
            {
                self.eval_node(graph, id, false);
            }
        }
        #[cfg(feature = "full")]
        {
            self.nearby = None;
        }
    }

    /// A place for each node's value, and which leaves are written over.
    fn make_ready(&mut self, graph: &Graph) {
        if self.slots.len() >= graph.len() && self.written.len() >= graph.len() {
            return;
        }
        if self.slots.len() < graph.len() {
            self.slots.resize_with(graph.len(), Slot::default);
        }
        self.written.resize(graph.len(), false);
        for root in graph.written() {
            if let Some(flag) = self.written.get_mut(root.index()) {
                *flag = true;
            }
        }
    }

    fn take(&mut self, id: NodeId) -> Slot<T> {
        self.slots.get_mut(id.index()).map(std::mem::take).unwrap_or_default()
    }

    fn put(&mut self, id: NodeId, slot: Slot<T>) {
        if let Some(place) = self.slots.get_mut(id.index()) {
            *place = slot;
        }
    }

    /// A buffer for a node's value, from its last evaluation where there was one.
    fn buffer(&mut self, id: NodeId, len: usize) -> Elements<T> {
        match self.take(id) {
            // What stands there is written over, every element of it.
            Slot::Real(old) if crate::WHOLE && old.len() == len => old,
            Slot::Real(mut old) => {
                old.clear();
                old.resize(len, T::ZERO);
                old
            }
            _ => zeros(len),
        }
    }

    /// Keeps what the nodes before an in-place one hold in its storage, for whoever asks what they were.
    fn keep(&mut self, graph: &Graph, writer: NodeId) {
        let root = graph.storage(writer).root;
        let mut fresh = self.fresh.get_mut(root.index()).map(std::mem::take).unwrap_or_default();
        if !self.before.contains_key(&root) && self.is_fresh.get(root.index()) != Some(&true) {
            fresh.push(root);
        }
        fresh.retain(|id| {
            let keeps = *id < writer;
            if keeps {
                let values = self.packed(graph, *id).into_owned();
                self.before.insert(*id, values);
                if let Some(flag) = self.is_fresh.get_mut(id.index()) {
                    *flag = false;
                }
            }
            !keeps
        });
        if let Some(place) = self.fresh.get_mut(root.index()) {
            *place = fresh;
        }
    }

    /// A node's value lies in its storage again, and not beside it.
    fn stands(&mut self, graph: &Graph, id: NodeId) {
        let root = graph.node(id).view.map_or(id, |view| view.root);
        if self.written.get(root.index()).copied().unwrap_or(false) {
            self.before.remove(&id);
            let n = graph.len();
            self.is_fresh.resize(n, false);
            self.fresh.resize_with(n, Vec::new);
            if let (Some(flag), Some(fresh)) =
                (self.is_fresh.get_mut(id.index()), self.fresh.get_mut(root.index()))
                && !std::mem::replace(flag, true)
            {
                fresh.push(id);
            }
        }
    }

    /// Evaluates a node. `planned` says that others may have no values; false where one of them would be needed.
    fn eval_node(&mut self, graph: &Graph, id: NodeId, planned: bool) -> bool {
        if crate::WHOLE {
            self.stands(graph, id);
        }
        let node = graph.node(id);
        let len = node.ty.shape.n_elements() as usize;
        let (op, src, params) = match &node.kind {
            NodeKind::Leaf(init) => {
                let kept = !matches!(self.slots.get(id.index()), None | Some(Slot::Empty));
                if kept && !self.written.get(id.index()).copied().unwrap_or(false) {
                    return true;
                }
                let slot = match self.given.get(id.index()) {
                    Some(Some(values)) => Slot::Real(Elements::from(values.as_slice())),
                    _ if crate::WHOLE && node.ty.dtype == DType::I32 => {
                        Slot::Whole((0..len).map(|i| init.element(&node.ty, i) as i32).collect())
                    }
                    _ => {
                        let mut out = self.buffer(id, len);
                        for (i, o) in out.iter_mut().enumerate() {
                            *o = T::from_f64(init.element(&node.ty, i));
                        }
                        Slot::Real(out)
                    }
                };
                self.put(id, slot);
                return true;
            }
            NodeKind::Op { op, src, params } => (op.def(), src, params),
        };
        if node.view.is_some() && !node.flags.in_place {
            return true;
        }
        // Integers alone are computed in f64, which holds every i32 exactly.
        #[cfg(feature = "full")]
        if counts(graph, node, src) {
            self.count(graph, id);
            return true;
        }
        let mut out = if node.flags.in_place { zeros(len) } else { self.buffer(id, len) };
        if !crate::WHOLE || op.forward.needs_zeros() {
            out.fill(T::ZERO);
        }
        let f = T::pick(&op.forward);
        #[cfg(feature = "full")]
        let mut product = None;
        #[cfg(feature = "full")]
        let mut look = |data: &[Cow<'_, [T]>], out: &[T]| {
            if let Some(at) = node.flags.carries {
                product = Self::product(graph, id, at, data, out);
            }
        };
        #[cfg(not(feature = "full"))]
        let look = |_: &[Cow<'_, [T]>], _: &[T]| {};
        if let (true, [a, b]) = (crate::WHOLE, &src[..]) {
            // So many nodes have two sources that they allocate nothing here.
            let data = [self.operand(graph, *a, planned), self.operand(graph, *b, planned)];
            let [x, y] = &data;
            let operands = [
                Operand { data: x, ty: graph.node(*a).ty },
                Operand { data: y, ty: graph.node(*b).ty },
            ];
            f(&mut Cx { src: &operands, params, ty: node.ty, out: &mut out });
            look(&data, &out);
        } else if let (true, [a]) = (crate::WHOLE, &src[..]) {
            let data = [self.operand(graph, *a, planned)];
            let [x] = &data;
            let operands = [Operand { data: x, ty: graph.node(*a).ty }];
            f(&mut Cx { src: &operands, params, ty: node.ty, out: &mut out });
        } else {
            let data: Vec<Cow<'_, [T]>> =
                src.iter().map(|s| self.operand(graph, *s, planned)).collect();
            let operands: Vec<Operand<'_, T>> = data
                .iter()
                .zip(src)
                .map(|(data, s)| Operand { data, ty: graph.node(*s).ty })
                .collect();
            f(&mut Cx { src: &operands, params, ty: node.ty, out: &mut out });
            look(&data, &out);
        }
        #[cfg(feature = "full")]
        if let Some(product) = product {
            if planned {
                self.put(id, Slot::Real(out));
                return false;
            }
            let limits = if self.is_nearby {
                product.elements.iter().map(|(ix, _)| (*ix, 0.0)).collect()
            } else {
                self.limits(graph, &product)
            };
            for (ix, limit) in limits {
                if let Some(o) = out.get_mut(ix) {
                    *o = T::from_f64(limit);
                }
            }
        }
        if crate::WHOLE && T::STORES && matches!(node.ty.dtype, DType::F16 | DType::Bf16) {
            for o in &mut out {
                *o = T::from_f64(round_to(node.ty.dtype, o.to_f64()));
            }
        }
        match node.view {
            Some(view) if crate::WHOLE => {
                self.keep(graph, id);
                self.scatter(&view, node.ty.shape, &out);
            }
            _ => self.put(id, Slot::Real(out)),
        }
        true
    }

    /// Evaluates a node whose operands are whole numbers, or whose value is.
    #[cfg(feature = "full")]
    fn count(&mut self, graph: &Graph, id: NodeId) {
        let node = graph.node(id);
        let NodeKind::Op { op, src, params } = &node.kind else { return };
        let data: Vec<Vec<f64>> = src.iter().map(|s| self.read_f64(graph, *s)).collect();
        let operands: Vec<Operand<'_, f64>> =
            data.iter().zip(src).map(|(data, s)| Operand { data, ty: graph.node(*s).ty }).collect();
        let mut out = vec![0.0; node.ty.shape.n_elements() as usize];
        (op.def().forward.f64)(&mut Cx { src: &operands, params, ty: node.ty, out: &mut out });
        if node.ty.dtype == DType::I32 {
            self.put(id, Slot::Whole(out.iter().map(|x| *x as i32).collect()));
        } else {
            self.put(id, Slot::Real(out.iter().map(|x| T::from_f64(*x)).collect()));
        }
    }

    /// What is `0 · ∞` in a product with a gradient, which is source `at`.
    #[cfg(feature = "full")]
    fn product(
        graph: &Graph,
        id: NodeId,
        at: u8,
        data: &[Cow<'_, [T]>],
        out: &[T],
    ) -> Option<Product> {
        // Nearly always there is no NaN, and that is quick to see.
        if !any_nan(out) {
            return None;
        }
        let node = graph.node(id);
        let [a, b] = [0, 1].map(|ix| data.get(ix).map_or(&[][..], |d| &d[..]));
        let (gradient, slope) = if at == 0 { (a, b) } else { (b, a) };
        let elements = undecided(out, gradient, slope);
        let [first, second] = node.src() else { return None };
        let (g, s) = if at == 0 { (*first, *second) } else { (*second, *first) };
        let is_times = node.op().and_then(|op| op.def().sign) != Some(Sign::Infix("/"));
        (!elements.is_empty()).then_some(Product {
            node: id,
            gradient: g,
            slope: s,
            is_times,
            elements,
        })
    }

    /// An operand's value, packed. A plan has packed the views that need it.
    #[inline]
    fn operand(&self, graph: &Graph, id: NodeId, planned: bool) -> Cow<'_, [T]> {
        if crate::WHOLE
            && graph.node(id).view.is_none()
            && let Some(Slot::Real(own)) = self.slots.get(id.index())
        {
            return Cow::Borrowed(own);
        }
        if planned && graph.node(id).view.is_some() {
            let own = self.real(id);
            if !own.is_empty() {
                return Cow::Borrowed(own);
            }
        }
        self.packed(graph, id)
    }

    /// What lies in a node's own storage.
    fn real(&self, id: NodeId) -> &[T] {
        match self.slots.get(id.index()) {
            Some(Slot::Real(values)) => values,
            _ => &[],
        }
    }

    /// Puts values where a node's are stored, through its window, as if it had been evaluated to them.
    pub fn restore(&mut self, graph: &Graph, id: NodeId, values: &[T]) {
        self.stands(graph, id);
        self.scatter(&graph.storage(id), graph.node(id).ty.shape, values);
    }

    /// Writes packed values through a window.
    fn scatter(&mut self, view: &View, shape: Shape, values: &[T]) {
        if let Some(Slot::Real(root)) = self.slots.get_mut(view.root.index()) {
            for (x, at) in values.iter().zip(Walk::new(view, shape)) {
                if let Some(place) = root.get_mut(at) {
                    *place = *x;
                }
            }
        }
    }

    /// A node's value, packed; borrowed where its storage is packed already, empty before it is evaluated.
    pub fn packed(&self, graph: &Graph, id: NodeId) -> Cow<'_, [T]> {
        if crate::WHOLE
            && graph.node(id).view.is_none()
            && let Some(Slot::Real(own)) = self.slots.get(id.index())
        {
            return Cow::Borrowed(own);
        }
        let shape = graph.node(id).ty.shape;
        let view = graph.storage(id);
        match self.slots.get(view.root.index()) {
            Some(Slot::Real(root)) => {
                if view.is_packed(shape) {
                    let end = view.offset + shape.n_elements() as usize;
                    return Cow::Borrowed(root.get(view.offset..end).unwrap_or(&[]));
                }
                let mut out = vec![T::ZERO; shape.n_elements() as usize];
                gather(root, &view, shape, &mut out);
                Cow::Owned(out)
            }
            Some(Slot::Whole(root)) if crate::WHOLE => Cow::Owned(
                Walk::new(&view, shape)
                    .filter_map(|at| root.get(at).map(|x| T::from_f64(f64::from(*x))))
                    .collect(),
            ),
            _ => Cow::Owned(Vec::new()),
        }
    }

    /// The first `n` elements of a node's value in f64, row-major; exact for every type.
    pub fn preview(&self, graph: &Graph, id: NodeId, n: usize) -> Vec<f64> {
        if crate::WHOLE
            && let Some(values) = self.before.get(&id)
        {
            return values.iter().take(n).map(|x| x.to_f64()).collect();
        }
        let view = graph.storage(id);
        let places = Walk::new(&view, graph.node(id).ty.shape).take(n);
        match self.slots.get(view.root.index()) {
            Some(Slot::Real(root)) => {
                places.filter_map(|at| root.get(at).map(|x| x.to_f64())).collect()
            }
            Some(Slot::Whole(root)) if crate::WHOLE => {
                places.filter_map(|at| root.get(at).map(|x| f64::from(*x))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A node's value in f64 when it was evaluated, packed; exact for every type. Empty before it is evaluated.
    pub fn read_f64(&self, graph: &Graph, id: NodeId) -> Vec<f64> {
        if !crate::WHOLE {
            return self.packed(graph, id).iter().map(|x| x.to_f64()).collect();
        }
        if let Some(values) = self.before.get(&id) {
            return values.iter().map(|x| x.to_f64()).collect();
        }
        let view = graph.storage(id);
        if let Some(Slot::Whole(root)) = self.slots.get(view.root.index()) {
            let shape = graph.node(id).ty.shape;
            return Walk::new(&view, shape)
                .filter_map(|at| root.get(at).map(|x| f64::from(*x)))
                .collect();
        }
        self.packed(graph, id).iter().map(|x| x.to_f64()).collect()
    }
}

/// Whether a node's operands are whole numbers, or its value is.
#[cfg(feature = "full")]
fn counts(graph: &Graph, node: &Node, src: &[NodeId]) -> bool {
    let whole = |s: &NodeId| matches!(graph.node(*s).ty.dtype, DType::I32);
    let counts = |s: &NodeId| matches!(graph.node(*s).ty.dtype, DType::I32 | DType::Bool);
    node.ty.dtype == DType::I32 || (src.iter().all(counts) && src.iter().any(whole))
}

/// Elements of a product with a gradient that are `0 · ∞`, and whether the slope is the infinite factor. What is not a
/// number on its own may be so for a branch not taken.
#[cfg(feature = "full")]
fn undecided<T: Lane>(out: &[T], gradient: &[T], slope: &[T]) -> Vec<(usize, bool)> {
    let nan = out.iter().enumerate().filter(|(_, o)| o.is_nan());
    nan.filter_map(|(ix, _)| {
        let g = gradient.get(ix).copied().unwrap_or(T::ONE);
        let s = slope.get(ix % slope.len().max(1)).copied().unwrap_or(T::ONE);
        let is_flat = slope.len() == gradient.len() && s == T::ZERO && !g.is_nan();
        (g == T::ZERO || is_flat).then_some((ix, g == T::ZERO))
    })
    .collect()
}
