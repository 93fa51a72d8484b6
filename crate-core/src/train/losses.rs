//! The four losses of an optimizer, as nodes after a model's outputs (`ggml-autodiff.md`, 5.2, step 4).
//! Deliberately absent: rules of their own. A loss is a few ops of the table.

use crate::construct::{self, Apply, Budget};
use crate::graph::{Flags, Graph, Init, NodeId, Params, Value};
use crate::ops::OpKind;
use crate::ops::def::{defaults, shape_value};
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

/// What is made small. N is the number of outputs, P the period, R the number of datapoints of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Loss {
    /// The outputs node itself, with the model's own cotangent: the graph has its loss already.
    #[default]
    Own,
    /// `Σ o / (P N)`.
    Mean,
    /// `Σ o`. Not divided by the period: the sum over micro-batches is the sum over the whole batch (B33).
    Sum,
    /// `-Σ labels ln softmax(o) / (P R)`, softmax along the last axis; labels shaped like the outputs.
    CrossEntropy,
    /// `Σ (o - labels)² / (P N)`; labels shaped like the outputs.
    MeanSquaredError,
}

impl Loss {
    /// Whether a result averages it: it is a loss of one datapoint.
    pub const fn per_datapoint(self) -> bool {
        matches!(self, Self::Mean | Self::CrossEntropy | Self::MeanSquaredError)
    }

    /// Whether it compares the outputs with labels.
    pub const fn has_labels(self) -> bool {
        matches!(self, Self::CrossEntropy | Self::MeanSquaredError)
    }
}

/// How many datapoints a node holds: the extent before the last axis, ggml's `ne1`.
pub(super) fn datapoints(shape: Shape) -> u64 {
    u64::from(shape.ne()[1])
}

/// The node of a loss, and the leaf for its labels.
pub(super) struct Made {
    pub(super) loss: NodeId,
    pub(super) labels: Option<NodeId>,
}

/// Appends ops in one graph under one budget.
struct Nodes<'a> {
    graph: &'a mut Graph,
    budget: &'a Budget,
    rules: RuleSet,
}

impl Nodes<'_> {
    fn op(&mut self, op: OpKind, src: &[NodeId], first: Option<Value>) -> Result<NodeId, Reason> {
        let mut params = defaults(op.def());
        if let (Some(slot), Some(value)) = (params.first_mut(), first) {
            *slot = value;
        }
        let apply = Apply { op, src, params: Params::new(params), name: None, in_place: false };
        construct::apply(self.graph, self.budget, self.rules, apply)
    }

    fn total(&mut self, of: NodeId, by: f64) -> Result<NodeId, Reason> {
        let sum = self.op(OpKind::Sum, &[of], None)?;
        self.op(OpKind::Scale, &[sum], Some(Value::Num(by)))
    }

    /// `ln softmax(o) = o - max - ln Σ exp(o - max)`. The shift by the largest output of each datapoint is a leaf
    /// that takes no gradient: it cancels, and only keeps the exponentials in range.
    fn log_softmax(&mut self, of: NodeId, shift: NodeId) -> Result<NodeId, Reason> {
        let shape = self.graph.node(of).ty.shape;
        let wide = |n: &mut Self, x| {
            let params = vec![Value::None, shape_value(shape)];
            let apply = Apply {
                op: OpKind::Repeat,
                src: &[x],
                params: Params::new(params),
                name: None,
                in_place: false,
            };
            construct::apply(n.graph, n.budget, n.rules, apply)
        };
        // Stretched by nodes of their own: ggml as it is folds no second operand of SUB (B1).
        let shift = wide(self, shift)?;
        let low = self.op(OpKind::Sub, &[of, shift], None)?;
        let powers = self.op(OpKind::Exp, &[low], None)?;
        let sums = self.op(OpKind::SumRows, &[powers], None)?;
        let logs = self.op(OpKind::Log, &[sums], None)?;
        let logs = wide(self, logs)?;
        self.op(OpKind::Sub, &[low, logs], None)
    }
}

/// What a made loss needs beside its node: the leaf for its labels and the leaf for the shift of its softmax.
pub(super) struct Leaves {
    pub(super) made: Made,
    pub(super) shift: Option<NodeId>,
}

/// Appends the nodes of a loss to a graph that the caller throws away if this fails.
pub(super) fn append(
    graph: &mut Graph,
    loss: Loss,
    outputs: NodeId,
    period: u64,
    rules: RuleSet,
    budget: &Budget,
) -> Result<Leaves, Reason> {
    let ty = graph.node(outputs).ty;
    let (n, period) = (ty.shape.n_elements().max(1) as f64, period.max(1) as f64);
    let zeros = |graph: &mut Graph, ty: TensorType| {
        construct::leaf(graph, budget, ty, Init::Fill(0.0), None, Flags::default())
    };
    let labels = loss.has_labels().then(|| zeros(graph, ty.as_f32())).transpose()?;
    let shift = match loss {
        Loss::CrossEntropy => {
            let rank = ty.shape.rank();
            let one = ty.shape.with_dim(rank.saturating_sub(1), 1);
            Some(zeros(graph, TensorType::f32(one))?)
        }
        _ => None,
    };
    let mut nodes = Nodes { graph, budget, rules };
    let node = match (loss, labels, shift) {
        (Loss::Mean, ..) => nodes.total(outputs, 1.0 / (period * n))?,
        (Loss::Sum, ..) => nodes.op(OpKind::Sum, &[outputs], None)?,
        (Loss::MeanSquaredError, Some(labels), _) => {
            let gap = nodes.op(OpKind::Sub, &[outputs, labels], None)?;
            let square = nodes.op(OpKind::Sqr, &[gap], None)?;
            nodes.total(square, 1.0 / (period * n))?
        }
        (Loss::CrossEntropy, Some(labels), Some(shift)) => {
            let logs = nodes.log_softmax(outputs, shift)?;
            let terms = nodes.op(OpKind::Mul, &[logs, labels], None)?;
            let rows = n / f64::from(ty.shape.ne()[0].max(1));
            nodes.total(terms, -1.0 / (period * rows))?
        }
        _ => outputs,
    };
    Ok(Leaves { made: Made { loss: node, labels }, shift })
}
