//! The kernels in f32 as rows: one for every machine, one for what this machine can do.
//! Deliberately absent: a row whose bits differ from another's. Tests compare them.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "the one call into code that needs more than every machine has")
)]
#![expect(
    clippy::inline_always,
    reason = "what is not part of its caller is compiled for every machine"
)]

use super::lanes::Lanes;
use super::product::{Matrix, product};
use super::terms::{Terms, sums_of_eight};
use super::{STRIPES, fold};

/// The sizes `(m, k, n)` of a product of matrices.
type Sizes = (usize, usize, usize);

/// Rows and columns.
type Size = (usize, usize);

/// One machine's kernels.
#[derive(Debug)]
pub struct Kernels {
    /// What it is called where a person asks which is at work.
    pub name: &'static str,
    /// The sum of a slice.
    pub sum: fn(&[f32]) -> f32,
    /// The sum of the products of two slices of one length.
    pub dot: fn(&[f32], &[f32]) -> f32,
    /// `out = a b`; both operands hold as much as the sizes say.
    pub product: fn(Matrix<'_, f32>, Matrix<'_, f32>, &mut [f32], Sizes),
    /// `out[i][j]` is the sum of the products of row `i` of `a` and row `j` of `b`, with sizes `(m, k, n)`.
    pub dots: fn(&[f32], &[f32], &mut [f32], Sizes),
    /// The sum of each row of eight terms, or of what they are less than 0.
    pub(crate) sums_of_eight: fn(&Terms<'_, f32>, bool, &mut [f32]),
    /// Whether some number is none.
    pub any_nan: fn(&[f32]) -> bool,
    /// `out[i][j] = from[j * step + i]` with sizes `(rows, columns)` of the result.
    pub transpose: fn(&[f32], usize, Size, &mut [f32]),
}

impl Kernels {
    /// What every machine can do.
    pub const SCALAR: Self = Self {
        name: "scalar",
        sum: sum::<[f32; 8]>,
        dot: dot::<[f32; 8]>,
        product: product::<[f32; 8], 8>,
        dots: dots::<[f32; 8]>,
        sums_of_eight: sums_of_eight::<[f32; 8]>,
        any_nan: any_nan::<[f32; 8]>,
        transpose: transpose::<[f32; 8]>,
    };

    /// Two registers of WebAssembly at a time.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    const SIMD128: Self = {
        use super::lanes::simd128::Pair;
        Self {
            name: "simd128",
            sum: sum::<Pair>,
            dot: dot::<Pair>,
            product: product::<Pair, 8>,
            dots: dots::<Pair>,
            sums_of_eight: sums_of_eight::<Pair>,
            any_nan: any_nan::<Pair>,
            transpose: transpose::<Pair>,
        }
    };

    /// One register of AVX at a time.
    #[cfg(target_arch = "x86_64")]
    const AVX2: Self = Self {
        name: "avx2",
        sum: avx2::sum,
        dot: avx2::dot,
        product: avx2::product,
        dots: avx2::dots,
        sums_of_eight: avx2::sums_of_eight,
        any_nan: avx2::any_nan,
        transpose: avx2::transpose,
    };

    /// The best row that this machine can run.
    pub fn detect() -> &'static Self {
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        return &Self::SIMD128;
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return &Self::AVX2;
        }
        #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
        &Self::SCALAR
    }
}

/// Instances that may use AVX2, each behind a function that every machine can call.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::super::lanes::avx2::Avx;
    use super::{Matrix, Size, Sizes, Terms};

    macro_rules! with_avx2 {
        ($name:ident($($arg:ident: $ty:ty),*) $(-> $out:ty)?, $body:path) => {
            pub(super) fn $name($($arg: $ty),*) $(-> $out)? {
                #[target_feature(enable = "avx2")]
                fn inner($($arg: $ty),*) $(-> $out)? {
                    $body($($arg),*)
                }
                // SAFETY: only the row `AVX2` holds this function, and `detect` gives it out where AVX2 is there.
                unsafe { inner($($arg),*) }
            }
        };
    }

    with_avx2!(sum(xs: &[f32]) -> f32, super::sum::<Avx>);
    with_avx2!(dot(xs: &[f32], ys: &[f32]) -> f32, super::dot::<Avx>);
    with_avx2!(
        product(a: Matrix<'_, f32>, b: Matrix<'_, f32>, out: &mut [f32], sizes: Sizes),
        super::product::<Avx, 16>
    );
    with_avx2!(
        sums_of_eight(terms: &Terms<'_, f32>, minus: bool, out: &mut [f32]),
        super::sums_of_eight::<Avx>
    );
    with_avx2!(any_nan(xs: &[f32]) -> bool, super::any_nan::<Avx>);
    with_avx2!(
        transpose(from: &[f32], step: usize, size: Size, out: &mut [f32]),
        super::transpose::<Avx>
    );
    with_avx2!(dots(a: &[f32], b: &[f32], out: &mut [f32], sizes: Sizes), super::dots::<Avx>);
}

/// What is left of a slice, filled up with zeros: adding them changes no stripe, as none of them is -0.
#[inline(always)]
fn filled(rest: &[f32]) -> [f32; STRIPES] {
    let mut out = [0.0; STRIPES];
    for (o, x) in out.iter_mut().zip(rest) {
        *o = *x;
    }
    out
}

#[inline(always)]
fn folded<L: Lanes>(acc: L) -> f32 {
    let mut out = [0.0; STRIPES];
    acc.store(&mut out);
    fold(out)
}

#[inline(always)]
fn sum<L: Lanes>(xs: &[f32]) -> f32 {
    let (chunks, rest) = xs.as_chunks::<STRIPES>();
    let mut acc = L::splat(0.0);
    for chunk in chunks {
        acc = acc.add(L::load(chunk));
    }
    folded(acc.add(L::load(&filled(rest))))
}

#[inline(always)]
fn dot<L: Lanes>(xs: &[f32], ys: &[f32]) -> f32 {
    let ((xs, rest_x), (ys, rest_y)) = (xs.as_chunks::<STRIPES>(), ys.as_chunks::<STRIPES>());
    let mut acc = L::splat(0.0);
    for (x, y) in xs.iter().zip(ys) {
        acc = acc.add(L::load(x).mul(L::load(y)));
    }
    folded(acc.add(L::load(&filled(rest_x)).mul(L::load(&filled(rest_y)))))
}

/// Without an early end: nearly always there is none.
#[inline(always)]
fn any_nan<L: Lanes>(xs: &[f32]) -> bool {
    let (chunks, rest) = xs.as_chunks::<STRIPES>();
    let mut noted = L::splat(0.0);
    for chunk in chunks {
        noted = noted.note_nan(L::load(chunk));
    }
    noted.note_nan(L::load(&filled(rest))).is_noted()
}

/// Four by four, so that neither side is read or written in single numbers.
#[inline(always)]
fn transpose<L: Lanes>(from: &[f32], step: usize, (rows, columns): Size, out: &mut [f32]) {
    for i in (0..rows).step_by(4) {
        for j in (0..columns).step_by(4) {
            let four = |r: usize| from.get((j + r) * step + i..)?.first_chunk::<4>();
            if let (Some(a), Some(b), Some(c), Some(d)) = (four(0), four(1), four(2), four(3))
                && i + 4 <= rows
                && j + 4 <= columns
            {
                for (r, line) in L::turn([a, b, c, d]).iter().enumerate() {
                    let start = (i + r) * columns + j;
                    if let Some(place) = out.get_mut(start..start + 4) {
                        place.copy_from_slice(line);
                    }
                }
                continue;
            }
            for i in i..rows.min(i + 4) {
                for j in j..columns.min(j + 4) {
                    if let (Some(o), Some(x)) =
                        (out.get_mut(i * columns + j), from.get(j * step + i))
                    {
                        *o = *x;
                    }
                }
            }
        }
    }
}

/// Two rows with two rows at a time: each element is loaded once for two products.
#[inline(always)]
fn dots<L: Lanes>(a: &[f32], b: &[f32], out: &mut [f32], (m, k, n): Sizes) {
    let row = |of: &'_ [f32], i: usize| -> std::ops::Range<usize> {
        let start = (i * k).min(of.len());
        start..(start + k).min(of.len())
    };
    for i in (0..m).step_by(2) {
        for j in (0..n).step_by(2) {
            let [a0, a1] = [i, (i + 1).min(m - 1)].map(|i| a.get(row(a, i)).unwrap_or_default());
            let [b0, b1] = [j, (j + 1).min(n - 1)].map(|j| b.get(row(b, j)).unwrap_or_default());
            let four = dots_of::<L>([a0, a1], [b0, b1]);
            for (r, line) in four.iter().enumerate().take(m - i) {
                for (c, x) in line.iter().enumerate().take(n - j) {
                    if let Some(o) = out.get_mut((i + r) * n + j + c) {
                        *o = *x;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn dots_of<L: Lanes>([a0, a1]: [&[f32]; 2], [b0, b1]: [&[f32]; 2]) -> [[f32; 2]; 2] {
    let mut acc = [[L::splat(0.0); 2]; 2];
    let mut step = |a: [&[f32; STRIPES]; 2], b: [&[f32; STRIPES]; 2]| {
        let (a, b) = (a.map(L::load), b.map(L::load));
        for (sums, x) in acc.iter_mut().zip(a) {
            for (sum, y) in sums.iter_mut().zip(b) {
                *sum = sum.add(x.mul(y));
            }
        }
    };
    let [(a0, ra0), (a1, ra1)] = [a0.as_chunks(), a1.as_chunks()];
    let [(b0, rb0), (b1, rb1)] = [b0.as_chunks(), b1.as_chunks()];
    for (((a0, a1), b0), b1) in a0.iter().zip(a1).zip(b0).zip(b1) {
        step([a0, a1], [b0, b1]);
    }
    step([&filled(ra0), &filled(ra1)], [&filled(rb0), &filled(rb1)]);
    acc.map(|line| line.map(folded))
}

#[cfg(test)]
mod tests;
