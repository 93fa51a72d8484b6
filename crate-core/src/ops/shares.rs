//! What `softmax` and `softmax_sinks` share: scaled and masked logits, and the way back to both.
//! `z = scale · a + slope_h · mask`, `y = e^z / Σ e^z`; d z = y (g - Σ y g). Mirrors ggml.c, `SOFT_MAX`.
//! A row in which everything is masked has no share to give: zeros, in value and in gradient (upstream: NaN, B29).

use super::OpKind;
use super::def::{
    Contribution, Default, Emit, Operand, ParamKind, ParamSpec, ShapeCx, Site, Stretch, folded,
    shape_value,
};
use super::reduce::Lines;
use crate::graph::{Index, NodeId, Params, Value};
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::{Broadcast, tiles};
use crate::tensor::Shape;
use crate::trace::Accum;

/// `mask`: added to the logits.
pub(super) const MASK: ParamSpec = ParamSpec::new("mask", ParamKind::Node, Default::Absent);
/// `scale`: what the logits are multiplied by.
pub(super) const SCALE: ParamSpec = ParamSpec::new("scale", ParamKind::Num, Default::Absent);
/// `max_bias`: where it is above 0, each head's mask is multiplied by a slope of its own (ALiBi).
pub(super) const MAX_BIAS: ParamSpec = ParamSpec::new("max_bias", ParamKind::Num, Default::Absent);

/// Scale and bias, by their places in the row.
#[derive(Clone, Copy)]
pub(super) struct Logits {
    /// The source that is the mask, if there is one.
    pub(super) mask: Option<usize>,
    /// The factor of the logits.
    pub(super) scale: f64,
    /// The largest bias of ALiBi; 0 for none.
    pub(super) max_bias: f64,
}

impl Logits {
    /// With attributes at these places.
    pub(super) fn new(params: &Params, mask: Option<usize>, scale: usize, max_bias: usize) -> Self {
        Self {
            mask,
            scale: params.num(scale).unwrap_or(1.0),
            max_bias: params.num(max_bias).unwrap_or(0.0),
        }
    }

    /// Whether the mask fits the logits: it tiles, or it has more rows than they and its first ones count (ggml).
    pub(super) fn check(&self, cx: &ShapeCx<'_>) -> Result<(), Reason> {
        let of = cx.dims(0);
        match self.mask.and_then(|ix| cx.src.get(ix)) {
            None if self.max_bias > 0.0 => {
                Err(Reason::BadParam { param: "max_bias", wants: "0 where there is no mask" })
            }
            Some(mask) if !fits(cx.broadcast, of, mask.shape) => Err(Reason::ShapesDisagree {
                wants: "a mask that stretches to the logits",
                a: of,
                b: mask.shape,
            }),
            _ => Ok(()),
        }
    }

    /// Writes the logits.
    pub(super) fn write<T: Real>(&self, src: &[Operand<'_, T>], out: &mut [T]) {
        let Some(a) = src.first() else { return };
        let scale = T::from_f64(self.scale);
        for (o, x) in out.iter_mut().zip(a.data) {
            *o = scale * *x;
        }
        let Some(mask) = self.mask.and_then(|ix| src.get(ix)) else { return };
        let dims = a.ty.shape.padded().map(|d| d as usize);
        let slopes = self.slopes(a.ty.shape);
        let at = Stretch::new(mask.ty.shape);
        for (row, line) in out.chunks_exact_mut(dims[3].max(1)).enumerate() {
            let [i, j, k] = [row / (dims[2] * dims[1]), (row / dims[2]) % dims[1], row % dims[2]];
            let slope = T::from_f64(slopes.get(j).copied().unwrap_or(1.0));
            for (o, m) in line.iter_mut().zip(at.row(mask.data, [i, j, k]).iter().cycle()) {
                *o += slope * *m;
            }
        }
    }

    /// Whether all of some line along this axis is masked.
    pub(super) fn masks_a_line(&self, src: &[Operand<'_, f64>], axis: usize) -> bool {
        let Some(a) = src.first() else { return false };
        let mut logits = vec![0.0; a.data.len()];
        self.write(src, &mut logits);
        let lines = Lines::new(a.ty.shape, &[axis]);
        let mut line = Vec::with_capacity(lines.steps.len());
        lines.starts.iter().any(|start| {
            lines.gather(*start, &logits, &mut line);
            line.iter().all(|x| *x <= f64::NEG_INFINITY)
        })
    }

    /// What each head's mask is multiplied by (ggml-cpu, `soft_max`: the slopes of ALiBi).
    fn slopes(&self, of: Shape) -> Vec<f64> {
        let heads = of.padded()[1];
        if self.max_bias <= 0.0 {
            return vec![1.0; heads as usize];
        }
        let whole = f64::from(1u32 << heads.max(1).ilog2());
        let base = Real::pow(2.0, -self.max_bias / whole);
        let half = Real::pow(2.0, -self.max_bias / (2.0 * whole));
        (0..heads)
            .map(|h| {
                let h = f64::from(h);
                if h < whole {
                    Real::pow(base, h + 1.0)
                } else {
                    Real::pow(half, 2.0 * (h - whole) + 1.0)
                }
            })
            .collect()
    }

    /// What reaches the operand, given the logits' gradient.
    pub(super) fn to_operand(self, emit: &mut Emit<'_>, grad: NodeId) -> Result<NodeId, Reason> {
        if (self.scale - 1.0).abs() <= 0.0 {
            return Ok(grad);
        }
        emit.affine(grad, self.scale, 0.0)
    }

    /// What reaches the mask, given the logits' gradient.
    pub(super) fn to_mask(
        self,
        emit: &mut Emit<'_>,
        site: &Site<'_>,
        grad: NodeId,
    ) -> Result<Option<Contribution>, Reason> {
        let Some(src) = self.mask.filter(|ix| site.wants(*ix)) else { return Ok(None) };
        let of = site.shape(0);
        let mut grad = grad;
        if self.max_bias > 0.0 {
            let slopes = self.slopes(of);
            let shape = Shape::new(&[slopes.len() as u32, 1, 1]).unwrap_or(Shape::SCALAR);
            grad = weighted(emit, grad, shape, &slopes)?;
        }
        let mask = site.shape(src);
        let rows = of.padded()[2];
        let Some(axis) = mask.rank().checked_sub(2).filter(|axis| mask.dim(*axis) > rows) else {
            return Ok(Some(folded(src, grad)));
        };
        // Only the first rows of a taller mask count; the others get zeros.
        let part = shape_value(mask.with_dim(axis, rows));
        let sum = emit.with(OpKind::RepeatBack, &[grad], vec![part])?;
        let all = Index::Range { start: None, stop: None, step: None };
        let first = Index::Range { start: None, stop: Some(i64::from(rows)), step: None };
        let index = Value::Index([Index::Rest, first, all].into());
        let value = emit.with(OpKind::SliceBack, &[sum], vec![index, shape_value(mask)])?;
        Ok(Some(Contribution { src, via: Accum::Add, value, fold: false }))
    }
}

/// A node times numbers. A constant is stored as f32: what it loses of them is a second one.
pub(super) fn weighted(
    emit: &mut Emit<'_>,
    of: NodeId,
    shape: Shape,
    by: &[f64],
) -> Result<NodeId, Reason> {
    let stored = |x: &f64| f64::from(*x as f32);
    let most = emit.literal(shape, by.iter().map(stored).collect())?;
    let most = emit.mul(of, most)?;
    if by.iter().all(|x| (x - stored(x)).abs() <= 0.0) {
        return Ok(most);
    }
    let rest = emit.literal(shape, by.iter().map(|x| x - stored(x)).collect())?;
    let rest = emit.mul(of, rest)?;
    emit.add(most, rest)
}

fn fits(rules: Broadcast, of: Shape, mask: Shape) -> bool {
    let (of, mask) = (of.padded(), mask.padded());
    let meets = |o: u32, m: u32| match rules {
        Broadcast::Tile => tiles(m, o),
        Broadcast::TwoSided => m == o || m == 1,
    };
    let taller = mask[2] > of[2];
    of.iter().zip(mask).enumerate().all(|(axis, (o, m))| taller && axis == 2 || meets(*o, m))
}

/// Turns logits into shares, in place; `sink` takes its part of the whole and has no element of its own.
pub(super) fn shares<T: Real>(line: &mut [T], sink: Option<T>) {
    let lowest = sink.unwrap_or(-T::INFINITY);
    let max = line.iter().fold(lowest, |m, x| if *x > m { *x } else { m });
    if max <= -T::INFINITY && line.iter().all(|x| !x.is_nan()) {
        line.fill(T::ZERO);
        return;
    }
    for x in line.iter_mut() {
        *x = (*x - max).exp();
    }
    let mut total = kernels::sum(line);
    if let Some(sink) = sink {
        total += (sink - max).exp();
    }
    for x in line {
        *x = *x / total;
    }
}

/// The gradient of the logits, `y (g - Σ y g)`, and the sum.
pub(super) fn to_logits(
    emit: &mut Emit<'_>,
    site: &Site<'_>,
    axis: usize,
) -> Result<(NodeId, NodeId), Reason> {
    let weighted = emit.mul(site.grad, site.node)?;
    let total = emit.sum_kept(weighted, &[axis])?;
    let centred = emit.sub(site.grad, total)?;
    Ok((emit.mul(centred, site.node)?, total))
}
