//! The steps that one goes through: the ticks of the build, then a tick a checked entry, then one an update.
//!
//! Everything is asked by index; nothing is copied out of the reports.

use std::sync::Arc;

use foldback::report::{CheckRow, Report, TickGlyph, TickRow, Verdict};

use super::answer::Answer;
use super::number::{plain, short};
use crate::protocol::{Checked, Trained};

/// The kind of a step: its glyph on the scrubber.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Glyph {
    /// A tick of the build.
    Build(TickGlyph),
    /// A checked entry.
    Check(Verdict),
    /// A training step.
    Update,
}

/// A part of the way, as the brackets under the scrubber name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Every node gets its shape.
    Shapes,
    /// Every node gets its value.
    Forward,
    /// Who needs a gradient.
    Mark,
    /// The backward graph grows.
    Build,
    /// Gradients against other ways to compute them.
    Check,
    /// Training steps.
    Update,
}

impl Phase {
    /// The bracket's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Shapes => "Shapes",
            Self::Forward => "Forward",
            Self::Mark => "Mark",
            Self::Build => "Build backward",
            Self::Check => "Check",
            Self::Update => "Update",
        }
    }
}

/// How far one step goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Grain {
    /// One node visited.
    Node,
    /// One thing done.
    #[default]
    Micro,
}

impl Grain {
    /// As the buttons' commands write it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Micro => "micro",
        }
    }

    /// Reads [`Grain::key`].
    pub fn from_key(key: &str) -> Option<Self> {
        [Self::Node, Self::Micro].into_iter().find(|grain| grain.key() == key)
    }
}

/// What a step says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Words {
    /// Short: `Fold dc′ along expert`.
    pub title: String,
    /// A little more.
    pub detail: String,
    /// The shapes before and after, where they change.
    pub shapes: Option<(Vec<u32>, Vec<u32>)>,
    /// The whole sentence.
    pub sentence: String,
}

/// All steps of a document.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    answer: Option<Arc<Answer>>,
    checks: Option<Arc<Checked>>,
    training: Option<Arc<Trained>>,
    /// The last step of each node visited; ascending.
    stops: Arc<[u32]>,
}

impl Timeline {
    /// The steps of these reports.
    pub fn new(
        answer: Option<Arc<Answer>>,
        checks: Option<Arc<Checked>>,
        training: Option<Arc<Trained>>,
    ) -> Self {
        let mut timeline = Self { answer, checks, training, stops: Arc::default() };
        let ends_node = |&step: &usize| {
            let (this, next) = (timeline.tick(step), timeline.tick(step + 1));
            match (this, next) {
                (Some(this), Some(next)) => {
                    let same = this.inside.is_some() && this.inside == next.inside;
                    !(same && phase_of(this.kind) == Phase::Build)
                }
                _ => true,
            }
        };
        timeline.stops = (0..timeline.len()).filter(ends_node).map(|step| step as u32).collect();
        timeline
    }

    fn report(&self) -> Option<&Report> {
        self.answer.as_deref().map(|answer| &answer.report)
    }

    /// How many ticks the build has.
    pub fn n_build(&self) -> usize {
        self.report().map_or(0, |report| report.ticks.len())
    }

    fn n_checks(&self) -> usize {
        self.checks.as_ref().map_or(0, |checks| checks.rows.len())
    }

    fn n_updates(&self) -> usize {
        self.training.as_ref().map_or(0, |training| training.losses.len().saturating_sub(1))
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.n_build() + self.n_checks() + self.n_updates()
    }

    /// Whether there is nothing to step through.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The build's tick at a step, where it is one.
    pub fn tick(&self, step: usize) -> Option<&TickRow> {
        self.report()?.ticks.get(step)
    }

    /// The build's tick whose picture a step shows: its own, or the last one.
    pub fn picture(&self, step: usize) -> Option<usize> {
        self.n_build().checked_sub(1).map(|last| step.min(last))
    }

    /// The checked entry at a step.
    pub fn check(&self, step: usize) -> Option<&CheckRow> {
        self.checks.as_ref()?.rows.get(step.checked_sub(self.n_build())?)
    }

    /// The training step at a step, from 1.
    pub fn update(&self, step: usize) -> Option<usize> {
        let ix = step.checked_sub(self.n_build() + self.n_checks())?;
        (ix < self.n_updates()).then_some(ix + 1)
    }

    /// Its glyph.
    pub fn glyph(&self, step: usize) -> Glyph {
        match (self.tick(step), self.check(step)) {
            (Some(tick), _) => Glyph::Build(tick.kind),
            (None, Some(check)) => Glyph::Check(check.verdict),
            (None, None) => Glyph::Update,
        }
    }

    /// Its phase.
    pub fn phase(&self, step: usize) -> Phase {
        match self.glyph(step) {
            Glyph::Build(kind) => phase_of(kind),
            Glyph::Check(_) => Phase::Check,
            Glyph::Update => Phase::Update,
        }
    }

    /// What it says.
    pub fn words(&self, step: usize) -> Words {
        if let Some(tick) = self.tick(step) {
            return Words {
                title: tick.title.clone(),
                detail: tick.detail.clone(),
                shapes: tick.shapes.clone(),
                sentence: tick.sentence.clone(),
            };
        }
        if let Some(check) = self.check(step) {
            return words_of_check(check);
        }
        match (&self.training, self.update(step)) {
            (Some(training), Some(update)) => words_of_update(training, update),
            _ => Words::default(),
        }
    }

    /// The next step of a kind.
    pub fn next_of(&self, from: usize, kind: TickGlyph) -> Option<usize> {
        (from + 1..self.n_build()).find(|step| self.tick(*step).is_some_and(|t| t.kind == kind))
    }

    /// The next step that is about a node, or about its gradient.
    pub fn next_about(&self, from: usize, node: u32) -> Option<usize> {
        let about = |tick: &TickRow| tick.node == Some(node) || tick.target == Some(node);
        (from + 1..self.n_build()).find(|step| self.tick(*step).is_some_and(about))
    }

    /// Where a document opens: at its refusal, else at the last tick of the build.
    pub fn opening(&self) -> usize {
        self.refusal().unwrap_or_else(|| self.n_build().saturating_sub(1))
    }

    /// The step at which the build stopped.
    pub fn refusal(&self) -> Option<usize> {
        let ticks = &self.report()?.ticks;
        // It is the last tick, or there is none.
        let last = ticks.len().checked_sub(1)?;
        (ticks[last].kind == TickGlyph::Refusal).then_some(last)
    }

    /// The step that seeds the backward graph, where the turn is.
    pub fn seed(&self) -> Option<usize> {
        self.report()?.ticks.iter().position(|tick| tick.kind == TickGlyph::Seed)
    }

    /// The nearest fold after or before a step, in a ring: of any node's contribution, or of those to one node.
    pub fn fold(&self, from: usize, forward: bool, to: Option<u32>) -> Option<usize> {
        let ticks = &self.report()?.ticks;
        let is_fold = |&step: &usize| {
            matches!(ticks[step].kind, TickGlyph::Fold | TickGlyph::FoldNoOp)
                && (to.is_none() || ticks[step].target == to)
        };
        let from = from.min(ticks.len());
        if forward {
            (from + 1..ticks.len()).chain(0..from).find(is_fold)
        } else {
            (0..from).rev().chain((from + 1..ticks.len()).rev()).find(is_fold)
        }
    }

    /// How many places the scrubber has.
    pub fn n_places(&self, grain: Grain) -> usize {
        match grain {
            Grain::Micro => self.len(),
            Grain::Node => self.stops.len(),
        }
    }

    /// Which place a step stands at.
    pub fn place(&self, grain: Grain, step: usize) -> usize {
        match grain {
            Grain::Micro => step,
            Grain::Node => self.stops.partition_point(|&stop| (stop as usize) < step),
        }
    }

    /// Which step stands at a place.
    pub fn step_at(&self, grain: Grain, place: usize) -> usize {
        let last = self.len().saturating_sub(1);
        match grain {
            Grain::Micro => place.min(last),
            Grain::Node => self.stops.get(place).map_or(last, |&stop| stop as usize),
        }
    }

    /// How many gradients a refused build leaves unbuilt: the way that was not travelled.
    pub fn n_missing(&self) -> usize {
        let Some(report) = self.report() else { return 0 };
        let missing = |(needed, grad): &(&bool, &Option<u32>)| **needed && grad.is_none();
        if self.refusal().is_none() {
            return 0;
        }
        report.needed.iter().zip(&report.grads).filter(missing).count()
    }
}

const fn phase_of(kind: TickGlyph) -> Phase {
    match kind {
        TickGlyph::Shape => Phase::Shapes,
        TickGlyph::Value => Phase::Forward,
        TickGlyph::Mark => Phase::Mark,
        TickGlyph::Seed
        | TickGlyph::Rule
        | TickGlyph::Emit
        | TickGlyph::Fold
        | TickGlyph::FoldNoOp
        | TickGlyph::Accumulate
        | TickGlyph::Refusal => Phase::Build,
    }
}

/// `w[0,1]`, as the text would write it.
pub fn entry(leaf: &str, index: &[u32]) -> String {
    let mut name = leaf.to_owned();
    for (ix, part) in index.iter().enumerate() {
        name.push_str(if ix == 0 { "[" } else { "," });
        name.push_str(&part.to_string());
    }
    if !index.is_empty() {
        name.push(']');
    }
    name
}

/// The verdict's word.
pub const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::Kink => "kink",
        Verdict::Differs => "differs",
    }
}

fn words_of_check(check: &CheckRow) -> Words {
    let cell = entry(&check.leaf, &check.index);
    let mut sentence = format!("Autodiff gives {} for d{cell}", short(check.autodiff, 8));
    if let Some(fd) = check.fd {
        sentence.push_str(", finite differences give ");
        sentence.push_str(&short(fd, 8));
    }
    if let Some(formula) = check.formula {
        sentence.push_str(", the formula gives ");
        sentence.push_str(&short(formula, 8));
    }
    sentence.push_str(match check.verdict {
        Verdict::Agrees => ": they agree.",
        Verdict::Kink => ": a kink, where any slope between the two sides is valid.",
        Verdict::Differs => ": they differ.",
    });
    Words {
        title: format!("Check {cell}"),
        detail: verdict(check.verdict).to_owned(),
        shapes: None,
        sentence,
    }
}

fn words_of_update(training: &Trained, update: usize) -> Words {
    let loss = |ix: usize| training.losses.get(ix).map(|&loss| plain(loss)).unwrap_or_default();
    let (before, after) = (loss(update - 1), loss(update));
    Words {
        title: format!("Update {update}"),
        detail: format!("loss {before} → {after}"),
        shapes: None,
        sentence: format!(
            "Step {update} of {} with lr = {} takes the loss from {before} to {after}.",
            training.method,
            plain(training.lr),
        ),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Answer, Grain, Phase, Timeline, entry};
    use crate::protocol::{Checked, Trained};
    use foldback::report::{CheckRow, Report, TickGlyph, TickRow, Verdict};
    use std::sync::Arc;

    /// A tick and the forward node whose rule is at work.
    pub(crate) fn tick(kind: TickGlyph, inside: Option<u32>) -> TickRow {
        TickRow {
            kind,
            n_shaped: 2,
            n_evaluated: 2,
            n_nodes: 2,
            inside,
            node: Some(0),
            target: None,
            src: None,
            title: String::new(),
            detail: String::new(),
            shapes: None,
            sentence: String::new(),
            fold: None,
        }
    }

    /// Two forward nodes, a rule with a fold, and how it ended.
    pub(crate) fn report(end: TickGlyph) -> Report {
        let kinds = [
            (TickGlyph::Shape, None),
            (TickGlyph::Shape, None),
            (TickGlyph::Value, None),
            (TickGlyph::Value, None),
            (TickGlyph::Mark, None),
            (TickGlyph::Seed, None),
            (TickGlyph::Rule, Some(1)),
            (TickGlyph::Emit, Some(1)),
            (TickGlyph::Fold, Some(1)),
            (TickGlyph::Rule, Some(0)),
            (end, Some(0)),
        ];
        Report {
            ticks: kinds.map(|(kind, inside)| tick(kind, inside)).to_vec(),
            whole: true,
            ..Report::default()
        }
    }

    fn check(verdict: Verdict) -> CheckRow {
        CheckRow {
            leaf: "w".to_owned(),
            index: vec![0, 1],
            autodiff: 0.5,
            fd: Some(0.5),
            left: None,
            right: None,
            h: None,
            formula: None,
            ulp: None,
            fd_error: 0.0,
            error: 0.0,
            verdict,
        }
    }

    fn timeline(end: TickGlyph) -> Timeline {
        let checks = Checked { rows: vec![check(Verdict::Agrees)], ..Checked::default() };
        let training = Trained { losses: vec![2.0, 1.0], ..Trained::default() };
        let answer = Answer { report: report(end), ..Answer::default() };
        Timeline::new(Some(Arc::new(answer)), Some(Arc::new(checks)), Some(Arc::new(training)))
    }

    #[test]
    fn checks_and_updates_follow_the_build() {
        let timeline = timeline(TickGlyph::Emit);
        assert_eq!(timeline.len(), 13);
        assert_eq!(timeline.phase(10), Phase::Build);
        assert_eq!(timeline.phase(11), Phase::Check);
        assert_eq!(timeline.phase(12), Phase::Update);
        assert_eq!(timeline.picture(12), Some(10));
        assert_eq!(timeline.words(11).title, "Check w[0,1]");
        assert_eq!(timeline.words(12).detail, "loss 2 → 1");
    }

    #[test]
    fn a_node_is_one_stop_of_the_build() {
        let timeline = timeline(TickGlyph::Emit);
        let stops: Vec<_> =
            (0..timeline.n_places(Grain::Node)).map(|n| timeline.step_at(Grain::Node, n)).collect();
        assert_eq!(stops, [0, 1, 2, 3, 4, 5, 8, 10, 11, 12]);
        assert_eq!(timeline.place(Grain::Node, 7), 6, "inside a node one stands at its stop");
        assert_eq!(timeline.step_at(Grain::Node, 99), 12);
    }

    #[test]
    fn it_opens_at_the_refusal_or_where_the_build_ends() {
        assert_eq!(timeline(TickGlyph::Refusal).opening(), 10);
        assert_eq!(timeline(TickGlyph::Refusal).refusal(), Some(10));
        assert_eq!(timeline(TickGlyph::Emit).opening(), 10);
        assert_eq!(timeline(TickGlyph::Emit).refusal(), None);
        assert_eq!(Timeline::default().opening(), 0);
    }

    #[test]
    fn folds_are_found_both_ways() {
        let timeline = timeline(TickGlyph::Emit);
        assert_eq!(timeline.fold(0, true, None), Some(8));
        assert_eq!(timeline.fold(8, true, None), None, "there is no other");
        assert_eq!(timeline.fold(10, true, None), Some(8));
        assert_eq!(timeline.fold(12, false, None), Some(8));
        assert_eq!(timeline.fold(8, false, None), None);
    }

    #[test]
    fn entries_are_written_as_the_text_would() {
        assert_eq!(entry("w", &[0, 1]), "w[0,1]");
        assert_eq!(entry("w", &[]), "w");
    }
}
