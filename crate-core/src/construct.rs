//! Applies a row to sources: arity, attributes, shape, storage and bounds, then a node or a reason.
//! Deliberately absent: values, and anything about gradients.

use std::sync::Arc;

use crate::graph::{Flags, Graph, Init, Node, NodeId, NodeKind, Params, Value, View};
use crate::ops::OpKind;
use crate::ops::def::{
    Arity, Default as Missing, OpDef, ParamKind, ShapeCx, Storage, alike, elementwise,
};
use crate::refusal::{Limit, Reason};
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};

/// What may be allocated. The defaults are the limits of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Nodes of a graph, forward and backward together.
    pub nodes: usize,
    /// Elements of one tensor.
    pub tensor_elements: u64,
    /// Elements of all tensors together.
    pub elements: u64,
    /// Events of a trace.
    pub events: usize,
    /// Steps of a training run.
    pub steps: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            nodes: 20_000,
            tensor_elements: 1 << 24,
            elements: 1 << 26,
            events: 200_000,
            steps: 100_000,
        }
    }
}

impl Budget {
    /// Whether one more node of this shape may be made that needs so many elements more.
    #[inline]
    fn allows(&self, graph: &Graph, shape: Shape, needs: u64) -> Result<(), Reason> {
        if graph.len() >= self.nodes {
            return Err(Reason::Budget { limit: Limit::Nodes, max: self.nodes as u64 });
        }
        if shape.n_at_least_one() > self.tensor_elements {
            return Err(Reason::Budget { limit: Limit::TensorElements, max: self.tensor_elements });
        }
        if needs > 0 && graph.n_elements().saturating_add(needs) > self.elements {
            return Err(Reason::Budget { limit: Limit::Elements, max: self.elements });
        }
        Ok(())
    }
}

/// Appends a leaf.
pub fn leaf(
    graph: &mut Graph,
    budget: &Budget,
    ty: TensorType,
    init: Init,
    name: Option<Arc<str>>,
    flags: Flags,
) -> Result<NodeId, Reason> {
    budget.allows(graph, ty.shape, ty.shape.n_elements())?;
    let node = Node { kind: NodeKind::Leaf(init), ty, flags, name, view: None };
    graph.push(node).ok_or(Reason::Budget { limit: Limit::Nodes, max: budget.nodes as u64 })
}

/// An op about to become a node.
#[derive(Clone, Debug)]
pub struct Apply<'a> {
    /// The row.
    pub op: OpKind,
    /// What it reads, in order.
    pub src: &'a [NodeId],
    /// Its attributes, in the row's order, defaults filled in.
    pub params: Params,
    /// The name of the result.
    pub name: Option<Arc<str>>,
    /// Whether the text asks, with `!`, to write over the first source.
    pub in_place: bool,
}

/// Appends an op, or says why not; nothing is appended then.
pub fn apply(
    graph: &mut Graph,
    budget: &Budget,
    rules: RuleSet,
    what: Apply<'_>,
) -> Result<NodeId, Reason> {
    if let Some(first) = what.src.first().filter(|_| rules.takes_packed(what.op)) {
        let shape = graph.node(*first).ty.shape;
        if !graph.storage(*first).is_packed(shape) {
            return Err(Reason::SrcNotContiguous);
        }
    }
    flagged(graph, budget, rules, what, Flags::default())
}

/// The same for an op with flags of its maker's.
pub(crate) fn flagged(
    graph: &mut Graph,
    budget: &Budget,
    rules: RuleSet,
    what: Apply<'_>,
    flags: Flags,
) -> Result<NodeId, Reason> {
    let def = what.op.def();
    if crate::WHOLE
        && let [a, b] = *what.src
        && !what.in_place
        && what.name.is_none()
        && is_plain(def)
        && alike(&graph.node(a).ty, &graph.node(b).ty)
    {
        // What nearly every node of a long graph is: nothing about it is left to be found out.
        let shape = graph.node(a).ty.shape;
        budget.allows(graph, shape, shape.n_elements())?;
        let kind = NodeKind::Op { op: what.op, src: what.src.into(), params: what.params };
        return graph
            .push_like(a, kind, flags)
            .ok_or(Reason::Budget { limit: Limit::Nodes, max: budget.nodes as u64 });
    }
    let got = what.src.len();
    if got < def.arity.min || got > def.arity.max {
        return Err(Reason::Arity { min: def.arity.min, max: def.arity.max, got });
    }
    for (ix, spec) in def.params.iter().enumerate() {
        let value = what.params.value(ix);
        if spec.default == Missing::Required
            && *value == Value::None
            && spec.kind != ParamKind::Node
        {
            return Err(Reason::BadParam { param: spec.name, wants: "given" });
        }
        check_kind(spec.name, spec.kind, value)?;
    }
    // So many nodes have one source or two that they allocate nothing here.
    let (one, two, more): ([TensorType; 1], [TensorType; 2], Vec<TensorType>);
    let src_ty: &[TensorType] = match *what.src {
        [a] => {
            one = [graph.node(a).ty];
            &one
        }
        [a, b] => {
            two = [graph.node(a).ty, graph.node(b).ty];
            &two
        }
        _ => {
            more = what.src.iter().map(|s| graph.node(*s).ty).collect();
            &more
        }
    };
    let (broadcast, most) = (rules.broadcast(), budget.tensor_elements);
    let cx = ShapeCx { src: src_ty, params: &what.params, broadcast, most };
    let ty = (def.shape)(&cx)?;
    let view: Option<View> = match (def.storage, what.src.first()) {
        (Storage::Window(window), Some(first)) => window(&cx, &graph.storage(*first)),
        (Storage::Second, _) => what.src.get(1).map(|s| graph.storage(*s)),
        (Storage::OwnOrFirst, Some(first)) if what.in_place => {
            let a = cx.ty(0);
            if !a.dtype.is_float() {
                return Err(Reason::SrcDtype { got: a.dtype });
            }
            if a.shape != ty.shape || a.dtype != ty.dtype {
                return Err(Reason::ShapesDisagree {
                    wants: "a result of its first operand's shape and type to write in place",
                    a: ty.shape,
                    b: a.shape,
                });
            }
            Some(graph.storage(*first))
        }
        (Storage::Own, _) if what.in_place => return Err(Reason::NotInPlace),
        _ => None,
    };
    if what.in_place && matches!(def.storage, Storage::Window(_) | Storage::Second) {
        return Err(Reason::NotInPlace);
    }
    let writes = what.in_place || matches!(def.storage, Storage::Second);
    budget.allows(graph, ty.shape, graph.needs(ty.shape, view.as_ref(), writes))?;
    let flags = Flags { in_place: writes, ..flags };
    let kind = NodeKind::Op { op: what.op, src: what.src.into(), params: what.params };
    graph
        .push(Node { kind, ty, flags, name: what.name, view })
        .ok_or(Reason::Budget { limit: Limit::Nodes, max: budget.nodes as u64 })
}

/// Whether an op of two sources has no attributes, storage of its own, and of sources that are alike makes another.
fn is_plain(def: &OpDef) -> bool {
    // Functions that compile to the same code may have one address: they do the same.
    def.params.is_empty()
        && matches!(def.storage, Storage::Own | Storage::OwnOrFirst)
        && std::ptr::fn_addr_eq(def.shape, elementwise as fn(&ShapeCx<'_>) -> _)
        && def.arity == Arity::exactly(2)
}

fn check_kind(param: &'static str, kind: ParamKind, value: &Value) -> Result<(), Reason> {
    let wants = match (kind, value) {
        (_, Value::None)
        | (ParamKind::Num, Value::Num(_) | Value::Int(_))
        | (ParamKind::Bool, Value::Bool(_))
        | (ParamKind::Int | ParamKind::Axis | ParamKind::Axes | ParamKind::Ints, Value::Int(_))
        | (ParamKind::Axes | ParamKind::Ints, Value::Ints(_))
        | (ParamKind::Index, Value::Index(_))
        | (ParamKind::Text, Value::Text(_))
        | (ParamKind::Node, _) => return Ok(()),
        (ParamKind::Num, _) => "a number",
        (ParamKind::Int, _) => "a whole number",
        (ParamKind::Bool, _) => "true or false",
        (ParamKind::Axis, _) => "an axis",
        (ParamKind::Axes, _) => "an axis or a list of axes",
        (ParamKind::Ints, _) => "a list of whole numbers",
        (ParamKind::Index, _) => "an index",
        (ParamKind::Text, _) => "a text in quotes",
    };
    Err(Reason::BadParam { param, wants })
}

#[cfg(test)]
mod tests {
    use super::{Apply, Budget, apply, leaf};
    use crate::graph::{Flags, Graph, Init, Params};
    use crate::ops::OpKind;
    use crate::refusal::{Limit, Reason};
    use crate::rules::RuleSet;
    use crate::tensor::{Shape, TensorType};

    /// A leaf of these extents made without bounds, and `a + a` within some.
    fn sum_of(dims: &[u32], budget: &Budget) -> Result<(), Reason> {
        let mut graph = Graph::default();
        let ty = TensorType::f32(Shape::new(dims).unwrap_or(Shape::SCALAR));
        let free = Budget { tensor_elements: u64::MAX, elements: u64::MAX, ..Budget::default() };
        let a = leaf(&mut graph, &free, ty, Init::Fill(1.0), None, Flags::default())?;
        let (src, params) = ([a, a], Params::default());
        let what = Apply { op: OpKind::Add, src: &src, params, name: None, in_place: false };
        apply(&mut graph, budget, RuleSet::Ggml, what).map(|_| ())
    }

    #[test]
    fn a_node_like_its_operands_is_bounded_as_any_other() {
        let all = Budget { nodes: 2, tensor_elements: 6, elements: 12, ..Budget::default() };
        assert_eq!(sum_of(&[2, 3], &all), Ok(()));
        let refused = |dims: &[u32], budget: &Budget| match sum_of(dims, budget) {
            Err(Reason::Budget { limit, .. }) => Some(limit),
            _ => None,
        };
        assert_eq!(refused(&[2, 3], &Budget { nodes: 1, ..all }), Some(Limit::Nodes));
        let narrow = Budget { tensor_elements: 5, ..all };
        assert_eq!(refused(&[2, 3], &narrow), Some(Limit::TensorElements));
        assert_eq!(refused(&[2, 3], &Budget { elements: 11, ..all }), Some(Limit::Elements));
        // An empty axis hides no endless one.
        assert_eq!(refused(&[0, 7], &all), Some(Limit::TensorElements));
    }
}
