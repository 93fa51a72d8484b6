//! Products of matrices in f32: tiles of the result are kept in registers while the sum runs.
//! Every element of the result is the sum over `k` in order, from zero, whatever the tile: the bits are those of the
//! plain loop. Deliberately absent: threads.
#![cfg_attr(
    feature = "full",
    expect(
        clippy::inline_always,
        reason = "what is not part of its caller is compiled for every machine"
    )
)]

#[cfg(feature = "full")]
use super::lanes::Lanes;

/// Rows of a tile.
#[cfg(feature = "full")]
const ROWS: usize = 4;

/// The longest part of the sum that runs at once: a strip of the second operand stays in the fastest cache.
#[cfg(feature = "full")]
const PANEL: usize = 512;

/// With fewer rows than this the second operand is read where it lies: putting it in strips would cost more.
#[cfg(feature = "full")]
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
#[cfg(feature = "full")]
#[inline(always)]
pub(super) fn product<L: Lanes, const WIDTH: usize>(
    a: Matrix<'_, f32>,
    b: Matrix<'_, f32>,
    out: &mut [f32],
    (m, k, n): (usize, usize, usize),
) {
    let mut packed = vec![[0.0; WIDTH]; k.min(PANEL)];
    let mut rows = vec![[0.0; ROWS]; k.min(PANEL) * m.div_ceil(ROWS)];
    for from in (0..k).step_by(PANEL) {
        let len = PANEL.min(k - from);
        pack_rows::<L>(a, from, len, m, &mut rows);
        for j in (0..n).step_by(WIDTH) {
            // Rows that overlap are those of a matrix with one row, or with one row turned.
            let lies = j + WIDTH <= n && b.column == 1 && b.row >= n;
            let few = m < FEW && lies && b.row != WIDTH;
            let there = b.data.get(from * b.row..).unwrap_or_default();
            let strip = if lies && b.row == WIDTH {
                there.as_chunks::<WIDTH>().0
            } else {
                if !few {
                    pack_strip(
                        b,
                        from,
                        j,
                        WIDTH.min(n - j),
                        packed.get_mut(..len).unwrap_or_default(),
                    );
                }
                &packed
            };
            let strip = strip.get(..len).unwrap_or_default();
            for i in (0..m).step_by(ROWS) {
                let tile = Tile { n, i, j, height: ROWS.min(m - i) };
                let mut acc = Acc::<L>([[L::splat(0.0); 2]; ROWS]);
                if from > 0 {
                    acc.load::<WIDTH>(&tile, out);
                }
                let at = i / ROWS * len;
                let rows = rows.get(at..at + len).unwrap_or_default();
                if few {
                    let lines = there.chunks(b.row).filter_map(|row| part_of::<WIDTH>(row, j));
                    acc.add(rows, lines);
                } else {
                    acc.add(rows, strip.iter());
                }
                acc.store::<WIDTH>(&tile, out);
            }
        }
    }
}

/// Sums that are going on: four rows, up to two vectors wide.
#[cfg(feature = "full")]
struct Acc<L>([[L; 2]; ROWS]);

#[cfg(feature = "full")]
impl<L: Lanes> Acc<L> {
    /// Adds the products of four factors with a strip's line, for each of them. One place of the sum a turn, its factors
    /// side by side: WebAssembly's compilers run out of registers over more.
    #[inline(always)]
    fn add<'a, const WIDTH: usize>(
        &mut self,
        rows: &[[f32; ROWS]],
        mut strip: impl Iterator<Item = &'a [f32; WIDTH]>,
    ) {
        let mut own = self.0;
        for factors in rows {
            // Two pointers that move, which `zip` would make one index of.
            let Some(line) = strip.next() else { break };
            for (sums, factor) in own.iter_mut().zip(factors) {
                let factor = L::splat(*factor);
                for (sum, lane) in sums.iter_mut().zip(line.as_chunks::<8>().0) {
                    *sum = sum.add(factor.mul(L::load(lane)));
                }
            }
        }
        self.0 = own;
    }

    /// Goes on from what stands in the result.
    #[inline(always)]
    fn load<const WIDTH: usize>(&mut self, tile: &Tile, out: &[f32]) {
        for (r, sums) in self.0.iter_mut().enumerate().take(tile.height) {
            let mut line = [0.0; WIDTH];
            let stands = out.get(tile.row::<WIDTH>(r)).unwrap_or_default();
            for (o, x) in line.iter_mut().zip(stands) {
                *o = *x;
            }
            for (sum, lane) in sums.iter_mut().zip(line.as_chunks::<8>().0) {
                *sum = L::load(lane);
            }
        }
    }

    /// Puts the sums into the result.
    #[inline(always)]
    fn store<const WIDTH: usize>(&self, tile: &Tile, out: &mut [f32]) {
        for (r, sums) in self.0.iter().enumerate().take(tile.height) {
            let place = out.get_mut(tile.row::<WIDTH>(r)).unwrap_or_default();
            if let Some(place) = place.as_mut_array::<WIDTH>() {
                for (sum, lane) in sums.iter().zip(place.as_chunks_mut::<8>().0) {
                    sum.store(lane);
                }
                continue;
            }
            let mut line = [0.0; WIDTH];
            for (sum, lane) in sums.iter().zip(line.as_chunks_mut::<8>().0) {
                sum.store(lane);
            }
            for (o, x) in place.iter_mut().zip(line) {
                *o = x;
            }
        }
    }
}

/// A part of the result.
#[cfg(feature = "full")]
struct Tile {
    n: usize,
    i: usize,
    j: usize,
    height: usize,
}

#[cfg(feature = "full")]
impl Tile {
    /// Where one of its rows lies.
    #[inline(always)]
    fn row<const WIDTH: usize>(&self, r: usize) -> std::ops::Range<usize> {
        let start = (self.i + r) * self.n + self.j;
        start..start + WIDTH.min(self.n - self.j)
    }
}

/// What stands in a row from column `j` on.
#[cfg(feature = "full")]
fn part_of<const WIDTH: usize>(row: &[f32], j: usize) -> Option<&[f32; WIDTH]> {
    row.get(j..j + WIDTH)?.as_array()
}

/// Puts four rows side by side, place by place of the sum, for every four.
#[cfg(feature = "full")]
#[inline(always)]
fn pack_rows<L: Lanes>(
    a: Matrix<'_, f32>,
    from: usize,
    len: usize,
    m: usize,
    out: &mut [[f32; ROWS]],
) {
    for (group, part) in out.chunks_exact_mut(len.max(1)).enumerate() {
        if a.column == 1 {
            let row = |r: usize| {
                // A row too many is a row twice: nobody reads what comes of it.
                let start = (group * ROWS + r).min(m.saturating_sub(1)) * a.row + from;
                a.data.get(start..start + len).unwrap_or_default()
            };
            let [(a, ra), (b, rb), (c, rc), (d, rd)] =
                [row(0), row(1), row(2), row(3)].map(<[f32]>::as_chunks::<4>);
            let (squares, rest) = part.as_chunks_mut::<4>();
            for ((((square, a), b), c), d) in squares.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *square = L::turn([a, b, c, d]);
            }
            for ((((four, a), b), c), d) in rest.iter_mut().zip(ra).zip(rb).zip(rc).zip(rd) {
                *four = [*a, *b, *c, *d];
            }
            continue;
        }
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
#[cfg(feature = "full")]
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
