//! Words for the stepper: what each tick did, with the numbers in it.

use super::words::{rounded, sends};
use super::{FoldRow, PREVIEW, StretchRow, TickGlyph, TickRow};
use crate::graph::{Graph, NodeId, NodeKind};
use crate::refusal::{Finding, Reason};
use crate::rules::RuleSet;
use crate::tensor::{MAX_RANK, Shape};
use crate::trace::{Event, Frame, Mark, TickKind, Trace, ticks};

/// What the words are made from.
pub(super) struct Telling<'a> {
    pub(super) trace: &'a Trace,
    pub(super) rules: RuleSet,
    pub(super) names: &'a [String],
    /// How each node is computed, in names.
    pub(super) formulas: &'a [String],
    /// The first elements of a node, as many as a report carries.
    pub(super) values: &'a dyn Fn(NodeId) -> Vec<f64>,
    /// Least and greatest finite element of a node.
    pub(super) range: &'a dyn Fn(NodeId) -> (f64, f64),
    /// For each forward node, whether it needs a gradient.
    pub(super) needed: &'a [bool],
}

/// The most cells whose numbers a sentence prints.
const SPOKEN: usize = 6;

impl Telling<'_> {
    fn graph(&self) -> &Graph {
        &self.trace.graph
    }

    fn name(&self, id: NodeId) -> &str {
        self.names.get(id.index()).map_or("", String::as_str)
    }

    fn formula(&self, id: NodeId) -> &str {
        self.formulas.get(id.index()).map_or("", String::as_str)
    }

    fn shape(&self, id: NodeId) -> Shape {
        self.graph().get(id).map_or(Shape::SCALAR, |n| n.ty.shape)
    }

    /// `= 0.2`, `= [0.2, 0.3]`, or how many values and their range.
    fn value(&self, id: NodeId) -> String {
        let n = self.shape(id).n_elements();
        if n > SPOKEN as u64 {
            let (min, max) = (self.range)(id);
            return format!("holds {n} values from {} to {}", rounded(min), rounded(max));
        }
        match (self.values)(id).as_slice() {
            [] if n == 0 => "has no elements".to_owned(),
            [] => "has no value yet".to_owned(),
            [one] => format!("= {}", rounded(*one)),
            few => {
                let items: Vec<String> = few.iter().map(|x| rounded(*x)).collect();
                format!("= [{}]", items.join(", "))
            }
        }
    }

    /// The axes along which two shapes differ, by name.
    pub(super) fn axes(&self, small: Shape, large: Shape, named: NodeId) -> Vec<StretchRow> {
        stretched(self.graph(), small, large, named)
    }

    pub(super) fn rows(&self) -> Vec<TickRow> {
        let mut out = Vec::new();
        let all = ticks(self.trace);
        let mut frames = Frames { trace: self.trace, frame: self.trace.frame(0), at: 0 };
        for tick in all {
            // A rule that is left within the tick is still at work in its picture.
            let inside = frames.at(tick.event + 1).inside;
            let frame = frames.at(tick.end);
            let base = TickRow {
                kind: glyph(tick.kind),
                n_shaped: frame.n_shaped as u32,
                n_evaluated: frame.n_evaluated as u32,
                n_nodes: frame.n_nodes as u32,
                inside: inside.map(|n| n.index() as u32),
                node: None,
                target: None,
                src: None,
                title: String::new(),
                detail: String::new(),
                shapes: None,
                sentence: String::new(),
                fold: None,
            };
            let event = self.trace.events.get(tick.event).copied();
            out.push(event.map_or_else(|| base.clone(), |e| self.tell(base.clone(), e, frame)));
        }
        out
    }

    fn tell(&self, mut row: TickRow, event: Event, frame: &Frame) -> TickRow {
        let at = |id: NodeId| Some(id.index() as u32);
        match event {
            Event::Shaped { node } => {
                row.node = at(node);
                row.title = format!("Shape of {}", self.name(node));
                row.shapes = Some((Vec::new(), self.shape(node).dims().to_vec()));
                row.sentence = match self.graph().get(node).map(|n| &n.kind) {
                    Some(NodeKind::Op { .. }) => format!(
                        "{} = {} has shape {}.",
                        self.name(node),
                        self.formula(node),
                        self.shape(node)
                    ),
                    _ => format!("{} has shape {}.", self.name(node), self.shape(node)),
                };
            }
            Event::Evaluated { node } => {
                row.node = at(node);
                row.title = format!("Value of {}", self.name(node));
                row.sentence =
                    format!("{} = {} {}.", self.name(node), self.formula(node), self.value(node));
            }
            Event::Marked { .. } | Event::Skipped { .. } | Event::Supplied { .. } => {
                let named = |wanted: bool| {
                    let list: Vec<&str> = frame
                        .marks
                        .iter()
                        .enumerate()
                        .filter(|(_, m)| matches!(m, Mark::Needed(_)) == wanted)
                        .filter_map(|(ix, _)| NodeId::at(ix))
                        .filter(|id| self.graph().get(*id).is_some_and(|n| !n.flags.inline))
                        .map(|id| self.name(id))
                        .collect();
                    list
                };
                let (needed, skipped) = (named(true), named(false));
                row.title = "Mark what needs a gradient".to_owned();
                row.detail = format!("{} of {}", needed.len(), needed.len() + skipped.len());
                row.sentence = format!(
                    "{} a gradient: a trainable leaf reaches {}, and {} the loss.",
                    needs(&needed),
                    it(&needed),
                    reach(&needed)
                );
                if !skipped.is_empty() {
                    row.sentence.push_str(&format!(" {} none.", needs(&skipped)));
                }
            }
            Event::Seeded { node, grad } => {
                row.node = at(grad);
                row.target = at(node);
                row.title = format!("Seed {} {}", self.name(grad), self.value(grad));
                row.sentence = format!(
                    "Backward starts at {}: its slope with respect to itself is 1, so {} {}.",
                    self.name(node),
                    self.name(grad),
                    self.value(grad)
                );
            }
            Event::Entered { node, .. } => self.tell_rule(&mut row, node),
            Event::Emitted { node, .. } => {
                row.node = at(node);
                row.title = format!("Make {}", self.name(node));
                row.detail = self.formula(node).to_owned();
                row.sentence =
                    format!("{} = {} {}.", self.name(node), self.formula(node), self.value(node));
            }
            Event::Folded { from, to, into } => {
                row.node = at(to);
                row.target = at(into);
                let (large, small) = (self.shape(from), self.shape(into));
                if from == to {
                    row.title = format!("Nothing to fold in {}", self.name(from));
                    row.detail = format!("already {small}");
                    row.sentence = format!(
                        "{} was not stretched: {} already has its shape {small}.",
                        self.name(into),
                        self.name(from)
                    );
                } else {
                    self.tell_fold(&mut row, from, to, into, large, small);
                }
            }
            Event::Contributed { into, after, before, .. } => {
                row.node = at(after);
                row.target = at(into);
                let sum = self.formula(after);
                row.title = format!("Add up {}", self.name(after));
                row.detail = sum.to_owned();
                let earlier = before.map_or("", |b| self.name(b));
                row.sentence = format!(
                    "{} is used more than once, so its gradients add up: {} = {sum} {}. {earlier} came first.",
                    self.name(into),
                    self.name(after),
                    self.value(after)
                );
            }
            Event::Refused(ix) => self.tell_refusal(&mut row, ix, frame),
            Event::Left { .. } | Event::Flagged(_) | Event::Finished => {}
        }
        row
    }

    fn tell_rule(&self, row: &mut TickRow, node: NodeId) {
        row.node = Some(node.index() as u32);
        row.target = row.node;
        row.title = format!("Ask the rule of {}", self.name(node));
        let Some(NodeKind::Op { op, src, params }) = self.graph().get(node).map(|n| &n.kind) else {
            return;
        };
        row.detail = self.rules.op_name(*op).to_owned();
        let name = |id: NodeId| self.name(id).to_owned();
        let parts: Vec<String> = src
            .iter()
            .enumerate()
            .filter_map(|(ix, s)| {
                let what = sends(*op, ix, self.name(node), src, params.values(), &name);
                let shown = self.needed.get(s.index()).copied().unwrap_or(false);
                (!what.is_empty() && shown).then(|| format!("{what} to {}", self.name(*s)))
            })
            .collect();
        row.sentence = format!(
            "{} = {}, so its rule sends {}.",
            self.name(node),
            self.formula(node),
            if parts.is_empty() { "nothing".to_owned() } else { parts.join(", and ") }
        );
    }

    fn tell_fold(
        &self,
        row: &mut TickRow,
        from: NodeId,
        to: NodeId,
        into: NodeId,
        large: Shape,
        small: Shape,
    ) {
        let axes = self.axes(small, large, from);
        let along: Vec<&str> = axes.iter().map(|a| a.name.as_str()).collect();
        let n: u64 = axes.iter().map(|a| u64::from(a.to / a.from.max(1))).product();
        row.title = format!("Fold {} along {}", self.name(from), along.join(" and "));
        row.detail = format!("{n} cells into 1");
        row.shapes = Some((large.dims().to_vec(), small.dims().to_vec()));
        let text = self.fold_text(from, to, large, small);
        row.sentence = format!(
            "Each cell of {} was read {n} times, so {n} cells of {} add up to one. {}.",
            self.name(into),
            self.name(from),
            text.first().cloned().unwrap_or_default()
        );
        row.fold = Some(FoldRow { from: from.index() as u32, to: to.index() as u32, axes, text });
    }

    /// `dc[0,0] = −0.15 + 0.08 = −0.07`, a line a cell, the first ones.
    fn fold_text(&self, from: NodeId, to: NodeId, large: Shape, small: Shape) -> Vec<String> {
        let (terms, sums) = ((self.values)(from), (self.values)(to));
        let cells = groups(large, small, SPOKEN);
        let mut out = Vec::new();
        for (cell, members) in cells.iter().enumerate() {
            let shown: Vec<String> = members
                .iter()
                .take(8)
                .enumerate()
                .map(|(ix, at)| {
                    let x = terms.get(*at).copied().unwrap_or(f64::NAN);
                    match (ix, x < 0.0) {
                        (0, _) => rounded(x),
                        (_, true) => format!("− {}", rounded(-x)),
                        (_, false) => format!("+ {}", rounded(x)),
                    }
                })
                .collect();
            let n = large.n_elements() / small.n_elements().max(1);
            let rest = n.saturating_sub(shown.len() as u64);
            let more = if rest > 0 { format!(" + … ({rest} more)") } else { String::new() };
            let index: Vec<String> = unravel(small, cell).iter().map(usize::to_string).collect();
            let at =
                if index.is_empty() { String::new() } else { format!("[{}]", index.join(",")) };
            out.push(format!(
                "{}{at} = {}{more} = {}",
                self.name(to),
                shown.join(" "),
                rounded(sums.get(cell).copied().unwrap_or(f64::NAN))
            ));
        }
        out
    }

    fn tell_refusal(&self, row: &mut TickRow, ix: u32, frame: &Frame) {
        let Some(finding) = self.trace.findings.get(ix as usize) else { return };
        let Finding::Refusal(refusal) = finding else { return };
        let node = refusal.at;
        row.node = node.map(|n| n.index() as u32);
        row.src = refusal.src.map(|s| s as u8);
        row.inside = frame.inside.or(node).map(|n| n.index() as u32);
        let source =
            node.and_then(|n| self.graph().get(n)).and_then(|n| n.src().get(refusal.src?).copied());
        row.target = source.or(node).map(|n| n.index() as u32);
        let name = node.map_or_else(|| "the graph".to_owned(), |n| self.name(n).to_owned());
        row.title = format!("Refused at {name}");
        row.detail = finding.code().name().to_owned();
        if let (Reason::GradShape { expected, got }, Some(source)) = (&refusal.reason, source) {
            row.shapes = Some((got.dims().to_vec(), expected.dims().to_vec()));
            row.detail = format!(
                "the gradient for {} is {got} and {} is {expected}",
                self.name(source),
                self.name(source)
            );
        }
        let word = refusal.op.map_or("", |op| self.rules.op_name(op));
        let say = |id: NodeId| self.name(id).to_owned();
        row.sentence = refusal.reason.sentence(word, &name, refusal.src, &say);
    }
}

/// Frames in ascending order, folded once over the whole trace.
struct Frames<'a> {
    trace: &'a Trace,
    frame: Frame,
    at: usize,
}

impl Frames<'_> {
    fn at(&mut self, step: usize) -> &Frame {
        for event in self.trace.events.get(self.at..step).unwrap_or(&[]) {
            self.frame.apply(event);
        }
        self.at = self.at.max(step);
        &self.frame
    }
}

const fn glyph(kind: TickKind) -> TickGlyph {
    match kind {
        TickKind::Shape => TickGlyph::Shape,
        TickKind::Value => TickGlyph::Value,
        TickKind::Mark => TickGlyph::Mark,
        TickKind::Seed => TickGlyph::Seed,
        TickKind::Rule => TickGlyph::Rule,
        TickKind::Emit => TickGlyph::Emit,
        TickKind::Fold => TickGlyph::Fold,
        TickKind::FoldNoOp => TickGlyph::FoldNoOp,
        TickKind::Accumulate => TickGlyph::Accumulate,
        TickKind::Refusal => TickGlyph::Refusal,
    }
}

fn list(names: &[&str]) -> String {
    match names {
        [] => "Nothing".to_owned(),
        [one] => (*one).to_owned(),
        [head @ .., last] if names.len() <= 8 => format!("{} and {last}", head.join(", ")),
        _ => format!("{} nodes", names.len()),
    }
}

fn needs(names: &[&str]) -> String {
    format!("{} {}", list(names), if names.len() == 1 { "needs" } else { "need" })
}

fn it(names: &[&str]) -> &'static str {
    if names.len() == 1 { "it" } else { "them" }
}

fn reach(names: &[&str]) -> &'static str {
    if names.len() == 1 { "it reaches" } else { "they reach" }
}

/// The axes along which a smaller shape was stretched to a larger one, named as the larger node names them.
pub(super) fn stretched(
    graph: &Graph,
    small: Shape,
    large: Shape,
    named: NodeId,
) -> Vec<StretchRow> {
    let (s, l) = (small.padded(), large.padded());
    let mut out = Vec::new();
    for axis in 0..large.rank() {
        let at = MAX_RANK - large.rank() + axis;
        let lifted = axis + small.rank() < large.rank();
        if s[at] == l[at] && !(lifted && l[at] != 1) {
            continue;
        }
        let name = graph.get(named).and_then(|n| n.ty.axes.get(axis).copied().flatten());
        let name = name.map_or_else(|| format!("axis {axis}"), |n| graph.axis_name(n).to_owned());
        out.push(StretchRow { axis: axis as u8, name, from: s[at], to: l[at] });
    }
    out
}

/// For the first cells of the smaller shape, the flat places of the larger one that are its copies.
fn groups(large: Shape, small: Shape, most: usize) -> Vec<Vec<usize>> {
    let (l, s) = (large.padded().map(|d| d as usize), small.padded().map(|d| d as usize));
    let cells = (small.n_elements() as usize).min(most);
    let mut out = vec![Vec::new(); cells];
    for at in 0..(large.n_elements() as usize).min(PREVIEW) {
        let i =
            [at / (l[1] * l[2] * l[3]), (at / (l[2] * l[3])) % l[1], (at / l[3]) % l[2], at % l[3]];
        let cell = i.iter().zip(s).fold(0, |n, (i, d)| n * d + i % d.max(1));
        if let Some(group) = out.get_mut(cell) {
            group.push(at);
        }
    }
    out
}

fn unravel(shape: Shape, flat: usize) -> Vec<usize> {
    let mut rest = flat;
    let mut out = vec![0; shape.rank()];
    for axis in (0..shape.rank()).rev() {
        let d = shape.dim(axis).max(1) as usize;
        if let Some(slot) = out.get_mut(axis) {
            *slot = rest % d;
        }
        rest /= d;
    }
    out
}
