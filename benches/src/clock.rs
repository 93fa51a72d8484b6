//! What a call takes.
//! Deliberately absent: a verdict. Figures depend on the machine, so nothing here can fail.
#![expect(clippy::disallowed_methods, reason = "this measures; the engine does not")]

use std::hint::black_box;
use std::time::Instant;

/// The time of one call in milliseconds, from samples of at least `least` milliseconds each: their median, and of few
/// samples the least.
pub fn time<T>(samples: usize, least: f64, mut f: impl FnMut() -> T) -> f64 {
    let mut run = |n: u32| {
        let start = Instant::now();
        for _ in 0..n {
            black_box(f());
        }
        start.elapsed().as_secs_f64() * 1e3 / f64::from(n)
    };
    run(1);
    let calls = (least / run(1).max(1e-4)).ceil() as u32;
    let mut taken: Vec<f64> = (0..samples).map(|_| run(calls)).collect();
    taken.sort_by(f64::total_cmp);
    taken.get(if samples > 5 { samples / 2 } else { 0 }).copied().unwrap_or(f64::NAN)
}
