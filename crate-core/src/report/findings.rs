//! Words and fixes for findings: what, where, why, what next.

use super::ticks::stretched;
use super::words::number;
use super::{FindingRow, FixRow, SpanRow, Weight};
use crate::graph::{Graph, NodeId, NodeKind, Params};
use crate::lang::{Ast, Diagnostic, Span, edit};
use crate::ops::def::{Differs, How, Mend};
use crate::ops::{self, OpKind};
use crate::refusal::{Finding, Reason, Severity};
use crate::rules::{Broadcast, RuleSet};
use crate::tensor::Shape;

/// What the words and fixes are made from.
pub(super) struct Scene<'a> {
    pub(super) text: &'a str,
    pub(super) line_ends: &'a [u32],
    pub(super) ast: &'a Ast,
    pub(super) graph: &'a Graph,
    pub(super) rules: RuleSet,
    pub(super) names: &'a [String],
    pub(super) node_span: &'a dyn Fn(NodeId) -> Option<Span>,
    pub(super) operand_span: &'a dyn Fn(NodeId, usize) -> Option<Span>,
}

const fn weight(severity: Severity) -> Weight {
    match severity {
        Severity::Error => Weight::Error,
        Severity::Warning => Weight::Warning,
        Severity::Info => Weight::Info,
    }
}

fn row(span: Span) -> SpanRow {
    (span.start, span.end)
}

/// A message as a sentence: a capital first, unless it begins with a name.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    let named = message.split([' ', ':']).next().is_some_and(|w| w.contains(['_', '`', '.', '[']));
    let colon = message.split(' ').next().is_some_and(|w| w.ends_with(':'));
    if named || colon { message.to_owned() } else { format!("{first}{}", chars.as_str()) }
}

/// Where the lines of a text end. Findings are many in a long text, so none counts the lines before it.
pub(super) fn line_ends(text: &str) -> Vec<u32> {
    (0..).zip(text.bytes()).filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect()
}

impl Scene<'_> {
    /// The line of a byte, from 1.
    fn line_of(&self, at: u32) -> u32 {
        self.line_ends.partition_point(|end| *end < at) as u32 + 1
    }

    fn name(&self, id: NodeId) -> String {
        self.names.get(id.index()).cloned().unwrap_or_default()
    }

    /// A diagnostic of the text.
    pub(super) fn diagnostic(&self, d: &Diagnostic) -> FindingRow {
        if !crate::WHOLE {
            return FindingRow::default();
        }
        let about = d.about.as_ref();
        let op = about.and_then(|a| a.op);
        FindingRow {
            weight: weight(d.severity),
            code: d.code.name().to_owned(),
            stops: false,
            node: None,
            name: about.map(|a| a.node.clone()).unwrap_or_default(),
            op: op.map_or("", |op| op.def().name).to_owned(),
            word: op.map_or("", |op| self.rules.op_name(op)).to_owned(),
            src: about.and_then(|a| a.src).map(|s| s as u8),
            title: d.code.meaning().trim_end_matches('.').to_owned(),
            // A name keeps its case.
            message: match about {
                Some(about) if d.message.split(' ').next() == Some(about.node.as_str()) => {
                    d.message.clone()
                }
                _ => sentence(&d.message),
            },
            clash: None,
            clash_axes: Vec::new(),
            why: String::new(),
            next: d.code.what_next().to_owned(),
            cite: String::new(),
            span: Some(row(d.span)),
            line: Some(self.line_of(d.span.start)),
            fixes: d
                .fixes
                .iter()
                .map(|f| FixRow {
                    title: f.title.clone(),
                    note: String::new(),
                    changes_rules: false,
                    edits: f
                        .edits
                        .iter()
                        .map(|e| (e.span.start, e.span.end, e.text.clone()))
                        .collect(),
                })
                .collect(),
        }
    }

    /// Edits that make a finding of the build go away.
    pub(super) fn mends(&self, f: &Finding) -> Vec<FixRow> {
        match f {
            Finding::Refusal(r) => self.fixes(&r.reason, f.at(), f.src()),
            Finding::Hazard(_) => Vec::new(),
        }
    }

    /// A finding of the build, without its edits.
    pub(super) fn finding(&self, f: &Finding, stops: bool) -> FindingRow {
        let (at, src) = (f.at(), f.src());
        let node = at.and_then(|id| self.graph.get(id));
        let op = node.and_then(crate::graph::Node::op);
        let word = op.map_or("", |op| self.rules.op_name(op));
        let name = at.map(|id| self.name(id)).unwrap_or_default();
        let source = node.zip(src).and_then(|(n, ix)| n.src().get(ix).copied());
        let operand = at.zip(src).and_then(|(id, ix)| (self.operand_span)(id, ix));
        let span = operand.or_else(|| at.and_then(|id| (self.node_span)(id)));
        let say = |id: NodeId| self.name(id);
        let mut out = FindingRow {
            weight: weight(f.severity()),
            code: f.code().name().to_owned(),
            stops,
            node: at.map(|id| id.index() as u32),
            name: name.clone(),
            op: op.map_or("", |op| op.def().name).to_owned(),
            word: word.to_owned(),
            src: src.map(|s| s as u8),
            title: f.code().meaning().trim_end_matches('.').to_owned(),
            message: String::new(),
            clash: None,
            clash_axes: Vec::new(),
            why: String::new(),
            next: f.code().what_next().to_owned(),
            cite: String::new(),
            span: span.map(row),
            line: span.map(|s| self.line_of(s.start)),
            fixes: Vec::new(),
        };
        match f {
            Finding::Hazard(h) => out.message = h.kind.sentence(word, &name),
            Finding::Refusal(r) => {
                out.message = r.reason.sentence(word, &name, src, &say);
                self.explain(&mut out, &r.reason, word, &name, source);
                if let Some(op) = op {
                    out.cite =
                        difference(self.rules, op).map(|d| d.cite.to_owned()).unwrap_or_default();
                }
            }
        }
        out
    }

    fn explain(
        &self,
        out: &mut FindingRow,
        reason: &Reason,
        word: &str,
        name: &str,
        source: Option<NodeId>,
    ) {
        let source_name = source.map_or_else(|| "the operand".to_owned(), |s| self.name(s));
        match reason {
            Reason::GradShape { expected, got } => {
                let named = out.node.and_then(|n| NodeId::at(n as usize)).or(source);
                self.clash(out, *got, *expected, named);
                let along =
                    named.map(|n| stretched(self.graph, *expected, *got, n)).unwrap_or_default();
                if let [first, rest @ ..] = along.as_slice() {
                    let mut more = String::new();
                    for a in rest {
                        more.push_str(&format!(" and {}, {} to {}", a.name, a.from, a.to));
                    }
                    let n: u64 = along.iter().map(|a| u64::from(a.to / a.from.max(1))).product();
                    out.title = format!("{word} cannot send a gradient to a stretched operand");
                    out.why = format!(
                        "Going forward, {source_name} was stretched along {}, {} to {}{more}. Going back, those {n} cells must be summed, and the {word} rule of {} does not sum them.",
                        first.name,
                        first.from,
                        first.to,
                        self.rules.name()
                    );
                } else {
                    out.title = format!("{word} sends a gradient of another shape");
                    out.why = format!(
                        "A gradient has exactly the shape of its tensor: {expected} for {source_name}."
                    );
                }
            }
            Reason::NoRule(_) => {
                out.title = format!("{word} has no backward");
                out.why = format!(
                    "The loss depends on {name}, and the leaves behind {name} train. Without a rule for {word} no gradient reaches them."
                );
            }
            _ if !crate::WHOLE => {}
            Reason::AccumulatorShape { expected, got }
            | Reason::CotangentShape { expected, got } => {
                self.clash(out, *got, *expected, out.node.and_then(|n| NodeId::at(n as usize)));
                out.title = format!("A gradient of {name} cannot start from another shape");
                out.why =
                    "Contributions are added to it cell by cell, so both must have the same cells."
                        .to_owned();
            }
            Reason::NotBroadcastable { a, b } | Reason::FirstWouldStretch { a, b } => {
                self.clash(out, *a, *b, None);
                out.why = match self.rules.broadcast() {
                    Broadcast::Tile => "The second operand is tiled: each of its extents must divide the first's, aligned at the last axis.",
                    Broadcast::TwoSided => "Extents are aligned at the last axis; each pair must be equal, or one of them 1.",
                }
                .to_owned();
            }
            Reason::LossNotScalar { got } => {
                out.title = "Backward starts from one number".to_owned();
                out.why = format!(
                    "{name} has {} elements; each would have gradients of its own.",
                    got.n_elements()
                );
            }
            Reason::Overwritten { .. } | Reason::InPlace => {
                out.title = format!("{word} writes over a value that is still needed");
                out.why = "A rule that reads the old value after the write would read the new one, and its gradient would be wrong.".to_owned();
            }
            Reason::SrcDtype { got } => {
                out.title = format!("{name} stores {got}");
                out.why = "A gradient is a slope, and whole numbers have none.".to_owned();
            }
            Reason::GradNotContiguous(_) => {
                out.title = format!("{word} does not take a transposed gradient");
                out.why = "Going back through a transpose or a permutation, the gradient keeps its place in memory and only its strides change.".to_owned();
            }
            Reason::GradNotScalar { .. } => {
                out.title = format!("{word} cannot join an earlier gradient");
                out.why = format!(
                    "{source_name} is used more than once. {word} sends its gradient through ADD1, which takes one number for all cells."
                );
            }
            _ => {}
        }
    }

    fn clash(&self, out: &mut FindingRow, sent: Shape, wanted: Shape, named: Option<NodeId>) {
        out.clash = Some((sent.dims().to_vec(), wanted.dims().to_vec()));
        let rank = sent.rank().max(wanted.rank());
        let node = named.and_then(|n| self.graph.get(n));
        out.clash_axes = (0..rank)
            .map(|axis| {
                let name = node.and_then(|n| {
                    n.ty.axes.get((axis + n.ty.shape.rank()).checked_sub(rank)?).copied().flatten()
                });
                name.map(|n| self.graph.axis_name(n).to_owned()).unwrap_or_default()
            })
            .collect();
    }

    fn fixes(&self, reason: &Reason, at: Option<NodeId>, src: Option<usize>) -> Vec<FixRow> {
        let mut out = Vec::new();
        let node = at.and_then(|id| self.graph.get(id));
        let span = at.and_then(|id| (self.node_span)(id));
        if let (Some(id), Some(NodeKind::Op { op, params, .. })) = (at, node.map(|n| &n.kind)) {
            let applies = matches!(
                reason,
                Reason::GradShape { .. }
                    | Reason::NoRule(_)
                    | Reason::GradNotScalar { .. }
                    | Reason::NotThisForm(_)
            );
            if let Some(differs) = difference(self.rules, *op).filter(|_| applies) {
                out.extend(differs.mends.iter().filter_map(|m| self.mend(m, id, *op, params)));
            }
        }
        let stop = ops::STOP.def().name;
        match reason {
            Reason::GradShape { .. } | Reason::NoContribution | Reason::GradNotScalar { .. } => {
                let operand = at.zip(src).and_then(|(id, ix)| (self.operand_span)(id, ix));
                out.extend(
                    operand.map(|s| self.wrap(s, stop, "No gradient flows to this operand.")),
                );
            }
            Reason::NoRule(_) | Reason::NotThisForm(_) => {
                out.extend(
                    span.map(|s| self.wrap(s, stop, "No gradient flows through this node.")),
                );
            }
            _ if !crate::WHOLE => {}
            Reason::Overwritten { .. } | Reason::InPlace => {
                let bang = span.and_then(|s| {
                    let at = s.start + s.of(self.text).find("!(")? as u32;
                    Some(Span::new(at, at + 1))
                });
                out.extend(bang.map(|s| {
                    fix(
                        "without !",
                        "The result gets storage of its own.",
                        vec![(s.start, s.end, String::new())],
                    )
                }));
            }
            Reason::LossNotScalar { .. } => {
                let total = ops::TOTAL.def().name;
                out.extend(
                    span.map(|s| self.wrap(s, total, "One number: the sum of all elements.")),
                );
            }
            Reason::SrcDtype { .. } => out.extend(at.and_then(|id| self.as_const(id))),
            _ => {}
        }
        let other = match reason {
            Reason::FirstWouldStretch { .. } if crate::WHOLE => Some(RuleSet::Numpy),
            // What is wrong under every rule set stays wrong when the rules change.
            Reason::AccumulatorShape { .. }
            | Reason::CotangentShape { .. }
            | Reason::LossNotScalar { .. }
            | Reason::InPlace
            | Reason::Budget { .. } => None,
            Reason::SrcDtype { .. } if src.is_none() => None,
            _ if self.rules == RuleSet::Upstream && at.is_some() => Some(RuleSet::Ggml),
            _ => None,
        };
        if let Some(rules) = other {
            let e = edit::set_rules(self.text, self.ast, rules.name());
            out.push(FixRow {
                changes_rules: true,
                ..fix(
                    &format!("rules {}", rules.name()),
                    rules.says(),
                    vec![(e.span.start, e.span.end, e.text)],
                )
            });
        }
        out
    }

    fn wrap(&self, span: Span, call: &str, note: &str) -> FixRow {
        let text = format!("{call}({})", span.of(self.text));
        fix(&text, note, vec![(span.start, span.end, text.clone())])
    }

    /// `param` becomes `const` on the line that defines a leaf.
    fn as_const(&self, id: NodeId) -> Option<FixRow> {
        let statement = self.ast.definition(&self.name(id))?;
        let head = statement.span.of(self.text);
        let word = head.split_whitespace().next().filter(|w| *w == "param")?;
        let span = Span::new(statement.span.start, statement.span.start + word.len() as u32);
        Some(fix(
            "const",
            "The leaf does not train.",
            vec![(span.start, span.end, "const".to_owned())],
        ))
    }

    /// The rewriting of a node that a row offers, as an edit.
    fn mend(&self, mend: &Mend, id: NodeId, op: OpKind, params: &Params) -> Option<FixRow> {
        let specs = op.def().params;
        let value = |name: &str| {
            let ix = specs.iter().position(|p| p.name == name)?;
            params.num(ix).filter(|x| x.is_finite()).map(|x| number(x).replace('−', "-"))
        };
        if mend.without.iter().any(|p| value(p).is_some()) {
            return None;
        }
        let whole = (self.node_span)(id)?;
        let span = match mend.replaces {
            Some(ix) => (self.operand_span)(id, ix)?,
            None => whole,
        };
        let mut text = String::new();
        let mut rest = mend.text;
        while let Some((before, after)) = rest.split_once('{') {
            let (hole, tail) = after.split_once('}')?;
            text.push_str(before);
            match hole.parse::<usize>() {
                Ok(ix) => {
                    let operand = (self.operand_span)(id, ix)?.of(self.text);
                    // Beside another sign an operand of several parts needs its brackets.
                    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_.()[],".contains(&b);
                    let bare = operand.bytes().all(plain);
                    let alone = text.ends_with('(')
                        && (tail.starts_with(')') || tail.starts_with(','))
                        || text.ends_with(", ") && tail.starts_with(')');
                    let operand =
                        if bare || alone { operand.to_owned() } else { format!("({operand})") };
                    text.push_str(&operand);
                }
                Err(_) => text.push_str(&value(hole)?),
            }
            rest = tail;
        }
        text.push_str(rest);
        let nested = self.name(id).contains('.');
        if nested && mend.replaces.is_none() {
            text = format!("({text})");
        }
        let title = if mend.replaces.is_some() {
            // The chip shows the whole node as it will stand.
            let before = Span::new(whole.start, span.start).of(self.text);
            let after = Span::new(span.end, whole.end).of(self.text);
            format!("{before}{text}{after}")
        } else {
            text.clone()
        };
        Some(fix(&title, mend.note, vec![(span.start, span.end, text)]))
    }
}

fn fix(title: &str, note: &str, edits: Vec<(u32, u32, String)>) -> FixRow {
    const SHOWN: usize = 200;
    let mut short: String = title.chars().take(SHOWN).collect();
    if short.len() < title.len() {
        short.push('…');
    }
    FixRow { title: short, note: note.to_owned(), changes_rules: false, edits }
}

/// What these rules do differently in an op's row.
fn difference(rules: RuleSet, op: OpKind) -> Option<&'static Differs> {
    let refuses = |d: &&Differs| {
        matches!(d.how, How::NoBackward(_) | How::Unfolded(_) | How::Rule(_) | How::Wrong(_))
    };
    op.def().differs.iter().find(|d| d.rules == rules && refuses(d))
}
