//! Removes each term, sign, reduction and contribution of the rules in turn, in a scratch copy, and looks for a test
//! that goes red: `cargo run -p foldback-tests --bin mutate -- [--only PART] [--every N] [--limit N]
//! [--again]`, which leaves out what the last result says was noticed. Writes `tests/mutants.md`. The engine is compiled
//! once, with all mutants in it: a quarter of an hour on two cores of its own, so it is no part of CI.

#![expect(clippy::format_push_string, reason = "the texts of tests are put together plainly")]
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a command line speaks, and stops where it cannot go on"
)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use foldback_tests::golden::{home, root};
use foldback_tests::mutants::scratch::Scratch;
use foldback_tests::mutants::{Mutant, all, equivalent, schema};
use foldback_tests::sources::Source;

/// What became of a mutant.
#[derive(Clone, PartialEq, Eq)]
enum Fate {
    Survives,
    Equivalent(&'static str),
    Red(String),
    DoesNotCompile,
}

/// The sources, their mutants, and where they are tried.
struct Work {
    sources: Vec<Source>,
    mutants: Vec<Mutant>,
    scratch: Scratch,
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str| args.iter().position(|a| a == name).and_then(|at| args.get(at + 1));
    let number = |name: &str, otherwise: usize| {
        option(name).and_then(|x| x.parse().ok()).unwrap_or(otherwise)
    };
    let (mut sources, mut mutants) = (Vec::new(), Vec::new());
    for (source, found) in all(option("--only").map_or("", String::as_str)) {
        sources.push(source);
        mutants.extend(found);
    }
    let mut fates = vec![None; mutants.len()];
    if args.iter().any(|a| a == "--again") {
        fates = earlier(&mutants, &fs::read_to_string(home().join("mutants.md")).unwrap());
    }
    // Spread over the files, so that a part of them is a part of each.
    let mut these: Vec<usize> = (0..mutants.len()).filter(|n| fates[*n].is_none()).collect();
    these = these.into_iter().step_by(number("--every", 1)).collect();
    these.sort_by_key(|ix| (ix * 7919) % mutants.len());
    these.truncate(number("--limit", usize::MAX));
    println!("{} of {} mutants", these.len(), mutants.len());
    let work = Work { sources, mutants, scratch: Scratch::new() };
    work.look(these.into_iter().collect(), &mut fates);
    write(&work.mutants, &fates);
}

/// What an earlier result says: what was noticed then is noticed still, as long as tests are only added.
fn earlier(mutants: &[Mutant], result: &str) -> Vec<Option<Fate>> {
    let mut rows: BTreeMap<(String, String), VecDeque<Fate>> = BTreeMap::new();
    for line in result.lines() {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [place, what, verdict] = cells.as_slice() else { continue };
        let path = place.trim_start_matches("| ").split(':').next().unwrap_or_default();
        let fate = match verdict.trim_end_matches(" |").split_once("red: ") {
            Some(("", suite)) => Fate::Red(suite.to_owned()),
            _ if verdict.starts_with("does not compile") => Fate::DoesNotCompile,
            _ => Fate::Survives,
        };
        rows.entry((path.to_owned(), what.replace("\\|", "|"))).or_default().push_back(fate);
    }
    let fate = |m: &Mutant| {
        let fate = rows.get_mut(&(m.path.clone(), m.what.clone()))?.pop_front()?;
        (fate != Fate::Survives).then_some(fate)
    };
    mutants.iter().map(fate).collect()
}

impl Work {
    fn look(&self, these: BTreeSet<usize>, fates: &mut [Option<Fate>]) {
        let (woven, unfit) = self.weave_all(these);
        println!("{} in one text, {} do not fit", woven.len(), unfit.len());
        for n in &unfit {
            let m = &self.mutants[*n];
            println!("alone: {}:{} {}", m.path, m.line, m.what);
            fates[*n] = Some(Fate::DoesNotCompile);
        }
        let suites = self.scratch.suites();
        println!("all green before anything is changed");
        let (next, n_done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let woven: Vec<usize> = woven.into_iter().collect();
        let found = Mutex::new(&mut *fates);
        let n_workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..n_workers {
                scope.spawn(|| {
                    while let Some(n) = woven.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let fate = self.fate(*n, &self.scratch.noticed(&suites, Some(*n)));
                        let done = n_done.fetch_add(1, Ordering::Relaxed) + 1;
                        self.say(done, woven.len(), *n, &fate);
                        found.lock().unwrap()[*n] = Some(fate);
                    }
                });
            }
        });
        let plain = self.that_compile(unfit);
        for (done, n) in plain.iter().enumerate() {
            self.put_alone(&[*n]);
            let fate = self.fate(*n, &self.scratch.noticed(&self.scratch.suites_unseen(), None));
            self.say(done + 1, plain.len(), *n, &fate);
            fates[*n] = Some(fate);
        }
    }

    fn fate(&self, n: usize, suite: &str) -> Fate {
        match (suite, equivalent::why(&self.mutants[n])) {
            ("", Some(why)) => Fate::Equivalent(why),
            ("", None) => Fate::Survives,
            (suite, _) => Fate::Red(suite.to_owned()),
        }
    }

    fn say(&self, done: usize, of: usize, n: usize, fate: &Fate) {
        let m = &self.mutants[n];
        println!("{done}/{of} {}:{} {}: {}", m.path, m.line, m.what, fate.text());
    }

    /// Puts as many mutants into the scratch copy as its compiler takes, each behind its number; and the others.
    fn weave_all(&self, mut these: BTreeSet<usize>) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let mut unfit = BTreeSet::new();
        self.scratch.write("crate-core/src/mutant.rs", schema::MODULE.as_bytes());
        let library = "crate-core/src/lib.rs";
        let text = fs::read_to_string(root().join(library)).unwrap();
        self.scratch.write(library, format!("{text}\npub mod mutant;\n").as_bytes());
        loop {
            let mut woven = BTreeMap::new();
            for source in &self.sources {
                let mine = |n: &&usize| self.mutants[**n].path == source.path;
                let mine: Vec<(usize, &Mutant)> =
                    these.iter().filter(mine).map(|n| (*n, &self.mutants[*n])).collect();
                let text = schema::weave(&source.text, &mine);
                self.scratch.write(&source.path, text.text.as_bytes());
                unfit.extend(text.left.iter().copied());
                woven.insert(source.path.as_str(), text);
            }
            these.retain(|n| !unfit.contains(n));
            let complaints = self.scratch.complaints();
            if complaints.is_empty() {
                return (these, unfit);
            }
            let before = unfit.len();
            for c in &complaints {
                let blamed = woven.get(c.path.as_str()).map(|w| w.to_blame(&c.places));
                unfit.extend(blamed.unwrap_or_default());
            }
            these.retain(|n| !unfit.contains(n));
            println!("{} complaints, {} to blame", complaints.len(), unfit.len() - before);

            assert!(unfit.len() > before, "nobody is to blame: {}", complaints[0].text);
        }
    }

    /// Writes all sources anew, with these mutants in them for good; of a file no more than one.
    fn put_alone(&self, these: &[usize]) {
        for source in &self.sources {
            let mine = these.iter().map(|n| &self.mutants[*n]).find(|m| m.path == source.path);
            let text = mine.map_or_else(|| source.text.clone(), |m| m.text(source));
            self.scratch.write(&source.path, text.as_bytes());
        }
    }

    /// Those that compile in the place of the original, tried on one of each file at a time.
    fn that_compile(&self, mut unknown: BTreeSet<usize>) -> Vec<usize> {
        let mut out = Vec::new();
        while !unknown.is_empty() {
            let mut of_file = BTreeMap::new();
            for n in &unknown {
                of_file.insert(self.mutants[*n].path.as_str(), *n);
            }
            unknown.retain(|n| !of_file.values().any(|taken| taken == n));
            loop {
                self.put_alone(&of_file.values().copied().collect::<Vec<_>>());
                let complaints = self.scratch.complaints();
                if complaints.is_empty() {
                    break;
                }
                let before = of_file.len();
                of_file.retain(|path, _| complaints.iter().all(|c| c.path != *path));
                assert!(of_file.len() < before, "an error elsewhere: {}", complaints[0].text);
            }
            out.extend(of_file.into_values());
        }
        out
    }
}

impl Fate {
    fn text(&self) -> String {
        match self {
            Self::Survives => "**survives**".to_owned(),
            Self::Equivalent(_) => "equivalent".to_owned(),
            Self::Red(suite) => format!("red: {suite}"),
            Self::DoesNotCompile => "does not compile".to_owned(),
        }
    }
}

fn write(mutants: &[Mutant], fates: &[Option<Fate>]) {
    let tried: Vec<(&Mutant, &Fate)> =
        mutants.iter().zip(fates).filter_map(|(m, fate)| Some((m, fate.as_ref()?))).collect();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for (_, fate) in &tried {
        *count.entry(fate.text()).or_default() += 1;
    }
    let mut out = String::from(
        "# Mutants\n\nEach line is the engine with one thing left out or turned round, and the first test suite that noticed.\nWritten by `cargo run -p foldback-tests --bin mutate`.\n\n",
    );
    out.push_str(&format!("{} of {} mutants were tried.\n\n", tried.len(), mutants.len()));
    for (fate, n) in &count {
        out.push_str(&format!("- {fate}: {n}\n"));
    }
    let cell = |text: &str| text.replace('|', "\\|");
    let row = |m: &Mutant, last: &str| {
        format!("| {}:{} | {} | {last} |\n", m.path, m.line, cell(&m.what))
    };
    let head = |title: &str, last: &str| {
        format!("\n## {title}\n\n| where | change | {last} |\n|---|---|---|\n")
    };
    if tried.iter().any(|(_, fate)| matches!(fate, Fate::Equivalent(_))) {
        out.push_str(&head("Equivalent: no result can change", "why"));
    }
    for (m, fate) in &tried {
        if let Fate::Equivalent(why) = fate {
            out.push_str(&row(m, &cell(why)));
        }
    }
    out.push_str(&head("The others", "verdict"));
    for (m, fate) in tried.iter().filter(|(_, fate)| !matches!(fate, Fate::Equivalent(_))) {
        out.push_str(&row(m, &fate.text()));
    }
    fs::write(home().join("mutants.md"), out).unwrap();
}
