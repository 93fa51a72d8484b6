//! What pools share: a window that runs over the last one or two axes of every plane.
//! Sizes as in ggml.c, `ggml_calc_pool_output_size`: O = (I + 2 p - k) / s + 1; the stride is the window's unless given.

use super::OpKind;
use super::conv::Geometry;
use super::def::{Cx, Default as Missing, Emit, ParamKind, ParamSpec, ShapeCx, Site, shape_value};
use super::matmul::shaped;
use crate::graph::{NodeId, Params, Value};
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{Shape, TensorType};

const SIZE: ParamSpec =
    ParamSpec::new("kernel", ParamKind::Ints, Missing::Required).or(&["kernel_size", "k"]);
const STRIDE: ParamSpec =
    ParamSpec::new("stride", ParamKind::Ints, Missing::Absent).or(&["strides", "s"]);
const PADDING: ParamSpec = ParamSpec::new("padding", ParamKind::Ints, Missing::Int(0)).or(&["p"]);

/// The attributes of a pool.
pub(super) const PARAMS: &[ParamSpec] = &[SIZE, STRIDE, PADDING];

/// Those of a pool that is told what to take, in ggml's order.
pub(super) const NAMED: &[ParamSpec] =
    &[ParamSpec::new("op", ParamKind::Text, Missing::Required), SIZE, STRIDE, PADDING];

/// Whether a pool that is told what to take takes the largest, and not the mean.
pub(super) fn takes_largest(params: &Params) -> Result<bool, Reason> {
    match params.text(0) {
        Some("max") => Ok(true),
        Some("avg") => Ok(false),
        _ => Err(Reason::BadParam { param: "op", wants: "\"max\" or \"avg\"" }),
    }
}

/// Kernel, stride and padding, wherever they stand.
fn geometry(params: &Params) -> [&Value; 3] {
    let from = usize::from(params.text(0).is_some());
    [0, 1, 2].map(|ix| params.value(from + ix))
}

/// The windows over the planes of an image: each plane is an image of one channel.
pub(super) fn windows(image: Shape, params: &Params, flat: bool) -> Result<Geometry, Reason> {
    let bad = || Reason::BadParam { param: "kernel", wants: "a count, or one for each axis" };
    let [kernel, stride, padding] = geometry(params);
    let kernel = Params::new(vec![kernel.clone()]).ints(0).ok_or_else(bad)?;
    let extents: Option<Vec<u32>> = kernel.iter().map(|k| u32::try_from(*k).ok()).collect();
    let extents = match extents.as_deref() {
        Some([k]) if flat => vec![*k],
        Some([k]) => vec![*k, *k],
        Some([h, w]) if !flat => vec![*h, *w],
        _ => return Err(bad()),
    };
    if image.rank() < extents.len() {
        return Err(Reason::BadShape { wants: "an image", got: image });
    }
    let stride = match stride {
        Value::None => Value::Ints(extents.iter().map(|k| i64::from(*k)).collect()),
        given => given.clone(),
    };
    let own = Params::new(vec![stride, padding.clone(), Value::Int(1)]);
    Geometry::new(planes(image, flat)?, &extents, &own, 0)
}

/// Every plane as an image of one channel: `[planes, 1, h, w]`, or `[planes, 1, w]`.
fn planes(image: Shape, flat: bool) -> Result<Shape, Reason> {
    let bad = Reason::BadShape { wants: "fewer than 2^32 planes", got: image };
    let [a, b, c, w] = image.padded();
    let n = a.checked_mul(b).ok_or(bad.clone())?;
    let dims =
        if flat { vec![n.checked_mul(c).ok_or(bad.clone())?, 1, w] } else { vec![n, 1, c, w] };
    Shape::new(&dims).ok_or(bad)
}

/// The type of a pool.
pub(super) fn shape(cx: &ShapeCx<'_>, flat: bool) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let windows = windows(of.shape, cx.params, flat)?;
    // A window may be larger than the image where the padding is.
    cx.affords(std::iter::once(u32::try_from(windows.patch()).unwrap_or(u32::MAX)))?;
    let [oh, ow] = windows.out;
    let last = of.shape.rank().saturating_sub(1);
    let mut shape = of.shape.with_dim(last, ow);
    if !flat {
        shape = shape.with_dim(last.saturating_sub(1), oh);
    }
    Ok(TensorType { shape, ..of.as_f32() })
}

/// Writes `f` of each window, given as its elements; `None` for one in the padding.
pub(super) fn over<T: Real>(cx: &mut Cx<'_, T>, flat: bool, f: impl Fn(&[Option<T>]) -> T) {
    let Ok(g) = windows(cx.shape(0), cx.params, flat) else { return };
    let Some(x) = cx.src.first() else { return };
    let length = g.patch() as usize;
    let out = &mut *cx.out;
    let mut window = Vec::with_capacity(length);
    g.walk(|at, place| {
        window.push(place.and_then(|p| x.data.get(p)).copied());
        if window.len() == length {
            if let Some(o) = out.get_mut(at / length.max(1)) {
                *o = f(&window);
            }
            window.clear();
        }
    });
}

/// A rule's own view of a pool: the windows, and its gradient with one element a window.
pub(super) struct Pooled {
    image: Shape,
    planes: Shape,
    windows: Geometry,
    params: Vec<Value>,
    /// The gradient, `[.., 1]`.
    pub(super) grad: NodeId,
    /// The shape of all windows side by side.
    pub(super) patches: Shape,
}

impl Pooled {
    pub(super) fn new(emit: &mut Emit<'_>, site: &Site<'_>, flat: bool) -> Result<Self, Reason> {
        let image = site.shape(0);
        let windows = windows(image, site.params, flat)?;
        let planes = planes(image, flat)?;
        let patches = windows.patches(planes)?;
        let one = patches.with_dim(patches.rank().saturating_sub(1), 1);
        let grad = shaped(emit, site.grad, one)?;
        let [_, stride, padding] = geometry(site.params);
        let stride = match stride {
            Value::None => windows.kernel_value(),
            given => given.clone(),
        };
        let params = vec![windows.kernel_value(), stride, padding.clone(), Value::Int(1)];
        Ok(Self { image, planes, windows, params, grad, patches })
    }

    /// How many elements a window has.
    pub(super) fn length(&self) -> f64 {
        self.windows.patch() as f64
    }

    /// The windows' elements; what lies in the padding is minus infinity.
    pub(super) fn elements(&self, emit: &mut Emit<'_>, image: NodeId) -> Result<NodeId, Reason> {
        let image = shaped(emit, image, self.planes)?;
        let mut params = self.params.clone();
        params.push(Value::Num(f64::NEG_INFINITY));
        emit.with(OpKind::Patches, &[image], params)
    }

    /// Adds the windows' gradients up where their elements came from.
    pub(super) fn back(&self, emit: &mut Emit<'_>, patches: NodeId) -> Result<NodeId, Reason> {
        let mut params = self.params.clone();
        params.push(shape_value(self.planes));
        let d = emit.with(OpKind::PatchesBack, &[patches], params)?;
        shaped(emit, d, self.image)
    }
}

/// The gradient of an average: an equal share for every element of the window, those in the padding included.
pub(super) fn average_back(
    emit: &mut Emit<'_>,
    site: &Site<'_>,
    flat: bool,
) -> Result<NodeId, Reason> {
    let pooled = Pooled::new(emit, site, flat)?;
    let share =
        emit.with(OpKind::Scale, &[pooled.grad], vec![Value::Num(1.0 / pooled.length())])?;
    let target = vec![Value::None, shape_value(pooled.patches)];
    let spread = emit.with(OpKind::Repeat, &[share], target)?;
    pooled.back(emit, spread)
}

/// The gradient of a maximum: all of it to the first largest element of the window, in row-major order.
pub(super) fn largest_back(
    emit: &mut Emit<'_>,
    site: &Site<'_>,
    flat: bool,
) -> Result<NodeId, Reason> {
    let pooled = Pooled::new(emit, site, flat)?;
    let elements = pooled.elements(emit, site.src(0))?;
    let first = emit.with(OpKind::TopK, &[elements], vec![Value::Int(1)])?;
    let zero = emit.fill(TensorType::f32(pooled.patches), 0.0)?;
    let spread = emit.op(OpKind::ScatterAdd, &[zero, first, pooled.grad])?;
    pooled.back(emit, spread)
}

/// The largest element of a window; NaN where there is one; ggml's -`FLT_MAX` where all of it is padding.
pub(super) fn largest<T: Real>(window: &[Option<T>]) -> T {
    let least = T::from_f64(f64::from(f32::MIN));
    let larger = |m: T, x: &T| if *x > m || x.is_nan() { *x } else { m };
    window.iter().flatten().fold(least, larger)
}

/// Whether some window has its largest element twice.
pub(super) fn has_tie(data: &[f64], image: Shape, params: &Params, flat: bool) -> bool {
    let Ok(g) = windows(image, params, flat) else { return false };
    let length = g.patch() as usize;
    let (mut window, mut tied) = (Vec::with_capacity(length), false);
    g.walk(|_, place| {
        window.push(place.and_then(|p| data.get(p)).copied());
        if window.len() == length {
            let most = largest(&window);
            tied |= window.iter().flatten().filter(|x| (**x - most).abs() <= 0.0).count() > 1;
            window.clear();
        }
    });
    tied
}

/// The mean of a window, padding counted as zeros.
pub(super) fn mean<T: Real>(window: &[Option<T>]) -> T {
    let all: Vec<T> = window.iter().map(|x| x.unwrap_or(T::ZERO)).collect();
    kernels::sum(&all) / T::from_f64(window.len() as f64)
}
