//! What came out of a case against what should have: every key of `expect` is answered for by one function.

mod training;

use std::collections::BTreeSet;

use foldback::graph::{NodeId, NodeKind};
use foldback::report::Verdict;
use foldback::trace::{Author, Event};
use serde_json::Value;

use self::training::{clipped, step_refused, stepped};
use super::run::{Run, Seen, run};
use super::text::{Form, extents, literal, tell};
use super::{Alternative, Case, Refusal, Stretch, Tensor, Tensors, Tolerance};

/// Their reasons and our codes: the one place where the two vocabularies meet. A leaf that gets nothing because the
/// loss does not depend on it is `no-gradient-path` with zeros here, not an error.
const CODES: &[(&str, &[&str])] = &[
    ("non_float_source", &["non-float-source"]),
    ("no_backward_rule", &["no-backward"]),
    ("partial_backward", &["partial-backward"]),
    ("inplace_on_needed", &["in-place-write"]),
    ("gradient_missing", &["gradient-missing", "no-gradient-path", "unused-parameter"]),
    ("gradient_shape_mismatch", &["gradient-shape"]),
    ("accumulator_shape", &["accumulator-shape"]),
    ("loss_not_scalar", &["loss-not-scalar"]),
    ("invalid_argument", &["bad-literal", "wrong-arguments"]),
    ("nan_local_value", &["not-finite"]),
    ("infinite_slope_times_zero", &["not-finite", "kink"]),
    ("both_operands_broadcast", &["broadcast-both"]),
];

/// The ways in which a case can be answered for: what was found wrong, a line a problem.
type Problems = Vec<String>;

/// Everything that is wrong with our answer to a case.
pub fn judge(case: &Case) -> Problems {
    let told = match tell(case, Form::Plain) {
        Ok(told) => told,
        Err(what) => return vec![format!("cannot be said: {what}")],
    };
    let out = run(&told);
    let mut problems = Vec::new();
    match &case.expect.refusal {
        Some(refusal) => refused(case, refusal, &out, &mut problems),
        None => built(case, &out, &mut problems),
    }
    problems
}

fn built(case: &Case, out: &Run, problems: &mut Problems) {
    let expect = &case.expect;
    if !out.is_built() {
        problems.push(format!("was refused: {}", out.said()));
        return;
    }
    let tol = case.tolerance();
    for (name, want) in &expect.forward {
        compare(tol, &format!("value of {name}"), out.value(name), want, problems);
    }
    for (name, want) in expect.grads.iter().chain(&expect.node_grads) {
        compare(tol, &format!("gradient of {name}"), out.grad(name), want, problems);
    }
    for stretch in &expect.broadcast {
        folds(out, stretch, problems);
    }
    accepted(case, out, problems);
    trapped(case, out, problems);
    for note in expect.diagnostic.iter().chain(&expect.warning) {
        noted(out, &note.node, &note.kind, problems);
    }
    if let Some(optimizer) = &expect.optimizer {
        stepped(case, optimizer, problems);
    }
    if expect.clipped.is_some() {
        clipped(case, problems);
    }
    if let Some(refusal) = &expect.step_refusal {
        step_refused(case, refusal, problems);
    }
    if let Some(second) = &expect.second_backward {
        again(case, second, problems);
    }
    if let Some(check) = &expect.gradcheck {
        checked(case, check, problems);
    }
    if let Some(variant) = &expect.policy_variant {
        by_decree(case, variant, problems);
    }
}

fn compare(
    tol: Tolerance,
    what: &str,
    got: Option<(foldback::tensor::Shape, Vec<f64>)>,
    want: &Tensor,
    problems: &mut Problems,
) {
    let Some((shape, values)) = got else {
        problems.push(format!("no {what}"));
        return;
    };
    if shape.dims() != want.shape.as_slice() {
        problems.push(format!("{what} has shape {shape}, not {:?}", want.shape));
    } else if !tol.all(&values, &want.values()) {
        problems.push(format!("{what} is {values:?}, not {:?}", want.values()));
    }
}

fn codes(reason: &str) -> &'static [&'static str] {
    let found = CODES.iter().find(|(theirs, _)| *theirs == reason);
    found.map_or(&[], |(_, ours)| ours)
}

fn noted(out: &Run, node: &str, kind: &str, problems: &mut Problems) {
    let ours = codes(kind);
    if !out.seen.iter().any(|s| s.node == node && ours.contains(&s.code.as_str())) {
        problems.push(format!("no note of {ours:?} at {node}: {}", out.said()));
    }
}

/// A refusal, or the numbers that may stand in its place.
fn refused(case: &Case, refusal: &Refusal, out: &Run, problems: &mut Problems) {
    let ours = codes(&refusal.reason_class);
    let at = |s: &&Seen| {
        let node = refusal.blocked_by.as_ref().filter(|_| s.code == "gradient-missing");
        s.node == *node.unwrap_or(&refusal.node) && ours.contains(&s.code.as_str())
    };
    let found = out.seen.iter().find(at);
    let alternative = case.expect.alternative.as_ref();
    match (found, alternative) {
        (Some(seen), _) => named(case, refusal, seen, problems),
        (None, Some(_)) if out.is_built() => {}
        _ => problems.push(format!("no {ours:?} at {}: {}", refusal.node, out.said())),
    }
    if case.expect.trap.as_ref().is_some_and(|_| out.is_built()) {
        trapped(case, out, problems);
    }
    if let Some(alternative) = alternative {
        instead(case, alternative, problems);
    }
}

/// The refusal says which operand and which value it is about.
fn named(case: &Case, refusal: &Refusal, seen: &Seen, problems: &mut Problems) {
    if let Some(operand) = &refusal.operand {
        let op = case.graph.ops.iter().find(|op| op.name == refusal.node);
        let at = op.and_then(|op| op.inputs.iter().position(|i| i == operand));
        if seen.src != at {
            problems.push(format!("source {:?} instead of {at:?} ({operand})", seen.src));
        }
    }
    // A view has the name of its own and the storage of another node; either says what is overwritten.
    if let Some(target) = &refusal.target {
        let view = case.graph.ops.iter().find(|op| op.name == *target && op.op == "identity");
        let names = [Some(target), view.and_then(|op| op.inputs.first())];
        if !names.into_iter().flatten().any(|n| seen.message.contains(n.as_str())) {
            problems.push(format!("{target} is not named: {}", seen.message));
        }
    }
}

/// The same graph with every rule, functional writes and an explicit cotangent has the alternative's numbers.
fn instead(case: &Case, alternative: &Alternative, problems: &mut Problems) {
    let told = match tell(case, Form::Mended) {
        Ok(told) => told,
        Err(what) => return problems.push(format!("the alternative cannot be said: {what}")),
    };
    let mut told = told;
    if case.expect.refusal.as_ref().is_some_and(|r| r.reason_class == "loss_not_scalar") {
        told.text = format!("{} with ones\n", told.text.trim_end());
    }
    let out = run(&told);
    for (name, want) in &alternative.grads {
        let what = format!("alternative gradient of {name}");
        compare(case.tolerance(), &what, out.grad(name), want, problems);
    }
    let zeros = |want: &Tensor| want.values().iter().all(|x| x.to_bits() == 0);
    for name in alternative.grads.iter().filter(|(_, want)| zeros(want)).map(|(name, _)| name) {
        let said =
            |s: &Seen| s.node == *name && codes("gradient_missing").contains(&s.code.as_str());
        if !out.seen.iter().any(said) {
            problems.push(format!("the zeros of {name} are not explained: {}", out.said()));
        }
    }
}

/// Axes that were summed on the way back, against what the trace folds; where the operand does not train, against
/// what the report says was stretched.
fn folds(out: &Run, stretch: &Stretch, problems: &mut Problems) {
    let (Some(of), Some(operand)) = (out.id(&stretch.node), out.id(&stretch.operand)) else {
        return problems.push(format!("no {} or {}", stretch.node, stretch.operand));
    };
    let sums = sums(out, of, operand);
    let lead = stretch.out_shape.len().saturating_sub(stretch.operand_shape.len()) as u32;
    let what = format!("{} into {}", stretch.node, stretch.operand);
    let extent = |axes: &[u32]| -> u64 {
        let extents = axes.iter().filter_map(|a| stretch.out_shape.get(*a as usize));
        extents.map(|d| u64::from(*d)).product()
    };
    if stretch.sum_all || stretch.sum_batch_axes.is_some() || stretch.tiles_per_axis.is_some() {
        let all: u64 = stretch.out_shape.iter().map(|d| u64::from(*d)).product();
        let parts = match (&stretch.sum_batch_axes, &stretch.tiles_per_axis) {
            (Some(axes), _) => extent(axes),
            (_, Some(tiles)) => tiles.iter().map(|t| u64::from(*t)).product(),
            _ => all,
        };
        if !sums.iter().any(|s| s.parts == parts) {
            problems.push(format!("{what}: no sum of {parts} parts among {sums:?}"));
        }
        return;
    }
    let trains = out.trace.graph.node(operand).flags.param || sums.iter().any(|s| s.is_fold);
    let (new, kept): (BTreeSet<u32>, BTreeSet<u32>) = if trains {
        let axes = sums.iter().filter(|s| s.is_fold).flat_map(|s| s.axes.iter().copied());
        axes.partition(|axis| *axis < lead)
    } else {
        let differs = |axis: &u32| {
            let own = axis.checked_sub(lead).and_then(|a| stretch.operand_shape.get(a as usize));
            own != stretch.out_shape.get(*axis as usize)
        };
        (0..stretch.out_shape.len() as u32).filter(differs).partition(|axis| *axis < lead)
    };
    let wanted =
        |axes: &Option<Vec<u32>>| axes.iter().flatten().copied().collect::<BTreeSet<u32>>();
    if (&new, &kept) != (&wanted(&stretch.sum_new_axes), &wanted(&stretch.sum_kept_axes)) {
        problems.push(format!(
            "{what}: away {new:?}, kept {kept:?} instead of {:?}, {:?}",
            stretch.sum_new_axes, stretch.sum_kept_axes
        ));
    }
}

/// A sum in the backward graph.
#[derive(Debug)]
struct Sum {
    /// Made by the driver, not by the rule.
    is_fold: bool,
    axes: Vec<u32>,
    /// How many numbers go into one.
    parts: u64,
}

/// Every sum that serves a source of a node.
fn sums(out: &Run, of: NodeId, operand: NodeId) -> Vec<Sum> {
    let graph = &out.trace.graph;
    let serves = |src: u8| graph.node(of).src().get(usize::from(src)) == Some(&operand);
    let mut found = Vec::new();
    for event in &out.trace.events {
        let Event::Emitted { node, by } = event else { continue };
        let is_fold = match by {
            Author::Fold { of: by, src } => *by == of && serves(*src),
            _ => false,
        };
        let by_rule = matches!(by, Author::Rule { of: by } if *by == of);
        let NodeKind::Op { op, src, params } = &graph.node(*node).kind else { continue };
        let Some(from) = src.first().map(|s| graph.node(*s).ty.shape) else { continue };
        let (n, to) = (from.n_elements(), graph.node(*node).ty.shape);
        let name = op.def().name;
        let adds = matches!(name, "sum" | "repeat_back" | "sum_rows");
        if adds && (is_fold || by_rule) {
            let axes = params.ints(0).filter(|_| name == "sum");
            let axes = axes.map_or_else(Vec::new, |list| list.iter().map(|a| *a as u32).collect());
            found.push(Sum { is_fold, axes, parts: n / to.n_elements().max(1) });
        }
    }
    found
}

fn accepted(case: &Case, out: &Run, problems: &mut Problems) {
    let grad = |name: &str| out.grad(name).map(|(_, values)| values).unwrap_or_default();
    let close = |got: f64, want: f64| case.tolerance().agrees(got, want);
    for (key, what) in &case.expect.accept {
        match (key.as_str(), what) {
            ("row_sums", Value::Array(rows)) => {
                let Some((name, _)) = case.expect.grads.first_key_value() else { continue };
                let values = grad(name);
                for (row, want) in values.chunks(values.len() / rows.len()).zip(rows) {
                    if !close(row.iter().sum(), want.as_f64().unwrap_or(f64::NAN)) {
                        problems.push(format!("a row of {name} hands out {row:?}, not {want}"));
                    }
                }
            }
            ("x0_plus_y0", want) => {
                let sum: f64 = ["x", "y"].iter().filter_map(|n| grad(n).first().copied()).sum();
                if !close(sum, want.as_f64().unwrap_or(f64::NAN)) {
                    problems.push(format!("x0 + y0 is {sum}, not {want}"));
                }
            }
            (name, Value::Array(intervals)) => {
                let values = grad(name);
                let inside = |(x, interval): (&f64, &Value)| {
                    let end = |ix| interval.get(ix).and_then(Value::as_f64);
                    matches!((end(0), end(1)), (Some(lo), Some(hi)) if (lo..=hi).contains(x))
                };
                if values.len() != intervals.len() || !values.iter().zip(intervals).all(inside) {
                    problems.push(format!("gradient of {name} {values:?} is outside {what}"));
                }
            }
            _ => problems.push(format!("accept.{key} is not understood")),
        }
    }
}

/// The typical wrong answer does not come out.
fn trapped(case: &Case, out: &Run, problems: &mut Problems) {
    let Some(trap) = &case.expect.trap else { return };
    for (name, wrong) in &trap.grads {
        let Some((shape, values)) = out.grad(name) else { continue };
        if shape.dims() == wrong.shape.as_slice() && case.tolerance().all(&values, &wrong.values())
        {
            problems.push(format!("trapped: {} (gradient of {name})", trap.mistake));
        }
    }
    let is_nan = |v: &Value| v.as_str() == Some("nan");
    if trap.loss.as_ref().is_some_and(is_nan) {
        let loss = out.value(&case.graph.loss);
        if loss.is_none_or(|(_, values)| values.iter().any(|x| x.is_nan())) {
            problems.push(format!("trapped: {} (loss)", trap.mistake));
        }
    }
}

/// The case's text with lines after it.
fn with(case: &Case, lines: &str) -> String {
    let told = tell(case, Form::Plain).unwrap_or_default();
    format!("{}{lines}\n", told.text)
}

/// A second pass from nothing gives the same; one that starts from the first gives twice as much.
fn again(case: &Case, second: &super::SecondBackward, problems: &mut Problems) {
    let told = tell(case, Form::Plain).unwrap_or_default();
    let (first, reset) = (run(&told), run(&told));
    let mut more = told;
    for name in second.accumulate.keys() {
        let Some((shape, values)) = first.grad(name) else { continue };
        let shape = shape.dims();
        let line = format!("accumulator {name} {} = {}\n", extents(shape), literal(shape, &values));
        more.text.push_str(&line);
    }
    let more = run(&more);
    let tol = case.tolerance();
    for (name, want) in &second.reset {
        compare(tol, &format!("second gradient of {name}"), reset.grad(name), want, problems);
    }
    for (name, want) in &second.accumulate {
        compare(tol, &format!("accumulated gradient of {name}"), more.grad(name), want, problems);
    }
    trapped(case, &more, problems);
}

/// Verdicts by leaf and flat index, of one kind of check.
fn verdicts(text: &str) -> Vec<(String, Vec<u32>, Verdict, f64)> {
    let analysis = crate::analyse(text);
    let Some(mut checking) = analysis.checking() else { return Vec::new() };
    while checking.advance(256) {}
    let rows = checking.report.rows.iter();
    rows.map(|r| (r.leaf.clone(), r.index.clone(), r.verdict, r.error)).collect()
}

fn checked(case: &Case, check: &Value, problems: &mut Problems) {
    let rows = verdicts(&with(case, "check fd"));
    if rows.is_empty() || rows.iter().any(|(.., verdict, _)| *verdict != Verdict::Agrees) {
        problems.push(format!("finite differences: {rows:?}"));
    }
    let below = check.pointer("/f64/worst_rel_err_below").and_then(Value::as_f64);
    if below.is_some_and(|below| rows.iter().any(|(.., error)| *error >= below)) {
        problems.push(format!("finite differences are too far off: {rows:?}"));
    }
    let claimed = check.get("claimed").and_then(Value::as_object);
    for (name, tensor) in claimed.into_iter().flatten() {
        let Ok(tensor) = serde_json::from_value::<Tensor>(tensor.clone()) else { continue };
        let wrong = literal(&tensor.shape, &tensor.values());
        let rows = verdicts(&with(case, &format!("check formula {name} = {wrong}")));
        let at = |ix: usize| {
            check.pointer(&format!("/must_fail_at/{name}/{ix}")).and_then(Value::as_u64)
        };
        let must: Vec<u64> = (0..).map_while(at).collect();
        let failed =
            rows.iter().enumerate().filter(|(_, (.., verdict, _))| *verdict != Verdict::Agrees);
        let failed: Vec<u64> = failed.map(|(ix, _)| ix as u64).collect();
        if failed != must {
            problems.push(format!("a wrong gradient of {name} fails at {failed:?}, not {must:?}"));
        }
    }
}

/// A row that is kept from moving: its gradient is stopped, and finite differences disagree there and nowhere else.
fn by_decree(case: &Case, variant: &Value, problems: &mut Problems) {
    let row = variant.get("padding_row").and_then(Value::as_u64).unwrap_or(0) as usize;
    let Some(leaf) = case.graph.inputs.iter().find(|i| i.requires_grad) else { return };
    let n = leaf.shape.first().copied().unwrap_or(0) as usize;
    let live: Vec<f64> = (0..n).map(|ix| f64::from(u8::from(ix != row))).collect();
    let shape = [n as u32, 1];
    let mut kept = case.clone();
    for op in &mut kept.graph.ops {
        for input in op.inputs.iter_mut().filter(|i| **i == leaf.name) {
            "kept".clone_into(input);
        }
    }
    let told = tell(&kept, Form::Plain).unwrap_or_default();
    let name = &leaf.name;
    let text = format!(
        "{}const live {} bool = {}\nkept = where(live, {name}, stop_gradient({name}))\n",
        told.text,
        extents(&shape),
        literal(&shape, &live)
    );
    let out = run(&super::text::Told { text: text.clone(), ..Default::default() });
    let grads = variant.get("grads").cloned().unwrap_or_default();
    for (name, want) in serde_json::from_value::<Tensors>(grads).unwrap_or_default() {
        compare(
            case.tolerance(),
            &format!("kept gradient of {name}"),
            out.grad(&name),
            &want,
            problems,
        );
    }
    // The gradient of the plain graph, as a closed form of the kept one: they differ at the kept row, on purpose.
    let Some(plain) = case.expect.grads.get(name) else { return };
    let plain = literal(&plain.shape, &plain.values());
    let rows = verdicts(&format!("{text}check formula {name} = {plain}\n"));
    let on_purpose = rows.iter().all(|(_, index, verdict, _)| {
        (index.first() == Some(&(row as u32))) == (*verdict == Verdict::Differs)
    });
    if rows.is_empty() || !on_purpose {
        problems.push(format!("the plain gradient against the kept row: {rows:?}"));
    }
}
