//! Elements that are seen through a window: where each lies, and how they come to stand side by side.
//! Deliberately absent: writing through a window, which belongs to whoever owns the storage.

use crate::graph::View;
#[cfg(feature = "full")]
use crate::kernels::Kernels;
use crate::ops::def::Lane;
use crate::tensor::Shape;

/// Puts a window's elements side by side.
pub(super) fn gather<T: Lane>(root: &[T], view: &View, shape: Shape, out: &mut [T]) {
    #[cfg(feature = "full")]
    if let Some((outer, lines)) = planes(view, shape) {
        let [rows, columns] = lines.map(|(n, _)| n);
        for (at, plane) in outer.zip(out.chunks_exact_mut((rows * columns).max(1))) {
            turn(root.get(at..).unwrap_or_default(), lines, plane);
        }
        return;
    }
    for (o, at) in out.iter_mut().zip(Walk::new(view, shape)) {
        if let Some(x) = root.get(at) {
            *o = *x;
        }
    }
}

/// A window's last two axes, extent and step, and where each plane of them begins; `None` for steps back, and where
/// one element is shown many times.
#[cfg(feature = "full")]
fn planes(view: &View, shape: Shape) -> Option<(Walk, [(usize, usize); 2])> {
    let rank = shape.rank();
    let axis = |from_right: usize| {
        let axis = rank.checked_sub(from_right)?;
        let step = usize::try_from(*view.strides.get(axis)?).ok().filter(|step| *step > 0)?;
        Some((shape.dim(axis) as usize, step))
    };
    let outer = shape.with_dim(rank.checked_sub(2)?, 1).with_dim(rank - 1, 1);
    Some((Walk::new(view, outer), [axis(2)?, axis(1)?]))
}

/// Copies a plane in square pieces, so that neither side leaves the fastest cache.
#[cfg(feature = "full")]
fn turn<T: Lane>(from: &[T], [(rows, down), (columns, right)]: [(usize, usize); 2], out: &mut [T]) {
    const SIDE: usize = 16;
    if right == 1 {
        for (i, line) in out.chunks_exact_mut(columns.max(1)).enumerate() {
            if let Some(row) = from.get(i * down..i * down + columns) {
                line.copy_from_slice(row);
            }
        }
        return;
    }
    if down == 1
        && let Some(from) = T::as_f32(from)
        && let Some(out) = T::as_f32_mut(out)
    {
        return (Kernels::detect().transpose)(from, right, (rows, columns), out);
    }
    for i in (0..rows).step_by(SIDE) {
        for j in (0..columns).step_by(SIDE) {
            for i in i..rows.min(i + SIDE) {
                let line = out.get_mut(i * columns + j..i * columns + columns.min(j + SIDE));
                let column = from.get(i * down + j * right..).unwrap_or_default();
                for (o, x) in line.into_iter().flatten().zip(column.iter().step_by(right.max(1))) {
                    *o = *x;
                }
            }
        }
    }
}

/// The places of a window's elements, row-major.
pub(super) struct Walk {
    dims: [usize; 4],
    strides: [isize; 4],
    at: [usize; 4],
    place: isize,
    left: usize,
}

impl Walk {
    pub(super) fn new(view: &View, shape: Shape) -> Self {
        let lead = 4 - shape.rank();
        let mut strides = [0; 4];
        for (out, s) in strides.iter_mut().skip(lead).zip(view.strides) {
            *out = s;
        }
        Self {
            dims: shape.padded().map(|d| d as usize),
            strides,
            at: [0; 4],
            place: view.offset as isize,
            left: shape.n_elements() as usize,
        }
    }
}

impl Iterator for Walk {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let here = usize::try_from(self.place).ok()?;
        for axis in (0..4).rev() {
            self.at[axis] += 1;
            self.place += self.strides[axis];
            if self.at[axis] < self.dims[axis] {
                break;
            }
            self.place -= self.strides[axis] * self.at[axis] as isize;
            self.at[axis] = 0;
        }
        Some(here)
    }
}
