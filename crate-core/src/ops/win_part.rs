//! `win_part`, ggml's `WIN_PART`: cuts an image into square windows, with zeros where they reach beyond it.
//! d = g, put together again. Mirrors ggml.c, `WIN_PART`, which falls into the unary case of the backward switch (B27).

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, ShapeCx,
    Site, Storage, forward, one,
};
use super::windows::{self, Cut};
use crate::graph::Value;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "win_part",
    aliases: &[],
    ggml: "GGML_OP_WIN_PART",
    sign: None,
    formula: "y = windows of a",
    says: "Cuts [h, w, c] into windows [n, size, size, c], with zeros where they reach beyond it.",
    arity: Arity::exactly(1),
    params: &[windows::SIZE],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, put together", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml takes WIN_PART for a unary op and stops at its type"),
        cite: "ggml.c, WIN_PART shares the UNARY case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [4,4,2] = rand(seed=1)\ny = win_part(x, 2)",
            "param x [3,5,2] = rand(seed=2)\ny = win_part(x, size=2)",
        ],
        kink: None,
    },
    place: here!(),
};

fn cut(of: Shape, params: &crate::graph::Params) -> Result<Cut, Reason> {
    let [h, w, c] = of.dims() else {
        return Err(Reason::BadShape { wants: "an image [h, w, c]", got: of });
    };
    Cut::new([*h, *w, *c], windows::size(params)?)
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    Ok(TensorType::f32(cut(cx.dims(0), cx.params)?.windows()?))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Ok(cut) = cut(cx.shape(0), cx.params) else { return };
    let Some(image) = cx.src.first() else { return };
    cut.walk(|window, place| {
        let from = image.data.get(place..place + cut.depth());
        if let (Some(to), Some(from)) = (cx.out.get_mut(window..window + cut.depth()), from) {
            to.copy_from_slice(from);
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let dims = site.shape(0);
    let params = vec![
        Value::Int(i64::from(dims.dim(1))),
        Value::Int(i64::from(dims.dim(0))),
        site.params.value(0).clone(),
    ];
    one(emit.with(OpKind::WinUnpart, &[site.grad], params)?)
}
