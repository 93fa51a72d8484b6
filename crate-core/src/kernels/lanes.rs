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
    fn sub(self, other: Self) -> Self;
    /// Lane by lane.
    fn mul(self, other: Self) -> Self;
    /// Lane by lane.
    fn div(self, other: Self) -> Self;
    /// Notes in which lanes the other is NaN. Begins with zeros.
    fn note_nan(self, other: Self) -> Self;
    /// Whether something was noted in some lane.
    fn is_noted(self) -> bool;
    /// The fold of each of four: `((x0 + x4) + (x2 + x6)) + ((x1 + x5) + (x3 + x7))`.
    fn fold_four(four: [Self; 4]) -> [f32; 4];
    /// Four rows of four as four columns.
    #[inline(always)]
    fn turn(rows: [&[f32; 4]; 4]) -> [[f32; 4]; 4] {
        std::array::from_fn(|k| rows.map(|row| row[k]))
    }
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
    fn sub(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] - other[i])
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] * other[i])
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] / other[i])
    }

    #[inline(always)]
    fn note_nan(self, other: Self) -> Self {
        std::array::from_fn(|i| if other[i].is_nan() { 1.0 } else { self[i] })
    }

    #[inline(always)]
    fn is_noted(self) -> bool {
        self.map(f32::to_bits) != [0; 8]
    }

    #[inline(always)]
    fn fold_four(four: [Self; 4]) -> [f32; 4] {
        four.map(super::fold)
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2 {
    use std::arch::x86_64::{
        __m256, _CMP_UNORD_Q, _mm_add_ps, _mm_movehl_ps, _mm_movelh_ps, _mm_storeu_ps,
        _mm_unpackhi_ps, _mm_unpacklo_ps, _mm256_add_ps, _mm256_castps256_ps128, _mm256_cmp_ps,
        _mm256_div_ps, _mm256_extractf128_ps, _mm256_loadu_ps, _mm256_movemask_ps, _mm256_mul_ps,
        _mm256_or_ps, _mm256_set1_ps, _mm256_storeu_ps, _mm256_sub_ps,
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

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: as in `add`.
            Self(unsafe { _mm256_sub_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn div(self, other: Self) -> Self {
            // SAFETY: as in `add`.
            Self(unsafe { _mm256_div_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn note_nan(self, other: Self) -> Self {
            // SAFETY: as in `add`.
            Self(unsafe { _mm256_or_ps(self.0, _mm256_cmp_ps::<_CMP_UNORD_Q>(other.0, other.0)) })
        }

        #[inline(always)]
        fn is_noted(self) -> bool {
            // SAFETY: as in `add`.
            unsafe { _mm256_movemask_ps(self.0) != 0 }
        }

        #[inline(always)]
        fn fold_four(four: [Self; 4]) -> [f32; 4] {
            let mut out = [0.0; 4];
            // SAFETY: as in `add`; the four floats are borrowed for writing.
            unsafe {
                let [a, b, c, d] = four.map(|x| {
                    _mm_add_ps(_mm256_castps256_ps128(x.0), _mm256_extractf128_ps::<1>(x.0))
                });
                // Two and two: a and b, first those of 0 and 2, then those of 1 and 3.
                let ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
                let cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
                let sums = _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
                _mm_storeu_ps(out.as_mut_ptr(), sums);
            }
            out
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) mod simd128 {
    use std::arch::wasm32::{
        f32x4_add, f32x4_div, f32x4_mul, f32x4_ne, f32x4_splat, f32x4_sub, i32x4_shuffle, v128,
        v128_any_true, v128_load, v128_or, v128_store,
    };

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

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(f32x4_sub(self.0, other.0), f32x4_sub(self.1, other.1))
        }

        #[inline(always)]
        fn div(self, other: Self) -> Self {
            Self(f32x4_div(self.0, other.0), f32x4_div(self.1, other.1))
        }

        #[inline(always)]
        fn note_nan(self, other: Self) -> Self {
            let of = |noted, x| v128_or(noted, f32x4_ne(x, x));
            Self(of(self.0, other.0), of(self.1, other.1))
        }

        #[inline(always)]
        fn is_noted(self) -> bool {
            v128_any_true(v128_or(self.0, self.1))
        }

        #[inline(always)]
        fn turn(rows: [&[f32; 4]; 4]) -> [[f32; 4]; 4] {
            // SAFETY: each address is that of four floats; it need not be aligned.
            let [a, b, c, d] = rows.map(|row| unsafe { v128_load(row.as_ptr().cast()) });
            let (ab, cd) = (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<0, 4, 1, 5>(c, d));
            let (low, high) =
                (i32x4_shuffle::<2, 6, 3, 7>(a, b), i32x4_shuffle::<2, 6, 3, 7>(c, d));
            let columns = [
                i32x4_shuffle::<0, 1, 4, 5>(ab, cd),
                i32x4_shuffle::<2, 3, 6, 7>(ab, cd),
                i32x4_shuffle::<0, 1, 4, 5>(low, high),
                i32x4_shuffle::<2, 3, 6, 7>(low, high),
            ];
            let mut out = [[0.0; 4]; 4];
            for (line, column) in out.iter_mut().zip(columns) {
                // SAFETY: the four floats are borrowed for writing.
                unsafe { v128_store(line.as_mut_ptr().cast(), column) };
            }
            out
        }

        #[inline(always)]
        fn fold_four(four: [Self; 4]) -> [f32; 4] {
            let [a, b, c, d] = four.map(|x| f32x4_add(x.0, x.1));
            // Two and two: a and b, first those of 0 and 2, then those of 1 and 3.
            let two = |a, b| {
                f32x4_add(i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<2, 6, 3, 7>(a, b))
            };
            let (ab, cd) = (two(a, b), two(c, d));
            let (even, odd) =
                (i32x4_shuffle::<0, 1, 4, 5>(ab, cd), i32x4_shuffle::<2, 3, 6, 7>(ab, cd));
            let mut out = [0.0; 4];
            // SAFETY: the four floats are borrowed for writing; the address need not be aligned.
            unsafe { v128_store(out.as_mut_ptr().cast(), f32x4_add(even, odd)) };
            out
        }
    }
}
