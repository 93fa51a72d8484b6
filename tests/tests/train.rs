//! Training that cannot take its host down: runs of documents, their status, and what they leave alone.

#![expect(clippy::expect_used, reason = "a check that cannot be made has failed")]

use foldback::autodiff::{Flaw, Mutation, Request, build_backward};
use foldback::construct::Budget;
use foldback::forward::Values;
use foldback::report::json::answer;
use foldback::report::{Analysis, TrainReport, analyse};
use foldback::rules::RuleSet;
use foldback::train::{Model, Moved, Optimizer, Plan, State, Trainer, Trouble};
use foldback_tests::built;

/// The router of `n` experts that all start differently; what is trained wants the first.
fn router(n: usize, train: &str) -> String {
    let weights: Vec<String> = (0..n).map(|i| format!("{}", 1.0 + 0.05 * i as f64)).collect();
    format!(
        "rules ggml\nparam w [1 token, {n} expert] = [[{}]]\ns = sum_rows(w)\nc = clamp(s, min=6.103515625e-5)\ny = w / c\nloss = y[0, 0]\n{train}\n",
        weights.join(", ")
    )
}

fn run(analysis: &Analysis) -> (TrainReport, Vec<Vec<f32>>) {
    let mut training = analysis.training().expect("a train line");
    let mut steps = Vec::new();
    while training.advance() {
        let moved = training.moved().expect("a step");
        steps.push(moved.leaves.into_iter().next().map(|(_, v)| v).unwrap_or_default());
    }
    (training.report, steps)
}

/// `dw_i = (g_i - Σ g y) / s`: with g = (1, 0, ..) every step is known in closed form, in f64.
#[test]
fn a_thousand_steps_of_the_router_follow_the_closed_form() {
    for n in [2, 8] {
        let analysis = built(&router(n, "train sgd lr=0.001 steps=1000"));
        let (report, steps) = run(&analysis);
        assert_eq!((report.state.as_str(), report.done, steps.len()), ("done", 1000, 1000));
        assert_eq!(report.losses.len(), 1001);
        assert!(report.losses.windows(2).all(|w| w[1] < w[0]), "the loss falls at every step");
        let mut w: Vec<f64> = (0..n).map(|i| 1.0 + 0.05 * i as f64).collect();
        for (ix, step) in steps.iter().enumerate() {
            let s: f64 = w.iter().sum();
            let y0 = w[0] / s;
            let gap = (report.losses[ix] - y0).abs();
            assert!(gap < 1e-5, "loss {ix}: {gap:e}");
            for (i, x) in w.iter_mut().enumerate() {
                *x -= 0.001 * (f64::from(u8::from(i == 0)) - y0) / s;
            }
            let worst =
                w.iter().zip(step).map(|(a, b)| (a - f64::from(*b)).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-5, "step {ix} of {n} experts: {worst:e}");
        }
    }
}

/// The defect that began the project, as a status: the node, the source and the reason, and nothing else happens.
#[test]
fn a_refusal_is_a_status() {
    let text = router(2, "train sgd lr=0.1 steps=3").replace("rules ggml", "rules upstream");
    let analysis =
        analyse(&text.replace("clamp(s, min=6.103515625e-5)", "scale(s, 1)"), &Budget::default());
    let (report, steps) = run(&analysis);
    assert_eq!(report.state, "error");
    assert_eq!((report.name.as_str(), report.op.as_str(), report.src), ("y", "div", Some(1)));
    assert!(
        report.reason.contains("cannot be built through DIV (node \"y\")"),
        "{}",
        report.reason
    );
    assert!(steps.is_empty() && report.losses.is_empty());
    let json = answer(&analysis);
    assert_eq!(json.status, 1);
    assert!(
        json.json.contains("\"state\":\"error\",\"node\":\"y\",\"op\":\"div\",\"src\":1,"),
        "{}",
        json.json
    );
}

/// A mean over rows cannot take a second contribution in ggml, and an accumulator is one (B3): `period=2` is refused
/// there, `period=1` trains; under our rules both do.
#[test]
fn an_accumulator_is_a_contribution() {
    let text = |rules: &str, period: u32| {
        format!(
            "rules {rules}\nparam x [2,3] = 1\nm = mean_rows(x)\nloss = sum(m)\ntrain sgd lr=0.1 steps=2 period={period}\n"
        )
    };
    let state = |rules, period| run(&analyse(&text(rules, period), &Budget::default())).0;
    assert_eq!(state("ggml", 2).state, "done");
    assert_eq!(state("upstream", 1).state, "done");
    let refused = state("upstream", 2);
    assert_eq!((refused.state.as_str(), refused.name.as_str()), ("error", "m"), "{refused:?}");
}

/// Gradients of micro-batches add up, as ggml's do for a sum; a clip bounds the norm of the whole step.
#[test]
fn period_and_clip_work() {
    let leaf = |train: &str| {
        let analysis = built(&format!("param w = 0\nloss = w * 1\n{train}\n"));
        run(&analysis).1.iter().map(|v| v[0]).collect::<Vec<f32>>()
    };
    assert_eq!(leaf("train sgd lr=0.5 steps=2 period=2"), [-1.0, -2.0]);
    assert_eq!(leaf("train sgd lr=0.5 steps=2 period=4 clip=2"), [-1.0, -2.0]);
    let two =
        built("param a = 0\nparam b = 0\nloss = 3 * a + 4 * b\ntrain sgd lr=1 steps=1 clip=1\n");
    let mut training = two.training().expect("a train line");
    assert!(training.advance());
    let moved = training.moved().expect("a step");
    let got: Vec<f32> = moved.leaves.iter().map(|(_, v)| v[0]).collect();
    assert!((got[0] + 0.6).abs() < 1e-6 && (got[1] + 0.8).abs() < 1e-6, "{got:?}");
    let many = analyse(
        "param w = 0\nloss = w * 1\ntrain sgd steps=1000 period=1000\n",
        &Budget::default(),
    );
    assert!(foldback_tests::places(&many).iter().any(|p| p.starts_with("too-many-steps")));
}

/// `language.md`: a supplied accumulator is where the gradient starts, once a step.
#[test]
fn a_supplied_accumulator_starts_each_step() {
    let text = "param w = 0\nloss = w * 1\naccumulator w = 10\n";
    let leaf = |train: &str| run(&built(&format!("{text}{train}\n"))).1.concat();
    assert_eq!(leaf("train sgd lr=1 steps=2"), [-11.0, -22.0]);
    assert_eq!(leaf("train sgd lr=1 steps=2 period=2"), [-12.0, -24.0]);
}

/// A run that diverges says where, and leaves the parameters of the last step that succeeded.
#[test]
fn a_diverging_run_names_the_node() {
    let analysis =
        built("param w = 3\nq = w * w\nr = exp(q)\nloss = r * 1\ntrain sgd lr=1 steps=50\n");
    let (report, steps) = run(&analysis);
    assert_eq!(report.state, "error");
    assert_eq!((report.name.as_str(), report.op.as_str()), ("r", "exp"), "{report:?}");
    assert!(steps.iter().flatten().all(|x| x.is_finite()) && steps.len() < 50);
    assert_eq!(answer(&analysis).status, 1);
}

fn trainer(text: &str, optimizer: Optimizer, steps: u64, period: u64) -> Trainer {
    let analysis = built(text);
    let model = Model::own(&analysis.lowered.graph, analysis.lowered.loss.expect("a loss"));
    let plan = Plan { optimizer, steps, period, clip: None };
    Trainer::new(model, plan, analysis.lowered.rules, Budget::default())
}

/// Stopped, saved in the middle of a step, and gone on with elsewhere: the same bits as a run in one go.
#[test]
fn a_saved_run_goes_on_bit_for_bit() {
    let text = router(8, "");
    let adam = Optimizer::AdamW { lr: 0.01, beta1: 0.9, beta2: 0.999, eps: 1e-8, wd: 0.01 };
    let momentum = Optimizer::Sgd { lr: 0.01, momentum: 0.9, wd: 0.0 };
    for optimizer in [adam, momentum] {
        let mut whole = trainer(&text, optimizer, 20, 3);
        while whole.step() {}
        let mut first = trainer(&text, optimizer, 20, 3);
        for _ in 0..25 {
            assert_ne!(first.advance(), Moved::Nothing);
        }
        first.cancel();
        assert_eq!((first.state().name(), first.advance()), ("cancelled", Moved::Nothing));
        let (status, saved) = (first.status(), first.save());
        assert_eq!((status.step, status.steps, status.micro), (8, 20, 1));
        let mut second = trainer(&text, optimizer, 20, 3);
        assert!(second.resume(&saved));
        while second.step() {}
        first.go_on();
        while first.step() {}
        for other in [&first, &second] {
            assert_eq!(*other.state(), State::Done);
            assert!(other.leaves().zip(whole.leaves()).all(|(a, b)| a.1.now == b.1.now));
        }
        let mut stranger = trainer("param v = 1\nloss = v * 1\n", optimizer, 1, 1);
        assert!(!stranger.resume(&saved));
        assert_eq!(stranger.state().name(), "idle");
    }
}

/// Training never disturbs another evaluation of the same graph.
#[test]
fn others_see_their_own_values() {
    let analysis = built(&router(8, "train adamw lr=0.1 steps=100"));
    let graph = &analysis.trace.graph;
    let mut mine = Values::<f32>::new();
    mine.eval(graph, 0..graph.len());
    let read =
        |v: &Values<f32>| graph.nodes().map(|(id, _)| v.read_f64(graph, id)).collect::<Vec<_>>();
    let before = (graph.len(), read(&mine), read(&analysis.values));
    let mut training = analysis.training().expect("a train line");
    while training.advance() {
        mine.eval(graph, 0..graph.len());
    }
    assert_eq!(before, (graph.len(), read(&mine), read(&analysis.values)));
}

/// `origin.md`: DIV without its fold is refused at exactly that node, and the same trainer type trains the next.
#[test]
fn the_mutant_that_began_it_is_refused_at_its_node() {
    let analysis = built(&router(2, ""));
    let mutation = Mutation { op: foldback_tests::op("div"), src: 1, flaw: Flaw::Unfolded };
    let request = Request {
        loss: analysis.lowered.loss,
        rules: RuleSet::Ggml,
        mutation: Some(mutation),
        ..Request::default()
    };
    let trace = build_backward(&analysis.lowered.graph, &request);
    let refusal = trace.refusal().expect("a refusal");
    assert_eq!(refusal.at().and_then(|id| trace.graph.node(id).name.clone()).as_deref(), Some("y"));
    assert_eq!(refusal.src(), Some(1));
}

/// Buffers of a run, by capacity, after the third step and after ten thousand.
#[test]
fn memory_is_flat_over_ten_thousand_steps() {
    for optimizer in [Optimizer::default(), Optimizer::Sgd { lr: 1e-4, momentum: 0.9, wd: 0.0 }] {
        let mut run = trainer(&router(8, ""), optimizer, 10_000, 1);
        let mut held = 0;
        while run.step() {
            if run.status().step == 3 {
                held = run.n_held();
            }
        }
        assert_eq!((run.state(), run.n_held()), (&State::Done, held));
    }
}

#[test]
fn settings_out_of_range_are_an_error_that_says_so() {
    let mut run = trainer(
        "param w = 1\nloss = w * 1\n",
        Optimizer::Sgd { lr: -1.0, momentum: 0.0, wd: 0.0 },
        3,
        1,
    );
    assert!(!run.step());
    let State::Error(failure) = run.state() else { unreachable!("{:?}", run.state()) };
    assert_eq!(failure.trouble, Trouble::Setting("lr must be a number above 0"));
    assert!(run.leaves().all(|(_, p)| p.now == [1.0]));
}

/// The mixture-of-experts examples train as they stand, with one and with eight experts in use.
#[test]
fn the_blocks_of_experts_train() {
    for file in ["moe-1", "moe-8"] {
        let path = format!("{}/../www/examples/{file}.fold", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("an example");
        let text: Vec<&str> = text.lines().filter(|l| !l.starts_with("train")).collect();
        let analysis = built(&format!("{}\ntrain sgd lr=0.01 steps=50\n", text.join("\n")));
        let (report, _) = run(&analysis);
        assert_eq!((report.state.as_str(), report.done), ("done", 50), "{file}: {}", report.reason);
        let (first, last) = (report.losses[0], report.losses[50]);
        println!("{file}: {first} to {last}");
        assert!(last < first, "{file}: {first} to {last}");
    }
}
