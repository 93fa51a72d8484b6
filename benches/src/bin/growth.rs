//! Prints what documents of 100 to 10,000 nodes take, stage by stage, and how many bytes are held at the most.
//! Words name forms of documents; `--quick` measures once, else the least of three samples counts.
//! Deliberately absent: a verdict. Figures depend on the machine, so nothing here can fail.
#![expect(clippy::print_stdout, reason = "a command line speaks there")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use foldback::autodiff::{build_backward, differentiate};
use foldback::contract;
use foldback::forward::Values;
use foldback::lang;
use foldback::report::analyse;
use foldback_benches::clock::time;
use foldback_benches::growth::{FORMS, Form, budget, read, request, whole};

/// The system's allocator, and how much it has given out.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(unsafe_code, reason = "an allocator is unsafe by its nature; this one only counts")]
// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(held, Relaxed);
        // SAFETY: the caller keeps the system's contract, which is ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let held = HELD.fetch_add(size, Relaxed) + size;
        MOST.fetch_max(held, Relaxed);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Numbers of ops.
const SIZES: [usize; 5] = [100, 300, 1_000, 3_000, 10_000];

/// How long a sample runs at least, in milliseconds.
const LEAST: f64 = 5.0;

/// What one document takes.
struct Figures {
    /// Nodes in all, gradients among them.
    nodes: usize,
    /// Milliseconds of each stage, in the order of [`STAGES`].
    stages: [f64; STAGES.len()],
    /// Milliseconds of the whole way with a trace, and of the report that a front end shows.
    whole: f64,
    /// Bytes that were held at the most.
    bytes: usize,
}

/// The way from a text to the values of its gradients; what comes after it; and gradients without a trace.
const STAGES: [&str; 6] = ["parse", "graph", "trace", "values", "report", "untraced"];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let wanted: Vec<&str> =
        args.iter().map(String::as_str).filter(|a| !a.starts_with("--")).collect();
    let samples = if args.iter().any(|a| a == "--quick") { 1 } else { 3 };
    for form in FORMS.iter().filter(|f| wanted.is_empty() || wanted.contains(&f.name)) {
        println!("\n{}: {}", form.name, form.what);
        println!(
            "{:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9} {:>10} {:>10} {:>9}",
            "ops",
            "nodes",
            "parse",
            "graph",
            "trace",
            "values",
            "all ms",
            "/1000 ops",
            "KiB",
            "bytes/node",
            "untraced",
            "report"
        );
        let all: Vec<Figures> = SIZES.iter().map(|n| measured(samples, form, *n)).collect();
        for (n, figures) in SIZES.iter().zip(&all) {
            println!("{}", row(*n, figures));
        }
        if let [.., thousand, _, most] = all.as_slice() {
            println!("{}", growth(thousand, most));
        }
    }
}

fn measured(samples: usize, form: &Form, n: usize) -> Figures {
    let text = (form.text)(n);
    let before = HELD.load(Relaxed);
    MOST.store(before, Relaxed);
    let all = whole(&text);
    let bytes = MOST.load(Relaxed) - before + text.len();
    let nodes = all.trace.graph.len();
    drop(all);
    let (parsed, lowered) = read(&text);
    let (graph, request) = (&lowered.graph, request(&lowered));
    let trace = build_backward(graph, &request);
    let refused = trace.refusal().is_some();
    let stages = [
        time(samples, LEAST, || lang::parse(&text)),
        time(samples, LEAST, || lang::lower(&parsed.ast, &text, &budget())),
        time(samples, LEAST, || {
            // Where a build stops, the rest of what stands in its way is looked for, as a report does.
            (build_backward(graph, &request), refused.then(|| contract::findings(graph, &request)))
        }),
        time(samples, LEAST, || {
            let mut values = Values::<f32>::new();
            values.eval(&trace.graph, 0..trace.graph.len());
            values
        }),
        time(samples, LEAST, || analyse(&text, &budget())),
        time(samples, LEAST, || differentiate(graph.clone(), &request)),
    ];
    Figures { nodes, stages, whole: time(samples, LEAST, || whole(&text)), bytes }
}

fn row(n: usize, figures: &Figures) -> String {
    let [parse, graph, trace, values, report, untraced] = figures.stages;
    let (whole, bytes) = (figures.whole, figures.bytes);
    let (each, held) = (whole * 1e3 / n as f64, bytes / figures.nodes.max(1));
    format!(
        "{n:6} {:8} {parse:8.3} {graph:8.3} {trace:8.3} {values:8.3} {whole:9.3} {each:9.3} {:9} {held:10} {untraced:10.3} {report:9.3}",
        figures.nodes,
        bytes / 1024
    )
}

/// How much more the longest takes per op than one of a tenth of it: 1 where growth is linear.
fn growth(thousand: &Figures, most: &Figures) -> String {
    let mut words: Vec<String> = STAGES
        .iter()
        .zip(most.stages.iter().zip(thousand.stages))
        .map(|(stage, (most, thousand))| format!("{stage} {:.2}", most / thousand / 10.0))
        .collect();
    words.push(format!("all {:.2}", most.whole / thousand.whole / 10.0));
    words.push(format!("bytes {:.2}", most.bytes as f64 / thousand.bytes as f64 / 10.0));
    format!("per op, 10,000 against 1,000: {}", words.join(", "))
}
