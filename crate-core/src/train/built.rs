//! What a context builds from a model: its own copy of the graph with a loss, the gradients, and one step a parameter.
//! Deliberately absent: anything that outlives a graph. Accumulators and moments belong to parameters.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::context::{Kept, Parameter};
use super::losses::{self, Loss};
use super::told::{Fault, Graphs, Model, Options, Pass, Refused};
use crate::autodiff::{Given, Request, build_backward, forward_only};
use crate::forward::{Plan, Values};
use crate::graph::{Graph, Init, NodeId};
use crate::kernels;
use crate::refusal::{Finding, Reason, Refusal, Stage};
use crate::rules::RuleSet;
use crate::tensor::{Shape, TensorType};
use crate::trace::{Event, Trace};

/// Whose accumulator and moments these are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Slot {
    /// A parameter's, by name.
    Named(Arc<str>),
    /// Whoever stands at this place of the graph: ggml-opt's own way (B23).
    At(usize),
}

/// One parameter's step: what moves, and by which gradient.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) leaf: NodeId,
    pub(super) name: Arc<str>,
    pub(super) slot: Slot,
    pub(super) grad: NodeId,
    /// The leaf that its gradient starts from.
    pub(super) acc: Option<NodeId>,
}

/// An accumulator that has to be made once the build has succeeded.
pub(super) struct NewKept {
    pub(super) slot: Slot,
    pub(super) shape: Shape,
    pub(super) start: Vec<f32>,
}

/// The graphs of one model.
#[derive(Clone, Debug)]
pub(super) struct Built {
    pub(super) trace: Trace,
    pub(super) loss: NodeId,
    pub(super) outputs: NodeId,
    pub(super) inputs: Option<NodeId>,
    pub(super) labels: Option<NodeId>,
    shift: Option<NodeId>,
    cotangent: Vec<f64>,
    /// In descending order of nodes, as ggml adds them.
    pub(super) steps: Vec<Step>,
    pub(super) values: Values<f32>,
    /// How all of it is evaluated, where the graph stays and rows can go together.
    plan: Option<Plan>,
    shifts: Vec<f32>,
}

/// A parameter's name; one without a name has its place among the leaves.
fn name_of(graph: &Graph, leaf: NodeId) -> Arc<str> {
    graph.node(leaf).name.clone().unwrap_or_else(|| format!("leaf {}", leaf.index()).into())
}

/// Builds as much as `most` needs, or says why not. Nothing that outlives this call is touched.
pub(super) fn build(
    model: &Model,
    options: &Options,
    most: Pass,
    accumulate: bool,
    (params, kept): (&BTreeMap<Arc<str>, Parameter>, &BTreeMap<Slot, Kept>),
) -> Result<(Built, Vec<NewKept>), Box<Refused>> {
    let mut graph = model.graph.clone();
    let n_model = graph.len();
    let appended = losses::append(
        &mut graph,
        options.loss,
        model.outputs,
        options.period,
        options.rules,
        &options.budget,
    );
    let leaves = appended.map_err(|reason| {
        refused(&graph, options.rules, Stage::Construct, Some(model.outputs), reason)
    })?;
    let slot_of = |leaf: NodeId| match options.rules {
        RuleSet::Upstream => Slot::At(leaf.index()),
        RuleSet::Ggml | RuleSet::Numpy => Slot::Named(name_of(&graph, leaf)),
    };
    for (leaf, node) in graph.prefix(n_model).filter(|(_, n)| n.flags.param) {
        let expected = node.ty.shape;
        let known = params.get(&name_of(&graph, leaf));
        if let Some(got) = known.map(|p| p.shape).filter(|got| *got != expected) {
            let reason = Reason::AccumulatorShape { expected, got };
            return Err(refused(&graph, options.rules, Stage::Train, Some(leaf), reason));
        }
    }
    let mut accumulators = model.accumulators.clone();
    let mut new = Vec::new();
    for (leaf, node) in graph.prefix(n_model) {
        if !(accumulate && node.flags.param && node.ty.dtype.is_float()) {
            continue;
        }
        let (slot, own) = (slot_of(leaf), node.ty.shape);
        let given = accumulators.iter().position(|(of, _)| *of == leaf);
        let old = kept.get(&slot).and_then(|k| k.shape);
        let shape = old.unwrap_or_else(|| {
            given.and_then(|ix| accumulators.get(ix)).map_or(own, |(_, g)| g.shape)
        });
        if old.is_none() && shape.n_elements() == own.n_elements() {
            let given = given.and_then(|ix| accumulators.get(ix)).map(|(_, g)| &g.init);
            let ty = TensorType::f32(shape);
            let start = |init: &Init| {
                (0..shape.n_elements() as usize).map(|i| init.element(&ty, i) as f32).collect()
            };
            new.push(NewKept { slot, shape, start: given.map(start).unwrap_or_default() });
        }
        let zeros = Given { shape, init: Init::Fill(0.0) };
        match given.and_then(|ix| accumulators.get_mut(ix)) {
            Some((_, given)) if old.is_some() => *given = zeros,
            Some(_) => {}
            None => accumulators.push((leaf, zeros)),
        }
    }
    let own = options.loss == Loss::Own;
    let request = Request {
        loss: Some(leaves.made.loss),
        cotangent: model.cotangent.clone().filter(|_| own),
        accumulators,
        rules: options.rules,
        budget: options.budget,
        ..Request::default()
    };
    let trace =
        if most == Pass::Forward { forward_only(&graph) } else { build_backward(&graph, &request) };
    if let Some(Finding::Refusal(r)) = trace.refusal() {
        let r = r.clone();
        let mut out = refused(&trace.graph, options.rules, r.stage, r.at, r.reason.clone());
        out.message = message(&trace.graph, options.rules, &r);
        out.refusal = r;
        return Err(out);
    }
    let grads = trace.grads();
    let supplied = |leaf: NodeId| {
        trace.events.iter().find_map(|e| match *e {
            Event::Supplied { node, grad } if node == leaf => Some(grad),
            _ => None,
        })
    };
    let mut steps: Vec<Step> = graph
        .prefix(n_model)
        .filter(|(_, n)| n.flags.param && n.ty.dtype.is_float())
        .filter_map(|(leaf, _)| {
            let grad = grads.get(leaf.index()).copied().flatten();
            // A forward pass has no gradients and still reads the parameters.
            let grad = if most == Pass::Forward { grad.or(Some(leaf)) } else { grad };
            let acc = supplied(leaf).filter(|_| accumulate);
            Some(Step { leaf, name: name_of(&graph, leaf), slot: slot_of(leaf), grad: grad?, acc })
        })
        .collect();
    steps.reverse();
    new.retain(|k| steps.iter().any(|s| s.acc.is_some() && s.slot == k.slot));
    let ty = graph.node(model.outputs).ty;
    let n = ty.shape.n_elements() as usize;
    let given =
        request.cotangent.as_ref().map(|g| (0..n).map(|i| g.init.element(&ty, i)).collect());
    let stays = options.graphs == Graphs::Static && most > Pass::Forward && leaves.shift.is_none();
    // Forward nodes can be asked for later; of the others only gradients.
    let mut ends = vec![false; trace.graph.len()];
    for id in steps.iter().flat_map(|s| s.acc.into_iter().chain([s.grad])) {
        if let Some(end) = ends.get_mut(id.index()) {
            *end = true;
        }
    }
    let kept = |id: NodeId| id.index() < trace.n_forward || ends.get(id.index()) == Some(&true);
    let handed = |_: NodeId| None;
    let plan = if stays { Plan::new(&trace.graph, trace.graph.len(), kept, handed) } else { None };
    let built = Built {
        loss: leaves.made.loss,
        outputs: model.outputs,
        inputs: model.inputs,
        labels: leaves.made.labels,
        shift: leaves.shift,
        cotangent: given.unwrap_or_default(),
        steps,
        values: Values::new(),
        plan,
        shifts: Vec::new(),
        trace,
    };
    Ok((built, new))
}

fn refused(
    graph: &Graph,
    rules: RuleSet,
    stage: Stage,
    at: Option<NodeId>,
    reason: Reason,
) -> Box<Refused> {
    let op = at.and_then(|id| graph.node(id).op());
    let refusal = Refusal { stage, at, src: None, op, reason };
    let name = at.and_then(|id| graph.node(id).name.as_deref()).unwrap_or_default().to_owned();
    Box::new(Refused { message: message(graph, rules, &refusal), name, refusal })
}

/// The refusal in the words of the rules' engine.
fn message(graph: &Graph, rules: RuleSet, r: &Refusal) -> String {
    let name = |id: NodeId| graph.node(id).name.as_deref().unwrap_or_default().to_owned();
    let op = r.op.map_or("", |op| rules.op_name(op));
    r.reason.sentence(op, &r.at.map(name).unwrap_or_default(), r.src, &name)
}

impl Built {
    /// Puts a batch into its leaf.
    pub(super) fn fill(&mut self, data: &[f32], leaf: Option<NodeId>) -> Result<(), Fault> {
        let Some(leaf) = leaf else { return Ok(()) };
        let expected = self.trace.graph.node(leaf).ty.shape.n_elements();
        if data.len() as u64 != expected {
            return Err(Fault::Batch { expected, got: data.len() as u64 });
        }
        self.values.refill(leaf, data);
        Ok(())
    }

    /// Evaluates forward, and backward too where it is asked for.
    pub(super) fn evaluate(&mut self, backward: bool) {
        let graph = &self.trace.graph;
        let forward = self.trace.n_forward;
        if let Some(plan) = self.plan.as_ref().filter(|_| backward)
            && self.values.follow(graph, plan)
        {
            return;
        }
        match self.shift {
            Some(shift) => {
                // The shift is the largest output of each datapoint: the outputs come first.
                self.values.eval(graph, 0..self.outputs.index() + 1);
                let width = graph.node(self.outputs).ty.shape.ne()[0].max(1) as usize;
                let outputs = self.values.packed(graph, self.outputs);
                let largest = |row: &[f32]| row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                self.shifts.clear();
                self.shifts.extend(outputs.chunks_exact(width).map(largest));
                self.values.refill(shift, &self.shifts);
                self.values.eval(graph, self.outputs.index() + 1..forward);
            }
            None => self.values.eval(graph, 0..forward),
        }
        if backward {
            self.values.eval(graph, forward..graph.len());
        }
    }

    /// The loss of the last evaluation: its one number, or its elements against the cotangent.
    pub(super) fn loss(&self) -> f64 {
        let value = self.values.read_f64(&self.trace.graph, self.loss);
        match value.as_slice() {
            [one] => *one,
            many => kernels::dot(many, &self.cotangent),
        }
    }

    /// Evaluates node by node what was evaluated by a plan: every node has its value then.
    pub(super) fn complete(&mut self) {
        if self.plan.is_some() {
            self.values.eval(&self.trace.graph, 0..self.trace.graph.len());
        }
    }

    pub(super) fn finite(&self, id: NodeId) -> bool {
        kernels::all_finite(&self.values.packed(&self.trace.graph, id))
    }

    /// Reads a parameter's gradient. ggml's step kernels read with the parameter's strides, whatever the
    /// gradient's own are (B19).
    pub(super) fn gradient(&self, step: &Step, upstream: bool, out: &mut Vec<f32>) {
        let graph = &self.trace.graph;
        match graph.node(step.grad).view {
            Some(view) if upstream => {
                let n = graph.node(step.leaf).ty.shape.n_elements() as usize;
                let root = self.values.packed(graph, view.root);
                out.extend_from_slice(root.get(view.offset..view.offset + n).unwrap_or(&[]));
                out.resize(n, 0.0);
            }
            _ => out.extend_from_slice(&self.values.packed(graph, step.grad)),
        }
    }

    /// The node at which what is not finite in one of these began: the first, in order of evaluation, that turned
    /// finite sources into something else, or numbers into NaN. Nodes that none of them reads do not count.
    pub(super) fn origin(&self, targets: impl Iterator<Item = NodeId>) -> NodeId {
        let graph = &self.trace.graph;
        let bad = |id: NodeId| !self.finite(id);
        let nan = |id: NodeId| self.values.packed(graph, id).iter().any(|x| x.is_nan());
        let mut read = vec![false; graph.len()];
        let mark = |id: NodeId, read: &mut [bool]| {
            if let Some(slot) = read.get_mut(id.index()) {
                *slot = true;
            }
        };
        let mut last = self.loss;
        for target in targets.filter(|t| bad(*t)) {
            mark(target, &mut read);
            last = target;
        }
        for (id, node) in graph.nodes().rev() {
            if read.get(id.index()).copied().unwrap_or(false) {
                node.src().iter().for_each(|s| mark(*s, &mut read));
            }
        }
        let begins = |id: &NodeId| {
            let src = graph.node(*id).src();
            let is_param = graph.node(*id).flags.param;
            if src.is_empty() {
                return is_param && bad(*id);
            }
            let strays = || !self.values.infinite_on_purpose(graph, *id);
            nan(*id) && !src.iter().any(|s| nan(*s))
                || bad(*id) && src.iter().all(|s| !bad(*s)) && strays()
        };
        let asked = |id: &NodeId| read.get(id.index()).copied().unwrap_or(false);
        graph.nodes().map(|(id, _)| id).filter(asked).find(begins).unwrap_or(last)
    }

    pub(super) fn named(&self, at: NodeId) -> Fault {
        let node = self.trace.graph.node(at);
        let name = node.name.as_deref().unwrap_or_default().to_owned();
        Fault::NotFinite { at, name, op: node.op() }
    }
}
