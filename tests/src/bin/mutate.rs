//! Removes each term, sign, reduction and contribution of the rules in turn, in a scratch copy, and looks for a test
//! that goes red: `cargo run -p foldback-tests --bin mutate -- [--only PART] [--every N] [--limit N]`.
//! Writes `tests/mutants.md`. Hours for all of it on two cores, so it is no part of CI.

#![expect(clippy::format_push_string, reason = "the texts of tests are put together plainly")]
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a command line speaks, and stops where it cannot go on"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use foldback_tests::golden::{home, root};
use foldback_tests::mutants::{Mutant, mutants};
use foldback_tests::sources::sources;

/// The tests that must notice, quickest first.
const SUITES: &[&str] = &["table", "reference", "router", "golden", "property", "broadcast"];

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str| args.iter().position(|a| a == name).and_then(|at| args.get(at + 1));
    let number = |name: &str, otherwise: usize| {
        option(name).and_then(|x| x.parse().ok()).unwrap_or(otherwise)
    };
    let only = option("--only").cloned().unwrap_or_default();
    let all: Vec<Mutant> = ["crate-core/src/autodiff", "crate-core/src/ops"]
        .into_iter()
        .flat_map(|folder| sources(folder, ".rs"))
        .filter(|s| !s.path.ends_with("/def.rs") && s.path.contains(&only))
        .flat_map(|s| mutants(&s))
        .collect();
    // Spread over the files, so that a run that is stopped has seen something of each.
    let mut order: Vec<usize> = (0..all.len()).step_by(number("--every", 1)).collect();
    order.sort_by_key(|ix| (ix * 7919) % all.len().max(1));
    let chosen: Vec<&Mutant> =
        order.iter().take(number("--limit", usize::MAX)).filter_map(|ix| all.get(*ix)).collect();
    println!("{} of {} mutants", chosen.len(), all.len());
    let n_chosen = chosen.len();
    let scratch = copy();
    assert_eq!(run(&scratch), "", "the tests are red before anything is changed");
    let mut rows = Vec::new();
    for (ix, mutant) in chosen.into_iter().enumerate() {
        let file = scratch.join(&mutant.path);
        let before = fs::read_to_string(&file).unwrap();
        fs::write(&file, &mutant.text).unwrap();
        let verdict = match run(&scratch).as_str() {
            "" => "**survives**".to_owned(),
            "compiler" => "does not compile".to_owned(),
            suite => format!("red: {suite}"),
        };
        fs::write(&file, before).unwrap();
        println!(
            "{}/{} {}:{} {}: {verdict}",
            ix + 1,
            n_chosen,
            mutant.path,
            mutant.line,
            mutant.what
        );
        rows.push((mutant, verdict));
        write(&rows, all.len());
    }
}

/// A copy of the workspace, which the mutants may spoil.
fn copy() -> PathBuf {
    let scratch = root().join("target-mutants");
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .unwrap();
    for path in String::from_utf8_lossy(&listed.stdout).lines() {
        let (from, to) = (root().join(path), scratch.join(path));
        if from.is_file() {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            let text = fs::read(&from).unwrap();
            if fs::read(&to).ok().as_ref() != Some(&text) {
                fs::write(&to, text).unwrap();
            }
        }
    }
    scratch
}

/// The first suite that is red; `compiler` where it does not come to that, and nothing where all are green.
fn run(scratch: &Path) -> String {
    let cargo = |suite: &str, more: &[&str]| {
        let mut command = Command::new("cargo");
        command
            .args(["test", "--quiet", "--package", "foldback-tests", "--test", suite])
            .args(more)
            .current_dir(scratch);
        // An engine that is compiled sooner than it runs.
        command.args(["--config", "profile.dev.debug=false"]);
        command.args(["--config", "profile.dev.package.foldback.opt-level=0"]);
        command
            .env("CARGO_TARGET_DIR", scratch.join("target"))
            .env_remove("UPDATE_EXPECT")
            .env("RUST_BACKTRACE", "0");
        command.output().unwrap().status.success()
    };
    for suite in SUITES {
        if !cargo(suite, &["--no-run"]) {
            return "compiler".to_owned();
        }
        if !cargo(suite, &[]) {
            return (*suite).to_owned();
        }
    }
    String::new()
}

fn write(rows: &[(&Mutant, String)], n_all: usize) {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, verdict) in rows {
        *count.entry(verdict).or_default() += 1;
    }
    let mut out = String::from(
        "# Mutants\n\nEach line is the engine with one thing left out or turned round, and the first test suite that noticed.\nWritten by `cargo run -p foldback-tests --bin mutate`.\n\n",
    );
    out.push_str(&format!("{} of {n_all} mutants were tried.\n\n", rows.len()));
    for (verdict, n) in &count {
        out.push_str(&format!("- {verdict}: {n}\n"));
    }
    out.push_str("\n| where | change | verdict |\n|---|---|---|\n");
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort_by_key(|(mutant, _)| (&mutant.path, mutant.line));
    for (mutant, verdict) in rows {
        let what = mutant.what.replace('|', "\\|");
        out.push_str(&format!("| {}:{} | {what} | {verdict} |\n", mutant.path, mutant.line));
    }
    fs::write(home().join("mutants.md"), out).unwrap();
}
