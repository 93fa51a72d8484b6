//! How `win_part` and its adjoint cut an image: square windows side by side, row after row, the last ones padded.

use super::def::{Default as Missing, ParamKind, ParamSpec};
use crate::graph::Params;
use crate::refusal::Reason;
use crate::tensor::Shape;

/// How wide and high a window is.
pub(super) const SIZE: ParamSpec =
    ParamSpec::new("size", ParamKind::Int, Missing::Required).or(&["w"]);

/// The size that attributes give where it stands first.
pub(super) fn size(params: &Params) -> Result<u32, Reason> {
    count(params.int(0))
}

/// A size, which is 1 at least.
pub(super) fn count(n: Option<i64>) -> Result<u32, Reason> {
    let n = n.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
    n.ok_or(Reason::BadParam { param: "size", wants: "a whole number from 1 on" })
}

/// An image `[h, w, c]` and the windows that it is cut into.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    image: [u32; 3],
    size: u32,
}

impl Cut {
    pub(super) fn new(image: [u32; 3], size: u32) -> Result<Self, Reason> {
        // A window that is wider than any image is padding for the most part: it would only be large.
        if u64::from(size) * u64::from(size) > u64::from(u32::MAX) {
            return Err(Reason::BadParam { param: "size", wants: "below 65536" });
        }
        Ok(Self { image, size })
    }

    /// How many windows there are along each axis.
    fn along(&self) -> [u32; 2] {
        [self.image[0], self.image[1]].map(|n| n.div_ceil(self.size))
    }

    /// The shape of all windows.
    pub(super) fn windows(&self) -> Result<Shape, Reason> {
        let [down, across] = self.along();
        let bad = Reason::BadParam { param: "size", wants: "more, for fewer than 2^32 windows" };
        let n = down.checked_mul(across).ok_or(bad.clone())?;
        Shape::new(&[n, self.size, self.size, self.image[2]]).ok_or(bad)
    }

    /// The shape of the image.
    pub(super) fn image(&self) -> Result<Shape, Reason> {
        Shape::new(&self.image).ok_or(Reason::BadParam { param: "size", wants: "an image" })
    }

    /// Elements of a pixel.
    pub(super) const fn depth(&self) -> usize {
        self.image[2] as usize
    }

    /// Calls `visit` for each pixel of the image: where it begins among the windows, and where in the image.
    pub(super) fn walk(&self, mut visit: impl FnMut(usize, usize)) {
        let [h, w, _] = self.image.map(|n| n as usize);
        let (size, depth) = (self.size as usize, self.depth());
        let across = w.div_ceil(size);
        for y in 0..h {
            for x in 0..w {
                let window = (y / size) * across + x / size;
                let inside = (y % size) * size + x % size;
                visit((window * size * size + inside) * depth, (y * w + x) * depth);
            }
        }
    }
}
