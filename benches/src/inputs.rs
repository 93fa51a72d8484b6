//! The workloads' inputs: one hash of a counter, the same bits in every language that measures them.
//! Deliberately absent: any input that is read from a file.

/// So many numbers of a seed, each below 1 and with 24 bits.
fn unit(seed: u32, n: usize) -> impl Iterator<Item = f64> {
    let base = seed.wrapping_mul(0x85EB_CA6B).wrapping_add(0x0123_4567);
    (0..n as u32).map(move |i| {
        let mut h = i.wrapping_mul(0x9E37_79B9).wrapping_add(base);
        h ^= h >> 16;
        h = h.wrapping_mul(0x85EB_CA6B);
        h ^= h >> 13;
        h = h.wrapping_mul(0xC2B2_AE35);
        h ^= h >> 16;
        f64::from(h >> 8) / 16_777_216.0
    })
}

/// Numbers of a seed from `lo` up to `lo + size`.
pub(crate) fn from(seed: u32, n: usize, lo: f64, size: f64) -> Vec<f32> {
    unit(seed, n).map(|x| (x * size + lo) as f32).collect()
}

/// Numbers of a seed on both sides of 0.
pub(crate) fn around_zero(seed: u32, n: usize, most: f64) -> Vec<f32> {
    unit(seed, n).map(|x| ((2.0 * x - 1.0) * most) as f32).collect()
}

/// Weights of a router with rows of `width`; every 16th row is so small that its sum is clamped.
pub(crate) fn weights(seed: u32, n: usize, width: usize) -> Vec<f32> {
    let tiny = 1.0 / 1_048_576.0;
    let scaled = |(i, x): (usize, f64)| if (i / width).is_multiple_of(16) { x * tiny } else { x };
    unit(seed, n).enumerate().map(|x| scaled(x) as f32).collect()
}
