//! `flash_attn_ext`: scaled dot-product attention in one node, with a mask, grouped heads, sinks and a soft cap.
//! q `[b, h, n, d]`, k `[b, g, m, d]`, v `[b, g, m, e]` give `[b, n, h, e]`; consecutive heads share keys, as in
//! `mul_mat`. A row whose keys are all masked gives zeros. Mirrors ggml.c, `FLASH_ATTN_EXT`, which has no backward.
//! The rule computes the weights anew from ops that can be differentiated, so a second derivative exists.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, Read, ShapeCx, Site, Storage, forward, shape_value,
};
use super::lines::send;
use super::matmul::{flipped, shaped};
use super::shares;
use super::mul_mat::{first_grad, second_grad};
use crate::graph::{Index, Params, Value};
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::{RuleSet, tiles};
use crate::tensor::{MAX_RANK, Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "flash_attn_ext",
    aliases: &["flash_attention", "scaled_dot_product_attention"],
    ggml: "GGML_OP_FLASH_ATTN_EXT",
    sign: None,
    formula: "y = softmax(scale · a bᵀ + mask) c",
    says: "Lets each query average the values, weighted by how well it fits the keys.",
    arity: Arity { min: 3, max: 5 },
    params: &[
        ParamSpec::new("mask", ParamKind::Node, Default::Absent).or(&["attn_mask"]),
        ParamSpec::new("sinks", ParamKind::Node, Default::Absent),
        ParamSpec::new("scale", ParamKind::Num, Default::Absent),
        ParamSpec::new("softcap", ParamKind::Num, Default::Num(0.0)).or(&["logit_softcap"]),
        ParamSpec::new("max_bias", ParamKind::Num, Default::Num(0.0)),
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("scale · s b, s = y′ · (g cᵀ − Σ)", ALL),
        Flow::carries("scale · sᵀ a", ALL),
        Flow::carries("weightsᵀ g", &[Read::Src(0), Read::Src(1), Read::Src(3), Read::Src(4)]),
        Flow::carries("s, folded", ALL),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no FLASH_ATTN_EXT case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param q [2,3,4] = rand(seed=1, lo=-1, hi=1)\nparam k [2,3,4] = rand(seed=2, lo=-1, hi=1)\nparam v [2,3,2] = rand(seed=3, lo=-1, hi=1)\ny = flash_attn_ext(q, k, v)",
            "param q [4,2,3] = rand(seed=4, lo=-1, hi=1)\nparam k [2,3,3] = rand(seed=5, lo=-1, hi=1)\nparam v [2,3,2] = rand(seed=6, lo=-1, hi=1)\nparam m [2,3] = rand(seed=7, lo=-1, hi=1)\nparam s [4] = rand(seed=8, lo=-1, hi=1)\ny = flash_attn_ext(q, k, v, mask=m, sinks=s, scale=0.7, softcap=2)",
            "param q [2,2,2,3] = rand(seed=9, lo=-1, hi=1)\nparam k [1,1,3,3] = rand(seed=10, lo=-1, hi=1)\nparam v [1,1,3,2] = rand(seed=11, lo=-1, hi=1)\nconst m [2,3] = [[0,-inf,-inf],[0,0,-inf]]\ny = flash_attn_ext(q, k, v, m, max_bias=4)",
            "param q [2,1,3] = rand(seed=12, lo=-1, hi=1)\nparam k [2,2,3] = rand(seed=13, lo=-1, hi=1)\nparam v [2,2,2] = rand(seed=14, lo=-1, hi=1)\nparam s [2] = rand(seed=15, lo=-1, hi=1)\ny = flash_attn_ext(q, k, v, sinks=s)",
        ],
        kink: None,
    },
    place: here!(),
};

const SCALE: usize = 2;
const SOFTCAP: usize = 3;
const MAX_BIAS: usize = 4;
const ALL: &[Read] = &[Read::Src(0), Read::Src(1), Read::Src(2), Read::Src(3), Read::Src(4)];

/// The extents, and which sources are mask and sinks: sinks are a vector, a mask has rows.
struct Sizes {
    batch: u32,
    heads: u32,
    queries: u32,
    keys: u32,
    width: u32,
    out: u32,
    shared: [u32; 2],
    mask: Option<usize>,
    sinks: Option<usize>,
    scale: f64,
    softcap: f64,
    max_bias: f64,
}

impl Sizes {
    fn new(src: &[Shape], params: &Params) -> Result<Self, Reason> {
        let [q, k, v, extra @ ..] = src else {
            return Err(Reason::Arity { min: 3, max: 5, got: src.len() });
        };
        let disagree = |wants, a: &Shape, b: &Shape| Reason::ShapesDisagree { wants, a: *a, b: *b };
        let ([b, h, n, d], [kb, kh, m, kd], [vb, vh, vm, e]) = (q.padded(), k.padded(), v.padded());
        if d != kd || !tiles(kb, b) || !tiles(kh, h) {
            return Err(disagree(
                "queries and keys of one length, heads that the keys' divide",
                q,
                k,
            ));
        }
        if kb != vb || kh != vh || m != vm {
            return Err(disagree("a value for each key", k, v));
        }
        let (mut mask, mut sinks) = (None, None);
        for (ix, shape) in extra.iter().enumerate() {
            let [mb, mh, rows, cols] = shape.padded();
            if shape.rank() <= 1 {
                if shape.n_elements() != u64::from(h) || sinks.is_some() {
                    return Err(disagree("one sink for each head", q, shape));
                }
                sinks = Some(ix + 3);
            } else {
                if !tiles(mb, b) || !tiles(mh, h) || rows != n || cols != m || mask.is_some() {
                    return Err(disagree("one mask [.., queries, keys]", q, shape));
                }
                mask = Some(ix + 3);
            }
        }
        let max_bias = params.num(MAX_BIAS).unwrap_or(0.0);
        if max_bias > 0.0 && mask.is_none() {
            return Err(Reason::BadParam { param: "max_bias", wants: "0 where there is no mask" });
        }
        Ok(Self {
            batch: b,
            heads: h,
            queries: n,
            keys: m,
            width: d,
            out: e,
            shared: [kb, kh],
            mask,
            sinks,
            scale: params.num(SCALE).unwrap_or(1.0 / f64::from(d.max(1)).sqrt()),
            softcap: params.num(SOFTCAP).unwrap_or(0.0),
            max_bias,
        })
    }

    /// How much each head feels the mask (ALiBi), as in ggml's `SOFT_MAX`.
    fn slopes(&self) -> Vec<f64> {
        let heads = self.heads.max(1);
        let whole = f64::from(1u32 << heads.ilog2());
        let slope = |h: u32| {
            let h = f64::from(h);
            if self.max_bias <= 0.0 {
                1.0
            } else if h < whole {
                Real::pow(2.0, -self.max_bias / whole * (h + 1.0))
            } else {
                Real::pow(2.0, -self.max_bias / (2.0 * whole) * (2.0 * (h - whole) + 1.0))
            }
        };
        (0..self.heads).map(slope).collect()
    }
}

fn four(dims: [u32; 4]) -> Shape {
    Shape::new(&dims).unwrap_or(Shape::SCALAR)
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let src: Vec<Shape> = cx.src.iter().map(|t| t.shape).collect();
    let s = Sizes::new(&src, cx.params)?;
    let rank = cx.dims(0).rank().max(3);
    let dims = [s.batch, s.queries, s.heads, s.out];
    Ok(TensorType::f32(
        Shape::new(dims.get(MAX_RANK - rank..).unwrap_or(&dims)).unwrap_or(Shape::SCALAR),
    ))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let src: Vec<Shape> = cx.src.iter().map(|o| o.ty.shape).collect();
    let Ok(s) = Sizes::new(&src, cx.params) else { return };
    let [b, h, n, m] = [s.batch, s.heads, s.queries, s.keys].map(|d| d as usize);
    let [kb, kh] = s.shared.map(|d| d as usize);
    let (d, e) = (s.width as usize, s.out as usize);
    let slopes = s.slopes();
    let data = |ix: usize| cx.src.get(ix).map_or(&[][..], |o| o.data);
    let line =
        |ix: usize, row: usize, len: usize| data(ix).get(row * len..(row + 1) * len).unwrap_or(&[]);
    let (scale, cap) = (T::from_f64(s.scale), T::from_f64(s.softcap));
    let out = &mut *cx.out;
    let (mut logits, mut column) = (Vec::with_capacity(m), Vec::with_capacity(m));
    for row in 0..b * h * n {
        let (batch, head, query) = (row / (h * n), row / n % h, row % n);
        let kv = batch / (b / kb.max(1)).max(1) * kh + head / (h / kh.max(1)).max(1);
        let q = line(0, row, d);
        logits.clear();
        for key in 0..m {
            let mut z = kernels::dot(q, line(1, kv * m + key, d)) * scale;
            if s.softcap > 0.0 {
                z = cap * (z / cap).tanh();
            }
            if let Some(ix) = s.mask {
                let [mb, mh, ..] = src.get(ix).map_or([1; 4], Shape::padded);
                let at = (batch % mb.max(1) as usize) * mh as usize + head % mh.max(1) as usize;
                let slope = T::from_f64(slopes.get(head).copied().unwrap_or(1.0));
                let mask = line(ix, at * n + query, m).get(key).copied().unwrap_or(T::ZERO);
                z += slope * mask;
            }
            logits.push(z);
        }
        let sink = s.sinks.and_then(|ix| data(ix).get(head).copied());
        let all = logits.iter().chain(sink.iter());
        let max = all.fold(-T::INFINITY, |m, x| if *x > m || x.is_nan() { *x } else { m });
        if max == -T::INFINITY {
            continue;
        }
        for z in &mut logits {
            *z = (*z - max).exp();
        }
        let total = kernels::sum(&logits) + sink.map_or(T::ZERO, |z| (z - max).exp());
        let start = ((batch * n + query) * h + head) * e;
        for (j, o) in out.iter_mut().skip(start).take(e).enumerate() {
            column.clear();
            column.extend(data(2).iter().skip(kv * m * e + j).step_by(e.max(1)).take(m));
            *o = kernels::dot(&logits, &column) / total;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let src: Vec<Shape> = site.src_ty.iter().map(|t| t.shape).collect();
    let s = Sizes::new(&src, site.params)?;
    let [kb, kh] = s.shared;
    let (rows, keys) = ([s.batch, s.heads, s.queries], i64::from(s.keys));
    let by_key = |last: u32| four([rows[0], rows[1], rows[2], last]);
    let k = shaped(emit, site.src(1), four([kb, kh, s.keys, s.width]))?;
    let q = shaped(emit, site.src(0), by_key(s.width))?;
    // The weights, as the forward pass computes them.
    let raw = emit.op(OpKind::MulMat, &[k, q])?;
    let scaled =
        |emit: &mut Emit<'_>, of, by| emit.with(OpKind::Scale, &[of], vec![Value::Num(by)]);
    let capped = if s.softcap > 0.0 {
        let small = scaled(emit, raw, s.scale / s.softcap)?;
        Some(emit.op(OpKind::Tanh, &[small])?)
    } else {
        None
    };
    let mut logits = match capped {
        Some(tanh) => scaled(emit, tanh, s.softcap)?,
        None => scaled(emit, raw, s.scale)?,
    };
    let slopes = match s.mask {
        Some(_) if s.max_bias > 0.0 => Some((four([1, s.heads, 1, 1]), s.slopes())),
        _ => None,
    };
    if let Some(ix) = s.mask {
        let target = vec![Value::None, shape_value(by_key(s.keys))];
        let mut mask = emit.with(OpKind::Repeat, &[site.src(ix)], target)?;
        if let Some((shape, slopes)) = &slopes {
            mask = shares::weighted(emit, mask, *shape, slopes)?;
        }
        logits = emit.op(OpKind::Add, &[logits, mask])?;
    }
    if let Some(ix) = s.sinks {
        let sinks = shaped(emit, site.src(ix), four([1, s.heads, 1, 1]))?;
        let target = vec![Value::None, shape_value(by_key(1))];
        let column = emit.with(OpKind::Repeat, &[sinks], target)?;
        logits = emit.with(OpKind::Concat, &[logits, column], vec![Value::Int(-1)])?;
    }
    let part = |emit: &mut Emit<'_>, of, start: Option<i64>, stop: Option<i64>| {
        let range = Index::Range { start, stop, step: None };
        emit.with(OpKind::Slice, &[of], vec![Value::Index(vec![Index::Rest, range].into())])
    };
    let all = emit.op(OpKind::Softmax, &[logits])?;
    let weights = if s.sinks.is_some() { part(emit, all, None, Some(keys))? } else { all };
    // Back through the average of the values.
    let g = shaped(emit, site.grad, four([s.batch, s.queries, s.heads, s.out]))?;
    let g = emit.with(OpKind::Permute, &[g], vec![Value::Ints(vec![0, 2, 1, 3].into())])?;
    let mut out = Vec::with_capacity(5);
    if site.wants(2) {
        let d = first_grad(emit, weights, g, four([kb, kh, s.out, s.keys]))?;
        let d = flipped(emit, d)?;
        out.push(send(2, shaped(emit, d, site.shape(2))?));
    }
    let others = [Some(0), Some(1), s.mask, s.sinks];
    if !others.iter().flatten().any(|ix| site.wants(*ix)) {
        return Ok(out);
    }
    // Back through softmax.
    let v = shaped(emit, site.src(2), four([kb, kh, s.keys, s.out]))?;
    let d_weights = emit.op(OpKind::MulMat, &[v, g])?;
    let weighted = emit.op(OpKind::Mul, &[weights, d_weights])?;
    let total = emit.with(OpKind::Sum, &[weighted], vec![Value::Int(3), Value::Bool(true)])?;
    if let Some(ix) = s.sinks.filter(|ix| site.wants(*ix)) {
        let share = part(emit, all, Some(keys), None)?;
        let d = emit.op(OpKind::Mul, &[share, total])?;
        let d = emit.with(OpKind::Sum, &[d], vec![Value::Ints(vec![0, 2, 3].into())])?;
        let d = emit.op(OpKind::Neg, &[d])?;
        out.push(send(ix, shaped(emit, d, site.shape(ix))?));
    }
    if !others.iter().take(3).flatten().any(|ix| site.wants(*ix)) {
        return Ok(out);
    }
    let centred = emit.op(OpKind::Sub, &[d_weights, total])?;
    let d_logits = emit.op(OpKind::Mul, &[centred, weights])?;
    if let Some(ix) = s.mask.filter(|ix| site.wants(*ix)) {
        let felt = match &slopes {
            Some((shape, slopes)) => shares::weighted(emit, d_logits, *shape, slopes)?,
            None => d_logits,
        };
        let target = vec![shape_value(site.shape(ix))];
        out.push(send(ix, emit.with(OpKind::RepeatBack, &[felt], target)?));
    }
    let d_raw = match capped {
        Some(tanh) => {
            let squared = emit.op(OpKind::Mul, &[tanh, tanh])?;
            let slope = vec![Value::Num(-s.scale), Value::Num(s.scale)];
            let slope = emit.with(OpKind::Scale, &[squared], slope)?;
            emit.op(OpKind::Mul, &[d_logits, slope])?
        }
        None => scaled(emit, d_logits, s.scale)?,
    };
    if site.wants(0) {
        out.push(send(0, second_grad(emit, k, d_raw, site.shape(0))?));
    }
    if site.wants(1) {
        let d = first_grad(emit, q, d_raw, four([kb, kh, s.keys, s.width]))?;
        out.push(send(1, shaped(emit, d, site.shape(1))?));
    }
    Ok(out)
}
