//! Gradients where numbers end: far out on a tail, at infinity, beside a zero. The truth is a limit, worked out by hand.

use foldback_tests::analyse;
use foldback_tests::grad::gradients;

/// The gradient of `x` in both number types.
fn check(text: &str, expected: &[f64]) {
    let analysis = analyse(text);
    // A zero has no sign here, and no number is itself.
    let words =
        |values: &[f64]| -> Vec<String> { values.iter().map(|x| (x + 0.0).to_string()).collect() };
    for (of, lane) in [(gradients::<f64>(&analysis), "f64"), (gradients::<f32>(&analysis), "f32")] {
        let x = of.iter().find(|of| of.leaf == "x").map(|of| of.values.clone()).unwrap_or_default();
        assert_eq!(words(&x), words(expected), "in {lane} of\n{text}");
    }
}

#[test]
fn a_tail_is_a_straight_line() {
    // Far to the right each of these is x, far to the left 0.
    for op in ["gelu", "gelu_erf", "gelu_quick", "silu", "softplus", "elu"] {
        let text =
            format!("param x [6] = [1e4, -1e4, 1e20, -1e20, 1e37, -1e37]\nloss = sum({op}(x))");
        check(&text, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        // Nothing on the way overflows either: the page would name the node where it begins.
        let found = analyse(&text).report.findings;
        assert!(found.iter().all(|f| f.code != "not-finite"), "{found:?} of\n{text}");
    }
    for op in ["gelu", "gelu_erf"] {
        let text = format!("param x [2] = [inf, -inf]\nloss = sum({op}(x))");
        check(&text, &[1.0, 0.0]);
    }
}

#[test]
fn the_branch_not_taken_does_not_overflow() {
    let text = "param x [2] = [200, -200]\nloss = sum(xielu(x))";
    let found = analyse(text).report.findings;
    assert!(found.iter().all(|f| f.code != "not-finite"), "{found:?}");
}

#[test]
fn a_loss_that_counts_for_nothing_does_not_hide_what_is_infinite() {
    // 0 · 2 (∞ - 0) / 2, which is no number, and 0 · 2 (1 - 0) / 2.
    let text = "param x [2] = [inf, 1]\nconst t [2] = 0\nloss = 0 * mse_loss(x, t)";
    check(text, &[f64::NAN, 0.0]);
}

#[test]
fn what_is_masked_is_a_constant() {
    // Whatever the loss says of a masked element, even where it is not minus infinity that follows.
    let text =
        "param x [2,2] = [[1, 2], [3, 4]]\ny = diag_mask_inf(x)\nbackward y with [[5, 6], [7, 8]]";
    check(text, &[5.0, 0.0, 7.0, 8.0]);
}

#[test]
fn equals_share_what_one_of_them_would_get() {
    // As in JAX: the gradient of an extreme is split among all elements that are one.
    check("param x [4] = [1, 1, 2, 3]\nloss = min(x)", &[0.5, 0.5, 0.0, 0.0]);
    check("param x [4] = [3, 1, 3, 2]\nloss = max(x)", &[0.5, 0.0, 0.5, 0.0]);
}

#[test]
fn a_line_that_does_not_vary_has_no_slope() {
    // The deviations are 0, and so is what they are divided by. As in PyTorch, nothing goes back.
    for op in ["std", "sample_std"] {
        check(&format!("param x [2] = [3, 3]\nloss = {op}(x)"), &[0.0, 0.0]);
    }
}

#[test]
fn a_power_of_nothing_does_not_depend_on_its_exponent() {
    // 0 ^ x is 0 to the right of 0, and 1 ^ x is 1.
    check("const a [2] = [0, 1]\nparam x [2] = [2, 3]\nloss = sum(a ^ x)", &[0.0, 0.0]);
}
