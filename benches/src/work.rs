//! A workload that is a document: its text, its inputs, and one training step of it.
//! Deliberately absent: more than one step. Every step starts from the same parameters, so that each can be checked.

use foldback::autodiff::{Request, build_backward};
use foldback::construct::Budget;
use foldback::forward::{Handed, Plan, Values};
use foldback::graph::NodeId;
use foldback::lang;
use foldback::trace::Trace;

use crate::inputs;

/// The learning rate of every workload.
pub const LR: f64 = 0.5;

/// A workload by the name that the peers give it.
pub struct Case {
    /// The name.
    pub id: &'static str,
    /// The text.
    pub text: String,
    /// The leaves' values.
    pub inputs: Vec<(&'static str, Vec<f32>)>,
    /// The node that forward alone ends at: the loss, but for W6, where it is the result itself.
    pub upto: &'static str,
    /// Floating-point operations of a step that count; 0 where memory decides.
    pub flops: f64,
}

/// The names of all of them, in the order in which they are measured.
pub const IDS: &[&str] = &[
    "W1/N=64",
    "W1/N=4096",
    "W1/N=262144",
    "W2/512x256x16",
    "W3/mlp-784-128-10-b64",
    "W5/128",
    "W5/512",
    "W6/add",
    "W6/mul",
    "W6/div",
];

/// The workload of this name.
pub fn case(id: &str) -> Option<Case> {
    let id = *IDS.iter().find(|known| **known == id)?;
    Some(match id.split_once('/')? {
        ("W1", n) => router_normalisation(id, n.trim_start_matches("N=").parse().ok()?),
        ("W2", _) => router(id),
        ("W3", _) => perceptron(id),
        ("W5", n) => product(id, n.parse().ok()?),
        (_, op) => stretched(
            id,
            match op {
                "add" => '+',
                "mul" => '*',
                _ => '/',
            },
        ),
    })
}

/// Weights by their row's sum, which is not let come near 0.
fn router_normalisation(id: &'static str, n: usize) -> Case {
    let text = format!(
        "param w [{n},8] = 0\nconst g [{n},8] = 0\ny = w / clamp(sum_rows(w), min=6.1035e-5)\nloss = sum(y * g)"
    );
    let inputs =
        vec![("w", inputs::weights(1, n * 8, 8)), ("g", inputs::around_zero(2, n * 8, 1.0))];
    Case { id, text, inputs, upto: "loss", flops: 0.0 }
}

/// A mixture of experts: softmax, the two largest shares, shared out anew, and the experts' values.
fn router(id: &'static str) -> Case {
    let text = "\
param Wg [256,16] = 0
param V [16,256] = 0
const x [512,256] = 0
const g [512,256] = 0
p = softmax(x @ Wg)
s = stop_gradient(p)
first = max(s, axis=1, keepdims=true)
rest = where(s < first, s, 0)
second = max(rest, axis=1, keepdims=true)
t = where(s >= second, p, 0)
q = t / sum_rows(t)
y = q @ V
loss = sum(y * g) / 512";
    let inputs = vec![
        ("Wg", inputs::around_zero(4, 256 * 16, 0.25)),
        ("V", inputs::around_zero(5, 16 * 256, 1.0)),
        ("x", inputs::around_zero(3, 512 * 256, 1.0)),
        ("g", inputs::around_zero(6, 512 * 256, 1.0)),
    ];
    Case {
        id,
        text: text.to_owned(),
        inputs,
        upto: "loss",
        flops: 5.0 * 2.0 * 512.0 * 256.0 * 16.0,
    }
}

/// Two layers and a mean cross-entropy.
fn perceptron(id: &'static str) -> Case {
    let text = "\
param W1 [784,128] = 0
param b1 [128] = 0
param W2 [128,10] = 0
param b2 [10] = 0
const x [64,784] = 0
const onehot [64,10] = 0
h = relu(x @ W1 + b1)
z = h @ W2 + b2
loss = sum(log_softmax(z) * onehot) / -64";
    let labels = inputs::from(12, 64, 0.0, 1.0);
    let mut onehot = vec![0.0; 640];
    for (row, label) in labels.iter().enumerate() {
        if let Some(x) = onehot.get_mut(row * 10 + (label * 10.0) as usize) {
            *x = 1.0;
        }
    }
    let inputs = vec![
        ("W1", inputs::around_zero(8, 784 * 128, 0.0625)),
        ("b1", inputs::around_zero(9, 128, 0.0625)),
        ("W2", inputs::around_zero(10, 1280, 0.125)),
        ("b2", inputs::around_zero(11, 10, 0.125)),
        ("x", inputs::from(7, 64 * 784, 0.0, 1.0)),
        ("onehot", onehot),
    ];
    let flops = 2.0 * 64.0 * (2.0 * 784.0 * 128.0 + 3.0 * 1280.0);
    Case { id, text: text.to_owned(), inputs, upto: "loss", flops }
}

/// A product of two square matrices.
fn product(id: &'static str, n: usize) -> Case {
    let text = format!(
        "param A [{n},{n}] = 0\nparam B [{n},{n}] = 0\nconst G [{n},{n}] = 0\nloss = sum((A @ B) * G) / {n}"
    );
    let inputs = vec![
        ("A", inputs::around_zero(17, n * n, 1.0)),
        ("B", inputs::around_zero(18, n * n, 1.0)),
        ("G", inputs::around_zero(19, n * n, 1.0)),
    ];
    Case { id, text, inputs, upto: "loss", flops: 6.0 * (n * n * n) as f64 }
}

/// A matrix and a row that is stretched over it, whose gradient is folded.
fn stretched(id: &'static str, op: char) -> Case {
    let text = format!(
        "param a [1024,1024] = 0\nparam b [1,1024] = 0\nconst g [1024,1024] = 0\ny = a {op} b\nloss = sum(y * g)"
    );
    let inputs = vec![
        ("a", inputs::from(20, 1 << 20, 0.5, 1.0)),
        ("b", inputs::from(21, 1024, 0.5, 1.0)),
        ("g", inputs::around_zero(22, 1 << 20, 1.0)),
    ];
    Case { id, text, inputs, upto: "y", flops: 0.0 }
}

/// A workload that can be run.
pub struct Work {
    trace: Trace,
    loss: NodeId,
    /// The node that forward alone ends at.
    upto: NodeId,
    leaves: Vec<(String, NodeId)>,
    params: Vec<Param>,
    values: Values<f32>,
    /// For the forward nodes alone, and for all.
    plans: [Option<Plan>; 2],
}

/// A trainable leaf, its gradient, and where a step puts what it becomes.
struct Param {
    name: String,
    leaf: NodeId,
    grad: NodeId,
    after: Vec<f32>,
}

impl Work {
    /// Reads a text, builds its gradients and fills its leaves; the reason in words where that fails.
    pub fn new(case: &Case) -> Result<Self, String> {
        let text = &case.text;
        let parsed = lang::parse(text);
        let lowered = lang::lower(&parsed.ast, text, &Budget::default());
        if let Some(d) = parsed.diagnostics.iter().chain(&lowered.diagnostics).next() {
            return Err(d.message.clone());
        }
        let loss = lowered.loss.ok_or("no loss")?;
        let upto = *lowered.names.get(case.upto).ok_or("no node that forward ends at")?;
        let request = Request {
            loss: Some(loss),
            rules: lowered.rules,
            budget: Budget::default(),
            ..Request::default()
        };
        let trace = build_backward(&lowered.graph, &request);
        if let Some(refusal) = trace.refusal() {
            return Err(format!("{refusal:?}"));
        }
        let grads = trace.grads();
        let leaves: Vec<(String, NodeId)> =
            lowered.names.iter().map(|(name, id)| (name.to_string(), *id)).collect();
        let trains = |(name, id): &(String, NodeId)| {
            let node = trace.graph.node(*id);
            let grad = grads.get(id.index()).copied().flatten()?;
            let after = vec![0.0; node.ty.shape.n_elements() as usize];
            let param = Param { name: name.clone(), leaf: *id, grad, after };
            node.flags.param.then_some(param)
        };
        let params: Vec<Param> = leaves.iter().filter_map(trains).collect();
        let handed = |id: NodeId| params.iter().find(|p| p.grad == id).map(|p| p.leaf);
        let plans = [
            Plan::new(&trace.graph, upto.index() + 1, |id| id == upto, |_| None),
            Plan::new(&trace.graph, trace.graph.len(), |id| id == loss, handed),
        ];
        let mut work = Self { trace, loss, upto, leaves, params, values: Values::new(), plans };
        for (name, values) in &case.inputs {
            work.set(name, values);
        }
        Ok(work)
    }

    /// Gives a leaf values; false where there is no such leaf.
    pub fn set(&mut self, name: &str, values: &[f32]) -> bool {
        let Some((_, id)) = self.leaves.iter().find(|(own, _)| own == name) else { return false };
        self.values.refill(*id, values);
        true
    }

    /// Bytes that a step cannot but touch: every leaf is read, and every parameter written beside itself.
    pub fn touched(&self) -> usize {
        let size = |id: NodeId| self.trace.graph.node(id).ty.shape.n_elements() as usize * 4;
        let read: usize =
            self.leaves.iter().map(|(_, id)| *id).filter(|id| self.is_leaf(*id)).map(size).sum();
        read + self.params.iter().map(|p| size(p.leaf)).sum::<usize>()
    }

    fn is_leaf(&self, id: NodeId) -> bool {
        self.trace.graph.node(id).op().is_none()
    }

    /// The first element of the node that forward ends at.
    pub fn forward(&mut self) -> f32 {
        let (graph, n) = (&self.trace.graph, self.upto.index() + 1);
        let plan = self.plans[0].as_ref();
        if !plan.is_some_and(|plan| self.values.follow(graph, plan)) {
            self.values.eval(graph, 0..n);
        }
        self.first(self.upto)
    }

    fn first(&self, id: NodeId) -> f32 {
        self.values.packed(&self.trace.graph, id).first().copied().unwrap_or(f32::NAN)
    }

    /// The loss, and every parameter after one step, beside the parameters themselves.
    ///
    /// A parameter moves as soon as a part of its gradient is there. By the plan where there is one, and where it holds;
    /// else node by node.
    pub fn step(&mut self) -> f32 {
        let Self { trace, plans, values, params, .. } = self;
        let graph = &trace.graph;
        let mut take = |part: Handed<'_, f32>| move_by(params, part);
        let plan = plans[1].as_ref();
        if !plan.is_some_and(|plan| values.follow_and_hand(graph, plan, &mut take)) {
            values.eval(graph, 0..graph.len());
            for ix in 0..params.len() {
                let Some((leaf, grad)) = params.get(ix).map(|p| (p.leaf, p.grad)) else { break };
                let (now, grad) = (values.packed(graph, leaf), values.packed(graph, grad));
                move_by(params, Handed { leaf, at: 0, values: &now, grad: &grad });
            }
        }
        self.first(self.loss)
    }

    /// A parameter after the last step; empty where there is no such parameter.
    pub fn after(&self, name: &str) -> &[f32] {
        self.params.iter().find(|p| p.name == name).map_or(&[], |p| &p.after)
    }
}

/// Moves a part of a parameter.
fn move_by(params: &mut [Param], part: Handed<'_, f32>) {
    for param in params.iter_mut().filter(|p| p.leaf == part.leaf) {
        let after = param.after.get_mut(part.at..).unwrap_or_default();
        for ((w, p), g) in after.iter_mut().zip(part.values).zip(part.grad) {
            *w = *p - LR as f32 * *g;
        }
    }
}
