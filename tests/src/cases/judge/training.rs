//! Steps of an optimizer, clipped gradients and steps that are refused, as train lines after a case.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Problems, codes, with};
use crate::cases::{Case, Optimizer, Refusal, Tensor, Tensors};

/// Leaves after each step of training.
fn trained(text: &str) -> Vec<Tensors32> {
    let analysis = crate::analyse(text);
    let mut steps = Vec::new();
    if let Some(mut training) = analysis.training() {
        while training.advance() {
            steps.extend(training.moved().map(|moved| moved.leaves));
        }
    }
    steps
}

type Tensors32 = Vec<(String, Vec<f32>)>;

fn same(case: &Case, got: &Tensors32, want: &Tensors) -> bool {
    want.iter().all(|(name, want)| {
        let leaf = got.iter().find(|(leaf, _)| leaf == name);
        let wide =
            |(_, v): &(String, Vec<f32>)| v.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
        leaf.is_some_and(|leaf| case.tolerance().all(&wide(leaf), &want.values()))
    })
}

pub(super) fn stepped(case: &Case, optimizer: &Optimizer, problems: &mut Problems) {
    let setting = |(key, x): (&String, &f64)| {
        let key = if key == "weight_decay" { "wd" } else { key };
        format!(" {key}={x:?}")
    };
    let settings: String = optimizer.hyper.iter().map(setting).collect();
    let line = format!("train {}{settings} steps={}", optimizer.algo, optimizer.steps);
    let steps = trained(&with(case, &line));
    if steps.len() != optimizer.steps {
        problems.push(format!("{} steps of {}", steps.len(), optimizer.steps));
    }
    for (ix, (got, want)) in steps.iter().zip(&optimizer.params_after).enumerate() {
        if !same(case, got, want) {
            problems.push(format!("step {}: {got:?} instead of {want:?}", ix + 1));
        }
        let wrong = case.expect.trap.iter().filter_map(|t| t.params_after.get(ix));
        for wrong in wrong {
            if same(case, got, wrong) {
                problems.push(format!("trapped at step {}", ix + 1));
            }
        }
    }
}

/// One step of size 1 moves each leaf by its clipped gradient. Clipping is by norm; by value is another rule.
pub(super) fn clipped(case: &Case, problems: &mut Problems) {
    let rules = case.expect.clipped.as_ref();
    let rule = |name: &str| rules.and_then(|r| r.get(name));
    let (Some(by_norm), Some(by_value)) = (rule("by_norm"), rule("by_value")) else { return };
    let max = by_norm.get("max").and_then(Value::as_f64).unwrap_or(f64::NAN);
    let steps = trained(&with(case, &format!("train sgd lr=1 steps=1 clip={max:?}")));
    let Some(step) = steps.first() else { return problems.push("no step".to_owned()) };
    for input in case.graph.inputs.iter().filter(|i| i.requires_grad) {
        let of = |rule: &BTreeMap<String, Value>| {
            let tensor = rule.get(&input.name).cloned();
            tensor.and_then(|t| serde_json::from_value::<Tensor>(t).ok()).map(|t| t.values())
        };
        let after = step.iter().find(|(name, _)| *name == input.name).map(|(_, v)| v.as_slice());
        let after = after.unwrap_or_default().iter().map(|x| f64::from(*x));
        let used: Vec<f64> = input.values().iter().zip(after).map(|(w, to)| w - to).collect();
        if !of(by_norm).is_some_and(|want| case.tolerance().all(&used, &want)) {
            problems.push(format!("{} moved by {used:?}", input.name));
        }
        if of(by_value).is_some_and(|wrong| case.tolerance().all(&used, &wrong)) {
            problems.push(format!("{} was clipped by value", input.name));
        }
    }
}

/// `clip(max_norm=-1)` as a train line.
pub(super) fn step_refused(case: &Case, refusal: &Refusal, problems: &mut Problems) {
    let inner = refusal.node.trim_start_matches("clip(max_norm=").trim_end_matches(')');
    let analysis = crate::analyse(&with(case, &format!("train sgd lr=0.1 steps=1 clip={inner}")));
    let ours = codes(&refusal.reason_class);
    let found = analysis.report.findings.iter().any(|f| ours.contains(&f.code.as_str()));
    if !found || analysis.training().is_some() {
        problems.push(format!("clip={inner} is not refused: {:?}", crate::places(&analysis)));
    }
}
