//! What `im2col_3d` and its adjoint share: where a kernel lies in a volume. Mirrors ggml.c, `IM2COL_3D`: batch and
//! channels share the first axis of the image, batch and depth that of the patches, and
//! O = (I + 2 p - d (K - 1) - 1) / s + 1 along each axis.

use super::conv::{DILATION, PADDING, STRIDE};
use super::def::{Default as Missing, ParamKind, ParamSpec};
use crate::graph::Params;
use crate::refusal::Reason;
use crate::tensor::Shape;

/// The attributes: channels, then a number for every axis, or one for each of depth, height and width.
pub(super) const PARAMS: &[ParamSpec] = &[CHANNELS, STRIDE, PADDING, DILATION];
/// How many channels share the first axis with the batch.
pub(super) const CHANNELS: ParamSpec =
    ParamSpec::new("channels", ParamKind::Int, Missing::Int(1)).or(&["ic", "IC"]);

/// Where a kernel lies in a volume.
#[derive(Clone, Copy)]
pub(super) struct Volume {
    batch: u32,
    channels: u32,
    image: [u32; 3],
    kernel: [u32; 3],
    out: [u32; 3],
    stride: [u32; 3],
    padding: [u32; 3],
    dilation: [u32; 3],
}

fn triple(params: &Params, ix: usize, param: &'static str, least: i64) -> Result<[u32; 3], Reason> {
    let bad = || Reason::BadParam { param, wants: "a count, or one for each of three axes" };
    let one = |n: i64| u32::try_from(n).ok().filter(|_| n >= least).ok_or_else(bad);
    match params.ints(ix).as_deref() {
        Some([n]) => Ok([one(*n)?; 3]),
        Some([d, h, w]) => Ok([one(*d)?, one(*h)?, one(*w)?]),
        _ => Err(bad()),
    }
}

impl Volume {
    /// A kernel `[.., kd, kh, kw]` in an image `[n · channels, d, h, w]`.
    pub(super) fn new(kernel: Shape, image: Shape, params: &Params) -> Result<Self, Reason> {
        let [planes, d, h, w] = image.padded();
        let [_, kd, kh, kw] = kernel.padded();
        let bad =
            Reason::BadParam { param: "channels", wants: "a divisor of the image's first axis" };
        let channels = params.int(0).and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
        let channels = channels.filter(|n| planes.is_multiple_of(*n)).ok_or(bad)?;
        let (image_dims, kernel_dims) = ([d, h, w], [kd, kh, kw]);
        let stride = triple(params, 1, "stride", 1)?;
        let padding = triple(params, 2, "padding", 0)?;
        let dilation = triple(params, 3, "dilation", 1)?;
        let mut out = [0; 3];
        for axis in 0..3 {
            let reach = u64::from(dilation[axis]) * u64::from(kernel_dims[axis].saturating_sub(1));
            let room = u64::from(image_dims[axis]) + 2 * u64::from(padding[axis]);
            let steps = room.checked_sub(reach + 1).filter(|_| kernel_dims[axis] > 0);
            let wants = "an image that the kernel fits in";
            let steps = steps.ok_or(Reason::BadShape { wants, got: image })?;
            out[axis] = u32::try_from(steps / u64::from(stride[axis]) + 1)
                .ok()
                .ok_or(Reason::BadParam { param: "padding", wants: "less" })?;
        }
        let batch = planes / channels;
        let (image, kernel) = (image_dims, kernel_dims);
        Ok(Self { batch, channels, image, kernel, out, stride, padding, dilation })
    }

    /// The shape of the patches, `[n · od, oh, ow, channels · kd · kh · kw]`.
    pub(super) fn patches(&self) -> Result<Shape, Reason> {
        let bad = Reason::BadParam { param: "channels", wants: "patches of fewer elements" };
        let [d, h, w] = self.out;
        let length = self.kernel.iter().try_fold(self.channels, |n, k| n.checked_mul(*k));
        let (length, depth) = length.zip(self.batch.checked_mul(d)).ok_or(bad.clone())?;
        Shape::new(&[depth, h, w, length]).ok_or(bad)
    }

    /// Calls `visit` with each element of the patches, row-major, that shows one of the image, and with that one.
    pub(super) fn walk(&self, mut visit: impl FnMut(usize, usize)) {
        let places = |axis: usize, o: u32, k: u32| {
            let at = i64::from(o) * i64::from(self.stride[axis])
                + i64::from(k) * i64::from(self.dilation[axis])
                - i64::from(self.padding[axis]);
            (0..i64::from(self.image[axis])).contains(&at).then_some(at as usize)
        };
        let [depth, height, width] = self.image.map(|d| d as usize);
        let mut at = 0;
        for outer in grid([self.batch, self.out[0], self.out[1], self.out[2]]) {
            let [n, od, oh, ow] = outer;
            for [c, kd, kh, kw] in
                grid([self.channels, self.kernel[0], self.kernel[1], self.kernel[2]])
            {
                let (z, y, x) = (places(0, od, kd), places(1, oh, kh), places(2, ow, kw));
                if let (Some(z), Some(y), Some(x)) = (z, y, x) {
                    let plane = n as usize * self.channels as usize + c as usize;
                    visit(at, ((plane * depth + z) * height + y) * width + x);
                }
                at += 1;
            }
        }
    }
}

/// Every index of four axes, row-major.
fn grid([a, b, c, d]: [u32; 4]) -> impl Iterator<Item = [u32; 4]> {
    (0..a).flat_map(move |i| {
        (0..b).flat_map(move |j| (0..c).flat_map(move |k| (0..d).map(move |l| [i, j, k, l])))
    })
}
