//! The path ledger: what each consumer of a node sends it. The rows add up to the gradient; one that is left out
//! shows the wrong answer.

use foldback::graph::NodeId;
use foldback::report::{NodeRow, Report};
use foldback::trace::Event;

use self::hops::Hops;
use super::training::index;
use super::{Opened, numbers, said};
use crate::model::markup::inspect::hue;
use crate::model::markup::{Html, named_shape, shape};
use crate::model::number::short;
use crate::model::timeline::entry;

mod hops;

/// The most elements of a row that are printed.
const PRINTED: usize = 8;

/// What one consumer sends, through one of its operands.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sent {
    /// The consumer; none where the gradient was given or begins here.
    from: Option<u32>,
    /// Which of its operands.
    src: Option<u8>,
    /// The node of its contribution, as it is added.
    node: u32,
    /// Its elements.
    pub(super) values: Vec<f64>,
}

pub(super) fn panel(opened: &Opened, node: Option<u32>, args: &str) -> String {
    let report = opened.report();
    let Some((ix, node)) = node.and_then(|ix| forward(report, ix)) else {
        return "<div class=\"empty\"><h3>No node is selected</h3><p class=\"prose\">Select a node of the graph to see what each of its consumers sends back to it.</p></div>".to_owned();
    };
    // What was left out of another node says nothing of this one.
    let of = said(args, "of").and_then(|n| n.parse().ok());
    let without = if of == Some(ix) {
        said(args, "without").map(numbers).unwrap_or_default()
    } else {
        Vec::new()
    };
    let open = if of == Some(ix) { said(args, "open").unwrap_or_default() } else { "" };
    let shown = Shown { of: ix, without, open: open.split(',').collect() };
    let (sent, hops) = (ledger(opened, ix), Hops::of(opened));
    let mut html = Html::new();
    html.raw("<div class=\"compare\"><p class=\"what\"><span class=\"shape fwg\">")
        .text(&node.name);
    html.raw(" ").text(&named_shape(&node.shape, &node.axes)).raw("</span>");
    html.raw(match sent.len() {
        0 => "no gradient comes back to it at the end of this build",
        1 => "one gradient comes back to it",
        _ => "several gradients come back to it, and add up",
    });
    html.raw("</p>");
    if sent.is_empty() {
        html.raw("</div>");
        return html.done();
    }
    html.raw("<div class=\"scroll\"><table class=\"chk ledger\"><thead><tr><th scope=\"col\">count</th><th scope=\"col\">from</th><th scope=\"col\">through</th><th scope=\"col\">contribution</th>");
    heads(&mut html, node);
    html.raw("</tr></thead><tbody>");
    for (at, row) in sent.iter().enumerate() {
        line(&mut html, opened, &shown, &hops, row, at);
    }
    sums(&mut html, &sent, &shown.without);
    html.raw("</tbody></table></div>");
    if shown.without.is_empty() {
        html.raw("<p class=\"note\">Untick a row to see the gradient that a build without it would have. Shapes would not tell.</p>");
    } else {
        html.raw("<p class=\"note\"><button class=\"btn line\" data-do=\"tell\">Count all again</button></p>");
    }
    hops::all(&mut html, opened, &hops, ix);
    html.raw("</div>");
    html.done()
}

/// What of a ledger is shown how.
struct Shown<'a> {
    of: u32,
    /// The rows that are not counted.
    without: Vec<usize>,
    /// The rows that are open, by their way from the top: `0`, `0.1`.
    open: Vec<&'a str>,
}

impl Shown<'_> {
    fn is_open(&self, at: &str) -> bool {
        self.open.contains(&at)
    }

    /// The command that shows it so.
    fn tell(&self, without: &[usize], open: &[&str]) -> String {
        let without: Vec<String> = without.iter().map(usize::to_string).collect();
        format!("tell of={} without={} open={}", self.of, without.join(","), open.join(","))
    }

    /// The command that opens a row, or closes it with all beneath it.
    fn toggled(&self, at: &str) -> String {
        let beneath = [at, "."].concat();
        let mut open: Vec<&str> = self.open.iter().copied().filter(|o| !o.is_empty()).collect();
        if self.is_open(at) {
            open.retain(|other| *other != at && !other.starts_with(&beneath));
        } else {
            open.push(at);
        }
        self.tell(&self.without, &open)
    }
}

/// The forward node that a node is, or whose gradient it is.
fn forward(report: &Report, ix: u32) -> Option<(u32, &NodeRow)> {
    let node = report.nodes.get(ix as usize)?;
    if ix < report.n_forward {
        return Some((ix, node));
    }
    let into = node.into?;
    Some((into, report.nodes.get(into as usize)?))
}

/// What each consumer sends a node, in the order in which it arrives: as the trace has it.
pub(super) fn ledger(opened: &Opened, ix: u32) -> Vec<Sent> {
    let mut out: Vec<Sent> = Vec::new();
    let own = |id: NodeId| id.index() as u32;
    let mut folded = None;
    for event in &opened.analysis.trace.events {
        match *event {
            Event::Supplied { node, grad } | Event::Seeded { node, grad } if own(node) == ix => {
                let values = opened.elements(own(grad));
                out.push(Sent { from: None, src: None, node: own(grad), values });
            }
            Event::Folded { to, into, .. } if own(into) == ix => folded = Some(own(to)),
            Event::Contributed { into, by, src, before, after, .. } if own(into) == ix => {
                let node = folded.take().unwrap_or_else(|| own(after));
                let mut values = opened.elements(node);
                // One that is added where it is made has no node of its own.
                if let Some(before) = before.filter(|_| node == own(after)) {
                    let before = opened.elements(own(before));
                    values.iter_mut().zip(before).for_each(|(x, before)| *x -= before);
                }
                out.push(Sent { from: Some(own(by)), src: Some(src), node, values });
            }
            _ => {}
        }
    }
    out
}

fn heads(html: &mut Html, node: &NodeRow) {
    let n = node.n_elements.min(PRINTED as u64) as usize;
    for flat in 0..n {
        html.raw("<th scope=\"col\">").text(&entry("", &index(&node.shape, flat))).raw("</th>");
    }
    if node.n_elements as usize > PRINTED {
        html.raw("<th scope=\"col\">…</th>");
    }
}

fn cells(html: &mut Html, values: &[f64]) {
    for x in values.iter().take(PRINTED) {
        html.raw("<td>").text(&short(*x, 5)).raw("</td>");
    }
    if values.len() > PRINTED {
        html.raw("<td class=\"na\">+").int(values.len() - PRINTED).raw(" more</td>");
    }
}

fn line(html: &mut Html, opened: &Opened, shown: &Shown<'_>, hops: &Hops, row: &Sent, at: usize) {
    let report = opened.report();
    let out = shown.without.contains(&at);
    let mut after: Vec<usize> = shown.without.iter().copied().filter(|ix| *ix != at).collect();
    if !out {
        after.push(at);
        after.sort_unstable();
    }
    html.raw(if out { "<tr class=\"left-out\"><td class=\"v\">" } else { "<tr><td class=\"v\">" });
    html.raw("<button class=\"tickbox\" role=\"checkbox\" aria-checked=\"");
    html.raw(if out { "false" } else { "true" })
        .raw("\" aria-label=\"Count this row\" data-key=\"row");
    html.int(at).raw("\" data-do=\"").text(&shown.tell(&after, &shown.open)).raw("\">");
    if !out {
        html.icon("check");
    }
    html.raw("</button></td>");
    let consumer = row.from.and_then(|ix| report.nodes.get(ix as usize));
    let contribution = report.nodes.get(row.node as usize);
    match (consumer, row.from) {
        (Some(consumer), Some(from)) => {
            html.raw("<td class=\"v\"><button class=\"link\" data-do=\"select ").int(from as usize);
            html.raw("\">").text(&consumer.name).raw("</button> <span class=\"ink3\">");
            html.text(&consumer.formula).raw("</span></td><td class=\"v\">source ");
            html.int(usize::from(row.src.unwrap_or(0)) + 1);
            // One hop further: what this consumer's own gradient is made of.
            html.raw(", ");
            hops::opener(html, shown, &at.to_string(), hops.n_parts(from));
            html.raw("</td>");
        }
        _ => {
            _ = html
                .raw("<td class=\"v\">given</td><td class=\"v\">the seed, or an accumulator</td>");
        }
    }
    html.raw("<td class=\"v\">");
    if let Some(node) = contribution {
        html.raw("<code class=\"").raw(hue(node)).raw("\">").text(&node.name).raw("</code> = ");
        html.text(&node.formula)
            .raw(" <span class=\"ink3\">")
            .text(&shape(&node.shape))
            .raw("</span>");
    }
    html.raw("</td>");
    cells(html, &row.values);
    html.raw("</tr>");
    let way = at.to_string();
    if let Some(from) = row.from.filter(|_| shown.is_open(&way)) {
        hops::rows(html, opened, shown, hops, from, &way);
    }
}

fn sums(html: &mut Html, sent: &[Sent], without: &[usize]) {
    let sum = |skip: &[usize]| {
        let rows = sent.iter().enumerate().filter(|(at, _)| !skip.contains(at));
        let n = sent.first().map_or(0, |row| row.values.len());
        let mut total = vec![0.0_f32; n];
        for (at, (_, row)) in rows.enumerate() {
            for (t, x) in total.iter_mut().zip(&row.values) {
                *t = if at == 0 { *x as f32 } else { *t + *x as f32 };
            }
        }
        total.into_iter().map(f64::from).collect::<Vec<_>>()
    };
    let all = sum(&[]);
    html.raw(
        "<tr class=\"sum\"><td></td><th scope=\"row\" colspan=\"3\">the gradient: all rows</th>",
    );
    cells(html, &all);
    html.raw("</tr>");
    if without.is_empty() {
        return;
    }
    let wrong = sum(without);
    html.raw("<tr class=\"wrong\"><td></td><th scope=\"row\" colspan=\"3\">without what is unticked: wrong</th>");
    cells(html, &wrong);
    html.raw(
        "</tr><tr class=\"wrong\"><td></td><th scope=\"row\" colspan=\"3\">what is missing</th>",
    );
    let gap: Vec<f64> = all.iter().zip(&wrong).map(|(a, b)| f64::from((a - b) as f32)).collect();
    cells(html, &gap);
    html.raw("</tr>");
}
