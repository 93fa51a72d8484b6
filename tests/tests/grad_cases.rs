//! ggml's own gradient cases, with a harness that sees what theirs misses: a random cotangent, differences in f64,
//! accumulators, transposes on both sides, a contribution that is not nothing, and NaN as a failure.

use std::collections::BTreeMap;

use foldback_tests::grad::{Of, differences, gap, gradients};
use foldback_tests::grad_cases::{Around, Program, grad_cases};
use foldback_tests::{analyse, outcome, places};

/// Ops of which no case, or not every case, has a program, and for how many rows. The numbers may only shrink.
const LISTED: &[(&str, usize)] = &[("OPT_STEP_ADAMW", 1), ("OPT_STEP_SGD", 1)];

/// What is wrong with a program in these surroundings.
fn judge(program: &Program, around: Around) -> Result<Vec<Of>, String> {
    let text = program.text(around);
    let analysis = analyse(&text);
    if outcome(&analysis) != "built" {
        return Err(format!("{:?} in\n{text}", places(&analysis)));
    }
    let ours = gradients::<f64>(&analysis);
    if ours.iter().any(|of| of.values.iter().any(|x| !x.is_finite())) {
        return Err(format!("{ours:?} in\n{text}"));
    }
    // With accumulators the gradient is compared with that of the plain text, plus what it starts from.
    if around == Around::Accumulators {
        return Ok(ours);
    }
    let theirs = differences(&analysis);
    let gap = gap(&ours, &theirs, 1e-2);
    if gap > 1e-6 {
        return Err(format!("{gap:e}: {ours:?}\nagainst {theirs:?} in\n{text}"));
    }
    let is_something = ours.iter().all(|of| of.size() > 1e-3 || of.values.is_empty());
    if is_something == program.is_flat {
        return Err(format!("a contribution of {ours:?} in\n{text}"));
    }
    Ok(ours)
}

/// Gradients that start from given values are the plain ones plus these.
fn started(program: &Program, plain: &[Of]) -> Result<(), String> {
    let with = judge(program, Around::Accumulators)?;
    let text = program.text(Around::Accumulators);
    let analysis = analyse(&text);
    for (of, plain) in with.iter().zip(plain) {
        let given = analysis.lowered.accumulators.iter().find(|(id, ..)| *id == of.id);
        let Some((id, given, _)) = given else { return Err(format!("no accumulator in\n{text}")) };
        let ty = analysis.trace.graph.node(*id).ty;
        for (ix, (got, own)) in of.values.iter().zip(&plain.values).enumerate() {
            let want = own + given.init.element(&ty, ix);
            if (got - want).abs() > 1e-9 * want.abs().max(1.0) {
                return Err(format!(
                    "{} starts wrongly: {got} instead of {want} in\n{text}",
                    of.leaf
                ));
            }
        }
    }
    Ok(())
}

#[test]
fn every_case_agrees_with_differences() {
    let mut missing: BTreeMap<String, usize> = BTreeMap::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut rows, mut wrong) = (0, Vec::new());
    for case in grad_cases() {
        rows += case.rows;
        let program = match case.program() {
            Ok(program) => program,
            Err(reason) => {
                *missing.entry(case.op).or_default() += case.rows;
                *reasons.entry(reason).or_default() += case.rows;
                continue;
            }
        };
        let plain = judge(&program, Around::Nothing);
        let before = if case.op == "SUM" || case.op == "CROSS_ENTROPY_LOSS" {
            Ok(Vec::new())
        } else {
            judge(&program, Around::Before)
        };
        let after = judge(&program, Around::After);
        let start = plain.as_ref().map_or(Ok(()), |plain| started(&program, plain));
        let all = [plain.map(|_| ()), before.map(|_| ()), after.map(|_| ()), start];
        for what in all.into_iter().filter_map(Result::err) {
            wrong.push(format!("{} {}: {what}", case.op, case.params));
        }
    }
    println!("{rows} rows; without a program: {missing:?}, {reasons:?}");
    assert_eq!(rows, 1670, "a row came or went");
    assert!(
        wrong.is_empty(),
        "{}:\n{}",
        wrong.len(),
        wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n")
    );
    for (op, n) in &missing {
        let listed = LISTED.iter().find(|(listed, _)| listed == op);
        assert!(listed.is_some_and(|(_, most)| n <= most), "{op} has no program for {n} rows");
    }
}
