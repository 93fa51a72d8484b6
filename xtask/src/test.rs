//! `cargo xtask test`: everything that CI runs, cheapest first, with one count at the end.

use crate::browser::{node, scripts};
use crate::build::{PAGE, Profile, build};
use crate::command::{answer, run, run_and_read};
use crate::server::{self, Live};
use crate::site::{BUDGET, CEILING_WITH_WORDS, Site};
use crate::toolchain;
use anyhow::{Result, bail};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Tests of one phase, or of all; a phase that runs no tests of its own counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    passed: usize,
    failed: usize,
}

const PASSED: Count = Count { passed: 1, failed: 0 };
const FAILED: Count = Count { passed: 0, failed: 1 };

/// What every change should pass before it is committed.
pub(crate) fn quick() -> ExitCode {
    let mut total = Count::default();
    quick_phases(&mut total);
    close(total)
}

/// The page alone: build it and run the browser tests.
pub(crate) fn browser(profile: Profile) -> ExitCode {
    let mut total = Count::default();
    browser_phases(&mut total, profile);
    close(total)
}

pub(crate) fn everything() -> ExitCode {
    let mut total = Count::default();
    quick_phases(&mut total);
    phase(&mut total, "doc tests", doc_tests);
    phase(&mut total, "documentation without warnings", || {
        run(cargo("doc").env("RUSTDOCFLAGS", "-D warnings").args([
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ]))
        .map(|()| PASSED)
    });
    phase(&mut total, "lints of the page for WebAssembly", || {
        // In the published profile, whose procedural macros the build needs next.
        for features in [PAGE, &[]] {
            let mut clippy = toolchain::find()?.clippy()?;
            clippy.args(["--package", "foldback-web", "--profile", "web"]).args(features);
            run(clippy.args(["--", "-D", "warnings"]))?;
        }
        Ok(PASSED)
    });
    browser_phases(&mut total, Profile::Web);
    close(total)
}

fn quick_phases(total: &mut Count) {
    phase(total, "formatting", || run(cargo("fmt").args(["--all", "--check"])).map(|()| PASSED));
    phase(total, "lints", || {
        run(cargo("clippy").args(["--workspace", "--all-targets", "--", "-D", "warnings"]))
            .map(|()| PASSED)
    });
    phase(total, "tests", native_tests);
}

fn browser_phases(total: &mut Count, profile: Profile) {
    let mut built = None;
    phase(total, "the page", || {
        built = Some(build(profile)?);
        Ok(PASSED)
    });
    let Some(site) = built else {
        println!("no page, so no browser tests");
        return;
    };
    if let Profile::Web = profile {
        phase(total, "the weight of the first load", || weigh(&site));
    }
    phase(total, "browser tests", browser_tests);
}

/// Announces a phase, runs it, says how long it took and adds to the total.
fn phase(total: &mut Count, name: &str, body: impl FnOnce() -> Result<Count>) {
    println!("\n== {name}");
    let start = Instant::now();
    let count = body().unwrap_or_else(|error| {
        println!("error: {error:#}");
        FAILED
    });
    total.passed += count.passed;
    total.failed += count.failed;
    let verdict = if count.failed == 0 { "passed" } else { "FAILED" };
    println!("== {name}: {verdict} in {:.1} s", start.elapsed().as_secs_f32());
}

/// The closing line that CI reads.
fn close(total: Count) -> ExitCode {
    println!("\n{} passed, {} failed", total.passed, total.failed);
    if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn cargo(subcommand: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.arg(subcommand);
    cargo
}

fn native_tests() -> Result<Count> {
    if answer(cargo("nextest").arg("--version")).is_some() {
        let (text, passed) =
            run_and_read(cargo("nextest").args(["run", "--workspace", "--no-fail-fast"]))?;
        return Ok(sum(&text, nextest_count, passed));
    }
    println!("no cargo-nextest here, so `cargo test`, which is slower");
    let (text, passed) =
        run_and_read(cargo("test").args(["--workspace", "--all-targets", "--no-fail-fast"]))?;
    Ok(sum(&text, libtest_count, passed))
}

fn doc_tests() -> Result<Count> {
    let (text, passed) =
        run_and_read(cargo("test").args(["--workspace", "--doc", "--no-fail-fast"]))?;
    Ok(sum(&text, libtest_count, passed))
}

fn browser_tests() -> Result<Count> {
    let server = server::start(0, Live::Never)?;
    let (text, passed) = run_and_read(
        node(&server)?
            // One browser at a time: two cores, and CI's time limits are for a quiet machine.
            .args(["--test", "--test-reporter=spec", "--test-concurrency=1"])
            .args(scripts(".spec.mjs")?),
    )?;
    let count = sum(&text, node_count, passed);
    if count == Count::default() {
        bail!("the browser tests ran no test");
    }
    Ok(count)
}

fn weigh(site: &Site) -> Result<Count> {
    let weight = site.first_load();
    println!("first load: {weight} bytes gzipped, budget {BUDGET}");
    if weight > BUDGET {
        println!("NOT MET: the first load is {} bytes over its budget", weight - BUDGET);
    }
    let most = if toolchain::find()?.shrinks() { BUDGET } else { CEILING_WITH_WORDS };
    if weight > most {
        bail!("the first load is {} bytes over what it may be, {most}", weight - most);
    }
    Ok(PASSED)
}

/// Adds up the counts in a runner's lines; a runner that failed without one has failed once.
fn sum(text: &str, line_count: fn(&str) -> Option<Count>, succeeded: bool) -> Count {
    let mut sum = Count::default();
    for count in text.lines().filter_map(line_count) {
        sum.passed += count.passed;
        sum.failed += count.failed;
    }
    if !succeeded && sum.failed == 0 {
        sum.failed = 1;
    }
    sum
}

/// `Summary [   0.012s] 5 tests run: 4 passed, 1 failed, 1 timed out, 0 skipped`
fn nextest_count(line: &str) -> Option<Count> {
    let (_, counts) = line.trim().strip_prefix("Summary [")?.split_once(" run: ")?;
    Some(Count {
        passed: before(counts, " passed"),
        failed: before(counts, " failed") + before(counts, " timed out"),
    })
}

/// `test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; …`
fn libtest_count(line: &str) -> Option<Count> {
    let counts = line.trim().strip_prefix("test result: ")?;
    Some(Count { passed: before(counts, " passed"), failed: before(counts, " failed") })
}

/// `ℹ pass 5`, `ℹ fail 1`, and `ℹ cancelled 1` for a test that ran out of time.
fn node_count(line: &str) -> Option<Count> {
    let (word, number) = line.strip_prefix("ℹ ")?.split_once(' ')?;
    let n = number.parse().ok()?;
    match word {
        "pass" => Some(Count { passed: n, failed: 0 }),
        "fail" | "cancelled" => Some(Count { passed: 0, failed: n }),
        _ => None,
    }
}

/// The number in front of a word, or zero.
fn before(text: &str, word: &str) -> usize {
    let number = text.find(word).and_then(|at| text[..at].rsplit(' ').next()?.parse().ok());
    number.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Count, libtest_count, nextest_count, node_count, sum};

    #[test]
    fn nextest_closing_line() {
        let line = "     Summary [   0.012s] 7 tests run: 4 passed (1 slow), 2 failed, 1 timed out, 3 skipped";
        assert_eq!(nextest_count(line), Some(Count { passed: 4, failed: 3 }));
    }

    #[test]
    fn libtest_closing_lines_are_summed() {
        let text = "test result: ok. 5 passed; 0 failed; 0 ignored\nnoise 9 passed\n\
                    test result: FAILED. 1 passed; 2 failed; 0 ignored\n";
        assert_eq!(sum(text, libtest_count, false), Count { passed: 6, failed: 2 });
    }

    #[test]
    fn node_closing_lines() {
        let text = "ℹ tests 4\nℹ pass 2\nℹ fail 1\nℹ cancelled 1\nℹ skipped 0\n";
        assert_eq!(sum(text, node_count, false), Count { passed: 2, failed: 2 });
    }

    #[test]
    fn a_runner_that_fails_without_a_count_has_failed() {
        assert_eq!(
            sum("error: could not compile", nextest_count, false),
            Count { passed: 0, failed: 1 }
        );
    }
}
