//! A case's text, run: through the report where the text says it all, through the library where a rule is swapped.

use std::collections::BTreeMap;

use foldback::autodiff::{Instead, Request, build_backward};
use foldback::construct::Budget;
use foldback::forward::Values;
use foldback::graph::{Graph, NodeId};
use foldback::ops::def::{Backward, Contribution, Contributions, Emit, Site};
use foldback::refusal::{Finding, Reason, Severity};
use foldback::report::Weight;
use foldback::tensor::{Shape, TensorType};
use foldback::trace::{Accum, Trace};
use foldback::{contract, lang};

use super::text::{Swap, Told};

/// A finding, as far as a case speaks of it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its code.
    pub code: String,
    /// Its node.
    pub node: String,
    /// The operand, counted from 0.
    pub src: Option<usize>,
    /// Whether something is refused.
    pub is_error: bool,
    /// In words.
    pub message: String,
}

/// What came out.
pub struct Run {
    /// The text.
    pub text: String,
    /// Findings, the one that stopped the build first.
    pub seen: Vec<Seen>,
    /// The build.
    pub trace: Trace,
    /// Values in f32.
    pub values: Values<f32>,
    names: BTreeMap<String, NodeId>,
}

/// Runs a case.
pub fn run(told: &Told) -> Run {
    let text = told.text.clone();
    if told.swaps.is_empty() {
        let analysis = crate::analyse(&text);
        let names = &analysis.lowered.names;
        let seen = analysis.report.findings.iter().map(|f| Seen {
            code: f.code.clone(),
            node: f.name.clone(),
            src: f.src.map(usize::from),
            is_error: f.weight == Weight::Error,
            message: f.message.clone(),
        });
        return Run {
            text,
            seen: seen.collect(),
            names: names.iter().map(|(name, id)| (name.to_string(), *id)).collect(),
            trace: analysis.trace,
            values: analysis.values,
        };
    }
    let budget = Budget::default();
    let lowered = lang::lower(&lang::parse(&text).ast, &text, &budget);
    let names: BTreeMap<String, NodeId> =
        lowered.names.iter().map(|(name, id)| (name.to_string(), *id)).collect();
    let swaps = told.swaps.iter().filter_map(|(name, swap)| {
        Some(Instead { node: *names.get(name)?, backward: backward(*swap) })
    });
    let request = Request {
        loss: lowered.loss,
        cotangent: lowered.backward.as_ref().and_then(|b| b.with.clone()),
        rules: lowered.rules,
        instead: swaps.collect(),
        ..Request::default()
    };
    let trace = build_backward(&lowered.graph, &request);
    let mut values = Values::new();
    values.eval(&trace.graph, 0..trace.graph.len());
    let all = contract::findings(&lowered.graph, &request);
    let first = trace.refusal().cloned();
    let rest = all.into_iter().filter(|f| Some(f) != first.as_ref());
    let findings: Vec<Finding> = first.iter().cloned().chain(rest).collect();
    let texts = lowered.diagnostics.iter().map(|d| Seen {
        code: d.code.name().to_owned(),
        node: d.about.as_ref().map(|a| a.node.clone()).unwrap_or_default(),
        src: None,
        is_error: d.severity == Severity::Error,
        message: d.message.clone(),
    });
    let seen = texts.chain(findings.iter().map(|f| said(f, &trace.graph, &names))).collect();
    Run { text, seen, trace, values, names }
}

fn said(f: &Finding, graph: &Graph, names: &BTreeMap<String, NodeId>) -> Seen {
    let name = |id: NodeId| {
        let found = names.iter().find(|(_, at)| **at == id);
        found.map(|(name, _)| name.clone()).unwrap_or_default()
    };
    let node = f.at().map(name).unwrap_or_default();
    let op = f.at().and_then(|id| graph.node(id).op()).map_or("", |op| op.def().name);
    let message = match f {
        Finding::Refusal(r) => r.reason.sentence(op, &node, r.src, &name),
        Finding::Hazard(h) => h.kind.sentence(op, &node),
    };
    Seen {
        code: f.code().name().to_owned(),
        node,
        src: f.src(),
        is_error: f.severity() == Severity::Error,
        message,
    }
}

/// The rule that a swap stands for.
fn backward(swap: Swap) -> Backward {
    match swap {
        Swap::NoBackward => Backward::Missing("this engine has no rule for it"),
        Swap::Silent => Backward::Rule(|_, _| Ok(Contributions::new())),
        Swap::Gap(0) => Backward::Rule(|emit, site| zeros(emit, site, 0)),
        Swap::Gap(1) => Backward::Rule(|emit, site| zeros(emit, site, 1)),
        Swap::Gap(_) => Backward::Rule(|emit, site| zeros(emit, site, 2)),
        Swap::Scalar => Backward::Rule(|emit, site| {
            let wanted = (0..site.src.len()).filter(|ix| site.wants(*ix));
            wanted
                .map(|src| {
                    let value = emit.fill(TensorType::f32(Shape::SCALAR), 1.0)?;
                    Ok(Contribution { src, via: Accum::Add, value, fold: false })
                })
                .collect()
        }),
    }
}

fn zeros(emit: &mut Emit<'_>, site: &Site<'_>, without: usize) -> Result<Contributions, Reason> {
    let wanted = (0..site.src.len()).filter(|ix| site.wants(*ix) && *ix != without);
    wanted
        .map(|src| {
            let value = emit.fill(TensorType::f32(site.shape(src)), 0.0)?;
            Ok(Contribution { src, via: Accum::Add, value, fold: false })
        })
        .collect()
}

impl Run {
    /// Whether gradients stand.
    pub fn is_built(&self) -> bool {
        self.seen.iter().all(|s| !s.is_error) && self.trace.refusal().is_none()
    }

    /// Everything that was found, a line a finding.
    pub fn said(&self) -> String {
        let line = |s: &Seen| format!("{} at {:?}: {}", s.code, s.node, s.message);
        self.seen.iter().map(line).collect::<Vec<_>>().join("; ")
    }

    /// The node of this name.
    pub fn id(&self, name: &str) -> Option<NodeId> {
        self.names.get(name).copied()
    }

    /// A node's shape and value.
    pub fn value(&self, name: &str) -> Option<(Shape, Vec<f64>)> {
        self.read(self.id(name)?)
    }

    /// The shape and value of a node's gradient; zeros for a leaf that the loss does not depend on, where that
    /// has been said.
    pub fn grad(&self, name: &str) -> Option<(Shape, Vec<f64>)> {
        let id = self.id(name)?;
        if let Some(grad) = self.trace.grads().get(id.index()).copied().flatten() {
            return self.read(grad);
        }
        let codes = ["no-gradient-path", "unused-parameter"];
        let said = self.seen.iter().any(|s| s.node == name && codes.contains(&s.code.as_str()));
        let shape = self.trace.graph.node(id).ty.shape;
        (said && self.is_built()).then(|| (shape, vec![0.0; shape.n_elements() as usize]))
    }

    fn read(&self, id: NodeId) -> Option<(Shape, Vec<f64>)> {
        let node = self.trace.graph.get(id)?;
        Some((node.ty.shape, self.values.read_f64(&self.trace.graph, id)))
    }
}
