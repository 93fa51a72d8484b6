//! Eight f32 at a time: what every kernel is written over, and what the lanes are on each machine.
//! Deliberately absent: fused multiply-add, and any operation whose bits differ between machines.
#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "wasm32"),
    expect(unsafe_code, reason = "the names of a machine's own vector instructions")
)]
#![expect(
    clippy::inline_always,
    reason = "a vector that is handed to a function leaves its register"
)]

/// Eight numbers that are computed with at once.
pub(super) trait Lanes: Copy {
    /// Eight times the same.
    fn splat(x: f32) -> Self;
    /// From memory.
    fn load(xs: &[f32; 8]) -> Self;
    /// To memory.
    fn store(self, out: &mut [f32; 8]);
    /// Lane by lane.
    fn add(self, other: Self) -> Self;
    /// Lane by lane.
    fn mul(self, other: Self) -> Self;
}

/// What every machine has.
impl Lanes for [f32; 8] {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        [x; 8]
    }

    #[inline(always)]
    fn load(xs: &[f32; 8]) -> Self {
        *xs
    }

    #[inline(always)]
    fn store(self, out: &mut [f32; 8]) {
        *out = self;
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] + other[i])
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] * other[i])
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2 {
    use std::arch::x86_64::{
        __m256, _mm256_add_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_storeu_ps,
    };

    /// One register of AVX. Only functions that run with AVX2 make values of it.
    #[derive(Clone, Copy)]
    pub(in crate::kernels) struct Avx(__m256);

    impl super::Lanes for Avx {
        #[inline(always)]
        fn splat(x: f32) -> Self {
            // SAFETY: the row of kernels that uses this type is given out after AVX2 was detected.
            Self(unsafe { _mm256_set1_ps(x) })
        }

        #[inline(always)]
        fn load(xs: &[f32; 8]) -> Self {
            // SAFETY: as in `splat`; the address is that of eight floats, and need not be aligned.
            Self(unsafe { _mm256_loadu_ps(xs.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, out: &mut [f32; 8]) {
            // SAFETY: as in `load`; the eight floats are borrowed for writing.
            unsafe { _mm256_storeu_ps(out.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: a value of this type exists, so AVX2 was detected.
            Self(unsafe { _mm256_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: as in `add`.
            Self(unsafe { _mm256_mul_ps(self.0, other.0) })
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) mod simd128 {
    use std::arch::wasm32::{f32x4_add, f32x4_mul, f32x4_splat, v128, v128_load, v128_store};

    /// Two registers of WebAssembly.
    #[derive(Clone, Copy)]
    pub(in crate::kernels) struct Pair(v128, v128);

    impl super::Lanes for Pair {
        #[inline(always)]
        fn splat(x: f32) -> Self {
            Self(f32x4_splat(x), f32x4_splat(x))
        }

        #[inline(always)]
        fn load(xs: &[f32; 8]) -> Self {
            let at = xs.as_ptr();
            // SAFETY: the address is that of eight floats, of which each half is read; it need not be aligned.
            unsafe { Self(v128_load(at.cast()), v128_load(at.add(4).cast())) }
        }

        #[inline(always)]
        fn store(self, out: &mut [f32; 8]) {
            let at = out.as_mut_ptr();
            // SAFETY: as in `load`; the eight floats are borrowed for writing.
            unsafe {
                v128_store(at.cast(), self.0);
                v128_store(at.add(4).cast(), self.1);
            }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(f32x4_add(self.0, other.0), f32x4_add(self.1, other.1))
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(f32x4_mul(self.0, other.0), f32x4_mul(self.1, other.1))
        }
    }
}
