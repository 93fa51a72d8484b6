//! A plan changes no bit: what it keeps is what evaluation node by node gives, and evaluating again allocates nothing.

use foldback::autodiff::{Request, differentiate};
use foldback::construct::{self, Apply, Budget};
use foldback::forward::{Plan, Values};
use foldback::graph::{Flags, Graph, Init, NodeId, Params};
use foldback::ops::OpKind;
use foldback::ops::def::{Pace, defaults};
use foldback::report::{Analysis, analyse};
use foldback::rules::RuleSet;
use foldback::tensor::{Shape, TensorType};
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

/// Gradients as they are handed out by a plan that keeps nothing: put together they are those of evaluation node by
/// node, and each part comes beside the leaf's own elements.
fn handed(text: &str) -> Option<usize> {
    let analysis = analyse(text, &Budget::default());
    let graph = &analysis.trace.graph;
    let mut plain = Values::<f32>::new();
    plain.eval(graph, 0..graph.len());
    let grads = analysis.trace.grads();
    let leaf_of = |id: NodeId| {
        let of = grads.iter().position(|grad| *grad == Some(id)).and_then(NodeId::at)?;
        graph.node(of).flags.param.then_some(of)
    };
    let plan = Plan::new(graph, graph.len(), |_| false, leaf_of)?;
    let mut planned = Values::<f32>::new();
    let mut parts: Vec<(NodeId, usize, Vec<f32>)> = Vec::new();
    let follows = planned.follow_and_hand(graph, &plan, &mut |part| {
        let own = plain.packed(graph, part.leaf);
        let own = own.get(part.at..part.at + part.grad.len());
        assert_eq!(own, Some(part.values), "{text}");
        parts.push((part.leaf, part.at, part.grad.to_vec()));
    });
    if !follows {
        return None;
    }
    let n_parts = parts.len();
    for leaf in graph.nodes().map(|(id, _)| id).filter(|id| graph.node(*id).flags.param) {
        let Some(grad) = grads.get(leaf.index()).copied().flatten() else { continue };
        let own: Vec<f32> =
            parts.iter().filter(|part| part.0 == leaf).flat_map(|part| part.2.clone()).collect();
        let want = plain.packed(graph, grad);
        let bits = |xs: &[f32]| xs.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
        assert_eq!(bits(&own), bits(&want), "{leaf:?} of\n{text}");
        let mut next = 0;
        for part in parts.iter().filter(|part| part.0 == leaf) {
            assert_eq!(part.1, next, "parts come in order, with nothing between");
            next += part.2.len();
        }
    }
    Some(n_parts)
}

#[test]
fn what_is_handed_out_is_the_gradient() {
    let mut n = 0;
    for seed in 0..200 {
        let rules = if seed % 2 == 0 { RuleSet::Ggml } else { RuleSet::Numpy };
        n += handed(&program(&mut Rng::new(seed), rules, 12)).unwrap_or(0);
    }
    assert!(n > 100, "only {n} parts of random programs");
    let router = "param w [2000,8] = rand(seed=1, lo=0.5, hi=2)\nconst g [2000,8] = rand(seed=2)
y = w / clamp(sum_rows(w), min=0.1)\nloss = sum(y * g)";
    let parts = handed(router).unwrap_or(0);
    assert!(parts > 1, "a gradient of several blocks comes in {parts} parts");
}

#[test]
fn a_plan_gives_up_where_a_product_it_does_not_store_is_nothing() {
    // The branch that divides by 0 is not taken: 0 · ∞ on the way to the divisor's gradient, in a term of its sum.
    let text = |rows: usize, divisor: &str, branch: &str| {
        format!(
            "rules numpy\nparam a [{rows},8] = rand(seed=1, lo=0.5, hi=2)
param b [{rows},1] = {divisor}\nconst m [{rows},8] = {branch}
loss = sum(where(m > 0, a / b, 0) * a)"
        )
    };
    for rows in [2, 70, 1_500] {
        assert!(handed(&text(rows, "2", "1")).is_some());
        assert!(handed(&text(rows, "2", "0")).is_some());
        assert_eq!(handed(&text(rows, "0", "0")), None, "{rows} rows");
    }
}

#[test]
fn a_leaf_that_a_step_fills_is_no_number() {
    // Labels and accumulators have no names, and hold zeros until they are given something.
    let budget = Budget::default();
    let mut graph = Graph::default();
    let ty = TensorType::f32(Shape::new(&[40, 8]).expect("two axes"));
    let new = |graph: &mut Graph, fill: f64, flags: Flags| {
        construct::leaf(graph, &budget, ty, Init::Fill(fill), None, flags).expect("room")
    };
    let param = Flags { param: true, ..Flags::default() };
    let (w, labels) = (new(&mut graph, 0.5, param), new(&mut graph, 0.0, Flags::default()));
    let mut make = |name: &str, src: &[NodeId]| {
        let op = *OpKind::ALL.iter().find(|op| op.def().name == name).expect("a row");
        let params = Params::new(defaults(op.def()));
        let what = Apply { op, src, params, name: None, in_place: false };
        construct::apply(&mut graph, &budget, RuleSet::Numpy, what).expect("an op")
    };
    let y = make("mul", &[w, labels]);
    let loss = make("sum", &[y]);
    let request = Request { loss: Some(loss), rules: RuleSet::Numpy, ..Request::default() };
    let built = differentiate(graph, &request).expect("gradients");
    let grad = built.of(w).expect("one of the parameter");
    let plan = Plan::new(&built.graph, built.graph.len(), |id| id == grad, |_| None);
    let plan = plan.expect("a plan");
    let mut values = Values::<f32>::new();
    for label in [3.0, 4.0] {
        values.refill(labels, &[label; 320]);
        assert!(values.follow(&built.graph, &plan), "it is followed all the same");
        assert_eq!(values.packed(&built.graph, grad).as_ref(), [label; 320]);
    }
}
