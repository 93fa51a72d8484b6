//! What a step of gradient descent should do to the loss, against what it does.
//! Deliberately absent: a step on anybody's parameters.

use super::{Start, Verdict, leaf_values, starts};
use crate::dual::Dual;
use crate::forward::Values;
use crate::graph::{Graph, NodeId};
use crate::kernels;
use crate::math;
use crate::trace::Trace;

/// How far the slope that the gradient claims may be from the slope there is, relative to what was added up.
pub const CHANGE_TOLERANCE: f64 = 1e-9;

/// The change of the loss by one step `w - lr g`, three times. Exact for quadratics; else they part with `lr³`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// `-lr g·g + lr²/2 gᵀHg`: what the gradient claims.
    pub claimed: f64,
    /// `-lr g_true·g + lr²/2 gᵀHg`: what forward mode says of the same step.
    pub predicted: f64,
    /// What the step does.
    pub actual: f64,
    /// How far `g·g` is from `g_true·g`, relative to `g·g`.
    pub error: f64,
    /// `Agrees` or `Differs`. It catches a gradient that is wrong and has the right shape.
    pub verdict: Verdict,
}

/// Takes the step in f64, on values of its own, and judges it.
pub fn change(trace: &Trace, loss: NodeId, lr: f64) -> Change {
    let graph = &trace.graph;
    let mut values = Values::<f64>::new();
    values.eval(graph, 0..graph.len());
    let starts = starts(trace, &values);
    let grads = trace.grads();
    let leaves: Vec<(NodeId, Vec<f64>, Vec<f64>)> = graph
        .prefix(trace.n_forward)
        .filter(|(_, n)| n.flags.param && n.ty.dtype.is_float())
        .filter_map(|(id, _)| {
            let grad = values.read_f64(graph, grads.get(id.index()).copied().flatten()?);
            Some((id, leaf_values(graph, id), grad))
        })
        .collect();
    let run = Run { graph, loss, starts: &starts, leaves: &leaves };
    let claimed_slope: f64 = leaves.iter().map(|(_, _, g)| kernels::dot(g, g)).sum();
    let (here, slope) = run.along(0.0);
    let largest = |v: &[f64]| v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let reach = leaves.iter().fold(0.0, |m: f64, (_, _, g)| m.max(largest(g)));
    let size = leaves.iter().fold(1.0, |m: f64, (_, w, _)| m.max(largest(w)));
    let t = if reach > 0.0 { math::cbrt(f64::EPSILON) * size / reach } else { 1.0 };
    let curve = (run.along(t).1 - run.along(-t).1) / (2.0 * t);
    let by = |slope: f64| -lr * slope + lr * lr / 2.0 * curve;
    let gap = (claimed_slope - slope).abs();
    let error = if gap == 0.0 { 0.0 } else { gap / claimed_slope.max(slope.abs()) };
    Change {
        claimed: by(claimed_slope),
        predicted: by(slope),
        actual: run.along(-lr).0 - here,
        error,
        verdict: if error <= CHANGE_TOLERANCE { Verdict::Agrees } else { Verdict::Differs },
    }
}

struct Run<'a> {
    graph: &'a Graph,
    loss: NodeId,
    starts: &'a [Start],
    leaves: &'a [(NodeId, Vec<f64>, Vec<f64>)],
}

impl Run<'_> {
    /// The objective at `w + t g`, and its slope along `g`.
    fn along(&self, t: f64) -> (f64, f64) {
        let mut duals = Values::<Dual>::new();
        for (id, w, g) in self.leaves {
            duals.give(*id, w.iter().zip(g).map(|(w, g)| Dual::new(w + t * g, *g)).collect());
        }
        duals.eval(self.graph, 0..self.loss.index() + 1);
        let (mut value, mut slope) = (0.0, 0.0);
        for start in self.starts {
            for (x, u) in duals.packed(self.graph, start.node).iter().zip(&start.cotangent) {
                value += x.re * u;
                slope += x.du * u;
            }
        }
        (value, slope)
    }
}
