//! The samples of the op table as reference cases: a new op asks for one Python function, and for nothing else.

use std::collections::BTreeSet;

use foldback::ops::OpKind;
use foldback::rules::RuleSet;

use crate::{analyse, outcome, shape_of, under};

/// The text of `reference/cases/rows.fold`.
///
/// # Panics
/// If two samples share a name.
pub fn text() -> String {
    let mut out = String::from(
        "# The samples of the op table. Written by the test `every_row_has_its_samples_as_cases`, with UPDATE_EXPECT=1.\n",
    );
    let mut seen = BTreeSet::new();
    for op in OpKind::ALL {
        for (ix, sample) in op.def().check.samples.iter().enumerate() {
            let builds = |rules: &&RuleSet| {
                let analysis = analyse(&under(**rules, sample));
                outcome(&analysis) == "built" && shape_of(&analysis, "y").is_some()
            };
            let rules: Vec<&str> =
                [RuleSet::Ggml, RuleSet::Numpy].iter().filter(builds).map(|r| r.name()).collect();
            let name = format!("{} {ix}", op.def().name);
            assert!(seen.insert(name.clone()), "two samples are called {name}");
            out.push_str(&format!("\n#= {name} : {}\n{sample}\n", rules.join(" ")));
        }
    }
    out
}
