//! Prints what each workload takes natively, on one thread, and which share of what the machine can do that is.
//! `--quick` measures less; words name workloads.
//! Deliberately absent: a verdict. Figures depend on the machine, so nothing here can fail.
#![expect(clippy::print_stdout, reason = "a command line speaks there")]

use foldback_benches::chain::Chain;
use foldback_benches::clock::time;
use foldback_benches::machine;
use foldback_benches::work::{Case, IDS, Work, case};

/// How long a sample runs at least, in milliseconds.
const LEAST: f64 = 8.0;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let wanted: Vec<&str> =
        args.iter().map(String::as_str).filter(|a| !a.starts_with("--")).collect();
    let samples = if args.iter().any(|a| a == "--quick") { 5 } else { 21 };
    let asked = |id: &str| wanted.is_empty() || wanted.iter().any(|w| id.starts_with(w));
    let peak = machine::peak(samples);
    println!(
        "mul+add peak {:.1} Gflop/s; copies are as long as what a step must touch",
        peak / 1e6
    );
    println!("{:24} {:>11} {:>11}  share of the machine", "workload", "forward ms", "step ms");
    for id in IDS.iter().copied().filter(|id| asked(id)) {
        let Some(case) = case(id) else { continue };
        match Work::new(&case) {
            Ok(work) => println!("{}", measured(samples, peak, &case, work)),
            Err(why) => println!("{id:24} {why}"),
        }
    }
    for n in [1_000, 10_000] {
        let id = format!("W4/n={n}");
        if let Some(chain) = Chain::new(n).filter(|_| asked(&id)) {
            println!("{}", chained(samples, &id, n, chain));
        }
    }
}

/// A line on a workload that is a document.
fn measured(samples: usize, peak: f64, case: &Case, mut work: Work) -> String {
    let fwd = time(samples, LEAST, || work.forward());
    let step = time(samples, LEAST, || work.step());
    let share = if case.flops > 0.0 {
        let (rate, share) = (case.flops / step / 1e6, case.flops / step / peak);
        format!("{rate:6.1} Gflop/s, {:3.0} % of the peak", share * 100.0)
    } else {
        let bytes = work.touched();
        let copy = machine::copied(samples, bytes);
        let (rate, share) = (bytes as f64 / step / 1e6, bytes as f64 / step / copy);
        format!("{rate:6.1} GB/s, {:3.0} % of a copy's {:.1}", share * 100.0, copy / 1e6)
    };
    format!("{:24} {fwd:11.4} {step:11.4}  {share}", case.id)
}

/// A line on the chain of small nodes, which neither memory nor arithmetic bounds.
fn chained(samples: usize, id: &str, n: usize, mut chain: Chain) -> String {
    let build = time(samples, LEAST, || chain.build().map_or(0, |(graph, ..)| graph.len()));
    let fwd = time(samples, LEAST, || chain.forward().unwrap_or(f32::NAN));
    let step = time(samples, LEAST, || chain.step().unwrap_or(f32::NAN));
    let both = time(samples, LEAST, || chain.differentiate().unwrap_or(0));
    let rate = n as f64 / step / 1e3;
    format!(
        "{id:24} {fwd:11.4} {step:11.4}  {rate:6.2} million nodes a second; building {build:.4}, with gradients {both:.4} ms"
    )
}
