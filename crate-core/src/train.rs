//! Training: one step at a time, on values of its own; the graph and whoever else evaluates it are not touched.
//! Deliberately absent: a loop, a clock, and any change of a parameter before a step has succeeded.

use crate::check::leaf_values;
use crate::forward::Values;
use crate::graph::NodeId;
use crate::trace::Trace;

/// How parameters move. The formulas are those of ggml's step ops (`ggml-autodiff.md`, 5.4); momentum is PyTorch's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Optimizer {
    /// `v <- momentum v + g`; `w <- w (1 - lr wd) - lr v`.
    Sgd {
        /// Learning rate.
        lr: f64,
        /// Share of the last step's direction that is kept.
        momentum: f64,
        /// Decoupled weight decay.
        wd: f64,
    },
    /// Adam with decoupled weight decay; epsilon outside the root, after bias correction.
    AdamW {
        /// Learning rate.
        lr: f64,
        /// Decay of the mean.
        beta1: f64,
        /// Decay of the mean square.
        beta2: f64,
        /// Keeps the quotient finite.
        eps: f64,
        /// Decoupled weight decay.
        wd: f64,
    },
}

impl Optimizer {
    /// The word in the text.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sgd { .. } => "sgd",
            Self::AdamW { .. } => "adamw",
        }
    }

    /// The learning rate.
    pub const fn lr(&self) -> f64 {
        match self {
            Self::Sgd { lr, .. } | Self::AdamW { lr, .. } => *lr,
        }
    }
}

/// A trainable leaf on its way.
#[derive(Clone, PartialEq, Debug)]
pub struct Moving {
    /// The leaf.
    pub leaf: NodeId,
    /// Its values now.
    pub now: Vec<f32>,
    /// Its values before the last step.
    pub before: Vec<f32>,
    /// The gradient of the last step.
    pub grad: Vec<f32>,
    /// First moment (the momentum's direction, or the mean).
    m: Vec<f32>,
    /// Second moment.
    v: Vec<f32>,
}

/// A run over a finished trace.
pub struct Trainer<'a> {
    trace: &'a Trace,
    loss: NodeId,
    optimizer: Optimizer,
    values: Values<f32>,
    /// The trainable leaves that have a gradient, in the order of the text.
    pub leaves: Vec<Moving>,
    /// Steps taken.
    pub step: u64,
}

/// Why a step was not taken: a value that is not finite began at this node. No parameter has moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Diverged {
    /// The node.
    pub at: NodeId,
}

impl<'a> Trainer<'a> {
    /// Starts from the leaves' own values.
    pub fn new(trace: &'a Trace, loss: NodeId, optimizer: Optimizer) -> Self {
        let grads = trace.grads();
        let leaves = trace
            .graph
            .prefix(trace.n_forward)
            .filter(|(id, n)| n.flags.param && grads.get(id.index()).is_some_and(Option::is_some))
            .map(|(leaf, _)| {
                let now: Vec<f32> =
                    leaf_values(&trace.graph, leaf).iter().map(|x| *x as f32).collect();
                let zeros = vec![0.0; now.len()];
                Moving {
                    leaf,
                    before: now.clone(),
                    grad: zeros.clone(),
                    m: zeros.clone(),
                    v: zeros,
                    now,
                }
            })
            .collect();
        Self { trace, loss, optimizer, values: Values::new(), leaves, step: 0 }
    }

    /// Evaluates at the present parameters, forward and backward. Returns the loss.
    pub fn evaluate(&mut self) -> f64 {
        for leaf in &self.leaves {
            self.values.give(leaf.leaf, leaf.now.clone());
        }
        self.values.eval(&self.trace.graph, 0..self.trace.graph.len());
        self.values.read_f64(&self.trace.graph, self.loss).first().copied().unwrap_or(f64::NAN)
    }

    /// A forward node's value at the last evaluation.
    pub fn value(&self, id: NodeId) -> Vec<f64> {
        self.values.read_f64(&self.trace.graph, id)
    }

    /// Takes one step: evaluates, then moves every parameter at once. Returns the loss before the step.
    pub fn advance(&mut self) -> Result<f64, Diverged> {
        let loss = self.evaluate();
        if let Some(at) = first_not_finite(self.trace, &self.values) {
            return Err(Diverged { at });
        }
        let grads = self.trace.grads();
        self.step += 1;
        for leaf in &mut self.leaves {
            let Some(grad) = grads.get(leaf.leaf.index()).copied().flatten() else { continue };
            leaf.grad = self.values.packed(&self.trace.graph, grad).into_owned();
            leaf.before.clone_from(&leaf.now);
            update(&self.optimizer, self.step, leaf);
        }
        Ok(loss)
    }
}

fn update(optimizer: &Optimizer, step: u64, leaf: &mut Moving) {
    let state = leaf.m.iter_mut().zip(leaf.v.iter_mut());
    let each = leaf.now.iter_mut().zip(&leaf.grad).zip(state);
    match *optimizer {
        Optimizer::Sgd { lr, momentum, wd } => {
            let (lr, momentum, keep) = (lr as f32, momentum as f32, 1.0 - (lr * wd) as f32);
            for ((w, g), (m, _)) in each {
                *m = momentum * *m + *g;
                *w = *w * keep - lr * *m;
            }
        }
        Optimizer::AdamW { lr, beta1, beta2, eps, wd } => {
            let correct = |beta: f64| (1.0 / (1.0 - power(beta, step))) as f32;
            let (c1, c2) = (correct(beta1), correct(beta2));
            let (lr, b1, b2, eps, keep) =
                (lr as f32, beta1 as f32, beta2 as f32, eps as f32, 1.0 - (lr * wd) as f32);
            for ((w, g), (m, v)) in each {
                *m = b1 * *m + (1.0 - b1) * *g;
                *v = b2 * *v + (1.0 - b2) * *g * *g;
                *w = *w * keep - lr * (*m * c1) / ((*v * c2).sqrt() + eps);
            }
        }
    }
}

/// `base^n` by squaring: the same bits everywhere.
fn power(base: f64, n: u64) -> f64 {
    let (mut out, mut square, mut n) = (1.0, base, n);
    while n > 0 {
        if n & 1 == 1 {
            out *= square;
        }
        square *= square;
        n >>= 1;
    }
    out
}

/// The first node, in order of evaluation, whose value is not finite although its sources' values are.
fn first_not_finite(trace: &Trace, values: &Values<f32>) -> Option<NodeId> {
    let bad = |id: NodeId| values.packed(&trace.graph, id).iter().any(|x| !x.is_finite());
    let param_bad = trace.graph.prefix(trace.n_forward).any(|(id, n)| n.flags.param && bad(id));
    let grads = trace.grads();
    let reached = grads
        .iter()
        .enumerate()
        .filter_map(|(ix, g)| Some((NodeId::at(ix)?, (*g)?)))
        .any(|(id, g)| trace.graph.node(id).flags.param && bad(g));
    if !param_bad && !reached {
        return None;
    }
    trace.graph.nodes().map(|(id, _)| id).find(|id| bad(*id))
}

#[cfg(test)]
mod tests {
    use super::{Moving, Optimizer, update};
    use crate::graph::NodeId;

    /// `ggml-autodiff.md`, 5.4: w = 1, lr = 0.1, gradients 1, 2, 3, 4, measured on ggml in f32.
    #[test]
    fn adamw_takes_ggmls_steps() {
        let Some(leaf) = NodeId::at(0) else { return };
        let mut w = Moving {
            leaf,
            now: vec![1.0],
            before: vec![1.0],
            grad: vec![0.0],
            m: vec![0.0],
            v: vec![0.0],
        };
        let adam = Optimizer::AdamW { lr: 0.1, beta1: 0.9, beta2: 0.999, eps: 1e-8, wd: 0.0 };
        let want = [0.9, 0.803_482, 0.707_681_7, 0.611_641];
        for (ix, want) in want.into_iter().enumerate() {
            w.grad = vec![ix as f32 + 1.0];
            update(&adam, ix as u64 + 1, &mut w);
            let got = w.now.first().copied().unwrap_or(f32::NAN);
            assert!((got - want).abs() < 2e-6, "step {}: {got} instead of {want}", ix + 1);
        }
    }
}
