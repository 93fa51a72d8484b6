//! The jobs that come after an analysis: checks, an entry at a time, and training, a step at a time.

use super::json::Moved;
use super::{
    AdjointRow, Analysis, ChangeRow, CheckReport, CheckRow, DiagnosisRow, DirectionRow, PREVIEW,
    TrainLeaf, TrainReport, TrainSaved, TrainStep, Verdict, Weight,
};
use crate::check::{
    self, Along, Entry, Finite, Points, TOLERANCE, relative_error, ulps_f32, ulps_f64,
};
use crate::graph::{Node, NodeId};
use crate::lang::lower::CheckKind;
use crate::refusal::{Code, Finding, Severity};
use crate::train::{Model, Optimizer, Plan, Refused, State, Trainer, Trouble};

/// What a closed form says of a leaf's gradient.
type Closed = Vec<(NodeId, Vec<f64>)>;

/// How far a job has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Told {
    /// So many of so many entries are checked.
    Checked { done: u64, of: u64 },
    /// So many of so many steps are taken, and the loss before the newest.
    Trained { done: u64, of: u64, loss: f64 },
}

impl Analysis {
    /// Runs every check the text asks for; `None` where it asks for none or no gradient was built.
    pub fn checks(&self, told: &mut dyn FnMut(Told)) -> Option<CheckReport> {
        let mut checking = self.checking()?;
        let of = checking.report.n_entries;
        while checking.advance(16) {
            let done = checking.report.rows.len() + checking.report.directions.len();
            told(Told::Checked { done: done as u64, of });
        }
        Some(checking.report)
    }

    /// The nodes that have a gradient and the nodes that hold it, of trainable leaves alone or of all. A leaf that the
    /// loss does not depend on has one all the same: zeros, which no node holds.
    pub fn gradients(&self, leaves: bool) -> Vec<(NodeId, Option<NodeId>)> {
        let built = self.trace.refusal().is_none() && self.lowered.loss.is_some();
        let found = self.trace.grads();
        let forward = self.trace.graph.prefix(self.trace.n_forward);
        let of = |(id, node): (NodeId, &Node)| {
            if node.flags.inline || leaves && !(node.flags.param && node.ty.dtype.is_float()) {
                return None;
            }
            match found.get(id.index()).copied().flatten() {
                // What a refused build has so far is not the gradient of a leaf.
                Some(_) if leaves && !built => None,
                Some(grad) => Some((id, Some(grad))),
                None if leaves && built => Some((id, None)),
                None => None,
            }
        };
        forward.filter_map(of).collect()
    }

    /// Whether some line could not be read: the text is at fault, not the graph.
    pub fn misread(&self) -> bool {
        let mut all = self.parsed.diagnostics.iter().chain(&self.lowered.diagnostics);
        all.any(|d| d.severity == Severity::Error && d.code <= Code::BadFile)
    }

    /// The exit status: 0 built and every check passed, 1 refused or a check failed, 2 the text could not be read.
    pub fn status(&self, checks: Option<&CheckReport>, train: Option<&TrainReport>) -> u8 {
        if self.misread() {
            return 2;
        }
        let refused = self.report.findings.iter().any(|f| f.weight == Weight::Error);
        let failed = checks.is_some_and(CheckReport::failed);
        u8::from(refused || failed || train.is_some_and(|t| t.state == "error"))
    }

    /// The checks the text asks for; `None` where it asks for none or no gradient was built.
    pub fn checking(&self) -> Option<Checking<'_>> {
        let loss = self.ready()?;
        if self.lowered.checks.is_empty() {
            return None;
        }
        let asks = |fd: bool| {
            let same = move |kind: &CheckKind| match kind {
                CheckKind::Fd => fd,
                CheckKind::Adjoint => !fd,
                CheckKind::Formula(_) => false,
            };
            self.lowered.checks.iter().any(move |c| same(&c.kind))
        };
        let fd = asks(true);
        let adjoint = if asks(false) { check::adjoint(&self.trace, loss) } else { Vec::new() };
        let mut values = crate::forward::Values::<f64>::new();
        values.eval(&self.trace.graph, 0..self.trace.n_forward);
        let (closed, refused) = self.closed_forms(&|id| values.read_f64(&self.trace.graph, id));
        let mut settings = self.lowered.checks.iter().filter_map(|c| match c.kind {
            CheckKind::Fd => Some(c.settings.iter()),
            CheckKind::Adjoint | CheckKind::Formula(_) => None,
        });
        // `check fd points=4`; two points otherwise.
        let four = settings
            .any(|mut s| s.any(|(name, x)| name == "points" && x.to_bits() == 4f64.to_bits()));
        let points = if four { Points::Four } else { Points::Two };
        let finite = Finite::with(&self.trace, loss, points);
        let step = self.lowered.train.as_ref().and_then(|t| match t.optimizer {
            Optimizer::Sgd { lr, .. } => {
                Some(ChangeRow::of(lr, check::change(&self.trace, loss, lr)))
            }
            Optimizer::AdamW { .. } => None,
        });
        let report = CheckReport {
            tolerance: TOLERANCE,
            n_entries: finite.remaining(),
            adjoint: adjoint.into_iter().map(|a| self.adjoint_row(&a)).collect(),
            refused,
            change: step,
            ..CheckReport::default()
        };
        let mut out = Checking { analysis: self, finite, fd, closed, diagnosed: false, report };
        if out.finite.by_direction() {
            out.report.rows = out.worst_of_formulas();
        }
        Some(out)
    }

    fn adjoint_row(&self, a: &check::Adjoint) -> AdjointRow {
        let agrees = a.error <= check::ADJOINT_TOLERANCE;
        AdjointRow {
            leaf: self.trace.graph.node(a.leaf).name.as_deref().unwrap_or_default().to_owned(),
            forward: a.forward,
            backward: a.backward,
            error: a.error,
            verdict: if agrees { Verdict::Agrees } else { Verdict::Differs },
        }
    }

    /// The training the text asks for; `None` where it asks for none, or a line that it needs cannot be read. Where
    /// the build was refused it is a run that has ended in that error.
    pub fn training(&self) -> Option<Training<'_>> {
        let line = self.lowered.train.as_ref()?;
        let refusal = match self.findings.first() {
            Some(Finding::Refusal(refusal)) if self.trace.refusal().is_some() => Some(refusal),
            _ => None,
        };
        let plan = Plan {
            optimizer: line.optimizer,
            steps: line.steps,
            period: line.period,
            clip: line.clip,
        };
        let trainer = match (refusal, self.lowered.loss) {
            (Some(refusal), _) => {
                let stop = self.report.findings.iter().find(|f| f.stops);
                let (name, message) =
                    stop.map(|f| (f.name.clone(), f.message.clone())).unwrap_or_default();
                let refused = Refused { refusal: refusal.clone(), name, message };
                Trainer::refused(&refused, plan)
            }
            (None, Some(loss)) => {
                Trainer::new(self.model(loss), plan, self.lowered.rules, self.budget)
            }
            (None, None) => return None,
        };
        let report = TrainReport {
            method: line.optimizer.name().to_owned(),
            lr: line.optimizer.lr(),
            steps: line.steps,
            ..TrainReport::default()
        };
        let mut out = Training { analysis: self, trainer, newest: None, report };
        out.note();
        Some(out)
    }

    /// The document's graph as something to train.
    fn model(&self, loss: NodeId) -> Model {
        Model {
            cotangent: self.lowered.backward.as_ref().and_then(|b| b.with.clone()),
            accumulators: self
                .lowered
                .accumulators
                .iter()
                .map(|(id, given, _)| (*id, given.clone()))
                .collect(),
            ..Model::own(&self.lowered.graph, loss)
        }
    }

    /// The loss, where its gradients stand.
    fn ready(&self) -> Option<NodeId> {
        self.trace.refusal().is_none().then_some(self.lowered.loss).flatten()
    }

    /// Every closed form the text gives, at these values of the forward nodes, and what went wrong with one.
    fn closed_forms(&self, value: &dyn Fn(NodeId) -> Vec<f64>) -> (Closed, String) {
        let mut out = Vec::new();
        let mut refused = String::new();
        for line in &self.lowered.checks {
            let CheckKind::Formula(formula) = &line.kind else { continue };
            let mut values = crate::forward::Values::<f64>::new();
            for (leaf, of) in &formula.inputs {
                values.give(*leaf, value(*of));
            }
            values.eval(&formula.graph, 0..formula.graph.len());
            let (got, want) = (
                formula.graph.node(formula.value).ty.shape,
                self.trace.graph.node(formula.of).ty.shape,
            );
            if got.same_extents(&want) {
                out.push((formula.of, values.read_f64(&formula.graph, formula.value)));
            } else {
                refused =
                    format!("The formula has shape {got}, and the gradient has shape {want}.");
            }
        }
        (out, refused)
    }
}

impl CheckReport {
    /// Whether some gradient is not what a check says, or no check could be made.
    pub fn failed(&self) -> bool {
        let adjoint = self.adjoint.iter().map(|r| r.verdict);
        let directions = self.directions.iter().map(|r| r.verdict);
        let mut all = self.rows.iter().map(|r| r.verdict).chain(adjoint).chain(directions);
        !self.refused.is_empty() || all.any(|v| v == Verdict::Differs)
    }
}

/// Checks on their way, an entry at a time.
pub struct Checking<'a> {
    analysis: &'a Analysis,
    finite: Finite<'a>,
    fd: bool,
    closed: Closed,
    diagnosed: bool,
    /// What is known so far.
    pub report: CheckReport,
}

impl Checking<'_> {
    /// Checks up to `n` more entries. False when there are no more.
    pub fn advance(&mut self, n: usize) -> bool {
        for _ in 0..n {
            let Some(entry) = self.finite.next() else { break };
            match entry.along {
                Along::Element(flat) => {
                    let row = self.row(&entry, flat);
                    self.report.rows.push(row);
                }
                Along::Direction(number) => {
                    let row = self.direction_row(&entry, number);
                    self.report.directions.push(row);
                }
            }
        }
        let more = self.finite.remaining() > 0;
        if !more && !self.diagnosed {
            self.diagnosed = true;
            self.diagnose();
        }
        more
    }

    /// Where differences take directions, a closed form is still compared element by element: the worst of each leaf.
    fn worst_of_formulas(&self) -> Vec<CheckRow> {
        let of = |(leaf, form): &(NodeId, Vec<f64>)| {
            let grad = self.finite.gradient(*leaf)?;
            let error = |ix: usize| {
                let (a, f) = (grad.get(ix).copied(), form.get(ix).copied());
                relative_error(a.unwrap_or(f64::NAN), f.unwrap_or(f64::NAN))
            };
            let worst = (0..form.len()).max_by(|a, b| error(*a).total_cmp(&error(*b)))?;
            let entry = Entry {
                leaf: *leaf,
                along: Along::Element(worst),
                autodiff: grad.get(worst).copied().unwrap_or(f64::NAN),
                fd: f64::NAN,
                left: f64::NAN,
                right: f64::NAN,
                h: 0.0,
                error: 0.0,
                verdict: check::Verdict::Agrees,
            };
            let row = self.row(&entry, worst);
            Some(CheckRow { fd: None, left: None, right: None, h: None, ..row })
        };
        self.closed.iter().filter_map(of).collect()
    }

    /// Asks the doctor, where something differs.
    fn diagnose(&mut self) {
        let rows = self.report.rows.iter().map(|r| r.verdict);
        let directions = self.report.directions.iter().map(|r| r.verdict);
        let adjoint = self.report.adjoint.iter().map(|r| r.verdict);
        if !rows.chain(directions).chain(adjoint).any(|v| v == Verdict::Differs) {
            return;
        }
        let nodes = &self.analysis.report.nodes;
        let found = check::diagnose(&self.analysis.trace);
        self.report.diagnoses.extend(found.into_iter().map(|d| DiagnosisRow {
            says: d.kind.says().to_owned(),
            evidence: d.evidence,
            node: d.node.index() as u32,
            name: nodes.get(d.node.index()).map(|n| n.name.clone()).unwrap_or_default(),
            src: d.src.map(|s| s as u8),
        }));
    }

    fn direction_row(&self, e: &Entry, number: u64) -> DirectionRow {
        let node = self.analysis.trace.graph.node(e.leaf);
        DirectionRow {
            leaf: node.name.as_deref().unwrap_or_default().to_owned(),
            number: number as u32,
            autodiff: e.autodiff,
            fd: e.fd,
            left: e.left,
            right: e.right,
            error: e.error,
            verdict: match e.verdict {
                check::Verdict::Differs => Verdict::Differs,
                check::Verdict::Kink => Verdict::Kink,
                check::Verdict::Agrees => Verdict::Agrees,
            },
        }
    }

    fn row(&self, e: &Entry, flat: usize) -> CheckRow {
        let node = self.analysis.trace.graph.node(e.leaf);
        let mut rest = flat;
        let mut index = vec![0; node.ty.shape.rank()];
        for (slot, d) in index.iter_mut().zip(node.ty.shape.dims()).rev() {
            *slot = (rest % (*d).max(1) as usize) as u32;
            rest /= (*d).max(1) as usize;
        }
        let formula = self
            .closed
            .iter()
            .find(|(leaf, _)| *leaf == e.leaf)
            .and_then(|(_, v)| v.get(flat))
            .copied();
        let formula_error = formula.map_or(0.0, |f| relative_error(e.autodiff, f));
        let fd_error = if self.fd { e.error } else { 0.0 };
        let error = formula_error.max(fd_error);
        let verdict = match e.verdict {
            _ if formula_error > TOLERANCE || !e.autodiff.is_finite() => Verdict::Differs,
            check::Verdict::Differs if self.fd => Verdict::Differs,
            check::Verdict::Kink if self.fd => Verdict::Kink,
            _ => Verdict::Agrees,
        };
        let shown = |x| self.fd.then_some(x);
        CheckRow {
            leaf: node.name.as_deref().unwrap_or_default().to_owned(),
            index,
            autodiff: e.autodiff,
            fd: shown(e.fd),
            left: shown(e.left),
            right: shown(e.right),
            h: shown(e.h),
            formula,
            ulp: formula.map(|f| ulps_f64(e.autodiff, f)),
            fd_error: e.error,
            error,
            verdict,
        }
    }
}

/// A training run on its way, a step at a time.
pub struct Training<'a> {
    analysis: &'a Analysis,
    trainer: Trainer,
    /// The loss before the newest step, where the report does not have that step yet.
    newest: Option<f64>,
    /// What is known so far; its newest step since somebody looked.
    pub report: TrainReport,
}

impl Training<'_> {
    /// How many steps the text asks for.
    pub const fn steps(&self) -> u64 {
        self.report.steps
    }

    /// Every trainable leaf as it stands: its node and its elements.
    pub fn leaves(&self) -> Vec<(NodeId, &[f32])> {
        self.trainer.leaves().map(|(id, leaf)| (id, leaf.now.as_slice())).collect()
    }

    /// How far it has come.
    pub fn told(&self) -> Told {
        let loss = self.report.losses.last().copied().unwrap_or(f64::NAN);
        Told::Trained { done: self.report.done, of: self.report.steps, loss }
    }

    /// The leaves as the last step left them, with the loss before it.
    pub fn moved(&self) -> Option<Moved> {
        let graph = &self.analysis.trace.graph;
        let named = |id: NodeId| graph.node(id).name.as_deref().unwrap_or_default().to_owned();
        let leaves = self.trainer.leaves().map(|(id, p)| (named(id), p.now.clone())).collect();
        Some(Moved { loss: self.report.losses.last().copied()?, leaves })
    }

    /// Takes one step. False when the run has ended; it has measured once more then.
    pub fn advance(&mut self) -> bool {
        let measures = self.trainer.status().step >= self.trainer.status().steps;
        let stepped = self.trainer.step();
        let loss = self.trainer.status().loss;
        if stepped {
            self.report.losses.push(loss);
            self.newest = Some(loss);
            let status = self.trainer.status();
            if self.report.first.is_none() || status.step >= status.steps {
                self.look();
            }
            if self.report.first.is_none() {
                self.report.first = self.report.last.clone();
            }
        } else if measures && self.report.state != "done" && *self.trainer.state() == State::Done {
            self.report.losses.push(loss);
        }
        self.note();
        if !stepped {
            // The values are no longer those that the step was made from.
            self.newest = None;
        }
        stepped
    }

    /// Brings the report's newest step up to date, which costs more than a small step does: not done at each.
    pub fn look(&mut self) {
        if let Some(loss) = self.newest.take() {
            self.report.last = Some(self.step_row(loss));
        }
    }

    /// Stops the run; what it has done so far stays.
    pub fn cancel(&mut self) {
        self.trainer.cancel();
        self.note();
    }

    /// Everything that is needed to go on later.
    pub fn save(&self) -> TrainSaved {
        TrainSaved::from(self.trainer.save())
    }

    /// Goes on from a saved run of the same text. False, and nothing has changed, where it is of another.
    pub fn resume(&mut self, saved: &TrainSaved) -> bool {
        let fits = self.trainer.resume(&saved.into());
        self.note();
        fits
    }

    /// Writes the run's state into the report.
    fn note(&mut self) {
        let (state, status) = (self.trainer.state(), self.trainer.status());
        let word = if *state == State::Idle { &State::Running } else { state }.name();
        word.clone_into(&mut self.report.state);
        self.report.done = status.step;
        if let State::Error(failure) = state {
            let row = failure.node.and_then(|n| self.analysis.report.nodes.get(n.index()));
            self.report.node = failure.node.filter(|_| row.is_some()).map(|n| n.index() as u32);
            self.report.name = row.map_or_else(|| failure.name.clone(), |r| r.name.clone());
            let op = failure.op.map_or("", |op| op.def().name);
            op.clone_into(&mut self.report.op);
            self.report.src = failure.src.map(|s| s as u8);
            self.report.reason = match failure.trouble {
                Trouble::NotFinite => {
                    format!("A value that is not finite begins at {}.", self.report.name)
                }
                Trouble::Refused(_) | Trouble::Setting(_) => failure.reason.clone(),
            };
        }
    }

    fn step_row(&self, loss: f64) -> TrainStep {
        let graph = &self.analysis.trace.graph;
        // The forward values are still those before the step: the closed form is evaluated at them.
        let (closed, _) = self.analysis.closed_forms(&|id| self.trainer.value(id));
        let (lr, wd, plain) = match self.analysis.lowered.train.as_ref().map(|t| t.optimizer) {
            Some(Optimizer::Sgd { lr, momentum: 0.0, wd }) => (lr, wd, true),
            _ => (0.0, 0.0, false),
        };
        // A closed form is of one evaluation's gradient, unclipped.
        let line = self.analysis.lowered.train.as_ref();
        let plain = plain && line.is_some_and(|t| t.period == 1 && t.clip.is_none());
        let leaves = self
            .trainer
            .leaves()
            .map(|(leaf, m)| {
                let wide =
                    |v: &[f32]| v.iter().take(PREVIEW).map(|x| f64::from(*x)).collect::<Vec<f64>>();
                let form = closed.iter().find(|(of, _)| *of == leaf).filter(|_| plain);
                let target: Vec<f64> = form.map_or_else(Vec::new, |(_, g)| {
                    let moved = |w: f64, g: f64| f64::from((w * (1.0 - lr * wd) - lr * g) as f32);
                    m.before
                        .iter()
                        .zip(g)
                        .map(|(w, g)| moved(f64::from(*w), *g))
                        .take(PREVIEW)
                        .collect()
                });
                let after = wide(&m.now);
                TrainLeaf {
                    name: graph.node(leaf).name.as_deref().unwrap_or_default().to_owned(),
                    shape: graph.node(leaf).ty.shape.dims().to_vec(),
                    before: wide(&m.before),
                    grad: wide(&m.grad),
                    ulp: target.iter().zip(&after).map(|(t, a)| ulps_f32(*t, *a)).collect(),
                    closed: target,
                    after,
                }
            })
            .collect();
        TrainStep { step: self.trainer.status().step as u32, loss, leaves }
    }
}
