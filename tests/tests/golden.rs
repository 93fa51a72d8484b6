//! The documents of `suite/`, and what they give: `.trace` (events, steps, checks, training), `.findings` (of the graph)
//! and `.diag` (of the text). `UPDATE_EXPECT=1 cargo test -p foldback-tests --test golden` writes them anew.

use std::collections::BTreeMap;

use foldback::construct::Budget;
use foldback::refusal::Code;
use foldback::report::{Analysis, Verdict, Weight};
use foldback_tests::golden::{compare, home, suite};
use foldback_tests::render::{diagnostics, findings, is_text, trace};
use foldback_tests::{analyse, apply, outcome};

#[test]
fn every_document_gives_what_stands_beside_it() {
    let mut wrong = Vec::new();
    let documents = suite();
    for (_, path, text) in &documents {
        let analysis = analyse(text);
        wrong.extend(compare(&path.with_extension("trace"), &trace(&analysis)));
        wrong.extend(compare(&path.with_extension("findings"), &findings(text, &analysis)));
        wrong.extend(compare(&path.with_extension("diag"), &diagnostics(text, &analysis)));
    }
    assert!(documents.len() >= 50, "only {} documents", documents.len());
    assert!(
        wrong.is_empty(),
        "{} golden files differ; UPDATE_EXPECT=1 takes them over\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn no_golden_file_is_left_over() {
    for ending in [".trace", ".findings", ".diag"] {
        for path in foldback_tests::golden::files(&home().join("suite"), ending) {
            assert!(path.with_extension("fold").exists(), "{} has no document", path.display());
        }
    }
}

#[test]
fn folders_keep_what_their_names_promise() {
    for (name, _, text) in suite() {
        let analysis = analyse(&text);
        let outcome = outcome(&analysis);
        let warned = analysis.report.findings.iter().any(|f| f.weight == Weight::Warning);
        match name.split('/').next().unwrap() {
            "lessons" => assert_eq!(outcome, "built", "{name}"),
            "refused" => {
                assert_ne!(outcome, "built", "{name}");
                let text_alone = analysis.report.findings.iter().all(|f| is_text(f, &analysis));
                assert!(!text_alone, "{name} is refused for its text: {outcome}");
            }
            "warned" => assert_eq!(
                (outcome.as_str(), warned || name.contains("harmless")),
                ("built", true),
                "{name}"
            ),
            _ => {}
        }
    }
}

#[test]
fn every_check_of_a_lesson_agrees() {
    let mut n = 0;
    for (name, _, text) in suite().into_iter().filter(|(name, ..)| name.starts_with("lessons/")) {
        let analysis = analyse(&text);
        let mut checking = analysis.checking().unwrap();
        while checking.advance(64) {}
        assert!(checking.report.refused.is_empty(), "{name}: {}", checking.report.refused);
        for row in &checking.report.rows {
            let kink = name.ends_with("10.fold") && row.index == [1];
            let expected = if kink { Verdict::Kink } else { Verdict::Agrees };
            assert_eq!(row.verdict, expected, "{name}: {row:?}");
            n += 1;
        }
    }
    assert!(n > 30, "only {n} entries");
}

/// How often each pattern stands at each place.
fn count(analysis: &Analysis) -> BTreeMap<(String, String), usize> {
    let mut out = BTreeMap::new();
    for f in &analysis.report.findings {
        *out.entry((f.code.clone(), f.name.clone())).or_default() += 1;
    }
    out
}

#[test]
fn the_first_fix_of_every_finding_takes_it_away() {
    let mut n = 0;
    for (name, _, text) in suite() {
        let analysis = analyse(&text);
        let before = count(&analysis);
        for finding in &analysis.report.findings {
            let Some(fix) = finding.fixes.first() else { continue };
            let mended = apply(&text, fix);
            let after = count(&analyse(&mended));
            let key = (finding.code.clone(), finding.name.clone());
            let (was, is) = (&before[&key], after.get(&key).copied().unwrap_or(0));
            assert!(is < *was, "{name}: {key:?} stands after {:?}\n{mended}", fix.title);
            n += 1;
        }
    }
    assert!(n > 20, "only {n} fixes");
}

#[test]
fn spans_are_inside_the_text_and_on_characters() {
    for (name, _, text) in suite() {
        let analysis = analyse(&text);
        for f in &analysis.report.findings {
            let edits = f.fixes.iter().flat_map(|fix| fix.edits.iter().map(|(s, e, _)| (*s, *e)));
            for (start, end) in f.span.into_iter().chain(edits) {
                assert!(
                    text.get(start as usize..end as usize).is_some(),
                    "{name}: {} has a bad span",
                    f.code
                );
            }
        }
    }
}

/// Codes that no document of the suite can meet, and why.
const UNMET: &[(Code, &str)] = &[
    (Code::BadFile, "the suite reads no files; the command's own tests do"),
    (Code::NotContiguous, "every op takes views"),
    (
        Code::GradientMissing,
        "every row answers for every source it carries; only a faulty row would not",
    ),
    (Code::Layout, "no row is written yet that upstream refuses for a gradient's layout"),
    (Code::UpstreamValue, "no row of these goes on with a wrong number"),
    (
        Code::TooManyNodes,
        "a document of 20,000 nodes is no golden; `limits_are_refusals_by_name` meets it",
    ),
    (Code::TooManySteps, "the same"),
];

#[test]
fn every_code_is_met_by_a_document() {
    let mut met: BTreeMap<String, String> = BTreeMap::new();
    for (name, _, text) in suite() {
        for f in analyse(&text).report.findings {
            met.entry(f.code).or_insert_with(|| name.clone());
        }
    }
    let excused = |code: &Code| UNMET.iter().any(|(unmet, _)| unmet == code);
    let missing: Vec<&str> = Code::ALL
        .iter()
        .filter(|c| !met.contains_key(c.name()) && !excused(c))
        .map(|c| c.name())
        .collect();
    assert!(missing.is_empty(), "no document meets {missing:?}");
    let stale: Vec<&str> =
        UNMET.iter().map(|(code, _)| code.name()).filter(|c| met.contains_key(*c)).collect();
    assert!(stale.is_empty(), "these are met and need no excuse: {stale:?}");
}

#[test]
fn limits_are_refusals_by_name() {
    let small = Budget { nodes: 12, tensor_elements: 100, elements: 150, events: 60, steps: 10 };
    let first = |text: &str, budget: &Budget| {
        let report = foldback::report::analyse(text, budget).report;
        report
            .findings
            .iter()
            .find(|f| f.weight == Weight::Error)
            .map(|f| f.code.clone())
            .unwrap_or_default()
    };
    let chain = |n: usize| {
        let lines: Vec<String> = (1..n).map(|i| format!("x{i} = x{} * 2\n", i - 1)).collect();
        let lines = lines.concat();
        format!("param x0 = 1\n{lines}loss = sum(x{})\n", n - 1)
    };
    assert_eq!(first(&chain(3), &Budget::default()), "");
    assert_eq!(first(&chain(9), &small), "too-many-nodes");
    assert_eq!(first("param x [11, 10] = 1\nloss = sum(x)\n", &small), "too-many-elements");
    assert_eq!(
        first("param x [40] = 1\na = x * x\nb = a * x\nc = b * x\nloss = sum(c)\n", &small),
        "too-many-elements"
    );
    let events = Budget { events: 20, nodes: 1000, ..small };
    assert_eq!(first(&chain(6), &events), "too-many-steps");
    assert_eq!(
        first("param x = 1\nloss = x * x\ntrain sgd lr=0.1 steps=11\n", &small),
        "too-many-steps"
    );
}

#[test]
fn digests_stand_for_every_document() {
    // The browser test `bits.spec.mjs` computes the same in WebAssembly and compares.
    let mut lines: Vec<String> = Vec::new();
    for (name, _, text) in suite() {
        let digest = analyse(&text).digest();
        assert!(
            !lines.iter().any(|line| line.contains(&digest)),
            "{name} has another document's digest"
        );
        lines.push(format!("  {name:?}: {digest:?}"));
    }
    let json = format!("{{\n{}\n}}\n", lines.join(",\n"));
    let difference = compare(&home().join("suite/digests.json"), &json);
    assert!(
        difference.is_none(),
        "UPDATE_EXPECT=1 takes it over\n{}",
        difference.unwrap_or_default()
    );
}
