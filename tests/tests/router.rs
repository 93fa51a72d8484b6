//! The mixture-of-experts router: the graph that this project began with.
//! Numbers are those of hand-derived formulas (`dw = (g - Σ g y) / s`), not of another run of the engine.

#![expect(clippy::unwrap_used, reason = "a check that cannot be made has failed")]

use foldback::autodiff::{Request, build_backward};
use foldback::check::ulps_f32;
use foldback::forward::Values;
use foldback::refusal::{Finding, Reason, Stage};
use foldback::report::{Analysis, Weight};
use foldback::rules::RuleSet;
use foldback_tests::grad::{Of, check_grad, gap_of, gradients};
use foldback_tests::{analyse, apply, built, check_refusal, first_fix, outcome, stop};

/// The router of `w`, each chosen expert weighed by `g`.
fn router(rules: &str, w: &str, g: &str) -> String {
    format!(
        "rules {rules}\nparam w {w}\ns = sum_rows(w)\nc = clamp(s, min=6.103515625e-5)\ny = w / c\nconst g = {g}\nloss = sum(y * g)\n"
    )
}

fn two(rules: &str) -> String {
    router(rules, "[1 token, 2 expert] = [[0.3, 0.2]]", "[[1, 0]]")
}

fn dw(text: &str) -> Of {
    gradients::<f64>(&built(text)).remove(0)
}

fn value(analysis: &Analysis, name: &str) -> Vec<f64> {
    analysis.report.nodes.iter().find(|n| n.name == name).unwrap().values.clone()
}

#[test]
fn two_experts_have_the_gradient_of_the_closed_form() {
    for (w0, w1) in [(0.3, 0.2), (0.5, 0.5), (0.01, 0.9), (7.0, 0.25)] {
        let text = router("ggml", &format!("[1, 2] = [[{w0}, {w1}]]"), "[[1, 0]]");
        let s: f64 = w0 + w1;
        let want = [w1 / (s * s), -w0 / (s * s)];
        let got = dw(&text);
        assert!(gap_of(&got.values, &want, 0.0) < 1e-6, "{:?} instead of {want:?}", got.values);
        check_grad(&text);
    }
}

#[test]
fn one_sgd_step_is_the_analytic_update() {
    for (w0, w1, lr) in
        [(0.3f32, 0.2f32, 0.1), (0.5, 0.125, 0.25), (0.9, 0.05, 0.01), (2.0, 3.0, 1.0)]
    {
        let text = router("ggml", &format!("[1, 2] = [[{w0}, {w1}]]"), "[[1, 0]]");
        let text = format!("{text}train sgd lr={lr} steps=1\n");
        let analysis = built(&text);
        let mut training = analysis.training().unwrap();
        while training.advance() {}
        assert_eq!(training.report.state, "done");
        let leaf = training.report.first.as_ref().unwrap().leaves.first().unwrap();
        let (w0, w1) = (f64::from(w0), f64::from(w1));
        let s = w0 + w1;
        let want = [w0 - lr * w1 / (s * s), w1 + lr * w0 / (s * s)];
        for (want, got) in want.into_iter().zip(&leaf.after) {
            let off = ulps_f32(*got, f64::from(want as f32));
            assert!(off <= 4, "{got} is {off} ulp from {want} with lr {lr}");
        }
        let moved = leaf
            .before
            .iter()
            .zip(&leaf.after)
            .all(|(before, after)| (before - after).abs() > 1e-4);
        assert!(moved, "the step is too small to see");
    }
}

#[test]
fn two_experts_take_the_published_step() {
    let analysis = built(&format!("{}train sgd lr=0.1 steps=1\n", two("ggml")));
    let mut training = analysis.training().unwrap();
    while training.advance() {}
    let leaf = training.report.first.as_ref().unwrap().leaves.first().unwrap();
    assert!(gap_of(&leaf.after, &[0.22, 0.32], 0.0) < 1e-6, "{:?}", leaf.after);
}

#[test]
fn eight_experts_have_the_gradient_worked_out_by_hand() {
    let w = "[1, 8] = [[0.24, 0.16, 0.12, 0.10, 0.07, 0.05, 0.04, 0.02]]";
    let text = router("ggml", w, "[[1, -0.5, 0.25, 2, -1, 0.75, -0.25, 0.5]]");
    let y = [0.3, 0.2, 0.15, 0.125, 0.0875, 0.0625, 0.05, 0.025];
    assert!(gap_of(&value(&built(&text), "y"), &y, 0.0) < 1e-6);
    let dc = value(&built(&text), "dc");
    assert!(gap_of(&dc, &[-0.558_593_75], 0.0) < 1e-6, "{dc:?}");
    let want = [
        0.691_406_25,
        -1.183_593_75,
        -0.246_093_75,
        1.941_406_25,
        -1.808_593_75,
        0.378_906_25,
        -0.871_093_75,
        0.066_406_25,
    ];
    let got = check_grad(&text).remove(0);
    assert!(gap_of(&got.values, &want, 0.0) < 1e-6, "{:?}", got.values);
}

#[test]
fn below_the_floor_the_second_path_is_cut() {
    let text = router("ggml", "[1, 2] = [[1e-5, 2e-5]]", "[[1, 0]]");
    assert!(gap_of(&value(&built(&text), "y"), &[0.16384, 0.32768], 0.0) < 1e-6);
    let got = dw(&text);
    assert!(gap_of(&got.values, &[16384.0, 0.0], 0.0) < 1e-6, "{:?}", got.values);
    let second = got.values.last().copied().unwrap();
    assert_eq!(second.to_bits(), 0.0f64.to_bits(), "nothing at all reaches the other expert");
    check_grad(&text);
}

#[test]
fn each_token_is_a_router_of_its_own() {
    let w = "[2, 3] = [[0.2, 0.3, 0.5], [1e-5, 2e-5, 1e-5]]";
    let text = router("ggml", w, "[[1, 0, 0], [1, 0, 0]]");
    let got = dw(&text);
    let want = [0.8, -0.2, -0.2, 16384.0, 0.0, 0.0];
    assert!(gap_of(&got.values, &want, 0.0) < 1e-6, "{:?}", got.values);
}

#[test]
fn upstream_is_refused_at_the_divisor_in_the_known_words() {
    let analysis = analyse(&two("upstream"));
    let Some(Finding::Refusal(refusal)) = analysis.trace.refusal() else {
        unreachable!("it was built")
    };
    assert_eq!((refusal.stage, refusal.src), (Stage::Reverse, Some(1)));
    assert!(matches!(refusal.reason, Reason::GradShape { .. }));
    let row = stop(&analysis);
    assert_eq!(
        (row.name.as_str(), row.word.as_str(), row.code.as_str()),
        ("y", "DIV", "gradient-shape")
    );
    let known = "cannot be built through DIV (node \"y\"): its backward gave src[1] no gradient or one of another shape";
    assert!(row.message.starts_with(known), "{}", row.message);
    assert!(row.message.contains("[1,2]") && row.message.contains("[1,1]"), "{}", row.message);
    assert_eq!(row.clash, Some((vec![1, 2], vec![1, 1])));
    let text = two("upstream");
    let (start, end) = row.span.unwrap();
    assert_eq!(
        text.get(start as usize..end as usize),
        Some("c"),
        "the operand is underlined, not the line"
    );
}

#[test]
fn the_same_for_eight_experts() {
    let w = "[1, 8] = [[0.24, 0.16, 0.12, 0.10, 0.07, 0.05, 0.04, 0.02]]";
    check_refusal(
        &router("upstream", w, "[[1, 0, 0, 0, 0, 0, 0, 0]]"),
        "gradient-shape at y, source 1",
    );
}

#[test]
fn one_expert_cannot_show_the_missing_fold() {
    // Both shapes agree, so the walk passes DIV and stops at what comes after it.
    check_refusal(&router("upstream", "[1, 1] = [[0.3]]", "[[1]]"), "no-backward at c");
    assert_eq!(dw(&router("ggml", "[1, 1] = [[0.3]]", "[[1]]")).values, [0.0]);
}

#[test]
fn first_fixes_lead_through_both_refusals_to_the_right_gradient() {
    let text = two("upstream");
    let repaired = first_fix(&text);
    assert!(repaired.contains("y = w / repeat(c, w)\n"), "{repaired}");
    check_refusal(&repaired, "no-backward at c");
    assert_eq!(stop(&analyse(&repaired)).word, "CLAMP");
    let right = first_fix(&repaired);
    assert!(right.contains("c = relu(s - 6.103515625e-5) + 6.103515625e-5\n"), "{right}");
    let got = check_grad(&right).remove(0);
    assert!(gap_of(&got.values, &[0.8, -1.2], 0.0) < 1e-6, "{:?}", got.values);
}

#[test]
fn every_offered_fix_takes_its_refusal_away() {
    let text = two("upstream");
    let repaired = first_fix(&text);
    for text in [text, repaired] {
        let analysis = analyse(&text);
        let (was, fixes) = (outcome(&analysis), &stop(&analysis).fixes);
        assert!(fixes.len() >= 3, "a graph fix, a stop and other rules are offered");
        for fix in fixes {
            assert_ne!(outcome(&analyse(&apply(&text, fix))), was, "after {:?}", fix.title);
        }
    }
}

#[test]
fn both_problems_are_listed_the_one_that_stopped_first() {
    let analysis = analyse(&two("upstream"));
    let errors: Vec<&str> = analysis
        .report
        .findings
        .iter()
        .filter(|f| f.weight == Weight::Error)
        .map(|f| f.code.as_str())
        .collect();
    assert_eq!(errors, ["gradient-shape", "no-backward"]);
}

#[test]
fn an_accumulator_of_the_wrong_shape_is_refused_by_name() {
    for (at, shape) in [("w", "[2, 1]"), ("w", "[1, 3]"), ("c", "[1, 2]"), ("y", "[2, 2]")] {
        let text = format!("{}accumulator {at} {shape} = 0.5\n", two("ggml"));
        check_refusal(&text, &format!("accumulator-shape at {at}"));
        let message = stop(&analyse(&text)).message.clone();
        let shape = shape.replace(' ', "");
        assert!(message.contains(&shape) && message.contains(at), "{message}");
    }
}

#[test]
fn a_rank_is_part_of_a_shape_where_the_rules_know_ranks() {
    let text = format!("{}accumulator w [2] = 0.5\n", two("ggml"));
    assert_eq!(outcome(&analyse(&text)), "built", "ggml knows no rank");
    check_refusal(&text.replace("rules ggml", "rules numpy"), "accumulator-shape at w");
}

#[test]
fn with_an_accumulator_on_the_divisor_the_refusal_still_comes() {
    let text = format!("{}accumulator c [1, 1] = 0.5\n", two("upstream"));
    check_refusal(&text, "gradient-shape at y, source 1");
    // The same where an earlier contribution stands there instead: the tiling sum would take the oversized one.
    let text = "rules upstream\nparam w [1, 2] = [[0.3, 0.2]]\nparam c [1, 1] = 0.5\ny = w / c\nz = sqr(c)\nloss = sum(y) + sum(z)\n";
    check_refusal(text, "gradient-shape at y, source 1");
}

#[test]
fn an_accumulator_is_where_the_gradient_starts() {
    let text = format!("{}accumulator w [1, 2] = [[10, 20]]\n", two("ggml"));
    assert!(gap_of(&dw(&text).values, &[10.8, 18.8], 0.0) < 1e-6);
    let text = format!("{}accumulator c [1, 1] = 2\n", two("ggml"));
    assert!(
        gap_of(&dw(&text).values, &[2.8, 0.8], 0.0) < 1e-6,
        "it flows on from c to both experts"
    );
}

#[test]
fn a_refusal_leaves_the_callers_graph_as_it_was() {
    let text = two("upstream");
    let lowered = analyse(&text).lowered;
    let (graph, before) = (&lowered.graph, format!("{:?}", lowered.graph));
    let request = Request { loss: lowered.loss, rules: RuleSet::Upstream, ..Request::default() };
    let trace = build_backward(graph, &request);
    assert!(trace.refusal().is_some());
    assert_eq!(format!("{graph:?}"), before, "nothing appended, nothing changed");
    assert_eq!(trace.n_forward, graph.len());
    let mut values = Values::<f32>::new();
    values.eval(graph, 0..graph.len());
    let y = values.read_f64(graph, lowered.names["y"]);
    assert!(gap_of(&y, &[0.6, 0.4], 0.0) < 1e-6, "the forward still evaluates: {y:?}");
}

#[test]
fn what_was_built_before_the_refusal_can_be_inspected() {
    let analysis = analyse(&two("upstream"));
    assert!(analysis.trace.graph.len() > analysis.trace.n_forward);
    assert!(gap_of(&value(&analysis, "dw"), &[2.0, 0.0], 0.0) < 1e-6, "the first branch landed");
    assert!(
        gap_of(&value(&analysis, "dc"), &[-1.2, 0.0], 0.0) < 1e-6,
        "the contribution that was refused"
    );
    assert!(
        analysis.checking().is_none() && analysis.training().is_none(),
        "nothing is trained on half a gradient"
    );
}

#[test]
fn a_subtracted_operand_is_folded_too() {
    // The chunked delta net's `g - g_last`: latent upstream, since the path has other gaps.
    let text = "param g [4, 1, 2] = rand(seed=1, lo=-1, hi=0)\nlast = g[3:4]\nd = g - last\nloss = sum(exp(d) * exp(g))\n";
    check_refusal(&format!("rules upstream\n{text}"), "gradient-shape at d, source 1");
    check_grad(&format!("rules ggml\n{text}"));
    check_grad(&format!("rules numpy\n{text}"));
    let repaired = first_fix(&format!("rules upstream\n{text}"));
    assert!(repaired.contains("d = g - repeat(last, g)"), "{repaired}");
    check_grad(&repaired);
}
