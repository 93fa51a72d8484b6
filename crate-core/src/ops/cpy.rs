//! `cpy(a, into=b)`: writes a over b's storage; the result is b, overwritten. d = g for a, nothing for b.
//! Mirrors ggml.c, CPY. What a later backward reads of b's old value is found by the mark walk (B18).

use super::def::{
    Arity, Backward, Check, Cx, Default, Differs, Flow, How, OpDef, ParamKind, ParamSpec, ShapeCx, Storage,
    forward, one, shape_value,
};
use super::OpKind;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "cpy",
    aliases: &["copy_"],
    ggml: "GGML_OP_CPY",
    sign: None,
    formula: "b := a",
    says: "Writes the first operand over the second.",
    arity: Arity::exactly(2),
    params: &[ParamSpec::new("into", ParamKind::Node, Default::Required)],
    shape,
    stretches: false,
    storage: Storage::Second,
    flow: &[
        Flow::carries("g, in the shape of a", &[]),
        Flow::Ignored("its old value is overwritten"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(|emit, site| {
        if site.ty.shape == site.shape(0) {
            return one(site.grad);
        }
        one(emit.with(OpKind::Reshape, &[site.grad], vec![shape_value(site.shape(0))])?)
    }),
    differs: &[
        super::def::PACKED,
        Differs {
            rules: RuleSet::Upstream,
            how: How::Silent(&[1]),
            cite: "ggml.c:7115, the contract check reads a gradient that nobody made",
            mends: &[],
        },
    ],
    check: Check {
        samples: &["param x [2,3] = rand(seed=1)\nconst d [2,3] = 0\nc = cpy(x, into=d)\ny = c * c"],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    if a.shape.n_elements() != b.shape.n_elements() {
        return Err(Reason::ShapesDisagree {
            wants: "as many elements in both operands",
            a: a.shape,
            b: b.shape,
        });
    }
    if !b.dtype.is_float() {
        return Err(Reason::SrcDtype { got: b.dtype });
    }
    Ok(b)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    cx.copy();
}
