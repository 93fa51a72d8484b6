//! Everything a front end shows, as plain data: no ids to look up in another structure, no engine types.
//! Deliberately absent: pixels, colours and any state of a view. Shapes are row-major; spans are byte ranges.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

mod build;
#[cfg(feature = "full")]
mod digest;
#[cfg(feature = "cli")]
pub mod draw;
mod findings;
#[cfg(feature = "full")]
mod jobs;
#[cfg(feature = "full")]
pub mod json;
mod log;
#[cfg(feature = "full")]
mod saved;
mod ticks;
#[cfg(feature = "full")]
mod verdicts;
mod words;

pub use build::{Analysis, analyse, analyse_with};
#[cfg(feature = "full")]
pub use jobs::{Checking, Told, Training};
#[cfg(feature = "full")]
pub use saved::{TrainSaved, TrainSavedLeaf};
#[cfg(feature = "full")]
pub use verdicts::{KindVerdict, LeafVerdict};

/// A byte range of the text.
pub type SpanRow = (u32, u32);

/// What one run over the text found and built.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Report {
    /// The text's first comment.
    pub title: String,
    /// The rule set's name.
    pub rules: String,
    /// Forward nodes and leaves in order, then gradient nodes in order of creation. An index here is a node's id.
    pub nodes: Vec<NodeRow>,
    /// How many of them are forward nodes.
    pub n_forward: u32,
    /// The node backward starts from.
    pub loss: Option<u32>,
    /// For each forward node, its gradient when the trace ended.
    pub grads: Vec<Option<u32>>,
    /// For each forward node, whether it needs a gradient, where the mark walk got that far.
    pub needed: Vec<bool>,
    /// The ticks of the stepper, phases Shape to Build. Checks and updates have tables of their own.
    pub ticks: Vec<TickRow>,
    /// The finding that stopped the build first, then the others in the order in which the build would meet them.
    pub findings: Vec<FindingRow>,
    /// Which checks the text asks for, in order.
    pub checks: Vec<CheckLine>,
    /// The text's train line.
    pub train: Option<TrainLine>,
    /// False where a text error kept the graph from being built in full: a page keeps its last good picture.
    pub whole: bool,
}

/// What a node is to the document.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Role {
    /// A trainable leaf.
    Param,
    /// A leaf that does not train.
    #[default]
    Const,
    /// A number or list written beside a tensor: drawn inside its consumer.
    Inline,
    /// A forward op.
    Op,
    /// The gradient backward starts from.
    Seed,
    /// The value a gradient starts from, given in the text.
    Accumulator,
    /// Made by the rule of the author's node.
    Rule,
    /// Made by the driver to fold a contribution.
    Fold,
    /// Made by the driver to join a contribution to an earlier gradient.
    Accumulate,
}

/// How an operand was stretched along one axis of the result.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct StretchRow {
    /// The axis of the result, from the left.
    pub axis: u8,
    /// Its name, or `axis N`.
    pub name: String,
    /// The operand's extent; 1 or, when tiling, a divisor. 1 for an axis that the operand does not have.
    pub from: u32,
    /// The result's extent.
    pub to: u32,
}

/// A node.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct NodeRow {
    /// Its name: the text's for forward nodes (`y`, `y.1`; a number for inline constants), `dw`, `dw₁`, `dc′` for
    /// gradients. Intermediate nodes of a rule are named after what they serve: `dc′.1`.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// The table's name of the op; empty for leaves.
    pub op: String,
    /// What the rules' engine calls it: `DIV` under ggml, `div` under numpy; `param`, `const`, `seed` for leaves.
    pub word: String,
    /// How it is computed, in names: `w / c`, `−dy · y / c`, `Σ expert`. For a leaf, how it is filled.
    pub formula: String,
    /// What it does, one sentence; empty for leaves.
    pub says: String,
    /// `f32`, `i32`, ...
    pub dtype: String,
    /// Extents, row-major.
    pub shape: Vec<u32>,
    /// Axis names, one an axis; empty where there is none.
    pub axes: Vec<String>,
    /// Nodes it reads.
    pub src: Vec<u32>,
    /// For each source, how it was stretched; empty where it was not.
    pub stretch: Vec<Vec<StretchRow>>,
    /// For each source of a forward op, the contribution its rule sends there, in names; empty where none is sent.
    pub sends: Vec<String>,
    /// The text that made it.
    pub span: Option<SpanRow>,
    /// The text of each operand.
    pub src_spans: Vec<Option<SpanRow>>,
    /// For a gradient node: the forward node whose rule or contribution made it; for an accumulator, its node.
    pub of: Option<u32>,
    /// For a gradient node: which source of `of` it serves.
    pub of_src: Option<u8>,
    /// For a gradient node: the forward node whose gradient, or part of it, it becomes or serves.
    pub into: Option<u32>,
    /// Where the rule that made it stands in our source: `src/ops/div.rs:12`.
    pub place: String,
    /// Elements, row-major, at most `PREVIEW` of them; f32 values exactly. Empty where it was not evaluated.
    pub values: Vec<f64>,
    /// How many elements it has.
    pub n_elements: u64,
    /// Over all elements, the non-finite ones left out.
    pub stats: Stats,
}

/// The most elements of a node that a report carries.
pub const PREVIEW: usize = 1024;

/// What all elements of a node say together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Stats {
    /// Least finite element.
    pub min: f64,
    /// Greatest finite element.
    pub max: f64,
    /// Mean of the finite elements.
    pub mean: f64,
    /// How many are not a number.
    pub n_nan: u64,
    /// How many are infinite.
    pub n_inf: u64,
}

/// The kind of a tick: its glyph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum TickGlyph {
    /// A node has a shape.
    Shape,
    /// A node has a value.
    Value,
    /// The mark walk.
    Mark,
    /// The gradient backward starts from.
    Seed,
    /// A rule is asked.
    Rule,
    /// A rule appended a node.
    Emit,
    /// A contribution was folded.
    Fold,
    /// A fold had nothing to do.
    FoldNoOp,
    /// A contribution joined an earlier gradient.
    Accumulate,
    /// The build stopped.
    Refusal,
}

impl TickGlyph {
    /// The word in the command's answer.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Value => "value",
            Self::Mark => "mark",
            Self::Seed => "seed",
            Self::Rule => "rule",
            Self::Emit => "emit",
            Self::Fold => "fold",
            Self::FoldNoOp => "fold-no-op",
            Self::Accumulate => "accumulate",
            Self::Refusal => "refusal",
        }
    }
}

/// One tick of the stepper, with the state of the build once it is done.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TickRow {
    /// Its glyph.
    pub kind: TickGlyph,
    /// How many forward nodes have a shape.
    pub n_shaped: u32,
    /// How many forward nodes have a value.
    pub n_evaluated: u32,
    /// How many nodes exist, forward and backward: a gradient node exists from the tick that makes it on.
    pub n_nodes: u32,
    /// The forward node whose rule is at work.
    pub inside: Option<u32>,
    /// The node this tick is about: the forward node for shapes, values and rules, else the gradient node made.
    pub node: Option<u32>,
    /// The forward node it concerns: whose gradient grew, was folded, or was refused.
    pub target: Option<u32>,
    /// The source of `inside` it concerns, from 0.
    pub src: Option<u8>,
    /// What happened, short: `Fold dc′ along expert`.
    pub title: String,
    /// More of it, short: `3 cells into 1`. May be empty.
    pub detail: String,
    /// Shape before and after, where it changes.
    pub shapes: Option<(Vec<u32>, Vec<u32>)>,
    /// One sentence of plain language with the numbers in it.
    pub sentence: String,
    /// The fold, where the tick is one.
    pub fold: Option<FoldRow>,
}

/// A fold: which cells of a contribution add up to which cell of the source.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct FoldRow {
    /// The contribution.
    pub from: u32,
    /// Its sum.
    pub to: u32,
    /// The axes it is summed along, in order; `from` is the extent of the source there.
    pub axes: Vec<StretchRow>,
    /// The same in words, a line a cell, the first ones: `dc[0,0] = −0.15 + 0.08 = −0.07`.
    pub text: Vec<String>,
}

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Weight {
    /// Something is refused.
    #[default]
    Error,
    /// It is built, but should not be trusted unseen.
    Warning,
    /// Worth knowing.
    Info,
}

impl Weight {
    /// The word in the command's answer.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// A refusal, a warning or a diagnostic of the text.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct FindingRow {
    /// How bad it is.
    pub weight: Weight,
    /// The stable code, kebab-case.
    pub code: String,
    /// Whether this one stopped the build.
    pub stops: bool,
    /// The node.
    pub node: Option<u32>,
    /// Its name.
    pub name: String,
    /// The table's name of its op; empty for leaves.
    pub op: String,
    /// Its op in the rules' words.
    pub word: String,
    /// The source, from 0.
    pub src: Option<u8>,
    /// A heading: `DIV cannot send a gradient to a stretched operand`.
    pub title: String,
    /// The exact message.
    pub message: String,
    /// What: the two shapes that clash, `sent` and `wanted`, where shapes are the matter.
    pub clash: Option<(Vec<u32>, Vec<u32>)>,
    /// Axis names for the clash, one an axis of the longer shape; empty where there is none.
    pub clash_axes: Vec<String>,
    /// Why, two sentences at most.
    pub why: String,
    /// What to do next, one sentence.
    pub next: String,
    /// Where that engine's source says so; empty under our own rules.
    pub cite: String,
    /// The text to underline: the operand where one is to blame.
    pub span: Option<SpanRow>,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// Edits that make it go away, best first.
    pub fixes: Vec<FixRow>,
}

/// Text edits that mend a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct FixRow {
    /// The chip: `w / repeat(c, w)`.
    pub title: String,
    /// What it does, one sentence; may be empty.
    pub note: String,
    /// Whether it changes the rules instead of the graph.
    pub changes_rules: bool,
    /// Byte ranges and what replaces them, in order, not overlapping.
    pub edits: Vec<(u32, u32, String)>,
}

/// A check that the text asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct CheckLine {
    /// `fd`, `adjoint` or `formula`.
    pub kind: String,
    /// The leaf of a formula check; empty otherwise.
    pub leaf: String,
    /// The line's text.
    pub span: SpanRow,
}

/// The text's train line.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TrainLine {
    /// `sgd` or `adamw`.
    pub method: String,
    /// Steps asked for.
    pub steps: u32,
    /// The learning rate.
    pub lr: f64,
    /// The line's text.
    pub span: SpanRow,
}

/// What a check says of one entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Verdict {
    /// Within tolerance.
    Agrees,
    /// The slopes on both sides differ, and the gradient lies between them.
    Kink,
    /// Neither. NaN is always this.
    Differs,
}

/// One entry of one trainable leaf, checked.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct CheckRow {
    /// The leaf's name.
    pub leaf: String,
    /// The entry, one index an axis.
    pub index: Vec<u32>,
    /// The engine's gradient, f64.
    pub autodiff: f64,
    /// The central difference.
    pub fd: Option<f64>,
    /// The slope to the left.
    pub left: Option<f64>,
    /// The slope to the right.
    pub right: Option<f64>,
    /// The step of the differences.
    pub h: Option<f64>,
    /// The closed form.
    pub formula: Option<f64>,
    /// Autodiff against the closed form, in units of the last place.
    pub ulp: Option<u64>,
    /// Symmetric relative error of the finite difference.
    pub fd_error: f64,
    /// Symmetric relative error of whichever check is worse.
    pub error: f64,
    /// The verdict over all checks of the entry.
    pub verdict: Verdict,
}

/// The adjoint test of one leaf: the slope along a random direction, both ways.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct AdjointRow {
    /// The leaf's name.
    pub leaf: String,
    /// By forward mode.
    pub forward: f64,
    /// By the backward graph.
    pub backward: f64,
    /// Their gap relative to what was added up.
    pub error: f64,
    /// The verdict.
    pub verdict: Verdict,
}

/// A finite difference along a random direction of one leaf, where there are too many entries for one each.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct DirectionRow {
    /// The leaf's name.
    pub leaf: String,
    /// Which of its directions, from 0.
    pub number: u32,
    /// The engine's slope along it, f64.
    pub autodiff: f64,
    /// The central difference.
    pub fd: f64,
    /// The slope behind.
    pub left: f64,
    /// The slope ahead.
    pub right: f64,
    /// Symmetric relative error.
    pub error: f64,
    /// The verdict.
    pub verdict: Verdict,
}

/// How one step of gradient descent changes the loss.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct ChangeRow {
    /// The learning rate.
    pub lr: f64,
    /// What the gradient claims: `-lr g·g + lr²/2 gᵀHg`.
    pub claimed: f64,
    /// What forward mode says of the same step.
    pub predicted: f64,
    /// What the step does.
    pub actual: f64,
    /// How far the claimed slope is from the slope there is, relative.
    pub error: f64,
    /// The verdict.
    pub verdict: Verdict,
}

#[cfg(feature = "full")]
impl ChangeRow {
    fn of(lr: f64, c: crate::check::Change) -> Self {
        let agrees = c.verdict == crate::check::Verdict::Agrees;
        Self {
            lr,
            claimed: c.claimed,
            predicted: c.predicted,
            actual: c.actual,
            error: c.error,
            verdict: if agrees { Verdict::Agrees } else { Verdict::Differs },
        }
    }
}

/// What is likely wrong behind a gradient that differs.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct DiagnosisRow {
    /// The mistake, a few words: `a mean instead of a sum`.
    pub says: String,
    /// What shows it, one sentence with the numbers in it.
    pub evidence: String,
    /// The node whose backward makes it.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// The operand it concerns, from 0.
    pub src: Option<u8>,
}

/// All checks of a text.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct CheckReport {
    /// Entries in order of leaf and flat index.
    pub rows: Vec<CheckRow>,
    /// Relative tolerance of the verdicts.
    pub tolerance: f64,
    /// Entries there are; more than rows while the check is still going on.
    pub n_entries: u64,
    /// The adjoint test, by leaf, where the text asks for it.
    pub adjoint: Vec<AdjointRow>,
    /// Differences along random directions, in place of rows where there are too many entries.
    pub directions: Vec<DirectionRow>,
    /// What one step does to the loss, where the text trains by gradient descent.
    pub change: Option<ChangeRow>,
    /// What is likely wrong, where something differs and every entry is in.
    pub diagnoses: Vec<DiagnosisRow>,
    /// Why no check could be made; empty where one was.
    pub refused: String,
}

/// A trainable leaf before and after a step.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TrainLeaf {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: Vec<u32>,
    /// Values before, at most `PREVIEW`.
    pub before: Vec<f64>,
    /// The gradient used.
    pub grad: Vec<f64>,
    /// Values after.
    pub after: Vec<f64>,
    /// What the closed form says they should be, rounded to f32; empty without one.
    pub closed: Vec<f64>,
    /// After against closed form, in f32 units of the last place; empty without one.
    pub ulp: Vec<u64>,
}

/// One step of training.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TrainStep {
    /// From 1.
    pub step: u32,
    /// The loss before it.
    pub loss: f64,
    /// Every trainable leaf.
    pub leaves: Vec<TrainLeaf>,
}

/// A training run.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TrainReport {
    /// `idle`, `running`, `done`, `cancelled` or `error`.
    pub state: String,
    /// Why it is `error`; empty otherwise.
    pub reason: String,
    /// The node that an `error` is about.
    pub node: Option<u32>,
    /// Its name; empty where there is none.
    pub name: String,
    /// The table's name of its op; empty for a leaf.
    pub op: String,
    /// The source that an `error` is about, from 0.
    pub src: Option<u8>,
    /// `sgd` or `adamw`.
    pub method: String,
    /// The learning rate.
    pub lr: f64,
    /// Steps taken.
    pub done: u64,
    /// Steps asked for.
    pub steps: u64,
    /// The loss before each step and after the last.
    pub losses: Vec<f64>,
    /// The first step.
    pub first: Option<TrainStep>,
    /// The newest step.
    pub last: Option<TrainStep>,
}
