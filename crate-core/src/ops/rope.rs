//! `rope`: turns pairs of channels by an angle that grows with the position. dx = g, turned back.
//! Mirrors ggml.c, ROPE; upstream's backward drops the offset `n_offs` (B13) and has nothing for frequency factors.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read, Site,
    Storage, When, Wrong, forward, one,
};
use super::lines::send;
use super::matmul::shaped;
use super::rotation;
use super::rotation::Turn;
use crate::graph::{Index, NodeId, Value};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::Shape;

pub(super) const DEF: OpDef = OpDef {
    name: "rope",
    aliases: &["rope_ext"],
    ggml: "GGML_OP_ROPE",
    sign: None,
    formula: "y = a, pairs turned by position · base^(−2p/n) / c",
    says: "Turns pairs of channels by an angle that grows with the token's position.",
    arity: Arity { min: 2, max: 3 },
    params: rotation::PARAMS,
    shape: rotation::shape,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[
        Flow::carries("g, turned back", &[Read::Src(1), Read::Src(2)]),
        Flow::Ignored("positions have no gradient"),
        Flow::carries("−Σ (g × y) · angle / c", &[Read::Out, Read::Src(1), Read::Src(2)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Wrong(Wrong {
            rule: without_offset,
            what: "its backward turns the first channels, not those that n_offs names",
            when: When::Built(|site| site.params.int(rotation::N_OFFS).unwrap_or(0) != 0),
        }),
        cite: "ggml.c:6996, ROPE case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [3,2,4] = rand(seed=1, lo=-1, hi=1)\nconst p [3] i32 = [0, 2, 5]\ny = rope(x, p)",
            "param x [2,8] = rand(seed=2, lo=-1, hi=1)\nconst p [2] i32 = [1, 3]\ny = rope(x, p, n_dims=4, mode=\"neox\", base=100, n_offs=4)",
            "param x [2,3,2,6] = rand(seed=3, lo=-1, hi=1)\nparam f [3] = rand(seed=4, lo=0.9, hi=1.1)\nconst p [3] i32 = [4, 1, 2]\ny = rope(x, p, f, n_dims=6)",
            "param x [2,1,8] = rand(seed=5, lo=-1, hi=1)\nconst p [2] i32 = [3, 9]\ny = rope(x, p, freq_scale=0.5, ext_factor=1, attn_factor=1.2, n_ctx_orig=16)",
            "param x [2,2,8] = rand(seed=6, lo=-1, hi=1)\nparam f [3] = rand(seed=7, lo=0.9, hi=1.1)\nconst p [2] i32 = [2, 3]\ny = rope(x, p, f, n_dims=4, n_offs=2, mode=\"neox\")",
            "param x [2,2,12] = rand(seed=8, lo=-1, hi=1)\nparam f [5] = rand(seed=9, lo=0.9, hi=1.1)\nconst p [8] i32 = [1, 4, 2, 7, 3, 5, 6, 8]\ny = rope(x, p, f, n_dims=10, mode=\"mrope\", base=100, sections=[2,1,1,0])",
            "param x [2,1,16] = rand(seed=10, lo=-1, hi=1)\nconst p [8] i32 = [1, 4, 2, 7, 3, 5, 6, 8]\ny = rope(x, p, mode=\"imrope\", base=100, sections=[3,2,2,0])",
            "param x [2,1,16] = rand(seed=11, lo=-1, hi=1)\nparam f [8] = rand(seed=12, lo=0.9, hi=1.1)\nconst p [8] i32 = [1, 4, 2, 7, 3, 5, 6, 8]\ny = rope(x, p, f, mode=\"vision\", base=100, sections=[2,3,1,0])",
        ],
        kink: None,
    },
    place: here!(),
};

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    rotation::value(cx, false);
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        let mut src = site.src.to_vec();
        if let Some(first) = src.first_mut() {
            *first = site.grad;
        }
        let params = site.params.values().to_vec();
        out.push(send(0, emit.with(OpKind::RopeBack, &src, params)?));
    }
    if site.wants(2) {
        out.push(send(2, factors(emit, site)?));
    }
    Ok(out)
}

/// As upstream, which turns the first channels back wherever the window lies.
fn without_offset(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    if site.wants(2) {
        return Err(Reason::NotThisForm("ggml has no gradient for frequency factors"));
    }
    let mut src = site.src.to_vec();
    if let Some(first) = src.first_mut() {
        *first = site.grad;
    }
    let mut params = site.params.values().to_vec();
    if let Some(offset) = params.get_mut(rotation::N_OFFS) {
        *offset = Value::Int(0);
    }
    one(emit.with(OpKind::RopeBack, &src, params)?)
}

/// The angle of pair p is position · speed / factor, and dy/dangle is y turned by a right angle.
pub(super) fn factors(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<NodeId, Reason> {
    let of = site.shape(0);
    let turn = Turn::new(of, site.params)?;
    let [b, t, h, width] = match of.rank() {
        2 => [1, of.dim(0), 1, of.dim(1)],
        _ => of.padded(),
    };
    let rows = Shape::new(&[b, t, h, width]).unwrap_or(of);
    let (from, pairs, apart) = (turn.offset as i64, turn.speeds.len() as i64, turn.apart as i64);
    let channels = |second: bool| {
        let start = if second { from + apart } else { from };
        let step = if apart == 1 { 2 } else { 1 };
        let stop = start + step * (pairs - 1) + 1;
        Index::Range { start: Some(start), stop: Some(stop.max(start)), step: Some(step) }
    };
    let half = |emit: &mut Emit<'_>, node: NodeId, second: bool| {
        let all = shaped(emit, node, rows)?;
        let index = vec![Index::Rest, channels(second)];
        emit.with(OpKind::Slice, &[all], vec![Value::Index(index.into())])
    };
    let (y0, y1) = (half(emit, site.node, false)?, half(emit, site.node, true)?);
    let (g0, g1) = (half(emit, site.grad, false)?, half(emit, site.grad, true)?);
    let (ahead, behind) = (emit.op(OpKind::Mul, &[g1, y0])?, emit.op(OpKind::Mul, &[g0, y1])?);
    let cross = emit.op(OpKind::Sub, &[ahead, behind])?;
    let by_token = emit.with(OpKind::Sum, &[cross], vec![Value::Ints(vec![0, 2].into())])?;
    let pairs = turn.speeds.len() as u32;
    let streams = turn.streams as u32;
    let positions = shaped(emit, site.src(1), Shape::new(&[streams, t]).unwrap_or(of))?;
    let by_stream = emit.op(OpKind::Matmul, &[positions, by_token])?;
    let whose = (0..turn.streams).flat_map(|s| turn.stream.iter().map(move |own| *own == s));
    let whose = whose.map(|is| f64::from(u8::from(is))).collect();
    let whose = emit.literal(Shape::new(&[streams, pairs]).unwrap_or(of), whose)?;
    let by_pair = emit.op(OpKind::Mul, &[by_stream, whose])?;
    let by_pair = emit.with(OpKind::Sum, &[by_pair], vec![Value::Int(0)])?;
    // A constant is stored as f32: what it loses of a speed is a second constant.
    let stored = |s: &f64| f64::from(-s as f32);
    let mut times = |speeds: Vec<f64>| {
        let speeds = emit.literal(Shape::new(&[pairs]).unwrap_or(of), speeds)?;
        emit.op(OpKind::Mul, &[by_pair, speeds])
    };
    let most = times(turn.speeds.iter().map(stored).collect())?;
    let rest = times(turn.speeds.iter().map(|s| -s - stored(s)).collect())?;
    let slope = emit.op(OpKind::Add, &[most, rest])?;
    let given = site.shape(2);
    let flat = Shape::new(&[given.n_elements() as u32]).unwrap_or(given);
    let all = shaped(emit, site.src(2), flat)?;
    let used = Index::Range { start: None, stop: Some(i64::from(pairs)), step: None };
    let used = emit.with(OpKind::Slice, &[all], vec![Value::Index(vec![used].into())])?;
    let squared = emit.op(OpKind::Mul, &[used, used])?;
    let d = emit.op(OpKind::Div, &[slope, squared])?;
    let rest = Value::Int(given.n_elements() as i64 - i64::from(pairs));
    let d = emit.with(OpKind::Pad, &[d], vec![Value::Int(0), rest])?;
    shaped(emit, d, given)
}
