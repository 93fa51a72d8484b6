//! From a text to a report: parse, lower, build the backward graph, evaluate, and say it all.

use super::findings::{Scene, line_ends};
use super::ticks::{Telling, stretched};
use super::words::{Place, expression, filled, places, sends};
use super::{CheckLine, NodeRow, PREVIEW, Report, Role, Stats, TrainLine};
use crate::autodiff::{Request, build_backward, forward_only};
use crate::construct::Budget;
use crate::contract;
use crate::forward::Values;
use crate::graph::{Graph, Node, NodeId, NodeKind};
use crate::lang::lower::{CheckKind, ReadFile, no_files};
use crate::lang::{self, Lowered, Parsed};
use crate::ops::def::{Operand, When};
use crate::refusal::{Finding, Hazard, HazardKind, Severity};
use crate::rules::RuleSet;
use crate::trace::{Author, Mark, Trace};

/// A text, analysed: the report for a front end, and what later jobs need.
pub struct Analysis {
    /// What a front end shows.
    pub report: Report,
    /// The text's tree.
    pub parsed: Parsed,
    /// The forward graph with its directives.
    pub lowered: Lowered,
    /// The backward build.
    pub trace: Trace,
    /// f32 values of every node of the trace.
    pub values: Values<f32>,
    /// Every finding of the build, in the order of the report.
    pub findings: Vec<Finding>,
    /// What may be allocated.
    pub(super) budget: Budget,
}

impl Analysis {
    /// Whether this part of the engine has no answer, or only some of it, so that the whole must be asked: the text
    /// holds what the part does not read, or leads to what it has no words for. The whole answers everything.
    pub fn unreadable(&self) -> bool {
        let told = |finding: &Finding| match finding {
            Finding::Hazard(hazard) => hazard.kind != HazardKind::NotFinite,
            Finding::Refusal(refusal) => refusal.reason.is_first(),
        };
        !crate::WHOLE
            && (has_errors(&self.parsed, &self.lowered) || !self.findings.iter().all(told))
    }
}

/// Runs everything over a text but its checks and its training. Total: whatever the text holds, there is a report.
pub fn analyse(text: &str, budget: &Budget) -> Analysis {
    analyse_with(text, budget, &no_files)
}

/// The same for a text whose files the host reads.
pub fn analyse_with(text: &str, budget: &Budget, files: ReadFile<'_>) -> Analysis {
    let parsed = lang::parse(text);
    let lowered = lang::lower_with(&parsed.ast, text, budget, files);
    // A loss that has no value because of a mistake is reported as that mistake, not as missing.
    let mistaken = lowered.loss.is_none() && has_errors(&parsed, &lowered);
    let asked = !lowered.checks.is_empty() || lowered.train.is_some();
    let wants_gradients = lowered.loss.is_some() || asked && !mistaken;
    let request = Request {
        loss: lowered.loss,
        cotangent: lowered.backward.as_ref().and_then(|b| b.with.clone()),
        accumulators: lowered
            .accumulators
            .iter()
            .map(|(id, given, _)| (*id, given.clone()))
            .collect(),
        rules: lowered.rules,
        budget: *budget,
        ..Request::default()
    };
    let trace = if wants_gradients {
        build_backward(&lowered.graph, &request)
    } else {
        forward_only(&lowered.graph)
    };
    let mut values = Values::new();
    values.eval(&trace.graph, 0..trace.graph.len());
    let mut findings = trace.findings.clone();
    if let Some(stop) = trace.refusal() {
        findings = contract::findings(&lowered.graph, &request);
        findings.retain(|f| f != stop);
        findings.insert(0, stop.clone());
    }
    findings.extend(value_hazards(lowered.rules, &trace, &values));
    let report = report(text, &parsed, &lowered, &trace, &values, &findings);
    Analysis { report, parsed, lowered, trace, values, findings, budget: *budget }
}

/// So many findings of a build have edits that mend them.
const MENDED: usize = 100;

fn has_errors(parsed: &Parsed, lowered: &Lowered) -> bool {
    let mut all = parsed.diagnostics.iter().chain(&lowered.diagnostics);
    all.any(|d| d.severity == Severity::Error)
}

/// Kinks that a value sits on, wrong numbers that depend on values, and nodes at which non-finite values begin.
fn value_hazards(rules: RuleSet, trace: &Trace, values: &Values<f32>) -> Vec<Finding> {
    let graph = &trace.graph;
    let mut out = Vec::new();
    let marks = trace.frame(trace.events.len()).marks;
    let mut hazard = |at, kind| out.push(Finding::Hazard(Hazard { at, src: None, kind }));
    let counts: Vec<(usize, usize)> = graph
        .nodes()
        .map(|(id, _)| {
            let v = values.packed(graph, id);
            (v.iter().filter(|x| x.is_nan()).count(), v.iter().filter(|x| x.is_infinite()).count())
        })
        .collect();
    let count = |id: &NodeId| counts.get(id.index()).copied().unwrap_or((0, 0));
    for (id, node) in graph.nodes() {
        let (nan, inf) = count(&id);
        let begins = match &node.kind {
            NodeKind::Leaf(_) => (node.flags.param || !crate::WHOLE) && nan + inf > 0,
            NodeKind::Op { src, .. } => {
                let clean = src.iter().all(|s| count(s) == (0, 0));
                let no_nan = src.iter().all(|s| count(s).0 == 0);
                #[cfg(feature = "full")]
                let strays = || inf > 0 && clean && !values.infinite_on_purpose(graph, id);
                // Which infinities are meant, only the whole engine knows; the part gives all of them away.
                #[cfg(not(feature = "full"))]
                let strays = || inf > 0 && clean;
                nan > 0 && no_nan || strays()
            }
        };
        if begins {
            hazard(id, HazardKind::NotFinite);
        }
    }
    for (id, node) in graph.prefix(trace.n_forward) {
        let NodeKind::Op { op, src, params } = &node.kind else { continue };
        let grows = |s: &NodeId| !graph.node(*s).ty.shape.same_extents(&node.ty.shape);
        if op.def().stretches && src.len() > 1 && src.iter().all(grows) {
            hazard(id, HazardKind::BroadcastBoth);
        }
        let needed = matches!(marks.get(id.index()), Some(Mark::Needed(_)));
        let kink = op.def().check.kink;
        let wrong = rules.wrong(*op).filter_map(|wrong| match wrong.when {
            When::Run(when) => Some((when, HazardKind::UpstreamValue(wrong.what))),
            When::Built(_) => None,
        });
        let kink = kink.map(|kink| (kink, HazardKind::Kink));
        let asked: Vec<_> = kink.into_iter().chain(wrong).collect();
        if needed && !asked.is_empty() {
            let data: Vec<Vec<f64>> = src.iter().map(|s| values.read_f64(graph, *s)).collect();
            let operands: Vec<Operand<'_, f64>> = data
                .iter()
                .zip(src)
                .map(|(data, s)| Operand { data, ty: graph.node(*s).ty })
                .collect();
            for (when, kind) in asked {
                if when(&operands, params) {
                    hazard(id, kind);
                }
            }
        }
    }
    out
}

fn report(
    text: &str,
    parsed: &Parsed,
    lowered: &Lowered,
    trace: &Trace,
    values: &Values<f32>,
    findings: &[Finding],
) -> Report {
    let rules = lowered.rules;
    let places = places(trace);
    let names: Vec<String> = places.iter().map(|p| p.name.clone()).collect();
    let graph = &trace.graph;
    let name = |id: NodeId| names.get(id.index()).cloned().unwrap_or_default();
    let authors = trace.authors();
    let formulas: Vec<String> = graph
        .nodes()
        .map(|(id, node)| formula(graph, id, node, &authors, &places, &name))
        .collect();
    let read = |id: NodeId| values.preview(graph, id, PREVIEW);
    let stats: Vec<Stats> = graph.nodes().map(|(id, _)| stats(&values.packed(graph, id))).collect();
    let range = |id: NodeId| stats.get(id.index()).map_or((0.0, 0.0), |s| (s.min, s.max));
    let last = trace.frame(trace.events.len());
    let needed: Vec<bool> = last.marks.iter().map(|m| matches!(m, Mark::Needed(_))).collect();
    let telling = Telling {
        trace,
        rules,
        names: &names,
        formulas: &formulas,
        values: &read,
        range: &range,
        needed: &needed,
    };
    let node_span = |id: NodeId| lowered.map.span(id);
    let operand_span = |id: NodeId, ix: usize| lowered.map.operand(id, ix);
    let scene = Scene {
        text,
        line_ends: &line_ends(text),
        ast: &parsed.ast,
        graph,
        rules,
        names: &names,
        node_span: &node_span,
        operand_span: &operand_span,
    };
    let stops = trace.refusal().is_some();
    let mut rows: Vec<_> =
        findings.iter().enumerate().map(|(ix, f)| scene.finding(f, stops && ix == 0)).collect();
    // An edit has the text of what it changes in it, which is much where there are thousands.
    for (row, f) in rows.iter_mut().zip(findings).take(MENDED) {
        row.fixes = scene.mends(f);
    }
    let text_problems =
        parsed.diagnostics.iter().chain(&lowered.diagnostics).map(|d| scene.diagnostic(d));
    rows.splice(0..0, text_problems);
    let ix = |id: NodeId| id.index() as u32;
    Report {
        title: parsed.ast.title_text().unwrap_or_default().to_owned(),
        rules: rules.name().to_owned(),
        nodes: graph
            .nodes()
            .zip(&places)
            .zip(&formulas)
            .map(|(((id, node), place), formula)| {
                node_row(
                    &Rows { lowered, trace, values, rules, authors: &authors, stats: &stats },
                    id,
                    node,
                    place,
                    formula,
                    &name,
                )
            })
            .collect(),
        n_forward: trace.n_forward as u32,
        loss: lowered.loss.map(ix),
        grads: last.grads.iter().map(|g| g.map(ix)).collect(),
        ticks: telling.rows(),
        needed,
        whole: !has_errors(parsed, lowered),
        findings: rows,
        checks: lowered
            .checks
            .iter()
            .map(|c| CheckLine {
                kind: kind_name(&c.kind).to_owned(),
                leaf: match &c.kind {
                    CheckKind::Formula(f) => name(f.of),
                    CheckKind::Fd | CheckKind::Adjoint => String::new(),
                },
                span: (c.span.start, c.span.end),
            })
            .collect(),
        train: lowered.train.as_ref().map(|t| TrainLine {
            method: t.optimizer.name().to_owned(),
            steps: t.steps as u32,
            lr: t.optimizer.lr(),
            span: (t.span.start, t.span.end),
        }),
    }
}

/// The word for a kind of check.
pub(super) const fn kind_name(kind: &CheckKind) -> &'static str {
    match kind {
        CheckKind::Fd => "fd",
        CheckKind::Adjoint => "adjoint",
        CheckKind::Formula(_) => "formula",
    }
}

/// How a node is computed, in names.
fn formula(
    graph: &Graph,
    id: NodeId,
    node: &Node,
    authors: &[Option<Author>],
    places: &[Place],
    name: &dyn Fn(NodeId) -> String,
) -> String {
    match &node.kind {
        NodeKind::Leaf(init) => filled(init),
        NodeKind::Op { op, src, params } => {
            let author = authors.get(id.index()).copied().flatten();
            // The result of a rule is shown as the rule's own formula, not as its last op.
            let whole = places.get(id.index()).filter(|p| !p.name.contains('~'));
            if let Some((of, of_src)) = whole.and_then(|p| Some((p.of?, p.of_src?)))
                && matches!(author, Some(Author::Rule { .. }))
                && let Some(NodeKind::Op { op, src, params }) = graph.get(of).map(|n| &n.kind)
            {
                return sends(*op, usize::from(of_src), &name(of), src, params.values(), name);
            }
            if let Some(Author::Fold { .. }) = author
                && let Some(from) = src.first()
            {
                let (large, small) = (graph.node(*from).ty.shape, node.ty.shape);
                let axes: Vec<String> =
                    stretched(graph, small, large, *from).into_iter().map(|a| a.name).collect();
                if !axes.is_empty() {
                    return format!("Σ {}", axes.join(", "));
                }
            }
            expression(*op, src, params.values(), name)
        }
    }
}

struct Rows<'a> {
    lowered: &'a Lowered,
    trace: &'a Trace,
    values: &'a Values<f32>,
    rules: RuleSet,
    authors: &'a [Option<Author>],
    stats: &'a [Stats],
}

fn node_row(
    rows: &Rows<'_>,
    id: NodeId,
    node: &Node,
    place: &Place,
    formula: &str,
    name: &dyn Fn(NodeId) -> String,
) -> NodeRow {
    let graph = &rows.trace.graph;
    let author = rows.authors.get(id.index()).copied().flatten();
    let role = match (author, &node.kind) {
        (Some(Author::Seed), _) => Role::Seed,
        (Some(Author::Accumulator { .. }), _) => Role::Accumulator,
        (_, NodeKind::Leaf(_)) if node.flags.inline => Role::Inline,
        (Some(Author::Rule { .. }), _) => Role::Rule,
        (Some(Author::Fold { .. }), _) => Role::Fold,
        (Some(Author::Accumulate { .. }), _) => Role::Accumulate,
        (None, NodeKind::Leaf(_)) if node.flags.param => Role::Param,
        (None, NodeKind::Leaf(_)) => Role::Const,
        (None, NodeKind::Op { .. }) => Role::Op,
    };
    let op = node.op();
    let def = op.map(crate::ops::OpKind::def);
    let axes = node
        .ty
        .axes
        .iter()
        .take(node.ty.shape.rank())
        .map(|a| a.map(|n| graph.axis_name(n).to_owned()).unwrap_or_default())
        .collect();
    let forward = id.index() < rows.trace.n_forward;
    let ix = |id: NodeId| id.index() as u32;
    NodeRow {
        name: place.name.clone(),
        role,
        op: def.map_or("", |d| d.name).to_owned(),
        word: match (op, role) {
            (Some(op), _) => rows.rules.op_name(op).to_owned(),
            (None, Role::Param) => "param".to_owned(),
            (None, Role::Seed) => "seed".to_owned(),
            (None, Role::Accumulator) => "accumulator".to_owned(),
            (None, _) => "const".to_owned(),
        },
        formula: formula.to_owned(),
        says: def.map_or("", |d| d.says).to_owned(),
        dtype: node.ty.dtype.name().to_owned(),
        shape: node.ty.shape.dims().to_vec(),
        axes,
        src: node.src().iter().map(|s| ix(*s)).collect(),
        stretch: node
            .src()
            .iter()
            .map(|s| match def {
                Some(d) if d.stretches && forward => {
                    stretched(graph, graph.node(*s).ty.shape, node.ty.shape, id)
                }
                _ => Vec::new(),
            })
            .collect(),
        sends: match &node.kind {
            NodeKind::Op { op, src, params } if forward => (0..src.len())
                .map(|k| sends(*op, k, &place.name, src, params.values(), name))
                .collect(),
            _ => Vec::new(),
        },
        span: rows.lowered.map.span(id).map(|s| (s.start, s.end)),
        src_spans: (0..node.src().len())
            .map(|k| rows.lowered.map.operand(id, k).map(|s| (s.start, s.end)))
            .collect(),
        of: place.of.map(ix),
        of_src: place.of_src,
        into: place.into.map(ix),
        place: match place.of.and_then(|of| graph.get(of)).and_then(Node::op) {
            Some(op) => format!("{}:{}", op.def().place.file, op.def().place.line),
            None => String::new(),
        },
        values: rows.values.preview(graph, id, PREVIEW),
        n_elements: node.ty.shape.n_elements(),
        stats: rows.stats.get(id.index()).copied().unwrap_or_default(),
    }
}

fn stats(values: &[f32]) -> Stats {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let n = finite().count();
    let total: f64 = finite().map(f64::from).sum();
    let pick = |f: fn(f32, f32) -> f32| finite().reduce(f).map_or(0.0, f64::from);
    Stats {
        min: pick(f32::min),
        max: pick(f32::max),
        mean: if n == 0 { 0.0 } else { total / n as f64 },
        n_nan: values.iter().filter(|x| x.is_nan()).count() as u64,
        n_inf: values.iter().filter(|x| x.is_infinite()).count() as u64,
    }
}
