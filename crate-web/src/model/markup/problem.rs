//! The right column for a problem, always in this order: the exact message, what, where, why, what next.

use foldback::report::{FindingRow, FixRow, Report, Weight};

use super::{Html, ne, prints_ne};
use crate::model::reduce::fixed;

/// One problem of a text, and what comes after it. `fix` is the one whose difference is shown.
pub fn problem(report: &Report, text: &str, ix: usize, fix: usize) -> String {
    let mut html = Html::new();
    let Some(finding) = report.findings.get(ix) else {
        html.raw("<div class=\"sec\"><p class=\"prose\">No problem: everything asked for was built.</p></div>");
        return html.done();
    };
    html.raw("<div class=\"sec\"><div class=\"idn\"><span class=\"glyph ").raw(hue(finding));
    html.raw("\">").icon(icon(finding)).raw("</span><h3 class=\"ttl\">");
    html.text(if finding.title.is_empty() { &finding.message } else { &finding.title });
    html.raw("</h3></div>");
    if !finding.title.is_empty() {
        html.raw("<div class=\"msg ").raw(hue(finding)).raw("\"><code>").text(&finding.message);
        html.raw("</code></div>");
    }
    html.raw("</div>");
    what(&mut html, report, finding);
    place(&mut html, text, finding);
    if !finding.why.is_empty() {
        html.raw("<div class=\"sec\"><h3>Why</h3><p class=\"prose\">").prose(&finding.why);
        html.raw("</p></div>");
    }
    if !(finding.next.is_empty() && finding.fixes.is_empty()) {
        html.raw("<div class=\"sec\"><h3>What next</h3>");
        // The chips say it better where there are some.
        if finding.fixes.is_empty() {
            html.raw("<p class=\"prose\">").prose(&finding.next).raw("</p>");
        }
        fixes(&mut html, text, finding, ix, fix);
        html.raw("</div>");
    }
    others(&mut html, report, ix);
    html.done()
}

const fn hue(finding: &FindingRow) -> &'static str {
    match finding.weight {
        Weight::Error => "refg",
        Weight::Warning | Weight::Info => "neug",
    }
}

const fn icon(finding: &FindingRow) -> &'static str {
    match finding.weight {
        Weight::Error => "cross",
        Weight::Warning => "kink",
        Weight::Info => "info",
    }
}

/// The two shapes that clash, axis by axis.
fn what(html: &mut Html, report: &Report, finding: &FindingRow) {
    html.raw("<div class=\"sec\"><h3>What<code class=\"sub\">").text(&finding.code);
    html.raw("</code></h3>");
    let Some((sent, wanted)) = &finding.clash else {
        html.raw("</div>");
        return;
    };
    let rank = sent.len().max(wanted.len());
    // Axes are matched from the right; a missing one on the left is an empty cell.
    let at = |shape: &[u32], axis: usize| {
        axis.checked_sub(rank - shape.len()).and_then(|axis| shape.get(axis)).copied()
    };
    let with_ne = prints_ne(&report.rules);
    html.raw("<table class=\"axes\"><caption class=\"vh\">The two shapes, axis by axis</caption><thead><tr><td></td>");
    for axis in 0..rank {
        let name = finding.clash_axes.get(axis).filter(|name| !name.is_empty());
        html.raw("<th scope=\"col\">");
        match name {
            Some(name) => html.text(name),
            None => html.raw("axis ").int(axis),
        };
        html.raw("</th>");
    }
    html.raw(if with_ne { "<td></td>" } else { "" }).raw("</tr></thead><tbody>");
    let (first, second) = sides(report, finding);
    for (label, shape) in [(first, sent), (second, wanted)] {
        html.raw("<tr><th scope=\"row\">").prose(&label).raw("</th>");
        for axis in 0..rank {
            let differs = at(sent, axis) != at(wanted, axis);
            html.raw(if differs { "<td class=\"x\">" } else { "<td>" });
            match at(shape, axis) {
                Some(extent) => html.int(extent as usize),
                None => html.raw("–"),
            };
            html.raw("</td>");
        }
        if with_ne {
            html.raw("<td class=\"ne\">ne ").text(&ne(shape)).raw("</td>");
        }
        html.raw("</tr>");
    }
    html.raw("<tr class=\"v\"><td></td>");
    for axis in 0..rank {
        match (at(sent, axis), at(wanted, axis)) {
            (Some(a), Some(b)) if a == b => {
                html.raw("<td class=\"t-ok\">").icon("check").raw("<span>same</span></td>");
            }
            (Some(a), Some(b)) => {
                html.raw("<td class=\"t-refuse\">").icon("cross").raw("<span>").int(a as usize);
                html.raw(" ≠ ").int(b as usize).raw("</span></td>");
            }
            _ => {
                html.raw("<td class=\"t-refuse\">").icon("cross").raw("<span>missing</span></td>");
            }
        }
    }
    html.raw(if with_ne { "<td></td>" } else { "" }).raw("</tr></tbody></table></div>");
}

/// What the two rows of the comparison are called.
fn sides(report: &Report, finding: &FindingRow) -> (String, String) {
    let node = finding.node.and_then(|ix| report.nodes.get(ix as usize));
    let source = node
        .zip(finding.src)
        .and_then(|(node, src)| node.src.get(usize::from(src)))
        .and_then(|ix| report.nodes.get(*ix as usize));
    match (finding.code.as_str(), source) {
        ("gradient-shape", Some(source)) => {
            (format!("{} sent", finding.word), format!("`{}` is", source.name))
        }
        ("gradient-shape" | "accumulator-shape", _) => {
            ("given".to_owned(), format!("`{}` is", finding.name))
        }
        _ => ("first".to_owned(), "second".to_owned()),
    }
}

/// The line, its blamed operand marked.
fn place(html: &mut Html, text: &str, finding: &FindingRow) {
    let Some((start, end)) = finding.span.map(|(start, end)| (start as usize, end as usize)) else {
        return;
    };
    let (Some(before), Some(hot), Some(after)) =
        (text.get(..start), text.get(start..end), text.get(end..))
    else {
        return;
    };
    let line_start = before.rsplit('\n').next().unwrap_or("");
    let line_end = after.split('\n').next().unwrap_or("");
    html.raw("<div class=\"sec\"><h3>Where<span class=\"sub\">");
    if let Some(line) = finding.line {
        html.raw("line ").int(line as usize);
    }
    if let Some(src) = finding.src {
        html.raw(", operand ").int(usize::from(src) + 1);
    }
    html.raw("</span></h3><div class=\"where\"><code>").text(line_start.trim_start());
    // A span over lines is cut: the first line is where to look.
    html.raw("<span class=\"hot\">").text(hot.split('\n').next().unwrap_or("")).raw("</span>");
    if !hot.contains('\n') {
        html.text(line_end);
    }
    html.raw("</code></div>");
    if !finding.cite.is_empty() {
        html.raw("<p class=\"cite\">").text(&finding.cite).raw("</p>");
    }
    html.raw("</div>");
}

/// Chips by kind, the difference of the chosen one, and one button.
fn fixes(html: &mut Html, text: &str, finding: &FindingRow, problem: usize, chosen: usize) {
    let kinds = [(false, "edit", "Change my graph", "g"), (true, "rule", "Change the rules", "r")];
    for (changes_rules, icon, title, class) in kinds {
        let of_kind = |(_, fix): &(usize, &FixRow)| fix.changes_rules == changes_rules;
        let fixes: Vec<_> = finding.fixes.iter().enumerate().filter(of_kind).collect();
        if fixes.is_empty() {
            continue;
        }
        html.raw("<p class=\"kind\">")
            .icon(icon)
            .raw(title)
            .raw("</p><div class=\"fixes\" role=\"group\" aria-label=\"");
        html.raw(title).raw("\">");
        for (ix, fix) in &fixes {
            html.raw("<button class=\"fix ").raw(class).raw("\" aria-pressed=\"");
            html.raw(if *ix == chosen { "true" } else { "false" });
            html.raw("\" data-do=\"pick ").int(*ix).raw("\"><code>").text(&plain(&fix.title));
            html.raw("</code></button>");
        }
        html.raw("</div>");
        if let Some((ix, fix)) = fixes.iter().find(|(ix, _)| *ix == chosen) {
            difference(html, text, fix, problem, *ix);
        }
    }
}

fn difference(html: &mut Html, text: &str, fix: &FixRow, problem: usize, ix: usize) {
    let Some(after) = fixed(text, &fix.edits) else { return };
    html.raw("<div class=\"diff\">");
    for (sign, line) in changed_lines(text, &after) {
        html.raw(if sign == '−' { "<div class=\"del\"><i>" } else { "<div class=\"add\"><i>" });
        html.text(&sign.to_string()).raw("</i><code>").text(line).raw("</code></div>");
    }
    html.raw("<p><span>")
        .prose(&fix.note)
        .raw("</span><button class=\"btn primary\" data-do=\"fix ");
    html.int(problem).raw(" ").int(ix).raw("\" aria-label=\"Apply ").text(&plain(&fix.title));
    html.raw("\">Apply</button></p></div>");
}

/// A title where everything is code already.
fn plain(title: &str) -> String {
    title.replace('`', "")
}

/// The lines that go and the lines that come, between the lines that stay at both ends.
fn changed_lines<'a>(before: &'a str, after: &'a str) -> Vec<(char, &'a str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - start;
    let same_end =
        old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let gone = old[start..old.len() - same_end].iter().map(|line| ('−', *line));
    let come = new[start..new.len() - same_end].iter().map(|line| ('+', *line));
    gone.chain(come).collect()
}

/// The other problems, by name; what comes after the first is what fixing it reveals.
fn others(html: &mut Html, report: &Report, shown: usize) {
    if report.findings.len() < 2 {
        return;
    }
    let reveals = report.findings.get(shown).is_some_and(|finding| finding.stops);
    html.raw("<div class=\"sec\"><h3>");
    html.raw(if reveals { "Fixing it reveals" } else { "All problems" })
        .raw("<span class=\"sub\">");
    let n = report.findings.len() - usize::from(reveals);
    html.int(n).raw(if reveals { " more" } else { "" }).raw("</span></h3><ul class=\"others\">");
    for (ix, finding) in report.findings.iter().enumerate() {
        if reveals && ix == shown {
            continue;
        }
        html.raw("<li><button class=\"other\" data-do=\"problem ").int(ix);
        html.raw(if ix == shown { "\" aria-current=\"true\">" } else { "\">" });
        html.raw("<span class=\"tag ").raw(hue(finding)).raw("\">").icon(icon(finding));
        html.text(&finding.code).raw("</span><code>").text(&finding.name).raw("</code>");
        if let Some(line) = finding.line {
            html.raw("<span class=\"ink3\">line ").int(line as usize).raw("</span>");
        }
        html.raw("</button></li>");
    }
    html.raw("</ul></div>");
}

#[cfg(test)]
mod tests {
    use super::{changed_lines, problem};
    use foldback::report::{FindingRow, FixRow, NodeRow, Report};

    pub(super) fn div() -> (String, Report) {
        let text = "rules upstream\ny = w / c\nloss = sum(y)".to_owned();
        let node = |name: &str, src: &[u32]| NodeRow {
            name: name.to_owned(),
            src: src.to_vec(),
            ..NodeRow::default()
        };
        let finding = FindingRow {
            code: "gradient-shape".to_owned(),
            stops: true,
            node: Some(2),
            name: "y".to_owned(),
            op: "div".to_owned(),
            word: "DIV".to_owned(),
            src: Some(1),
            title: "DIV cannot send".to_owned(),
            message: "expected [2,1]".to_owned(),
            clash: Some((vec![2, 3], vec![2, 1])),
            clash_axes: vec!["token".to_owned(), String::new()],
            why: "`c` was stretched.".to_owned(),
            cite: "ggml.c".to_owned(),
            span: Some((23, 24)),
            line: Some(2),
            fixes: vec![FixRow {
                title: "w / repeat(c, w)".to_owned(),
                note: String::new(),
                changes_rules: false,
                edits: vec![(23, 24, "repeat(c, w)".to_owned())],
            }],
            ..FindingRow::default()
        };
        let report = Report {
            rules: "upstream".to_owned(),
            nodes: vec![node("w", &[]), node("c", &[]), node("y", &[0, 1])],
            findings: vec![finding],
            ..Report::default()
        };
        (text, report)
    }

    #[test]
    fn the_order_is_always_the_same() {
        let (text, report) = div();
        let html = problem(&report, &text, 0, 0);
        let places: Vec<_> = ["expected [2,1]", ">What<", ">Where<", ">Why<", ">What next<"]
            .map(|part| html.find(part))
            .into();
        assert!(places.iter().all(Option::is_some), "{html}");
        assert!(places.is_sorted());
    }

    #[test]
    fn the_clashing_axis_is_marked_and_named() {
        let (text, report) = div();
        let html = problem(&report, &text, 0, 0);
        assert!(html.contains("<th scope=\"row\">DIV sent</th><td>2</td><td class=\"x\">3</td>"));
        assert!(html.contains("<th scope=\"row\"><code>c</code> is</th>"));
        assert!(html.contains("<td class=\"ne\">ne 1, 2</td>"));
        assert!(html.contains("y = w / <span class=\"hot\">c</span>"));
    }

    #[test]
    fn a_fix_shows_its_difference_before_it_is_applied() {
        let (text, report) = div();
        let html = problem(&report, &text, 0, 0);
        assert!(html.contains("<code>y = w / c</code></div><div class=\"add\">"));
        assert!(html.contains("data-do=\"fix 0 0\""));
        assert_eq!(changed_lines("a\nb\nc", "a\nx\nb\nc"), [('+', "x")]);
        assert_eq!(changed_lines("a", "b"), [('−', "a"), ('+', "b")]);
    }

    #[test]
    fn a_problem_that_is_gone_is_no_panic() {
        let (text, report) = div();
        assert!(problem(&report, &text, 9, 9).contains("No problem"));
        assert!(problem(&report, "", 0, 0).contains(">Why<"));
    }
}
