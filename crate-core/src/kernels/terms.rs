//! Sums whose terms are made on the way: a product that only a sum reads is never stored.
//! The bits are those of terms that are stored first. Deliberately absent: fused multiply-add, and the order of a sum
//! that has other stripes than all sums have.

#![expect(
    clippy::inline_always,
    reason = "what is not part of its caller is compiled for every machine"
)]

use super::lanes::Lanes;
use super::{Kernels, STRIPES, dot, fold, sum, wide};
use crate::math::Real;

/// What a sum adds up: rows of the same width, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Terms<'a, T> {
    /// `x`.
    Plain(&'a [T]),
    /// `x y`.
    Products(&'a [T], &'a [T]),
    /// `x (y / z)`.
    Quotients(&'a [T], &'a [T], Divisor<'a, T>),
}

/// What is divided by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Divisor<'a, T> {
    /// Each term by its own.
    Each(&'a [T]),
    /// Every row by this one.
    Row(&'a [T]),
    /// Each row by its number.
    Column(&'a [T]),
    /// All by this number.
    Number(T),
}

/// Hands each term to a running sum, by the functions over one, two and three slices.
macro_rules! terms_of {
    ($terms:expr, $acc:expr, $step:expr, [$one:ident, $two:ident, $three:ident]) => {
        match *$terms {
            Terms::Plain(x) => $one($acc, [x], |a, [x]| $step(a, x)),
            Terms::Products(x, y) => $two($acc, [x, y], |a, [x, y]| $step(a, x * y)),
            Terms::Quotients(x, y, Divisor::Number(z)) => {
                $two($acc, [x, y], |a, [x, y]| $step(a, x * (y / z)));
            }
            Terms::Quotients(x, y, Divisor::Each(z) | Divisor::Row(z) | Divisor::Column(z)) => {
                $three($acc, [x, y, z], |a, [x, y, z]| $step(a, x * (y / z)));
            }
        }
    };
}

impl<'a, T: Real> Terms<'a, T> {
    /// The same, where they are f32.
    fn as_f32(&self) -> Option<Terms<'a, f32>> {
        Some(match *self {
            Self::Plain(x) => Terms::Plain(T::as_f32(x)?),
            Self::Products(x, y) => Terms::Products(T::as_f32(x)?, T::as_f32(y)?),
            Self::Quotients(x, y, z) => {
                let z = match z {
                    Divisor::Each(z) => Divisor::Each(T::as_f32(z)?),
                    Divisor::Row(z) => Divisor::Row(T::as_f32(z)?),
                    Divisor::Column(z) => Divisor::Column(T::as_f32(z)?),
                    Divisor::Number(z) => Divisor::Number(*T::as_f32(&[z])?.first()?),
                };
                Terms::Quotients(T::as_f32(x)?, T::as_f32(y)?, z)
            }
        })
    }

    /// How many there are.
    const fn len(&self) -> usize {
        match self {
            Self::Plain(x) | Self::Products(x, _) | Self::Quotients(x, ..) => x.len(),
        }
    }

    /// Some of them. What is divided by is another part only where there is one for each.
    fn part(&self, range: std::ops::Range<usize>) -> Self {
        let of = |xs: &'a [T]| xs.get(range.clone()).unwrap_or_default();
        match *self {
            Self::Plain(x) => Self::Plain(of(x)),
            Self::Products(x, y) => Self::Products(of(x), of(y)),
            Self::Quotients(x, y, Divisor::Each(z)) => {
                Self::Quotients(of(x), of(y), Divisor::Each(of(z)))
            }
            Self::Quotients(x, y, z) => Self::Quotients(of(x), of(y), z),
        }
    }

    /// One row: its terms are divided each by its own, or all by one number.
    fn row(&self, at: usize, width: usize) -> Self {
        match self.part(at * width..(at + 1) * width) {
            Self::Quotients(x, y, Divisor::Row(z)) => Self::Quotients(x, y, Divisor::Each(z)),
            Self::Quotients(x, y, Divisor::Column(z)) => {
                let z = z.get(at).copied().unwrap_or(T::ONE);
                Self::Quotients(x, y, Divisor::Number(z))
            }
            row => row,
        }
    }

    /// Whether rows do not matter.
    const fn is_flat(&self) -> bool {
        !matches!(self, Self::Quotients(_, _, Divisor::Row(_) | Divisor::Column(_)))
    }

    /// Has running sums take a term each, by `step`; rows do not matter.
    #[inline(always)]
    fn join(&self, acc: &mut [T], step: impl Fn(T, T) -> T) {
        terms_of!(self, acc, step, [one_each, two_each, three_each]);
    }

    /// Has eight running sums take the terms in turn, by `step`; rows do not matter.
    #[inline(always)]
    fn join_eight(&self, acc: &mut [T; STRIPES], step: impl Fn(T, T) -> T) {
        terms_of!(self, acc, step, [one_in_turn, two_in_turn, three_in_turn]);
    }
}

/// Several slices as one iterator, which a vector unit can follow.
macro_rules! zipped {
    ($x:expr) => {
        $x.iter().map(|x| [x])
    };
    ($x:expr, $y:expr) => {
        $x.iter().zip($y).map(|(x, y)| [x, y])
    };
    ($x:expr, $y:expr, $z:expr) => {
        $x.iter().zip($y).zip($z).map(|((x, y), z)| [x, y, z])
    };
}

/// Functions over one, two and three slices.
macro_rules! over {
    ($each:ident, $in_turn:ident, $k:literal, $($x:ident),+) => {
        /// Changes each number by those at its place.
        #[inline(always)]
        fn $each<T: Real>(acc: &mut [T], [$($x),+]: [&[T]; $k], f: impl Fn(T, [T; $k]) -> T) {
            for (a, of) in acc.iter_mut().zip(zipped!($($x),+)) {
                *a = f(*a, of.map(|x| *x));
            }
        }

        /// Changes eight numbers in turn by all that come.
        #[inline(always)]
        fn $in_turn<T: Real>(
            acc: &mut [T; STRIPES],
            [$($x),+]: [&[T]; $k],
            f: impl Fn(T, [T; $k]) -> T,
        ) {
            let mut own = *acc;
            let [$($x),+] = [$($x.as_chunks::<STRIPES>()),+];
            for of in zipped!($($x.0),+) {
                for (j, a) in own.iter_mut().enumerate() {
                    *a = f(*a, std::array::from_fn(|s| of[s][j]));
                }
            }
            for (a, of) in own.iter_mut().zip(zipped!($($x.1),+)) {
                *a = f(*a, of.map(|x| *x));
            }
            *acc = own;
        }
    };
}

over!(one_each, one_in_turn, 1, x);
over!(two_each, two_in_turn, 2, x, y);
over!(three_each, three_in_turn, 3, x, y, z);

/// The sum of each row of terms, or of what they are less than 0.
pub(crate) fn row_sums<T: Real>(terms: &Terms<'_, T>, minus: bool, width: usize, out: &mut [T]) {
    if width == STRIPES
        && let Some(terms) = terms.as_f32()
        && let Some(out) = T::as_f32_mut(out)
    {
        return (Kernels::detect().sums_of_eight)(&terms, minus, out);
    }
    for (at, o) in out.iter_mut().enumerate() {
        let mut acc = [T::ZERO; STRIPES];
        *o = match (terms.row(at, width), minus) {
            (Terms::Plain(x), false) => sum(x),
            (Terms::Products(x, y), false) => dot(x, y),
            (row, false) => {
                row.join_eight(&mut acc, |a, x| a + x);
                fold(acc)
            }
            (row, true) => {
                row.join_eight(&mut acc, |a, x| a - x);
                fold(acc)
            }
        };
    }
}

/// The sum of each row of eight terms, over a machine's vectors.
#[inline(always)]
pub(super) fn sums_of_eight<L: Lanes>(terms: &Terms<'_, f32>, minus: bool, out: &mut [f32]) {
    if minus {
        rows_of_eight::<L>(terms, out, L::sub);
    } else {
        rows_of_eight::<L>(terms, out, L::add);
    }
}

/// Rows of eight.
fn eights<T>(xs: &[T]) -> &[[T; STRIPES]] {
    xs.as_chunks().0
}

/// The fold of each row's terms, four rows at a time. A macro, since a closure would be compiled for every machine.
macro_rules! fold_rows {
    ($out:ident, $lanes:ty, |$row:ident| $terms:expr) => {
        for (ix, four) in $out.chunks_mut(4).enumerate() {
            let mut terms = [<$lanes>::splat(0.0); 4];
            for (r, terms) in terms.iter_mut().enumerate() {
                let $row = 4 * ix + r;
                *terms = $terms;
            }
            for (o, sum) in four.iter_mut().zip(<$lanes>::fold_four(terms)) {
                *o = sum;
            }
        }
    };
}

/// A row of eight; ones where there is none, of which nobody reads what comes.
#[inline(always)]
fn eight<L: Lanes>(xs: &[f32], row: usize) -> L {
    L::load(eights(xs).get(row).unwrap_or(&[1.0; STRIPES]))
}

#[inline(always)]
fn rows_of_eight<L: Lanes>(terms: &Terms<'_, f32>, out: &mut [f32], step: impl Fn(L, L) -> L) {
    let zero = L::splat(0.0);
    macro_rules! quotients {
        ($x:ident, $y:ident, |$row:ident| $z:expr) => {
            fold_rows!(out, L, |$row| {
                step(zero, eight::<L>($x, $row).mul(eight::<L>($y, $row).div($z)))
            })
        };
    }
    match *terms {
        Terms::Plain(x) => fold_rows!(out, L, |row| step(zero, eight(x, row))),
        Terms::Products(x, y) => {
            fold_rows!(out, L, |row| step(zero, eight::<L>(x, row).mul(eight(y, row))));
        }
        Terms::Quotients(x, y, Divisor::Each(z)) => quotients!(x, y, |row| eight(z, row)),
        Terms::Quotients(x, y, Divisor::Row(z)) => quotients!(x, y, |row| eight(z, 0)),
        Terms::Quotients(x, y, Divisor::Column(z)) => {
            quotients!(x, y, |row| L::splat(z.get(row).copied().unwrap_or(1.0)));
        }
        Terms::Quotients(x, y, Divisor::Number(z)) => quotients!(x, y, |row| L::splat(z)),
    }
}

wide! {
    /// Has running sums, eight for each column, take rows of terms by `step`; the first row has this number.
    fn go_on<T>(
        all: &mut [T],
        terms: &Terms<'_, T>,
        from: usize,
        step: impl Fn(T, T) -> T,
    ) {
        if let Some(acc) = all.as_mut_array() {
            return terms.join_eight(acc, step);
        }
        let width = all.len() / STRIPES;
        let mut at = 0;
        while at < terms.len() {
            let row = from + at / width.max(1);
            if terms.is_flat() && row.is_multiple_of(STRIPES) {
                let end = terms.len().min(at + all.len());
                let acc = all.get_mut(..end - at).unwrap_or_default();
                terms.part(at..end).join(acc, &step);
                at = end;
            } else {
                let stripe = row % STRIPES * width;
                let acc = all.get_mut(stripe..stripe + width).unwrap_or_default();
                terms.row(at / width.max(1), width).join(acc, &step);
                at += width.max(1);
            }
        }
    }
}

/// Sums that are still going on: rows that come in turn, each in the stripe of its turn.
#[derive(Clone, Debug, Default)]
pub struct Stripes<T> {
    /// Eight stripes, each as wide as a row.
    acc: Vec<T>,
}

impl<T: Real> Stripes<T> {
    /// Begins anew, for rows so wide.
    pub(crate) fn begin(&mut self, width: usize) {
        self.acc.clear();
        self.acc.resize(STRIPES * width, T::ZERO);
    }

    /// Adds rows of terms, or takes them away, the first of which has this number. To a single column the terms are
    /// rows of one, and eight divides the first one's number.
    pub(crate) fn take(&mut self, terms: &Terms<'_, T>, minus: bool, from: usize) {
        if minus {
            go_on(&mut self.acc, terms, from, |a, x| a - x);
        } else {
            go_on(&mut self.acc, terms, from, |a, x| a + x);
        }
    }

    /// The sums.
    pub(crate) fn end(&self, out: &mut [T]) {
        let width = self.acc.len() / STRIPES;
        let stripes: [&[T]; STRIPES] =
            std::array::from_fn(|s| self.acc.get(s * width..(s + 1) * width).unwrap_or_default());
        for (column, o) in out.iter_mut().enumerate().take(width) {
            *o = fold(stripes.map(|s| s.get(column).copied().unwrap_or(T::ZERO)));
        }
    }
}
