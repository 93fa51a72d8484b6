//! Draws graphs into HTML files, to look at: `cargo run -p foldback-web --example draw -- OUT_DIR`.
//! Every file is one text at one step, in one orientation and theme. Deliberately absent: judgement.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

use foldback::construct::Budget;
use foldback::report::{Report, TickGlyph, analyse};
use foldback_web::model::layout::Orientation;
use foldback_web::model::picture::draw;
use foldback_web::model::stage::state;
use foldback_web::model::svg::whole;

const ROUTER: &str = "# Why does this refuse to train?
rules RULES
param w [2 token, 3 expert] = [[0.2, 0.3, 0.5], [1e-5, 2e-5, 1e-5]]
s = sum_rows(w)
c = clamp(s, min=6.103515625e-5)
y = w / c
const g [2 token, 3 expert] = [[1, 0, 0], [1, 0, 0]]
loss = sum(y * g)
check fd
";

const WIDE_ROUTER: &str = "rules numpy
param w [2 token, 8 expert] = rand(seed=1, lo=0.1, hi=1)
s = sum_rows(w)
c = clamp(s, min=6.103515625e-5)
y = w / c
const g [2, 8] = randn(seed=2)
loss = sum(y * g)
";

const MLP: &str = "rules numpy
const x [4 row, 3] = randn(seed=1)
param w1 [3, 5 hidden] = randn(seed=2)
param b1 [5 hidden] = randn(seed=3)
param w2 [5 hidden, 2] = randn(seed=4)
param b2 [2] = randn(seed=5)
h = relu(x @ w1 + b1)
z = h @ w2 + b2
const t [4, 2] = randn(seed=6)
loss = mean((z - t) ^ 2)
";

const ATTENTION: &str = "rules numpy
const x [4 token, 6] = randn(seed=1)
param wq [6, 3] = randn(seed=2)
param wk [6, 3] = randn(seed=3)
param wv [6, 3] = randn(seed=4)
q = x @ wq
k = x @ wk
v = x @ wv
a = softmax(q @ k.T * 0.577, axis=-1)
o = a @ v
const t [4, 3] = randn(seed=5)
loss = sum((o - t) * (o - t))
";

const SMALL: &str = "rules numpy
param x [3] = [1, -2, 3]
y = x * x + x
loss = sum(y)
";

const REPAIRED: &str = "rules upstream
param w [2 token, 3 expert] = [[0.2, 0.3, 0.5], [1e-5, 2e-5, 1e-5]]
s = sum_rows(w)
c = clamp(s, min=6.103515625e-5)
y = w / repeat(c, w)
const g [2 token, 3 expert] = [[1, 0, 0], [1, 0, 0]]
loss = sum(y * g)
";

/// A text with `n` nodes that read earlier ones, from a seed.
fn random(n: u64, seed: u64) -> String {
    let mut out = "rules numpy\nparam p0 [2, 3] = randn(seed=1)\nparam p1 [2, 1] = randn(seed=2)\n"
        .to_owned();
    let mut s = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = |below: u64| {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        s % below
    };
    let name = |i: u64| if i < 2 { format!("p{i}") } else { format!("n{i}") };
    for i in 2..n {
        let a = name(i - 1 - next(i.min(4)));
        let b = name(next(i));
        let rhs = match next(6) {
            0 => format!("relu({a})"),
            1 => format!("{a} * {b}"),
            2 => format!("{a} - {b}"),
            3 => format!("exp({a} * 0.1)"),
            _ => format!("{a} + {b}"),
        };
        let _ = writeln!(out, "n{i} = {rhs}");
    }
    let _ = writeln!(out, "loss = sum(n{} * n{})", n - 1, n / 2);
    out
}

fn chain(n: usize) -> String {
    let mut out = "param a0 [2] = [1, 2]\n".to_owned();
    for i in 1..=n {
        let _ = writeln!(out, "a{i} = a{} + a{}", i - 1, i - 1);
    }
    let _ = writeln!(out, "loss = sum(a{n})");
    out
}

fn page(
    dir: &Path,
    name: &str,
    report: &Report,
    tick: usize,
    selected: Option<usize>,
) -> io::Result<()> {
    let root = env!("CARGO_MANIFEST_DIR");
    let css = fs::read_to_string(Path::new(root).join("../www/graph.css"))?;
    let tokens = fs::read_to_string(Path::new(root).join("../www/tokens.css"))?;
    for (orientation, suffix) in [(Orientation::Wide, "wide"), (Orientation::Tall, "tall")] {
        let picture = draw(report, orientation);
        let state = state(&picture, report, tick, selected);
        let svg = whole(&picture, &state, name, &[]);
        for theme in ["light", "dark"] {
            let html = format!(
                "<!doctype html><html data-theme=\"{theme}\"><meta charset=\"utf-8\"><style>{tokens}{css}body{{margin:0;background:var(--canvas)}}svg{{display:block}}</style><body>{svg}</body></html>"
            );
            fs::write(dir.join(format!("{name}-{suffix}-{theme}.html")), html)?;
        }
        fs::write(
            dir.join(format!("{name}-{suffix}.size")),
            format!("{},{}", picture.width.ceil(), picture.height.ceil()),
        )?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let dir = env::args().nth(1).unwrap_or_else(|| "shots".to_owned());
    let dir = Path::new(&dir);
    fs::create_dir_all(dir)?;
    let budget = Budget::default();
    let run = |text: &str| analyse(text, &budget).report;
    let upstream = run(&ROUTER.replace("RULES", "upstream"));
    page(dir, "refused", &upstream, upstream.ticks.len(), None)?;
    page(dir, "refused-before", &upstream, upstream.ticks.len().saturating_sub(2), None)?;
    page(dir, "empty", &upstream, 0, None)?;
    let numpy = run(&ROUTER.replace("RULES", "numpy"));
    let ggml = run(&ROUTER.replace("RULES", "ggml"));
    for (name, report) in [("numpy", &numpy), ("ggml", &ggml), ("eight", &run(WIDE_ROUTER))] {
        let fold =
            report.ticks.iter().position(|t| t.kind == TickGlyph::Fold).map_or(0, |at| at + 1);
        page(dir, &format!("{name}-fold"), report, fold, None)?;
        page(dir, &format!("{name}-end"), report, report.ticks.len(), Some(3))?;
    }
    let shape = numpy.ticks.iter().position(|t| t.kind == TickGlyph::Value).map_or(0, |at| at + 2);
    page(dir, "numpy-value", &numpy, shape, None)?;
    for (name, text) in [
        ("mlp", MLP.to_owned()),
        ("attention", ATTENTION.to_owned()),
        ("small", SMALL.to_owned()),
        ("repaired", REPAIRED.to_owned()),
        ("random30", random(30, 7)),
        ("chain", chain(100)),
        ("chain5", chain(5)),
    ] {
        let report = run(&text);
        let middle =
            report.ticks.iter().rposition(|t| t.kind == TickGlyph::Emit).map_or(0, |at| at + 1);
        page(dir, name, &report, report.ticks.len(), None)?;
        page(dir, &format!("{name}-step"), &report, middle, None)?;
    }
    Ok(())
}
