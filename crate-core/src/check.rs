//! Checks gradients against what is computed elsewhere: finite differences in f64, forward mode, a closed form, and
//! how much the loss really changes. The doctor says what is likely wrong where they differ.
//! Deliberately absent: any use of the backward graph to check itself, and tolerances that grow with the error.

mod adjoint;
mod change;
mod doctor;
mod finite;

use crate::forward::Values;
use crate::graph::{Graph, NodeId, NodeKind};
use crate::trace::{Event, Trace};

pub use adjoint::{ADJOINT_TOLERANCE, Adjoint, adjoint};
pub use change::{CHANGE_TOLERANCE, Change, change};
pub use doctor::{Diagnosis, Mistake, diagnose};
pub use finite::{Along, DIRECTIONS, Entry, Finite, MAX_ENTRIES, Points, TOLERANCE};

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

/// A node at which gradients start, and with what: the loss, and every node with an accumulator.
struct Start {
    /// The node.
    node: NodeId,
    /// What its gradient starts with.
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
        NodeKind::Leaf(init) => {
            (0..node.ty.shape.n_elements() as usize).map(|i| init.element(&node.ty, i)).collect()
        }
        NodeKind::Op { .. } => Vec::new(),
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
