//! Values that are not finite: which begin by accident, which an op is asked for, and what becomes of `0 · ∞` on the
//! way back. Right answers are closed forms.

use foldback::rules::RuleSet;
use foldback_tests::grad::{Of, gradients};
use foldback_tests::{analyse, places, under};

/// A program that is fine everywhere but at its point, and what the slope is there; infinite or NaN where there is none.
struct At {
    program: &'static str,
    right: &'static [(&'static str, &'static [f64])],
}

const NONE: f64 = f64::NAN;

/// `0 · ∞` is decided by what the product tends to, not by which factor is a zero.
const POINTS: &[At] = &[
    // The root's slope is infinite and what arrives is 0, but the branch is taken: together they are x.
    At { program: "param x [2] = [0, 4]\nloss = sum(sqr(sqrt(x)))", right: &[("x", &[1.0, 1.0])] },
    At {
        program: "param x [2] = [0, 4]\nloss = sum(sqrt(x) * sqrt(x))",
        right: &[("x", &[1.0, 1.0])],
    },
    At {
        program: "param x [2] = [0, 1]\np = softmax(log(x))\nconst w [2] = [3, 5]\nloss = sum(p * w)",
        right: &[("x", &[-2.0, 0.0])],
    },
    At { program: "param x [1] = [0]\nloss = sum(exp(log(x) * 2))", right: &[("x", &[0.0])] },
    At { program: "param x [1] = [0]\nloss = sum(sqr(x) / x)", right: &[("x", &[NONE])] },
    // x^(3/4): the slope grows without bound.
    At {
        program: "param x [1] = [0]\nloss = sum(sqrt(x) * sqrt(sqrt(x)))",
        right: &[("x", &[NONE])],
    },
    At { program: "param x [2] = [0, 1]\nloss = sum(x * log(x))", right: &[("x", &[NONE, 1.0])] },
    At { program: "param x [2] = [0, 4]\nloss = sum(sqrt(x))", right: &[("x", &[NONE, 0.25])] },
    At {
        program: "param x [1] = [0]\nconst c [1] = inf\nloss = sum(x * c)",
        right: &[("x", &[NONE])],
    },
    // A weight of 0 makes it constant, whether it trains or not.
    At {
        program: "param x [2] = [0, 4]\nparam w [2] = [0, 3]\nloss = sum(w * sqrt(x))",
        right: &[("x", &[0.0, 0.75]), ("w", &[0.0, 2.0])],
    },
    At {
        program: "param x [2] = [0, 4]\nconst w [2] = [0, 3]\nloss = sum(w * sqrt(x))",
        right: &[("x", &[0.0, 0.75])],
    },
    // Branches not taken.
    At {
        program: "param x [2] = [0, 2]\nloss = sum(where(x > 1, log(x), 7 * x))",
        right: &[("x", &[7.0, 0.5])],
    },
    At {
        program: "param x [2] = [3, 7]\nloss = sum(where(x > 5, log(x - 5), x))",
        right: &[("x", &[1.0, 0.5])],
    },
    At {
        program: "param x [2] = [3, 7]\nloss = sum(where(x > 5, sqrt(x - 5) * 1e30 * 1e30, x))",
        right: &[("x", &[1.0, 3.535_533_905_932_737_6e59])],
    },
    At {
        program: "param x [2] = [0, 2]\nloss = sum(clamp(log(x), min=-3))",
        right: &[("x", &[0.0, 0.5])],
    },
    At { program: "param x [2] = [0, 2]\nloss = sum(relu(log(x)))", right: &[("x", &[0.0, 0.5])] },
    At {
        program: "param x [2] = [0, 2]\nloss = sum(maximum(log(x), stop_gradient(x * 0 - 3)))",
        right: &[("x", &[0.0, 0.5])],
    },
    At {
        program: "param x [2] = [-1, 4]\nloss = sum(sqrt(relu(x)))",
        right: &[("x", &[0.0, 0.25])],
    },
    At {
        program: "param x [2] = [0, 2]\nparam b [2] = [2, 3]\nloss = sum(x ^ b)",
        right: &[("x", &[0.0, 12.0]), ("b", &[0.0, 5.545_177_444_479_562])],
    },
    At {
        program: "param x [1,3] = [[0, 2, 3]]\nconst m [1,3] = [[-inf, 0, 0]]\nconst w [1,3] = [[9, 2, 4]]\nloss = sum(softmax(log(x), mask=m) * w)",
        right: &[("x", &[0.0, -0.24, 0.16])],
    },
    At {
        program: "param x [2,2] = [[0, 0], [0, 0]]\nconst m [2,2] = [[-inf, -inf], [0, 0]]\nconst w [2,2] = [[1, 2], [4, 8]]\nloss = sum(softmax(x, mask=m) * w)",
        right: &[("x", &[0.0, 0.0, -1.0, 1.0])],
    },
    // The norm, squared: smooth, and 0 at the origin.
    At {
        program: "param x [2] = [0, 0]\nloss = sqr(sqrt(sum(sqr(x))))",
        right: &[("x", &[0.0, 0.0])],
    },
    // The norm itself has a kink there; 0 lies between its slopes.
    At { program: "param x [2] = [0, 0]\nloss = sqrt(sum(sqr(x)))", right: &[("x", &[0.0, 0.0])] },
];

fn fits(got: f64, want: f64, within: f64) -> bool {
    if want.is_nan() {
        !got.is_finite()
    } else {
        (got - want).abs() <= within * want.abs().max(1.0)
    }
}

fn says(of: &[Of], right: &[(&str, &[f64])], within: f64) -> bool {
    right.iter().all(|(leaf, want)| {
        let got = of.iter().find(|of| of.leaf == *leaf).map(|of| of.values.as_slice());
        got.is_some_and(|got| {
            got.len() == want.len() && got.iter().zip(*want).all(|(g, w)| fits(*g, *w, within))
        })
    })
}

#[test]
fn zero_times_infinity_is_what_it_tends_to() {
    let mut wrong = Vec::new();
    for rules in [RuleSet::Ggml, RuleSet::Numpy] {
        for at in POINTS {
            let analysis = analyse(&under(rules, at.program));
            let (double, single) = (gradients::<f64>(&analysis), gradients::<f32>(&analysis));
            if !says(&double, at.right, 1e-7)
                || !at.program.contains("1e30") && !says(&single, at.right, 1e-5)
            {
                wrong.push(format!("{}: {double:?}, {single:?}", under(rules, at.program)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Programs, and the nodes at which something that is not finite begins.
const BEGINS: &[(&str, &[&str])] = &[
    ("param x [3,3] = rand(seed=1)\nm = diag_mask_inf(x)\ny = softmax(m)", &[]),
    (
        "param x [3,3] = rand(seed=1)\nm = diag_mask_inf!(scale(x, 2), n_past=1)\ny = softmax(m)",
        &[],
    ),
    ("param x [3] = rand(seed=1)\nf = fill(x, -inf)\ny = where(x > 0.5, x, f)", &[]),
    ("param x [3] = rand(seed=1)\ny = softmax(pad(x, 1, 2, value=-inf))", &[]),
    ("param x [3] = rand(seed=1)\nb = scale(x, 0, bias=-inf)\ny = softmax(b)", &[]),
    ("param x [1,3,3] = rand(seed=1)\ny = max_pool_2d(x, kernel=2, padding=1, stride=1)", &[]),
    // By accident.
    ("param x [3] = [0, 1, 2]\nl = log(x)\ny = softmax(l)", &["l"]),
    ("param x [2,2] = [[1, -inf], [2, 3]]\nm = diag_mask_inf(x)\ny = softmax(m)", &["x"]),
    (
        "param x [2,2] = [[1, 0], [2, 0]]\nl = 1 / x\nm = diag_mask_inf(l)\ny = softmax(m)",
        &["l", "y"],
    ),
    ("param x [3] = rand(seed=1)\nf = fill(x, -inf)\nn = f - f\ny = x + n", &["n"]),
    ("param x [3] = [1, 2, 3]\ne = exp(x * 100)\ny = where(x > 2, x, e)", &["e"]),
    ("param x [3] = [1, 2, 1e30]\ns = scale(x, 1e30)\ny = where(x > 2, x, s)", &["s"]),
];

#[test]
fn an_infinity_that_was_asked_for_is_no_accident() {
    let mut wrong = Vec::new();
    for (program, nodes) in BEGINS {
        for rules in [RuleSet::Ggml, RuleSet::Numpy] {
            let text = format!("{}\nloss = sum(y)\n", under(rules, program));
            let forward: Vec<String> = analyse(&text)
                .report
                .findings
                .iter()
                .filter(|f| f.code == "not-finite" && !f.name.starts_with('d'))
                .map(|f| f.name.clone())
                .collect();
            if forward != *nodes {
                wrong.push(format!("{:?} of\n{text}", places(&analyse(&text))));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Copies of a large graph would not fit beside it: a branch not taken is still told, and a limit is said to be unknown.
#[test]
fn a_large_graph_says_what_it_does_not_know() {
    let at_zero = |loss: &str| {
        let text = under(RuleSet::Ggml, &format!("param x [300000] = zeros\nloss = {loss}"));
        let of = gradients::<f32>(&analyse(&text));
        of.first().map(|of| of.values.clone()).unwrap_or_default()
    };
    let branch = at_zero("sum(where(x > 1, log(x), 7 * x))");
    assert!(branch.len() == 300_000 && branch.iter().all(|x| fits(*x, 7.0, 0.0)));
    let limit = at_zero("sum(sqr(sqrt(x)))");
    assert!(limit.len() == 300_000 && limit.iter().all(|x| x.is_nan()));
}
