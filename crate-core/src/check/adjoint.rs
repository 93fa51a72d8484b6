//! The adjoint test: forward mode, through dual numbers and the value functions alone, against the backward graph.
//! Deliberately absent: a derivative of any op.

use super::{Start, leaf_values, starts};
use crate::dual::Dual;
use crate::forward::Values;
use crate::graph::{Init, NodeId};
use crate::tensor::TensorType;
use crate::trace::Trace;

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
        // Where terms of size 1 cancel inside a rule, what is left of a slope is rounding on both sides.
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let seeds: Vec<f64> = starts.iter().flat_map(|s| s.cotangent.iter().copied()).collect();
        let noise = f64::EPSILON * length(&seeds) * length(&v);
        let size = terms.iter().map(|x| x.abs()).sum::<f64>().max(forward.abs()).max(1e-300);
        let gap = (forward - backward).abs();
        out.push(Adjoint {
            leaf,
            forward,
            backward,
            error: if gap <= noise { 0.0 } else { gap / size },
        });
    }
    out
}
