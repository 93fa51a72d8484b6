//! An optimizer context modelled on ggml-opt: it builds what a pass needs or stores why it cannot, evaluates, adds
//! gradients up over micro-batches and moves parameters (`ggml-autodiff.md`, 5.1 to 5.5, with 8.4 put right).
//! Deliberately absent: an abort, a clock, and any node appended to the caller's graph. It works on a copy, so the
//! loss nodes of a refused build need no taking back.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::built::{Built, NewKept, Slot, build};
use super::data::Outcome;
use super::losses::{Loss, datapoints};
use super::told::{Batch, Fault, Graphs, Model, Options, Pass, Refused};
use crate::check::leaf_values;
use crate::graph::NodeId;
use crate::kernels;
use crate::optimizer::{Moments, Optimizer, update};
use crate::refusal::{Reason, Refusal, Stage};
use crate::rules::RuleSet;
use crate::tensor::{DType, Shape, round_to};

/// A parameter: its values, which belong to its name.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Its shape.
    pub shape: Shape,
    /// Its values now.
    pub now: Vec<f32>,
    /// Its values before the last step.
    pub before: Vec<f32>,
    /// The gradient of the last step, before it was clipped.
    pub grad: Vec<f32>,
}

/// What is added up and averaged for one parameter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Kept {
    /// The shape it was made for.
    pub shape: Option<Shape>,
    /// Where the accumulator starts; empty for zeros.
    pub start: Vec<f32>,
    /// The gradient added up since it was last cleared.
    pub acc: Vec<f32>,
    /// What the optimizer keeps.
    pub moments: Moments,
    /// The same before the last step: what a step that fails goes back to.
    undo: Moments,
}

/// An optimizer and everything it keeps between evaluations.
#[derive(Clone, Debug)]
pub struct Context {
    options: Options,
    model: Option<Model>,
    built: Option<Built>,
    refused: Option<Refused>,
    params: BTreeMap<Arc<str>, Parameter>,
    kept: BTreeMap<Slot, Kept>,
    phase: u64,
    steps: u64,
    last: Option<Pass>,
    next: Option<Pass>,
    scratch: Vec<f32>,
}

impl Context {
    /// A context without a graph.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            model: None,
            built: None,
            refused: None,
            params: BTreeMap::new(),
            kept: BTreeMap::new(),
            phase: 0,
            steps: 0,
            last: None,
            next: None,
            scratch: Vec::new(),
        }
    }

    /// Takes a graph. A static context builds it here and answers whether it could; a dynamic one builds it in
    /// `alloc`. After a refusal the same context takes the next graph.
    pub fn prepare(&mut self, model: Model) -> bool {
        self.built = None;
        self.next = None;
        self.model = Some(model);
        match self.options.graphs {
            Graphs::Static => self.build(self.options.most),
            Graphs::Dynamic => true,
        }
    }

    /// Builds or refuses. On a refusal the half-built graphs are dropped, with the model, and nothing is kept but
    /// the reason.
    fn build(&mut self, most: Pass) -> bool {
        self.refused = None;
        let Some(model) = &self.model else { return false };
        let accumulate = self.options.most >= Pass::Grad
            && (self.options.graphs == Graphs::Dynamic
                || self.options.most != Pass::Opt
                || self.options.period > 1);
        let upstream = self.options.rules == RuleSet::Upstream;
        let outcome = if upstream && self.options.most == Pass::Grad {
            // ggml asserts, after allocating, that the highest build type is OPT.
            let reason = Reason::NotThisForm("GRAD is the highest build type");
            let refusal = Refusal { stage: Stage::Train, at: None, src: None, op: None, reason };
            let message = "a context whose highest build type is GRAD ends the process".to_owned();
            Err(Box::new(Refused { refusal, name: String::new(), message }))
        } else {
            build(model, &self.options, most, accumulate, (&self.params, &self.kept))
        };
        match outcome {
            Ok((built, new)) => {
                self.adopt(&built, new);
                self.built = Some(built);
                true
            }
            Err(refused) => {
                self.refused = Some(*refused);
                self.model = None;
                false
            }
        }
    }

    /// Parameters and accumulators that the context meets for the first time.
    fn adopt(&mut self, built: &Built, new: Vec<NewKept>) {
        for step in &built.steps {
            let graph = &built.trace.graph;
            self.params.entry(step.name.clone()).or_insert_with(|| {
                let now: Vec<f32> =
                    leaf_values(graph, step.leaf).iter().map(|x| *x as f32).collect();
                let grad = vec![0.0; now.len()];
                let shape = graph.node(step.leaf).ty.shape;
                Parameter { shape, before: now.clone(), grad, now }
            });
        }
        for NewKept { slot, shape, start } in new {
            let acc = if start.is_empty() {
                vec![0.0; shape.n_elements() as usize]
            } else {
                start.clone()
            };
            let kept = self.kept.entry(slot).or_default();
            if kept.shape.is_none() {
                (kept.shape, kept.start, kept.acc) = (Some(shape), start, acc);
            }
        }
    }

    /// Chooses the next pass and makes ready for it; needed once before each `eval`. False where there is no graph,
    /// or none that can be built.
    pub fn alloc(&mut self, backward: bool) -> bool {
        let upstream = self.options.rules == RuleSet::Upstream;
        let period = self.options.period.max(1);
        let is_static = self.options.graphs == Graphs::Static;
        if upstream {
            // Dynamic graphs are gone by now, so ggml's reset does nothing there (B20).
            if is_static && self.last == Some(Pass::Opt) && period > 1 && self.phase == 0 {
                self.clear();
            }
        } else if backward && self.phase == 0 {
            self.clear();
        }
        let wanted = match (backward, (self.phase + 1).is_multiple_of(period)) {
            (false, _) => Pass::Forward,
            (true, false) => Pass::Grad,
            (true, true) => Pass::Opt,
        };
        let next = wanted.min(self.options.most);
        if !is_static && !self.build(next) {
            return false;
        }
        self.next = self.built.is_some().then_some(next);
        self.built.is_some()
    }

    fn clear(&mut self) {
        for kept in self.kept.values_mut() {
            if kept.start.is_empty() {
                kept.acc.fill(0.0);
            } else {
                kept.acc.clone_from(&kept.start);
            }
        }
    }

    /// Runs the pass that `alloc` chose and adds what it came to to `outcome`. Gives the loss of this evaluation.
    pub fn eval(&mut self, batch: Batch<'_>, outcome: &mut Outcome) -> Result<f64, Fault> {
        let pass = self.next.take().ok_or(Fault::NotAllocated)?;
        let mut built = self.built.take().ok_or(Fault::NotAllocated)?;
        let result = self.run(&mut built, pass, batch);
        if let Ok(loss) = &result {
            self.last = Some(pass);
            let upstream = self.options.rules == RuleSet::Upstream;
            if upstream || pass > Pass::Forward {
                self.phase = (self.phase + 1) % self.options.period.max(1);
            }
            self.record(&built, batch, *loss, outcome);
        }
        // A dynamic graph stays to be read until the next one is built.
        self.built = Some(built);
        result
    }

    fn run(&mut self, built: &mut Built, pass: Pass, batch: Batch<'_>) -> Result<f64, Fault> {
        if pass == Pass::Opt
            && let Some(says) = self.options.optimizer.out_of_range()
        {
            return Err(Fault::Setting(says));
        }
        built.fill(batch.inputs, built.inputs)?;
        if !batch.labels.is_empty() {
            built.fill(batch.labels, built.labels)?;
        }
        for step in &built.steps {
            if let Some(param) = self.params.get(&step.name) {
                built.values.refill(step.leaf, &param.now);
            }
            if let (Some(acc), Some(kept)) = (step.acc, self.kept.get(&step.slot)) {
                built.values.refill(acc, &kept.acc);
            }
        }
        built.evaluate(pass > Pass::Forward);
        let loss = built.loss();
        let grads = if pass > Pass::Forward { built.steps.as_slice() } else { &[] };
        let clean = |id: NodeId| built.finite(id);
        if !loss.is_finite() || !grads.iter().all(|s| clean(s.grad)) {
            if pass > Pass::Forward {
                built.complete();
            }
            let targets = std::iter::once(built.loss).chain(built.steps.iter().map(|s| s.grad));
            return Err(built.named(built.origin(targets)));
        }
        if pass == Pass::Opt {
            self.advance(built)?;
        }
        if pass > Pass::Forward {
            for step in &built.steps {
                if let (Some(_), Some(kept)) = (step.acc, self.kept.get_mut(&step.slot)) {
                    kept.acc.clear();
                    kept.acc.extend_from_slice(&built.values.packed(&built.trace.graph, step.grad));
                }
            }
        }
        Ok(loss)
    }

    /// Moves every parameter, or none.
    fn advance(&mut self, built: &Built) -> Result<(), Fault> {
        let upstream = self.options.rules == RuleSet::Upstream;
        let mut norm = 0.0f64;
        for step in &built.steps {
            let Some(param) = self.params.get_mut(&step.name) else { continue };
            param.grad.clear();
            built.gradient(step, upstream, &mut param.grad);
            if self.options.clip.is_some() {
                norm += param.grad.iter().map(|g| f64::from(*g) * f64::from(*g)).sum::<f64>();
            }
        }
        let norm = norm.sqrt();
        let scale = match self.options.clip {
            Some(clip) if norm > clip => (clip / norm) as f32,
            _ => 1.0,
        };
        let mut bad = None;
        for step in &built.steps {
            let Some(param) = self.params.get_mut(&step.name) else { continue };
            let kept = self.kept.entry(step.slot.clone()).or_default();
            kept.undo.take(&kept.moments);
            self.scratch.clone_from(&param.now);
            let moments = &mut kept.moments;
            let optimizer = &self.options.optimizer;
            update(optimizer, self.steps + 1, scale, &mut self.scratch, &param.grad, moments);
            let dtype = built.trace.graph.node(step.leaf).ty.dtype;
            if dtype != DType::F32 {
                for w in &mut self.scratch {
                    *w = round_to(dtype, f64::from(*w)) as f32;
                }
            }
            param.before.clone_from(&param.now);
            std::mem::swap(&mut param.now, &mut self.scratch);
            let all = [&param.now, &kept.moments.m, &kept.moments.v];
            if !all.iter().all(|xs| kernels::all_finite(xs)) && bad.is_none() {
                bad = Some(step.leaf);
            }
        }
        let Some(at) = bad else {
            self.steps += 1;
            return Ok(());
        };
        for step in &built.steps {
            if let Some(param) = self.params.get_mut(&step.name) {
                param.now.clone_from(&param.before);
            }
            if let Some(kept) = self.kept.get_mut(&step.slot) {
                kept.moments.take(&kept.undo);
            }
        }
        Err(built.named(at))
    }

    fn record(&self, built: &Built, batch: Batch<'_>, loss: f64, outcome: &mut Outcome) {
        let shape = built.trace.graph.node(built.outputs).ty.shape;
        let n = datapoints(shape);
        outcome.n_data += n;
        outcome.losses.push(loss);
        outcome.period = self.options.period;
        outcome.per_datapoint = self.options.loss.per_datapoint();
        if self.options.loss == Loss::CrossEntropy {
            let outputs = built.values.packed(&built.trace.graph, built.outputs);
            let width = shape.ne()[0].max(1) as usize;
            let before = outcome.predictions.len();
            outcome.predictions.extend(outputs.chunks_exact(width).map(argmax));
            if batch.labels.is_empty() {
                outcome.spoilt |= self.options.rules == RuleSet::Upstream;
                return;
            }
            let new = outcome.predictions.iter().skip(before);
            let right = new.zip(batch.labels.chunks_exact(width)).filter(|(p, l)| **p == argmax(l));
            let (so_far, of) = outcome.right.unwrap_or((0, 0));
            outcome.right = Some((so_far + right.count() as u64, of + n));
        } else {
            outcome.spoilt |= self.options.rules == RuleSet::Upstream;
        }
    }

    /// Sets another optimizer, from the next step on: how a schedule is made.
    pub const fn set_optimizer(&mut self, optimizer: Optimizer) {
        self.options.optimizer = optimizer;
    }

    /// How many rows a batch has, by the leaf it goes into; `None` without a graph.
    pub(super) fn batch_rows(&self) -> Option<usize> {
        let built = self.built.as_ref()?;
        let of = built.inputs.unwrap_or(built.outputs);
        usize::try_from(datapoints(built.trace.graph.node(of).ty.shape)).ok()
    }

    /// What the context was told.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Sets another period. Only between steps does that make sense, so the phase starts anew.
    pub fn set_period(&mut self, period: u64) -> bool {
        let same = period == self.options.period;
        self.options.period = period;
        self.phase = 0;
        same || self.options.graphs == Graphs::Dynamic || self.model.is_none() || {
            self.built = None;
            self.build(self.options.most)
        }
    }

    /// Starts anew: accumulators, moments and, with `all`, the optimizer's count of steps. Parameters stay.
    pub fn reset(&mut self, all: bool) {
        // In dynamic mode ggml's reset reaches a graph that is gone (B20b): only the count starts anew.
        let reaches =
            self.options.rules != RuleSet::Upstream || self.options.graphs == Graphs::Static;
        if reaches {
            self.clear();
            self.phase = 0;
        }
        if all {
            self.steps = 0;
            for kept in self.kept.values_mut().filter(|_| reaches) {
                kept.moments = Moments::default();
            }
        }
    }

    /// Why there is no graph; `None` where the last one was built.
    pub const fn refused(&self) -> Option<&Refused> {
        self.refused.as_ref()
    }

    /// What is built: nothing after a refusal.
    pub(super) const fn built(&self) -> Option<&Built> {
        self.built.as_ref()
    }

    /// Parameters by name, in the order of names.
    pub const fn params(&self) -> &BTreeMap<Arc<str>, Parameter> {
        &self.params
    }

    /// The same, to put a saved state or a start of one's own in place.
    pub const fn params_mut(&mut self) -> &mut BTreeMap<Arc<str>, Parameter> {
        &mut self.params
    }

    /// The gradient added up so far for a parameter.
    pub fn accumulator(&self, name: &str) -> Option<&[f32]> {
        let slot = self.slot(name)?;
        self.kept.get(&slot).map(|k| k.acc.as_slice())
    }

    /// What the optimizer keeps of a parameter.
    pub fn kept(&self, name: &str) -> Option<&Kept> {
        self.kept.get(&self.slot(name)?)
    }

    pub(super) fn kept_mut(&mut self, name: &str) -> Option<&mut Kept> {
        let slot = self.slot(name)?;
        Some(self.kept.entry(slot).or_default())
    }

    fn slot(&self, name: &str) -> Option<Slot> {
        let steps = self.built.as_ref().map(|b| b.steps.as_slice()).unwrap_or_default();
        let here = steps.iter().find(|s| &*s.name == name).map(|s| s.slot.clone());
        here.or_else(|| self.params.get_key_value(name).map(|(k, _)| Slot::Named(k.clone())))
    }

    /// How many steps were taken.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// How many micro-batches of the next step are done.
    pub const fn phase(&self) -> u64 {
        self.phase
    }

    pub(super) const fn rewind(&mut self, steps: u64, phase: u64) {
        self.steps = steps;
        self.phase = phase;
    }

    /// Elements of every buffer the context holds, by capacity: what a test of memory watches.
    pub fn n_held(&self) -> usize {
        let params = self.params.values();
        let of_params = params.map(|p| p.now.capacity() + p.before.capacity() + p.grad.capacity());
        let of_kept = self.kept.values().map(|k| {
            let moments = [&k.moments, &k.undo];
            let of_moments = moments.map(|m| m.m.capacity() + m.v.capacity());
            k.acc.capacity() + k.start.capacity() + of_moments.iter().sum::<usize>()
        });
        let built = self.built.as_ref().map_or(0, |b| b.values.n_held() + b.trace.graph.len());
        of_params.sum::<usize>() + of_kept.sum::<usize>() + built + self.scratch.capacity()
    }
}

/// The place of the largest number, the first of equals; 0 for none.
fn argmax(row: &[f32]) -> u32 {
    let mut best = (0, f32::NEG_INFINITY);
    for (ix, x) in row.iter().enumerate() {
        if *x > best.1 {
            best = (ix as u32, *x);
        }
    }
    best.0
}
