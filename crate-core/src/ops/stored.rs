//! How some of upstream's kernels read a gradient that is a view: its elements as they lie in memory, taken for rows
//! (B6, B7). What a transpose sends back is such a view.

use super::OpKind;
use super::def::{Emit, Site, When, shape_value};
use crate::graph::{NodeId, Value};
use crate::refusal::Reason;

/// What is wrong with it.
pub(super) const WHAT: &str =
    "it reads a gradient that is a view in the order of its storage, not in its own";

/// When it is wrong.
pub(super) const WHEN: When = When::Built(|site| !site.is_packed);

/// The gradient as such a kernel reads it.
pub(super) fn grad(emit: &mut Emit<'_>, site: &Site<'_>) -> Result<NodeId, Reason> {
    if site.is_packed {
        return Ok(site.grad);
    }
    let strides = emit.strides(site.grad);
    let mut axes: Vec<usize> = (0..site.ty.shape.rank()).collect();
    axes.sort_by_key(|axis| strides.get(*axis).map(|s| -s));
    let order = Value::Ints(axes.into_iter().map(|axis| axis as i64).collect());
    let stored = emit.with(OpKind::Permute, &[site.grad], vec![order])?;
    emit.with(OpKind::Reshape, &[stored], vec![shape_value(site.ty.shape)])
}
