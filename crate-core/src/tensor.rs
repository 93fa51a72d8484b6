//! Element types and shapes: what a tensor is before anybody computes with it.
//! Deliberately absent: values, strides of views (`graph`) and every broadcast rule (`rules`).

use std::fmt;
use std::num::NonZeroU32;

/// The most axes a tensor can have; ggml's limit, and ours.
pub const MAX_RANK: usize = 4;

/// How the elements of a tensor are stored. Arithmetic is f32 (f64 inside checks) whatever the storage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum DType {
    /// IEEE single precision, the default.
    F32,
    /// IEEE half precision; rounded when stored.
    F16,
    /// The upper half of an f32; rounded when stored.
    Bf16,
    /// Signed 32-bit integers: indices and counts.
    I32,
    /// The result of a comparison; counts as 0 and 1.
    Bool,
}

impl DType {
    /// Every type, in the order the documentation lists them.
    pub const ALL: &[Self] = &[Self::F32, Self::F16, Self::Bf16, Self::I32, Self::Bool];

    /// The word in the text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::I32 => "i32",
            Self::Bool => "bool",
        }
    }

    /// The type a word names.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|d| d.name() == name)
    }

    /// Whether a tensor of this type can carry a gradient.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F16 | Self::Bf16)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Extents in row-major order (the last axis is the fastest), with the rank the text gave.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    rank: u8,
    /// Left-aligned; axes beyond the rank hold 1, so that equality is equality of shapes.
    dims: [u32; MAX_RANK],
}

impl Shape {
    /// The shape of one number, `[]`.
    pub const SCALAR: Self = Self { rank: 0, dims: [1; MAX_RANK] };

    /// A shape of these extents, or `None` above four axes.
    pub fn new(dims: &[u32]) -> Option<Self> {
        let mut out = Self { rank: u8::try_from(dims.len()).ok()?, dims: [1; MAX_RANK] };
        out.dims.get_mut(..dims.len())?.copy_from_slice(dims);
        Some(out)
    }

    /// The extents, row-major.
    pub fn dims(&self) -> &[u32] {
        self.dims.get(..usize::from(self.rank)).unwrap_or(&self.dims)
    }

    /// The number of axes, 0 to 4.
    pub const fn rank(&self) -> usize {
        self.rank as usize
    }

    /// The extent of an axis counted from the left; 1 for an axis that is not there.
    pub fn dim(&self, axis: usize) -> u32 {
        self.dims().get(axis).copied().unwrap_or(1)
    }

    /// The number of elements; saturates, so that a bound can be checked before anything is allocated.
    #[inline]
    pub fn n_elements(&self) -> u64 {
        // Axes beyond the rank hold 1. Two extents fit; four nearly always do, and a product that may not is slow.
        let [a, b, c, d] = self.dims.map(u64::from);
        let (left, right) = (a * b, c * d);
        match (u32::try_from(left), u32::try_from(right)) {
            (Ok(_), Ok(_)) => left * right,
            _ => left.saturating_mul(right),
        }
    }

    /// The number of elements if no axis were empty: an axis of 0 must not hide another that is endless, since loops run
    /// over it all the same.
    pub fn n_at_least_one(mut self) -> u64 {
        match self.n_elements() {
            0 => {
                self.dims = self.dims.map(|d| d.max(1));
                self.n_elements()
            }
            n => n,
        }
    }

    /// The extents aligned to the right: axis 3 is the last axis, missing left axes are 1.
    pub fn padded(&self) -> [u32; MAX_RANK] {
        let mut out = [1; MAX_RANK];
        let lead = MAX_RANK - self.rank();
        for (axis, d) in self.dims().iter().enumerate() {
            out[lead + axis] = *d;
        }
        out
    }

    /// The extents in ggml's order, fastest first.
    pub fn ne(&self) -> [u32; MAX_RANK] {
        let p = self.padded();
        [p[3], p[2], p[1], p[0]]
    }

    /// Whether both are the same to ggml, which knows no rank: axes of 1 on the left do not count.
    pub fn same_extents(&self, other: &Self) -> bool {
        self.padded() == other.padded()
    }

    /// Steps, in elements, between neighbours along each axis of a packed tensor of this shape.
    pub fn strides(&self) -> [isize; MAX_RANK] {
        let mut out = [0; MAX_RANK];
        let mut step = 1isize;
        for axis in (0..self.rank()).rev() {
            out[axis] = step;
            step = step.saturating_mul(self.dim(axis) as isize);
        }
        out
    }

    /// The same shape with one axis of another extent.
    #[must_use]
    pub fn with_dim(mut self, axis: usize, extent: u32) -> Self {
        if axis < self.rank() {
            self.dims[axis] = extent;
        }
        self
    }

    /// The axis that `axis` names: negative ones count from the right.
    pub fn resolve_axis(&self, axis: i64) -> Option<usize> {
        let rank = self.rank() as i64;
        let at = if axis < 0 { axis.checked_add(rank)? } else { axis };
        (0..rank).contains(&at).then_some(at as usize)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (axis, d) in self.dims().iter().enumerate() {
            if axis > 0 {
                f.write_str(",")?;
            }
            write!(f, "{d}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An axis name, an index into the graph's list of names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AxisName(NonZeroU32);

impl AxisName {
    /// The name at this place of the list; `None` past 2^32 - 2 names.
    pub fn at(ix: usize) -> Option<Self> {
        u32::try_from(ix).ok()?.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    /// Its place in the list.
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// One optional name for each axis, left-aligned like [`Shape::dims`].
pub type Axes = [Option<AxisName>; MAX_RANK];

/// What is known of a tensor without its values.
#[derive(Clone, Copy, Debug)]
pub struct TensorType {
    /// How elements are stored.
    pub dtype: DType,
    /// Extents.
    pub shape: Shape,
    /// Names of the axes; they travel with an axis and never decide whether something is allowed.
    pub axes: Axes,
}

impl TensorType {
    /// An f32 tensor without axis names.
    pub const fn f32(shape: Shape) -> Self {
        Self { dtype: DType::F32, shape, axes: [None; MAX_RANK] }
    }

    /// The same axes and shape, stored as f32: what arithmetic gives.
    #[must_use]
    pub const fn as_f32(self) -> Self {
        Self { dtype: DType::F32, ..self }
    }
}

/// Rounds to the nearest number that the type can store; ties go to even.
pub fn round_to(dtype: DType, x: f64) -> f64 {
    match dtype {
        DType::F32 => f64::from(x as f32),
        DType::F16 => f64::from(round_bits(x as f32, 13, -14, 65504.0)),
        DType::Bf16 => f64::from(round_bits(x as f32, 16, -126, 3.389_531_4e38)),
        DType::I32 => f64::from(x as i32),
        DType::Bool => f64::from(u8::from(x != 0.0)),
    }
}

/// Rounds an f32 to a shorter float: `drop` bits fewer in the significand, smallest normal exponent `min_exp`.
fn round_bits(x: f32, drop: u32, min_exp: i32, max: f32) -> f32 {
    if !x.is_finite() || x == 0.0 {
        return x;
    }
    let exponent = ((x.to_bits() >> 23) & 0xff) as i32 - 127;
    // Subnormals of the short type keep fewer bits still: one step there is 2^(min_exp - kept bits).
    let step_exp = exponent.max(min_exp) - (23 - drop as i32);
    let step = pow2(step_exp);
    let scaled = f64::from(x) / step;
    let floor = scaled.floor();
    let rounded = match (scaled - floor).partial_cmp(&0.5) {
        Some(std::cmp::Ordering::Less) => floor,
        Some(std::cmp::Ordering::Greater) => floor + 1.0,
        _ => floor + (floor.rem_euclid(2.0)),
    };
    let back = (rounded * step) as f32;
    if back.abs() > max { f32::INFINITY.copysign(x) } else { back }
}

/// 2^n for exponents of normal f64 numbers, exactly.
fn pow2(n: i32) -> f64 {
    f64::from_bits(((n + 1023).clamp(1, 2046) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::{DType, Shape, round_to};

    #[test]
    fn half_precision_rounds_to_even_and_keeps_subnormals() {
        let cases = [
            (1.0, 1.0),
            (2049.0, 2048.0),
            (2051.0, 2052.0),
            (65504.0, 65504.0),
            (65520.0, f64::INFINITY),
            (6.0e-8, 5.960_464_477_539_063e-8),
            (1.0e-8, 0.0),
        ];
        for (x, want) in cases {
            assert_eq!(round_to(DType::F16, x).to_bits(), f64::to_bits(want), "{x}");
        }
        assert_eq!(round_to(DType::Bf16, 257.0).to_bits(), 256.0f64.to_bits());
        assert_eq!(round_to(DType::Bf16, 259.0).to_bits(), 260.0f64.to_bits());
    }

    #[test]
    fn extents_align_right_for_ggml() {
        let flat = Shape::new(&[2]);
        let row = Shape::new(&[1, 2]);
        assert_ne!(flat, row);
        assert!(flat.zip(row).is_some_and(|(a, b)| a.same_extents(&b)));
        assert_eq!(Shape::new(&[1, 2, 3, 4, 5]), None);
    }
}
