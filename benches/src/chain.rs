//! Ten thousand small nodes, built anew for every step: what an engine costs beside its arithmetic.
//! Deliberately absent: the trace. Nobody looks at it.

use foldback::autodiff::{Request, differentiate};
use foldback::construct::{Apply, Budget, apply, leaf};
use foldback::forward::Values;
use foldback::graph::{Flags, Graph, Init, NodeId, Params};
use foldback::ops::OpKind;
use foldback::refusal::Reason;
use foldback::rules::RuleSet;
use foldback::tensor::{Shape, TensorType};

use crate::inputs;
use crate::work::LR;

/// A chain of `+ b`, `* m` and `/ d` in turn over vectors of four.
pub struct Chain {
    n: usize,
    inputs: [Vec<f32>; 4],
    after: [Vec<f32>; 4],
    ops: [OpKind; 3],
    sum: OpKind,
}

/// The names of the leaves.
pub const NAMES: [&str; 4] = ["z0", "b", "m", "d"];

impl Chain {
    /// A chain of so many nodes.
    pub fn new(n: usize) -> Option<Self> {
        let op = |name: &str| OpKind::ALL.iter().copied().find(|op| op.def().name == name);
        let inputs = [
            inputs::from(13, 4, 0.5, 1.0),
            inputs::from(14, 4, 0.5, 1.0),
            inputs::from(15, 4, 1.0 - 1.0 / 2048.0, -1.0 / 2048.0),
            inputs::from(16, 4, 1.0 + 1.0 / 2048.0, 1.0 / 2048.0),
        ];
        Some(Self {
            n,
            after: inputs.clone(),
            inputs,
            ops: [op("add")?, op("mul")?, op("div")?],
            sum: op("sum")?,
        })
    }

    /// Gives a leaf values; false where there is no such leaf.
    pub fn set(&mut self, name: &str, values: &[f32]) -> bool {
        let leaves = NAMES.iter().zip(&mut self.inputs);
        leaves.filter(|(own, _)| **own == name).map(|(_, v)| *v = values.to_vec()).count() > 0
    }

    /// Builds the forward graph: the graph, its leaves and the loss.
    pub fn build(&self) -> Result<(Graph, [NodeId; 4], NodeId), Reason> {
        let budget = budget();
        let mut graph = Graph::default();
        graph.reserve(self.n + 5);
        let ty = TensorType::f32(Shape::new(&[4]).unwrap_or(Shape::SCALAR));
        let flags = Flags { param: true, ..Flags::default() };
        let new = |graph: &mut Graph| leaf(graph, &budget, ty, Init::Fill(0.0), None, flags);
        let [z0, b, m, d] =
            [new(&mut graph)?, new(&mut graph)?, new(&mut graph)?, new(&mut graph)?];
        let mut z = z0;
        let none = Params::default();
        for (op, by) in self.ops.iter().zip([b, m, d]).cycle().take(self.n) {
            let src = &[z, by];
            let what = Apply { op: *op, src, params: none.clone(), name: None, in_place: false };
            z = apply(&mut graph, &budget, RuleSet::Ggml, what)?;
        }
        let what = Apply { op: self.sum, src: &[z], params: none, name: None, in_place: false };
        let loss = apply(&mut graph, &budget, RuleSet::Ggml, what)?;
        Ok((graph, [z0, b, m, d], loss))
    }

    /// Builds the graph and runs it forward; the loss.
    pub fn forward(&mut self) -> Result<f32, Reason> {
        let (graph, leaves, loss) = self.build()?;
        let mut values = Values::<f32>::new();
        for (leaf, input) in leaves.iter().zip(&self.inputs) {
            values.refill(*leaf, input);
        }
        values.eval(&graph, 0..graph.len());
        Ok(values.packed(&graph, loss).first().copied().unwrap_or(f32::NAN))
    }

    /// Builds the graph and its gradients; how many nodes that makes.
    pub fn differentiate(&self) -> Result<usize, Reason> {
        let (graph, _, loss) = self.build()?;
        let request = Request { loss: Some(loss), budget: budget(), ..Request::default() };
        Ok(differentiate(graph, &request).map_or(0, |built| built.graph.len()))
    }

    /// Builds the graph, differentiates it, runs both and takes a step; the loss.
    pub fn step(&mut self) -> Result<f32, Reason> {
        let (graph, leaves, loss) = self.build()?;
        let request = Request { loss: Some(loss), budget: budget(), ..Request::default() };
        let Ok(built) = differentiate(graph, &request) else { return Ok(f32::NAN) };
        let mut values = Values::<f32>::new();
        for (leaf, input) in leaves.iter().zip(&self.inputs) {
            values.refill(*leaf, input);
        }
        values.eval(&built.graph, 0..built.graph.len());
        for ((leaf, input), after) in leaves.iter().zip(&self.inputs).zip(&mut self.after) {
            let Some(grad) = built.of(*leaf) else { continue };
            let grad = values.packed(&built.graph, grad);
            for ((w, p), g) in after.iter_mut().zip(input).zip(grad.iter()) {
                *w = *p - LR as f32 * *g;
            }
        }
        Ok(values.packed(&built.graph, loss).first().copied().unwrap_or(f32::NAN))
    }

    /// A parameter after the last step.
    pub fn after(&self, name: &str) -> &[f32] {
        let mut leaves = NAMES.iter().zip(&self.after);
        leaves.find(|(own, _)| **own == name).map_or(&[], |(_, v)| v)
    }
}

/// Enough for the gradients of ten thousand nodes.
fn budget() -> Budget {
    Budget { nodes: 100_000, events: 1_000_000, ..Budget::default() }
}
