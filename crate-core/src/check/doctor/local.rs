//! One node at a time: what it sent to each operand, and what forward mode says it should have sent.
//! Deliberately absent: judgement.

use super::fold::Layout;
use crate::construct::{self, Apply, Budget};
use crate::dual::Dual;
use crate::forward::Values;
use crate::graph::{Flags, Graph, Init, NodeId, NodeKind, Params};
use crate::kernels;
use crate::ops::OpKind;
use crate::ops::def::{Flow, Operand};
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};
use crate::trace::{Author, Event, Mark, Trace};

/// The most elements of an operand that are taken one by one.
const MAX_ELEMENTS: usize = 4096;

/// What one node sends to one operand.
pub(super) struct Local {
    pub(super) node: NodeId,
    pub(super) src: usize,
    /// The operand.
    pub(super) into: NodeId,
    /// What was sent; empty where nothing was.
    pub(super) sent: Vec<f64>,
    /// What should have been.
    pub(super) right: Vec<f64>,
    /// The same before it is summed: one number an element of the node.
    pub(super) unfolded: Vec<f64>,
    /// The node's extents.
    pub(super) out: Layout,
    /// The operand's.
    pub(super) own: Layout,
    /// How often it joined.
    pub(super) times: usize,
    /// Consumers whose earlier contributions it replaced.
    pub(super) lost: Option<Vec<NodeId>>,
}

/// A contribution, as the trace has it.
struct Sent {
    by: NodeId,
    src: usize,
    into: NodeId,
    value: NodeId,
    replaces: bool,
}

/// The operands of a node at the moment it was evaluated: a later write may change them.
struct Seen {
    node: NodeId,
    data: Vec<Vec<f64>>,
}

/// Every operand of every node whose rule was asked, in the order of the walk.
pub(super) fn locals(trace: &Trace) -> Vec<Local> {
    let graph = &trace.graph;
    let entered: Vec<(NodeId, NodeId)> = trace
        .events
        .iter()
        .filter_map(|e| match *e {
            Event::Entered { node, grad } => Some((node, grad)),
            _ => None,
        })
        .collect();
    let (values, seen) = evaluated(trace, &entered);
    let sent = contributions(trace);
    let marks = trace.frame(trace.events.len()).marks;
    let mut out = Vec::new();
    for (node, grad) in entered {
        let NodeKind::Op { op, src, params } = &graph.node(node).kind else { continue };
        let Some(seen) = seen.iter().find(|s| s.node == node) else { continue };
        let Some(patient) = Patient::new(graph, seen, *op, params) else { continue };
        if patient.on_a_kink() {
            continue;
        }
        let g = values.read_f64(graph, grad);
        for (ix, into) in src.iter().enumerate() {
            let needed = matches!(marks.get(into.index()), Some(Mark::Needed(_)));
            if !needed || !matches!(RuleSet::flow(*op, ix), Flow::Carries { .. }) {
                continue;
            }
            let own = graph.node(*into).ty.shape;
            let all: Vec<&Sent> = sent.iter().filter(|s| s.by == node && s.src == ix).collect();
            let numbers = all.first().map(|s| values.read_f64(graph, s.value)).unwrap_or_default();
            let lost = all.first().filter(|s| s.replaces).map(|mine| {
                let before = sent.iter().take_while(|s| !std::ptr::eq(*s, *mine));
                before.filter(|s| s.into == *into).map(|s| s.by).collect()
            });
            let suspect = all.len() > 1 || lost.is_some() || !patient.agrees(ix, &g, &numbers);
            if !suspect || own.n_elements() as usize > MAX_ELEMENTS {
                continue;
            }
            let (right, unfolded) = patient.right(ix, &g);
            out.push(Local {
                node,
                src: ix,
                into: *into,
                sent: numbers,
                right,
                unfolded,
                out: Layout::new(graph.node(node).ty.shape),
                own: Layout::new(own),
                times: all.len(),
                lost,
            });
        }
    }
    out
}

/// Evaluates everything in f64, and keeps the operands of the nodes that will be examined.
fn evaluated(trace: &Trace, entered: &[(NodeId, NodeId)]) -> (Values<f64>, Vec<Seen>) {
    let graph = &trace.graph;
    let mut values = Values::<f64>::new();
    let mut seen = Vec::with_capacity(entered.len());
    for (id, node) in graph.prefix(trace.n_forward) {
        if entered.iter().any(|(n, _)| *n == id) {
            let data = node.src().iter().map(|s| values.read_f64(graph, *s)).collect();
            seen.push(Seen { node: id, data });
        }
        values.eval(graph, id.index()..id.index() + 1);
    }
    values.eval(graph, trace.n_forward..graph.len());
    (values, seen)
}

/// What was sent, in order. A sum that the driver made to join holds the contribution as its second operand.
fn contributions(trace: &Trace) -> Vec<Sent> {
    let graph = &trace.graph;
    let authors = trace.authors();
    let one = |e: &Event| match *e {
        Event::Contributed { into, by, src, before, after, .. } => {
            let author = authors.get(after.index()).copied().flatten();
            let is_join = author == Some(Author::Accumulate { of: by, src });
            let joined =
                before.filter(|_| is_join).and_then(|before| match graph.node(after).src() {
                    [first, second] if *first == before => Some(*second),
                    _ => None,
                });
            Some(Sent {
                by,
                src: usize::from(src),
                into,
                value: joined.unwrap_or(after),
                replaces: before.is_some() && joined.is_none(),
            })
        }
        _ => None,
    };
    trace.events.iter().filter_map(one).collect()
}

/// A node taken out of its graph: the same op on leaves, evaluated by the engine, so that windows count.
struct Patient<'a> {
    graph: Graph,
    op: OpKind,
    params: &'a Params,
    leaves: Vec<NodeId>,
    node: NodeId,
    seen: &'a Seen,
}

impl<'a> Patient<'a> {
    fn new(from: &Graph, seen: &'a Seen, op: OpKind, params: &'a Params) -> Option<Self> {
        let node = from.node(seen.node);
        // A trace does not say by whose rules it was built; the shape does.
        RuleSet::ALL.iter().find_map(|rules| {
            let (mut graph, budget) = (Graph::default(), Budget::default());
            let mut leaves = Vec::new();
            for s in node.src() {
                let (ty, flags) = (from.node(*s).ty, Flags::default());
                let init = Init::Fill(0.0);
                leaves.push(construct::leaf(&mut graph, &budget, ty, init, None, flags).ok()?);
            }
            let (src, params_of) = (leaves.as_slice(), params.clone());
            let apply = Apply { op, src, params: params_of, name: None, in_place: false };
            let made = construct::apply(&mut graph, &budget, *rules, apply).ok()?;
            let fits = graph.node(made).ty.shape == node.ty.shape;
            fits.then_some(Self { graph, op, params, leaves, node: made, seen })
        })
    }

    /// Where the derivative is a choice, either choice is right.
    fn on_a_kink(&self) -> bool {
        let operands: Vec<Operand<'_, f64>> = self
            .seen
            .data
            .iter()
            .zip(&self.leaves)
            .map(|(data, leaf)| Operand { data, ty: self.graph.node(*leaf).ty })
            .collect();
        self.op.def().check.kink.is_some_and(|kink| kink(&operands, self.params))
    }

    /// How fast each element of the value changes when one operand moves along a direction.
    fn slopes(&self, src: usize, direction: &[f64]) -> Vec<f64> {
        let mut values = Values::<Dual>::new();
        for (ix, (leaf, xs)) in self.leaves.iter().zip(&self.seen.data).enumerate() {
            let du = |i: usize| direction.get(i).copied().filter(|_| ix == src).unwrap_or(0.0);
            let duals = xs.iter().enumerate().map(|(i, x)| Dual::new(*x, du(i))).collect();
            values.give(*leaf, duals);
        }
        values.eval(&self.graph, 0..self.graph.len());
        values.packed(&self.graph, self.node).iter().map(|d| d.du).collect()
    }

    /// Whether what was sent is right, as one random direction sees it.
    fn agrees(&self, src: usize, g: &[f64], sent: &[f64]) -> bool {
        let n = self.seen.data.get(src).map_or(0, Vec::len);
        let (init, ty) = (Init::Randn { seed: 11 }, TensorType::f32(Shape::SCALAR));
        let direction: Vec<f64> = (0..n).map(|i| init.element(&ty, i)).collect();
        let slopes = self.slopes(src, &direction);
        let (right, is) = (kernels::dot(&slopes, g), kernels::dot(sent, &direction));
        let size: f64 = slopes.iter().zip(g).map(|(s, g)| (s * g).abs()).sum::<f64>()
            + sent.iter().zip(&direction).map(|(c, v)| (c * v).abs()).sum::<f64>();
        (right - is).abs() <= 1e-11 * size
    }

    /// What should go to an operand for the gradient `g`, element by element; and before any sum, by element of the
    /// node.
    fn right(&self, src: usize, g: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = self.seen.data.get(src).map_or(0, Vec::len);
        let mut unfolded = vec![0.0; g.len()];
        let mut direction = vec![0.0; n];
        let mut right = Vec::with_capacity(n);
        for i in 0..n {
            if let Some(x) = direction.get_mut(i) {
                *x = 1.0;
            }
            let slopes = self.slopes(src, &direction);
            if let Some(x) = direction.get_mut(i) {
                *x = 0.0;
            }
            right.push(kernels::dot(&slopes, g));
            for ((sum, s), g) in unfolded.iter_mut().zip(&slopes).zip(g) {
                *sum += s * g;
            }
        }
        (right, unfolded)
    }
}
