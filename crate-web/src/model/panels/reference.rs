//! The reference: every op, every code and every rule set, from the tables that the engine itself uses.

use foldback::construct::Budget;
use foldback::lang::patch::{language, signature};
use foldback::ops::def::{Backward, Differs, Flow, OpDef};
use foldback::ops::{OpKind, by_name};
use foldback::refusal::Code;
use foldback::report::{Weight, analyse};
use foldback::rules::RuleSet;

use super::mathml::math;
use super::said;
use crate::model::markup::Html;

pub(super) fn panel(args: &str) -> String {
    let mut html = Html::new();
    let op = said(args, "op").and_then(by_name);
    let code = said(args, "code").and_then(|name| Code::ALL.iter().find(|c| c.name() == name));
    html.raw("<div class=\"reference\">");
    if let Some(op) = op {
        one(&mut html, op);
    } else if let Some(code) = code {
        coded(&mut html, *code);
    } else {
        list(&mut html, args.strip_prefix("find=").unwrap_or(""));
    }
    html.raw("</div>");
    html.done()
}

fn list(html: &mut Html, find: &str) {
    let find = find.trim().to_lowercase();
    let holds = |text: &str| text.to_lowercase().contains(&find);
    html.raw("<p class=\"find\"><label>Find <input type=\"search\" data-tell=\"find=\" data-key=\"find\" value=\"");
    html.text(&find).raw("\"></label></p>");
    let parts = language().into_iter().map(|(title, mut rows)| {
        rows.retain(|(form, says)| holds(title) || holds(form) || holds(says));
        (title, rows)
    });
    let parts: Vec<_> = parts.filter(|(_, rows)| !rows.is_empty()).collect();
    if !parts.is_empty() {
        html.raw("<h3>Language<span class=\"sub\">")
            .int(parts.iter().map(|(_, rows)| rows.len()).sum())
            .raw("</span></h3><table class=\"refs\">");
        for (title, rows) in parts {
            html.raw("<tbody><tr><th colspan=\"2\" scope=\"rowgroup\" class=\"part\">").raw(title);
            html.raw("</th></tr>");
            for (form, says) in rows {
                html.raw("<tr><th scope=\"row\">").text(&form).raw("</th><td>").prose(&says);
                html.raw("</td></tr>");
            }
            html.raw("</tbody>");
        }
        html.raw("</table>");
    }
    let ops: Vec<&OpDef> = OpKind::ALL
        .iter()
        .map(|op| op.def())
        .filter(|def| {
            holds(def.name)
                || holds(def.ggml)
                || holds(def.says)
                || def.aliases.iter().any(|a| holds(a))
        })
        .collect();
    html.raw("<h3>Ops<span class=\"sub\">")
        .int(ops.len())
        .raw("</span></h3><table class=\"refs\"><tbody>");
    for def in ops {
        html.raw("<tr><th scope=\"row\"><button class=\"link\" data-do=\"tell op=").text(def.name);
        html.raw("\">")
            .text(def.name)
            .raw("</button></th><td>")
            .text(def.says)
            .raw("</td><td class=\"f\">");
        html.text(def.formula).raw("</td></tr>");
    }
    html.raw("</tbody></table>");
    let codes: Vec<Code> =
        Code::ALL.iter().copied().filter(|c| holds(c.name()) || holds(c.meaning())).collect();
    html.raw("<h3>Codes<span class=\"sub\">")
        .int(codes.len())
        .raw("</span></h3><table class=\"refs\"><tbody>");
    for code in codes {
        html.raw("<tr><th scope=\"row\"><button class=\"link\" data-do=\"tell code=")
            .raw(code.name());
        html.raw("\">")
            .raw(code.name())
            .raw("</button></th><td>")
            .text(code.meaning())
            .raw("</td></tr>");
    }
    html.raw("</tbody></table><h3>Rules</h3><table class=\"refs\"><tbody>");
    for rules in RuleSet::ALL {
        html.raw("<tr><th scope=\"row\">").raw(rules.name()).raw("</th><td>").text(rules.says());
        html.raw("</td></tr>");
    }
    html.raw("</tbody></table>");
}

fn back(html: &mut Html) {
    html.raw("<p><button class=\"btn line\" data-do=\"tell\">").boxed_icon("prev");
    html.raw("All ops and codes</button></p>");
}

fn one(html: &mut Html, op: OpKind) {
    let def = op.def();
    back(html);
    html.raw("<h3 class=\"big\"><code>").text(&signature(op)).raw("</code>");
    html.raw("</h3><p class=\"prose\">").text(def.says);
    if !def.aliases.is_empty() {
        html.raw(" Also written ").text(&def.aliases.join(", ")).raw(".");
    }
    html.raw("</p><div class=\"mathrows\">");
    math(html, def.formula);
    html.raw("</div><table class=\"refs\"><tbody>");
    row(html, "ggml", if def.ggml.is_empty() { "no such op" } else { def.ggml });
    let stretches = if def.stretches { "stretched by the rules' broadcast" } else { "as they are" };
    row(html, "operands", stretches);
    for param in def.params {
        row(html, param.name, param.kind.says());
    }
    html.raw("</tbody></table><h3>Backward</h3><div class=\"mathrows\">");
    for (ix, flow) in def.flow.iter().enumerate() {
        let name = char::from(b'a' + ix.min(25) as u8);
        match flow {
            Flow::Carries { formula, .. } => math(html, &format!("d{name} = {formula}")),
            Flow::Ignored(why) => {
                html.raw("<p class=\"ink3\">no gradient for <code>").text(&name.to_string());
                html.raw("</code>: ").text(why).raw("</p>");
            }
        }
    }
    html.raw("</div>");
    if let Backward::Zero(why) | Backward::Missing(why) = def.backward {
        html.raw("<p class=\"prose\">").text(why).raw("</p>");
    }
    if def.check.kink.is_some() {
        html.raw("<p class=\"prose\">It has a kink: where its derivative is a choice, the check says <code>kink</code> and names both slopes.</p>");
    }
    html.raw("<p class=\"cite\">")
        .text(def.place.file)
        .raw(":")
        .int(def.place.line as usize)
        .raw("</p>");
    for differs in def.differs {
        other(html, differs);
    }
    examples(html, def);
}

fn row(html: &mut Html, name: &str, text: &str) {
    html.raw("<tr><th scope=\"row\">").text(name).raw("</th><td>").text(text).raw("</td></tr>");
}

fn other(html: &mut Html, differs: &Differs) {
    html.raw("<h3>Under ").raw(differs.rules.name()).raw("</h3><p class=\"prose\">");
    html.text("It ").text(&differs.how.says()).raw(".");
    html.raw(" <span class=\"cite\">").text(differs.cite).raw("</span></p>");
    for mend in differs.mends {
        html.raw("<p class=\"prose\">Instead: <code>").text(mend.text).raw("</code>. ");
        html.text(mend.note).raw("</p>");
    }
}

/// Samples of the op's own checks, each of which opens with a loss and a check.
fn examples(html: &mut Html, def: &OpDef) {
    html.raw("<h3>Examples</h3>");
    for (ix, sample) in def.check.samples.iter().take(3).enumerate() {
        let text = whole(def, sample);
        html.raw("<pre class=\"sums\">")
            .text(sample)
            .raw("</pre><p><button class=\"btn line\" data-do=\"open-text\" data-key=\"sample");
        html.int(ix).raw("\" data-text=\"").text(&text).raw("\">Open</button></p>");
    }
}

/// A sample as a document of its own: with a loss and a check where the op can have them.
fn whole(def: &OpDef, sample: &str) -> String {
    let start = if sample.contains("rules ") { "" } else { "rules ggml\n" };
    let plain = format!("# {}: {}\n{start}{sample}\n", def.name, def.says);
    let checked = format!("{plain}loss = sum(y)\ncheck fd\n");
    let analysis = analyse(&checked, &Budget::default());
    let fine = analysis.report.whole
        && !analysis.report.findings.iter().any(|finding| finding.weight == Weight::Error);
    if fine { checked } else { plain }
}

fn coded(html: &mut Html, code: Code) {
    back(html);
    html.raw("<h3 class=\"big\"><code>").raw(code.name()).raw("</code></h3><p class=\"prose\">");
    html.text(code.meaning()).raw("</p><p class=\"prose\">").text(code.what_next()).raw("</p>");
}
