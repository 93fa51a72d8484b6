//! Loops over slices, written so that every build gives the same bits.
//! Reductions run in eight striped accumulators with one fixed fold; elementwise loops are plain IEEE operations.
//! Deliberately absent: knowledge of nodes, shapes beyond what a loop needs, and fused multiply-add.

use crate::math::Real;

/// The number of stripes of a reduction: the width of the widest vector unit we target, in f32.
const STRIPES: usize = 8;

/// Folds the stripes pairwise, in an order that a vector unit can follow with shuffles.
fn fold<T: Real>(acc: [T; STRIPES]) -> T {
    let four = [acc[0] + acc[4], acc[1] + acc[5], acc[2] + acc[6], acc[3] + acc[7]];
    (four[0] + four[2]) + (four[1] + four[3])
}

/// The sum of a slice.
pub fn sum<T: Real>(xs: &[T]) -> T {
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

/// The sum of the products of two slices, up to the shorter one's length.
pub fn dot<T: Real>(xs: &[T], ys: &[T]) -> T {
    let n = xs.len().min(ys.len());
    let (xs, ys) = (xs.get(..n).unwrap_or(&[]), ys.get(..n).unwrap_or(&[]));
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

/// `out[i][j] = sum_k a[i][k] * b[k][j]` over packed row-major matrices; the sum runs in the order of `k`.
pub fn matmul<T: Real>(a: &[T], b: &[T], out: &mut [T], (m, k, n): (usize, usize, usize)) {
    out.fill(T::ZERO);
    if m == 0 || k == 0 || n == 0 {
        return;
    }
    for (row_a, row_out) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)).take(m) {
        for (x, row_b) in row_a.iter().zip(b.chunks_exact(n)) {
            for (o, y) in row_out.iter_mut().zip(row_b) {
                *o += *x * *y;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{matmul, sum};

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
        matmul(&[], &[], &mut out, (2, 0, 2));
        assert_eq!(out.map(f32::to_bits), [0; 4]);
    }
}
