//! The object that `foldback check FILE --json` prints, as text. `language.md`, *The command*, is its description.
//! Deliberately absent: a serialiser. The object is small, its order is fixed, and the same text gives the same bytes.

use std::fmt::Write as _;

use super::build::kind_name;
use super::{Analysis, CheckReport, CheckRow, TrainReport, Verdict, Weight};
use crate::graph::{NodeId, NodeKind};
use crate::tensor::Shape;

/// What a check run over a document found.
pub struct Answer {
    /// The object, one line.
    pub json: String,
    /// 0 built and every check passed, 1 refused or a check failed, 2 the text could not be read.
    pub status: u8,
}

/// Text as a JSON string.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A number, or the strings that stand for what JSON cannot say.
fn number(x: f64) -> String {
    if x.is_nan() {
        "\"nan\"".to_owned()
    } else if x.is_infinite() {
        if x > 0.0 { "\"inf\"" } else { "\"-inf\"" }.to_owned()
    } else if x == 0.0 {
        "0".to_owned()
    } else {
        let text = format!("{x:?}");
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    }
}

/// The shortest digits that give the f32 back.
fn single(x: f64) -> String {
    if !x.is_finite() || x == 0.0 {
        return number(x);
    }
    let text = format!("{:?}", x as f32);
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

fn list<T>(items: impl IntoIterator<Item = T>, f: impl Fn(T) -> String) -> String {
    let items: Vec<String> = items.into_iter().map(f).collect();
    format!("[{}]", items.join(","))
}

fn shape(shape: &Shape) -> String {
    list(shape.dims(), u32::to_string)
}

#[expect(clippy::needless_pass_by_value, reason = "callers build the entries for it alone")]
fn object(entries: Vec<(String, String)>) -> String {
    let items: Vec<String> = entries.iter().map(|(k, v)| format!("{}:{v}", string(k))).collect();
    format!("{{{}}}", items.join(","))
}

/// Runs every check and the training of a document, and says it all.
pub fn answer(analysis: &Analysis) -> Answer {
    let checks = analysis.checking().map(|mut c| {
        while c.advance(256) {}
        c.report
    });
    let train = analysis.training().map(|mut t| {
        let mut steps = Vec::new();
        while t.advance() {
            if let Some(step) = t.moved() {
                steps.push(step);
            }
        }
        (t.report, steps)
    });
    let errors = |w: Weight| analysis.report.findings.iter().any(|f| f.weight == w);
    let failed = checks.as_ref().is_some_and(|c| {
        let adjoint = c.adjoint.iter().any(|a| a.verdict == Verdict::Differs);
        let directions = c.directions.iter().any(|d| d.verdict == Verdict::Differs);
        !c.refused.is_empty()
            || adjoint
            || directions
            || c.rows.iter().any(|r| r.verdict == Verdict::Differs)
    });
    let diverged = train.as_ref().is_some_and(|(t, _)| t.state == "error");
    let status = if analysis.unreadable() {
        2
    } else {
        u8::from(errors(Weight::Error) || failed || diverged)
    };
    let entries = vec![
        ("rules".to_owned(), string(&analysis.report.rules)),
        ("nodes".to_owned(), nodes(analysis)),
        (
            "loss".to_owned(),
            analysis.lowered.loss.map_or("null".to_owned(), |id| string(&name(analysis, id))),
        ),
        ("grads".to_owned(), grads(analysis, true)),
        ("node_grads".to_owned(), grads(analysis, false)),
        ("findings".to_owned(), findings(analysis)),
        (
            "checks".to_owned(),
            checks.as_ref().map_or("{}".to_owned(), |c| check_object(analysis, c)),
        ),
        (
            "train".to_owned(),
            train.as_ref().map_or("null".to_owned(), |(t, steps)| train_object(t, steps)),
        ),
    ];
    Answer { json: object(entries), status }
}

fn name(analysis: &Analysis, id: NodeId) -> String {
    analysis.trace.graph.node(id).name.as_deref().unwrap_or_default().to_owned()
}

fn values(analysis: &Analysis, id: NodeId) -> String {
    list(analysis.values.read_f64(&analysis.trace.graph, id), single)
}

fn nodes(analysis: &Analysis) -> String {
    let graph = &analysis.trace.graph;
    let shown = graph.prefix(analysis.trace.n_forward).filter(|(_, n)| !n.flags.inline);
    list(shown, |(id, node)| {
        let op = match &node.kind {
            NodeKind::Leaf(_) if node.flags.param => "param",
            NodeKind::Leaf(_) => "const",
            NodeKind::Op { op, .. } => op.def().name,
        };
        object(vec![
            ("name".to_owned(), string(&name(analysis, id))),
            ("op".to_owned(), string(op)),
            ("shape".to_owned(), shape(&node.ty.shape)),
            ("dtype".to_owned(), string(node.ty.dtype.name())),
            ("value".to_owned(), values(analysis, id)),
        ])
    })
}

fn grads(analysis: &Analysis, leaves: bool) -> String {
    let graph = &analysis.trace.graph;
    let built = analysis.trace.refusal().is_none() && analysis.lowered.loss.is_some();
    let found = analysis.trace.grads();
    let mut entries = Vec::new();
    for (id, node) in graph.prefix(analysis.trace.n_forward) {
        if node.flags.inline || leaves && !(node.flags.param && node.ty.dtype.is_float()) {
            continue;
        }
        let own = found.get(id.index()).copied().flatten();
        let numbers = match own {
            // What a refused build has so far is not the gradient of a leaf.
            Some(_) if leaves && !built => continue,
            Some(grad) => values(analysis, grad),
            // A leaf that the loss does not depend on has a gradient all the same: zeros.
            None if leaves && built => list(0..node.ty.shape.n_elements(), |_| "0".to_owned()),
            None => continue,
        };
        let entry = object(vec![
            ("shape".to_owned(), shape(&node.ty.shape)),
            ("values".to_owned(), numbers),
        ]);
        entries.push((name(analysis, id), entry));
    }
    object(entries)
}

fn findings(analysis: &Analysis) -> String {
    list(&analysis.report.findings, |f| {
        let weight = match f.weight {
            Weight::Error => "error",
            Weight::Warning => "warning",
            Weight::Info => "info",
        };
        let nothing = || "null".to_owned();
        let text = |t: &str| if t.is_empty() { nothing() } else { string(t) };
        object(vec![
            ("severity".to_owned(), string(weight)),
            ("code".to_owned(), string(&f.code)),
            ("node".to_owned(), text(&f.name)),
            ("op".to_owned(), text(&f.op)),
            ("src".to_owned(), f.src.map_or_else(nothing, |s| s.to_string())),
            ("message".to_owned(), string(&f.message)),
            ("span".to_owned(), f.span.map_or_else(nothing, |(a, b)| format!("[{a},{b}]"))),
            (
                "fixes".to_owned(),
                list(&f.fixes, |fix| {
                    object(vec![
                        ("title".to_owned(), string(&fix.title)),
                        (
                            "edits".to_owned(),
                            list(&fix.edits, |(a, b, text)| {
                                object(vec![
                                    ("span".to_owned(), format!("[{a},{b}]")),
                                    ("text".to_owned(), string(text)),
                                ])
                            }),
                        ),
                    ])
                }),
            ),
        ])
    })
}

fn verdict(
    rows: &[&CheckRow],
    error: impl Fn(&CheckRow) -> f64,
    kinks: bool,
    tolerance: f64,
) -> String {
    let worst = rows.iter().map(|r| error(r)).fold(0.0, f64::max);
    let kink = kinks && rows.iter().any(|r| r.verdict == Verdict::Kink);
    let differs = rows.iter().any(|r| {
        let e = error(r);
        (e.is_nan() || e > tolerance) && !(kinks && r.verdict == Verdict::Kink)
    });
    let word = if differs {
        "differs"
    } else if kink {
        "kink"
    } else {
        "agrees"
    };
    object(vec![("error".to_owned(), number(worst)), ("verdict".to_owned(), string(word))])
}

fn check_object(analysis: &Analysis, report: &CheckReport) -> String {
    let mut leaves: Vec<&str> = Vec::new();
    for row in &report.rows {
        if leaves.last() != Some(&row.leaf.as_str()) {
            leaves.push(&row.leaf);
        }
    }
    let of = |leaf: &str| report.rows.iter().filter(|r| r.leaf == leaf).collect::<Vec<&CheckRow>>();
    let mut entries = Vec::new();
    for line in &analysis.lowered.checks {
        let kind = kind_name(&line.kind);
        if entries.iter().any(|(k, _): &(String, String)| k == kind) {
            continue;
        }
        if kind == "adjoint" {
            let by_leaf = report.adjoint.iter().map(|a| {
                let word = if a.verdict == Verdict::Agrees { "agrees" } else { "differs" };
                let text = object(vec![
                    ("error".to_owned(), number(a.error)),
                    ("verdict".to_owned(), string(word)),
                ]);
                (a.leaf.clone(), text)
            });
            entries.push((kind.to_owned(), object(by_leaf.collect())));
            continue;
        }
        if kind == "fd" && !report.directions.is_empty() {
            entries.push((kind.to_owned(), by_direction(report)));
            continue;
        }
        let formula = kind == "formula";
        let by_leaf = leaves
            .iter()
            .filter(|leaf| !formula || of(leaf).iter().any(|r| r.formula.is_some()))
            .map(|leaf| {
                let rows = of(leaf);
                let formula_error = |r: &CheckRow| {
                    r.formula.map_or(0.0, |f| crate::check::relative_error(r.autodiff, f))
                };
                let fd_error = |r: &CheckRow| r.fd_error;
                let text = if formula {
                    verdict(&rows, formula_error, false, report.tolerance)
                } else {
                    verdict(&rows, fd_error, true, report.tolerance)
                };
                ((*leaf).to_owned(), text)
            })
            .collect();
        entries.push((kind.to_owned(), object(by_leaf)));
    }
    object(entries)
}

/// The verdict of each leaf over its random directions.
fn by_direction(report: &CheckReport) -> String {
    let mut entries: Vec<(String, String)> = Vec::new();
    for row in &report.directions {
        if entries.last().is_some_and(|(leaf, _)| *leaf == row.leaf) {
            continue;
        }
        let own = || report.directions.iter().filter(|d| d.leaf == row.leaf);
        let worst = own().map(|d| d.error).fold(0.0, f64::max);
        let any = |v: Verdict| own().any(|d| d.verdict == v);
        let word = match (any(Verdict::Differs), any(Verdict::Kink)) {
            (true, _) => "differs",
            (false, true) => "kink",
            (false, false) => "agrees",
        };
        let text = vec![("error".to_owned(), number(worst)), ("verdict".to_owned(), string(word))];
        entries.push((row.leaf.clone(), object(text)));
    }
    object(entries)
}

/// A step of a run: the loss before it and every leaf after it.
pub struct Moved {
    /// The loss before the step.
    pub loss: f64,
    /// Name and values of each leaf after the step.
    pub leaves: Vec<(String, Vec<f32>)>,
}

fn train_object(report: &TrainReport, steps: &[Moved]) -> String {
    let rows = list(steps.iter().enumerate(), |(ix, step)| {
        // The loss after a step is the loss before the next one.
        let loss = report.losses.get(ix + 1).copied().unwrap_or(step.loss);
        let leaves = step
            .leaves
            .iter()
            .map(|(name, values)| (name.clone(), list(values, |x| single(f64::from(*x)))))
            .collect();
        object(vec![("loss".to_owned(), number(loss)), ("leaves".to_owned(), object(leaves))])
    });
    let mut entries = vec![("state".to_owned(), string(&report.state))];
    if report.state == "error" {
        let some = |text: &str| if text.is_empty() { "null".to_owned() } else { string(text) };
        entries.extend([
            ("node".to_owned(), some(&report.name)),
            ("op".to_owned(), some(&report.op)),
            ("src".to_owned(), report.src.map_or_else(|| "null".to_owned(), |s| s.to_string())),
            ("reason".to_owned(), string(&report.reason)),
        ]);
    }
    entries.push(("steps".to_owned(), rows));
    object(entries)
}
