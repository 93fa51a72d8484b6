//! What this machine can do at best on one thread: copy bytes, and multiply and add.
//! Deliberately absent: fused multiply-add, which the engine may not use.

use std::hint::black_box;

use crate::clock::time;

/// Bytes a millisecond that a copy moves, read and written, where it touches so many bytes in all.
pub fn copied(samples: usize, bytes: usize) -> f64 {
    let from = vec![1.5_f32; bytes.div_ceil(8)];
    let mut to = vec![0.0_f32; from.len()];
    let ms = time(samples, 8.0, || black_box(&mut to).copy_from_slice(black_box(&from)));
    from.len() as f64 * 8.0 / ms
}

/// Floating-point operations a millisecond: products and sums in the widest registers that the kernels use.
pub fn peak(samples: usize) -> f64 {
    const TURNS: usize = 20_000;
    let ms = time(samples, 8.0, || multiply_and_add(black_box(TURNS)));
    (TURNS * CHAINS * 8 * 2) as f64 / ms
}

/// Sums that do not wait for each other; with fewer, each waits for its own last turn. With the two factors they fill
/// the registers.
const CHAINS: usize = 13;

fn multiply_and_add(turns: usize) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "a call into code for AVX2, as the kernels make it")]
        // SAFETY: the line above has asked whether this machine has AVX2.
        return unsafe { avx2(turns) };
    }
    let mut sums = [[0.0_f32; 8]; CHAINS];
    for _ in 0..turns {
        for x in sums.as_flattened_mut() {
            *x = *x * 0.9999 + 0.0001;
        }
    }
    sums.as_flattened().iter().sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(turns: usize) -> f32 {
    use std::arch::x86_64::{
        _mm256_add_ps, _mm256_cvtss_f32, _mm256_mul_ps, _mm256_set1_ps, _mm256_setzero_ps,
    };
    let (by, more) = (_mm256_set1_ps(0.9999), _mm256_set1_ps(0.0001));
    let mut sums = [_mm256_setzero_ps(); CHAINS];
    for _ in 0..turns {
        for sum in &mut sums {
            *sum = _mm256_add_ps(_mm256_mul_ps(*sum, by), more);
        }
    }
    _mm256_cvtss_f32(sums.into_iter().fold(more, |a, b| _mm256_add_ps(a, b)))
}
