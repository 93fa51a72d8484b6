//! Finite differences in f64, with both one-sided slopes: entry by entry, or along random directions where there are
//! too many entries.
//! Deliberately absent: a look at how a gradient was computed.

use std::ops::Range;

use super::{Start, Verdict, leaf_values, starts};
use crate::forward::Values;
use crate::graph::{Init, NodeId};
use crate::kernels;
use crate::math;
use crate::ops::STOP;
use crate::tensor::TensorType;
use crate::trace::Trace;

/// Relative tolerance of a verdict: the square of the cube root of the machine epsilon is 4e-11, and a central
/// difference loses at most four more digits to curvature before its step is shrunk.
pub const TOLERANCE: f64 = 1e-6;

/// The most entries that are checked one by one.
pub const MAX_ENTRIES: u64 = 10_000;

/// Random directions of each leaf where there are more entries than that.
pub const DIRECTIONS: u64 = 16;

/// How far the slopes on both sides may differ, relative to the slope, before the step is shrunk.
const SLOPES_AGREE: f64 = 1e-4;

/// How many points a difference takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Points {
    /// `(f(x+h) - f(x-h)) / 2h`.
    #[default]
    Two,
    /// `(8 f(x+h/2) - 8 f(x-h/2) - f(x+h) + f(x-h)) / 6h`, which the third derivative does not disturb. The step is
    /// larger; where a kink lies within it, two points have the last word.
    Four,
}

/// What a derivative is taken along.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Along {
    /// One element, flat and row-major.
    Element(usize),
    /// A random direction of length 1 through all elements of the leaf, by its number.
    Direction(u64),
}

/// One entry of one trainable leaf, differentiated twice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Entry {
    /// The leaf.
    pub leaf: NodeId,
    /// Along what.
    pub along: Along,
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

/// A leaf under check: its values and its gradient.
struct Leaf {
    id: NodeId,
    own: Vec<f64>,
    grad: Vec<f64>,
}

/// A finite-difference check of every trainable leaf, one entry at a time: an iterator, so that whoever drives it
/// can show progress, go on later, or stop.
pub struct Finite<'a> {
    trace: &'a Trace,
    points: Points,
    starts: Vec<Start>,
    /// The forward nodes that move.
    moving: Vec<Range<usize>>,
    /// What stops a gradient after each of them, and the value it keeps.
    stopped: Vec<(NodeId, Vec<f64>)>,
    values: Values<f64>,
    leaves: Vec<Leaf>,
    by_direction: bool,
    at: (usize, usize),
    left: u64,
    /// The objective where nothing has moved, once it is known.
    here: Option<f64>,
    direction: Vec<f64>,
    moved: Vec<f64>,
}

impl<'a> Finite<'a> {
    /// Prepares a check of a finished trace by central differences of two points.
    pub fn new(trace: &'a Trace, loss: NodeId) -> Self {
        Self::with(trace, loss, Points::Two)
    }

    /// Prepares a check of a finished trace. The gradients are evaluated once, in f64.
    pub fn with(trace: &'a Trace, loss: NodeId, points: Points) -> Self {
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
                leaves.push(Leaf { id, own, grad });
            }
        }
        let starts = starts(trace, &values);
        let mut values = Values::new();
        for leaf in &leaves {
            values.give(leaf.id, leaf.own.clone());
        }
        values.eval(graph, 0..loss.index() + 1);
        let stops = graph.prefix(loss.index() + 1).filter(|(_, n)| n.op() == Some(STOP));
        let stopped: Vec<_> = stops.map(|(id, _)| (id, values.read_f64(graph, id))).collect();
        let ends = stopped.iter().map(|(id, _)| id.index()).chain([loss.index() + 1]);
        let mut from = 0;
        let moving = ends
            .map(|end| {
                let range = from..end;
                from = end + 1;
                range
            })
            .collect();
        let entries = leaves.iter().map(|leaf| leaf.own.len() as u64).sum::<u64>();
        let by_direction = entries > MAX_ENTRIES;
        let filled = leaves.iter().filter(|leaf| !leaf.own.is_empty()).count() as u64;
        let left = if by_direction { filled * DIRECTIONS } else { entries };
        Self {
            trace,
            points,
            starts,
            moving,
            stopped,
            values,
            leaves,
            by_direction,
            at: (0, 0),
            left,
            here: None,
            direction: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// How many entries are still to come.
    pub const fn remaining(&self) -> u64 {
        self.left
    }

    /// Whether entries are random directions.
    pub const fn by_direction(&self) -> bool {
        self.by_direction
    }

    /// The gradient under check of a leaf.
    pub fn gradient(&self, leaf: NodeId) -> Option<&[f64]> {
        self.leaves.iter().find(|l| l.id == leaf).map(|l| l.grad.as_slice())
    }

    /// The number that is differentiated: every node that a gradient starts at, against what it starts with.
    fn objective(&mut self) -> f64 {
        let graph = &self.trace.graph;
        for (ix, range) in self.moving.iter().enumerate() {
            self.values.eval(graph, range.clone());
            // A stop that writes in place shares its storage with what moves.
            if let Some((id, kept)) = self.stopped.get(ix) {
                self.values.restore(graph, *id, kept);
            }
        }
        let part = |s: &Start| kernels::dot(&self.values.read_f64(graph, s.node), &s.cotangent);
        self.starts.iter().map(part).sum()
    }

    /// Moves a leaf a step `t` away. Gives the step that was really taken, after rounding.
    fn place(&mut self, ix: usize, along: Along, t: f64) -> f64 {
        let Some(leaf) = self.leaves.get(ix) else { return t };
        match along {
            Along::Element(flat) => {
                let x = leaf.own.get(flat).copied().unwrap_or(f64::NAN);
                self.values.give_element(leaf.id, flat, x + t);
                (x + t) - x
            }
            Along::Direction(_) => {
                self.moved.clear();
                self.moved.extend(leaf.own.iter().zip(&self.direction).map(|(x, v)| x + t * v));
                self.values.refill(leaf.id, &self.moved);
                t
            }
        }
    }

    /// The objective a step `t` away, and the step that was really taken.
    fn probe(&mut self, ix: usize, along: Along, t: f64) -> (f64, f64) {
        let taken = self.place(ix, along, t);
        (self.objective(), taken)
    }

    fn entry(&mut self, ix: usize, along: Along) -> Option<Entry> {
        let leaf = self.leaves.get(ix)?;
        let (id, size) = (leaf.id, leaf.own.iter().fold(0.0, |m: f64, x| m.max(x.abs())));
        let (autodiff, scale_of_x) = match along {
            Along::Element(flat) => (*leaf.grad.get(flat)?, leaf.own.get(flat)?.abs()),
            Along::Direction(_) => (kernels::dot(&leaf.grad, &self.direction), size),
        };
        // Every entry starts from the same place.
        let here = match self.here {
            Some(here) => here,
            None => self.objective(),
        };
        self.here = Some(here);
        let mut h = math::cbrt(f64::EPSILON) * scale_of_x.max(1.0);
        let (mut left, mut right, mut fd, mut noise) = (0.0, 0.0, 0.0, 0.0f64);
        // Eleven shrinkings by four take the step from 6e-6 to 1.4e-12, where rounding has the last word.
        for _ in 0..11 {
            let (above, up) = self.probe(ix, along, h);
            let (below, down) = self.probe(ix, along, -h);
            left = (here - below) / -down;
            right = (above - here) / up;
            fd = (above - below) / (up - down);
            noise = 16.0 * f64::EPSILON * here.abs().max(above.abs()).max(below.abs()) / h;
            let scale = left.abs().max(right.abs());
            let agree = (left - right).abs() <= SLOPES_AGREE * scale + noise;
            // Below this step the slopes are noise, and shrinking shows nothing new.
            let noisy = noise > 1e-5 * scale;
            if agree || noisy || !scale.is_finite() {
                break;
            }
            h /= 4.0;
        }
        let floor = 1e-10 * (1.0 + here.abs());
        let gap = (left - right).abs();
        let mut torn = gap > 1e-2 * left.abs().max(right.abs()) + floor;
        if torn {
            // A kink tears the slopes by as much at any step; curvature, beside a small slope, in proportion to it.
            let (above, up) = self.probe(ix, along, 8.0 * h);
            let (below, down) = self.probe(ix, along, -8.0 * h);
            let wider = ((here - below) / -down - (above - here) / up).abs();
            torn = !(6.0 * gap..=10.0 * gap).contains(&wider);
        }
        let error_of = |fd: f64| {
            let gap = (autodiff - fd).abs();
            if gap <= floor { 0.0 } else { gap / autodiff.abs().max(fd.abs()) }
        };
        // A small slope of a large sum drowns in rounding at a small step: before it counts against a gradient, it
        // is taken again at a hundred times the step, by four points, which curvature disturbs as little.
        let doubtful = error_of(fd).is_nan() || error_of(fd) > TOLERANCE;
        if (self.points == Points::Four || doubtful) && !torn {
            // The fifth root of the machine epsilon, where four points lose as much to rounding as to curvature.
            let wide = 7.4e-4 * scale_of_x.max(1.0);
            let agrees = |x: f64| (x - fd).abs() <= SLOPES_AGREE * fd.abs() + noise + floor;
            for step in [wide, wide / 8.0] {
                let mut f = |k: f64| self.probe(ix, along, k * step).0;
                let slope = (8.0 * (f(0.5) - f(-0.5)) - (f(1.0) - f(-1.0))) / (6.0 * step);
                if agrees(slope) {
                    (fd, h) = (slope, step);
                    break;
                }
            }
        }
        self.place(ix, along, 0.0);
        let error = error_of(fd);
        let between = |x: f64| {
            let slack = 1e-3 * left.abs().max(right.abs()) + floor;
            x >= left.min(right) - slack && x <= left.max(right) + slack
        };
        let verdict = if error <= TOLERANCE && autodiff.is_finite() && fd.is_finite() {
            if torn { Verdict::Kink } else { Verdict::Agrees }
        } else if torn && between(autodiff) {
            Verdict::Kink
        } else {
            Verdict::Differs
        };
        Some(Entry { leaf: id, along, autodiff, fd, left, right, h, error, verdict })
    }

    /// Draws the next direction of a leaf.
    fn draw(&mut self, ix: usize, number: u64) {
        let Some(leaf) = self.leaves.get(ix) else { return };
        let init = Init::Randn { seed: (leaf.id.index() as u64 + 1) * DIRECTIONS + number };
        let ty = TensorType::f32(self.trace.graph.node(leaf.id).ty.shape);
        self.direction.clear();
        self.direction.extend((0..leaf.own.len()).map(|i| init.element(&ty, i)));
        let length = kernels::dot(&self.direction, &self.direction).sqrt();
        for x in &mut self.direction {
            *x /= length;
        }
    }
}

impl Iterator for Finite<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        self.left = self.left.checked_sub(1)?;
        let (mut ix, mut at) = self.at;
        let many = |leaf: &Leaf| match self.by_direction {
            true if leaf.own.is_empty() => 0,
            true => DIRECTIONS as usize,
            false => leaf.own.len(),
        };
        while self.leaves.get(ix).is_some_and(|leaf| at >= many(leaf)) {
            ix += 1;
            at = 0;
        }
        self.at = (ix, at + 1);
        if self.by_direction {
            self.draw(ix, at as u64);
            return self.entry(ix, Along::Direction(at as u64));
        }
        self.entry(ix, Along::Element(at))
    }
}
