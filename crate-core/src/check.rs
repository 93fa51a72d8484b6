//! Checks gradients against what is computed elsewhere: finite differences in f64, and a closed form.
//! Deliberately absent: any use of the backward graph to check itself, and tolerances that grow with the error.

use std::ops::Range;

use crate::dual::Dual;
use crate::forward::Values;
use crate::graph::{Graph, Init, NodeId};
use crate::kernels;
use crate::math;
use crate::ops::STOP;
use crate::tensor::TensorType;
use crate::trace::{Event, Trace};

/// Relative tolerance of a verdict: the square of the cube root of the machine epsilon is 4e-11, and a central
/// difference loses at most four more digits to curvature before its step is shrunk.
pub const TOLERANCE: f64 = 1e-6;

/// The most entries that are checked one by one.
pub const MAX_ENTRIES: u64 = 10_000;

/// How far the slopes on both sides may differ, relative to the slope, before the step is shrunk.
const SLOPES_AGREE: f64 = 1e-4;

/// What a check says of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Within tolerance.
    Agrees,
    /// The slopes on both sides differ however small the step, and the gradient lies between them.
    Kink,
    /// Neither. NaN is always this.
    Differs,
}

/// One entry of one trainable leaf, differentiated twice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Entry {
    /// The leaf.
    pub leaf: NodeId,
    /// The entry, flat and row-major.
    pub flat: usize,
    /// The engine's gradient, in f64.
    pub autodiff: f64,
    /// The central difference.
    pub fd: f64,
    /// The slope to the left.
    pub left: f64,
    /// The slope to the right.
    pub right: f64,
    /// The step that was taken in the end.
    pub h: f64,
    /// Symmetric relative error.
    pub error: f64,
    /// The verdict.
    pub verdict: Verdict,
}

/// A finite-difference check of every trainable leaf, one entry at a time: an iterator, so that whoever drives it
/// can show progress, go on later, or stop.
pub struct Finite<'a> {
    trace: &'a Trace,
    starts: Vec<Start>,
    /// The forward nodes that move: what stops a gradient keeps its value.
    moving: Vec<Range<usize>>,
    values: Values<f64>,
    /// Trainable leaves with their values and gradients.
    leaves: Vec<(NodeId, Vec<f64>, Vec<f64>)>,
    at: (usize, usize),
    left: u64,
}

impl<'a> Finite<'a> {
    /// Prepares a check of a finished trace. The gradients are evaluated once, in f64.
    pub fn new(trace: &'a Trace, loss: NodeId) -> Self {
        let graph = &trace.graph;
        let mut values = Values::<f64>::new();
        values.eval(graph, 0..graph.len());
        let grads = trace.grads();
        let mut leaves = Vec::new();
        for (id, node) in graph.prefix(trace.n_forward) {
            if node.flags.param && node.ty.dtype.is_float() {
                let own = leaf_values(graph, id);
                let grad = match grads.get(id.index()).copied().flatten() {
                    Some(grad) => values.read_f64(graph, grad),
                    None => vec![0.0; own.len()],
                };
                leaves.push((id, own, grad));
            }
        }
        let starts = starts(trace, &values);
        let mut values = Values::new();
        for (id, own, _) in &leaves {
            values.give(*id, own.clone());
        }
        values.eval(graph, 0..loss.index() + 1);
        let stopped = graph.prefix(loss.index() + 1).filter(|(_, n)| n.op() == Some(STOP));
        let ends = stopped.map(|(id, _)| id.index()).chain([loss.index() + 1]);
        let mut from = 0;
        let moving = ends
            .map(|end| {
                let range = from..end;
                from = end + 1;
                range
            })
            .collect();
        let left = leaves.iter().map(|(_, own, _)| own.len() as u64).sum::<u64>().min(MAX_ENTRIES);
        Self { trace, starts, moving, values, leaves, at: (0, 0), left }
    }

    /// How many entries are still to come.
    pub const fn remaining(&self) -> u64 {
        self.left
    }

    /// The number that is differentiated: every node that a gradient starts at, against what it starts with.
    fn objective(&mut self) -> f64 {
        let graph = &self.trace.graph;
        for range in &self.moving {
            self.values.eval(graph, range.clone());
        }
        let part =
            |s: &Start| kernels::dot(&self.values.read_f64(graph, s.node), &s.cotangent);
        self.starts.iter().map(part).sum()
    }

    /// Rounding's share of a slope, the slopes on both sides, and the central one, with a step of `h`.
    fn slopes(
        &mut self,
        (leaf, flat): (NodeId, usize),
        x: f64,
        h: f64,
        here: f64,
    ) -> (f64, f64, f64, f64) {
        // The step that is really taken, after rounding.
        let (up, down) = (x + h, x - h);
        self.values.give_element(leaf, flat, up);
        let above = self.objective();
        self.values.give_element(leaf, flat, down);
        let below = self.objective();
        let noise = 16.0 * f64::EPSILON * here.abs().max(above.abs()).max(below.abs()) / h;
        let (left, right) = ((here - below) / (x - down), (above - here) / (up - x));
        (noise, left, right, (above - below) / (up - down))
    }

    fn entry(&mut self, leaf: NodeId, flat: usize, x: f64, autodiff: f64) -> Entry {
        let here = self.objective();
        let mut h = math::cbrt(f64::EPSILON) * x.abs().max(1.0);
        let mut slopes = (0.0, 0.0, 0.0);
        // Eleven shrinkings by four take the step from 6e-6 to 1.4e-12, where rounding has the last word.
        for _ in 0..11 {
            let (noise, left, right, central) = self.slopes((leaf, flat), x, h, here);
            slopes = (left, right, central);
            let scale = left.abs().max(right.abs());
            let agree = (left - right).abs() <= SLOPES_AGREE * scale + noise;
            // Below this step the slopes are noise, and shrinking shows nothing new.
            let noisy = noise > 1e-5 * scale;
            if agree || noisy || !scale.is_finite() {
                break;
            }
            h /= 4.0;
        }
        self.values.give_element(leaf, flat, x);
        let (left, right, fd) = slopes;
        let floor = 1e-10 * (1.0 + here.abs());
        let gap = (autodiff - fd).abs();
        let size = autodiff.abs().max(fd.abs());
        let error = if gap <= floor { 0.0 } else { gap / size };
        let between = |x: f64| {
            let slack = 1e-3 * left.abs().max(right.abs()) + floor;
            x >= left.min(right) - slack && x <= left.max(right) + slack
        };
        // At an extremum the two slopes are of opposite sign as well, but their gap shrinks with the step.
        let torn = (left - right).abs() > 1e-2 * left.abs().max(right.abs()) + floor && {
            let (_, nearer_left, nearer_right, _) = self.slopes((leaf, flat), x, h / 4.0, here);
            self.values.give_element(leaf, flat, x);
            (nearer_left - nearer_right).abs() > 0.7 * (left - right).abs()
        };
        let verdict = if error <= TOLERANCE && autodiff.is_finite() && fd.is_finite() {
            if torn { Verdict::Kink } else { Verdict::Agrees }
        } else if torn && between(autodiff) {
            Verdict::Kink
        } else {
            Verdict::Differs
        };
        Entry { leaf, flat, autodiff, fd, left, right, h, error, verdict }
    }
}

impl Iterator for Finite<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        self.left = self.left.checked_sub(1)?;
        let (mut leaf_ix, mut flat) = self.at;
        while self.leaves.get(leaf_ix).is_some_and(|(_, own, _)| flat >= own.len()) {
            leaf_ix += 1;
            flat = 0;
        }
        self.at = (leaf_ix, flat + 1);
        let (leaf, own, grad) = self.leaves.get(leaf_ix)?;
        let (leaf, x) = (*leaf, *own.get(flat)?);
        let autodiff = grad.get(flat).copied().unwrap_or(f64::NAN);
        Some(self.entry(leaf, flat, x, autodiff))
    }
}

/// The adjoint test: `<J v, u> = <v, Jᵀ u>`, for every trainable leaf in turn, v along one random direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Adjoint {
    /// The leaf.
    pub leaf: NodeId,
    /// The slope of the loss along the direction, by forward mode.
    pub forward: f64,
    /// The same by the backward graph.
    pub backward: f64,
    /// Their gap relative to the sum of the magnitudes that were added up.
    pub error: f64,
}

/// Tolerance of the adjoint test: both sides are computed in f64, and only rounding separates them.
pub const ADJOINT_TOLERANCE: f64 = 1e-12;

/// Runs the adjoint test on a finished trace. Forward mode is dual numbers through the value functions alone.
pub fn adjoint(trace: &Trace, loss: NodeId) -> Vec<Adjoint> {
    let graph = &trace.graph;
    let mut values = Values::<f64>::new();
    values.eval(graph, 0..graph.len());
    let grads = trace.grads();
    let starts = starts(trace, &values);
    let mut out = Vec::new();
    for (leaf, node) in
        graph.prefix(trace.n_forward).filter(|(_, n)| n.flags.param && n.ty.dtype.is_float())
    {
        let own = leaf_values(graph, leaf);
        let direction = Init::Randn { seed: leaf.index() as u64 + 1 };
        let ty = TensorType::f32(node.ty.shape);
        let v: Vec<f64> = (0..own.len()).map(|i| direction.element(&ty, i)).collect();
        let mut duals = Values::<Dual>::new();
        duals.give(leaf, own.iter().zip(&v).map(|(x, d)| Dual::new(*x, *d)).collect());
        duals.eval(graph, 0..loss.index() + 1);
        let slope = |s: &Start| -> f64 {
            duals.packed(graph, s.node).iter().zip(&s.cotangent).map(|(d, u)| d.du * u).sum()
        };
        let forward: f64 = starts.iter().map(slope).sum();
        let grad = grads.get(leaf.index()).copied().flatten().map(|g| values.read_f64(graph, g));
        let terms: Vec<f64> = grad.unwrap_or_default().iter().zip(&v).map(|(g, d)| g * d).collect();
        let backward: f64 = terms.iter().sum();
        let size = terms.iter().map(|x| x.abs()).sum::<f64>().max(forward.abs()).max(1e-300);
        let gap = (forward - backward).abs();
        out.push(Adjoint {
            leaf,
            forward,
            backward,
            error: if gap == 0.0 { 0.0 } else { gap / size },
        });
    }
    out
}

/// A node at which gradients start, and with what: the loss, and every node with an accumulator.
struct Start {
    node: NodeId,
    cotangent: Vec<f64>,
}

fn starts(trace: &Trace, values: &Values<f64>) -> Vec<Start> {
    let start = |event: &Event| match *event {
        Event::Supplied { node, grad } | Event::Seeded { node, grad } => {
            Some(Start { node, cotangent: values.read_f64(&trace.graph, grad) })
        }
        _ => None,
    };
    trace.events.iter().filter_map(start).collect()
}

/// A leaf's own values in f64, as its storage rounds them.
pub fn leaf_values(graph: &Graph, id: NodeId) -> Vec<f64> {
    let node = graph.node(id);
    match &node.kind {
        crate::graph::NodeKind::Leaf(init) => {
            (0..node.ty.shape.n_elements() as usize).map(|i| init.element(&node.ty, i)).collect()
        }
        crate::graph::NodeKind::Op { .. } => Vec::new(),
    }
}

/// Symmetric relative error with an absolute floor; infinite where either is not a number.
pub fn relative_error(a: f64, b: f64) -> f64 {
    let gap = (a - b).abs();
    if gap.is_nan() {
        return f64::INFINITY;
    }
    if gap <= 1e-12 { 0.0 } else { gap / a.abs().max(b.abs()) }
}

/// How many f32 numbers apart two numbers are once rounded; the largest count where either is NaN.
pub fn ulps_f32(a: f64, b: f64) -> u64 {
    let place = |x: f64| ordered(u64::from((x as f32).to_bits()), 31);
    apart(a, b, place)
}

/// How many f64 numbers apart two numbers are; the largest count where either is NaN.
pub fn ulps_f64(a: f64, b: f64) -> u64 {
    apart(a, b, |x| ordered(x.to_bits(), 63))
}

fn apart(a: f64, b: f64, place: impl Fn(f64) -> i128) -> u64 {
    if a.is_nan() || b.is_nan() {
        return u64::MAX;
    }
    u64::try_from((place(a) - place(b)).unsigned_abs()).unwrap_or(u64::MAX)
}

/// Bits of a float, mapped so that neighbours differ by one across zero as well.
fn ordered(bits: u64, sign: u32) -> i128 {
    let magnitude = i128::from(bits & !(1 << sign));
    if bits >> sign == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::{ulps_f32, ulps_f64};

    #[test]
    fn neighbours_are_one_apart_even_across_zero() {
        let next = f64::from(f32::from_bits(1.0f32.to_bits() + 1));
        assert_eq!(ulps_f32(1.0, next), 1);
        assert_eq!(ulps_f32(0.0, -0.0), 0);
        assert_eq!(ulps_f64(f64::from_bits(1), -f64::from_bits(1)), 2);
        assert_eq!(ulps_f64(f64::NAN, 1.0), u64::MAX);
    }
}
