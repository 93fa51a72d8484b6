//! Products of matrices in f32: tiles of the result are kept in registers while the sum runs.
//! Every element of the result is the sum over `k` in order, from zero, whatever the tile: the bits are those of the
//! plain loop. Deliberately absent: threads.

#[cfg(feature = "full")]
use super::lanes::Lanes;

/// Rows of a tile.
const ROWS: usize = 4;

/// The longest part of the sum that runs at once: a strip of the second operand stays in the fastest cache.
const PANEL: usize = 512;

/// With fewer rows than this the second operand is read where it lies: putting it in strips would cost more.
const FEW: usize = 12;

/// A matrix as it lies in memory.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    /// Its elements.
    pub data: &'a [T],
    /// From a row to the next.
    pub row: usize,
    /// From a column to the next.
    pub column: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// A packed row-major matrix.
    pub const fn packed(data: &'a [T], columns: usize) -> Self {
        Self { data, row: columns, column: 1 }
    }

    /// The same places of other elements.
    #[cfg(feature = "full")]
    pub(super) const fn with<'b, U>(&self, data: &'b [U]) -> Matrix<'b, U> {
        Matrix { data, row: self.row, column: self.column }
    }

    /// Whether so many rows and columns of it lie inside its elements.
    pub(super) fn holds(&self, rows: usize, columns: usize) -> bool {
        let last = |n: usize, step: usize| n.checked_sub(1).map(|n| n.saturating_mul(step));
        match (last(rows, self.row), last(columns, self.column)) {
            (Some(down), Some(right)) => down.saturating_add(right) < self.data.len(),
            _ => true,
        }
    }
}

/// `out = a b`, with sizes `(m, k, n)`. The caller has checked that both operands hold as much.
#[inline(always)]
pub(super) fn product<L: Lanes, const WIDTH: usize>(
    a: Matrix<'_, f32>,
    b: Matrix<'_, f32>,
    out: &mut [f32],
    (m, k, n): (usize, usize, usize),
) {
    let mut strip = vec![[0.0; WIDTH]; k.min(PANEL)];
    let mut rows =
        vec![[0.0; ROWS]; if a.column == 1 { 0 } else { k.min(PANEL) * m.div_ceil(ROWS) }];
    for from in (0..k).step_by(PANEL) {
        let len = PANEL.min(k - from);
        let first = from == 0;
        if a.column != 1 {
            pack_rows(a, from, len, m, &mut rows);
        }
        for j in (0..n).step_by(WIDTH) {
            let whole = j + WIDTH <= n && b.column == 1;
            let in_place = whole && (m < FEW || b.row == WIDTH);
            if !in_place {
                pack_strip(b, from, j, WIDTH.min(n - j), strip.get_mut(..len).unwrap_or_default());
            }
            let strip = strip.get(..len).unwrap_or_default();
            let direct = b.data.get(from * b.row..).unwrap_or_default();
            for i in (0..m).step_by(ROWS) {
                let tile = Tile { out: &mut *out, n, i, j, first, height: ROWS.min(m - i) };
                let there = direct.chunks(b.row.max(1)).filter_map(|row| part_of(row, j));
                if a.column == 1 {
                    let row = |r: usize| {
                        let start = (i + r).min(m - 1) * a.row + from;
                        a.data.get(start..start + len).unwrap_or_default()
                    };
                    let [r0, r1, r2, r3] = [row(0), row(1), row(2), row(3)];
                    let factors = r0.iter().zip(r1).zip(r2).zip(r3);
                    let factors = factors.map(|(((a, b), c), d)| [*a, *b, *c, *d]);
                    if in_place {
                        tile.run::<L, WIDTH>(factors.zip(there));
                    } else {
                        tile.run::<L, WIDTH>(factors.zip(strip));
                    }
                } else {
                    let at = i / ROWS * len;
                    let factors = rows.get(at..at + len).unwrap_or_default().iter().copied();
                    if in_place {
                        tile.run::<L, WIDTH>(factors.zip(there));
                    } else {
                        tile.run::<L, WIDTH>(factors.zip(strip));
                    }
                }
            }
        }
    }
}

/// What stands in a row from column `j` on.
fn part_of<const WIDTH: usize>(row: &[f32], j: usize) -> Option<&[f32; WIDTH]> {
    row.get(j..j + WIDTH)?.as_array()
}

/// Puts four rows side by side, place by place of the sum, for every four.
fn pack_rows(a: Matrix<'_, f32>, from: usize, len: usize, m: usize, out: &mut [[f32; ROWS]]) {
    for (group, part) in out.chunks_exact_mut(len.max(1)).enumerate() {
        for (k, four) in part.iter_mut().enumerate() {
            let start = (from + k) * a.column + group * ROWS * a.row;
            if a.row == 1
                && let Some(whole) = a.data.get(start..start + ROWS)
                && group * ROWS + ROWS <= m
            {
                four.copy_from_slice(whole);
                continue;
            }
            for (r, x) in four.iter_mut().enumerate() {
                // A row too many is a row twice: nobody reads what comes of it.
                let r = r.min((m - 1).saturating_sub(group * ROWS));
                *x = a.data.get(start + r * a.row).copied().unwrap_or(0.0);
            }
        }
    }
}

/// Puts the columns of a strip side by side, place by place of the sum; zeros where the matrix ends.
fn pack_strip<const WIDTH: usize>(
    b: Matrix<'_, f32>,
    from: usize,
    j: usize,
    columns: usize,
    out: &mut [[f32; WIDTH]],
) {
    if b.column == 1 {
        for (k, line) in out.iter_mut().enumerate() {
            let start = (from + k) * b.row + j;
            let own = b.data.get(start..start + columns).unwrap_or_default();
            if let Some(own) = own.as_array::<WIDTH>() {
                *line = *own;
                continue;
            }
            line.fill(0.0);
            for (x, o) in own.iter().zip(line) {
                *o = *x;
            }
        }
        return;
    }
    if columns < WIDTH {
        out.fill([0.0; WIDTH]);
    }
    for c in 0..columns {
        let start = from * b.row + (j + c) * b.column;
        let column = b.data.get(start..).unwrap_or_default().iter().step_by(b.row.max(1));
        for (line, x) in out.iter_mut().zip(column) {
            if let Some(o) = line.get_mut(c) {
                *o = *x;
            }
        }
    }
}

/// A part of the result.
struct Tile<'a> {
    out: &'a mut [f32],
    n: usize,
    i: usize,
    j: usize,
    /// Whether the sum begins here; else it goes on from what stands there.
    first: bool,
    height: usize,
}

impl Tile<'_> {
    /// Adds the products of four factors with a strip's line, place by place.
    #[inline(always)]
    fn run<'b, L: Lanes, const WIDTH: usize>(
        self,
        pairs: impl Iterator<Item = ([f32; ROWS], &'b [f32; WIDTH])>,
    ) {
        let width = WIDTH.min(self.n - self.j);
        let mut acc = [[L::splat(0.0); 2]; ROWS];
        let mut edge = [[0.0; WIDTH]; ROWS];
        if !self.first {
            for (r, line) in edge.iter_mut().enumerate().take(self.height) {
                let start = (self.i + r) * self.n + self.j;
                let stands = self.out.get(start..start + width).unwrap_or_default();
                for (o, x) in line.iter_mut().zip(stands) {
                    *o = *x;
                }
            }
            for (sums, line) in acc.iter_mut().zip(&edge) {
                for (sum, lane) in sums.iter_mut().zip(line.as_chunks::<8>().0) {
                    *sum = L::load(lane);
                }
            }
        }
        for (factors, line) in pairs {
            let lanes = line.as_chunks::<8>().0;
            for (sums, factor) in acc.iter_mut().zip(factors) {
                let factor = L::splat(factor);
                for (sum, lane) in sums.iter_mut().zip(lanes) {
                    *sum = sum.add(factor.mul(L::load(lane)));
                }
            }
        }
        for (sums, line) in acc.iter().zip(&mut edge) {
            for (sum, lane) in sums.iter().zip(line.as_chunks_mut::<8>().0) {
                sum.store(lane);
            }
        }
        for (r, line) in edge.iter().enumerate().take(self.height) {
            let start = (self.i + r) * self.n + self.j;
            if let Some(place) = self.out.get_mut(start..start + width) {
                for (o, x) in place.iter_mut().zip(line) {
                    *o = *x;
                }
            }
        }
    }
}
