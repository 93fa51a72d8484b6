//! Paths of rules that no row's sample goes, against differences in f64. Mutants found them.

use foldback::rules::RuleSet;
use foldback_tests::grad::check_grad;
use foldback_tests::{under, weighed};

/// Under rules without ranks and with them.
fn check(text: &str) {
    for rules in [RuleSet::Ggml, RuleSet::Numpy] {
        check_grad(&weighed(&under(rules, text)));
    }
}

/// A trainable leaf of this shape; the seed is the length of the name and the shape, so that leaves differ.
fn leaf(name: &str, shape: &str) -> String {
    let seed = name.bytes().map(u32::from).sum::<u32>() + shape.len() as u32;
    format!("param {name} {shape} = rand(seed={seed}, lo=-1, hi=1)\n")
}

#[test]
fn attention_with_a_bias_for_each_head() {
    // The mask is a number, not a hole, so that its slopes count.
    let mask = leaf("m", "[2,3]");
    for heads in [2, 3] {
        let (q, kv) = (format!("[{heads},2,3]"), format!("[{heads},3,3]"));
        let leaves = [leaf("q", &q), leaf("k", &kv), leaf("v", &kv), mask.clone()].concat();
        check(&format!("{leaves}y = flash_attn_ext(q, k, v, m, max_bias=4)"));
    }
}

#[test]
fn attention_of_matrices() {
    let leaves = [leaf("q", "[2,3]"), leaf("k", "[3,3]"), leaf("v", "[3,2]")].concat();
    check(&format!("{leaves}y = flash_attn_ext(q, k, v)"));
    check(&format!("{leaves}{}y = flash_attn_ext(q, k, v, m)", leaf("m", "[2,3]")));
    // One head has one sink, with an axis or without.
    for shape in ["[1]", "[]"] {
        check(&format!("{leaves}{}y = flash_attn_ext(q, k, v, s)", leaf("s", shape)));
    }
}

#[test]
fn a_matrix_times_a_vector() {
    check(&format!("{}{}y = mul_mat(a, b)", leaf("a", "[2,3]"), leaf("b", "[3]")));
}

#[test]
fn between_the_bound_and_zero_the_exponential_stands_still() {
    check("param x [2] = [-0.2, -0.4]\ny = xielu(x, eps=-0.5)");
}

#[test]
fn upstream_scales_beside_sinks_too() {
    let sinks = "const s [3] = rand(seed=4, lo=-1, hi=1)\n";
    let text = format!("{}{sinks}y = softmax_sinks(x, s, scale=0.5)", leaf("x", "[3,2,4]"));
    check_grad(&weighed(&under(RuleSet::Upstream, &text)));
}

#[test]
fn one_expert_of_one_row() {
    let ids = "const i [2,1] i32 = [[0], [0]]\n";
    check(&format!("{}{}{ids}y = mul_mat_id(a, b, i)", leaf("a", "[3]"), leaf("b", "[2,1,3]")));
}
