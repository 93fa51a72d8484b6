//! The events of a trace as JSON: what happened, by name.
//! Deliberately absent: values and sentences; the nodes and the steps beside them have those.

use std::fmt::{self, Write};

use super::{each, list, null, object, string};
use crate::graph::NodeId;
use crate::report::Analysis;
use crate::trace::{Accum, Author, Event, Skip, Why};

/// One object an event, in order.
pub fn events(analysis: &Analysis, out: &mut dyn Write) -> fmt::Result {
    out.write_char('[')?;
    each(out, &analysis.trace.events, |out, e| out.write_str(&event(analysis, e)))?;
    out.write_char(']')
}

fn event(analysis: &Analysis, event: &Event) -> String {
    let node = |id: NodeId| {
        string(analysis.report.nodes.get(id.index()).map_or("", |row| row.name.as_str()))
    };
    let made = |kind: &str, entries: &[(&str, String)]| {
        let first = ("event", string(kind));
        object(std::iter::once(first).chain(entries.iter().cloned()))
    };
    match *event {
        Event::Shaped { node: n } => made("shaped", &[("node", node(n))]),
        Event::Evaluated { node: n } => made("evaluated", &[("node", node(n))]),
        Event::Marked { node: n, why } => {
            let (why, src) = match why {
                Why::Param => ("param", null()),
                Why::Loss => ("loss", null()),
                Why::Via(src) => ("source", src.to_string()),
            };
            made("marked", &[("node", node(n)), ("why", string(why)), ("src", src)])
        }
        Event::Skipped { node: n, why } => {
            let why = match why {
                Skip::NoParam => "no-param",
                Skip::NoLoss => "no-loss",
                Skip::NotFloat => "not-float",
            };
            made("skipped", &[("node", node(n)), ("why", string(why))])
        }
        Event::Supplied { node: n, grad } => {
            made("supplied", &[("node", node(n)), ("grad", node(grad))])
        }
        Event::Seeded { node: n, grad } => {
            made("seeded", &[("node", node(n)), ("grad", node(grad))])
        }
        Event::Entered { node: n, grad } => {
            made("entered", &[("node", node(n)), ("grad", node(grad))])
        }
        Event::Emitted { node: n, by } => {
            let (by, of, src) = match by {
                Author::Seed => ("seed", null(), null()),
                Author::Accumulator { of } => ("accumulator", node(of), null()),
                Author::Rule { of } => ("rule", node(of), null()),
                Author::Fold { of, src } => ("fold", node(of), src.to_string()),
                Author::Accumulate { of, src } => ("accumulate", node(of), src.to_string()),
            };
            made("emitted", &[("node", node(n)), ("by", string(by)), ("of", of), ("src", src)])
        }
        Event::Folded { from, to, into } => {
            made("folded", &[("from", node(from)), ("to", node(to)), ("into", node(into))])
        }
        Event::Contributed { into, by, src, via, before, after } => made(
            "contributed",
            &[
                ("into", node(into)),
                ("by", node(by)),
                ("src", src.to_string()),
                ("repeated", (via == Accum::Add1).to_string()),
                ("before", before.map_or_else(null, node)),
                ("after", node(after)),
            ],
        ),
        Event::Left { node: n } => made("left", &[("node", node(n))]),
        Event::Flagged(ix) => made("flagged", &found(analysis, ix, &node)),
        Event::Refused(ix) => made("refused", &found(analysis, ix, &node)),
        Event::Finished => made("finished", &[]),
    }
}

/// The finding of an event.
fn found(
    analysis: &Analysis,
    ix: u32,
    node: &dyn Fn(NodeId) -> String,
) -> Vec<(&'static str, String)> {
    let Some(finding) = analysis.trace.findings.get(ix as usize) else { return Vec::new() };
    vec![
        ("code", string(finding.code().name())),
        ("node", finding.at().map_or_else(null, node)),
        ("src", finding.src().map_or_else(null, |s| s.to_string())),
    ]
}

/// A list of texts.
pub fn strings<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    list(all, string)
}
