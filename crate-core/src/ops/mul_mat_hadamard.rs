//! `mul_mat_hadamard(a, b)`: ggml's `MUL_MAT` with the hint that its first operand is the scaled Hadamard matrix. Of
//! that operand the shape alone is read: rows of b times H / √n, H[i, j] = -1 to the number of bits that i and j share.
//! d = the same of g for b, nothing for a. Upstream's backward does not know of the hint, and sends a gradient (B32).

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Differs, Emit, Flow, How, OpDef, Operand, Read,
    ShapeCx, Site, Storage, When, Wrong, forward,
};
use super::lines::send;
use super::mul_mat::{first_grad, second_grad};
use crate::graph::Params;
use crate::kernels;
use crate::math::Real;
use crate::refusal::Reason;
use crate::rules::RuleSet;
use crate::tensor::TensorType;

pub(super) const DEF: OpDef = OpDef {
    name: "mul_mat_hadamard",
    aliases: &[],
    ggml: "GGML_OP_MUL_MAT",
    sign: None,
    formula: "y = b H / √n",
    says: "Multiplies each row of the second with the Hadamard matrix; of the first only the shape is read.",
    arity: Arity::exactly(2),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[Flow::Ignored("only its shape is used"), Flow::carries("g H / √n", &[Read::Src(0)])],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[
        Differs {
            rules: RuleSet::Upstream,
            how: How::Wrong(Wrong {
                rule: upstream,
                what: "its first operand gets a gradient, and nothing comes of that operand's values",
                when: When::Built(|site| site.wants(0)),
            }),
            cite: "ggml.c:6800, MUL_MAT case of the backward switch, which does not read the hint",
            mends: &[],
        },
        Differs {
            rules: RuleSet::Upstream,
            how: How::Wrong(Wrong {
                rule: upstream,
                what: "its gradients go by the first operand's values, and these are not the Hadamard matrix",
                when: When::Run(is_another),
            }),
            cite: "ggml.c:6800, MUL_MAT case of the backward switch, which does not read the hint",
            mends: &[],
        },
        Differs {
            rules: RuleSet::Upstream,
            how: How::Sends(&[0]),
            cite: "ggml.c:6800, MUL_MAT case of the backward switch, which does not read the hint",
            mends: &[],
        },
    ],
    check: Check {
        samples: &[
            "const a [4,4] = [[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5], [0.5, 0.5, -0.5, -0.5], [0.5, -0.5, -0.5, 0.5]]\nparam b [3,4] = rand(seed=1, lo=-1, hi=1)\ny = mul_mat_hadamard(a, b)",
            "const a [4,4] = [[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5], [0.5, 0.5, -0.5, -0.5], [0.5, -0.5, -0.5, 0.5]]\nparam b [2,1,2,4] = rand(seed=2, lo=-1, hi=1)\ny = mul_mat_hadamard(a, b)",
        ],
        kink: None,
    },
    place: here!(),
};

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (a, b) = (cx.ty(0), cx.ty(1));
    let [a0, a1, m, n] = a.shape.padded();
    if b.shape.rank() == 0 || [a0, a1, m] != [1, 1, n] || b.shape.padded()[3] != n {
        let wants = "a square matrix, and rows as long as its own";
        return Err(Reason::ShapesDisagree { wants, a: a.shape, b: b.shape });
    }
    if !n.is_power_of_two() {
        return Err(Reason::BadShape { wants: "rows as long as a power of two", got: b.shape });
    }
    Ok(b.as_f32())
}

/// The sign of an element of the matrix: -1 to the number of bits that its row and its column share.
const fn is_negative(row: usize, column: usize) -> bool {
    (row & column).count_ones() % 2 == 1
}

/// Whether the first operand is another matrix than the hint says.
fn is_another(src: &[Operand<'_, f64>], _: &Params) -> bool {
    let Some(a) = src.first() else { return false };
    let n = a.ty.shape.padded()[3].max(1) as usize;
    let size = 1.0 / (n as f64).sqrt();
    let of = |at: usize| if is_negative(at / n, at % n) { -size } else { size };
    a.data.iter().enumerate().any(|(at, x)| (x - of(at)).abs() > 1e-6)
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let Some(b) = cx.src.get(1) else { return };
    let n = cx.ty.shape.padded()[3].max(1) as usize;
    let scale = T::from_f64(1.0 / (n as f64).sqrt());
    let mut terms = Vec::with_capacity(n);
    for (row, out) in b.data.chunks_exact(n).zip(cx.out.chunks_exact_mut(n)) {
        for (i, o) in out.iter_mut().enumerate() {
            terms.clear();
            terms.extend(row.iter().enumerate().map(|(j, x)| {
                if is_negative(i, j) { -*x } else { *x }
            }));
            *o = kernels::sum(&terms) * scale;
        }
    }
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    // The matrix is its own transpose.
    let d = emit.op(OpKind::MulMatHadamard, &[site.src(0), site.grad])?;
    Ok(vec![send(1, d)])
}

/// As upstream, which differentiates it as any other product.
fn upstream(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (a, b) = (site.src(0), site.src(1));
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        out.push(send(0, first_grad(emit, b, site.grad, site.shape(0))?));
    }
    if site.wants(1) {
        out.push(send(1, second_grad(emit, a, site.grad, site.shape(1))?));
    }
    Ok(out)
}
