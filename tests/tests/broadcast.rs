//! Every way in which two operands can meet in `+ - * /`: shapes of ranks 0 to 4 with extents 1 to 4, tiling and
//! two-sided, against differences in f64. A refused build is a failure, and so is a gradient of nothing.

#![expect(clippy::format_push_string, reason = "the texts of tests are put together plainly")]

use foldback::rules::RuleSet;
use foldback_tests::grad::{Of, differences, gap, gap_of, gradients};
use foldback_tests::rng::Rng;
use foldback_tests::{built, check_refusal};

const SIGNS: &[(&str, &str)] = &[("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/")];

/// The most elements a result has: every element is moved four times.
const MOST: u32 = 24;

type Dims = Vec<u32>;

fn text(dims: &[u32]) -> String {
    let items: Vec<String> = dims.iter().map(u32::to_string).collect();
    format!("[{}]", items.join(", "))
}

/// All shapes up to rank 2, and of the larger ones as many as fit, each `step`th.
fn lattice(step: usize) -> Vec<Dims> {
    let mut all: Vec<Dims> = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..4 {
        last = last.iter().flat_map(|d| (1..=4).map(|e| [d.as_slice(), &[e]].concat())).collect();
        all.extend(last.iter().cloned());
    }
    let small = all.into_iter().filter(|d| d.iter().product::<u32>() <= MOST);
    small.enumerate().filter(|(ix, d)| d.len() <= 2 || ix % step == 0).map(|(_, d)| d).collect()
}

/// Shapes whose extents each are one of `choices` of the larger shape's extent, with or without leading axes of 1.
fn smaller(large: &[u32], choices: fn(u32) -> Vec<u32>) -> Vec<Dims> {
    let mut all: Vec<Dims> = vec![Vec::new()];
    for d in large {
        all = all
            .iter()
            .flat_map(|s| choices(*d).into_iter().map(|e| [s.as_slice(), &[e]].concat()))
            .collect();
    }
    let dropped: Vec<Dims> = all
        .iter()
        .flat_map(|s| {
            let lead = s.iter().take_while(|e| **e == 1).count();
            (1..=lead).map(|n| s.iter().skip(n).copied().collect::<Dims>()).collect::<Vec<_>>()
        })
        .collect();
    all.extend(dropped);
    all.sort();
    all.dedup();
    all
}

fn divisors(d: u32) -> Vec<u32> {
    (1..=d).filter(|e| d.is_multiple_of(*e)).collect()
}

fn one_or_all(d: u32) -> Vec<u32> {
    if d == 1 { vec![1] } else { vec![1, d] }
}

/// Pairs that meet by tiling: the first is the result's shape.
fn tiling() -> Vec<(Dims, Dims)> {
    let pairs = lattice(7)
        .into_iter()
        .flat_map(|a| smaller(&a, divisors).into_iter().map(move |b| (a.clone(), b)));
    pairs.collect()
}

/// Pairs that meet from both sides.
fn two_sided() -> Vec<(Dims, Dims)> {
    let mut rng = Rng::new(1);
    let mut out = Vec::new();
    for large in lattice(7) {
        let parts = smaller(&large, one_or_all);
        for a in &parts {
            // All pairs of the small lattice, a few of the large.
            for b in parts.iter().filter(|_| large.len() <= 2 || rng.chance(12)) {
                out.push((a.clone(), b.clone()));
            }
        }
    }
    out.sort();
    out.dedup();
    out
}

/// Whether every second-to-last transpose exists.
fn flips(dims: &[u32]) -> bool {
    dims.len() >= 2
}

/// What surrounds the op.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Around {
    Nothing,
    /// The result goes through a transpose: the rule meets a gradient that is a view.
    Transposed,
    /// The first operand comes from one: the rule reads a view.
    OfTransposed,
    /// Both gradients start from given values.
    Accumulators,
}

fn document(rules: RuleSet, sign: &str, (a, b): (&[u32], &[u32]), around: Around) -> String {
    let mut first = a.to_vec();
    let n = first.len();
    if around == Around::OfTransposed {
        first.swap(n - 1, n - 2);
    }
    let mut out = format!(
        "rules {}\nparam a {} = rand(seed=1, lo=0.5, hi=2)\nparam b {} = rand(seed=2, lo=0.5, hi=2)\n",
        rules.name(),
        text(&first),
        text(b)
    );
    out.push_str(&match around {
        Around::OfTransposed => format!("y = transpose(a, -1, -2) {sign} b\n"),
        Around::Transposed => format!("r = a {sign} b\ny = transpose(r, -1, -2)\n"),
        Around::Nothing | Around::Accumulators => format!("y = a {sign} b\n"),
    });
    if around == Around::Accumulators {
        out.push_str(&format!(
            "accumulator a {} = rand(seed=3, lo=-1, hi=1)\naccumulator b {} = rand(seed=4, lo=-1, hi=1)\n",
            text(a),
            text(b)
        ));
    }
    foldback_tests::weighed(&out)
}

/// Gradients against differences. Every leaf's own contribution counts: the weights are no smaller than 0.01.
fn check(document: &str) -> Vec<Of> {
    let analysis = built(document);
    let ours = gradients::<f64>(&analysis);
    let theirs = differences(&analysis);
    let size: Vec<f64> = ours.iter().map(Of::size).collect();
    let gap = gap(&ours, &theirs, 1e-2);
    assert!(gap < 1e-8, "{gap:e}: {ours:?}\nagainst {theirs:?}\nof\n{document}");
    assert!(size.iter().all(|s| *s > 1e-3), "a contribution of nothing in\n{document}");
    let shapes = ours.iter().all(|of| {
        let grad = analysis.trace.grads().get(of.id.index()).copied().flatten();
        grad.is_some_and(|g| analysis.trace.graph.node(g).ty.shape == of.shape)
    });
    assert!(shapes, "a gradient of another shape in\n{document}");
    ours
}

fn check_all(rules: RuleSet, pairs: &[(Dims, Dims)], around: Around) {
    let mut n = 0;
    for (a, b) in pairs {
        let result: usize = a.len().max(b.len());
        let fits = match around {
            Around::Transposed => result >= 2,
            Around::OfTransposed => flips(a),
            Around::Nothing | Around::Accumulators => true,
        };
        if fits {
            for (_, sign) in SIGNS {
                check(&document(rules, sign, (a, b), around));
                n += 1;
            }
        }
    }
    assert!(n > 500, "only {n} documents");
}

#[test]
fn tiled_operands_agree() {
    check_all(RuleSet::Ggml, &tiling(), Around::Nothing);
}

#[test]
fn tiled_operands_agree_before_a_transpose() {
    check_all(RuleSet::Ggml, &tiling(), Around::Transposed);
}

#[test]
fn tiled_operands_agree_after_a_transpose() {
    check_all(RuleSet::Ggml, &tiling(), Around::OfTransposed);
}

#[test]
fn tiled_operands_agree_with_accumulators() {
    check_all(RuleSet::Ggml, &tiling(), Around::Accumulators);
}

#[test]
fn operands_that_both_stretch_agree() {
    check_all(RuleSet::Numpy, &two_sided(), Around::Nothing);
}

#[test]
fn operands_that_both_stretch_agree_before_a_transpose() {
    check_all(RuleSet::Numpy, &two_sided(), Around::Transposed);
}

#[test]
fn operands_that_both_stretch_agree_after_a_transpose() {
    check_all(RuleSet::Numpy, &two_sided(), Around::OfTransposed);
}

#[test]
fn operands_that_both_stretch_agree_with_accumulators() {
    check_all(RuleSet::Numpy, &two_sided(), Around::Accumulators);
}

#[test]
fn a_tile_of_two_in_four_is_folded_by_congruence() {
    // Summing over axes of extent 1 would not do: `db[0] = g[0] + g[2]`.
    let text = "param a [4] = [1, 2, 3, 4]\nparam b [2] = [10, 20]\ny = a + b\nbackward y with [1, 10, 100, 1000]\n";
    let got = gradients::<f64>(&built(text));
    let values: Vec<&[f64]> = got.iter().map(|of| of.values.as_slice()).collect();
    assert_eq!(values, [&[1.0, 10.0, 100.0, 1000.0][..], &[101.0, 1010.0][..]]);
}

#[test]
fn upstream_folds_the_second_operand_of_add_and_mul_alone() {
    let mut n_refused = 0;
    for (a, b) in tiling() {
        let same = |a: &[u32], b: &[u32]| {
            let bare = |d: &[u32]| d.iter().skip_while(|e| **e == 1).copied().collect::<Dims>();
            bare(a) == bare(b)
        };
        for (name, sign) in SIGNS {
            let document = document(RuleSet::Upstream, sign, (&a, &b), Around::Nothing);
            if matches!(*name, "add" | "mul") || same(&a, &b) {
                let ours = gradients::<f64>(&built(&document));
                let ggml = document.replace("rules upstream", "rules ggml");
                let right = gradients::<f64>(&built(&ggml));
                let gaps = ours.iter().zip(&right).map(|(x, y)| gap_of(&x.values, &y.values, 0.0));
                assert!(gaps.fold(0.0, f64::max) < 1e-12, "of\n{document}");
            } else {
                check_refusal(&document, "gradient-shape at y, source 1");
                n_refused += 1;
            }
        }
    }
    assert!(n_refused > 200, "only {n_refused} refusals");
}

#[test]
fn what_does_not_meet_is_refused_by_name() {
    let meet = |rules, a: &str, b: &str| {
        format!("rules {rules}\nparam a {a} = 1\nparam b {b} = 1\ny = a / b\nloss = sum(y)\n")
    };
    for (a, b) in [("[2, 3]", "[3, 2]"), ("[3]", "[2]"), ("[2, 3]", "[4]")] {
        for rules in ["ggml", "upstream", "numpy"] {
            check_refusal(&meet(rules, a, b), "shapes-do-not-broadcast at y, source 1");
        }
    }
    for (a, b) in [("[1]", "[4]"), ("[3, 1]", "[1, 2]"), ("[2]", "[4]"), ("[]", "[2, 2]")] {
        for rules in ["ggml", "upstream"] {
            check_refusal(&meet(rules, a, b), "broadcast-not-allowed at y, source 0");
        }
    }
    check_refusal(&meet("numpy", "[4]", "[2]"), "shapes-do-not-broadcast at y, source 1");
}
