//! `softmax` over one axis: e^z / Σ e^z, z = scale · a + slope · mask. d z = y (g - Σ y g); the mask gets its part
//! of it.
//! Mirrors ggml.c, `SOFT_MAX`. Upstream has no gradient for the mask and none with `max_bias`, whose kernel refuses
//! to run (B11).
//! A row in which everything is minus infinity gives zeros, not NaN (B29).

use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, Mend, OpDef,
    Operand, ParamKind, Read, ShapeCx, Site, Storage, When, Wrong, axis_param, folded,
    forward,
};
use super::reduce;
use super::shares::{self, Logits};
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

const AXIS: usize = 0;
const SCALE: usize = 2;
const MAX_BIAS: usize = 3;

pub(super) const DEF: OpDef = OpDef {
    name: "softmax",
    aliases: &["soft_max", "soft_max_ext"],
    ggml: "GGML_OP_SOFT_MAX",
    sign: None,
    formula: "y = e^z / Σ e^z, z = scale · a + b",
    says: "Turns numbers into shares that add up to 1 along an axis.",
    arity: Arity { min: 1, max: 2 },
    params: &[
        axis_param(ParamKind::Axis, Default::Int(-1)),
        shares::MASK,
        shares::SCALE,
        shares::MAX_BIAS,
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("scale · y · (g − Σ y · g)", &[Read::Out]),
        Flow::carries("y · (g − Σ y · g)", &[Read::Out]),
    ],
    forward: forward!(value, Lines(AXIS)),
    backward: Backward::Rule(rule),
    differs: &[
        super::def::PACKED,
        super::def::PACKED_SOURCE,
        Differs {
            rules: RuleSet::Upstream,
            how: How::Wrong(Wrong {
                rule: upstream,
                what: "a row in which everything is masked is NaN there, in value and in gradient",
                when: When::Run(masked),
            }),
            cite: "ggml.c:6977, SOFT_MAX case of the backward switch; ggml-cpu, soft_max_back asserts max_bias = 0",
            mends: &[
                Mend {
                    text: "softmax({0} + {1}, axis={axis})",
                    replaces: None,
                    without: &["scale", "max_bias"],
                    note: "ADD has a backward; the value is the same.",
                },
                Mend {
                    text: "softmax({scale} * {0} + {1}, axis={axis})",
                    replaces: None,
                    without: &["max_bias"],
                    note: "ADD has a backward; the value is the same.",
                },
            ],
        },
    ],
    check: Check {
        samples: &[
            "param x [2,3] = rand(seed=1, lo=-2, hi=2)\ny = softmax(x)",
            "param x [2,3,2] = rand(seed=2, lo=-2, hi=2)\ny = softmax(x, axis=1)",
            "param x [2,3,2,4] = rand(seed=3, lo=-2, hi=2)\nparam m [3,2,4] = rand(seed=4, lo=-2, hi=2)\ny = softmax(x, m, scale=0.5)",
            "param x [3,2,4] = rand(seed=5, lo=-2, hi=2)\nparam m [3,4] = rand(seed=6, lo=-2, hi=2)\ny = softmax(x, mask=m, max_bias=8)",
            "param x [2,3] = rand(seed=7, lo=-2, hi=2)\nconst m [2,3] = [[-inf, -inf, -inf], [0, -inf, 0]]\ny = softmax(x, m)",
        ],
        kink: None,
    },
    place: here!(),
};

fn logits(params: &Params, n_src: usize) -> Logits {
    Logits::new(params, (n_src > 1).then_some(1), SCALE, MAX_BIAS)
}

fn axis(params: &Params, shape: Shape) -> Result<usize, Reason> {
    let axis = params.int(AXIS).unwrap_or(-1);
    shape.resolve_axis(axis).ok_or(Reason::NoSuchAxis { axis, shape })
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    axis(cx.params, cx.dims(0))?;
    logits(cx.params, cx.src.len()).check(cx)?;
    Ok(cx.ty(0).as_f32())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    logits(cx.params, cx.src.len()).write(cx.src, cx.out);
    let Ok(axis) = axis(cx.params, cx.ty.shape) else { return };
    reduce::lines_of(cx.out, cx.ty.shape, &[axis], |line| shares::shares(line, None));
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let logits = logits(site.params, site.src.len());
    let (grad, _) = shares::to_logits(emit, site, axis(site.params, site.shape(0))?)?;
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(folded(0, logits.to_operand(emit, grad)?));
    }
    out.extend(logits.to_mask(emit, site, grad)?);
    Ok(out)
}

fn upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    if site.wants(1) {
        return Err(Reason::NotThisForm("ggml gives the mask no gradient"));
    }
    if logits(site.params, site.src.len()).max_bias > 0.0 {
        return Err(Reason::NotThisForm("ggml's SOFT_MAX_BACK does not run with max_bias"));
    }
    rule(emit, site)
}

/// Whether upstream divides 0 by 0.
fn masked(src: &[Operand<'_, f64>], params: &Params) -> bool {
    let axis = src.first().and_then(|a| axis(params, a.ty.shape).ok());
    axis.is_some_and(|axis| logits(params, src.len()).masks_a_line(src, axis))
}
