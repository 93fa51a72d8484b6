//! The jobs that come after an analysis: checks, an entry at a time, and training, a step at a time.

use super::json::Moved;
use super::{
    AdjointRow, Analysis, CheckReport, CheckRow, PREVIEW, TrainLeaf, TrainReport, TrainStep,
    Verdict,
};
use crate::check::{self, Entry, Finite, TOLERANCE, relative_error, ulps_f32, ulps_f64};
use crate::graph::NodeId;
use crate::lang::lower::CheckKind;
use crate::train::{Optimizer, Trainer};

/// What a closed form says of a leaf's gradient.
type Closed = Vec<(NodeId, Vec<f64>)>;

impl Analysis {
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
        let finite = Finite::new(&self.trace, loss);
        let report = CheckReport {
            tolerance: TOLERANCE,
            n_entries: finite.remaining(),
            adjoint: adjoint.into_iter().map(|a| self.adjoint_row(&a)).collect(),
            refused,
            ..CheckReport::default()
        };
        Some(Checking { analysis: self, finite, fd, closed, report })
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

    /// The training the text asks for; `None` where it asks for none or no gradient was built.
    pub fn training(&self) -> Option<Training<'_>> {
        let loss = self.ready()?;
        let line = self.lowered.train.as_ref()?;
        let trainer = Trainer::new(&self.trace, loss, line.optimizer);
        let report = TrainReport {
            state: "running".to_owned(),
            method: line.optimizer.name().to_owned(),
            lr: line.optimizer.lr(),
            ..TrainReport::default()
        };
        Some(Training { analysis: self, trainer, steps: line.steps, report })
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

/// Checks on their way, an entry at a time.
pub struct Checking<'a> {
    analysis: &'a Analysis,
    finite: Finite<'a>,
    fd: bool,
    closed: Closed,
    /// What is known so far.
    pub report: CheckReport,
}

impl Checking<'_> {
    /// Checks up to `n` more entries. False when there are no more.
    pub fn advance(&mut self, n: usize) -> bool {
        for _ in 0..n {
            let Some(entry) = self.finite.next() else { return false };
            let row = self.row(entry);
            self.report.rows.push(row);
        }
        self.finite.remaining() > 0
    }

    fn row(&self, e: Entry) -> CheckRow {
        let node = self.analysis.trace.graph.node(e.leaf);
        let mut rest = e.flat;
        let mut index = vec![0; node.ty.shape.rank()];
        for (slot, d) in index.iter_mut().zip(node.ty.shape.dims()).rev() {
            *slot = (rest % (*d).max(1) as usize) as u32;
            rest /= (*d).max(1) as usize;
        }
        let formula = self
            .closed
            .iter()
            .find(|(leaf, _)| *leaf == e.leaf)
            .and_then(|(_, v)| v.get(e.flat))
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
    trainer: Trainer<'a>,
    steps: u64,
    /// What is known so far.
    pub report: TrainReport,
}

impl Training<'_> {
    /// How many steps the text asks for.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// The leaves as the last step left them, with the loss before it.
    pub fn moved(&self) -> Option<Moved> {
        let graph = &self.analysis.trace.graph;
        let named = |id: NodeId| graph.node(id).name.as_deref().unwrap_or_default().to_owned();
        let leaves = self.trainer.leaves.iter().map(|m| (named(m.leaf), m.now.clone())).collect();
        Some(Moved { loss: self.report.losses.last().copied()?, leaves })
    }

    /// Takes one step. False when the run has ended.
    pub fn advance(&mut self) -> bool {
        if self.trainer.step >= self.steps {
            if self.report.state == "running" {
                self.report.losses.push(self.trainer.evaluate());
                "done".clone_into(&mut self.report.state);
            }
            return false;
        }
        match self.trainer.advance() {
            Ok(loss) => {
                self.report.losses.push(loss);
                let step = self.step_row(loss);
                if self.report.first.is_none() {
                    self.report.first = Some(step.clone());
                }
                self.report.last = Some(step);
                true
            }
            Err(diverged) => {
                let at = self.analysis.report.nodes.get(diverged.at.index());
                self.report.state = "error".to_owned();
                self.report.reason = format!(
                    "A value that is not finite begins at {}.",
                    at.map_or("", |n| n.name.as_str())
                );
                false
            }
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
        let leaves = self
            .trainer
            .leaves
            .iter()
            .map(|m| {
                let wide =
                    |v: &[f32]| v.iter().take(PREVIEW).map(|x| f64::from(*x)).collect::<Vec<f64>>();
                let form = closed.iter().find(|(leaf, _)| *leaf == m.leaf).filter(|_| plain);
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
                    name: graph.node(m.leaf).name.as_deref().unwrap_or_default().to_owned(),
                    shape: graph.node(m.leaf).ty.shape.dims().to_vec(),
                    before: wide(&m.before),
                    grad: wide(&m.grad),
                    ulp: target.iter().zip(&after).map(|(t, a)| ulps_f32(*t, *a)).collect(),
                    closed: target,
                    after,
                }
            })
            .collect();
        TrainStep { step: self.trainer.step as u32, loss, leaves }
    }
}
