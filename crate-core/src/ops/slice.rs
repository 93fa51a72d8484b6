//! `x[..]`: a bracket takes entries, ranges with a step and new axes; one node, a view.
//! d = g put back where it was taken, zeros elsewhere. Mirrors ggml.c, VIEW.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind, ParamSpec,     ShapeCx, Site, Storage, When, Wrong, forward, one, shape_value,
};
use crate::graph::{Index, NodeId, Value, View};
use crate::rules::RuleSet;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Axes, MAX_RANK, Shape, TensorType};

pub(super) const INDEX: usize = 0;

pub(super) const DEF: OpDef = OpDef {
    name: "slice",
    aliases: &["x[..]"],
    ggml: "GGML_OP_VIEW",
    sign: None,
    formula: "y = a[..]",
    says: "Takes a part: entries, ranges, steps and new axes.",
    arity: Arity::exactly(1),
    params: &[ParamSpec::new("index", ParamKind::Index, Default::Required)],
    shape,
    stretches: false,
    storage: Storage::Window(window),
    flow: &[Flow::carries("g, put back among zeros", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        let params = vec![site.params.value(INDEX).clone(), shape_value(site.shape(0))];
        one(emit.with(OpKind::SliceBack, &[site.grad], params)?)
    }),
    differs: &[
        Differs {
        rules: RuleSet::Upstream,
        how: How::Wrong(Wrong {
            rule: as_upstream,
            what: "its gradient starts from the source times 0, and the source is not finite throughout",
            when: When::Run(|src, _| src.iter().any(|o| o.data.iter().any(|x| !x.is_finite()))),
        }),
        cite: "ggml.c:6596, a window's gradient starts from a scaled source",
        mends: &[],
    },
        Differs {
            rules: RuleSet::Upstream,
            how: How::Wrong(Wrong {
                rule: as_upstream,
                what: "its gradient goes through the strides of the storage, and the gradient it joins is packed",
                when: When::Built(|site| !site.is_src_packed(0)),
            }),
            cite: "ggml.c:6596, a window's gradient is accumulated by the strides of the view",
            mends: &[],
        },
    ],
    check: Check {
        samples: &[
            "param x [3,4] = rand(seed=1)\ny = x[1]",
            "param x [3,4] = rand(seed=2)\ny = x[0:2, ::2]",
            "param x [3,4] = rand(seed=3)\ny = x[::-1, _, -1]",
        ],
        kink: None,
    },
    place: here!(),
};

/// Zeros by multiplication: `0 · ∞` spoils them (B24). A view of a view that is not packed joins an earlier gradient
/// by the strides of the storage, and starts none (B10).
fn as_upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    if !site.is_src_packed(0) {
        if !site.is_sent.first().copied().unwrap_or(false) {
            let why = "upstream starts a window's gradient from a packed source only";
            return Err(Reason::GradNotContiguous(why));
        }
        if let Some(moved) = misplaced(emit, site)? {
            return one(moved);
        }
    }
    let params = vec![site.params.value(INDEX).clone(), shape_value(site.shape(0))];
    let part = emit.with(OpKind::SliceBack, &[site.grad], params)?;
    let zero = emit.with(OpKind::Scale, &[site.src(0)], vec![Value::Num(0.0)])?;
    one(emit.op(OpKind::Add, &[zero, part])?)
}

/// The most numbers of the matrix that moves elements to where upstream puts them.
const MAX_MOVES: u64 = 1 << 16;

/// The gradient of a part where the strides of the storage put it in the packed gradient of its source; nothing where
/// that is large, or beyond the gradient's buffer, which is not ours to say.
fn misplaced(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Option<NodeId>, Reason> {
    let own = emit.sink.graph().storage(site.node);
    let of = site.src_view.first().map_or(0, |of| of.offset);
    let (n, k) = (site.shape(0).n_elements(), site.ty.shape.n_elements());
    let start = own.offset.checked_sub(of);
    let Some(start) = start.filter(|_| n.saturating_mul(k) <= MAX_MOVES) else { return Ok(None) };
    let mut moves = vec![0.0; (n * k) as usize];
    for flat in 0..k as usize {
        let (mut rest, mut place) = (flat, start as isize);
        for axis in (0..site.ty.shape.rank()).rev() {
            let d = site.ty.shape.dim(axis).max(1) as usize;
            place += (rest % d) as isize * own.strides.get(axis).copied().unwrap_or(0);
            rest /= d;
        }
        let place = usize::try_from(place).ok().filter(|place| *place < n as usize);
        let Some(slot) = place.and_then(|place| moves.get_mut(flat * n as usize + place)) else {
            return Ok(None);
        };
        *slot = 1.0;
    }
    let bad = Reason::BadShape { wants: "fewer elements", got: site.ty.shape };
    let of = |dims: &[u64]| {
        let dims: Option<Vec<u32>> = dims.iter().map(|d| u32::try_from(*d).ok()).collect();
        dims.and_then(|dims| Shape::new(&dims)).ok_or(bad.clone())
    };
    let moves = emit.literal(of(&[k, n])?, moves)?;
    let row = emit.with(OpKind::Reshape, &[site.grad], vec![shape_value(of(&[1, k])?)])?;
    let moved = emit.op(OpKind::Matmul, &[row, moves])?;
    emit.with(OpKind::Reshape, &[moved], vec![shape_value(site.shape(0))]).map(Some)
}

/// What a bracket takes: the result's shape and names, where it begins, and its step along each axis,
/// in steps of the source's axes.
pub(super) struct Taken {
    pub(super) shape: Shape,
    pub(super) axes: Axes,
    pub(super) starts: [usize; MAX_RANK],
    /// For each axis of the result, the source axis and the step along it; `None` for a new axis.
    pub(super) from: Vec<Option<(usize, i64)>>,
}

/// A whole axis.
const ALL: Index = Index::Range { start: None, stop: None, step: None };

pub(super) fn take(index: &[Index], of: &TensorType) -> Result<Taken, Reason> {
    let rank = of.shape.rank();
    let bad = |wants| Reason::BadParam { param: "index", wants };
    let used = index.iter().filter(|i| matches!(i, Index::At(_) | Index::Range { .. })).count();
    if used > rank {
        return Err(bad("no longer than the operand has axes"));
    }
    if index.iter().filter(|i| matches!(i, Index::Rest)).count() > 1 {
        return Err(bad("a bracket with one ... at most"));
    }
    let mut items: Vec<Index> = Vec::with_capacity(index.len() + rank);
    for item in index {
        match item {
            Index::Rest => items.extend(std::iter::repeat_n(ALL, rank - used)),
            other => items.push(*other),
        }
    }
    if !index.contains(&Index::Rest) {
        items.extend(std::iter::repeat_n(ALL, rank - used));
    }
    let mut out = Taken {
        shape: Shape::SCALAR,
        axes: [None; MAX_RANK],
        starts: [0; MAX_RANK],
        from: Vec::with_capacity(MAX_RANK),
    };
    let mut dims = Vec::with_capacity(MAX_RANK);
    let mut axis = 0;
    for item in items {
        let d = i64::from(of.shape.dim(axis));
        match item {
            Index::At(i) => {
                let at = if i < 0 { i.saturating_add(d) } else { i };
                if !(0..d).contains(&at) {
                    return Err(bad("inside the axis"));
                }
                out.starts[axis] = at as usize;
                axis += 1;
            }
            Index::Range { start, stop, step } => {
                let (first, n, step) = range(d, start, stop, step).ok_or(bad("a range with a step that is not 0"))?;
                out.starts[axis] = first as usize;
                if let Some(slot) = out.axes.get_mut(dims.len()) {
                    *slot = of.axes[axis];
                }
                dims.push(n as u32);
                // Nobody takes a step along an axis of one entry, and a huge one could overflow.
                out.from.push(Some((axis, if n > 1 { step } else { 1 })));
                axis += 1;
            }
            Index::New => {
                dims.push(1);
                out.from.push(None);
            }
            Index::Rest => {}
        }
    }
    out.shape = Shape::new(&dims).ok_or(bad("a bracket that leaves at most four axes"))?;
    Ok(out)
}

/// Python's `start:stop:step` on an axis of `d` entries: the first entry, how many, and the step.
fn range(d: i64, start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Option<(i64, i64, i64)> {
    let step = step.unwrap_or(1);
    let place = |i: i64| if i < 0 { i.saturating_add(d) } else { i };
    let (first, n) = match step {
        0 => return None,
        1.. => {
            let first = start.map_or(0, |i| place(i).clamp(0, d));
            let stop = stop.map_or(d, |i| place(i).clamp(0, d));
            (first, (stop - first).max(0).saturating_add(step - 1) / step)
        }
        _ => {
            let first = start.map_or(d - 1, |i| place(i).clamp(-1, d - 1));
            let stop = stop.map_or(-1, |i| place(i).clamp(-1, d - 1));
            let back = step.checked_neg()?;
            (first, (first - stop).max(0).saturating_add(back - 1) / back)
        }
    };
    Some((first.max(0), n, step))
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let taken = take(cx.params.index(INDEX), &of)?;
    Ok(TensorType { dtype: of.dtype, shape: taken.shape, axes: taken.axes })
}

fn window(cx: &ShapeCx<'_>, of: &View) -> Option<View> {
    let taken = take(cx.params.index(INDEX), &cx.ty(0)).ok()?;
    let mut offset = of.offset as isize;
    for (start, stride) in taken.starts.iter().zip(of.strides) {
        offset += *start as isize * stride;
    }
    let mut strides = [0; MAX_RANK];
    for (slot, from) in strides.iter_mut().zip(&taken.from) {
        if let Some((axis, step)) = from {
            *slot = of.strides[*axis].saturating_mul(*step as isize);
        }
    }
    Some(View { root: of.root, offset: usize::try_from(offset).ok()?, strides })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
}
