//! The right column for a node: what it is, its value and gradient, its rule, and what happens in words.

use foldback::report::{NodeRow, Report, Role, TickGlyph, TickRow};

use super::grid::{grid, rounds};
use super::math::math;
use super::{Html, named_shape, ne, prints_ne, shape};
use crate::model::reduce::Run;
use crate::model::view::View;

/// A node as it stands at the step shown.
pub fn inspect(run: &Run, view: &View) -> String {
    let mut html = Html::new();
    let (Some(report), Some(ix)) = (run.report(), run.inspected(view)) else {
        words(&mut html, run, view);
        return html.done();
    };
    let Some(node) = report.nodes.get(ix as usize) else { return html.done() };
    let tick = run.timeline.picture(view.step).and_then(|step| run.timeline.tick(step));
    let here = run.node_of_step(view.step) == Some(ix);
    identity(&mut html, report, node, tick.filter(|_| here));
    let is_forward = ix < report.n_forward;
    values(&mut html, report, ix, tick);
    // A gradient is explained by the rule that made it.
    let ruled = if is_forward { Some(ix) } else { node.of };
    if let Some(of) = ruled {
        rule(&mut html, report, of, (!is_forward).then_some(node));
    }
    words(&mut html, run, view);
    source(&mut html, report, node);
    html.done()
}

/// What a node is, for its colours.
pub fn hue(node: &NodeRow) -> &'static str {
    match node.role {
        Role::Param | Role::Const | Role::Inline | Role::Op => "fwg",
        Role::Fold => "foldg",
        Role::Seed | Role::Accumulator | Role::Rule | Role::Accumulate => "bwg",
    }
}

fn identity(html: &mut Html, report: &Report, node: &NodeRow, tick: Option<&TickRow>) {
    let hue = hue(node);
    let icon = match node.role {
        Role::Fold => "fold",
        Role::Seed | Role::Accumulator | Role::Rule => "prev",
        Role::Accumulate => "plus",
        Role::Param | Role::Const | Role::Inline | Role::Op => "next",
    };
    let refused = tick.is_some_and(|tick| tick.kind == TickGlyph::Refusal);
    html.raw("<div class=\"sec\"><div class=\"idn\"><span class=\"glyph ");
    html.raw(if refused { "refg" } else { hue }).raw("\">");
    html.icon(if refused { "cross" } else { icon }).raw("</span><span class=\"nm\">");
    html.text(&node.name).raw("</span><span class=\"shape ").raw(hue).raw("\">");
    html.text(&named_shape(&node.shape, &node.axes)).raw("</span>");
    if tick.is_some() {
        html.raw("<span class=\"tag ").raw(if refused { "refg" } else { hue });
        html.raw("\">this step</span>");
    }
    html.raw("</div><p class=\"prose\">").prose(&origin(report, node));
    if prints_ne(&report.rules) && !node.shape.is_empty() {
        html.raw(" <span class=\"shape\">ne ").text(&ne(&node.shape)).raw("</span>");
    }
    html.raw("</p></div>");
}

/// One sentence: where the node comes from.
fn origin(report: &Report, node: &NodeRow) -> String {
    let name = |ix: Option<u32>| ix.and_then(|ix| report.nodes.get(ix as usize));
    match (node.role, name(node.of), name(node.into), node.of_src) {
        (Role::Param, ..) => format!("A parameter: it trains. {}", node.dtype),
        (Role::Const, ..) => format!("A constant: it does not train. {}", node.dtype),
        (Role::Inline, ..) => "A number written beside a tensor".to_owned(),
        (Role::Op, ..) => format!("{}, {}", node.word, node.dtype),
        (Role::Seed, _, Some(into), _) => {
            format!("Where the way back begins: the gradient of `{}` by itself", into.name)
        }
        (_, Some(of), Some(into), Some(src)) => {
            let source = usize::from(src) + 1;
            format!(
                "Gradient of `{}`, from source {source} of `{} = {}`",
                into.name, of.name, of.formula
            )
        }
        (_, _, Some(into), _) => format!("Gradient of `{}`", into.name),
        _ => String::new(),
    }
}

/// The value, and the gradient as far as it is built.
fn values(html: &mut Html, report: &Report, ix: u32, tick: Option<&TickRow>) {
    let Some(node) = report.nodes.get(ix as usize) else { return };
    let n_nodes = tick.map_or(0, |tick| tick.n_nodes);
    html.raw("<div class=\"sec\">");
    if ix < report.n_forward {
        let evaluated = tick.is_some_and(|tick| ix < tick.n_evaluated);
        block(html, "t-fw", "Value", node, "fwg", evaluated, "not evaluated yet");
        let gradient = newest_gradient(report, ix, n_nodes);
        let needed = report.needed.get(ix as usize).copied().unwrap_or(false);
        if let Some(gradient) = gradient {
            block(html, "t-bw", "Gradient", gradient, "bwg", true, "");
        } else if needed {
            html.raw("<div class=\"cap\"><span class=\"t-bw\">Gradient</span>");
            html.raw("<span class=\"sub\">not built yet</span></div>");
        }
    } else {
        let fold = tick.and_then(|tick| tick.fold.as_ref()).filter(|fold| fold.to == ix);
        if let Some(from) = fold.and_then(|fold| report.nodes.get(fold.from as usize)) {
            block(html, "t-bw", "Arrives", from, "bwg", true, "");
        }
        let hue = hue(node);
        let (tone, title) =
            if hue == "foldg" { ("t-fold", "Folded") } else { ("t-bw", "Gradient") };
        block(html, tone, title, node, hue, ix < n_nodes, "not built yet");
        if let Some(fold) = fold
            && !fold.text.is_empty()
        {
            html.raw("<pre class=\"sums\">");
            for (ix, line) in fold.text.iter().enumerate() {
                html.raw(if ix == 0 { "" } else { "\n" }).text(line);
            }
            html.raw("</pre>");
        }
    }
    html.raw("</div>");
}

/// The gradient of a forward node as it stands once so many nodes exist.
fn newest_gradient(report: &Report, ix: u32, n_nodes: u32) -> Option<&NodeRow> {
    let last = report.grads.get(ix as usize).copied().flatten()?;
    if last < n_nodes {
        return report.nodes.get(last as usize);
    }
    // An earlier part of it: the newest node of its shape that it becomes.
    let shape = &report.nodes.get(ix as usize)?.shape;
    let existing = report.nodes.get(report.n_forward as usize..n_nodes as usize)?;
    existing.iter().rev().find(|node| node.into == Some(ix) && node.shape == *shape)
}

fn block(
    html: &mut Html,
    tone: &str,
    title: &str,
    node: &NodeRow,
    hue: &str,
    exists: bool,
    otherwise: &str,
) {
    html.raw("<div class=\"cap\"><span class=\"").raw(tone).raw("\">").raw(title);
    html.raw("</span> <code>").text(&node.name).raw("</code><span class=\"sub\">");
    if exists {
        html.text(&named_shape(&node.shape, &node.axes));
        if let Some(digits) = rounds(node) {
            html.raw(", to ").int(digits).raw(" digits");
        }
    } else {
        html.raw(otherwise);
    }
    html.raw("</span></div>");
    if exists {
        grid(html, node, hue);
    }
}

/// How a forward node is computed, and what its rule sends where.
fn rule(html: &mut Html, report: &Report, of: u32, gradient: Option<&NodeRow>) {
    let Some(node) = report.nodes.get(of as usize) else { return };
    if node.role != Role::Op {
        return;
    }
    html.raw("<div class=\"sec\"><h3>Rule<span class=\"sub\">").text(&node.word);
    html.raw("</span></h3><div class=\"rules\"><div><span class=\"who\">value</span>");
    math(html, &format!("{} = {}", node.name, node.formula));
    html.raw("</div>");
    for (src, sent) in node.sends.iter().enumerate() {
        let source = node.src.get(src).and_then(|ix| report.nodes.get(*ix as usize));
        let Some(source) = source.filter(|source| source.role != Role::Inline) else { continue };
        let serves = gradient.and_then(|gradient| gradient.of_src).map(usize::from) == Some(src);
        let stretch = node.stretch.get(src).map_or(&[][..], Vec::as_slice);
        html.raw(if serves { "<div class=\"now\">" } else { "<div>" });
        html.raw("<span class=\"who\">source ").int(src + 1).raw("</span>");
        if sent.is_empty() {
            html.raw("<span class=\"ink3\">no gradient for <code>").text(&source.name);
            html.raw("</code></span>");
        } else {
            math(html, &format!("d{} = {sent}", source.name));
            // What was stretched on the way there has to be summed on the way back.
            for axis in stretch {
                html.raw("<span class=\"tag foldg\">").text(&axis.name).raw(" ×");
                html.int((axis.to / axis.from.max(1)) as usize).raw("</span>");
            }
        }
        html.raw("</div>");
    }
    if let Some(gradient) = gradient
        && gradient.of_src.is_some()
        && !gradient.formula.is_empty()
    {
        html.raw("<div><span class=\"who\">here</span>");
        math(html, &format!("{} = {}", gradient.name, gradient.formula));
        html.raw("</div>");
    }
    html.raw("</div></div>");
}

/// The step in plain language; for a selected node, what it does.
fn words(html: &mut Html, run: &Run, view: &View) {
    let says = view
        .selected
        .and_then(|ix| run.report()?.nodes.get(ix as usize))
        .map(|node| node.says.clone())
        .filter(|says| !says.is_empty());
    let (title, sentence) = match says {
        Some(says) => ("What it does", says),
        None => ("In words", run.timeline.words(view.step).sentence),
    };
    if sentence.is_empty() {
        return;
    }
    html.raw("<div class=\"sec\"><h3>").raw(title).raw("</h3><p class=\"prose\">");
    html.prose(&sentence).raw("</p></div>");
}

/// Where all this stands: in the program and in our own source.
fn source(html: &mut Html, report: &Report, node: &NodeRow) {
    let reads: Vec<&NodeRow> =
        node.src.iter().filter_map(|ix| report.nodes.get(*ix as usize)).collect();
    html.raw("<div class=\"sec\"><div class=\"rows\">");
    if !reads.is_empty() {
        html.raw("<div><span>reads</span><span class=\"what\">");
        for (ix, source) in reads.iter().enumerate() {
            html.raw(if ix == 0 { "" } else { ", " }).raw("<code>").text(&source.name);
            html.raw(" ").text(&shape(&source.shape)).raw("</code>");
        }
        html.raw("</span></div>");
    }
    if !node.place.is_empty() {
        html.raw("<div><span>rule at</span><span class=\"what\"><code>").text(&node.place);
        html.raw("</code></span></div>");
    }
    html.raw("</div></div>");
}
