//! `check`: the findings, every check and the training, and a verdict.
//! Deliberately absent: entries. The page shows them; here a leaf has one line.

use foldback::report::{CheckReport, Report, TrainReport, json};

use crate::Status;
use crate::cx::{Cx, Stop, has_errors};
use crate::input::Input;
use crate::values::number;

pub(crate) fn check(cx: &mut Cx, input: &Input) -> Result<Status, Stop> {
    let progress = cx.begin(input);
    let mut told = |t| progress.told(t);
    let analysis = input.analyse();
    if cx.json {
        let status = cx.stream(|out| json::write(&analysis, Some(&input.name), out, &mut told))?;
        drop(progress);
        cx.line("")?;
        return Ok(status);
    }
    let checks = analysis.checks(&mut told);
    let train = analysis.training().map(|mut training| {
        while training.advance() {
            told(training.told());
        }
        training.report
    });
    drop(progress);
    let report = &analysis.report;
    cx.findings(input, &report.findings)?;
    cx.line(&summary(&input.name, report))?;
    if let Some(checks) = &checks {
        verdicts(cx, report, checks)?;
    }
    if let Some(train) = &train {
        cx.line(&format!("  train    {}", course(train)))?;
    }
    let status = analysis.status(checks.as_ref(), train.as_ref());
    let verdict = match status {
        0 => "built, and every check passed",
        2 => "a line could not be read",
        _ if has_errors(&report.findings) => "refused",
        _ if train.as_ref().is_some_and(|t| t.state == "error") => "the training failed",
        _ => "a check failed",
    };
    cx.line(&format!("{}: {verdict}", input.name))?;
    Ok(status)
}

/// `router.fold: rules ggml, 5 nodes, loss = 0.6`.
pub(crate) fn summary(name: &str, report: &Report) -> String {
    let shown = report.nodes.iter().take(report.n_forward as usize);
    let n_nodes = shown.filter(|n| n.role != foldback::report::Role::Inline).count();
    let loss = report.loss.and_then(|ix| report.nodes.get(ix as usize));
    let value = loss.and_then(|n| n.values.first().filter(|_| n.n_elements == 1));
    let loss = match (loss, value) {
        (Some(n), Some(x)) => format!(", {} = {}", n.name, number(*x, &n.dtype)),
        (Some(n), None) => format!(", backward from {}", n.name),
        (None, _) => String::new(),
    };
    let s = if n_nodes == 1 { "" } else { "s" };
    format!("{name}: rules {}, {n_nodes} node{s}{loss}", report.rules)
}

fn verdicts(cx: &mut Cx, report: &Report, checks: &CheckReport) -> Result<(), Stop> {
    for check in checks.verdicts(&report.checks) {
        for leaf in check.leaves {
            let (kind, word) = (&check.kind, leaf.verdict.name());
            let error =
                if leaf.error > 0.0 { format!("{:.1e}", leaf.error) } else { "0".to_owned() };
            cx.line(&format!("  {kind:<8} {}: {word}, error {error}", leaf.name))?;
        }
    }
    if !checks.refused.is_empty() {
        cx.line(&format!("  no check: {}", checks.refused))?;
    }
    for found in &checks.diagnoses {
        cx.line(&format!("  likely   {} at {}: {}", found.says, found.name, found.evidence))?;
    }
    Ok(())
}

/// `sgd, 100 steps, done: loss 0.6, then 0.1`.
pub(crate) fn course(train: &TrainReport) -> String {
    let s = if train.done == 1 { "" } else { "s" };
    let mut out = format!("{}, {} step{s}, {}", train.method, train.done, train.state);
    if let (Some(first), Some(last)) = (train.losses.first(), train.losses.last()) {
        let shown = |x: f64| number(x, "f32");
        out.push_str(&format!(": loss {}, then {}", shown(*first), shown(*last)));
    }
    if !train.reason.is_empty() {
        out.push_str(&format!(". {}", train.reason));
    }
    out
}
