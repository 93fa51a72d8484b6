//! `matmul`, NumPy's `@`: y = a b over the last two axes, batch axes by the rules' broadcast.
//! da = g bᵀ, db = aᵀ g, each folded over the batch axes it was stretched along. Not a ggml op; its MUL_MAT is
//! `mul_mat`.

use super::OpKind;
use super::def::{
    Arity, Backward, Check, Contributions, Cx, Emit, Flow, OpDef, Read, ShapeCx, Sign, Site, Storage,
    folded, forward, shape_value,
};
use crate::graph::{NodeId, Value};
use crate::kernels::{self, Matrix};
use crate::math::Real;
use crate::refusal::Reason;
use crate::tensor::{MAX_RANK, Shape, TensorType};

pub(super) const DEF: OpDef = OpDef {
    name: "matmul",
    aliases: &["mm", "bmm", "dot"],
    ggml: "",
    sign: Some(Sign::Infix("@")),
    formula: "y = a b",
    says: "Multiplies matrices: each row of the first with each column of the second.",
    arity: Arity::exactly(2),
    params: &[],
    shape,
    stretches: false,
    storage: Storage::Own,
    flow: &[
        Flow::carries("g bᵀ", &[Read::Src(1)]),
        Flow::carries("aᵀ g", &[Read::Src(0)]),
    ],
    forward: forward!(value),
    backward: Backward::Rule(rule),
    differs: &[],
    check: Check {
        samples: &[
            "param a [2,3] = rand(seed=1, lo=-1, hi=1)\nparam b [3,4] = rand(seed=2, lo=-1, hi=1)\ny = a @ b",
            "param a [2,2,3] = rand(seed=3, lo=-1, hi=1)\nparam b [3,2] = rand(seed=4, lo=-1, hi=1)\ny = a @ b",
            "param a [2,3] = rand(seed=5, lo=-1, hi=1)\nparam b [3] = rand(seed=6, lo=-1, hi=1)\ny = a @ b",
            "param a [3] = rand(seed=7, lo=-1, hi=1)\nparam b [3,2] = rand(seed=8, lo=-1, hi=1)\ny = a @ b",
        ],
        kink: None,
    },
    place: here!(),
};

/// A vector counts as a row on the left and as a column on the right.
fn as_matrix(t: TensorType, left: bool) -> TensorType {
    if t.shape.rank() != 1 {
        return t;
    }
    let n = t.shape.dim(0);
    let (dims, axes) = if left {
        ([1, n], [None, t.axes[0], None, None])
    } else {
        ([n, 1], [t.axes[0], None, None, None])
    };
    TensorType { axes, ..TensorType::f32(Shape::new(&dims).unwrap_or(t.shape)) }
}

/// The batch axes of a matrix.
fn batch(t: TensorType) -> TensorType {
    let lead = t.shape.rank().saturating_sub(2);
    let shape = Shape::new(t.shape.dims().get(..lead).unwrap_or(&[])).unwrap_or(Shape::SCALAR);
    let mut axes = [None; MAX_RANK];
    for (slot, name) in axes.iter_mut().zip(t.axes).take(lead) {
        *slot = name;
    }
    TensorType { axes, ..TensorType::f32(shape) }
}

fn shape(cx: &ShapeCx<'_>) -> Result<TensorType, Reason> {
    let (ta, tb) = (cx.ty(0), cx.ty(1));
    for t in [ta, tb] {
        if t.shape.rank() == 0 {
            return Err(Reason::BadShape { wants: "matrices or vectors", got: t.shape });
        }
    }
    let (a, b) = (as_matrix(ta, true), as_matrix(tb, false));
    let (ra, rb) = (a.shape.rank(), b.shape.rank());
    if a.shape.dim(ra - 1) != b.shape.dim(rb - 2) {
        return Err(Reason::ShapesDisagree {
            wants: "as many columns in the first as rows in the second",
            a: ta.shape,
            b: tb.shape,
        });
    }
    let lead = cx.broadcast.join(&batch(a), &batch(b))?;
    let mut dims = lead.shape.dims().to_vec();
    let mut axes = lead.axes;
    let mut push = |extent, name| {
        if let Some(slot) = axes.get_mut(dims.len()) {
            *slot = name;
        }
        dims.push(extent);
    };
    if ta.shape.rank() > 1 {
        push(a.shape.dim(ra - 2), a.axes[ra - 2]);
    }
    if tb.shape.rank() > 1 {
        push(b.shape.dim(rb - 1), b.axes[rb - 1]);
    }
    let shape = Shape::new(&dims)
        .ok_or(Reason::BadShape { wants: "a result of at most four axes", got: ta.shape })?;
    Ok(TensorType { axes, ..TensorType::f32(shape) })
}

fn value<T: Real>(cx: &mut Cx<'_, T>) {
    let [a, b] = cx.src else { return };
    let (ta, tb) = (as_matrix(a.ty, true).shape.padded(), as_matrix(b.ty, false).shape.padded());
    let [a0, a1, m, k] = ta.map(|d| d as usize);
    let [b0, b1, _, n] = tb.map(|d| d as usize);
    let inner = a1.max(b1);
    for (batch, out) in cx.out.chunks_exact_mut((m * n).max(1)).enumerate() {
        let (i, j) = (batch / inner.max(1), batch % inner.max(1));
        let start_a = ((i % a0.max(1)) * a1 + j % a1.max(1)) * m * k;
        let start_b = ((i % b0.max(1)) * b1 + j % b1.max(1)) * k * n;
        let rows = a.data.get(start_a..start_a + m * k).unwrap_or(&[]);
        let cols = b.data.get(start_b..start_b + k * n).unwrap_or(&[]);
        kernels::matmul(Matrix::packed(rows, k), Matrix::packed(cols, n), out, (m, k, n));
    }
}

/// The matrix with its last two axes swapped.
pub(super) fn flipped(emit: &mut Emit<'_>, of: NodeId) -> Result<NodeId, Reason> {
    emit.with(OpKind::Transpose, &[of], vec![Value::Int(-2), Value::Int(-1)])
}

/// The node in another shape of as many elements, unless it has it already.
pub(super) fn shaped(emit: &mut Emit<'_>, of: NodeId, shape: Shape) -> Result<NodeId, Reason> {
    if emit.ty(of).shape == shape {
        return Ok(of);
    }
    emit.with(OpKind::Reshape, &[of], vec![shape_value(shape)])
}

fn rule(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<Contributions, Reason> {
    let (ta, tb) = (emit.ty(site.src(0)), emit.ty(site.src(1)));
    let (ma, mb) = (as_matrix(ta, true).shape, as_matrix(tb, false).shape);
    // The gradient as a matrix: what a vector operand dropped comes back as an axis of 1.
    let mut dims = site.ty.shape.dims().to_vec();
    if ta.shape.rank() == 1 {
        dims.insert(dims.len() - usize::from(tb.shape.rank() > 1), 1);
    }
    if tb.shape.rank() == 1 {
        dims.push(1);
    }
    let full = Shape::new(&dims)
        .ok_or(Reason::BadShape { wants: "a gradient of at most four axes", got: site.ty.shape })?;
    let g = shaped(emit, site.grad, full)?;
    let mut out = Vec::with_capacity(2);
    if site.wants(0) {
        let b = shaped(emit, site.src(1), mb)?;
        let bt = flipped(emit, b)?;
        let d = emit.op(OpKind::Matmul, &[g, bt])?;
        // A vector's gradient is one row of as many elements; only a batch needs the fold.
        let d = if ta.shape.rank() == 1 { drop_axis(emit, d, 1)? } else { d };
        out.push(folded(0, d));
    }
    if site.wants(1) {
        let a = shaped(emit, site.src(0), ma)?;
        let at = flipped(emit, a)?;
        let d = emit.op(OpKind::Matmul, &[at, g])?;
        let d = if tb.shape.rank() == 1 { drop_axis(emit, d, 0)? } else { d };
        out.push(folded(1, d));
    }
    Ok(out)
}

/// The matrix without one of its last two axes, counted from the right, whose extent is 1.
fn drop_axis(emit: &mut Emit<'_>, of: NodeId, from_right: usize) -> Result<NodeId, Reason> {
    let mut dims = emit.ty(of).shape.dims().to_vec();
    if let Some(at) = dims.len().checked_sub(1 + from_right) {
        dims.remove(at);
    }
    let shape = Shape::new(&dims).unwrap_or(Shape::SCALAR);
    shaped(emit, of, shape)
}
