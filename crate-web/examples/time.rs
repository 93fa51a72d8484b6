//! How long a picture takes: `cargo run --release -p foldback-web --example time`.
//! Prints the best of several runs. Deliberately absent: a limit. Machines differ.

use std::fmt::Write as _;
use std::io::{self, Write};

use foldback::construct::Budget;
use foldback::report::analyse;
use foldback_web::model::layout::Orientation;
use foldback_web::model::picture::draw;
use foldback_web::model::stage::state;

fn random(n: u64) -> String {
    let mut out =
        "rules numpy\nparam n0 [2, 3] = rand(seed=1)\nparam n1 [2, 1] = rand(seed=2)\n".to_owned();
    let mut s = 88_172_645_463_325_252_u64;
    let mut next = |below: u64| {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        s % below
    };
    for i in 2..n {
        let a = i - 1 - next(i.min(4));
        let b = if next(3) == 0 { next(i) } else { i - 1 - next(i.min(20)) };
        let _ = match next(4) {
            0 => writeln!(out, "n{i} = relu(n{a})"),
            1 => writeln!(out, "n{i} = n{a} - n{b}"),
            2 => writeln!(out, "n{i} = n{a} * n{b}"),
            _ => writeln!(out, "n{i} = n{a} + n{b}"),
        };
    }
    let _ = writeln!(out, "loss = sum(n{})", n - 1);
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

#[expect(clippy::disallowed_methods, reason = "a bench reads the clock; the crate does not")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

fn main() -> io::Result<()> {
    let mut out = io::stdout();
    let texts = [
        ("chain of 100".to_owned(), chain(100)),
        ("100 nodes".to_owned(), random(100)),
        ("500 nodes".to_owned(), random(500)),
        ("2000 nodes".to_owned(), random(2000)),
    ];
    for (name, text) in texts {
        let report = analyse(&text, &Budget::default()).report;
        for orientation in [Orientation::Wide, Orientation::Tall] {
            let mut best = (f64::INFINITY, f64::INFINITY, 0);
            for _ in 0..5 {
                let start = now();
                let picture = draw(&report, orientation);
                let drawn = start.elapsed().as_secs_f64() * 1e3;
                let start = now();
                let stage = state(&picture, &report, report.ticks.len() / 2, None);
                let stepped = start.elapsed().as_secs_f64() * 1e3;
                best = (best.0.min(drawn), best.1.min(stepped), stage.boxes.len());
            }
            writeln!(
                out,
                "{name:14} {orientation:?}: drawn in {:.1} ms, stepped in {:.2} ms, {} boxes",
                best.0, best.1, best.2
            )?;
        }
    }
    Ok(())
}
