//! Feeds a target with inputs that nobody wrote: `cargo run --release -p foldback-tests --bin fuzz -- TARGET
//! [--minutes N] [--seed N] [FILE...]`. With files it runs those alone.
//!
//! `--profile fuzz` in place of `--release` catches sums that overflow as well. What panics, takes two seconds or
//! half a gigabyte is written to `target/found`, and the input at work stands there too, for what ends the process.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a command line speaks, has a clock, and catches what it looks for"
)]

use std::collections::BTreeMap;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use foldback_tests::fuzz::{Pool, TARGETS, Target};
use foldback_tests::golden::root;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const SLOW: Duration = Duration::from_secs(2);
const LARGE: usize = 512 << 20;

/// Where the last panic was, and what it said.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// What a target has shown so far.
#[derive(Default)]
struct Seen {
    n: u64,
    findings: BTreeMap<String, PathBuf>,
    slowest: (Duration, Vec<u8>),
    largest: (usize, Vec<u8>),
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, otherwise: f64| {
        let at = args.iter().position(|a| a == name);
        at.and_then(|at| args.get(at + 1)?.parse().ok()).unwrap_or(otherwise)
    };
    let Some(target) = args.first().and_then(|name| Target::named(name)) else {
        let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
        println!("fuzz TARGET [--minutes N] [--seed N] [FILE...]; targets: {}", names.join(", "));
        return ExitCode::from(2);
    };
    panic::set_hook(Box::new(|info| *PANIC.lock().unwrap() = info.to_string()));
    let folder = root().join("target/found");
    fs::create_dir_all(&folder).unwrap();
    let mut seen = Seen::default();
    let files: Vec<&String> = args.iter().skip(1).filter(|a| PathBuf::from(a).is_file()).collect();
    let mut pool = Pool::new(number("--seed", 1.0) as u64);
    if files.is_empty() {
        for input in target.corpus() {
            try_one(target, &input, &folder, &mut pool, &mut seen);
        }
        let end = Instant::now() + Duration::from_secs_f64(60.0 * number("--minutes", 1.0));
        while Instant::now() < end {
            let input = pool.next(target);
            try_one(target, &input, &folder, &mut pool, &mut seen);
        }
    }
    for file in files {
        try_one(target, &fs::read(file).unwrap(), &folder, &mut pool, &mut seen);
    }
    let (time, bytes) = (seen.slowest.0.as_millis(), seen.largest.0 >> 10);
    println!(
        "{}: {} inputs, {} things reached by {}, slowest {time} ms, largest {bytes} KiB, {} findings",
        target.name,
        seen.n,
        pool.reached.len(),
        pool.inputs.len(),
        seen.findings.len()
    );
    for (name, input) in [("slowest", &seen.slowest.1), ("largest", &seen.largest.1)] {
        fs::write(folder.join(format!("{}.{name}.{}", target.name, target.ending)), input).unwrap();
    }
    for (what, path) in &seen.findings {
        println!("{}\n    {}", path.display(), what.replace('\n', "\n    "));
    }
    ExitCode::from(u8::from(!seen.findings.is_empty()))
}

fn try_one(
    target: &Target,
    input: &[u8],
    folder: &std::path::Path,
    pool: &mut Pool,
    seen: &mut Seen,
) {
    fs::write(folder.join(format!("{}.current.{}", target.name, target.ending)), input).unwrap();
    seen.n += 1;
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let begun = Instant::now();
    let ran = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let (time, memory) = (begun.elapsed(), MEMORY.peak_usage().saturating_sub(before));
    if time > seen.slowest.0 {
        seen.slowest = (time, input.to_vec());
    }
    if memory > seen.largest.0 {
        seen.largest = (memory, input.to_vec());
    }
    let wrong = match &ran {
        // One finding a place: the first line of what is said.
        Err(_) => Some(PANIC.lock().unwrap().lines().take(3).collect::<Vec<&str>>().join("\n")),
        Ok(_) if time > SLOW => Some(format!("it took {} ms", time.as_millis() / 1000 * 1000)),
        Ok(_) if memory > LARGE => Some("it took more than half a gigabyte".to_owned()),
        Ok(_) => None,
    };
    if let Some(what) = wrong {
        let place = what.lines().next().unwrap_or_default().to_owned();
        if !seen.findings.keys().any(|k| k.starts_with(&place)) {
            let path =
                folder.join(format!("{}.{}.{}", target.name, seen.findings.len(), target.ending));
            fs::write(&path, input).unwrap();
            println!("{what}: {}", path.display());
            seen.findings.insert(what, path);
        }
    }
    if let Ok(reached) = ran {
        pool.note(input, reached);
    }
}
