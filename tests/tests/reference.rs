//! Values and gradients against JAX in float64: an implementation that shares nothing with ours.

use std::collections::{BTreeMap, BTreeSet};

use foldback::ops::OpKind;
use foldback::ops::def::{Backward, ParamKind};
use foldback::rules::RuleSet;
use foldback_tests::golden::{compare, home};
use foldback_tests::grad::{Of, evaluated, gap_of, gradients, largest};
use foldback_tests::reference::{Case, groups};
use foldback_tests::{analyse, outcome, shape_of};

/// Both sides compute in f64; what separates them is the order of sums and the last bits of exp and log.
const SAME: f64 = 1e-12;

/// How far f32 may be from f64, relative to the entry, or to a tenth of the largest where entries cancel.
const SINGLE: f64 = 1e-5;

/// A value or a gradient of one case that is not what JAX says; `None` where all are.
fn differs(case: &Case, text: &str) -> Option<String> {
    let analysis = analyse(text);
    let outcome = outcome(&analysis);
    if outcome != "built" {
        return Some(outcome);
    }
    let answer = &case.answer;
    let Some(y) = analysis.lowered.names.get("y") else { return Some("no y".to_owned()) };
    let shape = shape_of(&analysis, "y").map(|s| s.dims().to_vec());
    if shape.as_deref() != Some(&answer.y.shape) {
        return Some(format!("y has shape {shape:?} and should have {:?}", answer.y.shape));
    }
    let wide = evaluated::<f64>(&analysis).read_f64(&analysis.trace.graph, *y);
    let gap = gap_of(&wide, &answer.y.values(), 1e-3);
    if gap > SAME {
        return Some(format!("y is off by {gap:e}: {wide:?} instead of {:?}", answer.y.values()));
    }
    let (wide, single) = (gradients::<f64>(&analysis), gradients::<f32>(&analysis));
    if wide.len() != answer.grads.len() {
        return Some("another number of trainable leaves".to_owned());
    }
    wide.iter().zip(&single).find_map(|(wide, single)| leaf_differs(case, wide, single))
}

fn leaf_differs(case: &Case, wide: &Of, single: &Of) -> Option<String> {
    let Some(want) = case.answer.grads.get(&wide.leaf) else {
        return Some(format!("no answer for {}", wide.leaf));
    };
    if wide.shape.dims() != want.shape {
        return Some(format!(
            "d{} has shape {} and should have {:?}",
            wide.leaf, wide.shape, want.shape
        ));
    }
    let values = want.values();
    let gap = gap_of(&wide.values, &values, 1e-3);
    if gap > SAME {
        return Some(format!(
            "d{} is off by {gap:e}: {:?} instead of {values:?}",
            wide.leaf, wide.values
        ));
    }
    let gap = gap_of(&single.values, &wide.values, 0.1);
    (gap > SINGLE).then(|| format!("d{} in f32 is {gap:e} from f64", wide.leaf))
}

#[test]
fn values_and_gradients_are_what_jax_says() {
    let mut wrong = Vec::new();
    let mut n = 0;
    for group in groups() {
        for case in &group.cases {
            n += 1;
            if let Some(what) = differs(case, &case.text()) {
                wrong.push(format!("{}: {what}", case.name));
            }
        }
    }
    assert!(n > 500, "only {n} cases");
    assert!(wrong.is_empty(), "{} of {n} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn under_upstream_rules_what_is_built_is_right_too() {
    // A row that goes on with upstream's own number says so with a warning, and is no case for this.
    let mut wrong = Vec::new();
    let mut n_built = 0;
    for case in groups().iter().flat_map(|g| &g.cases).filter(|c| c.rules == RuleSet::Ggml) {
        let text = Case { rules: RuleSet::Upstream, ..case.clone() }.text();
        let analysis = analyse(&text);
        let warned = analysis.report.findings.iter().any(|f| f.code == "upstream-value");
        if outcome(&analysis) == "built" && !warned {
            n_built += 1;
            wrong.extend(differs(case, &text).map(|what| format!("{}: {what}", case.name)));
        }
    }
    assert!(n_built > 150, "only {n_built} cases are built");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_case_is_empty() {
    // A leaf that gets nothing at all is either stopped or reaches `y` through a flat piece alone.
    let nothing = ["x ^ 0", "power zero of zero", "x[2;1]", "clamp"];
    for case in groups().iter().flat_map(|g| &g.cases) {
        let none = case.answer.grads.values().all(|g| largest(&g.values()) < 1e-9);
        let expected = nothing.iter().any(|word| case.name.contains(word))
            || case.name.contains("[1,3]") && none;
        assert!(!none || expected, "{} has no gradient", case.name);
        assert!(!case.answer.grads.is_empty(), "{} has no trainable leaf", case.name);
    }
}

#[test]
fn every_file_says_how_it_was_made() {
    for group in groups() {
        assert_eq!(group.made_by.precision, "float64", "{}", group.name);
        assert!(group.made_by.command.contains("make.py"), "{}", group.name);
        assert!(group.made_by.versions.contains("jax "), "{}", group.name);
    }
}

#[test]
fn every_row_has_its_samples_as_cases() {
    let path = home().join("reference/cases/rows.fold");
    let difference = compare(&path, &foldback_tests::rows::text());
    assert!(
        difference.is_none(),
        "UPDATE_EXPECT=1 takes it over; then run tests/reference/make.py rows\n{}",
        difference.unwrap_or_default()
    );
}

/// Rows without a case of their own, and why.
fn excused(op: OpKind) -> Option<&'static str> {
    let def = op.def();
    let bracket = def.params.iter().any(|p| p.kind == ParamKind::Index);
    if bracket && def.aliases.is_empty() {
        // Only the rule of a bracket makes it; every case with a bracket runs through it.
        return Some("no text writes it");
    }
    None
}

#[test]
fn every_row_has_a_case() {
    let mut seen: BTreeMap<OpKind, BTreeSet<&str>> = BTreeMap::new();
    for case in groups().iter().flat_map(|g| &g.cases) {
        let analysis = analyse(&case.text());
        for (_, node) in analysis.trace.graph.prefix(analysis.trace.n_forward) {
            if let Some(op) = node.op() {
                seen.entry(op).or_default().insert(case.rules.name());
            }
        }
    }
    let missing: Vec<&str> = OpKind::ALL
        .iter()
        .filter(|op| !seen.contains_key(op) && excused(**op).is_none())
        .filter(|op| !matches!(op.def().backward, Backward::Missing(_)))
        .map(|op| op.def().name)
        .collect();
    assert!(missing.is_empty(), "no case in tests/reference/cases for {missing:?}");
}
