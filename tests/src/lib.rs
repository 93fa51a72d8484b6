//! Check functions for the test suites: the smallest text in, a verdict out.
//! Deliberately absent: graphs built by hand. A test writes what a person would type.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a check that cannot be made has failed"
)]
#![expect(clippy::format_push_string, reason = "the texts of tests are put together plainly")]

pub mod cases;
pub mod codes;
pub mod drawing;
pub mod fuzz;
pub mod generate;
pub mod golden;
pub mod grad;
pub mod grad_cases;
pub mod invariant;
pub mod mutants;
pub mod reference;
pub mod render;
pub mod rng;
pub mod rows;
pub mod sources;

use foldback::construct::Budget;
use foldback::ops::OpKind;
use foldback::report::{Analysis, FindingRow, FixRow, Weight};
use foldback::rules::RuleSet;
use foldback::tensor::Shape;

/// Runs everything over a text but its checks and its training, within the limits of the language.
pub fn analyse(text: &str) -> Analysis {
    foldback::report::analyse(text, &Budget::default())
}

/// The same for a text that must come through without an error.
///
/// # Panics
/// If anything is refused.
pub fn built(text: &str) -> Analysis {
    let analysis = analyse(text);
    assert_eq!(outcome(&analysis), "built", "of\n{text}");
    analysis
}

/// `built`, or the first error as `code at node`, with `, source N` where one is to blame.
pub fn outcome(analysis: &Analysis) -> String {
    analysis
        .report
        .findings
        .iter()
        .find(|f| f.weight == Weight::Error)
        .map_or_else(|| "built".to_owned(), place)
}

/// Every finding as `code at node, source N`.
pub fn places(analysis: &Analysis) -> Vec<String> {
    analysis.report.findings.iter().map(place).collect()
}

fn place(f: &FindingRow) -> String {
    let at = if f.name.is_empty() { String::new() } else { format!(" at {}", f.name) };
    let src = f.src.map(|s| format!(", source {s}")).unwrap_or_default();
    format!("{}{at}{src}", f.code)
}

/// A text is refused first with this: `no-backward at loss.1`.
///
/// # Panics
/// If it is not.
pub fn check_refusal(text: &str, expected: &str) {
    assert_eq!(outcome(&analyse(text)), expected, "of\n{text}");
}

/// The finding that stopped the build.
///
/// # Panics
/// If nothing did.
pub fn stop(analysis: &Analysis) -> &FindingRow {
    let stops = analysis.report.findings.iter().find(|f| f.stops);
    stops.expect("the build was stopped")
}

/// A text with the edits of a fix made.
pub fn apply(text: &str, fix: &FixRow) -> String {
    let mut out = text.to_owned();
    for (start, end, with) in fix.edits.iter().rev() {
        out.replace_range(*start as usize..*end as usize, with);
    }
    out
}

/// A text after the first fix of what stopped it.
///
/// # Panics
/// If nothing did, or nothing is offered.
pub fn first_fix(text: &str) -> String {
    let analysis = analyse(text);
    let fix = stop(&analysis).fixes.first().expect("a fix is offered");
    apply(text, fix)
}

/// A text without a `rules` line, under these rules.
pub fn under(rules: RuleSet, text: &str) -> String {
    format!("rules {}\n{text}", rules.name())
}

/// A text that ends in `y`, with a loss that weighs every element of `y` differently: a plain sum would not see
/// a gradient that lands in the wrong place.
///
/// # Panics
/// If the text makes no `y`.
pub fn weighed(text: &str) -> String {
    let shape = shape_of(&analyse(text), "y").unwrap_or_else(|| panic!("there is no y in\n{text}"));
    format!("{text}\nconst W {shape} = rand(seed=77, lo=-1, hi=1)\nloss = sum(y * W)\n")
}

/// The shape of a forward node.
pub fn shape_of(analysis: &Analysis, name: &str) -> Option<Shape> {
    let forward = analysis.report.nodes.iter().take(analysis.report.n_forward as usize);
    let row = forward.clone().find(|n| n.name == name)?;
    Shape::new(&row.shape)
}

/// The rows of the table by name.
///
/// # Panics
/// If there is none.
pub fn op(name: &str) -> OpKind {
    foldback::ops::by_name(name).unwrap()
}
