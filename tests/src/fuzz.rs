//! Inputs that nobody wrote: made from a seed, changed at random, kept where they reach what none before them did.
//!
//! It runs with plain cargo: what an input reaches is told by the engine's own words (codes, ops, stages) instead of by
//! counters in the compiled code, so that inputs stay the same on every machine. `src/bin/fuzz.rs` runs it for hours,
//! `tests/fuzz.rs` for a moment in CI. Deliberately absent: a clock, and shrinking; inputs are short.

pub mod bytes;
pub mod files;
pub mod graph;
pub mod messages;
pub mod text;

use std::collections::BTreeSet;
use std::fs;

use crate::golden::home;
use crate::rng::Rng;

/// What is fed, and how.
pub struct Target {
    /// Its name, and its folder's in `tests/corpus`.
    pub name: &'static str,
    /// How its failing inputs end, so that the command takes them.
    pub ending: &'static str,
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Another input, mostly made from those that were kept.
    pub mutate: fn(&mut Rng, &[Vec<u8>]) -> Vec<u8>,
    /// Does with an input all that can be done, panics where something does not hold, and says what was reached.
    pub run: fn(&[u8]) -> Vec<String>,
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target {
        name: "text",
        ending: "fold",
        seeds: text::seeds,
        mutate: text::mutate,
        run: text::run,
    },
    Target {
        name: "graph",
        ending: "bin",
        seeds: graph::seeds,
        mutate: bytes::mutate,
        run: graph::run,
    },
    Target {
        name: "npy",
        ending: "npy",
        seeds: files::npy_seeds,
        mutate: files::mutate_npy,
        run: files::run_npy,
    },
    Target {
        name: "safetensors",
        ending: "safetensors",
        seeds: files::safetensors_seeds,
        mutate: files::mutate_safetensors,
        run: files::run_safetensors,
    },
    Target {
        name: "json",
        ending: "fold",
        seeds: text::seeds,
        mutate: text::mutate,
        run: text::run_json,
    },
    Target {
        name: "messages",
        ending: "bin",
        seeds: messages::seeds,
        mutate: bytes::mutate,
        run: messages::run,
    },
];

impl Target {
    /// The target of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|t| t.name == name)
    }

    /// Inputs that once failed, and those to begin with.
    ///
    /// # Panics
    /// If the corpus cannot be read.
    pub fn corpus(&self) -> Vec<Vec<u8>> {
        let folder = home().join("corpus").join(self.name);
        let mut paths: Vec<_> = fs::read_dir(folder)
            .map(|all| all.map(|entry| entry.unwrap().path()).collect())
            .unwrap_or_default();
        paths.sort();
        let kept = paths.iter().map(|path| fs::read(path).unwrap());
        kept.chain((self.seeds)()).collect()
    }
}

/// What has been reached, and by which inputs.
pub struct Pool {
    /// The inputs that reached something new.
    pub inputs: Vec<Vec<u8>>,
    /// What they reached.
    pub reached: BTreeSet<String>,
    rng: Rng,
}

impl Pool {
    /// Nothing yet.
    pub const fn new(seed: u64) -> Self {
        Self { inputs: Vec::new(), reached: BTreeSet::new(), rng: Rng::new(seed) }
    }

    /// The next input.
    pub fn next(&mut self, target: &Target) -> Vec<u8> {
        (target.mutate)(&mut self.rng, &self.inputs)
    }

    /// Keeps an input that reached something new.
    pub fn note(&mut self, input: &[u8], reached: Vec<String>) -> bool {
        let before = self.reached.len();
        self.reached.extend(reached);
        let new = self.reached.len() > before;
        if new {
            self.inputs.push(input.to_vec());
        }
        new
    }
}

/// One of the inputs, a late one more often than an early one: it reached what is hard to reach.
pub fn pick<'a>(rng: &mut Rng, pool: &'a [Vec<u8>]) -> &'a [u8] {
    let late = rng.chance(50) && pool.len() > 8;
    let ix = if late { pool.len() - 1 - rng.below(8) } else { rng.below(pool.len()) };
    pool.get(ix).map_or(&[], Vec::as_slice)
}
