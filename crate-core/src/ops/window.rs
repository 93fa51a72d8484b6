//! Windows into a packed tensor: where `set_slice` and `add_slice` write, given by ranges or, as ggml's SET and
//! ACC have it, by byte strides and an offset.

use super::OpKind;
use super::def::{
    Default as Missing, Emit, ParamKind, ParamSpec, ShapeCx, Site, axis_param, shape_value,
};
use super::slice::take;
use crate::graph::{Index, NodeId, Params, Value};
use crate::refusal::Reason;
use crate::rules::Broadcast;
use crate::tensor::{DType, MAX_RANK, Shape, TensorType};

const START: usize = 0;
const STOP: usize = 1;
const STEP: usize = 2;
const AXIS: usize = 3;
const BYTES: usize = 4;

/// The attributes that give a window.
pub(super) const PARAMS: &[ParamSpec] = &[
    ParamSpec::new("start", ParamKind::Ints, Missing::Absent).or(&["starts", "start_indices"]),
    ParamSpec::new("stop", ParamKind::Ints, Missing::Absent).or(&["stops", "end", "ends"]),
    ParamSpec::new("step", ParamKind::Ints, Missing::Absent).or(&["steps"]),
    axis_param(ParamKind::Axes, Missing::Absent),
    ParamSpec::new("nb1", ParamKind::Int, Missing::Absent),
    ParamSpec::new("nb2", ParamKind::Int, Missing::Absent),
    ParamSpec::new("nb3", ParamKind::Int, Missing::Absent),
    ParamSpec::new("offset", ParamKind::Int, Missing::Absent),
];

/// A window: its shape, its first element, and its step along each of its axes.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) shape: Shape,
    pub(super) offset: usize,
    pub(super) strides: [isize; MAX_RANK],
}

impl Window {
    /// One that strides through a packed tensor of `n` elements, if it stays inside.
    pub(super) fn new(
        shape: Shape,
        offset: usize,
        mut strides: [isize; MAX_RANK],
        n: u64,
    ) -> Option<Self> {
        // Nobody takes a step along an axis of one entry, and a huge one could overflow.
        for (axis, step) in strides.iter_mut().enumerate() {
            if shape.dim(axis) <= 1 {
                *step = 0;
            }
        }
        let (mut lo, mut hi) = (i128::try_from(offset).ok()?, i128::try_from(offset).ok()?);
        for (d, s) in shape.dims().iter().zip(strides) {
            let reach = i128::from(d.saturating_sub(1)) * i128::try_from(s).ok()?;
            lo += reach.min(0);
            hi += reach.max(0);
        }
        let inside = shape.n_elements() == 0 || (lo >= 0 && hi < i128::from(n));
        inside.then_some(Self { shape, offset, strides })
    }

    /// The places of its elements, row-major.
    pub(super) fn places(self) -> impl Iterator<Item = usize> {
        (0..self.shape.n_elements() as usize).filter_map(move |flat| {
            let mut rest = flat;
            let mut place = self.offset as isize;
            for axis in (0..self.shape.rank()).rev() {
                let d = self.shape.dim(axis).max(1) as usize;
                place += (rest % d) as isize * self.strides.get(axis).copied().unwrap_or(0);
                rest /= d;
            }
            usize::try_from(place).ok()
        })
    }

    /// Whether no place is shown twice, as far as its strides tell.
    fn is_injective(&self) -> bool {
        let mut axes: Vec<(isize, isize)> = self
            .strides
            .iter()
            .zip(self.shape.dims())
            .filter(|(_, d)| **d > 1)
            .map(|(s, d)| (s.abs(), *d as isize - 1))
            .collect();
        axes.sort_unstable();
        let mut reach = 0;
        axes.iter().all(|(stride, last)| {
            let clear = *stride > reach;
            reach += stride.saturating_mul(*last);
            clear
        })
    }
}

/// Where a part of shape `b` goes in a packed tensor `a`. The part may stretch to ranges, not to byte strides.
pub(super) fn resolve(params: &Params, a: &TensorType, b: Shape) -> Result<Window, Reason> {
    let by_bytes = (0..4).any(|ix| params.int(BYTES + ix).is_some());
    if by_bytes {
        return bytes(params, a, b);
    }
    let taken = take(&index(params, a.shape, b)?, a)?;
    let strides = a.shape.strides();
    let mut out = Window { shape: taken.shape, offset: 0, strides: [0; MAX_RANK] };
    out.offset = taken.starts.iter().zip(strides).map(|(i, s)| i * s as usize).sum();
    for (slot, from) in out.strides.iter_mut().zip(&taken.from) {
        *slot = from.map_or(0, |(axis, step)| {
            strides.get(axis).copied().unwrap_or(0).saturating_mul(step as isize)
        });
    }
    Ok(out)
}

/// The bracket that the ranges stand for; `None` where the window is given by bytes.
fn bracket(params: &Params, a: Shape, b: Shape) -> Result<Option<Vec<Index>>, Reason> {
    if (0..4).any(|ix| params.int(BYTES + ix).is_some()) {
        return Ok(None);
    }
    index(params, a, b).map(Some)
}

fn index(params: &Params, a: Shape, b: Shape) -> Result<Vec<Index>, Reason> {
    let lists = [START, STOP, STEP].map(|ix| params.ints(ix));
    let named = params.ints(AXIS);
    let longest = lists.iter().flatten().map(Vec::len).max().unwrap_or(0);
    if longest == 0 {
        return Err(Reason::BadParam { param: "start", wants: "given" });
    }
    let n = named.as_ref().map_or(longest, Vec::len);
    let uneven = lists.iter().flatten().any(|list| list.len() != n);
    if uneven || n > a.rank() {
        return Err(Reason::BadParam { param: "start", wants: "one number for each axis" });
    }
    let mut out = vec![Index::Range { start: None, stop: None, step: None }; a.rank()];
    let [start, stop, step] = lists;
    let get = |list: &Option<Vec<i64>>, ix: usize| list.as_ref().and_then(|l| l.get(ix)).copied();
    for ix in 0..n {
        let axis = match &named {
            None => ix,
            Some(list) => {
                let axis = list.get(ix).copied().unwrap_or(0);
                a.resolve_axis(axis).ok_or(Reason::NoSuchAxis { axis, shape: a })?
            }
        };
        let (start, mut stop, step) = (get(&start, ix), get(&stop, ix), get(&step, ix));
        // Without an end the part's own extent decides.
        if stop.is_none() && b.rank() == a.rank() {
            let first = start.unwrap_or(0);
            let first =
                if first < 0 { first.saturating_add(i64::from(a.dim(axis))) } else { first };
            let length = i64::from(b.dim(axis)).saturating_mul(step.unwrap_or(1));
            stop = Some(first.saturating_add(length)).filter(|s| *s >= 0);
        }
        if let Some(slot) = out.get_mut(axis) {
            *slot = Index::Range { start, stop, step };
        }
    }
    Ok(out)
}

/// ggml's form: byte strides on the packed `a`, the innermost step is one element.
fn bytes(params: &Params, a: &TensorType, b: Shape) -> Result<Window, Reason> {
    let size = bytes_of(a.dtype);
    let packed = a.shape.padded();
    let mut step = [1i64; MAX_RANK];
    for axis in (0..3).rev() {
        step[axis] = step[axis + 1].saturating_mul(i64::from(packed[axis + 1]));
    }
    for (ix, param) in ["nb1", "nb2", "nb3"].into_iter().enumerate() {
        if let Some(bytes) = params.int(BYTES + ix) {
            if bytes < 0 || bytes % size != 0 {
                return Err(Reason::BadParam { param, wants: "a multiple of the element size" });
            }
            step[2 - ix] = bytes / size;
        }
    }
    let offset = params.int(BYTES + 3).unwrap_or(0);
    if offset < 0 || offset % size != 0 {
        return Err(Reason::BadParam { param: "offset", wants: "a multiple of the element size" });
    }
    let lead = MAX_RANK - b.rank();
    let mut strides = [0; MAX_RANK];
    for (slot, step) in strides.iter_mut().zip(step.iter().skip(lead)) {
        *slot = *step as isize;
    }
    let n = a.shape.n_elements();
    Window::new(b, (offset / size) as usize, strides, n)
        .ok_or(Reason::BadParam { param: "offset", wants: "a window inside the first operand" })
}

/// The result of writing a part into a window: the first operand's type.
pub(super) fn shape(cx: &ShapeCx<'_>, overlaps: bool) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    let window = resolve(cx.params, &a, b.shape)?;
    if !overlaps && !window.is_injective() {
        return Err(Reason::BadParam { param: "nb1", wants: "a window without overlaps" });
    }
    let region = TensorType::f32(window.shape);
    let joined = cx.broadcast.join(&region, &b)?;
    let too_deep = cx.broadcast == Broadcast::TwoSided && b.shape.rank() > window.shape.rank();
    if too_deep || !joined.shape.same_extents(&window.shape) {
        return Err(Reason::ShapesDisagree {
            wants: "a second operand of the window's shape",
            a: window.shape,
            b: b.shape,
        });
    }
    Ok(a.as_f32())
}

/// The elements of a part, stretched to a window.
pub(super) fn stretched<T: Copy>(data: &[T], of: Shape, window: Shape) -> impl Iterator<Item = T> {
    let (small, large) = (of.padded(), window.padded());
    (0..window.n_elements() as usize).filter_map(move |flat| {
        let mut rest = flat;
        let mut i = [0; MAX_RANK];
        for axis in (0..MAX_RANK).rev() {
            let d = large[axis].max(1) as usize;
            i[axis] = rest % d;
            rest /= d;
        }
        let at = (0..MAX_RANK).fold(0, |at, axis| {
            let d = small[axis] as usize;
            at * d + i[axis] % d.max(1)
        });
        data.get(at).copied()
    })
}

/// The attributes of the same window into a gradient, whose elements are f32: bytes are counted anew.
pub(super) fn for_gradient(site: &Site<'_>) -> Vec<Value> {
    let stored = site.src_ty.first().map_or(4, |ty| bytes_of(ty.dtype));
    let anew = |(ix, value): (usize, &Value)| match value {
        Value::Int(n) if ix >= BYTES => Value::Int((n / stored).saturating_mul(4)),
        other => other.clone(),
    };
    site.params.values().iter().enumerate().map(anew).collect()
}

/// Bytes of an element.
const fn bytes_of(dtype: DType) -> i64 {
    match dtype {
        DType::F32 | DType::I32 => 4,
        DType::F16 | DType::Bf16 => 2,
        DType::Bool => 1,
    }
}

/// What a window shows of a gradient: a bracket, or ggml's strides.
pub(super) fn shown(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<NodeId, Reason> {
    let (a, b) = (TensorType::f32(site.shape(0)), site.shape(1));
    if let Some(index) = bracket(site.params, a.shape, b)? {
        return emit.with(OpKind::Slice, &[site.grad], vec![Value::Index(index.into())]);
    }
    let typed = site.src_ty.first().copied().unwrap_or(a);
    let window = resolve(site.params, &typed, b)?;
    let strides = window.strides.iter().take(b.rank()).map(|s| *s as i64);
    let params =
        vec![shape_value(b), Value::Ints(strides.collect()), Value::Int(window.offset as i64)];
    emit.with(OpKind::AsStrided, &[site.grad], params)
}
