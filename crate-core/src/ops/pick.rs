//! How an index operand's elements are read: whole numbers inside the axis, or nothing.
//! Values are known only when the graph runs, so an index out of range is no refusal: it reads NaN, or what the text
//! gives instead, and writes nowhere, as JAX's gather (`mode="fill"`) and scatter (`mode="drop"`) do.
//! Never a wrong row.

use crate::graph::Params;
use crate::math::Real;

/// The entry, counted from 0.
pub(super) fn at<T: Real>(x: T, n: usize) -> Option<usize> {
    // The sum turns -0 into 0.
    let x = x.to_f64() + 0.0;
    let is_entry = x >= 0.0 && x < n as f64 && x.trunc().to_bits() == x.to_bits();
    is_entry.then_some(x as usize)
}

/// The entry; negative ones count from the end, as NumPy has it.
pub(super) fn wrapped<T: Real>(x: T, n: usize) -> Option<usize> {
    let x = x.to_f64();
    at(if x < 0.0 { x + n as f64 } else { x }, n)
}

/// What an index out of range reads: this attribute, or NaN.
pub(super) fn missing<T: Real>(params: &Params, ix: usize) -> T {
    T::from_f64(params.num(ix).unwrap_or(f64::NAN))
}

/// NaN: what an index out of range gives where there is no attribute for it.
pub(super) fn not_a_number<T: Real>() -> T {
    T::from_f64(f64::NAN)
}
