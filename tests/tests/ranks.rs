//! Leading axes of 1 say nothing: whatever a row takes with more or fewer of them has the same gradient, in the leaf's own
//! shape. Rules that know ranks must fold it away, rules that know none must give it back.

use foldback::ops::OpKind;
use foldback::rules::RuleSet;
use foldback_tests::grad::{differences, gap, gradients};
use foldback_tests::{analyse, outcome, shape_of, under, weighed};

/// Beside the rows' own samples: patches whose first axis is 1, which a row takes without it too.
const FURTHER: &[&str] = &[
    "const k [1,2,2,2] = 0\nparam p [1,1,2,8] = rand(seed=1)\ny = im2col_3d_back(k, p, shape=[1,2,2,3])",
];

/// A leaf's line with one to three axes more, and with one less where the first is 1.
fn variants(line: &str) -> Vec<String> {
    let leaf = line.starts_with("param ") || line.starts_with("const ");
    let Some((head, init)) = line.split_once(" = ").filter(|_| leaf) else { return Vec::new() };
    let Some((name, dims)) = head.split_once(" [") else { return Vec::new() };
    let list = init.starts_with('[');
    let more = |n: usize| {
        let (open, close) = if list { ("[".repeat(n), "]".repeat(n)) } else { Default::default() };
        let ones = vec!["1"; n].join(",");
        let comma = if dims.starts_with(']') { "" } else { "," };
        format!("{name} [{ones}{comma}{dims} = {open}{init}{close}")
    };
    let mut out: Vec<String> = (1..=3).map(more).collect();
    if let Some(rest) = dims.strip_prefix("1,") {
        let less = if list { &init[1..init.len() - 1] } else { init };
        out.push(format!("{name} [{} = {less}", rest.trim_start()));
    }
    out
}

#[test]
fn leading_axes_of_one_change_no_gradient() {
    let mut wrong = Vec::new();
    let mut n = 0;
    let samples = OpKind::ALL.iter().flat_map(|op| op.def().check.samples).chain(FURTHER);
    for text in samples {
        let lines: Vec<&str> = text.lines().collect();
        for (ix, line) in lines.iter().enumerate() {
            let other = |line: &String| -> String {
                let mut lines = lines.clone();
                if let Some(slot) = lines.get_mut(ix) {
                    *slot = line;
                }
                lines.join("\n")
            };
            let sets = [RuleSet::Ggml, RuleSet::Numpy];
            let texts = variants(line).iter().map(other).collect::<Vec<_>>();
            for (text, rules) in texts.iter().flat_map(|t| sets.map(|rules| (t, rules))) {
                let plain = under(rules, text);
                if shape_of(&analyse(&plain), "y").is_none() {
                    continue;
                }
                let document = weighed(&plain);
                let analysis = analyse(&document);
                // An axis that is counted from the left means another one now, and ids may be out of its range.
                let found = |code: &str| analysis.report.findings.iter().any(|f| f.code == code);
                if found("kink") || found("not-finite") {
                    continue;
                }
                n += 1;
                let outcome = outcome(&analysis);
                if outcome != "built" {
                    wrong.push(format!("{outcome} of\n{document}"));
                    continue;
                }
                let gap = gap(&gradients::<f64>(&analysis), &differences(&analysis), 1e-2);
                if gap > 1e-6 {
                    wrong.push(format!("{gap:e} from differences of\n{document}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {n} wrong\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(n > 300, "only {n} documents");
}
