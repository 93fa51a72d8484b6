//! `where`: a where the condition holds, else b. The branch not taken gets exactly 0, whatever its value is.
//! Not a ggml op.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Emit, Flow, OpDef, Read, ShapeCx, Site, Storage,
    Stretch, folded, forward,
};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::Broadcast;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "where",
    aliases: &["select"],
    ggml: "",
    sign: None,
    formula: "y = b where a, else c",
    says: "Takes each element from the second operand where the first holds, else from the third.",
    arity: Arity::exactly(3),
    params: &[],
    shape,
    stretches: true,
    storage: Storage::Own,
    flow: &[
        Flow::Ignored("a condition has no gradient"),
        Flow::carries("g where a", &[Read::Src(0)]),
        Flow::carries("g where not a", &[Read::Src(0)]),
    ],
    forward: forward!(value, Each),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param a [2,3] = rand(seed=1)\nparam b [2,3] = rand(seed=2)\ny = where(a < b, sqr(a), 3 * b)",
            "param a [2,3] = rand(seed=3)\nparam b [1,3] = rand(seed=4)\nconst c [2,3] = [[1,0,1],[0,0,1]]\ny = where(c, a, b)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let branches = cx.broadcast.join(&cx.ty(1), &cx.ty(2))?;
    let out = match cx.broadcast {
        Broadcast::Tile => cx.broadcast.join(&branches, &cx.ty(0))?,
        Broadcast::TwoSided => cx.broadcast.join(&cx.ty(0), &branches)?,
    };
    Ok(out)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [c, a, b] = cx.src else { return };
    let pick = |c: T, a: T, b: T| if c == T::ZERO { b } else { a };
    let n = cx.out.len();
    let conditions = cx.out.iter_mut().zip(c.data);
    match (c.data.len() == n, a.data, b.data) {
        (true, a, b) if a.len() == n && b.len() == n => {
            return conditions.zip(a.iter().zip(b)).for_each(|((o, c), (a, b))| *o = pick(*c, *a, *b));
        }
        (true, a, [b]) if a.len() == n => {
            return conditions.zip(a).for_each(|((o, c), a)| *o = pick(*c, *a, *b));
        }
        (true, [a], b) if b.len() == n => {
            return conditions.zip(b).for_each(|((o, c), b)| *o = pick(*c, *a, *b));
        }
        _ => {}
    }
    let dims = cx.ty.shape.padded().map(|d| d as usize);
    let at = [c, a, b].map(|o| (Stretch::new(o.ty.shape), o.data));
    for (row, line) in cx.out.chunks_exact_mut(dims[3].max(1)).enumerate() {
        let outer = [row / (dims[2] * dims[1]), (row / dims[2]) % dims[1], row % dims[2]];
        let [c, a, b] = at.map(|(stretch, data)| stretch.row(data, outer).iter().cycle());
        for (((o, c), a), b) in line.iter_mut().zip(c).zip(a).zip(b) {
            *o = pick(*c, *a, *b);
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let zero = emit.fill(site.ty, 0.0)?;
    let cond = site.src(0);
    let mut out = Vec::with_capacity(2);
    if site.wants(1) {
        out.push(folded(1, emit.op(OpKind::Where, &[cond, site.grad, zero])?));
    }
    if site.wants(2) {
        out.push(folded(2, emit.op(OpKind::Where, &[cond, zero, site.grad])?));
    }
    Ok(out)
}
