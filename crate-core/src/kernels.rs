//! Loops over slices, written so that every build gives the same bits.
//! Reductions run in eight striped accumulators with one fixed fold; elementwise loops are plain IEEE operations.
//! In f32 the whole engine uses the machine's vectors ([`Kernels`]); the bits are those of the plain loops here, which
//! serve the other number types and the part of the engine that the page starts with.
//! Deliberately absent: knowledge of nodes, shapes beyond what a loop needs, and fused multiply-add.
#![cfg_attr(
    all(feature = "full", target_arch = "x86_64"),
    expect(unsafe_code, reason = "calls of loops that need more than every machine has")
)]

#[cfg(feature = "full")]
mod lanes;
mod product;
#[cfg(feature = "full")]
mod table;
#[cfg(feature = "full")]
mod terms;

pub use self::product::Matrix;
#[cfg(feature = "full")]
pub use self::table::Kernels;
#[cfg(feature = "full")]
pub use self::terms::Stripes;
#[cfg(feature = "full")]
pub(crate) use self::terms::{Divisor, Terms, row_sums};
use crate::math::Real;

/// The number of stripes of a reduction: the width of the widest vector unit we target, in f32.
const STRIPES: usize = 8;

/// Folds the stripes pairwise, in an order that a vector unit can follow with shuffles.
fn fold<T: Real>(acc: [T; STRIPES]) -> T {
    let four = [acc[0] + acc[4], acc[1] + acc[5], acc[2] + acc[6], acc[3] + acc[7]];
    (four[0] + four[2]) + (four[1] + four[3])
}

/// The sum of a slice.
#[inline]
pub fn sum<T: Real>(xs: &[T]) -> T {
    #[cfg(feature = "full")]
    if let Ok(eight) = <&[T; STRIPES]>::try_from(xs) {
        return fold(eight.map(|x| T::ZERO + x));
    }
    #[cfg(feature = "full")]
    if let Some(xs) = T::as_f32(xs) {
        return T::from_f32((Kernels::detect().sum)(xs));
    }
    let mut acc = [T::ZERO; STRIPES];
    let chunks = xs.chunks_exact(STRIPES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (a, x) in acc.iter_mut().zip(chunk) {
            *a += *x;
        }
    }
    for (a, x) in acc.iter_mut().zip(rest) {
        *a += *x;
    }
    fold(acc)
}

/// Functions whose loops are compiled twice, where the machine may have wider vectors than every machine has.
#[cfg(feature = "full")]
macro_rules! wide {
    ($($(#[$of:meta])* $vis:vis fn $name:ident<T>($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        $(#[$of])*
        #[inline]
        $vis fn $name<T: Real>($($arg: $ty),*) {
            #[inline(always)]
            fn plain<T: Real>($($arg: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                #[target_feature(enable = "avx2")]
                fn wider<T: Real>($($arg: $ty),*) {
                    plain($($arg),*);
                }
                // SAFETY: AVX2 is there.
                return unsafe { wider($($arg),*) };
            }
            plain($($arg),*);
        }
    )*};
}
#[cfg(feature = "full")]
use wide;

#[cfg(feature = "full")]
wide! {
    /// Writes `f` of each element.
    pub(crate) fn each<T>(xs: &[T], out: &mut [T], f: impl Fn(T) -> T) {
        for (o, x) in out.iter_mut().zip(xs) {
            *o = f(*x);
        }
    }

    /// Writes `f` of two elements each.
    pub(crate) fn each_two<T>(xs: &[T], ys: &[T], out: &mut [T], f: impl Fn(T, T) -> T) {
        for ((o, x), y) in out.iter_mut().zip(xs).zip(ys) {
            *o = f(*x, *y);
        }
    }

    /// Writes `f` of each element and its row's number. Rows of eight are so common that they have a loop of their own.
    pub(crate) fn each_with_column<T>(
        xs: &[T],
        column: &[T],
        out: &mut [T],
        width: usize,
        f: impl Fn(T, T) -> T,
    ) {
        if width == 8 {
            let rows = out.as_chunks_mut::<8>().0.iter_mut().zip(xs.as_chunks::<8>().0);
            for ((line, row), y) in rows.zip(column) {
                let mut made = *row;
                for x in &mut made {
                    *x = f(*x, *y);
                }
                *line = made;
            }
            return;
        }
        let rows = out.chunks_exact_mut(width.max(1)).zip(xs.chunks_exact(width.max(1)));
        for ((line, row), y) in rows.zip(column) {
            for (o, x) in line.iter_mut().zip(row) {
                *o = f(*x, *y);
            }
        }
    }
}

/// Whether some number is none.
#[cfg(feature = "full")]
#[inline]
pub(crate) fn any_nan<T: Real>(xs: &[T]) -> bool {
    match T::as_f32(xs) {
        Some(xs) if xs.len() > STRIPES => (Kernels::detect().any_nan)(xs),
        _ => xs.iter().any(|x| x.is_nan()),
    }
}

/// Whether no number is infinite and none is missing. Without an early end, so that a vector unit can look.
#[cfg(feature = "full")]
pub fn all_finite(xs: &[f32]) -> bool {
    xs.iter().map(|x| u32::from(!x.is_finite())).sum::<u32>() == 0
}

/// The sum of the products of two slices, up to the shorter one's length.
pub fn dot<T: Real>(xs: &[T], ys: &[T]) -> T {
    let n = xs.len().min(ys.len());
    let (xs, ys) = (xs.get(..n).unwrap_or(&[]), ys.get(..n).unwrap_or(&[]));
    #[cfg(feature = "full")]
    if let (Some(xs), Some(ys)) = (T::as_f32(xs), T::as_f32(ys)) {
        return T::from_f32((Kernels::detect().dot)(xs, ys));
    }
    let mut acc = [T::ZERO; STRIPES];
    let (chunks_x, chunks_y) = (xs.chunks_exact(STRIPES), ys.chunks_exact(STRIPES));
    let rest = chunks_x.remainder().iter().zip(chunks_y.remainder());
    for (cx, cy) in chunks_x.zip(chunks_y) {
        for ((a, x), y) in acc.iter_mut().zip(cx).zip(cy) {
            *a += *x * *y;
        }
    }
    for (a, (x, y)) in acc.iter_mut().zip(rest) {
        *a += *x * *y;
    }
    fold(acc)
}

/// `out[i][j] = sum_k a[i][k] * b[k][j]` with sizes `(m, k, n)`; the sum runs in the order of `k`, from zero. Zeros where
/// an operand holds less than the sizes say.
pub fn matmul<T: Real>(
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    out: &mut [T],
    (m, k, n): (usize, usize, usize),
) {
    out.fill(T::ZERO);
    if m == 0 || k == 0 || n == 0 || !a.holds(m, k) || !b.holds(k, n) {
        return;
    }
    #[cfg(feature = "full")]
    if let (Some(x), Some(y)) = (T::as_f32(a.data), T::as_f32(b.data))
        && let Some(out) = T::as_f32_mut(out)
    {
        return (Kernels::detect().product)(a.with(x), b.with(y), out, (m, k, n));
    }
    for (i, row_out) in out.chunks_exact_mut(n).take(m).enumerate() {
        let row_a = a.data.iter().skip(i * a.row).step_by(a.column.max(1)).take(k);
        for (kk, x) in row_a.enumerate() {
            let row_b = b.data.iter().skip(kk * b.row).step_by(b.column.max(1));
            for (o, y) in row_out.iter_mut().zip(row_b) {
                *o += *x * *y;
            }
        }
    }
}

/// `out[i][j] = dot(row i of a, row j of b)` with sizes `(m, k, n)`.
pub fn dots<T: Real>(a: &[T], b: &[T], out: &mut [T], (m, k, n): (usize, usize, usize)) {
    if k == 0 || n == 0 {
        return out.fill(T::ZERO);
    }
    #[cfg(feature = "full")]
    if let (Some(x), Some(y)) = (T::as_f32(a), T::as_f32(b))
        && let Some(out) = T::as_f32_mut(out)
    {
        if m > 0 {
            (Kernels::detect().dots)(x, y, out, (m, k, n));
        }
        return;
    }
    for (row_a, line) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)).take(m) {
        for (row_b, o) in b.chunks_exact(k).zip(line) {
            *o = dot(row_a, row_b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Matrix, matmul, sum};

    #[test]
    fn the_stripes_cover_every_length() {
        for n in 0u16..=67 {
            let xs: Vec<f64> = (0..n).map(f64::from).collect();
            let want = f64::from(n) * (f64::from(n) - 1.0) / 2.0;
            assert_eq!(sum(&xs).to_bits(), want.max(0.0).to_bits(), "length {n}");
        }
    }

    #[test]
    fn a_product_with_no_inner_extent_is_zero() {
        let mut out = [1.0f32; 4];
        let none = Matrix::packed(&[], 0);
        matmul(none, none, &mut out, (2, 0, 2));
        assert_eq!(out.map(f32::to_bits), [0; 4]);
    }
}
