//! A fold as sheets, one an axis: which cells land on which, and the running totals. Arithmetic without markup.

use foldback::report::StretchRow;

/// One axis folded away.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sheet {
    /// The axis's name.
    pub name: String,
    /// Which axis of the large shape.
    pub axis: usize,
    /// Cells it is folded onto; more than 1 where the operand was tiled.
    pub from: usize,
    /// Cells along it.
    pub to: usize,
    /// The other axes, flattened.
    pub rows: Vec<Row>,
}

/// One line along the axis.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Row {
    /// Its index in the other axes, as `[token 0]` has it.
    pub index: Vec<(usize, usize)>,
    /// What arrives.
    pub cells: Vec<f64>,
    /// For each cell it is folded onto, the flat index of the origin.
    pub origins: Vec<usize>,
}

impl Row {
    /// The total of one landing cell before any page has landed, and after each of them; added up as `f32`.
    pub(super) fn running(&self, onto: usize) -> Vec<f64> {
        let n = self.origins.len().max(1);
        let mut out = Vec::with_capacity(self.cells.len() + 1);
        let mut total: Option<f32> = None;
        out.push(0.0);
        for (page, cell) in self.cells.iter().enumerate() {
            if page % n == onto {
                total = Some(total.map_or(*cell as f32, |total| total + *cell as f32));
            }
            out.push(total.map_or(0.0, f64::from));
        }
        out
    }

    /// The total of one landing cell.
    pub(super) fn total(&self, onto: usize) -> f64 {
        self.running(onto).last().copied().unwrap_or(0.0)
    }
}

/// The sheets of a fold of `values`, which have this shape, in this order of the axes.
pub(super) fn sheets(values: &[f64], shape: &[u32], axes: &[StretchRow]) -> Vec<Sheet> {
    let mut extents: Vec<usize> = shape.iter().map(|d| *d as usize).collect();
    // What the operand has, for the index of an origin.
    let mut small = extents.clone();
    for a in axes {
        if let Some(extent) = small.get_mut(usize::from(a.axis)) {
            *extent = a.from as usize;
        }
    }
    let mut values = values.to_vec();
    let mut out = Vec::new();
    for a in axes {
        let axis = usize::from(a.axis);
        let (from, to) = (a.from.max(1) as usize, a.to as usize);
        let inner: usize = extents.iter().skip(axis + 1).product();
        let outer: usize = extents.iter().take(axis).product();
        let mut rows = Vec::with_capacity(outer * inner);
        let mut folded = vec![0.0; outer * from * inner];
        for o in 0..outer {
            for i in 0..inner {
                let at = |j: usize| (o * to + j) * inner + i;
                let cells: Vec<f64> =
                    (0..to).map(|j| values.get(at(j)).copied().unwrap_or(f64::NAN)).collect();
                let mut index = unravel(o, extents.get(..axis).unwrap_or(&[]), 0);
                index.extend(unravel(i, extents.get(axis + 1..).unwrap_or(&[]), axis + 1));
                let origins = (0..from).map(|onto| origin(&index, axis, onto, &small)).collect();
                let row = Row { index, cells, origins };
                for onto in 0..from {
                    if let Some(cell) = folded.get_mut((o * from + onto) * inner + i) {
                        *cell = row.total(onto);
                    }
                }
                rows.push(row);
            }
        }
        out.push(Sheet { name: a.name.clone(), axis, from, to, rows });
        if let Some(extent) = extents.get_mut(axis) {
            *extent = from;
        }
        values = folded;
    }
    out
}

/// A flat index as one of each axis, with the axes' numbers.
fn unravel(flat: usize, extents: &[usize], first: usize) -> Vec<(usize, usize)> {
    let mut rest = flat;
    let mut out: Vec<(usize, usize)> = Vec::with_capacity(extents.len());
    for (ix, extent) in extents.iter().enumerate().rev() {
        out.push((first + ix, rest % (*extent).max(1)));
        rest /= (*extent).max(1);
    }
    out.reverse();
    out
}

/// The flat index, in the operand, of the cell that a cell was copied from.
fn origin(index: &[(usize, usize)], axis: usize, onto: usize, small: &[usize]) -> usize {
    small.iter().enumerate().fold(0, |flat, (at, extent)| {
        let own = if at == axis {
            onto
        } else {
            index.iter().find(|(of, _)| *of == at).map_or(0, |(_, ix)| *ix)
        };
        flat * extent + own % (*extent).max(1)
    })
}

/// `a`, `b`, … `z`, `a1`, `b1`, …
pub(super) fn letter(origin: usize) -> String {
    let letter = char::from(b'a' + (origin % 26) as u8);
    match origin / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{letter, sheets};
    use foldback::report::StretchRow;

    fn axis(axis: u8, from: u32, to: u32) -> StretchRow {
        StretchRow { axis, name: format!("axis {axis}"), from, to }
    }

    /// The sums that a fold over these axes has, straight from the definition.
    fn expected(values: &[f64], shape: &[usize], small: &[usize]) -> Vec<f64> {
        let mut out = vec![0.0; small.iter().product()];
        for (flat, x) in values.iter().enumerate() {
            let (mut rest, mut at, mut stride) = (flat, 0, 1);
            for (extent, s) in shape.iter().zip(small).rev() {
                at += rest % extent % s * stride;
                stride *= s;
                rest /= extent;
            }
            out[at] += x;
        }
        out
    }

    #[test]
    fn one_axis() {
        let values: Vec<f64> = (1..=6).map(f64::from).collect();
        let sheets = sheets(&values, &[2, 3], &[axis(1, 1, 3)]);
        let totals: Vec<f64> = sheets[0].rows.iter().map(|row| row.total(0)).collect();
        assert_eq!(totals, expected(&values, &[2, 3], &[2, 1]));
        assert_eq!(sheets[0].rows[1].origins, [1]);
        assert_eq!(sheets[0].rows[1].running(0), [0.0, 4.0, 9.0, 15.0]);
    }

    #[test]
    fn tiles_add_up_every_other_cell() {
        let values: Vec<f64> = (1..=6).map(f64::from).collect();
        let sheets = sheets(&values, &[6], &[axis(0, 2, 6)]);
        let row = &sheets[0].rows[0];
        assert_eq!((row.total(0), row.total(1)), (9.0, 12.0));
        assert_eq!(row.origins, [0, 1]);
    }

    #[test]
    fn the_order_of_axes_does_not_matter() {
        let values: Vec<f64> = (0..24).map(|n| f64::from(n * n % 7)).collect();
        let axes = [axis(0, 1, 2), axis(2, 2, 4)];
        let last = |axes: &[StretchRow]| {
            let sheets = sheets(&values, &[2, 3, 4], axes);
            let rows = &sheets[1].rows;
            let mut cells: Vec<(usize, f64)> = rows
                .iter()
                .flat_map(|row| {
                    let total = move |(ix, o): (usize, &usize)| (*o, row.total(ix));
                    row.origins.iter().enumerate().map(total)
                })
                .collect();
            cells.sort_by_key(|cell| cell.0);
            cells.into_iter().map(|cell| cell.1).collect::<Vec<_>>()
        };
        let [a, b] = axes;
        let want = expected(&values, &[2, 3, 4], &[1, 3, 2]);
        assert_eq!(last(&[a.clone(), b.clone()]), want);
        assert_eq!(last(&[b, a]), want);
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([letter(0), letter(25), letter(26), letter(53)], ["a", "z", "a1", "b2"]);
    }
}
