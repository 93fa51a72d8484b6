//! What holds of every text: no panic, a well-formed trace, one answer, and gradients that are linear and right.
//! Seeds are fixed. A failing test prints its document, which is then a fixture.

#![expect(clippy::print_stderr, reason = "the document that failed is the finding")]

use foldback::autodiff::Request;
use foldback::contract;
use foldback::lang::spell::TableNames;
use foldback::lang::{self, format_with};
use foldback::refusal::Finding;
use foldback::report::{Analysis, FindingRow, Weight, analyse, json};
use foldback::rules::RuleSet;
use foldback_tests::generate::{SMALL, noisy, program, text};
use foldback_tests::golden::suite;
use foldback_tests::grad::{check_grad, differences, gap, gap_of, gradients, largest};
use foldback_tests::invariant::{broken, prefixes_fold};
use foldback_tests::outcome;
use foldback_tests::render::is_text;
use foldback_tests::rng::Rng;

/// So many seeds; `FOLDBACK_FUZZ=20` takes twenty times as many, for a night rather than for CI.
fn seeds(n: u64) -> std::ops::Range<u64> {
    let times = std::env::var("FOLDBACK_FUZZ").ok().and_then(|x| x.parse().ok()).unwrap_or(1);
    0..n * times
}

/// Prints what was at work when a test fails, a panic of the engine included.
struct Shows<'a>(&'a str, u64);

impl Drop for Shows<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}, document:\n{}\n{:?}", self.1, self.0, self.0);
        }
    }
}

/// Everything that a front end may ask of a text.
fn use_all_of(document: &str) -> Analysis {
    let analysis = analyse(document, &SMALL);
    let broken = broken(&analysis);
    assert!(broken.is_empty(), "{broken:?}");
    if let Some(mut checking) = analysis.checking() {
        checking.advance(3);
    }
    if let Some(mut training) = analysis.training() {
        training.advance();
    }
    assert!(!analysis.digest().is_empty());
    for finding in &analysis.report.findings {
        for fix in &finding.fixes {
            let edits =
                fix.edits.iter().all(|(s, e, _)| document.get(*s as usize..*e as usize).is_some());
            assert!(edits, "{} has a bad edit", finding.code);
        }
        if let Some((start, end)) = finding.span {
            assert!(
                document.get(start as usize..end as usize).is_some(),
                "{} has a bad span",
                finding.code
            );
        }
        assert!(
            !finding.message.is_empty() && !finding.title.is_empty(),
            "{} says nothing",
            finding.code
        );
    }
    analysis
}

#[test]
fn no_text_panics() {
    for seed in seeds(2_500) {
        let document = text(&mut Rng::new(seed));
        let _shows = Shows(&document, seed);
        use_all_of(&document);
    }
}

#[test]
fn no_damage_to_a_good_document_panics() {
    for (name, _, good) in suite() {
        let mut rng = Rng::new(name.len() as u64);
        for n in 0..25 {
            let mut document = noisy(&mut rng, &good);
            if n % 5 == 0 {
                let cut = rng.below(document.chars().count() + 1);
                document = document.chars().take(cut).collect();
            }
            let _shows = Shows(&document, n);
            use_all_of(&document);
        }
    }
}

#[test]
fn extremes_are_refused_or_built_but_never_panic() {
    let long = format!("x = {}1\n", "1 + ".repeat(50_000));
    let deep = format!("x = {}1{}\n", "(".repeat(10_000), ")".repeat(10_000));
    let minus = format!("param x = 1\nloss = {}x\n", "-".repeat(10_000));
    let powers = format!("param x = 1\nloss = {}1\n", "x ^ ".repeat(10_000));
    let lists = format!("param x = {}1{}\n", "[".repeat(10_000), "]".repeat(10_000));
    let wide = format!("param x = [{}]\nloss = sum(x)\n", vec!["1"; 30_000].join(","));
    let nested = format!("param x = 1\nloss = {}x{}\n", "exp(".repeat(10_000), ")".repeat(10_000));
    let methods = format!("param x = 1\nloss = x{}\n", ".exp()".repeat(10_000));
    let names =
        (0..3_000).map(|i| format!("n{i} = n{}\n", i + 1)).collect::<Vec<String>>().concat();
    let lines = "\n".repeat(200_000);
    for document in [long, deep, minus, powers, lists, wide, nested, methods, names, lines] {
        let short: String = document.chars().take(60).collect();
        let _shows = Shows(&short, 0);
        use_all_of(&document);
    }
}

/// Random programs under every rule set.
fn programs(n: u64, n_lines: usize) -> impl Iterator<Item = (u64, RuleSet, String)> {
    seeds(n).flat_map(move |seed| {
        RuleSet::ALL.iter().map(move |rules| {
            let mut rng = Rng::new(seed * 3 + *rules as u64);
            (seed, *rules, program(&mut rng, *rules, n_lines))
        })
    })
}

#[test]
fn every_prefix_of_a_trace_folds() {
    let mut n_events = 0;
    for (seed, _, document) in programs(25, 10) {
        let _shows = Shows(&document, seed);
        let analysis = use_all_of(&document);
        assert!(prefixes_fold(&analysis));
        n_events += analysis.trace.events.len();
    }
    assert!(n_events > 3_000, "only {n_events} events");
}

#[test]
fn gradients_of_random_programs_agree_with_differences() {
    let (mut n_built, mut n_compared) = (0, 0);
    for (seed, _, document) in programs(60, 8) {
        let _shows = Shows(&document, seed);
        let analysis = analyse(&document, &SMALL);
        let warned = |code: &str| analysis.report.findings.iter().any(|f| f.code == code);
        if outcome(&analysis) != "built"
            || warned("kink")
            || warned("upstream-value")
            || warned("not-finite")
        {
            continue;
        }
        n_built += 1;
        let (ours, theirs) = (gradients::<f64>(&analysis), differences(&analysis));
        let size = ours.iter().chain(&theirs).map(|of| largest(&of.values)).fold(0.0, f64::max);
        // Past such slopes differences drown in rounding; below, nothing is there to compare.
        if size.is_finite() && size < 1e6 && size > 1e-3 {
            n_compared += 1;
            let gap = gap(&ours, &theirs, 0.1);
            assert!(gap < 1e-5 || near_a_kink(&document), "{gap:e}: {ours:?} against {theirs:?}");
        }
    }
    assert!(n_built > 90 && n_compared > 60, "{n_built} built, {n_compared} compared");
}

/// Whether the engine's own check, which shrinks its step until both slopes agree, takes all gradients: differences
/// with a fixed step stumble over a bend nearby.
fn near_a_kink(document: &str) -> bool {
    let analysis = analyse(document, &SMALL);
    analysis.lowered.loss.is_some_and(|loss| {
        foldback::check::Finite::new(&analysis.trace, loss)
            .all(|e| e.verdict != foldback::check::Verdict::Differs)
    })
}

#[test]
fn gradients_are_linear_in_the_cotangent() {
    let mut n = 0;
    for (seed, _, document) in programs(30, 8) {
        let Some((program, _)) = document.split_once("const W") else { continue };
        let Some(last) = program.trim_end().lines().next_back() else { continue };
        let name = last.split_whitespace().next().unwrap_or_default();
        let name = if matches!(name, "param" | "const") { "p0" } else { name };
        let Some(shape) = foldback_tests::shape_of(&analyse(program, &SMALL), name) else {
            continue;
        };
        let count = shape.n_elements() as usize;
        let grads = |values: &dyn Fn(usize) -> f64| {
            let list: Vec<String> = (0..count).map(|i| format!("{:?}", values(i))).collect();
            // A list of numbers fills a shape through a reshape: the cotangent has the node's own rank.
            let text = format!(
                "{program}flat = reshape({name}, shape=[{count}])\nbackward flat with [{}]\n",
                list.join(", ")
            );
            let analysis = analyse(&text, &SMALL);
            (outcome(&analysis) == "built").then(|| gradients::<f64>(&analysis))
        };
        let _shows = Shows(&document, seed);
        let one = |i: usize| ((i * 7 + 3) % 11) as f64 / 8.0 - 0.5;
        let two = |i: usize| ((i * 5 + 1) % 13) as f64 / 4.0 - 1.0;
        let both = |i: usize| 2.0 * one(i) - 0.5 * two(i);
        let (Some(first), Some(second), Some(both)) = (grads(&one), grads(&two), grads(&both))
        else {
            continue;
        };
        for ((a, b), c) in first.iter().zip(&second).zip(&both) {
            let sum: Vec<f64> =
                a.values.iter().zip(&b.values).map(|(a, b)| 2.0 * a - 0.5 * b).collect();
            if sum.iter().all(|x| x.is_finite()) {
                let gap = gap_of(&sum, &c.values, 1e-2);
                assert!(gap < 1e-9, "{gap:e} at {}: {sum:?} and {:?}", a.leaf, c.values);
                n += 1;
            }
        }
    }
    assert!(n > 60, "only {n} leaves");
}

/// The request that a text's analysis makes.
fn request(analysis: &Analysis) -> Request {
    let lowered = &analysis.lowered;
    Request {
        loss: lowered.loss,
        cotangent: lowered.backward.as_ref().and_then(|line| line.with.clone()),
        accumulators: lowered
            .accumulators
            .iter()
            .map(|(node, given, _)| (*node, given.clone()))
            .collect(),
        rules: lowered.rules,
        budget: SMALL,
        ..Request::default()
    }
}

#[test]
fn the_contract_lists_the_refusal_of_the_build_first() {
    let mut n_refused = 0;
    let random = programs(40, 8).map(|(_, _, document)| document);
    let suite = suite().into_iter().map(|(_, _, document)| document);
    let noise = seeds(400).map(|seed| text(&mut Rng::new(seed)));
    for document in random.chain(suite).chain(noise) {
        let _shows = Shows(&document, 0);
        let analysis = analyse(&document, &SMALL);
        if analysis.lowered.loss.is_none() {
            continue;
        }
        let all = contract::findings(&analysis.lowered.graph, &request(&analysis));
        let first = all.iter().find(|f| matches!(f, Finding::Refusal(_)));
        assert_eq!(first, analysis.trace.refusal(), "of {all:?}");
        n_refused += usize::from(first.is_some());
        if let Some(stop) = analysis.report.findings.iter().find(|f| f.stops) {
            let error = |f: &&FindingRow| f.weight == Weight::Error && !is_text(f, &analysis);
            assert_eq!(analysis.report.findings.iter().find(error), Some(stop));
        }
    }
    assert!(n_refused > 40, "only {n_refused} refusals");
}

/// Every bit that a text leads to.
fn bytes(document: &str) -> String {
    let analysis = analyse(document, &SMALL);
    format!(
        "{}\n{}\n{:?}\n{}",
        analysis.digest(),
        analysis.log().join("\n"),
        analysis.report,
        json::answer(&analysis).json
    )
}

#[test]
fn the_same_text_gives_the_same_bytes() {
    for (seed, _, document) in programs(10, 8) {
        let _shows = Shows(&document, seed);
        assert_eq!(bytes(&document), bytes(&document));
    }
    for seed in seeds(150) {
        let document = text(&mut Rng::new(seed));
        let _shows = Shows(&document, seed);
        assert_eq!(bytes(&document), bytes(&document));
    }
}

#[test]
fn formatting_changes_no_meaning_and_only_once() {
    let canonical = |text: &str| format_with(&lang::parse(text).ast, &TableNames);
    let random = programs(15, 8).map(|(_, _, document)| document);
    let suite = suite().into_iter().map(|(_, _, document)| document);
    let noise = seeds(1_500).map(|seed| text(&mut Rng::new(seed)));
    for document in random.chain(suite).chain(noise) {
        let _shows = Shows(&document, 0);
        let once = canonical(&document);
        assert_eq!(canonical(&once), once, "formatting twice differs");
        let (before, after) = (analyse(&document, &SMALL), analyse(&once, &SMALL));
        assert_eq!(before.log(), after.log(), "the formatted text means something else:\n{once}");
        // Formatting may mend (a pin moves to the end, and `rules` stands first then), never spoil.
        let mut before: Vec<String> = before.report.findings.into_iter().map(|f| f.code).collect();
        for code in after.report.findings.into_iter().map(|f| f.code) {
            let at = before.iter().position(|c| *c == code);
            assert!(at.is_some(), "{code} is new in\n{once}");
            before.remove(at.unwrap_or_default());
        }
    }
}

#[test]
fn what_stops_a_gradient_in_place_keeps_its_value_in_every_check() {
    // Both differences, ours and the engine's, evaluate the graph again; the second line's storage must not move.
    let programs = [
        "param x [3] = [1, 2, 3]\na = sqr(x)\ns = stop_gradient!(a)\nloss = sum(a * x)\n",
        "param x [3] = [1, 2, 3]\ns = stop_gradient(sqr(x))\ne = scale!(s, 3)\nloss = sum(e * x)\n",
    ];
    for program in programs {
        let ours = check_grad(&format!("rules numpy\n{program}"));
        let first = ours.first().map(|of| of.values.clone());
        let factor = if program.contains("scale") { 3.0 } else { 1.0 };
        assert_eq!(first, Some(vec![factor, 4.0 * factor, 9.0 * factor]), "of\n{program}");
        let analysis = foldback_tests::analyse(&format!("rules numpy\n{program}check fd\n"));
        let mut checking = analysis.checking().unwrap();
        while checking.advance(100) {}
        let agrees =
            |row: &foldback::report::CheckRow| row.verdict == foldback::report::Verdict::Agrees;
        assert!(checking.report.rows.iter().all(agrees), "{:?}", checking.report.rows);
    }
}
