//! Every row of kernels gives the bits of the plain loops, at every length, offset and tile's edge.

use super::{Kernels, Matrix};
use crate::kernels::{Divisor, STRIPES, Terms, dot, dots, fold, matmul, sum};

/// Numbers that show in which order they were added; some are infinite, none, or 0 with either sign.
fn numbers(n: usize, seed: u32, specials: bool) -> Vec<f32> {
    (0..n as u32)
        .map(|i| {
            let mut h = i.wrapping_mul(0x9E37_79B9).wrapping_add(seed.wrapping_mul(0x85EB_CA6B));
            h = (h ^ (h >> 15)).wrapping_mul(0x2C1B_3C6D);
            h ^= h >> 13;
            match h % 29 {
                0 if specials => f32::INFINITY,
                1 if specials => f32::NAN,
                2 => -0.0,
                3 => 0.0,
                4 => f32::from_bits(h % 1000),
                _ => (f64::from(h >> 8) / 4_194_304.0 - 2.0) as f32,
            }
        })
        .collect()
}

fn bits(x: f32) -> u32 {
    if x.is_nan() { u32::MAX } else { x.to_bits() }
}

fn all_bits(xs: &[f32]) -> Vec<u32> {
    xs.iter().map(|x| bits(*x)).collect()
}

/// The rows that this machine can run.
fn rows() -> [&'static Kernels; 2] {
    [&Kernels::SCALAR, Kernels::detect()]
}

/// The sum by the words of the contract: each element in the stripe of its turn.
fn told(xs: impl Iterator<Item = f32>) -> f32 {
    let mut acc = [0.0; STRIPES];
    for (i, x) in xs.enumerate() {
        acc[i % STRIPES] += x;
    }
    fold(acc)
}

#[test]
fn sums_keep_their_bits_at_every_length_and_offset() {
    for n in (0..=67).chain([255, 1_000]) {
        for offset in 0..8 {
            for specials in [false, true] {
                let (xs, ys) = (numbers(n + offset, 1, specials), numbers(n + offset, 2, specials));
                let (xs, ys) = (&xs[offset..], &ys[offset..]);
                let want = bits(told(xs.iter().copied()));
                let want_dot = bits(told(xs.iter().zip(ys).map(|(x, y)| x * y)));
                for row in rows() {
                    assert_eq!(bits((row.sum)(xs)), want, "{} of {n} at {offset}", row.name);
                    assert_eq!(bits((row.dot)(xs, ys)), want_dot, "{} of {n}", row.name);
                }
                assert_eq!(bits(sum(xs)), want);
                assert_eq!(bits(dot(xs, ys)), want_dot);
            }
        }
    }
}

#[test]
fn products_keep_their_bits_at_every_edge_of_a_tile() {
    let sizes = [1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 24, 31, 33];
    let inner = [1, 2, 7, 8, 9, 31, 512, 513, 1_030];
    for (m, n) in sizes.iter().flat_map(|m| sizes.iter().map(move |n| (*m, *n))) {
        let k = inner[(m * 5 + n) % inner.len()];
        let specials = (m + n) % 3 == 0;
        let (a, b) = (numbers(m * k, 3, specials), numbers(k * n, 4, specials));
        let mut want = vec![0.0f32; m * n];
        for i in 0..m {
            for j in 0..n {
                for kk in 0..k {
                    want[i * n + j] += a[i * k + kk] * b[kk * n + j];
                }
            }
        }
        let want = all_bits(&want);
        let turned = |of: &[f32], rows: usize, columns: usize| -> Vec<f32> {
            (0..rows * columns).map(|at| of[at % rows * columns + at / rows]).collect()
        };
        let (at, bt) = (turned(&a, m, k), turned(&b, k, n));
        let left = [Matrix::packed(&a, k), Matrix { data: &at, row: 1, column: m }];
        let right = [Matrix::packed(&b, n), Matrix { data: &bt, row: 1, column: k }];
        for (x, y) in left.iter().flat_map(|x| right.iter().map(move |y| (*x, *y))) {
            for row in rows() {
                let mut out = vec![0.0; m * n];
                (row.product)(x, y, &mut out, (m, k, n));
                assert_eq!(all_bits(&out), want, "{} {m} {k} {n}", row.name);
            }
            let mut out = vec![7.0; m * n];
            matmul(x, y, &mut out, (m, k, n));
            assert_eq!(all_bits(&out), want);
        }
    }
}

#[test]
fn rows_with_rows_keep_the_bits_of_one_row_with_one() {
    for (m, k, n) in [(1, 1, 1), (2, 8, 2), (3, 17, 5), (4, 67, 1), (1, 0, 3), (5, 33, 4)] {
        let (a, b) = (numbers(m * k, 5, true), numbers(n * k, 6, true));
        let row = |of: &[f32], i: usize| of[i * k..(i + 1) * k].to_vec();
        let want: Vec<u32> = (0..m * n)
            .map(|at| {
                let (x, y) = (row(&a, at / n), row(&b, at % n));
                bits(told(x.iter().zip(&y).map(|(x, y)| x * y)))
            })
            .collect();
        let mut out = vec![1.0; m * n];
        dots(&a, &b, &mut out, (m, k, n));
        assert_eq!(all_bits(&out), want, "{m} {k} {n}");
        for row in rows().into_iter().filter(|_| k > 0) {
            (row.dots)(&a, &b, &mut out, (m, k, n));
            assert_eq!(all_bits(&out), want, "{}", row.name);
        }
    }
}

#[test]
fn operands_that_hold_too_little_give_zeros() {
    let mut out = [1.0f32; 4];
    matmul(Matrix::packed(&[1.0; 3], 2), Matrix::packed(&[1.0; 4], 2), &mut out, (2, 2, 2));
    assert_eq!(all_bits(&out), [0; 4]);
}

#[test]
fn what_is_turned_lies_turned_at_every_size() {
    for (n, columns) in [(1, 1), (1, 9), (4, 4), (5, 7), (8, 3), (16, 20), (33, 31)] {
        for step in [n, n + 3] {
            let from = numbers(step * columns, 5, true);
            let want = (0..n * columns).map(|at| from[at % columns * step + at / columns]);
            let want: Vec<f32> = want.collect();
            for row in rows() {
                let mut out = vec![0.0; n * columns];
                (row.transpose)(&from, step, (n, columns), &mut out);
                assert_eq!(all_bits(&out), all_bits(&want), "{} {n} {columns}", row.name);
            }
        }
    }
}

/// Terms, and how each is made.
type Case<'a> = (Terms<'a, f32>, &'a dyn Fn(usize) -> f32);

/// The terms of rows of eight, made first and summed in the order of the contract.
#[test]
fn sums_of_eight_keep_the_bits_of_terms_that_are_stored() {
    for n in [0, 1, 3, 4, 5, 8, 13] {
        for specials in [false, true] {
            let [x, y, z] = [6, 7, 8].map(|seed| numbers(8 * n, seed, specials));
            let (line, column) = (numbers(8, 9, specials), numbers(n, 10, specials));
            let at = |i: usize| (x[i], y[i], z[i], line[i % 8], column[i / 8]);
            let cases: [Case<'_>; 6] = [
                (Terms::Plain(&x), &|i| at(i).0),
                (Terms::Products(&x, &y), &|i| at(i).0 * at(i).1),
                (Terms::Quotients(&x, &y, Divisor::Each(&z)), &|i| at(i).0 * (at(i).1 / at(i).2)),
                (Terms::Quotients(&x, &y, Divisor::Row(&line)), &|i| at(i).0 * (at(i).1 / at(i).3)),
                (Terms::Quotients(&x, &y, Divisor::Column(&column)), &|i| {
                    at(i).0 * (at(i).1 / at(i).4)
                }),
                (Terms::Quotients(&x, &y, Divisor::Number(3.0)), &|i| at(i).0 * (at(i).1 / 3.0)),
            ];
            for (ix, (terms, term)) in cases.iter().enumerate() {
                for minus in [false, true] {
                    let sign = if minus { -1.0 } else { 1.0 };
                    let row = |r: usize| told((8 * r..8 * r + 8).map(|i| sign * term(i)));
                    let want: Vec<f32> = (0..n).map(row).collect();
                    for kernels in rows() {
                        let mut out = vec![0.0; n];
                        (kernels.sums_of_eight)(terms, minus, &mut out);
                        let name = kernels.name;
                        assert_eq!(all_bits(&out), all_bits(&want), "{name}, terms {ix}, {n} rows");
                    }
                }
            }
        }
    }
}

#[test]
fn a_nan_is_found_wherever_it_stands() {
    for n in 0..40 {
        let mut xs = numbers(n, 11, false);
        assert!(rows().iter().all(|row| !(row.any_nan)(&xs)));
        xs.fill(f32::INFINITY);
        assert!(rows().iter().all(|row| !(row.any_nan)(&xs)), "infinities are numbers");
        for at in 0..n {
            xs[at] = f32::NAN;
            assert!(rows().iter().all(|row| (row.any_nan)(&xs)), "{at} of {n}");
            xs[at] = 1.0;
        }
    }
}
