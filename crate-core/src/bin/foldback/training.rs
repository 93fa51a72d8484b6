//! `train`: the run of the train line, as figures: the losses with a bar each, then every parameter.
//! Deliberately absent: resuming. A run is made again from its text.

use foldback::report::json;

use crate::Status;
use crate::cx::{Cx, Stop};
use crate::input::Input;
use crate::judge::course;
use crate::values::{array, number};

/// So many losses are printed, where nobody says how many.
const LINES: usize = 20;

/// The longest bar.
const WIDTH: usize = 40;

/// So many elements of a parameter are printed.
const MOST: usize = 64;

pub(crate) fn train(cx: &mut Cx, input: &Input, every: Option<u64>) -> Result<Status, Stop> {
    let progress = cx.begin(input);
    let analysis = input.analyse();
    let Some(mut training) = analysis.training() else {
        drop(progress);
        cx.aside(input, &analysis.report.findings)?;
        let refused = analysis.status(None, None);
        if refused == 0 {
            let what = "there is no train line; write train sgd lr=0.1 steps=100";
            cx.complain(&format!("{}: {what}", input.name));
        }
        // What was asked cannot be done with this text: that is no refusal of a graph.
        return Ok(if refused == 0 { 2 } else { refused });
    };
    while training.advance() {
        progress.told(training.told());
    }
    drop(progress);
    let report = &training.report;
    let leaves = training.leaves().into_iter().map(|(id, values)| {
        let node = analysis.trace.graph.node(id);
        (node.name.as_deref().unwrap_or_default(), node.ty.shape, values)
    });
    let status = analysis.status(None, Some(report));
    if cx.json {
        let leaves = json::object(leaves.map(|(name, shape, values)| {
            let values = json::list(values, |x| json::single(f64::from(*x)));
            (name, json::object([("shape", json::shape(&shape)), ("values", values)]))
        }));
        let losses = json::list(&report.losses, |x| json::number(*x));
        cx.line(&format!(
            "{{\"file\":{},\"method\":{},\"lr\":{},\"asked\":{},\"done\":{},{},\"losses\":{losses},\"leaves\":{leaves},\"findings\":{}}}",
            json::string(&input.name),
            json::string(&report.method),
            json::number(report.lr),
            report.steps,
            report.done,
            json::train_state(report),
            json::findings(&analysis.report.findings),
        ))?;
        return Ok(status);
    }
    cx.aside(input, &analysis.report.findings)?;
    for line in curve(&report.losses, every) {
        cx.line(&line)?;
    }
    for (name, shape, values) in leaves {
        let values: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
        cx.line(&format!("{name} {shape} = {}", array(shape, &values, "f32", MOST)))?;
    }
    cx.line(&format!("{}: {}", input.name, course(report)))?;
    Ok(status)
}

/// Losses with their steps, and bars from the least to the greatest finite one.
fn curve(losses: &[f64], every: Option<u64>) -> Vec<String> {
    let last = losses.len().saturating_sub(1);
    let every = every.map_or_else(|| last.div_ceil(LINES).max(1), |n| n as usize);
    let finite = || losses.iter().copied().filter(|x| x.is_finite());
    let (lo, hi) =
        (finite().fold(f64::INFINITY, f64::min), finite().fold(-f64::INFINITY, f64::max));
    let steps = last.to_string().len().max("step".len());
    let shown: Vec<(usize, f64, String)> = losses
        .iter()
        .enumerate()
        .filter(|(ix, _)| ix % every == 0 || *ix == last)
        .map(|(ix, loss)| (ix, *loss, number(*loss, "f32")))
        .collect();
    let width = shown.iter().map(|row| row.2.len()).max().unwrap_or(0).max("loss".len());
    let mut out = vec![format!("{:>steps$}  {:<width$}", "step", "loss").trim_end().to_owned()];
    out.extend(shown.into_iter().map(|(ix, loss, digits)| {
        let part = if hi > lo { (loss - lo) / (hi - lo) } else { 0.0 };
        let bar = if part.is_finite() { (part * WIDTH as f64).round() as usize } else { 0 };
        format!("{ix:>steps$}  {digits:<width$}  {}", "█".repeat(bar.min(WIDTH)))
            .trim_end()
            .to_owned()
    }));
    out
}
