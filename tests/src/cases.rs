//! The public cases: real pitfalls of other engines with right answers, one JSON object a line.
//! `cases/README.md` says where they come from. A key that is not read here is an error: nothing is left unchecked.

pub mod judge;
pub mod run;
pub mod text;

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;
use serde_json::Value;

use crate::golden::home;

/// A number, or what JSON cannot write.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Truth(bool),
    Named(String),
}

/// A tensor.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Tensor {
    /// Extents, row-major.
    pub shape: Vec<u32>,
    values: Vec<Number>,
}

impl Tensor {
    /// Its elements, row-major.
    pub fn values(&self) -> Vec<f64> {
        numbers(&self.values)
    }
}

fn numbers(list: &[Number]) -> Vec<f64> {
    let number = |n: &Number| match n {
        Number::Finite(x) => *x,
        Number::Truth(b) => f64::from(u8::from(*b)),
        Number::Named(name) => name.parse().unwrap_or(f64::NAN),
    };
    list.iter().map(number).collect()
}

/// Tensors by node.
pub type Tensors = BTreeMap<String, Tensor>;

/// A leaf.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Extents, row-major.
    pub shape: Vec<u32>,
    /// Its type.
    pub dtype: String,
    /// Whether it trains.
    pub requires_grad: bool,
    values: Vec<Number>,
}

impl Input {
    /// Its elements, row-major.
    pub fn values(&self) -> Vec<f64> {
        numbers(&self.values)
    }
}

/// A node.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Op {
    /// Its name.
    pub name: String,
    /// Their word for the op.
    pub op: String,
    /// What it reads.
    pub inputs: Vec<String>,
    /// Its attributes.
    pub attrs: BTreeMap<String, Value>,
}

/// A graph.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// `numpy` or `ggml`.
    pub broadcast: String,
    /// Leaves.
    pub inputs: Vec<Input>,
    /// Nodes in order of execution.
    pub ops: Vec<Op>,
    /// The node backward starts from.
    pub loss: String,
}

/// How an operand was stretched, as the axes to sum on the way back.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// The node.
    pub node: String,
    /// Its operand.
    pub operand: String,
    /// The operand's extents.
    pub operand_shape: Vec<u32>,
    /// The node's.
    pub out_shape: Vec<u32>,
    /// Axes of the node that the operand does not have.
    pub sum_new_axes: Option<Vec<u32>>,
    /// Axes of the node that the operand has with extent 1.
    pub sum_kept_axes: Option<Vec<u32>>,
    /// Copies along each axis.
    pub tiles_per_axis: Option<Vec<u32>>,
    /// Batch axes of a product.
    pub sum_batch_axes: Option<Vec<u32>>,
    /// Everything is summed.
    #[serde(default)]
    pub sum_all: bool,
}

/// The typical wrong answer.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Trap {
    /// What goes wrong.
    pub mistake: String,
    /// Gradients that must not come out.
    #[serde(default)]
    pub grads: Tensors,
    /// Leaves after each step that must not come out.
    #[serde(default)]
    pub params_after: Vec<Tensors>,
    /// A loss that must not come out.
    pub loss: Option<Value>,
    #[serde(rename = "measured")]
    _measured: Option<Value>,
}

/// A node that deserves a visible note.
#[derive(Deserialize, Clone, Debug)]
pub struct Note {
    /// The node.
    pub node: String,
    /// Their word for the reason.
    pub kind: String,
}

/// A refusal.
#[derive(Deserialize, Clone, Debug)]
pub struct Refusal {
    /// The node.
    pub node: String,
    /// Their word for the reason.
    pub reason_class: String,
    /// The value that is overwritten.
    pub target: Option<String>,
    /// The operand.
    pub operand: Option<String>,
    /// The node through which no gradient comes.
    pub blocked_by: Option<String>,
}

/// Numbers that are right instead of a refusal.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// The gradients.
    pub grads: Tensors,
    /// Under which condition.
    pub only_if: String,
}

/// Steps of an optimizer.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Optimizer {
    /// `sgd` or `adamw`.
    pub algo: String,
    /// Its settings.
    pub hyper: BTreeMap<String, f64>,
    /// How many steps.
    pub steps: usize,
    /// Leaves after each.
    pub params_after: Vec<Tensors>,
}

/// The answers to a second pass.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct SecondBackward {
    /// Starting again.
    pub reset: Tensors,
    /// Adding to the first.
    pub accumulate: Tensors,
}

/// What is to be checked.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Values by node.
    #[serde(default)]
    pub forward: Tensors,
    /// Gradients by trainable leaf.
    #[serde(default)]
    pub grads: Tensors,
    /// Gradients by node.
    #[serde(default)]
    pub node_grads: Tensors,
    /// Stretched operands.
    #[serde(default)]
    pub broadcast: Vec<Stretch>,
    /// Where a kink leaves a choice: an interval an entry, by leaf; other keys are sums that must hold.
    #[serde(default)]
    pub accept: BTreeMap<String, Value>,
    /// The wrong answer.
    pub trap: Option<Trap>,
    /// A node with a note.
    pub diagnostic: Option<Note>,
    /// A node with a warning.
    pub warning: Option<Note>,
    /// A refusal.
    pub refusal: Option<Refusal>,
    /// What may come instead of it.
    pub alternative: Option<Alternative>,
    /// Steps.
    pub optimizer: Option<Optimizer>,
    /// Clipped gradients, by rule.
    pub clipped: Option<BTreeMap<String, BTreeMap<String, Value>>>,
    /// A step that is refused.
    pub step_refusal: Option<Refusal>,
    /// A second pass.
    pub second_backward: Option<SecondBackward>,
    /// What finite differences say.
    pub gradcheck: Option<Value>,
    /// Another gradient by decree.
    pub policy_variant: Option<Value>,
    /// A tolerance of its own.
    pub tol: Option<BTreeMap<String, f64>>,
    /// What JAX prints; where it is wrong, `grads` is right.
    #[serde(rename = "jax_measured")]
    _jax_measured: Option<Value>,
    /// Who chooses what at a kink; `grads` is our choice.
    #[serde(rename = "conventions")]
    _conventions: Option<Value>,
}

/// A case.
#[derive(Deserialize, Clone, Debug)]
pub struct Case {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The graph.
    pub graph: Graph,
    /// What is to be checked.
    pub expect: Expect,
}

impl Case {
    /// The tolerance of its numbers.
    pub fn tolerance(&self) -> Tolerance {
        let own =
            |key, or| self.expect.tol.as_ref().and_then(|t| t.get(key)).copied().unwrap_or(or);
        Tolerance { rtol: own("rtol", 1e-5), atol: own("atol", 1e-6) }
    }
}

/// How far apart two numbers may be.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// Relative to the right number.
    pub rtol: f64,
    /// Absolute.
    pub atol: f64,
}

impl Tolerance {
    /// Whether two numbers agree; NaN agrees with NaN. The right one is rounded to f32, in which the engine counts:
    /// what overflows there is infinite.
    pub fn agrees(self, got: f64, want: f64) -> bool {
        let want = if (want as f32).is_infinite() { f64::from(want as f32) } else { want };
        if got.is_nan() || want.is_nan() {
            return got.is_nan() && want.is_nan();
        }
        got.to_bits() == want.to_bits() || (got - want).abs() <= self.atol + self.rtol * want.abs()
    }

    /// Whether two lists agree.
    pub fn all(self, got: &[f64], want: &[f64]) -> bool {
        got.len() == want.len() && got.iter().zip(want).all(|(g, w)| self.agrees(*g, *w))
    }
}

/// All cases.
///
/// # Panics
/// If the file cannot be read.
pub fn cases() -> Vec<Case> {
    let text = fs::read_to_string(home().join("cases/cases.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}")))
        .collect()
}
