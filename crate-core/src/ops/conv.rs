//! What convolutions and pools share: where a kernel lies on an image, and the gradient of a convolution.
//! One axis is two with a height of 1. Sizes as in ggml.c, `ggml_calc_conv_output_size`:
//! O = (I + 2 p - d (K - 1) - 1) / s + 1.

use super::OpKind;
use super::def::{
    Contributions, Cx, Default as Missing, Emit, ParamKind, ParamSpec, ShapeCx, Site, shape_value,
};
use super::lines::send;
use super::matmul::{flipped, shaped};
use crate::graph::{NodeId, Params, Value};
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{MAX_RANK, Shape, TensorType};

/// How far the kernel moves; a number for every axis, or one for each from left to right.
pub(super) const STRIDE: ParamSpec =
    ParamSpec::new("stride", ParamKind::Ints, Missing::Int(1)).or(&["strides", "s"]);
/// How many zeros lie around the image.
pub(super) const PADDING: ParamSpec =
    ParamSpec::new("padding", ParamKind::Ints, Missing::Int(0)).or(&["p"]);
/// How far apart the kernel's elements reach.
pub(super) const DILATION: ParamSpec =
    ParamSpec::new("dilation", ParamKind::Ints, Missing::Int(1)).or(&["d"]);
/// The attributes of a convolution.
pub(super) const PARAMS: &[ParamSpec] = &[STRIDE, PADDING, DILATION];

/// Where a kernel lies on an image `[n, c, h, w]`.
#[derive(Clone, Copy)]
pub(super) struct Geometry {
    pub(super) n: u32,
    pub(super) c: u32,
    /// Height and width of the image, the kernel and the result.
    pub(super) image: [u32; 2],
    pub(super) kernel: [u32; 2],
    pub(super) out: [u32; 2],
    stride: [u32; 2],
    padding: [u32; 2],
    dilation: [u32; 2],
    /// Whether there is a height at all.
    pub(super) flat: bool,
}

/// One number for height and width, or one for each.
fn pair(
    params: &Params,
    ix: usize,
    flat: bool,
    param: &'static str,
    least: i64,
) -> Result<[u32; 2], Reason> {
    let bad = || Reason::BadParam { param, wants: "a count, or one for each axis" };
    let one = |n: i64| u32::try_from(n).ok().filter(|_| n >= least).ok_or_else(bad);
    let neutral = u32::from(least == 1);
    match params.ints(ix).as_deref() {
        Some([n]) if flat => Ok([neutral, one(*n)?]),
        Some([n]) => Ok([one(*n)?; 2]),
        Some([h, w]) if !flat => Ok([one(*h)?, one(*w)?]),
        _ => Err(bad()),
    }
}

impl Geometry {
    /// A kernel of one or two extents on the last axes of an image; stride, padding and dilation stand from `at` on.
    pub(super) fn new(
        image: Shape,
        kernel: &[u32],
        params: &Params,
        at: usize,
    ) -> Result<Self, Reason> {
        let flat = kernel.len() == 1;
        let [a, b, c, w] = image.padded();
        let too_many = Reason::BadShape { wants: "an image of at most three axes", got: image };
        let (n, c, h) = match (flat, a) {
            (true, 1) => (b, c, 1),
            (true, _) => return Err(too_many),
            (false, _) => (a, b, c),
        };
        let kernel = match kernel {
            [w] => [1, *w],
            [h, w] => [*h, *w],
            _ => return Err(Reason::BadParam { param: "kernel", wants: "one extent or two" }),
        };
        let stride = pair(params, at, flat, "stride", 1)?;
        let padding = pair(params, at + 1, flat, "padding", 0)?;
        let dilation = pair(params, at + 2, flat, "dilation", 1)?;
        let mut out = [0; 2];
        for axis in 0..2 {
            let reach = u64::from(dilation[axis]) * u64::from(kernel[axis].saturating_sub(1)) + 1;
            let room = u64::from([h, w][axis]) + 2 * u64::from(padding[axis]);
            let steps =
                room.checked_sub(reach).filter(|_| kernel[axis] > 0).ok_or(Reason::BadShape {
                    wants: "an image that the kernel fits on",
                    got: image,
                })?;
            out[axis] = u32::try_from(steps / u64::from(stride[axis]) + 1)
                .ok()
                .ok_or(Reason::BadParam { param: "padding", wants: "less" })?;
        }
        Ok(Self { n, c, image: [h, w], kernel, out, stride, padding, dilation, flat })
    }

    /// Elements of the kernel, over all channels: the length of a patch.
    pub(super) fn patch(&self) -> u64 {
        u64::from(self.c) * u64::from(self.kernel[0]) * u64::from(self.kernel[1])
    }

    /// The kernel's extents as an attribute.
    pub(super) fn kernel_value(&self) -> Value {
        let from = usize::from(self.flat);
        Value::Ints(self.kernel.iter().skip(from).map(|k| i64::from(*k)).collect())
    }

    /// The shape of the patches: `[n, oh, ow, c·kh·kw]`, with as many axes as the image, three at least
    /// (without height, `[n, ow, c·k]`, two at least).
    pub(super) fn patches(&self, image: Shape) -> Result<Shape, Reason> {
        let bad = Reason::BadShape { wants: "patches of fewer than 2^32 elements", got: image };
        let length = u32::try_from(self.patch()).ok().ok_or(bad)?;
        let (dims, least) = if self.flat {
            ([1, self.n, self.out[1], length], 2)
        } else {
            ([self.n, self.out[0], self.out[1], length], 3)
        };
        Ok(tail(dims, image.rank().max(least)))
    }

    /// Calls `visit` with each element of the patches, row-major, and the image element it shows;
    /// nothing for one in the padding.
    pub(super) fn walk(&self, mut visit: impl FnMut(usize, Option<usize>)) {
        let [h, w] = self.image.map(i64::from);
        let place = |axis: usize, o: u32, k: u32| {
            i64::from(o) * i64::from(self.stride[axis])
                + i64::from(k) * i64::from(self.dilation[axis])
                - i64::from(self.padding[axis])
        };
        let mut at = 0;
        for n in 0..self.n {
            for oy in 0..self.out[0] {
                for ox in 0..self.out[1] {
                    for c in 0..self.c {
                        let plane = i64::from(n) * i64::from(self.c) + i64::from(c);
                        for ky in 0..self.kernel[0] {
                            for kx in 0..self.kernel[1] {
                                let (y, x) = (place(0, oy, ky), place(1, ox, kx));
                                let inside = (0..h).contains(&y) && (0..w).contains(&x);
                                visit(at, inside.then_some(((plane * h + y) * w + x) as usize));
                                at += 1;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The last `rank` of four extents, or more where those before are not 1.
fn tail(dims: [u32; MAX_RANK], rank: usize) -> Shape {
    let lead = dims.iter().take_while(|d| **d == 1).count().min(MAX_RANK - rank.min(MAX_RANK));
    Shape::new(dims.get(lead..).unwrap_or(&dims)).unwrap_or(Shape::SCALAR)
}

/// What an op on an image reads from its operands: a kernel `[oc, ic, kh, kw]` or `[oc, ic, k]`, and the image.
pub(super) fn of_kernel(kernel: Shape, image: Shape, params: &Params) -> Result<Geometry, Reason> {
    let (channels, extents) = match kernel.dims() {
        [_, c, w] => (*c, vec![*w]),
        [_, c, h, w] => (*c, vec![*h, *w]),
        _ => {
            return Err(Reason::BadShape {
                wants: "a kernel [oc, ic, k] or [oc, ic, kh, kw]",
                got: kernel,
            });
        }
    };
    let geometry = Geometry::new(image, &extents, params, 0)?;
    if geometry.c != channels {
        return Err(Reason::ShapesDisagree {
            wants: "as many channels in the kernel as in the image",
            a: kernel,
            b: image,
        });
    }
    Ok(geometry)
}

/// The type of a convolution: `[n, oc, oh, ow]`, with as many axes as the image.
pub(super) fn shape(
    cx: &ShapeCx<'_>,
    kernel: usize,
    image: usize,
    flat: bool,
) -> Result<TensorType, Reason> {
    let geometry = geometry(cx.dims(kernel), cx.dims(image), cx.params, flat)?;
    let (oc, [oh, ow]) = (cx.dims(kernel).dim(0), geometry.out);
    let dims = if flat { [1, geometry.n, oc, ow] } else { [geometry.n, oc, oh, ow] };
    let least = if flat { 2 } else { 3 };
    Ok(TensorType::f32(tail(dims, cx.dims(image).rank().max(least))))
}

fn geometry(kernel: Shape, image: Shape, params: &Params, flat: bool) -> Result<Geometry, Reason> {
    let geometry = of_kernel(kernel, image, params)?;
    if geometry.flat != flat {
        let wants = if flat { "a kernel [oc, ic, k]" } else { "a kernel [oc, ic, kh, kw]" };
        return Err(Reason::BadShape { wants, got: kernel });
    }
    Ok(geometry)
}

/// The value of a convolution.
pub(super) fn value<T: Real>(cx: &mut Cx<'_, T>, kernel: usize, image: usize) {
    let Ok(g) = of_kernel(cx.shape(kernel), cx.shape(image), cx.params) else { return };
    let (Some(w), Some(x)) = (cx.src.get(kernel), cx.src.get(image)) else { return };
    let length = g.patch() as usize;
    let (oc, plane) = (w.ty.shape.dim(0) as usize, g.out[0] as usize * g.out[1] as usize);
    if length == 0 || plane == 0 {
        return;
    }
    let out = &mut *cx.out;
    let mut patch = Vec::with_capacity(length);
    g.walk(|at, place| {
        patch.push(place.and_then(|p| x.data.get(p)).copied().unwrap_or(T::ZERO));
        if patch.len() == length {
            let (n, o) = (at / length / plane, at / length % plane);
            for (channel, weights) in w.data.chunks_exact(length).enumerate() {
                if let Some(y) = out.get_mut((n * oc + channel) * plane + o) {
                    *y = kernels::dot(weights, &patch);
                }
            }
            patch.clear();
        }
    });
}

/// The gradients of a convolution: with the patches as rows it is a product of matrices.
pub(super) fn rule(
    emit: &mut Emit<'_>,
    site: &Site<'_>,
    kernel: usize,
    image: usize,
) -> Result<Contributions, Reason> {
    let g = of_kernel(site.shape(kernel), site.shape(image), site.params)?;
    let bad = Reason::BadShape { wants: "fewer than 2^32 patches", got: site.ty.shape };
    let oc = site.shape(kernel).dim(0);
    let rows = g.n.checked_mul(g.out[0]).and_then(|r| r.checked_mul(g.out[1])).ok_or(bad)?;
    let length = g.patch() as u32;
    let of = |dims: &[u32]| Shape::new(dims).unwrap_or(Shape::SCALAR);
    let grad = shaped(emit, site.grad, of(&[g.n, oc, g.out[0], g.out[1]]))?;
    let last = Value::Ints(vec![0, 2, 3, 1].into());
    let grad = emit.with(OpKind::Permute, &[grad], vec![last])?;
    let grad = shaped(emit, grad, of(&[rows, oc]))?;
    let mut out = Vec::with_capacity(2);
    if site.wants(kernel) {
        let patches = patches(emit, site.src(image), &g, site.params)?;
        let patches = shaped(emit, patches, of(&[rows, length]))?;
        let turned = flipped(emit, grad)?;
        let d = emit.op(OpKind::Matmul, &[turned, patches])?;
        out.push(send(kernel, shaped(emit, d, site.shape(kernel))?));
    }
    if site.wants(image) {
        let weights = shaped(emit, site.src(kernel), of(&[oc, length]))?;
        let d = emit.op(OpKind::Matmul, &[grad, weights])?;
        let d = shaped(emit, d, g.patches(site.shape(image))?)?;
        out.push(send(image, patches_back(emit, d, site.shape(image), &g, site.params)?));
    }
    Ok(out)
}

/// The patches of an image, for a rule whose own attributes are stride, padding and dilation.
fn patches(
    emit: &mut Emit<'_>,
    image: NodeId,
    g: &Geometry,
    params: &Params,
) -> Result<NodeId, Reason> {
    let mut all = vec![g.kernel_value()];
    all.extend((0..3).map(|ix| params.value(ix).clone()));
    emit.with(OpKind::Patches, &[image], all)
}

/// The image's gradient from that of its patches.
pub(super) fn patches_back(
    emit: &mut Emit<'_>,
    patches: NodeId,
    image: Shape,
    g: &Geometry,
    params: &Params,
) -> Result<NodeId, Reason> {
    let mut all = vec![g.kernel_value()];
    all.extend((0..3).map(|ix| params.value(ix).clone()));
    all.push(shape_value(image));
    emit.with(OpKind::PatchesBack, &[patches], all)
}
