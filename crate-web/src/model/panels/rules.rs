//! The same graph under every rule set: node by node what is built, what is refused, and what differs.

use foldback::construct::Budget;
use foldback::lang::{self, edit};
use foldback::report::{FindingRow, NodeRow, Report, Role, Weight, analyse};
use foldback::rules::RuleSet;

use super::Opened;
use crate::model::markup::{Html, shape};
use crate::model::number::short;

/// What became of a node's gradient.
#[derive(Clone, PartialEq, Debug)]
enum Outcome {
    /// It is built, and is the document's own.
    Built,
    /// It is built, with other numbers: the largest difference.
    Differs(f64),
    /// Parts of it are built, and then the build stopped.
    Unfinished,
    /// It needs none.
    NotNeeded,
    /// The build stopped before it.
    NotReached,
    /// The forward graph lacks it.
    NotMade,
    /// It is refused: the code, and the engine's word for the op.
    Refused(String, String),
}

pub(super) fn panel(opened: &Opened) -> String {
    let reports: Vec<(RuleSet, Report)> =
        RuleSet::ALL.iter().map(|rules| (*rules, under(&opened.text, *rules))).collect();
    let own = opened.report();
    let mut html = Html::new();
    html.raw("<div class=\"compare\"><div class=\"scroll\"><table class=\"chk rulesets\"><thead><tr><th scope=\"col\">node</th><th scope=\"col\">shape</th>");
    for (rules, report) in &reports {
        html.raw("<th scope=\"col\">").raw(rules.name());
        html.raw("<span class=\"sub\">").raw(summary(report)).raw("</span></th>");
    }
    html.raw("</tr></thead><tbody>");
    // The longest of them has every node.
    let all = reports.iter().map(|(_, report)| report).max_by_key(|report| report.n_forward);
    let nodes =
        all.map_or(&[][..], |report| report.nodes.get(..report.n_forward as usize).unwrap_or(&[]));
    for node in nodes.iter().filter(|node| node.role != Role::Inline) {
        html.raw("<tr><th scope=\"row\">").text(&node.name).raw("</th><td><code>");
        html.text(&shape(&node.shape)).raw("</code></td>");
        for (rules, report) in &reports {
            let outcome = outcome(report, own, &node.name);
            html.raw("<td class=\"v\">");
            told(&mut html, &outcome, *rules);
            html.raw("</td>");
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    for (rules, report) in &reports {
        set(&mut html, *rules, report, rules.name() == own.rules);
    }
    html.raw("</div>");
    html.done()
}

/// The text, judged by other rules.
fn under(text: &str, rules: RuleSet) -> Report {
    let change = edit::set_rules(text, &lang::parse(text).ast, rules.name());
    let text = edit::apply(text, &[change]).unwrap_or_default();
    analyse(&text, &Budget::default()).report
}

fn errors(report: &Report) -> impl Iterator<Item = &FindingRow> {
    report.findings.iter().filter(|finding| finding.weight == Weight::Error)
}

fn summary(report: &Report) -> &'static str {
    if !report.whole {
        "not built"
    } else if errors(report).next().is_some() {
        "refused"
    } else {
        "built"
    }
}

fn outcome(report: &Report, own: &Report, name: &str) -> Outcome {
    if let Some(finding) = errors(report).find(|finding| finding.name == name) {
        return Outcome::Refused(finding.code.clone(), finding.word.clone());
    }
    let Some((ix, _)) = forward(report, name) else { return Outcome::NotMade };
    if !report.needed.get(ix).copied().unwrap_or(false) {
        return Outcome::NotNeeded;
    }
    let Some(gradient) = gradient(report, ix) else { return Outcome::NotReached };
    let base = forward(own, name).and_then(|(ix, _)| self::gradient(own, ix));
    match base.map(|base| gap(&base.values, &gradient.values)) {
        Some(gap) if gap > 0.0 && errors(report).next().is_some() => Outcome::Unfinished,
        Some(gap) if gap > 0.0 => Outcome::Differs(gap),
        _ => Outcome::Built,
    }
}

fn forward<'a>(report: &'a Report, name: &str) -> Option<(usize, &'a NodeRow)> {
    let nodes = report.nodes.get(..report.n_forward as usize)?;
    nodes.iter().enumerate().find(|(_, node)| node.name == name)
}

fn gradient(report: &Report, ix: usize) -> Option<&NodeRow> {
    report.nodes.get(report.grads.get(ix).copied().flatten()? as usize)
}

/// The largest difference; infinite where only one of two is a number.
fn gap(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let apart = |(a, b): (&f64, &f64)| match (a.is_nan(), b.is_nan()) {
        (true, true) => 0.0,
        (false, false) if a.to_bits() == b.to_bits() => 0.0,
        (false, false) => (a - b).abs(),
        _ => f64::INFINITY,
    };
    a.iter().zip(b).map(apart).fold(0.0, f64::max)
}

fn told(html: &mut Html, outcome: &Outcome, rules: RuleSet) {
    let (tone, icon) = match outcome {
        Outcome::Built => ("t-ok", "check"),
        Outcome::Differs(_) | Outcome::Unfinished => ("t-bw", "half"),
        Outcome::Refused(..) => ("t-refuse", "cross"),
        Outcome::NotReached | Outcome::NotMade => ("ink3", "wait"),
        Outcome::NotNeeded => ("ink3", "minus"),
    };
    html.raw("<span class=\"").raw(tone).raw("\">").icon(icon);
    match outcome {
        Outcome::Built => _ = html.raw("built"),
        Outcome::Differs(gap) => {
            html.raw("built, apart by ").text(&short(*gap, 3));
        }
        Outcome::Refused(code, word) => {
            html.raw("<button class=\"link\" data-do=\"rules ").raw(rules.name()).raw("\">");
            html.text(code).raw("</button>");
            if !word.is_empty() {
                html.raw(" <code>").text(word).raw("</code>");
            }
        }
        Outcome::Unfinished => _ = html.raw("unfinished"),
        Outcome::NotReached => _ = html.raw("not reached"),
        Outcome::NotMade => _ = html.raw("not made"),
        Outcome::NotNeeded => _ = html.raw("none needed"),
    }
    html.raw("</span>");
}

/// What one rule set says: its findings, with the place in that engine's source.
fn set(html: &mut Html, rules: RuleSet, report: &Report, own: bool) {
    html.raw("<section class=\"card\"><h3>").raw(rules.name());
    if own {
        html.raw("<span class=\"tag neug\">this document's</span>");
    } else {
        html.raw("<button class=\"btn line\" data-do=\"rules ").raw(rules.name());
        html.raw("\">Judge by ").raw(rules.name()).raw("</button>");
    }
    html.raw("<span class=\"sub\">").raw(rules.says()).raw("</span></h3>");
    if report.findings.is_empty() {
        html.raw("<p class=\"prose\">Nothing to say: every gradient is built.</p>");
    }
    html.raw("<ul class=\"said\">");
    for finding in &report.findings {
        let tone = if finding.weight == Weight::Error { "refg" } else { "neug" };
        html.raw("<li><span class=\"tag ").raw(tone).raw("\">").text(&finding.code);
        html.raw("</span> ").prose(&finding.message);
        if !finding.cite.is_empty() {
            html.raw(" <span class=\"cite\">").text(&finding.cite).raw("</span>");
        }
        html.raw("</li>");
    }
    html.raw("</ul></section>");
}
