//! The trace as lines of text, one an event, for golden files and for whoever reads a log.
//! Deliberately absent: advice. The stepper's sentences teach; these state.

use super::Analysis;
use super::words::{number, single};
use crate::graph::{Node, NodeId};
use crate::ops::OpKind;
use crate::tensor::DType;
use crate::trace::{Accum, Author, Event, Skip, Why};

/// The most elements that a line prints.
const SHOWN: usize = 8;

impl Analysis {
    /// One line an event, with the names, shapes and f32 values of what it is about.
    pub fn log(&self) -> Vec<String> {
        self.trace.events.iter().map(|event| self.line(event)).collect()
    }

    fn line(&self, event: &Event) -> String {
        let name = |id: NodeId| self.name(id);
        match *event {
            Event::Shaped { node } => format!("shape    {} {}", name(node), self.ty(node)),
            Event::Evaluated { node } => format!("value    {}", self.equation(node)),
            Event::Marked { node, why } => {
                let why = match why {
                    Why::Param => "it trains".to_owned(),
                    Why::Loss => "backward starts here".to_owned(),
                    Why::Via(src) => format!("through source {src}"),
                };
                format!("need     {}: {why}", name(node))
            }
            Event::Skipped { node, why } => {
                let why = match why {
                    Skip::NoParam => "nothing trainable reaches it",
                    Skip::NoLoss => "it does not reach the loss",
                    Skip::NotFloat => "it is no float",
                };
                format!("skip     {}: {why}", name(node))
            }
            Event::Supplied { node, grad } => {
                format!("supply   {} for {}", self.equation(grad), name(node))
            }
            Event::Seeded { node, grad } => {
                format!("seed     {} for {}", self.equation(grad), name(node))
            }
            Event::Entered { node, grad } => {
                let op = self.node(node).and_then(Node::op).map_or("", |op| OpKind::def(op).name);
                format!("enter    {op} at {} with {}", name(node), name(grad))
            }
            Event::Emitted { node, by } => {
                let by = match by {
                    Author::Seed => "the seed".to_owned(),
                    Author::Accumulator { of } => format!("the accumulator of {}", name(of)),
                    Author::Rule { of } => format!("the rule of {}", name(of)),
                    Author::Fold { of, src } => format!("the fold of {}, source {src}", name(of)),
                    Author::Accumulate { of, src } => {
                        format!("the sum of {}, source {src}", name(of))
                    }
                };
                format!("emit     {} by {by}", self.equation(node))
            }
            Event::Folded { from, to, into } if from == to => {
                format!("fold     {} for {}: nothing to do", name(from), name(into))
            }
            Event::Folded { from, to, into } => format!(
                "fold     {} {} to {} {} for {}",
                name(from),
                self.ty(from),
                name(to),
                self.ty(to),
                name(into)
            ),
            Event::Contributed { into, by, src, via, before, after } => {
                let via = if via == Accum::Add1 { ", one number to all" } else { "" };
                let had = before.map_or_else(|| "nothing".to_owned(), name);
                format!(
                    "send     {} to {} through {}, source {src}{via}: had {had}",
                    name(after),
                    name(into),
                    name(by)
                )
            }
            Event::Left { node } => format!("leave    {}", name(node)),
            Event::Flagged(ix) => format!("warn     {}", self.finding(ix)),
            Event::Refused(ix) => format!("refuse   {}", self.finding(ix)),
            Event::Finished => "finish".to_owned(),
        }
    }

    fn node(&self, id: NodeId) -> Option<&Node> {
        self.trace.graph.get(id)
    }

    fn name(&self, id: NodeId) -> String {
        self.report.nodes.get(id.index()).map(|row| row.name.clone()).unwrap_or_default()
    }

    fn ty(&self, id: NodeId) -> String {
        self.node(id).map(|n| format!("{} {}", n.ty.dtype, n.ty.shape)).unwrap_or_default()
    }

    /// `y = w / c = [0.6, 0.4]`.
    fn equation(&self, id: NodeId) -> String {
        let values = self.values.read_f64(&self.trace.graph, id);
        let whole = self.node(id).is_some_and(|n| n.ty.dtype == DType::I32);
        let digits = if whole { number } else { single };
        let shown: Vec<String> = values.iter().take(SHOWN).map(|x| digits(*x)).collect();
        let more =
            if values.len() > SHOWN { format!(", … {}", values.len()) } else { String::new() };
        let formula =
            self.report.nodes.get(id.index()).map(|row| row.formula.clone()).unwrap_or_default();
        format!("{} = {formula} = [{}{more}]", self.name(id), shown.join(", "))
    }

    /// The finding of an event: the trace's own, in the report's words.
    fn finding(&self, ix: u32) -> String {
        let Some(finding) = self.trace.findings.get(ix as usize) else { return String::new() };
        let at = finding.at().map(|id| format!(" at {}", self.name(id))).unwrap_or_default();
        let src = finding.src().map(|s| format!(", source {s}")).unwrap_or_default();
        format!("{}{at}{src}", finding.code())
    }
}
