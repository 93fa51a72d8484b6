//! Evaluates nodes in order, in f32 or f64, each into storage of its own or through a window into another's.
//! Deliberately absent: recursion, a clock, and any evaluation that was not asked for.

#[cfg(feature = "full")]
mod given;
#[cfg(feature = "full")]
mod nearby;

use std::borrow::Cow;
use std::collections::BTreeMap;

#[cfg(feature = "full")]
use self::nearby::{Nearby, Product};
#[cfg(feature = "full")]
use crate::graph::Node;
use crate::graph::{Graph, NodeId, NodeKind, View};
#[cfg(feature = "full")]
use crate::ops::def::Sign;
use crate::ops::def::{Cx, Lane, Operand};
use crate::tensor::{DType, Shape, round_to};

#[derive(Clone, Debug, Default)]
enum Slot<T> {
    #[default]
    Empty,
    Real(Vec<T>),
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
            is_nearby: false,
        }
    }

    /// Gives a leaf other values than its own, from the next evaluation on.
    pub fn give(&mut self, leaf: NodeId, values: Vec<T>) {
        let ix = leaf.index();
        if self.given.len() <= ix {
            self.given.resize(ix + 1, None);
        }
        if self.slots.len() <= ix {
            self.slots.resize_with(ix + 1, Slot::default);
        }
        if let (Some(given), Some(slot)) = (self.given.get_mut(ix), self.slots.get_mut(ix)) {
            *slot = Slot::Real(values.clone());
            *given = Some(values);
        }
    }

    /// The same into the buffers that the leaf has already: after the first time nothing is allocated.
    pub fn refill(&mut self, leaf: NodeId, values: &[T]) {
        let ix = leaf.index();
        match (self.given.get_mut(ix), self.slots.get_mut(ix)) {
            (Some(Some(given)), Some(Slot::Real(slot))) => {
                for buffer in [given, slot] {
                    buffer.clear();
                    buffer.extend_from_slice(values);
                }
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
        slots.sum::<usize>() + given.sum::<usize>()
    }

    /// Changes one element of what a leaf was given.
    pub fn give_element(&mut self, leaf: NodeId, element: usize, value: T) {
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

    /// Evaluates the nodes of a range, in order. Their sources must have values already.
    pub fn eval(&mut self, graph: &Graph, range: std::ops::Range<usize>) {
        if self.slots.len() < graph.len() {
            self.slots.resize_with(graph.len(), Slot::default);
        }
        for (id, node) in graph.prefix(graph.len()).skip(self.written.len()) {
            self.written.push(false);
            if node.flags.in_place
                && let Some(flag) = self.written.get_mut(graph.storage(id).root.index())
            {
                *flag = true;
            }
        }
        for ix in range {
            if let Some(id) = NodeId::at(ix)
                && graph.get(id).is_some()
            {
                self.eval_node(graph, id);
            }
        }
        #[cfg(feature = "full")]
        {
            self.nearby = None;
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

    /// A buffer of zeros, from the node's last evaluation where there was one.
    fn buffer(&mut self, id: NodeId, len: usize) -> Vec<T> {
        match self.take(id) {
            Slot::Real(mut old) => {
                old.clear();
                old.resize(len, T::ZERO);
                old
            }
            _ => vec![T::ZERO; len],
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
        let root = graph.storage(id).root;
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

    fn eval_node(&mut self, graph: &Graph, id: NodeId) {
        if crate::WHOLE {
            self.stands(graph, id);
        }
        let node = graph.node(id);
        let len = node.ty.shape.n_elements() as usize;
        let (op, src, params) = match &node.kind {
            NodeKind::Leaf(init) => {
                let kept = !matches!(self.slots.get(id.index()), None | Some(Slot::Empty));
                if kept && !self.written.get(id.index()).copied().unwrap_or(false) {
                    return;
                }
                let slot = match self.given.get(id.index()) {
                    Some(Some(values)) => Slot::Real(values.clone()),
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
                return;
            }
            NodeKind::Op { op, src, params } => (op.def(), src, params),
        };
        if node.view.is_some() && !node.flags.in_place {
            return;
        }
        // Integers alone are computed in f64, which holds every i32 exactly.
        #[cfg(feature = "full")]
        if counts(graph, node, src) {
            let data: Vec<Vec<f64>> = src.iter().map(|s| self.read_f64(graph, *s)).collect();
            let operands: Vec<Operand<'_, f64>> = data
                .iter()
                .zip(src)
                .map(|(data, s)| Operand { data, ty: graph.node(*s).ty })
                .collect();
            let mut out = vec![0.0; len];
            (op.forward.f64)(&mut Cx { src: &operands, params, ty: node.ty, out: &mut out });
            if node.ty.dtype == DType::I32 {
                self.put(id, Slot::Whole(out.iter().map(|x| *x as i32).collect()));
            } else {
                self.put(id, Slot::Real(out.iter().map(|x| T::from_f64(*x)).collect()));
            }
            return;
        }
        let mut out = if node.flags.in_place { vec![T::ZERO; len] } else { self.buffer(id, len) };
        #[cfg(feature = "full")]
        let mut product = None;
        {
            let data: Vec<Cow<'_, [T]>> = src.iter().map(|s| self.packed(graph, *s)).collect();
            let operands: Vec<Operand<'_, T>> = data
                .iter()
                .zip(src)
                .map(|(data, s)| Operand { data, ty: graph.node(*s).ty })
                .collect();
            T::pick(&op.forward)(&mut Cx { src: &operands, params, ty: node.ty, out: &mut out });
            #[cfg(feature = "full")]
            if let Some(at) = node.flags.carries {
                let [a, b] = [0, 1].map(|ix| data.get(ix).map_or(&[][..], |d| &d[..]));
                let (gradient, slope) = if at == 0 { (a, b) } else { (b, a) };
                let elements = undecided(&out, gradient, slope);
                if let ([first, second], false) = (&src[..], elements.is_empty()) {
                    let (g, s) = if at == 0 { (*first, *second) } else { (*second, *first) };
                    let is_times = op.sign != Some(Sign::Infix("/"));
                    product = Some(Product { node: id, gradient: g, slope: s, is_times, elements });
                }
            }
        }
        #[cfg(feature = "full")]
        if let Some(product) = product {
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
        let shape = graph.node(id).ty.shape;
        let view = graph.storage(id);
        match self.slots.get(view.root.index()) {
            Some(Slot::Real(root)) => {
                if is_packed(&view, shape) {
                    let end = view.offset + shape.n_elements() as usize;
                    return Cow::Borrowed(root.get(view.offset..end).unwrap_or(&[]));
                }
                Cow::Owned(Walk::new(&view, shape).filter_map(|at| root.get(at).copied()).collect())
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

/// Whether a window shows its elements one after the other.
pub fn is_packed(view: &View, shape: Shape) -> bool {
    let packed = shape.strides();
    shape
        .dims()
        .iter()
        .zip(view.strides)
        .zip(packed)
        .all(|((d, have), want)| *d <= 1 || have == want)
}

/// The places of a window's elements, row-major.
struct Walk {
    dims: [usize; 4],
    strides: [isize; 4],
    at: [usize; 4],
    place: isize,
    left: usize,
}

impl Walk {
    fn new(view: &View, shape: Shape) -> Self {
        let lead = 4 - shape.rank();
        let mut strides = [0; 4];
        for (out, s) in strides.iter_mut().skip(lead).zip(view.strides) {
            *out = s;
        }
        Self {
            dims: shape.padded().map(|d| d as usize),
            strides,
            at: [0; 4],
            place: view.offset as isize,
            left: shape.n_elements() as usize,
        }
    }
}

impl Iterator for Walk {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let here = usize::try_from(self.place).ok()?;
        for axis in (0..4).rev() {
            self.at[axis] += 1;
            self.place += self.strides[axis];
            if self.at[axis] < self.dims[axis] {
                break;
            }
            self.place -= self.strides[axis] * self.at[axis] as isize;
            self.at[axis] = 0;
        }
        Some(here)
    }
}
