//! `get_rows`, ggml's `GET_ROWS`: the rows that ids name, batch by batch; one matrix serves every batch of ids. d = the rows of g, added up where they came
//! from: repeated ids accumulate. Upstream refuses every batched form (B14), which a router of two tokens needs.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Default, Differs, Emit, Flow, How, OpDef, ParamKind,
    ParamSpec, Read, Site, Storage, forward, one, shape_value,
};
use super::{pick, rows};
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;

pub(super) const DEF: OpDef = OpDef {
    name: "get_rows",
    aliases: &[],
    ggml: "GGML_OP_GET_ROWS",
    sign: None,
    formula: "y[.., i, :] = a[.., b[.., i], :]",
    says: "Takes the rows that ids name. An id out of range reads NaN, or `fill_value`.",
    arity: Arity::exactly(2),
    params: &[ParamSpec::new("fill_value", ParamKind::Num, Default::Absent)],
    shape: |cx| rows::taken(cx.ty(0), cx.ty(1)),
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("rows of g, added up at b", &[Read::Src(1)]),
        Flow::Ignored("ids have no gradient"),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[
        Differs {
            rules: RuleSet::Upstream,
            how: How::Rule(matrices_only),
            cite: "ggml.c, ggml_get_rows_back asks for matrices",
            mends: &[],
        },
        super::def::PACKED,
    ],
    check: Check {
        samples: &[
            "param x [4,3] = rand(seed=1)\nconst i [3] i32 = [2, 0, 2]\ny = get_rows(x, i)",
            "param x [2,3,1] = rand(seed=2)\nconst i [2,2] i32 = [[2,0],[1,1]]\ny = get_rows(x, i)",
            "param x [2,2,3,2] = rand(seed=3)\nconst i [2,2,2] i32 = [[[2,0],[1,1]],[[0,1],[2,2]]]\ny = get_rows(x, i)",
        ],
        kink: None,
    },
    place: here!(),
};

const FILL: usize = 0;

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, ids] = cx.src else { return };
    let [_, _, m, n] = a.ty.shape.padded().map(|d| d as usize);
    let missing = pick::missing(cx.params, FILL);
    let per_batch = ids.ty.shape.padded()[3].max(1) as usize;
    if n == 0 {
        return;
    }
    for (t, (out, id)) in cx.out.chunks_exact_mut(n).zip(ids.data).enumerate() {
        let batch = rows::batch(a.ty.shape, t / per_batch);
        let from = pick::at(*id, m).map(|row| (batch * m + row) * n);
        match from.and_then(|from| a.data.get(from..from + n)) {
            Some(row) => out.copy_from_slice(row),
            None => out.fill(missing),
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let params = vec![shape_value(site.shape(0))];
    one(emit.with(OpKind::GetRowsBack, &[site.grad, site.src(1)], params)?)
}

fn matrices_only(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let ([a0, a1, ..], [_, i0, i1, _]) = (site.shape(0).padded(), site.shape(1).padded());
    if [a0, a1, i0, i1] != [1; 4] {
        return Err(Reason::NotThisForm("ggml's GET_ROWS_BACK takes one matrix, not a batch"));
    }
    rule(emit, site)
}
