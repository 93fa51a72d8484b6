//! What the walk that goes on after a refusal says, and what it must not lose on its way.

use foldback::autodiff::{Instead, Request};
use foldback::construct::Budget;
use foldback::ops::def::Backward;
use foldback::refusal::Finding;
use foldback::{contract, lang};
use foldback_tests::{analyse, places};

#[test]
fn a_gradient_that_is_there_is_not_filled_with_zeros() {
    // The second view is seen only if the walk keeps the gradient that it has after the first refusal.
    let text = "rules upstream\nparam x [2,3] = rand(seed=1)\na = -x\nb = transpose(a)\nc = -b\ny = transpose(c)\n\
                const W [2,3] = rand(seed=2)\nloss = sum(y * W)\n";
    assert_eq!(places(&analyse(text)), ["layout at c", "layout at a"]);
}

#[test]
fn every_rule_that_sends_nothing_is_named() {
    let text = "param x [2] = [1, 2]\ny = exp(x)\nz = sqr(y)\nloss = sum(z)\n";
    let lowered = lang::lower(&lang::parse(text).ast, text, &Budget::default());
    let silent = Backward::Rule(|_, _| Ok(Vec::new()));
    let nodes: Vec<_> = ["y", "z"].iter().filter_map(|n| lowered.names.get(*n).copied()).collect();
    let request = Request {
        loss: lowered.loss,
        instead: nodes.iter().map(|node| Instead { node: *node, backward: silent }).collect(),
        ..Request::default()
    };
    let found = contract::findings(&lowered.graph, &request);
    let at: Vec<_> = found.iter().filter_map(Finding::at).collect();
    assert_eq!(at, nodes.iter().rev().copied().collect::<Vec<_>>(), "{found:?}");
}
