//! A plan changes no bit: what it keeps is what evaluation node by node gives, and evaluating again allocates nothing.

use foldback::construct::Budget;
use foldback::forward::{Plan, Values};
use foldback::graph::{Graph, NodeId};
use foldback::ops::OpKind;
use foldback::ops::def::Pace;
use foldback::report::{Analysis, analyse};
use foldback::rules::RuleSet;
use foldback_tests::generate::program;
use foldback_tests::rng::Rng;

/// Bits of a node, with NaN as one class.
fn bits(values: &Values<f32>, graph: &Graph, id: NodeId) -> Vec<u32> {
    let bits = |x: &f32| if x.is_nan() { u32::MAX } else { x.to_bits() };
    values.packed(graph, id).iter().map(bits).collect()
}

/// Follows plans that keep all, only the gradients, and each third node; how many groups' members they made.
fn compare(analysis: &Analysis) -> usize {
    let graph = &analysis.trace.graph;
    let mut plain = Values::<f32>::new();
    plain.eval(graph, 0..graph.len());
    let grads = analysis.trace.grads();
    let ends = |id: NodeId| grads.contains(&Some(id)) || analysis.lowered.loss == Some(id);
    let third = |id: NodeId| id.index().is_multiple_of(3);
    let all = |_: NodeId| true;
    let mut n_planned = 0;
    for kept in [&ends as &dyn Fn(NodeId) -> bool, &third, &all] {
        let Some(plan) = Plan::new(graph, graph.len(), kept, |_| None) else { return 0 };
        let mut planned = Values::<f32>::new();
        let mut follows = true;
        for round in 0..2 {
            let held = planned.n_held();
            follows &= planned.follow(graph, &plan);
            if !follows {
                break;
            }
            for (id, _) in graph.nodes().filter(|(id, _)| kept(*id)) {
                let op = graph.node(id).op().map_or("a leaf", |op| op.def().name);
                assert_eq!(bits(&planned, graph, id), bits(&plain, graph, id), "{id:?}, {op}");
            }
            assert!(round == 0 || planned.n_held() == held, "the second round allocates");
        }
        // One that gives up has shown nothing.
        if follows {
            n_planned += graph.nodes().filter(|(id, _)| !plan.keeps(*id)).count();
        }
    }
    n_planned
}

/// Prints the document at work when a test fails.
fn compared(text: &str) -> usize {
    let analysis = analyse(text, &Budget::default());
    compare(&analysis)
}

#[test]
fn every_sample_of_every_row_keeps_its_bits() {
    let mut n = 0;
    for op in OpKind::ALL {
        for sample in op.def().check.samples {
            n += compared(&format!("{sample}\nloss = sum(y)"));
            n += compared(&format!("rules numpy\n{sample}\nloss = sum(y * y)"));
        }
    }
    assert!(n > 1_000, "only {n} nodes went through a group without leaving it");
}

#[test]
fn random_programs_keep_their_bits() {
    let mut n = 0;
    for seed in 0..600 {
        let rules = if seed % 2 == 0 { RuleSet::Ggml } else { RuleSet::Numpy };
        n += compared(&program(&mut Rng::new(seed), rules, 12));
    }
    assert!(n > 500, "only {n} nodes went through a group without leaving it");
}

#[test]
fn rows_beyond_a_block_keep_their_bits() {
    // Rows that eight does not divide, several blocks, columns, numbers, folds to each side, sums of all.
    let sizes =
        [(1, 1), (2, 3), (7, 8), (8, 1), (9, 16), (1_027, 8), (517, 33), (70, 300), (3, 5_000)];
    let mut n = 0;
    for (rows, width) in sizes {
        for rules in ["ggml", "numpy"] {
            let text = format!(
                "rules {rules}
param a [{rows},{width}] = rand(seed=1, lo=0.5, hi=2)
param b [1,{width}] = rand(seed=2, lo=0.5, hi=2)
param c [{rows},1] = rand(seed=3, lo=0.5, hi=2)
param d = 1.5
x = relu(a * b - c) / (sum_rows(a) + 1) + clamp(c, min=0.7) * -a
y = softmax(x / d) * max(x, axis=1, keepdims=true)
z = where(y > 0.01, y, x) + mean(x)
u = sum(z, axis=0, keepdims=true) * b
loss = sum(z * x) / {rows} + sum(u) + sum(exp(-z))"
            );
            let found = compared(&text);
            assert!(found > 0 || rows == 1, "{text}");
            n += found;
        }
    }
    assert!(n > 200, "{n}");
}

#[test]
fn every_row_that_says_it_goes_by_rows_does_over_many_blocks() {
    // 1,027 rows of eight are more than a block, and no whole number of them.
    let mut compared_rows = 0;
    for op in OpKind::ALL.iter().map(|op| op.def()).filter(|op| op.forward.pace != Pace::Whole) {
        for second in ["[1027,8]", "[1,8]", "[1027,1]"] {
            let operands = ["a", "b", "c"].get(..op.arity.min.max(1)).unwrap_or(&["a"]).join(", ");
            let text = format!(
                "param a [1027,8] = rand(seed=1, lo=0.5, hi=2)
param b {second} = rand(seed=2, lo=0.5, hi=2)
param c [1027,8] = rand(seed=3, lo=0.5, hi=2)
y = {}({operands})
loss = sum(y * a) + sum(y)",
                op.name
            );
            compared_rows += usize::from(compared(&text) > 0);
        }
    }
    assert!(compared_rows > 100, "{compared_rows} documents had rows that go together");
}
