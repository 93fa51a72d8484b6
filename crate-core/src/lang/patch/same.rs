//! Whether two documents mean the same graph, to the last bit of every gradient.
//!
//! Gradients are sums, and sums round: where three contributions meet, their order counts. So it is not enough that
//! the nodes agree; those that read a node must come in the same order where there are more than two of them.

use std::collections::BTreeMap;

use super::sketch::Doc;
use crate::graph::{Graph, Init, Node, NodeId, NodeKind};
use crate::rules::RuleSet;

/// Whether node for node is the same, but for names.
pub(super) fn by_place(before: &Doc, after: &Doc) -> bool {
    let (a, b) = (&before.lowered, &after.lowered);
    let alike = |(ix, node): (NodeId, &Node)| {
        let other = b.graph.node(ix);
        alike((&a.graph, node), (&b.graph, other)) && node.src() == other.src()
    };
    a.graph.len() == b.graph.len()
        && a.unmade.len() == b.unmade.len()
        && a.diagnostics.len() == b.diagnostics.len()
        && a.graph.nodes().all(alike)
}

/// Whether every node has its like under another name, with the same users in an order that gives the same sums.
pub(super) fn by_name(before: &Doc, after: &Doc, name: &dyn Fn(&str) -> String) -> bool {
    let (a, b) = (&before.lowered, &after.lowered);
    let counts = a.graph.len() == b.graph.len()
        && a.unmade.len() == b.unmade.len()
        && a.diagnostics.len() == b.diagnostics.len()
        && a.checks.len() == b.checks.len()
        && a.accumulators.len() == b.accumulators.len()
        && a.backward.is_some() == b.backward.is_some()
        && a.rules == b.rules;
    if !counts {
        return false;
    }
    let named = |graph: &Graph, id: NodeId| graph.node(id).name.as_deref().map(str::to_owned);
    let loss =
        |of: &super::sketch::Doc| of.lowered.loss.and_then(|id| named(&of.lowered.graph, id));
    if loss(before).map(|loss| name(&loss)) != loss(after) {
        return false;
    }
    // The like of each named node, and of each number through the node that reads it.
    let mut likes: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for (id, node) in a.graph.nodes() {
        let Some(own) = &node.name else {
            continue;
        };
        let Some(like) = b.names.get(name(own).as_str()) else {
            return false;
        };
        likes.insert(id, *like);
        let other = b.graph.node(*like);
        if !alike((&a.graph, node), (&b.graph, other)) || node.src().len() != other.src().len() {
            return false;
        }
        for (source, other) in node.src().iter().zip(other.src()) {
            if a.graph.node(*source).name.is_none() {
                likes.insert(*source, *other);
            }
        }
    }
    let all_alike = a.graph.nodes().all(|(id, node)| {
        let Some(like) = likes.get(&id) else {
            return false;
        };
        let other = b.graph.node(*like);
        let sources = node.src().iter().map(|source| likes.get(source).copied());
        alike((&a.graph, node), (&b.graph, other))
            && sources.eq(other.src().iter().map(|source| Some(*source)))
    });
    if !all_alike {
        return false;
    }
    if before.writes_in_place() {
        let order: Vec<NodeId> = likes.values().copied().collect();
        return order.is_sorted();
    }
    let bound = if a.rules == RuleSet::Upstream || !a.accumulators.is_empty() { 2 } else { 3 };
    let (users, other) = (users(&a.graph), users(&b.graph));
    users.iter().filter(|(_, users)| users.len() >= bound).all(|(id, users)| {
        let like = likes.get(id).and_then(|like| other.get(like));
        let users = users.iter().map(|(user, slot)| (likes.get(user).copied(), *slot));
        like.is_some_and(|like| users.eq(like.iter().map(|(user, slot)| (Some(*user), *slot))))
    })
}

/// Who reads each node, in the order of evaluation.
fn users(graph: &Graph) -> BTreeMap<NodeId, Vec<(NodeId, usize)>> {
    let mut users: BTreeMap<NodeId, Vec<(NodeId, usize)>> = BTreeMap::new();
    for (id, node) in graph.nodes() {
        for (slot, source) in node.src().iter().enumerate() {
            users.entry(*source).or_default().push((id, slot));
        }
    }
    users
}

/// Whether two nodes are the same but for their sources and their names.
fn alike((a, x): (&Graph, &Node), (b, y): (&Graph, &Node)) -> bool {
    let kinds = match (&x.kind, &y.kind) {
        (NodeKind::Leaf(x), NodeKind::Leaf(y)) => fills_alike(x, y),
        (
            NodeKind::Op { op: x_op, params: x_params, .. },
            NodeKind::Op { op: y_op, params: y_params, .. },
        ) => x_op == y_op && format!("{x_params:?}") == format!("{y_params:?}"),
        _ => false,
    };
    let axes =
        x.ty.axes
            .iter()
            .zip(&y.ty.axes)
            .all(|(x, y)| x.map(|x| a.axis_name(x)) == y.map(|y| b.axis_name(y)));
    kinds && axes && x.flags == y.flags && x.ty.shape == y.ty.shape && x.ty.dtype == y.ty.dtype
}

fn fills_alike(a: &Init, b: &Init) -> bool {
    let bits = |x: &f64| x.to_bits();
    match (a, b) {
        (Init::Fill(a), Init::Fill(b)) => bits(a) == bits(b),
        (Init::Literal(a), Init::Literal(b)) => a.iter().map(bits).eq(b.iter().map(bits)),
        _ => a == b,
    }
}
