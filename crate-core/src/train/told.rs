//! What an optimizer context is told, and how it says that something came to nothing.
//! Deliberately absent: anything it keeps.

use super::losses::Loss;
use crate::autodiff::Given;
use crate::construct::Budget;
use crate::graph::{Graph, NodeId};
use crate::ops::OpKind;
use crate::optimizer::Optimizer;
use crate::refusal::Refusal;
use crate::rules::RuleSet;

/// How much of a step a pass runs; each includes the ones before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Pass {
    /// The values and the loss.
    Forward,
    /// The gradients too, added to the accumulators.
    Grad,
    /// And the parameters move.
    #[default]
    Opt,
}

/// Whether the graph stays from one evaluation to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Graphs {
    /// Given once, built once.
    #[default]
    Static,
    /// Given anew, and built anew, before every evaluation.
    Dynamic,
}

/// What a context is told once.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// What is made small.
    pub loss: Loss,
    /// The most that any pass runs.
    pub most: Pass,
    /// Whether the graph stays.
    pub graphs: Graphs,
    /// Micro-batches a step, from 1.
    pub period: u64,
    /// How parameters move.
    pub optimizer: Optimizer,
    /// The largest norm, over all parameters together, that a gradient keeps; larger ones are scaled down to it.
    pub clip: Option<f64>,
    /// Whose rules. Under `upstream` the context makes ggml-opt's own mistakes (B19 to B23, B34).
    pub rules: RuleSet,
    /// What may be allocated.
    pub budget: Budget,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            loss: Loss::Own,
            most: Pass::Opt,
            graphs: Graphs::Static,
            period: 1,
            optimizer: Optimizer::default(),
            clip: None,
            rules: RuleSet::Ggml,
            budget: Budget::default(),
        }
    }
}

/// A graph and what of it an optimizer needs to know.
#[derive(Clone, Debug)]
pub struct Model {
    /// The forward graph; a context copies it and never changes it.
    pub graph: Graph,
    /// The leaf that a batch's inputs go into; `None` where the graph holds its own.
    pub inputs: Option<NodeId>,
    /// What the loss is made of; axis -2 counts datapoints.
    pub outputs: NodeId,
    /// What backward starts with under [`Loss::Own`]; 1 where it is left out.
    pub cotangent: Option<Given>,
    /// Where gradients start from, by node.
    pub accumulators: Vec<(NodeId, Given)>,
}

impl Model {
    /// A graph whose own node is the loss, on its own leaves.
    pub fn own(graph: &Graph, loss: NodeId) -> Self {
        Self {
            graph: graph.clone(),
            inputs: None,
            outputs: loss,
            cotangent: None,
            accumulators: Vec::new(),
        }
    }
}

/// Why nothing was built, with the words that only the graph knows.
#[derive(Clone, PartialEq, Debug)]
pub struct Refused {
    /// What the build found.
    pub refusal: Refusal,
    /// The node's name; empty where the whole graph is meant, or the node has none.
    pub name: String,
    /// The exact message, as the rules' engine would word it.
    pub message: String,
}

/// Why an evaluation came to nothing. Nothing of the context has changed then.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// `alloc` was not called before, or it returned false.
    NotAllocated,
    /// A batch has another number of elements than the leaf it goes into.
    Batch {
        /// The leaf's.
        expected: u64,
        /// The batch's.
        got: u64,
    },
    /// A setting of the optimizer is out of range; the text says which.
    Setting(&'static str),
    /// The loss, a gradient or a parameter after the step is not a number or infinite.
    NotFinite {
        /// The node at which it began.
        at: NodeId,
        /// Its name; empty for a gradient's node.
        name: String,
        /// Its op; `None` for a leaf.
        op: Option<OpKind>,
    },
}

/// The rows of one evaluation, flat and row-major.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Batch<'a> {
    /// For the model's input leaf; ignored where it has none.
    pub inputs: &'a [f32],
    /// For the loss's labels; empty leaves them as they are.
    pub labels: &'a [f32],
}
