//! Folds and swaps of packed numbers, for trying out what a wrong backward may have done.
//! Deliberately absent: the engine's own kernels; a doctor does not ask the patient.

use crate::tensor::Shape;

/// Extents aligned to the right, and the rank they came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    pub(super) dims: [usize; 4],
    rank: usize,
}

impl Layout {
    pub(super) fn new(shape: Shape) -> Self {
        Self { dims: shape.padded().map(|d| d as usize), rank: shape.rank() }
    }

    /// An axis as the text counts it.
    pub(super) fn axis(self, padded: usize) -> usize {
        (padded + self.rank).saturating_sub(4)
    }

    /// The same with two extents swapped.
    pub(super) fn swap(mut self, a: usize, b: usize) -> Self {
        self.dims.swap(a, b);
        self
    }

    fn index(self, mut flat: usize) -> [usize; 4] {
        let mut out = [0; 4];
        for (slot, d) in out.iter_mut().zip(self.dims).rev() {
            *slot = flat % d.max(1);
            flat /= d.max(1);
        }
        out
    }

    fn flat(self, at: [usize; 4]) -> usize {
        at.iter().zip(self.dims).fold(0, |flat, (i, d)| flat * d + i)
    }
}

/// Numbers of a layout with two axes swapped, packed anew.
pub(super) fn swapped(data: &[f64], layout: Layout, a: usize, b: usize) -> Vec<f64> {
    let to = layout.swap(a, b);
    let read = |flat: usize| {
        let mut at = to.index(flat);
        at.swap(a, b);
        data.get(layout.flat(at)).copied().unwrap_or(f64::NAN)
    };
    (0..data.len()).map(read).collect()
}

/// Sums numbers of one layout onto a smaller one that divides it: equal places of each tile, or, along the axes of
/// `neighbours`, consecutive places. Empty where it does not divide.
pub(super) fn fold(data: &[f64], from: Layout, to: Layout, neighbours: [bool; 4]) -> Vec<f64> {
    let divides = |(large, small): (&usize, &usize)| *small > 0 && large.is_multiple_of(*small);
    if !from.dims.iter().zip(&to.dims).all(divides) {
        return Vec::new();
    }
    let mut out = vec![0.0; to.dims.iter().product()];
    for (flat, x) in data.iter().enumerate() {
        let mut at = from.index(flat);
        for axis in 0..4 {
            let (large, small) = (from.dims[axis], to.dims[axis]);
            at[axis] = if neighbours[axis] { at[axis] / (large / small) } else { at[axis] % small };
        }
        if let Some(slot) = out.get_mut(to.flat(at)) {
            *slot += x;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Layout, fold, swapped};
    use crate::tensor::Shape;

    fn layout(dims: &[u32]) -> Layout {
        Layout::new(Shape::new(dims).unwrap_or(Shape::SCALAR))
    }

    #[test]
    fn a_fold_adds_tiles_or_neighbours() {
        let (from, to) = (layout(&[4]), layout(&[2]));
        let data = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(fold(&data, from, to, [false; 4]), [4.0, 6.0]);
        assert_eq!(fold(&data, from, to, [false, false, false, true]), [3.0, 7.0]);
        assert!(fold(&data, from, layout(&[3]), [false; 4]).is_empty());
    }

    #[test]
    fn a_swap_reads_columns_as_rows() {
        let data = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(swapped(&data, layout(&[2, 3]), 2, 3), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(layout(&[2, 3]).axis(3), 1);
    }
}
