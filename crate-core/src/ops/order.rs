//! What `argsort` and `top_k` share: the order of a line. Stable; NaN counts as the largest, as in PyTorch.

use std::cmp::Ordering;

use super::def::Cx;
use super::lines::Around;
use crate::math::Real;

fn compare<T: Real>(x: T, y: T) -> Ordering {
    x.partial_cmp(&y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
}

/// Writes, for each line of the first source along an axis, the first `k` positions of its order.
pub(super) fn lines<T: Real>(cx: &mut Cx<'_, T>, axis: usize, k: usize, descending: bool) {
    let Some(a) = cx.src.first() else { return };
    let of = Around::new(a.ty.shape, axis);
    let mut places: Vec<(usize, T)> = Vec::with_capacity(of.n);
    for line in 0..of.outer * of.inner {
        let (block, lane) = (line / of.inner.max(1), line % of.inner.max(1));
        let start = block * of.n * of.inner + lane;
        let values = a.data.iter().skip(start).step_by(of.inner.max(1)).take(of.n);
        places.clear();
        places.extend(values.copied().enumerate());
        places.sort_by(|(_, x), (_, y)| if descending { compare(*y, *x) } else { compare(*x, *y) });
        for (ix, (place, _)) in places.iter().take(k).enumerate() {
            if let Some(o) = cx.out.get_mut((block * k + ix) * of.inner + lane) {
                *o = T::from_f64(*place as f64);
            }
        }
    }
}
