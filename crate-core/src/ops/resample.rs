//! What `upscale` and its adjoint share: which entries of an axis go into each new one, and how much of each.
//! As in ggml.c, UPSCALE; the same numbers as PyTorch's `interpolate`.

use super::def::{Default as Missing, ParamKind, ParamSpec};
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::Shape;

const FACTOR: usize = 0;
const SIZE: usize = 1;
const MODE: usize = 2;
const CORNERS: usize = 3;

/// The attributes of `upscale`.
pub(super) const PARAMS: &[ParamSpec] = &[
    ParamSpec::new("factor", ParamKind::Int, Missing::Absent).or(&["scale_factor"]),
    ParamSpec::new("size", ParamKind::Ints, Missing::Absent),
    ParamSpec::new("mode", ParamKind::Text, Missing::Absent),
    ParamSpec::new("align_corners", ParamKind::Bool, Missing::Bool(false)),
];

/// For each new entry of an axis, two old ones and the share of the second.
pub(super) type Taps = Vec<(usize, usize, f64)>;

fn smooth(params: &Params) -> Result<bool, Reason> {
    match params.text(MODE) {
        None | Some("nearest") => Ok(false),
        Some("bilinear") => Ok(true),
        Some(_) => Err(Reason::BadParam { param: "mode", wants: "\"nearest\" or \"bilinear\"" }),
    }
}

/// The new height and width.
pub(super) fn size(of: Shape, params: &Params) -> Result<[u32; 2], Reason> {
    smooth(params)?;
    let [.., h, w] = of.padded();
    if of.rank() < 2 || h == 0 || w == 0 {
        return Err(Reason::BadShape { wants: "an image of at least one pixel", got: of });
    }
    let bad = Reason::BadParam { param: "size", wants: "two extents, or a factor of 1 or more" };
    let size = match (params.int(FACTOR), params.ints(SIZE).as_deref()) {
        (Some(factor), None) => {
            let factor = u32::try_from(factor).ok().filter(|f| *f > 0).ok_or(bad.clone())?;
            [h, w].map(|d| d.checked_mul(factor))
        }
        (None, Some([h, w])) => [u32::try_from(*h).ok(), u32::try_from(*w).ok()],
        _ => return Err(bad),
    };
    match size {
        [Some(h), Some(w)] => Ok([h, w]),
        _ => Err(bad),
    }
}

/// How an axis of `from` entries becomes one of `to`.
pub(super) fn taps(from: u32, to: u32, params: &Params) -> Taps {
    let last = f64::from(from.saturating_sub(1));
    let smooth = smooth(params).unwrap_or(false);
    let corners = params.flag(CORNERS) && smooth && to > 1;
    let step = if corners { last / f64::from(to - 1) } else { f64::from(from) / f64::from(to) };
    (0..to)
        .map(|i| {
            if !smooth {
                // Whole numbers: no rounding can pick a neighbour.
                let at = u64::from(i) * u64::from(from) / u64::from(to.max(1));
                return (at as usize, at as usize, 0.0);
            }
            let shift = if corners { 0.0 } else { 0.5 };
            let place = (f64::from(i) + shift) * step - shift;
            let place = place.clamp(0.0, last);
            let left = Real::floor(place);
            (left as usize, (left + 1.0).min(last) as usize, place - left)
        })
        .collect()
}

/// Calls `visit` with each new pixel, row-major, and each old one that goes into it, with its share.
pub(super) fn walk(
    planes: usize,
    [from, to]: [[u32; 2]; 2],
    params: &Params,
    mut visit: impl FnMut(usize, usize, f64),
) {
    let (rows, cols) = (taps(from[0], to[0], params), taps(from[1], to[1], params));
    let [h, w] = from.map(|d| d as usize);
    let mut at = 0;
    for plane in 0..planes {
        for (top, bottom, down) in &rows {
            for (left, right, across) in &cols {
                for (y, sy) in [(top, 1.0 - down), (bottom, *down)] {
                    for (x, sx) in [(left, 1.0 - across), (right, *across)] {
                        if sy * sx > 0.0 {
                            visit(at, (plane * h + y) * w + x, sy * sx);
                        }
                    }
                }
                at += 1;
            }
        }
    }
}
