//! What `0 · ∞` is in a rule's product of a gradient and a slope: what the product tends to nearby.
//!
//! The leaves behind the infinite factor are moved a little, choices stay as they are, and the graph is evaluated
//! again. Where a branch is not taken the other factor is 0 there too, so the product is 0; `√x · √x` at 0 has a
//! slope of 1 on both sides of its zeros. What differs from side to side is a kink and gets 0, as `abs` does. What
//! grows without bound stays NaN.
//! Deliberately absent: a guess from the two factors alone. A zero that only happens to be one says nothing.

use std::collections::BTreeMap;

use super::{Slot, Values};
use crate::graph::{Graph, Init, NodeId, NodeKind};
use crate::ops::def::{Backward, Lane};
use crate::tensor::{DType, TensorType};

/// How far leaves move, relative to their elements or to 1.
const STEP: f64 = 1e-9;

/// How much nearer the second look is.
const NEARER: f64 = 64.0;

/// Moves of the leaves: a seed for the direction, and how far along it. Each direction is looked at twice.
const MOVES: [(u64, f64); 6] =
    [(1, STEP), (1, STEP / NEARER), (1, -STEP), (1, -STEP / NEARER), (2, STEP), (2, STEP / NEARER)];

/// Sets of moved leaves that are told apart in one evaluation; all further ones move every leaf.
const MAX_SETS: usize = 4;

/// A graph of more elements is evaluated at one place only: copies of it would not fit beside it.
const MANY: u64 = 1 << 20;

/// Evaluations of the graph with some leaves moved, as far as they were asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Nearby {
    /// For each node the trainable leaves behind it, a bit each; leaves share bits where there are many.
    behind: Vec<u128>,
    sets: Vec<u128>,
    n_elements: u64,
    places: BTreeMap<(usize, usize), Values<f64>>,
}

/// A product of a gradient and a slope.
pub(super) struct Product {
    pub(super) node: NodeId,
    pub(super) gradient: NodeId,
    pub(super) slope: NodeId,
    /// Whether the slope is a factor, and not a divisor.
    pub(super) is_times: bool,
    /// Elements that are `0 · ∞`, and whether the slope is the infinite factor.
    pub(super) elements: Vec<(usize, bool)>,
}

impl<T: Lane> Values<T> {
    /// What the elements of a product tend to; NaN where they tend to nothing.
    pub(super) fn limits(&mut self, graph: &Graph, product: &Product) -> Vec<(usize, f64)> {
        let mut nearby = self.nearby.take().unwrap_or_default();
        nearby.look(graph);
        let out = product.elements.iter().map(|(ix, slope_is_infinite)| {
            let infinite = if *slope_is_infinite { product.slope } else { product.gradient };
            let set = nearby.set(infinite);
            let is_large = nearby.n_elements > MANY;
            let mut at = |k: usize| self.product_at(graph, &mut nearby, (set, k), product, *ix);
            (*ix, if is_large { zero_or_unknown(at(0)) } else { limit(&mut at) })
        });
        let out = out.collect();
        self.nearby = Some(nearby);
        out
    }

    /// One element of a product at one place.
    fn product_at(
        &self,
        graph: &Graph,
        nearby: &mut Nearby,
        place: (usize, usize),
        product: &Product,
        ix: usize,
    ) -> f64 {
        let moved = nearby.sets.get(place.0).copied().unwrap_or(u128::MAX);
        let mut there = nearby
            .places
            .remove(&place)
            .unwrap_or_else(|| Values { is_nearby: true, ..Values::new() });
        for at in there.slots.len()..=product.node.index() {
            if let Some(id) = NodeId::at(at) {
                let behind = nearby.behind.get(at).copied().unwrap_or(0);
                let to = MOVES.get(place.1).copied().unwrap_or_default();
                self.evaluate_there(graph, &mut there, id, (behind & moved != 0).then_some(to));
            }
        }
        let is_zero = |id: NodeId| {
            let values = there.packed(graph, id);
            let whole = graph.node(id).ty.shape == graph.node(product.node).ty.shape;
            whole && values.get(ix).is_some_and(|x| x.abs() <= 0.0)
        };
        let out = if is_zero(product.gradient) || product.is_times && is_zero(product.slope) {
            0.0
        } else {
            there.packed(graph, product.node).get(ix).copied().unwrap_or(f64::NAN)
        };
        nearby.places.insert(place, there);
        out
    }

    /// Evaluates one node nearby. Choices, and what no slope goes through, are those of the place itself.
    fn evaluate_there(
        &self,
        graph: &Graph,
        there: &mut Values<f64>,
        id: NodeId,
        moved: Option<(u64, f64)>,
    ) {
        there.slots.resize_with(id.index() + 1, Slot::default);
        there.written.resize(id.index() + 1, true);
        let node = graph.node(id);
        match &node.kind {
            NodeKind::Leaf(init) => {
                let given = self.given.get(id.index()).and_then(Option::as_ref);
                let own = given.map(|v| v.iter().map(|x| x.to_f64()).collect::<Vec<f64>>());
                if let Some((seed, step)) = moved.filter(|_| node.flags.param) {
                    let n = node.ty.shape.n_elements() as usize;
                    let of = |ix| T::from_f64(init.element(&node.ty, ix)).to_f64();
                    let own = own.unwrap_or_else(|| (0..n).map(of).collect());
                    let lengths = Init::Rand { seed: seed + id.index() as u64, lo: 0.5, hi: 1.0 };
                    let ty = TensorType::f32(node.ty.shape);
                    let move_by = |(ix, x): (usize, &f64)| {
                        x + step * x.abs().max(1.0) * lengths.element(&ty, ix)
                    };
                    there.give(id, own.iter().enumerate().map(move_by).collect());
                } else if let Some(own) = own {
                    there.give(id, own);
                }
                there.eval_node(graph, id, false);
            }
            NodeKind::Op { op, .. } => {
                let is_flat = matches!(op.def().backward, Backward::Zero(_));
                if !is_flat && node.ty.dtype.is_float() {
                    there.eval_node(graph, id, false);
                } else if node.view.is_none() {
                    let own = self.read_f64(graph, id);
                    there.put(
                        id,
                        if node.ty.dtype == DType::I32 {
                            Slot::Whole(own.iter().map(|x| *x as i32).collect())
                        } else {
                            Slot::Real(own.into())
                        },
                    );
                } else if node.flags.in_place {
                    there.restore(graph, id, &self.read_f64(graph, id));
                }
            }
        }
    }
}

impl Nearby {
    /// Finds the leaves behind each node that has none noted yet.
    fn look(&mut self, graph: &Graph) {
        for (id, node) in graph.nodes().skip(self.behind.len()) {
            let behind = match &node.kind {
                NodeKind::Leaf(_) if node.flags.param => 1 << (id.index() % 128),
                NodeKind::Leaf(_) => 0,
                NodeKind::Op { src, .. } => src
                    .iter()
                    .fold(0, |all, s| all | self.behind.get(s.index()).copied().unwrap_or(0)),
            };
            self.behind.push(behind);
            self.n_elements = self.n_elements.saturating_add(node.ty.shape.n_elements());
        }
    }

    /// The set of leaves behind a node, by its number.
    fn set(&mut self, of: NodeId) -> usize {
        let own = self.behind.get(of.index()).copied().unwrap_or(u128::MAX);
        let apart = self.sets.len() < MAX_SETS && self.n_elements <= MANY;
        let own = if apart { own } else { u128::MAX };
        self.sets.iter().position(|set| *set == own).unwrap_or_else(|| {
            self.sets.push(own);
            self.sets.len() - 1
        })
    }
}

/// What one value says by itself: 0 is that of a branch not taken, and any other is not known to be a limit.
fn zero_or_unknown(at: f64) -> f64 {
    if at.abs() <= 0.0 { 0.0 } else { f64::NAN }
}

/// What the values along each direction tend to, if to one number; 0 where to several.
fn limit(at: &mut dyn FnMut(usize) -> f64) -> f64 {
    if at(0).abs() <= 0.0 {
        // Nobody looks here, or nothing comes from here: no need to look further.
        return 0.0;
    }
    let mut found: Option<f64> = None;
    for direction in 0..MOVES.len() / 2 {
        let (far, near) = (at(2 * direction), at(2 * direction + 1));
        if far.is_nan() || near.is_nan() {
            // Outside the domain there is nothing to agree with.
            continue;
        }
        let (size, nearer) = (far.abs(), near.abs());
        let tends = if nearer <= size / 2.0 {
            0.0
        } else if (far - near).abs() <= 1e-3 * size {
            near
        } else {
            return f64::NAN;
        };
        match found {
            Some(other) if (other - tends).abs() > 1e-3 * f64::max(other.abs(), tends.abs()) => {
                return 0.0;
            }
            _ => found = Some(tends),
        }
    }
    found.unwrap_or(f64::NAN)
}
