//! What a document gives, as text: the three golden files.

use foldback::report::{Analysis, FindingRow, Weight};

/// Trace, steps, checks and training of a document.
pub fn trace(analysis: &Analysis) -> String {
    let mut out = analysis.log().join("\n");
    out.push_str("\n\n# steps\n");
    for tick in &analysis.report.ticks {
        out.push_str(&format!("{:?}: {}\n    {}\n", tick.kind, tick.title, tick.sentence));
        for line in tick.fold.iter().flat_map(|fold| &fold.text) {
            out.push_str(&format!("    {line}\n"));
        }
    }
    checks(analysis, &mut out);
    training(analysis, &mut out);
    out
}

fn checks(analysis: &Analysis, out: &mut String) {
    let Some(mut checking) = analysis.checking() else { return };
    while checking.advance(64) {}
    out.push_str("\n# checks\n");
    for row in &checking.report.rows {
        let index: Vec<String> = row.index.iter().map(u32::to_string).collect();
        let number = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:?}"));
        out.push_str(&format!(
            "{}[{}] {:?}: differences {}, formula {}: {:?}\n",
            row.leaf,
            index.join(","),
            row.autodiff,
            number(row.fd),
            number(row.formula),
            row.verdict
        ));
    }
    if !checking.report.refused.is_empty() {
        out.push_str(&format!("refused: {}\n", checking.report.refused));
    }
}

fn training(analysis: &Analysis, out: &mut String) {
    let Some(mut training) = analysis.training() else { return };
    while training.advance() {}
    let report = &training.report;
    out.push_str(&format!("\n# training by {}: {}\n", report.method, report.state));
    if !report.reason.is_empty() {
        out.push_str(&format!("{}\n", report.reason));
    }
    out.push_str(&format!("losses {:?}\n", report.losses));
    for leaf in report.last.iter().flat_map(|step| &step.leaves) {
        out.push_str(&format!(
            "{} {:?} after {:?} with {:?}\n",
            leaf.name, leaf.after, leaf.before, leaf.grad
        ));
        if !leaf.ulp.is_empty() {
            out.push_str(&format!("  closed form {:?}, ulp {:?}\n", leaf.closed, leaf.ulp));
        }
    }
}

/// Whether a finding is about the text rather than the graph.
pub fn is_text(finding: &FindingRow, analysis: &Analysis) -> bool {
    let diagnostics = analysis.parsed.diagnostics.iter().chain(&analysis.lowered.diagnostics);
    finding.span.is_some_and(|(start, end)| {
        diagnostics
            .clone()
            .any(|d| (d.span.start, d.span.end) == (start, end) && d.code.name() == finding.code)
    })
}

/// The findings of the graph, each with its words and fixes.
pub fn findings(text: &str, analysis: &Analysis) -> String {
    let rows = analysis.report.findings.iter().filter(|f| !is_text(f, analysis));
    rows.map(|f| finding(text, f)).collect::<Vec<_>>().join("\n")
}

/// The diagnostics of the text, each under the line it is about.
pub fn diagnostics(text: &str, analysis: &Analysis) -> String {
    let rows = analysis.report.findings.iter().filter(|f| is_text(f, analysis));
    rows.map(|f| finding(text, f)).collect::<Vec<_>>().join("\n")
}

fn finding(text: &str, f: &FindingRow) -> String {
    let weight = match f.weight {
        Weight::Error => "error",
        Weight::Warning => "warning",
        Weight::Info => "info",
    };
    let mut out = format!("{weight} {}", f.code);
    if !f.name.is_empty() {
        out.push_str(&format!(" at {} {}", f.word, f.name));
    }
    if let Some(src) = f.src {
        out.push_str(&format!(", source {src}"));
    }
    if f.stops {
        out.push_str(", stops the build");
    }
    out.push('\n');
    if let (Some((start, end)), Some(line)) = (f.span, f.line) {
        underline(text, (start as usize, end as usize), line, &mut out);
    }
    for (word, what) in [
        ("title", &f.title),
        ("what", &f.message),
        ("why", &f.why),
        ("next", &f.next),
        ("cite", &f.cite),
    ] {
        if !what.is_empty() {
            out.push_str(&format!("  {word}: {what}\n"));
        }
    }
    if let Some((sent, wanted)) = &f.clash {
        out.push_str(&format!("  clash: {sent:?} and {wanted:?} along {:?}\n", f.clash_axes));
    }
    for fix in &f.fixes {
        out.push_str(&format!("  fix: {}", fix.title));
        if !fix.note.is_empty() {
            out.push_str(&format!(" ({})", fix.note));
        }
        out.push('\n');
        for (start, end, with) in &fix.edits {
            let was = text.get(*start as usize..*end as usize).unwrap_or("(no such text)");
            out.push_str(&format!("    {was:?} becomes {with:?}\n"));
        }
    }
    out
}

/// The line of a span, and carets under it; of a span over several lines, the first.
fn underline(text: &str, (start, end): (usize, usize), line: u32, out: &mut String) {
    let begin = text.get(..start).map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
    let source = text.get(begin..).unwrap_or("").lines().next().unwrap_or("");
    let shown: String = source.chars().take(100).collect();
    let lead = text.get(begin..start).unwrap_or("").chars().count();
    let width = text.get(start..end.min(begin + source.len())).unwrap_or("").chars().count().max(1);
    let width = width.min(100);
    out.push_str(&format!(
        "{line:4} | {shown}\n     | {}{}\n",
        " ".repeat(lead.min(100)),
        "^".repeat(width)
    ));
}
