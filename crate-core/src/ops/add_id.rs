//! `add_id`, ggml's `ADD_ID`: adds to each expert's row the bias that its id names. da = g, db = the rows of g added up
//! by id (3.8). ggml's `ADD_ID` has no backward.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Read,
    ShapeCx, Site, Storage, forward, shape_value,
};
use super::lines::send;
use super::matmul::shaped;
use super::pick;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "add_id",
    aliases: &[],
    ggml: "GGML_OP_ADD_ID",
    sign: None,
    formula: "y[t, e, :] = a[t, e, :] + b[c[t, e], :]",
    says: "Adds to each row the row of the second operand that its id names. An id out of range gives NaN.",
    arity: Arity::exactly(3),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::OwnOrFirst,
    flow: &[
        Flow::carries("g", &[]),
        Flow::carries("rows of g, added up at c", &[Read::Src(2)]),
        Flow::Ignored("ids have no gradient"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[Differs {
        rules: RuleSet::Upstream,
        how: How::NoBackward("ggml's backward switch has no ADD_ID case"),
        cite: "ggml.c:7111, default case of the backward switch",
        mends: &[],
    }],
    check: Check {
        samples: &[
            "param a [2,3,2] = rand(seed=1)\nparam b [4,2] = rand(seed=2)\nconst i [2,3] i32 = [[3,0,3],[1,2,0]]\ny = add_id(a, b, i)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b, ids) = (cx.ty(0), cx.ty(1), cx.ty(2));
    let ([a0, t, u, n], [b0, b1, _, k]) = (a.shape.padded(), b.shape.padded());
    if a0 != 1 || b0 != 1 || b1 != 1 || n != k {
        return Err(Reason::ShapesDisagree {
            wants: "rows of one length: [tokens, used, n] and [experts, n]",
            a: a.shape,
            b: b.shape,
        });
    }
    if ids.shape.padded() != [1, 1, t, u] {
        return Err(Reason::ShapesDisagree {
            wants: "an id for each row",
            a: a.shape,
            b: ids.shape,
        });
    }
    Ok(a.as_f32())
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, b, ids] = cx.src else { return };
    let [_, _, m, n] = b.ty.shape.padded().map(|d| d as usize);
    if n == 0 {
        return;
    }
    let rows = cx.out.chunks_exact_mut(n).zip(a.data.chunks_exact(n)).zip(ids.data);
    for ((out, row), id) in rows {
        let bias = pick::at(*id, m).and_then(|e| b.data.get(e * n..(e + 1) * n));
        match bias {
            Some(bias) => {
                for ((o, x), y) in out.iter_mut().zip(row).zip(bias) {
                    *o = *x + *y;
                }
            }
            None => out.fill(pick::not_a_number()),
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(send(0, site.grad));
    }
    if site.wants(1) {
        let [_, t, u, n] = site.shape(0).padded();
        let bad = Reason::BadShape { wants: "fewer than 2^32 rows", got: site.shape(0) };
        let rows = t.checked_mul(u).ok_or(bad)?;
        let flat = |dims: &[u32]| Shape::new(dims).unwrap_or(Shape::SCALAR);
        let g = shaped(emit, site.grad, flat(&[rows, n]))?;
        let ids = shaped(emit, site.src(2), flat(&[rows]))?;
        let [.., experts, _] = site.shape(1).padded();
        let params = vec![shape_value(flat(&[experts, n]))];
        let d = emit.with(OpKind::GetRowsBack, &[g, ids], params)?;
        out.push(send(1, shaped(emit, d, site.shape(1))?));
    }
    Ok(out)
}
