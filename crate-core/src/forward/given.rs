//! Whether an infinity is what an op is for, or what its operands have come to.
//! Deliberately absent: a list of such ops. The op is asked again, with other operands.

use super::Values;
use crate::graph::{Graph, NodeId, NodeKind};
use crate::ops::def::{Cx, Lane, Operand};

impl<T: Lane> Values<T> {
    /// Whether every infinity of a node would stand there whatever its operands held: masks, fills and paddings write
    /// theirs on purpose. Indices and truth values keep their own, since they say where.
    pub fn infinite_on_purpose(&self, graph: &Graph, id: NodeId) -> bool {
        let node = graph.node(id);
        let NodeKind::Op { op, src, params } = &node.kind else { return false };
        let data: Vec<Vec<f64>> = src
            .iter()
            .map(|s| {
                let own = self.read_f64(graph, *s);
                if graph.node(*s).ty.dtype.is_float() { ordinary(own.len()) } else { own }
            })
            .collect();
        let operands: Vec<Operand<'_, f64>> =
            data.iter().zip(src).map(|(data, s)| Operand { data, ty: graph.node(*s).ty }).collect();
        let mut out = vec![0.0; node.ty.shape.n_elements() as usize];
        (op.def().forward.f64)(&mut Cx { src: &operands, params, ty: node.ty, out: &mut out });
        let own = self.read_f64(graph, id);
        own.iter().zip(&out).all(|(own, other)| own.is_finite() || own.to_bits() == other.to_bits())
    }
}

/// Numbers between 1/4 and 3/4, no two neighbours alike: inside every op's domain, on no kink and no pole.
fn ordinary(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.25 + (i % 61) as f64 / 122.0).collect()
}
