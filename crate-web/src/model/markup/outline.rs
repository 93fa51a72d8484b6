//! The nodes as a list: the graph for those who do not look at pictures, and a table of contents for the rest.

use foldback::report::{NodeRow, Report, Role, TickGlyph, TickRow};

use super::{Html, shape};
use crate::model::reduce::Run;
use crate::model::view::View;

/// How far a node's gradient is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    NoneNeeded,
    NotYet,
    NotReached,
    Partial(usize, usize),
    Ready,
    Seed,
    Refused,
}

/// One button a forward node, with its gradient's state at the step shown.
pub fn outline(run: &Run, view: &View) -> String {
    let mut html = Html::new();
    let Some(report) = run.report() else { return html.done() };
    let tick = run.timeline.picture(view.step).and_then(|step| run.timeline.tick(step));
    let inspected = run.inspected(view).map(|ix| match report.nodes.get(ix as usize) {
        // A gradient is listed under the node that it is of.
        Some(node) if ix >= report.n_forward => node.into.or(node.of).unwrap_or(ix),
        _ => ix,
    });
    for (ix, node) in report.nodes.iter().enumerate().take(report.n_forward as usize) {
        if node.role == Role::Inline {
            continue;
        }
        let status = status(report, tick, ix as u32, node);
        let (icon, tone) = match status {
            Status::NoneNeeded => ("minus", "ink3"),
            Status::NotYet | Status::NotReached => ("wait", "ink3"),
            Status::Partial(..) => ("half", "t-bw"),
            Status::Ready | Status::Seed => ("check", "t-bw"),
            Status::Refused => ("cross", "t-refuse"),
        };
        html.raw("<li><button data-do=\"select ").int(ix).raw("\" data-key=\"o").int(ix).raw("\"");
        html.raw(if inspected == Some(ix as u32) { " aria-current=\"true\">" } else { ">" });
        html.raw("<span class=\"")
            .raw(tone)
            .raw("\">")
            .icon(icon)
            .raw("</span><span class=\"nm\">");
        html.text(&node.name).raw("</span><span class=\"op\">").text(&node.word);
        html.raw("<span class=\"vh\">, shape ")
            .text(&shape(&node.shape))
            .raw(inputs(report, node).as_str());
        html.raw(", gradient </span></span><span class=\"st\">");
        match status {
            Status::NoneNeeded if node.dtype == "open" => html.raw("open"),
            Status::NoneNeeded => html.raw("none needed"),
            Status::NotYet => html.raw("not yet"),
            Status::NotReached => html.raw("not reached"),
            Status::Partial(done, all) => html.int(done).raw(" of ").int(all).raw(" paths"),
            Status::Ready => html.raw("ready"),
            Status::Seed => html.raw("seed"),
            Status::Refused => html.raw("refused"),
        };
        html.raw("</span></button></li>");
    }
    html.done()
}

fn inputs(report: &Report, node: &NodeRow) -> String {
    let names: Vec<&str> = node
        .src
        .iter()
        .filter_map(|ix| report.nodes.get(*ix as usize))
        .map(|source| source.name.as_str())
        .collect();
    let mut html = Html::new();
    if !names.is_empty() {
        html.raw(", from ").text(&names.join(" and "));
    }
    html.done()
}

fn status(report: &Report, tick: Option<&TickRow>, ix: u32, node: &NodeRow) -> Status {
    let n_nodes = tick.map_or(0, |tick| tick.n_nodes);
    let at_refusal = tick.is_some_and(|tick| tick.kind == TickGlyph::Refusal);
    if !report.needed.get(ix as usize).copied().unwrap_or(false) {
        return if report.needed.is_empty() && node.role != Role::Const {
            Status::NotYet
        } else {
            Status::NoneNeeded
        };
    }
    if at_refusal && tick.and_then(|tick| tick.target.or(tick.node)) == Some(ix) {
        return Status::Refused;
    }
    let (done, all) = paths(report, ix, n_nodes);
    let built = report.grads.get(ix as usize).copied().flatten().is_some_and(|grad| grad < n_nodes);
    match (built, done) {
        _ if report.loss == Some(ix) && built => Status::Seed,
        (_, 1..) if done < all => Status::Partial(done, all),
        (true, _) => Status::Ready,
        _ if at_refusal => Status::NotReached,
        _ => Status::NotYet,
    }
}

/// How many of a node's consumers have sent their part of its gradient, and how many will.
fn paths(report: &Report, ix: u32, n_nodes: u32) -> (usize, usize) {
    let forward = report.nodes.get(..report.n_forward as usize).unwrap_or(&[]);
    let gradients = report.nodes.get(report.n_forward as usize..n_nodes as usize).unwrap_or(&[]);
    let (mut done, mut all) = (0, 0);
    for (of, consumer) in forward.iter().enumerate() {
        for (src, _) in consumer.src.iter().enumerate().filter(|(_, source)| **source == ix) {
            if consumer.sends.get(src).is_none_or(String::is_empty)
                || !report.needed.get(of).copied().unwrap_or(false)
            {
                continue;
            }
            all += 1;
            // The part has arrived once it has the node's shape.
            let shape = report.nodes.get(ix as usize).map(|node| &node.shape);
            let arrived = gradients.iter().any(|gradient| {
                gradient.of == Some(of as u32)
                    && gradient.of_src == Some(src as u8)
                    && gradient.into == Some(ix)
                    && Some(&gradient.shape) == shape
            });
            done += usize::from(arrived);
        }
    }
    (done, all)
}
