//! `trace`: how the graphs are built and evaluated, step by step.
//! Deliberately absent: a step's picture. The page draws it.

use foldback::report::{TickRow, json};

use crate::Status;
use crate::cx::{Cx, Stop};
use crate::input::Input;
use crate::judge::summary;

pub(crate) fn trace(cx: &mut Cx, input: &Input) -> Result<Status, Stop> {
    let progress = cx.begin(input);
    let analysis = input.analyse();
    drop(progress);
    let report = &analysis.report;
    let status = analysis.status(None, None);
    if cx.json {
        let node = |ix: Option<u32>| {
            let name = ix.and_then(|ix| report.nodes.get(ix as usize)).map(|n| n.name.as_str());
            name.map_or_else(|| "null".to_owned(), json::string)
        };
        let step = |tick: &TickRow| {
            let src = tick.src.map_or_else(|| "null".to_owned(), |s| s.to_string());
            json::object([
                ("kind", json::string(tick.kind.name())),
                ("node", node(tick.node)),
                ("target", node(tick.target)),
                ("inside", node(tick.inside)),
                ("src", src),
                ("title", json::string(&tick.title)),
                ("detail", json::string(&tick.detail)),
                ("sentence", json::string(&tick.sentence)),
            ])
        };
        cx.stream(|out| {
            write!(out, "{{\"file\":{},", json::string(&input.name))?;
            write!(out, "\"rules\":{},\"nodes\":", json::string(&report.rules))?;
            out.write_str(&json::list(&report.nodes, |n| {
                json::object([
                    ("name", json::string(&n.name)),
                    ("op", json::text(&n.op)),
                    ("formula", json::string(&n.formula)),
                    ("shape", json::list(&n.shape, u32::to_string)),
                    ("dtype", json::string(&n.dtype)),
                    ("src", json::list(&n.src, |s| node(Some(*s)))),
                    ("of", node(n.of)),
                ])
            }))?;
            write!(out, ",\"steps\":{}", json::list(&report.ticks, step))?;
            out.write_str(",\"events\":")?;
            json::events(&analysis, out)?;
            write!(out, ",\"findings\":{}}}", json::findings(&report.findings))
        })?;
        cx.line("")?;
        return Ok(status);
    }
    cx.line(&summary(&input.name, report))?;
    let width = report.ticks.len().to_string().len();
    for (ix, tick) in report.ticks.iter().enumerate() {
        let detail = if tick.detail.is_empty() { "" } else { ": " };
        cx.line(&format!("{:>width$}  {}{detail}{}", ix + 1, tick.title, tick.detail))?;
        if !tick.sentence.is_empty() {
            cx.line(&format!("{:>width$}  {}", "", tick.sentence))?;
        }
    }
    cx.aside(input, &report.findings)?;
    Ok(status)
}
