//! `win_unpart`, ggml's `WIN_UNPART`: puts square windows together to an image, without what reaches beyond it.
//! d = g, cut into windows. Mirrors ggml.c, `WIN_UNPART`, which falls into the unary case of the backward switch (B27).

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, ShapeCx, Site, Storage, forward, one,
};
use super::windows::{self, Cut};
use crate::graph::Params;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

const WIDTH: usize = 0;
const HEIGHT: usize = 1;
const SIZE: usize = 2;

pub(super) const DEF: OpDef = OpDef {
    name: "win_unpart",
    aliases: &[],
    ggml: "GGML_OP_WIN_UNPART",
    sign: None,
    formula: "y = the image of windows a",
    says: "Puts windows [n, size, size, c] together to [h, w, c], without what reaches beyond it.",
    arity: Arity::exactly(1),
    params: &[
        ParamSpec::new("width", ParamKind::Int, Default::Required).or(&["w0"]),
        ParamSpec::new("height", ParamKind::Int, Default::Required).or(&["h0"]),
        windows::SIZE,
    ],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::carries("g, cut into windows", &[])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml takes WIN_UNPART for a unary op and stops at its type"),
        cite: "ggml.c, WIN_UNPART shares the UNARY case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param x [6,2,2,2] = rand(seed=1)\ny = win_unpart(x, width=5, height=3, size=2)",
            "param x [1,3,3,2] = rand(seed=2)\ny = win_unpart(x, 2, 3, 3)",
        ],
        kink: None,
    },
    place: here!(),
};

fn cut(of: Shape, params: &Params) -> Result<Cut, Reason> {
    let extent = |ix, param| {
        let n = params.int(ix).and_then(|n| u32::try_from(n).ok());
        n.ok_or(Reason::BadParam { param, wants: "an extent" })
    };
    let size = windows::count(params.int(SIZE))?;
    let depth = of.padded()[3];
    let cut =
        Cut::new([extent(HEIGHT, "height")?, extent(WIDTH, "width")?, depth], size)?;
    let windows = cut.windows()?;
    if !windows.same_extents(&of) {
        let wants = "as many windows as the image takes";
        return Err(Reason::ShapesDisagree { wants, a: windows, b: of });
    }
    Ok(cut)
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    Ok(TensorType::f32(cut(cx.dims(0), cx.params)?.image()?))
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Ok(cut) = cut(cx.shape(0), cx.params) else { return };
    let Some(windows) = cx.src.first() else { return };
    cut.walk(|window, place| {
        let from = windows.data.get(window..window + cut.depth());
        if let (Some(to), Some(from)) = (cx.out.get_mut(place..place + cut.depth()), from) {
            to.copy_from_slice(from);
        }
    });
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let params = vec![site.params.value(SIZE).clone()];
    let d = emit.with(OpKind::WinPart, &[site.grad], params)?;
    one(super::matmul::shaped(emit, d, site.shape(0))?)
}
