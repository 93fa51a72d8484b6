//! `as_strided`: a window that strides through the packed elements, as PyTorch's and as ggml's VIEW with its own
//! strides. An element may be shown twice; then its gradient is the sum (B5: upstream keeps the last).

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, ShapeCx, Site, Storage, When, Wrong, forward, one, shape_value,
};
use super::repeat::shape_param;
use super::window::Window;
use crate::graph::{Params, Value, View};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{MAX_RANK, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "as_strided",
    aliases: &["view_2d", "view_3d", "view_4d"],
    ggml: "GGML_OP_VIEW",
    sign: None,
    formula: "y[i] = a[offset + Σ i · strides]",
    says: "Shows packed elements through a window with strides of its own, counted in elements.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("shape", ParamKind::Ints, Default::Required).or(&["size"]),
        ParamSpec::new("strides", ParamKind::Ints, Default::Required).or(&["stride"]),
        ParamSpec::new("offset", ParamKind::Int, Default::Int(0)).or(&["storage_offset"]),
    ],
    shape,
    stretches: false,
    storage: Storage::Window(view),
    flow: &[Flow::carries("g, added up through the window", &[])],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| back(emit, site, false)),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::Wrong(Wrong {
            rule: |emit, site| back(emit, site, true),
            what: "its window overlaps itself, and of the parts that meet in an element the last one stays",
            when: When::Built(overlaps),
        }),
        cite: "ggml.c:6596, the window accumulation reads the original, so the last writer wins",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [4] = rand(seed=1)\ny = as_strided(x, shape=[2,2], strides=[1,1])",
            "param x [3,4] = rand(seed=2)\ny = as_strided(x, shape=[2,2], strides=[4,2], offset=1)",
            "param x [4] = rand(seed=3)\ny = as_strided(x, shape=[3,2], strides=[0,1], offset=2)",
        ],
        kink: None,
    },
    place: here!(),
};

const SHAPE: usize = 0;
const STRIDES: usize = 1;
const OFFSET: usize = 2;

/// The window that attributes give into `n` packed elements.
pub(super) fn strided(params: &Params, n: u64) -> Result<Window, Reason> {
    let bad = |param| Reason::BadParam { param, wants: "a window inside the operand" };
    let shape = shape_param(params, SHAPE)?.ok_or(bad("shape"))?;
    let list = params.ints(STRIDES).ok_or(bad("strides"))?;
    if list.len() != shape.rank() {
        return Err(Reason::BadParam { param: "strides", wants: "one step for each axis" });
    }
    let mut strides = [0; MAX_RANK];
    for (slot, s) in strides.iter_mut().zip(list) {
        *slot = isize::try_from(s).ok().ok_or(bad("strides"))?;
    }
    let offset = params.int(OFFSET).and_then(|o| usize::try_from(o).ok()).ok_or(bad("offset"))?;
    Window::new(shape, offset, strides, n).ok_or(bad("strides"))
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let of = cx.ty(0);
    let window = strided(cx.params, of.shape.n_elements())?;
    Ok(TensorType { dtype: of.dtype, ..TensorType::f32(window.shape) })
}

fn view(cx: &ShapeCx<'_>, of: &View) -> Option<View> {
    let window = strided(cx.params, cx.dims(0).n_elements()).ok()?;
    of.is_packed(cx.dims(0)).then(|| View {
        root: of.root,
        offset: of.offset + window.offset,
        strides: window.strides,
    })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(a) = cx.src.first() else { return };
    let Ok(window) = strided(cx.params, a.ty.shape.n_elements()) else { return };
    for (o, place) in cx.out.iter_mut().zip(window.places()) {
        *o = a.data.get(place).copied().unwrap_or(T::ZERO);
    }
}

/// Whether some element shows more than once.
fn overlaps(site: &Site<'_>) -> bool {
    let Ok(window) = strided(site.params, site.shape(0).n_elements()) else { return false };
    let mut places: Vec<usize> = window.places().collect();
    let n = places.len();
    places.sort_unstable();
    places.dedup();
    places.len() < n
}

fn back(emit: &mut Emit<'_>, site: &Site<'_>, last: bool) -> Result<Contributions, Reason> {
    let mut params = site.params.values().to_vec();
    params.extend([shape_value(site.shape(0)), Value::Bool(last)]);
    one(emit.with(OpKind::AsStridedBack, &[site.grad], params)?)
}
