//! What `rope` and its adjoint share: which channels turn together, and by what angle. Mirrors ggml.c, ROPE, with the
//! YaRN mix of 3.5: pair p of n turns by pos · base^(-2p/n) / `factor[p]`.

use super::def::{Cx, Default as Missing, ParamKind, ParamSpec, ShapeCx};
use crate::graph::Params;
use crate::math::{self, Real};
use crate::refusal::Reason;
use crate::tensor::{DType, Shape, TensorType};

const N_DIMS: usize = 0;
const MODE: usize = 1;
const BASE: usize = 2;
const FREQ_SCALE: usize = 3;
const EXT: usize = 4;
const ATTN: usize = 5;
const BETA_FAST: usize = 6;
const BETA_SLOW: usize = 7;
const N_CTX: usize = 8;
pub(super) const N_OFFS: usize = 9;

/// The attributes of a rotation.
pub(super) const PARAMS: &[ParamSpec] = &[
    ParamSpec::new("n_dims", ParamKind::Int, Missing::Absent).or(&["n_rot"]),
    ParamSpec::new("mode", ParamKind::Text, Missing::Absent),
    ParamSpec::new("base", ParamKind::Num, Missing::Num(10_000.0)).or(&["freq_base", "theta"]),
    ParamSpec::new("freq_scale", ParamKind::Num, Missing::Num(1.0)),
    ParamSpec::new("ext_factor", ParamKind::Num, Missing::Num(0.0)),
    ParamSpec::new("attn_factor", ParamKind::Num, Missing::Num(1.0)),
    ParamSpec::new("beta_fast", ParamKind::Num, Missing::Num(32.0)),
    ParamSpec::new("beta_slow", ParamKind::Num, Missing::Num(1.0)),
    ParamSpec::new("n_ctx_orig", ParamKind::Num, Missing::Num(4096.0)),
    ParamSpec::new("n_offs", ParamKind::Int, Missing::Int(0)),
];

/// How the channels of a row turn.
pub(super) struct Turn {
    /// Channels that turn, from `offset` on.
    pub(super) n: usize,
    pub(super) offset: usize,
    /// Whether channel p turns with p + n/2, as NeoX has it, and not with its neighbour.
    pub(super) halves: bool,
    /// How much longer a turned pair is.
    magnitude: f64,
    /// The angle at position 1 of each pair, before its factor divides it.
    pub(super) speeds: Vec<f64>,
}

impl Turn {
    pub(super) fn new(of: Shape, params: &Params) -> Result<Self, Reason> {
        let [.., width] = of.padded();
        let bad = |param, wants| Reason::BadParam { param, wants };
        let n = params.int(N_DIMS).unwrap_or(i64::from(width));
        let n = usize::try_from(n).ok().filter(|n| n % 2 == 0 && *n <= width as usize);
        let n = n.ok_or(bad("n_dims", "an even number of channels of the row"))?;
        let offset = usize::try_from(params.int(N_OFFS).unwrap_or(0)).ok();
        let offset = offset.filter(|o| o % 2 == 0 && o.saturating_add(n) <= width as usize);
        let offset = offset.ok_or(bad("n_offs", "an even offset that leaves room for n_dims"))?;
        let halves = match params.text(MODE) {
            None | Some("normal" | "norm") => false,
            Some("neox") => true,
            Some(_) => return Err(bad("mode", "\"normal\" or \"neox\"")),
        };
        let get = |ix, other| params.num(ix).unwrap_or(other);
        let base = get(BASE, 10_000.0);
        if base.is_nan() || base <= 0.0 {
            return Err(bad("base", "above 0"));
        }
        let (scale, ext) = (get(FREQ_SCALE, 1.0), get(EXT, 0.0));
        let mut magnitude = get(ATTN, 1.0);
        let mut mix = vec![0.0; n / 2];
        if ext.abs() > 0.0 {
            let last = (n as f64 - 1.0).max(0.0);
            let turns = |r: f64| {
                let pairs = get(N_CTX, 4096.0) / (r * std::f64::consts::TAU);
                n as f64 * math::ln(pairs) / (2.0 * math::ln(base))
            };
            let low = Real::floor(turns(get(BETA_FAST, 32.0))).max(0.0);
            let high = Real::ceil(turns(get(BETA_SLOW, 1.0))).min(last);
            for (pair, slot) in mix.iter_mut().enumerate() {
                let along = (pair as f64 - low) / (high - low).max(0.001);
                *slot = ext * (1.0 - along.clamp(0.0, 1.0));
            }
            magnitude *= 1.0 + 0.1 * math::ln(1.0 / scale);
        }
        let speed = |(pair, mix): (usize, f64)| {
            let plain = Real::pow(base, -2.0 * pair as f64 / n.max(1) as f64);
            plain * (scale * (1.0 - mix) + mix)
        };
        let speeds = mix.into_iter().enumerate().map(speed).collect();
        Ok(Self { n, offset, halves, magnitude, speeds })
    }

    /// The two channels of a pair.
    fn channels(&self, pair: usize) -> (usize, usize) {
        if self.halves {
            (self.offset + pair, self.offset + pair + self.n / 2)
        } else {
            (self.offset + 2 * pair, self.offset + 2 * pair + 1)
        }
    }
}

/// The type of a rotation of `x [.., tokens, heads, n]`, or `[tokens, n]`, by `pos [tokens]`.
pub(super) fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (x, pos) = (cx.ty(0), cx.ty(1));
    // ggml's positions are I32 too. Stored as floats they could train, and no rule sends them a gradient.
    if pos.dtype != DType::I32 {
        return Err(Reason::BadParam { param: "positions", wants: "stored as i32" });
    }
    let turn = Turn::new(x.shape, cx.params)?;
    let rank = x.shape.rank();
    if rank < 2 {
        return Err(Reason::BadShape {
            wants: "[.., tokens, heads, n] or [tokens, n]",
            got: x.shape,
        });
    }
    if pos.shape.n_elements() != u64::from(x.shape.dim(rank.saturating_sub(3))) {
        return Err(Reason::ShapesDisagree {
            wants: "a position for each token of [.., tokens, heads, n]",
            a: x.shape,
            b: pos.shape,
        });
    }
    if let Some(factors) = cx.src.get(2)
        && (factors.shape.n_elements() as usize) < turn.n / 2
    {
        return Err(Reason::ShapesDisagree {
            wants: "a frequency factor for each pair",
            a: x.shape,
            b: factors.shape,
        });
    }
    Ok(x.as_f32())
}

/// Turns every row; backwards where `back`. The magnitude stays, so that it is the exact adjoint.
pub(super) fn value<T: Real>(cx: &mut Cx<'_, T>, back: bool) {
    cx.copy();
    let (Some(x), Some(pos)) = (cx.src.first(), cx.src.get(1)) else { return };
    let shape = x.ty.shape;
    let Ok(turn) = Turn::new(shape, cx.params) else { return };
    let width = shape.padded()[3] as usize;
    let heads = if shape.rank() > 2 { shape.padded()[2] as usize } else { 1 };
    let tokens = pos.data.len();
    if width == 0 || heads == 0 || tokens == 0 {
        return;
    }
    let factors = cx.src.get(2).map(|o| o.data);
    // The angles in f64: a position of some thousands leaves an f32 few digits for the angle.
    let mut table: Vec<(T, T)> = Vec::with_capacity(tokens * turn.n / 2);
    for p in pos.data {
        for (pair, speed) in turn.speeds.iter().enumerate() {
            let given = factors.and_then(|f| f.get(pair)).copied().unwrap_or(T::ONE);
            let factor = given.to_f64();
            let angle = p.to_f64() * speed / factor;
            // Zero, but for the slope that a dual number carries: the angle moves by -angle / factor of it.
            let moved = given - T::from_f64(factor);
            let turn_by = |x: f64| T::from_f64(x * angle / factor) * moved;
            let (sin, cos) = (Real::sin(angle), Real::cos(angle));
            let sin = if back { -sin } else { sin };
            let (cos, sin) = (cos * turn.magnitude, sin * turn.magnitude);
            let sense = if back { -1.0 } else { 1.0 };
            table.push((
                T::from_f64(cos) + turn_by(sense * sin),
                T::from_f64(sin) - turn_by(sense * cos),
            ));
        }
    }
    let rows = cx.out.chunks_exact_mut(width).zip(x.data.chunks_exact(width));
    for (row, (out, line)) in rows.enumerate() {
        let token = row / heads % tokens;
        let angles = table.iter().skip(token * (turn.n / 2)).take(turn.n / 2);
        for (pair, (cos, sin)) in angles.enumerate() {
            let (i, j) = turn.channels(pair);
            let (Some(a), Some(b)) = (line.get(i).copied(), line.get(j).copied()) else { continue };
            if let Some(o) = out.get_mut(i) {
                *o = a * *cos - b * *sin;
            }
            if let Some(o) = out.get_mut(j) {
                *o = a * *sin + b * *cos;
            }
        }
    }
}
