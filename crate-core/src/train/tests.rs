//! The oracles of `ggml-autodiff.md`, 5.8, and the right values where ggml-opt is wrong (8.4).

use super::{
    Batch, Context, DataSet, Fault, Fit, Graphs, Loss, Model, Optimizer, Options, Outcome, Pass,
    epoch, fit,
};
use crate::construct::Budget;
use crate::lang;
use crate::refusal::Code;
use crate::rules::RuleSet;

/// A text's graph, with the node called `x` as its inputs and the one called `o` as its outputs.
fn model(text: &str) -> Model {
    let parsed = lang::parse(text);
    let lowered = lang::lower(&parsed.ast, text, &Budget::default());
    assert!(lowered.diagnostics.is_empty(), "{:?}", lowered.diagnostics);
    let outputs = lowered.names.get("o").copied();
    let mut model = Model::own(&lowered.graph, outputs.expect("a node called o"));
    model.inputs = lowered.names.get("x").copied();
    model
}

/// `o = 1 (x + w)`, w from 3, `n` datapoints a batch.
fn shifted(n: usize) -> Model {
    model(&format!("const x [{n},1] = zeros\nparam w [1,1] = 3\ns = x + w\no = scale(s, 1)"))
}

fn data() -> DataSet {
    let points = (0..6u8).map(f32::from).collect();
    DataSet::new(points, 1, Vec::new(), 0, 1).expect("six points")
}

const ADAM: Optimizer = Optimizer::AdamW { lr: 1.0, beta1: 0.0, beta2: 0.0, eps: 0.0, wd: 0.0 };
const SGD: Optimizer = Optimizer::Sgd { lr: 1.0, momentum: 0.0, wd: 0.0 };

fn context(loss: Loss, optimizer: Optimizer, period: u64, model: Model) -> Context {
    let mut out = Context::new(Options { loss, period, optimizer, ..Options::default() });
    assert!(out.prepare(model), "{:?}", out.refused());
    out
}

fn w(context: &Context) -> f32 {
    context.params().get("w").map_or(f32::NAN, |p| p.now.first().copied().unwrap_or(f32::NAN))
}

fn acc(context: &Context) -> f32 {
    context.accumulator("w").and_then(|a| a.first().copied()).unwrap_or(f32::NAN)
}

fn close(got: f64, want: f64) {
    assert!((got - want).abs() < 1e-5, "{got} instead of {want}");
}

/// Evaluates one point.
fn point(context: &mut Context, backward: bool, x: &[f32], outcome: &mut Outcome) -> f64 {
    assert!(context.alloc(backward), "{:?}", context.refused());
    context.eval(Batch { inputs: x, labels: &[] }, outcome).expect("an evaluation")
}

#[test]
fn a_huge_period_only_accumulates() {
    let mut cx = context(Loss::Sum, ADAM, 1 << 40, shifted(1));
    for k in 1..=6u8 {
        point(&mut cx, true, &[f32::from(k - 1)], &mut Outcome::default());
        close(f64::from(acc(&cx)), f64::from(k));
        close(f64::from(w(&cx)), 3.0);
    }
}

#[test]
fn forward_only_measures_and_moves_nothing() {
    let mut cx = context(Loss::Sum, ADAM, 1, shifted(1));
    let (mut trained, mut measured) = (Outcome::default(), Outcome::default());
    let whole = epoch(&mut cx, &data(), 0, (&mut trained, &mut measured), &mut |_, _, _| true);
    assert_eq!(whole, Ok(true));
    close(measured.loss().value, 33.0);
    close(measured.loss().uncertainty, 3.5f64.sqrt());
    close(f64::from(w(&cx)), 3.0);
    assert_eq!((measured.n_data, trained.n_data), (6, 0));
}

#[test]
fn six_steps_take_the_weight_to_minus_three() {
    for optimizer in [ADAM, SGD] {
        let mut cx = context(Loss::Sum, optimizer, 1, shifted(1));
        let (mut trained, mut measured) = (Outcome::default(), Outcome::default());
        let end = epoch(&mut cx, &data(), 6, (&mut trained, &mut measured), &mut |_, _, _| true);
        assert_eq!(end, Ok(true));
        close(f64::from(w(&cx)), -3.0);
        close(trained.loss().value, 18.0);
        close(trained.loss().uncertainty, 0.0);
    }
}

#[test]
fn four_train_and_two_measure_in_every_epoch() {
    for optimizer in [ADAM, SGD] {
        let mut cx = context(Loss::Sum, optimizer, 1, shifted(1));
        for e in 1..=4u8 {
            let (mut trained, mut measured) = (Outcome::default(), Outcome::default());
            let outcomes = (&mut trained, &mut measured);
            let end = epoch(&mut cx, &data(), 4, outcomes, &mut |_, _, _| true);
            assert_eq!(end, Ok(true));
            let e = f64::from(e);
            close(f64::from(w(&cx)), 3.0 - 4.0 * e);
            close(trained.loss().value, 28.0 - 16.0 * e);
            close(trained.loss().uncertainty, 0.0);
            close(measured.loss().value, 15.0 - 8.0 * e);
            close(measured.loss().uncertainty, 0.5f64.sqrt());
        }
    }
}

/// Logical batch 6, physical batch 1 or 2, SUM and MEAN: the accumulator of each evaluation, then one step.
#[test]
fn a_logical_batch_is_added_up_over_its_micro_batches() {
    for (loss, n, scale) in [(Loss::Sum, 1, 1.0), (Loss::Mean, 1, 6.0), (Loss::Sum, 2, 1.0)] {
        let mut cx = context(loss, ADAM, 6 / n as u64, shifted(n));
        let points: Vec<f32> = (0..6u8).map(f32::from).collect();
        for e in 1..=4u8 {
            let mut outcome = Outcome::default();
            for (k, x) in points.chunks_exact(n).enumerate() {
                point(&mut cx, true, x, &mut outcome);
                close(f64::from(acc(&cx)), ((k + 1) * n) as f64 / scale);
            }
            close(f64::from(w(&cx)), 3.0 - f64::from(e));
            close(outcome.loss().value, (39.0 - 6.0 * f64::from(e)) / scale);
        }
    }
}

/// y = 1.2 x + 3.4 with noise of 0.1 over 201 points.
#[test]
fn a_regression_recovers_its_line() {
    let text = "const x [1,1] = zeros\nparam a [1,1] = 1\nparam b [1,1] = 3\np = a * x\no = p + b";
    let noise = crate::graph::Init::Randn { seed: 17 };
    let ty = crate::tensor::TensorType::f32(crate::tensor::Shape::SCALAR);
    let xs: Vec<f32> = (0..201u8).map(|i| f32::from(i) - 100.0).collect();
    let line = |(i, x): (usize, &f32)| 1.2 * x + 3.4 + 0.1 * noise.element(&ty, i) as f32;
    let ys: Vec<f32> = xs.iter().enumerate().map(line).collect();
    let adam = Optimizer::AdamW { lr: 0.1, beta1: 0.9, beta2: 0.999, eps: 1e-8, wd: 0.0 };
    let mut data = DataSet::new(xs, 1, ys, 1, 1).expect("201 rows");
    let mut cx = context(Loss::MeanSquaredError, adam, 1, model(text));
    let how =
        Fit { epochs: 100, logical_batch: 201, validation: 0.0, seed: 5, schedule: &|_| adam };
    assert_eq!(fit(&mut cx, &mut data, &how, &mut |_, _, _| true), Ok(true));
    let of = |name| cx.params().get(name).map_or(f32::NAN, |p| p.now[0]);
    assert!((of("a") - 1.2).abs() < 0.01, "{}", of("a"));
    assert!((of("b") - 3.4).abs() < 0.01, "{}", of("b"));
}

/// Three classes, told apart by a matrix: the loss falls from ln 3 and every prediction is right in the end.
#[test]
fn cross_entropy_learns_classes_and_counts_them() {
    let text = "const x [3,3] = zeros\nparam w [3,3] = zeros\no = mul_mat(w, x)";
    let eye = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let sgd = Optimizer::Sgd { lr: 1.0, momentum: 0.0, wd: 0.0 };
    for rules in RuleSet::ALL {
        let options = Options {
            loss: Loss::CrossEntropy,
            optimizer: sgd,
            rules: *rules,
            ..Options::default()
        };
        let mut cx = Context::new(options);
        let text = format!("rules {}\n{text}", rules.name());
        assert!(cx.prepare(model(&text)), "{:?}", cx.refused());
        let mut outcome = Outcome::default();
        let batch = Batch { inputs: &eye, labels: &eye };
        for step in 0..50 {
            outcome.reset();
            assert!(cx.alloc(true));
            let loss = cx.eval(batch, &mut outcome).expect("an evaluation");
            if step == 0 {
                close(loss, crate::math::ln(3.0));
            }
        }
        assert!(outcome.loss().value < 0.1, "{}", outcome.loss().value);
        close(outcome.accuracy().value, 1.0);
        assert_eq!(outcome.predictions, [0, 1, 2]);
        // Outputs far beyond what an exponential holds stay finite.
        let far =
            model(&format!("{text}\n").replace(
                "param w [3,3] = zeros",
                "param w [3,3] = [[0,900,0],[0,0,900],[900,0,0]]",
            ));
        let mut cx = Context::new(cx.options().clone());
        assert!(cx.prepare(far) && cx.alloc(true));
        close(cx.eval(batch, &mut outcome).expect("an evaluation"), 900.0);
    }
}

/// B34: once an evaluation had labels there is an accuracy; ggml-opt's stays -1 until reset.
#[test]
fn accuracy_counts_what_could_be_compared() {
    let eye = vec![1.0, 0.0, 0.0, 1.0];
    for (rules, known) in [(RuleSet::Ggml, true), (RuleSet::Upstream, false)] {
        let options = Options { loss: Loss::CrossEntropy, rules, ..Options::default() };
        let mut cx = Context::new(options);
        assert!(cx.prepare(model("const x [2,2] = zeros\nparam w [2,2] = eye\no = mul_mat(w, x)")));
        let mut outcome = Outcome::default();
        for labels in [&[][..], &eye] {
            assert!(cx.alloc(false));
            cx.eval(Batch { inputs: &eye, labels }, &mut outcome).expect("an evaluation");
        }
        assert_eq!(outcome.accuracy().value.is_finite(), known);
    }
}

/// B20: loss = w, SGD 0.1, evaluated on dynamic graphs. Static graphs are right in ggml too.
#[test]
fn dynamic_graphs_clear_their_accumulators() {
    let sgd = Optimizer::Sgd { lr: 0.1, momentum: 0.0, wd: 0.0 };
    let right_1 = [-0.1, -0.2, -0.3, -0.4];
    let right_2 = [0.0, -0.2, -0.2, -0.4];
    let cases = [
        (RuleSet::Ggml, Graphs::Dynamic, 1, right_1),
        (RuleSet::Ggml, Graphs::Static, 1, right_1),
        (RuleSet::Ggml, Graphs::Dynamic, 2, right_2),
        (RuleSet::Ggml, Graphs::Static, 2, right_2),
        (RuleSet::Upstream, Graphs::Static, 1, right_1),
        (RuleSet::Upstream, Graphs::Static, 2, right_2),
        (RuleSet::Upstream, Graphs::Dynamic, 1, [-0.1, -0.3, -0.6, -1.0]),
        (RuleSet::Upstream, Graphs::Dynamic, 2, [0.0, -0.2, -0.2, -0.6]),
    ];
    for (rules, graphs, period, want) in cases {
        let options = Options {
            loss: Loss::Sum,
            optimizer: sgd,
            period,
            graphs,
            rules,
            ..Options::default()
        };
        let mut cx = Context::new(options);
        let graph = model("param w [1] = 0\no = scale(w, 1)");
        assert!(cx.prepare(graph.clone()));
        for want in want {
            if graphs == Graphs::Dynamic {
                assert!(cx.prepare(graph.clone()));
            }
            point(&mut cx, true, &[], &mut Outcome::default());
            close(f64::from(w(&cx)), want);
        }
    }
}

/// B21: period 2, backward and forward-only evaluations in turn. ggml-opt's phase advances on both.
#[test]
fn forward_passes_do_not_advance_the_phase() {
    for (rules, moves) in [(RuleSet::Ggml, true), (RuleSet::Upstream, false)] {
        let options =
            Options { loss: Loss::Sum, optimizer: SGD, period: 2, rules, ..Options::default() };
        let mut cx = Context::new(options);
        assert!(cx.prepare(model("param w [1] = 0\no = scale(w, 1)")));
        for _ in 0..4 {
            point(&mut cx, true, &[], &mut Outcome::default());
            point(&mut cx, false, &[], &mut Outcome::default());
        }
        close(f64::from(w(&cx)), if moves { -4.0 } else { 0.0 });
    }
}

/// B22: a context that only wants gradients. ggml-opt ends the process.
#[test]
fn gradients_can_be_the_most_a_context_runs() {
    let options =
        |rules| Options { loss: Loss::Sum, most: Pass::Grad, rules, ..Options::default() };
    let mut cx = Context::new(options(RuleSet::Ggml));
    assert!(cx.prepare(shifted(1)));
    point(&mut cx, true, &[1.0], &mut Outcome::default());
    close(f64::from(acc(&cx)), 1.0);
    close(f64::from(w(&cx)), 3.0);
    let mut cx = Context::new(options(RuleSet::Upstream));
    assert!(!cx.prepare(shifted(1)) && !cx.alloc(true));
    assert!(cx.refused().is_some_and(|r| r.message.contains("ends the process")));
}

/// B23: the second graph adds the same terms in the other order. State belongs to names; in ggml-opt to places.
#[test]
fn state_follows_the_parameter_not_its_place() {
    let sgd = Optimizer::Sgd { lr: 1.0, momentum: 0.5, wd: 0.0 };
    let one = "param w [1] = 0\nparam v [2] = 0\np = scale(w, 1)\nq = sum(v)\no = p + q";
    let other = "param v [2] = 0\nparam w [1] = 0\nq = sum(v)\np = scale(w, 1)\no = p + q";
    for (rules, works) in [(RuleSet::Ggml, true), (RuleSet::Upstream, false)] {
        let options = Options {
            loss: Loss::Sum,
            optimizer: sgd,
            graphs: Graphs::Dynamic,
            rules,
            ..Options::default()
        };
        let mut cx = Context::new(options);
        assert!(cx.prepare(model(one)));
        point(&mut cx, true, &[], &mut Outcome::default());
        assert!(cx.prepare(model(other)));
        assert_eq!(cx.alloc(true), works, "{rules:?}");
        if works {
            cx.eval(Batch::default(), &mut Outcome::default()).expect("an evaluation");
            close(f64::from(w(&cx)), -2.5);
        } else {
            let code = cx.refused().map(|r| r.refusal.reason.code());
            assert_eq!(code, Some(Code::AccumulatorShape));
        }
    }
}

/// B19: w `[2,3]` used only through its transpose, SGD 0.1, dw = (1,3,5,2,4,6).
#[test]
fn a_step_reads_a_transposed_gradient_right() {
    let text =
        "param w [2,3] = 0\nt = w.T\nconst g [3,2] = [[1,2],[3,4],[5,6]]\nm = cont(t)\no = m * g";
    let sgd = Optimizer::Sgd { lr: 0.1, momentum: 0.0, wd: 0.0 };
    let right = [0.1, 0.3, 0.5, 0.2, 0.4, 0.6];
    let wrong = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    for (rules, want) in [(RuleSet::Ggml, right), (RuleSet::Upstream, wrong)] {
        let options = Options { loss: Loss::Sum, optimizer: sgd, rules, ..Options::default() };
        let mut cx = Context::new(options);
        assert!(cx.prepare(model(text)), "{:?}", cx.refused());
        point(&mut cx, true, &[], &mut Outcome::default());
        let got = cx.params().get("w").map(|p| p.now.clone()).unwrap_or_default();
        for (got, want) in got.iter().zip(want) {
            close(f64::from(*got), -want);
        }
    }
}

/// The graph that cannot be trained under `upstream`, and a good one, on the same context. B33's sum is here too.
#[test]
fn a_refusal_is_stored_and_the_context_trains_the_next_graph() {
    let bad = "param w [2,3] = 1\nconst d [2,1] = 2\nparam c [2,1] = 3\ny = w / c\no = sum(y)";
    let good = "param w [2,3] = 1\nparam c [2,1] = 3\nr = repeat(c, w)\ny = w / r\no = sum(y)";
    for graphs in [Graphs::Static, Graphs::Dynamic] {
        let options = Options {
            loss: Loss::Sum,
            optimizer: SGD,
            graphs,
            rules: RuleSet::Upstream,
            ..Options::default()
        };
        let mut cx = Context::new(options);
        let bad = model(bad);
        let n = bad.graph.len();
        let held = cx.n_held();
        assert!(!(cx.prepare(bad.clone()) && cx.alloc(true)), "{graphs:?}");
        assert_eq!(bad.graph.len(), n, "the caller's graph");
        assert_eq!(cx.n_held(), held, "nothing is allocated");
        let refused = cx.refused().cloned().expect("a refusal");
        assert_eq!(refused.name, "y");
        assert_eq!(refused.refusal.src, Some(1));
        assert!(refused.message.contains("through DIV (node \"y\")"), "{}", refused.message);
        assert_eq!(cx.eval(Batch::default(), &mut Outcome::default()), Err(Fault::NotAllocated));
        assert!(cx.params().is_empty());
        assert!(cx.prepare(model(good)), "{graphs:?}");
        assert!(cx.refused().is_none() || graphs == Graphs::Dynamic);
        point(&mut cx, true, &[], &mut Outcome::default());
        assert!(cx.refused().is_none());
        let c = cx.params().get("c").map_or(f32::NAN, |p| p.now[0]);
        close(f64::from(c), 3.0 + 3.0 / 9.0);
    }
}

/// A step that would leave the numbers is not taken, and nothing has moved, moments included.
#[test]
fn a_step_that_fails_moves_nothing() {
    let text = "param w [1] = 1e30\nparam u [1] = 1\ns = w * w\no = s + u";
    let mut cx = context(Loss::Sum, Optimizer::default(), 1, model(text));
    assert!(cx.alloc(true));
    let fault = cx.eval(Batch::default(), &mut Outcome::default());
    assert!(matches!(&fault, Err(Fault::NotFinite { name, .. }) if name == "s"), "{fault:?}");
    let text =
        "param w [1] = 1\nparam u [1] = 1\np = scale(w, 1e20)\nq = p * u\no = scale(q, 1e20)";
    let mut cx = context(Loss::Sum, Optimizer::default(), 1, model(text));
    assert!(cx.alloc(true));
    assert!(matches!(
        cx.eval(Batch::default(), &mut Outcome::default()),
        Err(Fault::NotFinite { .. })
    ));
    assert!(cx.params().values().all(|p| p.now == [1.0]));
    assert_eq!(cx.steps(), 0);
    let mut outcome = Outcome::default();
    let sgd = Optimizer::Sgd { lr: -1.0, momentum: 0.0, wd: 0.0 };
    let mut cx = context(Loss::Sum, sgd, 1, shifted(1));
    assert!(cx.alloc(true));
    let fault = cx.eval(Batch { inputs: &[0.0], labels: &[] }, &mut outcome);
    assert_eq!(fault, Err(Fault::Setting("lr must be a number above 0")));
    assert!(cx.alloc(true));
    let fault = cx.eval(Batch { inputs: &[0.0, 1.0], labels: &[] }, &mut outcome);
    assert_eq!(fault, Err(Fault::Setting("lr must be a number above 0")));
}

/// The norm is over all parameters: (3, 4) clipped to 1 is (0.6, 0.8).
#[test]
fn a_clipped_gradient_keeps_its_direction() {
    let text = "param a [1] = 0\nparam b [1] = 0\np = scale(a, 3)\nq = scale(b, 4)\no = p + q";
    let options =
        Options { loss: Loss::Sum, optimizer: SGD, clip: Some(1.0), ..Options::default() };
    let mut cx = Context::new(options);
    assert!(cx.prepare(model(text)));
    point(&mut cx, true, &[], &mut Outcome::default());
    let of = |name| f64::from(cx.params().get(name).map_or(f32::NAN, |p| p.now[0]));
    close(of("a"), -0.6);
    close(of("b"), -0.8);
}

#[test]
fn memory_is_flat_over_ten_thousand_steps() {
    for graphs in [Graphs::Static, Graphs::Dynamic] {
        let adam = Optimizer::default();
        let options = Options { loss: Loss::Mean, optimizer: adam, graphs, ..Options::default() };
        let mut cx = Context::new(options);
        let graph = shifted(4);
        assert!(cx.prepare(graph.clone()));
        let mut outcome = Outcome::default();
        let mut held = 0;
        let steps = if graphs == Graphs::Static { 10_000 } else { 500 };
        for step in 0..steps {
            if graphs == Graphs::Dynamic {
                assert!(cx.prepare(graph.clone()));
            }
            outcome.reset();
            point(&mut cx, true, &[0.0, 1.0, 2.0, 3.0], &mut outcome);
            if step == 2 {
                held = cx.n_held();
            }
        }
        assert_eq!(cx.n_held(), held, "{graphs:?}");
        assert_eq!(cx.steps(), steps);
        assert!(outcome.losses.capacity() <= 4 && outcome.predictions.capacity() == 0);
    }
}
