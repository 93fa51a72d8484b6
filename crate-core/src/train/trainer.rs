//! A run: so many steps of one model, one evaluation at a time, with a status that is data.
//! Deliberately absent: a loop, a clock (rate and time left are for whoever has one), and a way to take the host
//! down. A refusal or a number that is not finite is a state, and nothing has moved then.

use std::sync::Arc;

use super::context::{Context, Parameter};
use super::data::Outcome;
use super::told::{Batch, Fault, Model, Options, Refused};
use crate::construct::Budget;
use crate::graph::{Graph, NodeId};
use crate::ops::OpKind;
use crate::optimizer::{Moments, Optimizer};
use crate::refusal::Reason;
use crate::rules::RuleSet;

/// How a run is to go.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plan {
    /// How parameters move.
    pub optimizer: Optimizer,
    /// How many steps.
    pub steps: u64,
    /// Evaluations a step. Their gradients are added, as ggml adds those of a loss that is a sum.
    pub period: u64,
    /// The largest norm, over all parameters together, that a step's gradient keeps.
    pub clip: Option<f64>,
}

/// Why a run ended in an error.
#[derive(Clone, PartialEq, Debug)]
pub enum Trouble {
    /// The model cannot be built.
    Refused(Reason),
    /// A number that is not finite began at the node.
    NotFinite,
    /// A setting is out of range, or a batch does not fit; the text says which.
    Setting(&'static str),
}

/// The place and the reason of an error.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// The node; `None` where the whole run is meant.
    pub node: Option<NodeId>,
    /// Its name; empty where it has none.
    pub name: String,
    /// Its op; `None` for a leaf.
    pub op: Option<OpKind>,
    /// The source it is about, counted from 0.
    pub src: Option<usize>,
    /// Why.
    pub trouble: Trouble,
    /// The same in words.
    pub reason: String,
}

impl From<&Refused> for Failure {
    fn from(r: &Refused) -> Self {
        Self {
            node: r.refusal.at,
            name: r.name.clone(),
            op: r.refusal.op,
            src: r.refusal.src,
            trouble: Trouble::Refused(r.refusal.reason.clone()),
            reason: r.message.clone(),
        }
    }
}

/// Where a run stands.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum State {
    /// Ready, not started.
    #[default]
    Idle,
    /// On its way.
    Running,
    /// All steps taken.
    Done,
    /// Stopped by whoever drives it; it can go on.
    Cancelled,
    /// Stopped by itself. The parameters are those of the last step that succeeded.
    Error(Failure),
}

impl State {
    /// The word in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Error(_) => "error",
        }
    }
}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Status {
    /// Steps taken.
    pub step: u64,
    /// Steps asked for.
    pub steps: u64,
    /// Evaluations of the next step that are done.
    pub micro: u64,
    /// Evaluations a step.
    pub period: u64,
    /// The loss of the newest evaluation; NaN before the first.
    pub loss: f64,
}

/// What an evaluation did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    /// The run has ended.
    Nothing,
    /// Gradients were added up; the step needs more.
    Micro,
    /// A step was taken.
    Step,
}

/// Everything a run needs to go on later, as plain numbers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Saved {
    /// Steps taken.
    pub steps: u64,
    /// Evaluations of the next step that are done.
    pub micro: u64,
    /// Every parameter.
    pub params: Vec<SavedParameter>,
}

/// One parameter of a saved run. What the optimizer does not keep is empty.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SavedParameter {
    /// Its name.
    pub name: String,
    /// Its shape, row-major.
    pub dims: Vec<u32>,
    /// Its values.
    pub values: Vec<f32>,
    /// The gradient added up for the next step.
    pub acc: Vec<f32>,
    /// First moment.
    pub m: Vec<f32>,
    /// Second moment.
    pub v: Vec<f32>,
}

/// A run over one model.
#[derive(Clone, Debug)]
pub struct Trainer {
    context: Context,
    plan: Plan,
    state: State,
    loss: f64,
    leaves: Vec<(NodeId, Arc<str>)>,
    outcome: Outcome,
}

impl Trainer {
    /// Builds the model, or starts in an error that says why it cannot be built.
    pub fn new(model: Model, plan: Plan, rules: RuleSet, budget: Budget) -> Self {
        let options = Options {
            period: plan.period.max(1),
            optimizer: plan.optimizer,
            clip: plan.clip,
            rules,
            budget,
            ..Options::default()
        };
        let mut context = Context::new(options);
        let mut state = State::Idle;
        if !context.prepare(model)
            && let Some(refused) = context.refused()
        {
            state = State::Error(refused.into());
        }
        let steps = context.built().map(|b| b.steps.as_slice()).unwrap_or_default();
        let leaves = steps.iter().rev().map(|s| (s.leaf, s.name.clone())).collect();
        Self { context, plan, state, loss: f64::NAN, leaves, outcome: Outcome::default() }
    }

    /// A run of a model that somebody else has tried to build already.
    pub fn refused(refused: &Refused, plan: Plan) -> Self {
        Self {
            context: Context::new(Options::default()),
            plan,
            state: State::Error(refused.into()),
            loss: f64::NAN,
            leaves: Vec::new(),
            outcome: Outcome::default(),
        }
    }

    /// Evaluates once, and takes a step where enough gradients have been added up. After the last step it only
    /// measures. Whatever goes wrong, no parameter has moved and the run has a state that says why.
    pub fn advance(&mut self) -> Moved {
        match self.state {
            State::Idle => self.state = State::Running,
            State::Running => {}
            State::Done | State::Cancelled | State::Error(_) => return Moved::Nothing,
        }
        let before = self.context.steps();
        let trains = before < self.plan.steps;
        self.outcome.reset();
        let result = if self.context.alloc(trains) {
            self.context.eval(Batch::default(), &mut self.outcome)
        } else {
            Err(Fault::NotAllocated)
        };
        match result {
            Ok(loss) => {
                self.loss = loss;
                if !trains {
                    self.state = State::Done;
                    return Moved::Nothing;
                }
                if self.context.steps() > before { Moved::Step } else { Moved::Micro }
            }
            Err(fault) => {
                self.state = State::Error(failure(fault));
                Moved::Nothing
            }
        }
    }

    /// Evaluates until a step is taken or the run has ended. True for a step.
    pub fn step(&mut self) -> bool {
        loop {
            match self.advance() {
                Moved::Micro => {}
                Moved::Step => return true,
                Moved::Nothing => return false,
            }
        }
    }

    /// Stops a run that has not ended.
    pub fn cancel(&mut self) {
        if matches!(self.state, State::Idle | State::Running) {
            self.state = State::Cancelled;
        }
    }

    /// Lets a run that was stopped go on.
    pub fn go_on(&mut self) {
        if self.state == State::Cancelled {
            self.state = State::Running;
        }
    }

    /// Where the run stands.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// How far it is.
    pub const fn status(&self) -> Status {
        Status {
            step: self.context.steps(),
            steps: self.plan.steps,
            micro: self.context.phase(),
            period: self.context.options().period,
            loss: self.loss,
        }
    }

    /// The trainable leaves that have a gradient, in the order of the graph, with their values.
    pub fn leaves(&self) -> impl Iterator<Item = (NodeId, &Parameter)> {
        let params = self.context.params();
        self.leaves.iter().filter_map(move |(leaf, name)| Some((*leaf, params.get(name)?)))
    }

    /// A forward node's value at the last evaluation; empty before the first.
    pub fn value(&self, id: NodeId) -> Vec<f64> {
        let read = |b: &super::built::Built| b.values.read_f64(&b.trace.graph, id);
        self.context.built().map(read).unwrap_or_default()
    }

    /// The graph that is trained, with its gradients; `None` after a refusal.
    pub fn graph(&self) -> Option<&Graph> {
        self.context.built().map(|b| &b.trace.graph)
    }

    /// Elements of every buffer the run holds, by capacity.
    pub fn n_held(&self) -> usize {
        self.context.n_held() + self.outcome.losses.capacity() + self.outcome.predictions.capacity()
    }

    /// Everything that is needed to go on later.
    pub fn save(&self) -> Saved {
        let params = self.context.params().iter().map(|(name, param)| {
            let kept = self.context.kept(name);
            let moments = kept.map(|k| k.moments.clone()).unwrap_or_default();
            SavedParameter {
                name: name.to_string(),
                dims: param.shape.dims().to_vec(),
                values: param.now.clone(),
                acc: kept.map(|k| k.acc.clone()).unwrap_or_default(),
                m: moments.m,
                v: moments.v,
            }
        });
        Saved { steps: self.context.steps(), micro: self.context.phase(), params: params.collect() }
    }

    /// Goes on from a saved run of the same model. False, and nothing has changed, where it is of another.
    pub fn resume(&mut self, saved: &Saved) -> bool {
        let n = |s: &SavedParameter| s.values.len();
        let state_fits = |s: &SavedParameter| {
            [&s.acc, &s.m, &s.v].iter().all(|x| x.is_empty() || x.len() == n(s))
        };
        let fits = |s: &SavedParameter| {
            let own = self.context.params().get(s.name.as_str());
            own.is_some_and(|p| p.shape.dims() == s.dims && p.now.len() == n(s)) && state_fits(s)
        };
        let refused =
            matches!(&self.state, State::Error(f) if matches!(f.trouble, Trouble::Refused(_)));
        let whole = saved.params.len() == self.context.params().len();
        if refused || !whole || !saved.params.iter().all(fits) {
            return false;
        }
        for s in &saved.params {
            if let Some(param) = self.context.params_mut().get_mut(s.name.as_str()) {
                param.now.clone_from(&s.values);
                param.before.clone_from(&s.values);
            }
            if let Some(kept) = self.context.kept_mut(&s.name) {
                kept.moments = Moments { m: s.m.clone(), v: s.v.clone() };
                if s.acc.len() == kept.acc.len() {
                    kept.acc.clone_from(&s.acc);
                }
            }
        }
        self.context.rewind(saved.steps, saved.micro);
        self.state = State::Running;
        true
    }
}

fn failure(fault: Fault) -> Failure {
    let plain = |says| Failure {
        node: None,
        name: String::new(),
        op: None,
        src: None,
        trouble: Trouble::Setting(says),
        reason: format!("{says}."),
    };
    match fault {
        Fault::NotFinite { at, name, op } => Failure {
            node: Some(at),
            op,
            src: None,
            trouble: Trouble::NotFinite,
            reason: format!("A value that is not finite begins at {name}."),
            name,
        },
        Fault::Setting(says) => plain(says),
        Fault::Batch { .. } => plain("a batch does not fit its leaf"),
        Fault::NotAllocated => plain("there is no graph to evaluate"),
    }
}
