//! Gradients twice: as the engine built them, and by finite differences of its forward values alone.

use foldback::autodiff::Given;
use foldback::forward::Values;
use foldback::graph::NodeId;
use foldback::ops::def::Lane;
use foldback::report::Analysis;
use foldback::tensor::Shape;
use foldback::trace::Event;

/// A trainable leaf and numbers of its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Of {
    /// Its name.
    pub leaf: String,
    /// Its node.
    pub id: NodeId,
    /// Its shape.
    pub shape: Shape,
    /// One number an element.
    pub values: Vec<f64>,
}

impl Of {
    /// The largest magnitude.
    pub fn size(&self) -> f64 {
        largest(&self.values)
    }
}

/// The largest magnitude; NaN where one is not a number.
pub fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, x| if x.is_nan() { f64::NAN } else { f64::max(m, x.abs()) })
}

/// Every trainable leaf with its own values.
pub fn leaves(analysis: &Analysis) -> Vec<Of> {
    let graph = &analysis.trace.graph;
    graph
        .prefix(analysis.trace.n_forward)
        .filter(|(_, n)| n.flags.param)
        .map(|(id, n)| Of {
            leaf: n.name.as_deref().unwrap_or_default().to_owned(),
            id,
            shape: n.ty.shape,
            values: foldback::check::leaf_values(graph, id),
        })
        .collect()
}

/// The values of every node, forward and backward, in one number type.
pub fn evaluated<T: Lane>(analysis: &Analysis) -> Values<T> {
    let mut values = Values::new();
    values.eval(&analysis.trace.graph, 0..analysis.trace.graph.len());
    values
}

/// The gradient of every trainable leaf, computed in one number type; zeros where none was needed.
pub fn gradients<T: Lane>(analysis: &Analysis) -> Vec<Of> {
    let values = evaluated::<T>(analysis);
    let grads = analysis.trace.grads();
    let mut out = leaves(analysis);
    for of in &mut out {
        match grads.get(of.id.index()).copied().flatten() {
            Some(grad) => of.values = values.read_f64(&analysis.trace.graph, grad),
            None => of.values.fill(0.0),
        }
    }
    out
}

/// The same by differences: four points, f64, the loss against its cotangent. Shares nothing with the backward
/// graph, nor with the engine's own check. What stops a gradient keeps the value it has at the point.
///
/// # Panics
/// If the text has no loss.
pub fn differences(analysis: &Analysis) -> Vec<Of> {
    const H: f64 = 1.0 / 8192.0;
    let graph = &analysis.trace.graph;
    let loss = analysis.lowered.loss.expect("a loss");
    let starts = starts(analysis, loss);
    let mut out = leaves(analysis);
    let mut values = Values::<f64>::new();
    for of in &out {
        values.give(of.id, of.values.clone());
    }
    values.eval(graph, 0..loss.index() + 1);
    let stops = graph.prefix(loss.index() + 1).filter(|(_, n)| n.op() == Some(foldback::ops::STOP));
    let stopped: Vec<_> = stops.map(|(id, _)| (id, values.read_f64(graph, id))).collect();
    let mut moves = Vec::new();
    let mut from = 0;
    for end in stopped.iter().map(|(id, _)| id.index()).chain([loss.index() + 1]) {
        moves.push(from..end);
        from = end + 1;
    }
    let mut objective = |leaf: NodeId, at: usize, x: f64| {
        values.give_element(leaf, at, x);
        for (ix, range) in moves.iter().enumerate() {
            values.eval(graph, range.clone());
            if let Some((id, kept)) = stopped.get(ix) {
                values.restore(graph, *id, kept);
            }
        }
        let part = |(node, start): &(NodeId, Vec<f64>)| -> f64 {
            values.read_f64(graph, *node).iter().zip(start).map(|(y, g)| y * g).sum()
        };
        starts.iter().map(part).sum::<f64>()
    };
    for of in &mut out {
        let own = of.values.clone();
        for (at, x) in own.iter().enumerate() {
            let h = H * x.abs().clamp(1.0 / 64.0, 1.0);
            let mut f = |k: f64| objective(of.id, at, x + k * h);
            let slope = (8.0 * (f(1.0) - f(-1.0)) - (f(2.0) - f(-2.0))) / (12.0 * h);
            objective(of.id, at, *x);
            if let Some(slot) = of.values.get_mut(at) {
                *slot = slope;
            }
        }
    }
    out
}

/// Where gradients start, and with what: the loss with its cotangent, and every accumulator that was put in place.
fn starts(analysis: &Analysis, loss: NodeId) -> Vec<(NodeId, Vec<f64>)> {
    let graph = &analysis.trace.graph;
    let numbers = |given: &Given, node: NodeId| -> Vec<f64> {
        let ty = graph.node(node).ty;
        (0..ty.shape.n_elements() as usize).map(|i| given.init.element(&ty.as_f32(), i)).collect()
    };
    let seed = match analysis.lowered.backward.as_ref().and_then(|line| line.with.as_ref()) {
        Some(given) => numbers(given, loss),
        None => vec![1.0],
    };
    let supplied = |node: &NodeId| {
        analysis
            .trace
            .events
            .iter()
            .any(|e| matches!(e, Event::Supplied { node: n, .. } if n == node))
    };
    let given = analysis.lowered.accumulators.iter().filter(|(node, ..)| supplied(node));
    given.map(|(node, given, _)| (*node, numbers(given, *node))).chain([(loss, seed)]).collect()
}

/// The worst difference between two answers, relative to the larger entry but never to less than `floor` times the
/// largest entry of its leaf; infinite where a number is missing or is none.
pub fn gap(a: &[Of], b: &[Of], floor: f64) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let mut worst: f64 = 0.0;
    for (a, b) in a.iter().zip(b) {
        worst = worst.max(gap_of(&a.values, &b.values, floor));
    }
    worst
}

/// The same for one leaf.
pub fn gap_of(a: &[f64], b: &[f64], floor: f64) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let least = floor * largest(a).max(largest(b));
    let mut worst: f64 = 0.0;
    for (x, y) in a.iter().zip(b) {
        if x.to_bits() == y.to_bits() {
            continue;
        }
        let gap = (x - y).abs();
        if !gap.is_finite() {
            return f64::INFINITY;
        }
        if gap > 1e-12 {
            worst = worst.max(gap / x.abs().max(y.abs()).max(least));
        }
    }
    worst
}

/// The engine's gradients agree with differences, are not all zero, and every leaf's is of its shape. Gives them.
///
/// # Panics
/// If not.
pub fn check_grad(text: &str) -> Vec<Of> {
    let analysis = crate::built(text);
    let ours = gradients::<f64>(&analysis);
    let theirs = differences(&analysis);
    let gap = gap(&ours, &theirs, 1e-3);
    assert!(gap < 1e-7, "{gap:e} between {ours:?}\nand differences {theirs:?}\nof\n{text}");
    assert!(ours.iter().any(|of| of.size() > 1e-3), "the gradient is nothing in\n{text}");
    let grads = analysis.trace.grads();
    for of in &ours {
        let grad = grads.get(of.id.index()).copied().flatten();
        if let Some(grad) = grad {
            assert_eq!(
                analysis.trace.graph.node(grad).ty.shape,
                of.shape,
                "of {} in\n{text}",
                of.leaf
            );
        }
    }
    ours
}
