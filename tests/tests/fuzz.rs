//! Every target of the fuzzer for a moment: what once failed, what it begins with, and what a seed makes of that.

#![expect(clippy::unwrap_used, reason = "a check that cannot be made has failed")]

use foldback_tests::fuzz::{Pool, TARGETS, Target};

fn feed(name: &str, n: usize) {
    let target = Target::named(name).unwrap();
    let mut pool = Pool::new(3);
    for input in target.corpus() {
        let reached = (target.run)(&input);
        pool.note(&input, reached);
    }
    let first = pool.reached.len();
    for _ in 0..n {
        let input = pool.next(target);
        let reached = (target.run)(&input);
        pool.note(&input, reached);
    }
    assert!(pool.reached.len() > first, "{name}: nothing new in {n} inputs");
}

#[test]
fn text() {
    feed("text", 600);
}

#[test]
fn graph() {
    feed("graph", 1500);
}

#[test]
fn npy() {
    feed("npy", 3000);
}

#[test]
fn safetensors() {
    feed("safetensors", 3000);
}

#[test]
fn json() {
    feed("json", 600);
}

#[test]
fn messages() {
    feed("messages", 2000);
}

#[test]
fn every_target_is_fed() {
    let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
    assert_eq!(names, ["text", "graph", "npy", "safetensors", "json", "messages"]);
}

/// The same seed makes the same inputs: a finding can be made again.
#[test]
fn a_seed_makes_the_same_inputs() {
    for target in TARGETS {
        let inputs = || {
            let mut pool = Pool::new(9);
            pool.inputs = (target.seeds)();
            (0..50).map(|_| pool.next(target)).collect::<Vec<Vec<u8>>>()
        };
        assert_eq!(inputs(), inputs(), "{}", target.name);
    }
}
