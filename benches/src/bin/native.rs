//! Prints what each workload takes natively, on one thread. `--quick` measures less; words name workloads.
//! Deliberately absent: a verdict. Figures depend on the machine, so nothing here can fail.
#![expect(clippy::print_stdout, reason = "a command line speaks there")]
#![expect(clippy::disallowed_methods, reason = "this program measures; the engine does not")]

use std::hint::black_box;
use std::time::Instant;

use foldback_benches::chain::Chain;
use foldback_benches::work::{IDS, Work, case};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let wanted: Vec<&str> =
        args.iter().map(String::as_str).filter(|a| !a.starts_with("--")).collect();
    let rounds = if args.iter().any(|a| a == "--quick") { 5 } else { 21 };
    let asked = |id: &str| wanted.is_empty() || wanted.iter().any(|w| id.starts_with(w));
    println!("{:24} {:>11} {:>11}", "workload", "forward ms", "step ms");
    for id in IDS.iter().copied().filter(|id| asked(id)) {
        let Some(case) = case(id) else { continue };
        let mut work = match Work::new(&case.text) {
            Ok(work) => work,
            Err(why) => {
                println!("{id:24} {why}");
                continue;
            }
        };
        for (name, values) in &case.inputs {
            work.set(name, values);
        }
        let fwd = median(rounds, || work.forward());
        let step = median(rounds, || work.step());
        let mut line = format!("{id:24} {fwd:11.4} {step:11.4}");
        if case.flops > 0.0 {
            line += &format!("  {:6.1} Gflop/s", case.flops / step / 1e6);
        }
        if case.bytes > 0.0 {
            line += &format!("  {:6.1} GB/s", case.bytes / step / 1e6);
        }
        println!("{line}");
    }
    for n in [1_000, 10_000] {
        let id = format!("W4/n={n}");
        if let Some(mut chain) = Chain::new(n).filter(|_| asked(&id)) {
            let build = median(rounds, || chain.build().map_or(0, |(graph, ..)| graph.len()));
            let fwd = median(rounds, || chain.forward().unwrap_or(f32::NAN));
            let step = median(rounds, || chain.step().unwrap_or(f32::NAN));
            let both = median(rounds, || chain.differentiate().unwrap_or(0));
            println!(
                "{id:24} {fwd:11.4} {step:11.4}  building {build:.4}, with gradients {both:.4} ms"
            );
        }
    }
}

/// The median time of a call in milliseconds, from samples of at least some milliseconds each; of few samples the least.
fn median<T>(rounds: usize, mut f: impl FnMut() -> T) -> f64 {
    let mut run = |n: u32| {
        let start = Instant::now();
        for _ in 0..n {
            black_box(f());
        }
        start.elapsed().as_secs_f64() * 1e3 / f64::from(n)
    };
    run(1);
    let calls = (8.0 / run(1).max(1e-4)).ceil() as u32;
    let mut samples: Vec<f64> = (0..rounds).map(|_| run(calls)).collect();
    samples.sort_by(f64::total_cmp);
    samples.get(if rounds > 5 { rounds / 2 } else { 0 }).copied().unwrap_or(f64::NAN)
}
