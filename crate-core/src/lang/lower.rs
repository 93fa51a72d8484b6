//! Syntax tree to graph: names are resolved, ops applied, directives read.
//!
//! A line with a mistake has no value, and neither have the lines that need it; all others are made.
//! It evaluates no tensor, reads no file itself, and names no op: rows, signs and aliases come from
//! the op table.

mod apply;
mod attribute;
mod block;
mod call;
mod complaint;
mod constant;
mod directive;
mod fold;
mod generator;
mod leaf;
mod machine;
mod names;
mod part;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Ast, Ident, StatementKind};
use super::source_map::{NodeText, SourceMap};
use super::{Code, Diagnostic, Span};
use crate::autodiff::Given;
use crate::construct::Budget;
use crate::graph::{Graph, NodeId};
use crate::ops::OpKind;
use crate::optimizer::Optimizer;
use crate::rules::RuleSet;

use self::complaint::Complaints;
#[cfg(feature = "full")]
pub(super) use self::directive::{LOSS, METHODS};
#[cfg(feature = "full")]
pub(super) use self::generator::{generator_names, generators};
use self::machine::Machine;

/// What `load("file")` or `load("file", "tensor")` asks of the host.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The file's name, as the text has it.
    pub file: &'a str,
    /// Which of its tensors, where the text says so.
    pub tensor: Option<&'a str>,
    /// What may be allocated for it.
    pub budget: &'a Budget,
}

/// What the host found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Loaded {
    /// Its shape, row-major.
    pub dims: Vec<u32>,
    /// Its elements, row-major.
    pub values: Arc<[f64]>,
}

/// Why there is nothing to load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unloaded {
    /// The file cannot be used; the text says why, after its name.
    Unusable(String),
    /// It holds more elements than the budget allows.
    TooLarge,
}

/// How the host reads files.
pub type ReadFile<'a> = &'a dyn Fn(Wanted<'_>) -> Result<Loaded, Unloaded>;

/// A host without files.
pub fn no_files(_: Wanted<'_>) -> Result<Loaded, Unloaded> {
    Err(Unloaded::Unusable("no files can be read here".to_owned()))
}

/// What a document means.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// Whose rules it is judged by.
    pub rules: RuleSet,
    /// Leaves and forward nodes, in order of evaluation.
    pub graph: Graph,
    /// Which text made which node.
    pub map: SourceMap,
    /// Nodes by name.
    pub names: BTreeMap<Arc<str>, NodeId>,
    /// Names that have no value because of a mistake or an open input, with their places.
    pub valueless: Vec<Ident>,
    /// Ops that could not be applied, with the names that their nodes would have: a drawing shows them too.
    pub unmade: Vec<Unmade>,
    /// Calls of functions that stand in the document's own lines.
    pub calls: Vec<Called>,
    /// The node backward starts from: the `backward` line's, or the one called `loss`.
    pub loss: Option<NodeId>,
    /// The `backward` line.
    pub backward: Option<Backward>,
    /// The `check` lines, in order.
    pub checks: Vec<CheckLine>,
    /// The `train` line.
    pub train: Option<TrainLine>,
    /// Where gradients start from, as the text gives it.
    pub accumulators: Vec<(NodeId, Given, Span)>,
    /// Pinned positions.
    pub pins: Vec<Pin>,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// An op that was not applied: an operand has no value, or does not fit.
#[derive(Clone, PartialEq, Debug)]
pub struct Unmade {
    /// The name that the node would have. It is given to no other node.
    pub name: String,
    /// The op.
    pub op: OpKind,
    /// The text behind it.
    pub text: NodeText,
}

/// A call of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Called {
    /// Its name: the nodes inside are called `NAME.…`.
    pub name: String,
    /// The expression.
    pub span: Span,
}

/// `backward NODE with VALUE`.
#[derive(Clone, PartialEq, Debug)]
pub struct Backward {
    /// The node.
    pub node: NodeId,
    /// Its cotangent.
    pub with: Option<Given>,
    /// The line.
    pub span: Span,
    /// The cotangent's text.
    pub with_span: Option<Span>,
}

/// A `check` line.
#[derive(Clone, Debug)]
pub struct CheckLine {
    /// What it asks for.
    pub kind: CheckKind,
    /// Its settings, in order.
    pub settings: Vec<(String, f64)>,
    /// The line.
    pub span: Span,
}

/// What a `check` line asks for.
#[derive(Clone, Debug)]
pub enum CheckKind {
    /// Finite differences.
    Fd,
    /// The adjoint test.
    Adjoint,
    /// A closed form of a leaf's gradient.
    Formula(Box<Formula>),
}

/// A closed form, as a graph of its own: nothing is added to the document's.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The leaf whose gradient it is.
    pub of: NodeId,
    /// The formula, with two-sided broadcast.
    pub graph: Graph,
    /// Its value.
    pub value: NodeId,
    /// Leaves of the formula's graph, and the document's nodes whose values they take.
    pub inputs: Vec<(NodeId, NodeId)>,
}

/// The `train` line.
#[derive(Clone, PartialEq, Debug)]
pub struct TrainLine {
    /// How parameters move.
    pub optimizer: Optimizer,
    /// How many steps.
    pub steps: u64,
    /// Micro-batches a step.
    pub period: u64,
    /// The largest gradient norm.
    pub clip: Option<f64>,
    /// The line.
    pub span: Span,
}

/// `layout NODE X Y`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pin {
    /// The node.
    pub node: NodeId,
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
    /// The line.
    pub span: Span,
}

/// Makes the graph of a document; no file can be read.
pub fn lower(ast: &Ast, text: &str, budget: &Budget) -> Lowered {
    lower_with(ast, text, budget, &no_files)
}

/// Makes the graph of a document whose files the host reads.
pub fn lower_with(ast: &Ast, text: &str, budget: &Budget, files: ReadFile<'_>) -> Lowered {
    let mut complaints = Complaints::default();
    let rules = rules(ast, &mut complaints);
    let program = block::Program::new(ast, text, &mut complaints);
    let mut machine = Machine::new(&program, budget, rules, files, complaints);
    machine.run();
    let mut out = machine.finish();
    directive::read(&program, budget, files, &mut out);
    out.lowered.diagnostics = out.complaints.finish();
    out.lowered
}

/// The rule set that the document names.
fn rules(ast: &Ast, complaints: &mut Complaints) -> RuleSet {
    let mut named: Option<RuleSet> = None;
    let mut seen = false;
    for statement in ast.statements() {
        let StatementKind::Rules(name) = &statement.kind else {
            continue;
        };
        if seen {
            complaints.second_line("rules", statement.span);
            continue;
        }
        seen = true;
        named = RuleSet::by_name(&name.text);
        if named.is_none() && !crate::WHOLE {
            complaints.beyond();
        } else if named.is_none() {
            let known = RuleSet::ALL.iter().map(|rules| rules.name());
            let message = told!(
                "there are no rules called `{}`; write {}",
                name.text,
                known.clone().map(|name| told!("`{name}`")).collect::<Vec<_>>().join(", ")
            );
            complaints.unknown(Code::UnknownName, name, message, known);
        }
    }
    named.unwrap_or_default()
}

/// A value that an expression has while lines are made.
#[derive(Clone, Debug)]
enum Val {
    /// A node.
    Node(NodeId),
    /// A number that takes the shape it meets.
    Number(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A list of numbers.
    List(Arc<constant::Const>),
    /// A list with something else in it: its elements are the expression's parts.
    Parts,
    /// A name that no line defines: an axis name, or a mistake.
    Word,
    /// A text.
    Text,
    /// None, because of a mistake that has been reported.
    Poison,
}
