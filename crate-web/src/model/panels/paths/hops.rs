//! Further hops: what reaches the gradients that a row's contribution is made of, and all paths to the loss where they
//! can be counted on two hands and a little more.

use foldback::graph::NodeId;
use foldback::trace::Event;

use super::super::Opened;
use super::{PRINTED, Sent, Shown, ledger};
use crate::model::markup::inspect::hue;
use crate::model::markup::{Html, shape};
use crate::model::number::short;

/// The most paths that are listed: their number can be exponential.
pub(super) const LISTED: u64 = 64;
/// How many hops a row is opened.
const DEEPEST: usize = 8;

/// For each forward node, what its gradient is made of: the consumers that contributed, and through which source.
pub(super) struct Hops {
    consumers: Vec<Vec<(u32, u8)>>,
    /// Whether a gradient begins here: the loss, or an accumulator.
    begins: Vec<bool>,
}

impl Hops {
    /// As the trace has it.
    pub(super) fn of(opened: &Opened) -> Self {
        let n = opened.report().n_forward as usize;
        let mut hops = Self { consumers: vec![Vec::new(); n], begins: vec![false; n] };
        let own = |id: NodeId| id.index();
        for event in &opened.analysis.trace.events {
            match *event {
                Event::Supplied { node, .. } | Event::Seeded { node, .. } => {
                    if let Some(begins) = hops.begins.get_mut(own(node)) {
                        *begins = true;
                    }
                }
                Event::Contributed { into, by, src, .. } => {
                    if let Some(list) = hops.consumers.get_mut(own(into)) {
                        list.push((own(by) as u32, src));
                    }
                }
                _ => {}
            }
        }
        hops
    }

    fn consumers(&self, node: u32) -> &[(u32, u8)] {
        self.consumers.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// How many contributions a node's gradient has.
    pub(super) fn n_parts(&self, node: u32) -> usize {
        let begins = self.begins.get(node as usize).copied().unwrap_or(false);
        self.consumers(node).len() + usize::from(begins)
    }

    /// How many paths lead from a node to where gradients begin; the greatest number where there are more.
    ///
    /// Consumers have greater numbers than what they read, so one pass from the last node does.
    pub(super) fn n_paths(&self, node: u32) -> u64 {
        let mut paths = vec![0_u64; self.consumers.len()];
        for ix in (node as usize..paths.len()).rev() {
            let through = self.consumers(ix as u32).iter();
            let sum = through.fold(u64::from(self.begins[ix]), |sum, (to, _)| {
                sum.saturating_add(paths.get(*to as usize).copied().unwrap_or(0))
            });
            paths[ix] = sum;
        }
        paths.get(node as usize).copied().unwrap_or(0)
    }

    /// All paths from a node, each as the consumers on its way and the sources they are entered by. Only for few.
    pub(super) fn paths(&self, node: u32) -> Vec<Vec<(u32, u8)>> {
        let mut done = Vec::new();
        let mut open = vec![(node, Vec::new())];
        while let Some((at, path)) = open.pop() {
            if self.begins.get(at as usize).copied().unwrap_or(false) {
                done.push(path.clone());
            }
            if done.len() as u64 > LISTED {
                break;
            }
            for (to, src) in self.consumers(at).iter().rev() {
                let mut longer = path.clone();
                longer.push((*to, *src));
                open.push((*to, longer));
            }
        }
        done
    }
}

/// The button that opens a row, or closes it; `at` is the row's way from the top, `0.1`.
pub(super) fn opener(html: &mut Html, shown: &Shown<'_>, at: &str, n: usize) {
    let is_open = shown.is_open(at);
    html.raw("<button class=\"link\" aria-expanded=\"").raw(if is_open { "true" } else { "false" });
    html.raw("\" data-key=\"open").raw(at).raw("\" data-do=\"").text(&shown.toggled(at));
    html.raw("\">").int(n);
    html.raw(if n == 1 { " gradient reaches it" } else { " gradients reach it" }).raw("</button>");
}

/// The rows beneath one that is open: what each consumer of `node` sends it, and so on.
pub(super) fn rows(
    html: &mut Html,
    opened: &Opened,
    shown: &Shown<'_>,
    hops: &Hops,
    node: u32,
    at: &str,
) {
    // A list instead of a call to itself: what is opened comes from the page, and could be anything.
    let mut todo: Vec<(Sent, String)> = beneath(opened, node, at);
    while let Some((row, at)) = todo.pop() {
        let depth = at.matches('.').count();
        hop(html, opened, shown, hops, &row, &at);
        if let Some(from) = row.from.filter(|_| depth < DEEPEST && shown.is_open(&at)) {
            todo.extend(beneath(opened, from, &at));
        }
    }
}

/// The last one first, as a stack has it.
fn beneath(opened: &Opened, node: u32, at: &str) -> Vec<(Sent, String)> {
    let rows = ledger(opened, node).into_iter().enumerate();
    let mut rows: Vec<(Sent, String)> =
        rows.map(|(ix, row)| (row, [at, ".", &ix.to_string()].concat())).collect();
    rows.reverse();
    rows
}

fn hop(html: &mut Html, opened: &Opened, shown: &Shown<'_>, hops: &Hops, row: &Sent, at: &str) {
    let report = opened.report();
    let depth = at.matches('.').count().min(DEEPEST);
    html.raw("<tr class=\"hop\"><td></td><td class=\"v hop").int(depth).raw("\">");
    let consumer = row.from.and_then(|ix| Some((ix, report.nodes.get(ix as usize)?)));
    if let Some((from, consumer)) = consumer {
        html.raw("<button class=\"link\" data-do=\"select ").int(from as usize).raw("\">");
        html.text(&consumer.name).raw("</button> <span class=\"ink3\">").text(&consumer.formula);
        html.raw("</span></td><td class=\"v\">source ");
        html.int(usize::from(row.src.unwrap_or(0)) + 1).raw(", ");
        opener(html, shown, at, hops.n_parts(from));
    } else {
        html.raw("given</td><td class=\"v\">the seed, or an accumulator");
    }
    html.raw("</td><td class=\"v\">");
    let contribution = report.nodes.get(row.node as usize);
    if let Some(node) = contribution {
        html.raw("<code class=\"").raw(hue(node)).raw("\">").text(&node.name).raw("</code> = ");
        html.text(&node.formula).raw(" <span class=\"ink3\">").text(&shape(&node.shape));
        html.raw("</span>");
    }
    html.raw("</td><td class=\"v\" colspan=\"9\">");
    for (ix, x) in row.values.iter().take(PRINTED).enumerate() {
        html.raw(if ix > 0 { ", " } else { "" }).text(&short(*x, 5));
    }
    if row.values.len() > PRINTED {
        html.raw(", +").int(row.values.len() - PRINTED).raw(" more");
    }
    html.raw("</td></tr>");
}

/// All paths, or how many there are.
pub(super) fn all(html: &mut Html, opened: &Opened, hops: &Hops, node: u32) {
    let report = opened.report();
    let name = |ix: u32| report.nodes.get(ix as usize).map_or("", |node| node.name.as_str());
    let n = hops.n_paths(node);
    html.raw("<h3>Paths to where gradients begin<span class=\"sub\">");
    if n == u64::MAX {
        html.raw("more than 10<sup>19</sup>");
    } else {
        html.text(&n.to_string());
    }
    html.raw("</span></h3>");
    if n > LISTED {
        html.raw("<p class=\"note\">Up to ").int(LISTED as usize);
        html.raw(" are listed; open a row above to follow them hop by hop.</p>");
        return;
    }
    html.raw("<ol class=\"waysout\">");
    for path in hops.paths(node) {
        html.raw("<li><code>").text(name(node));
        for (to, src) in path {
            html.raw(" → ").text(name(to));
            // Which operand it is matters where a node reads the same one twice.
            let reads = report.nodes.get(to as usize).map_or(0, |node| node.src.len());
            if reads > 1 {
                html.raw("<sub>").int(usize::from(src) + 1).raw("</sub>");
            }
        }
        html.raw("</code></li>");
    }
    html.raw("</ol>");
}
