//! A fix does what it says: after the first one, its finding is gone.

use std::collections::BTreeMap;

use foldback::report::{FindingRow, Weight};
use foldback_tests::codes::each;
use foldback_tests::golden::suite;
use foldback_tests::{analyse, apply};

/// Codes that always have something to offer. A fix that disappears is noticed here.
const OFFERS: &[&str] = &[
    "unknown-name",
    "unknown-op",
    "duplicate-name",
    "broadcast-not-allowed",
    "not-contiguous",
    "loss-not-scalar",
    "no-backward",
    "partial-backward",
    "in-place-write",
    "non-float-source",
    "gradient-missing",
    "gradient-shape",
    "layout",
];

/// What is left of a finding after a fix; nothing, if all is well.
fn left(text: &str, found: &FindingRow, fix: usize) -> Option<String> {
    let fix = found.fixes.get(fix)?;
    let mended = apply(text, fix);
    // A document may hold several lines with one mistake; each fix takes one of them away.
    let count = |text: &str| {
        let same = |f: &&FindingRow| f.code == found.code && f.name == found.name;
        analyse(text).report.findings.iter().filter(same).count()
    };
    (count(&mended) >= count(text))
        .then(|| format!("{} is still there after {:?}:\n{mended}", found.code, fix.title))
}

fn check(texts: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut fixed = BTreeMap::new();
    let mut wrong = Vec::new();
    for text in texts {
        let analysis = analyse(&text);
        let errors = analysis.report.findings.iter().filter(|f| f.weight == Weight::Error);
        for found in errors.filter(|f| !f.fixes.is_empty()) {
            wrong.extend(left(&text, found, 0));
            *fixed.entry(found.code.clone()).or_default() += 1;
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    fixed
}

#[test]
fn the_first_fix_of_every_code_makes_its_finding_go_away() {
    let fixed = check(each().map(|(_, text)| text));
    for code in OFFERS {
        assert!(fixed.contains_key(*code), "{code} offers nothing; these do: {fixed:?}");
    }
}

#[test]
fn the_first_fix_of_every_document_makes_its_finding_go_away() {
    let fixed = check(suite().into_iter().map(|(_, _, text)| text));
    assert!(fixed.len() > 3, "{fixed:?}");
}

#[test]
fn every_fix_of_a_refusal_makes_it_go_away() {
    let mut wrong = Vec::new();
    for (_, text) in each() {
        let analysis = analyse(&text);
        for found in analysis.report.findings.iter().filter(|f| f.stops) {
            wrong.extend((0..found.fixes.len()).filter_map(|ix| left(&text, found, ix)));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
