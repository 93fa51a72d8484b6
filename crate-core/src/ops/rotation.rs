//! What `rope` and its adjoint share: which channels turn together, and by what angle. Mirrors ggml.c, ROPE, with the
//! YaRN mix of 3.5: pair p of n turns by pos · base^(-2p/n) / `factor[p]`.
//! M-RoPE has four positions a token, for time, height, width and one more; sections of pairs say whose turn it is.

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
const SECTIONS: usize = 10;

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
    ParamSpec::new("sections", ParamKind::Ints, Missing::Absent).or(&["mrope_section"]),
];

/// How the channels of a row turn.
pub(super) struct Turn {
    pub(super) offset: usize,
    /// How far apart the channels of a pair are: 1 for neighbours, else pairs lie one beside the other.
    pub(super) apart: usize,
    /// How many positions a token has, all tokens' first ones before all second ones.
    pub(super) streams: usize,
    /// Which of its token's positions each pair turns by.
    pub(super) stream: Vec<usize>,
    /// How much longer a turned pair is.
    magnitude: f64,
    /// The angle at position 1 of each pair, before its factor divides it.
    pub(super) speeds: Vec<f64>,
}

impl Turn {
    pub(super) fn new(of: Shape, params: &Params) -> Result<Self, Reason> {
        let [.., width] = of.padded();
        let bad = |param, wants| Reason::BadParam { param, wants };
        let mode = Mode::of(params)?;
        // In vision mode all channels turn, each by a pair of its own half.
        let all = if mode == Mode::Vision { width / 2 } else { width };
        let n = params.int(N_DIMS).unwrap_or(i64::from(all));
        let n = usize::try_from(n).ok().filter(|n| n % 2 == 0 && *n <= width as usize);
        let n = n.ok_or(bad("n_dims", "an even number of channels of the row"))?;
        let offset = usize::try_from(params.int(N_OFFS).unwrap_or(0)).ok();
        let offset = offset.filter(|o| o % 2 == 0 && o.saturating_add(n) <= width as usize);
        let offset = offset.ok_or(bad("n_offs", "an even offset that leaves room for n_dims"))?;
        if mode == Mode::Vision && (2 * n != width as usize || offset != 0) {
            return Err(bad("n_dims", "half the channels of the row, from the first on"));
        }
        let pairs = if mode == Mode::Vision { n } else { n / 2 };
        let apart = if mode == Mode::Normal { 1 } else { pairs };
        let get = |ix, other| params.num(ix).unwrap_or(other);
        let base = get(BASE, 10_000.0);
        if base.is_nan() || base <= 0.0 {
            return Err(bad("base", "above 0"));
        }
        let (scale, ext) = (get(FREQ_SCALE, 1.0), get(EXT, 0.0));
        let mut magnitude = get(ATTN, 1.0);
        let mut mix = vec![0.0; pairs];
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
        let order = mode.order(params, pairs)?;
        let speed = |((_, power), mix): (&(usize, usize), f64)| {
            let plain = Real::pow(base, -2.0 * *power as f64 / n.max(1) as f64);
            plain * (scale * (1.0 - mix) + mix)
        };
        let speeds = order.iter().zip(mix).map(speed).collect();
        let streams = if mode.is_many() { 4 } else { 1 };
        let stream = order.into_iter().map(|(stream, _)| stream).collect();
        Ok(Self { offset, apart, streams, stream, magnitude, speeds })
    }

    /// The two channels of a pair.
    fn channels(&self, pair: usize) -> (usize, usize) {
        let step = if self.apart == 1 { 2 } else { 1 };
        (self.offset + step * pair, self.offset + step * pair + self.apart)
    }
}

/// ggml's modes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Normal,
    Neox,
    Many,
    Interleaved,
    Vision,
}

impl Mode {
    fn of(params: &Params) -> Result<Self, Reason> {
        let wants = "\"normal\", \"neox\", \"mrope\", \"imrope\" or \"vision\"";
        match params.text(MODE) {
            None | Some("normal" | "norm") => Ok(Self::Normal),
            Some("neox") => Ok(Self::Neox),
            Some("mrope") => Ok(Self::Many),
            Some("imrope") => Ok(Self::Interleaved),
            Some("vision") => Ok(Self::Vision),
            Some(_) => Err(Reason::BadParam { param: "mode", wants }),
        }
    }

    /// Whether a token has four positions.
    const fn is_many(self) -> bool {
        matches!(self, Self::Many | Self::Interleaved | Self::Vision)
    }

    /// For each pair, which of a token's positions it turns by, and the power of its speed. In vision mode powers
    /// start anew in each section. Mirrors ggml-cpu, `ggml_mrope_cache_init`.
    fn order(self, params: &Params, pairs: usize) -> Result<Vec<(usize, usize)>, Reason> {
        let wants = "four counts of pairs, of which the first three are not all 0";
        let bad = || Reason::BadParam { param: "sections", wants };
        let given = params.ints(SECTIONS);
        if !self.is_many() {
            if given.is_some() {
                let wants = "left out, but in the modes with four positions a token";
                return Err(Reason::BadParam { param: "sections", wants });
            }
            return Ok((0..pairs).map(|pair| (0, pair)).collect());
        }
        let [t, h, w, e] =
            given.as_deref().and_then(|list| list.try_into().ok()).ok_or_else(bad)?;
        let count = |n: i64| usize::try_from(n).ok().filter(|n| *n < 1 << 24);
        let counts = [count(t), count(h), count(w), count(e)].map(|n| n.ok_or_else(bad));
        let [t, h, w, e] = counts;
        let counts = [t?, h?, w?, e?];
        if counts.iter().take(3).all(|n| *n == 0) {
            return Err(bad());
        }
        let starts = [0, counts[0], counts[0] + counts[1], counts[0] + counts[1] + counts[2]];
        let whole = starts[3] + counts[3];
        let mut powers = [0; 4];
        let mut out = Vec::with_capacity(pairs);
        for pair in 0..pairs {
            let sector = pair % whole;
            if self == Self::Vision {
                // The first section that starts here; one without pairs hides those behind it.
                if let Some(power) = starts
                    .iter()
                    .position(|start| *start == sector)
                    .and_then(|section| powers.get_mut(section))
                {
                    *power = 0;
                }
            }
            let stream = match (self, sector % 3) {
                (Self::Interleaved, 1) if sector < 3 * counts[1] => 1,
                (Self::Interleaved, 2) if sector < 3 * counts[2] => 2,
                (Self::Interleaved, 0) if sector < 3 * counts[0] => 0,
                (Self::Interleaved, _) => 3,
                _ => (1..4).rev().find(|s| sector >= starts[*s]).unwrap_or(0),
            };
            out.push((stream, powers.get(stream).copied().unwrap_or(0)));
            powers = powers.map(|power| power + 1);
        }
        Ok(out)
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
    let tokens = u64::from(x.shape.dim(rank.saturating_sub(3)));
    if pos.shape.n_elements() != tokens.saturating_mul(turn.streams as u64) {
        return Err(Reason::ShapesDisagree {
            wants: if turn.streams == 1 {
                "a position for each token of [.., tokens, heads, n]"
            } else {
                "four positions for each token of [.., tokens, heads, n]"
            },
            a: x.shape,
            b: pos.shape,
        });
    }
    if let Some(factors) = cx.src.get(2)
        && (factors.shape.n_elements() as usize) < turn.speeds.len()
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
    let tokens = pos.data.len() / turn.streams;
    let pairs = turn.speeds.len();
    if width == 0 || heads == 0 || tokens == 0 {
        return;
    }
    let factors = cx.src.get(2).map(|o| o.data);
    // The angles in f64: a position of some thousands leaves an f32 few digits for the angle.
    let mut table: Vec<(T, T)> = Vec::with_capacity(tokens * pairs);
    for token in 0..tokens {
        for (pair, speed) in turn.speeds.iter().enumerate() {
            let stream = turn.stream.get(pair).copied().unwrap_or(0);
            let p = pos.data.get(stream * tokens + token).copied().unwrap_or(T::ZERO);
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
        let angles = table.iter().skip(token * pairs).take(pairs);
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
