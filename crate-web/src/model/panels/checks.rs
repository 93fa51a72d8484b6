//! The panel of checks: every entry several ways, what further tests say, and the training run.

use foldback::report::{CheckReport, CheckRow, Report, Verdict};

use super::{evidence, training};
use crate::model::markup::Html;
use crate::model::number::{plain, short, significant};
use crate::model::timeline::{entry, verdict};

/// Digits of the columns that are compared digit by digit.
const DIGITS: usize = 12;
/// Rows that are shown; the rest is counted.
pub(super) const ROWS: usize = 200;

/// The counts beside the panel's title.
pub fn counts(checks: &CheckReport) -> String {
    let mut html = Html::new();
    let count = |wanted: Verdict| checks.rows.iter().filter(|row| row.verdict == wanted).count();
    let (agree, kinks, differ) =
        (count(Verdict::Agrees), count(Verdict::Kink), count(Verdict::Differs));
    html.raw("<span class=\"tag okg\">").icon("check").int(agree).raw(" agree</span>");
    if kinks > 0 {
        html.raw("<span class=\"tag\">").icon("kink").int(kinks);
        html.raw(if kinks == 1 { " kink</span>" } else { " kinks</span>" });
    }
    html.raw(if differ > 0 { "<span class=\"tag refg\">" } else { "<span class=\"tag\">" });
    html.int(differ).raw(" differ</span>");
    html.raw("<span class=\"sub grow right\">f64, relative tolerance ")
        .text(&plain(checks.tolerance));
    html.raw(", NaN fails</span>");
    html.done()
}

/// The panel under its title, with empty places for what is still being computed.
pub fn frame(report: &Report) -> String {
    let mut html = Html::new();
    if report.checks.is_empty() && report.train.is_none() {
        html.raw("<div class=\"empty\"><h3>This program asks for no check</h3><p class=\"prose\">Add a line: <code>check fd</code> compares every gradient with finite differences, <code>train sgd lr=0.1</code> takes a step.</p></div>");
        return html.done();
    }
    if let Some(stop) = report.findings.iter().find(|finding| finding.stops) {
        html.raw("<div class=\"empty\"><h3>Nothing to check yet</h3><p class=\"prose\">The build is refused at <code>");
        html.text(&stop.name).raw("</code>, so there is no gradient to compare.</p></div>");
    } else if !report.checks.is_empty() {
        html.raw("<div id=\"check-rows\"></div>");
    }
    if let Some(line) = &report.train {
        training::cards(&mut html, line);
    }
    html.done()
}

/// What stands in the place of the checks.
pub fn rows(checks: &CheckReport) -> String {
    let mut html = Html::new();
    evidence::doctor(&mut html, checks);
    table(&mut html, checks);
    evidence::further(&mut html, checks);
    html.done()
}

fn table(html: &mut Html, checks: &CheckReport) {
    let has_form = checks.rows.iter().any(|row| row.formula.is_some());
    html.raw("<div class=\"chkwrap\" tabindex=\"0\" role=\"group\" aria-label=\"Gradient checks\"><table class=\"chk\"><caption class=\"vh\">Gradient checks</caption><thead><tr><th scope=\"col\">cell</th>");
    for title in ["autodiff", "finite difference", "left slope", "right slope"] {
        html.raw("<th scope=\"col\">").raw(title).raw("</th>");
    }
    if has_form {
        html.raw("<th scope=\"col\">formula</th><th scope=\"col\" class=\"u\">ulp</th>");
    }
    html.raw("<th scope=\"col\" class=\"v\">verdict</th></tr></thead><tbody>");
    if !checks.refused.is_empty() {
        html.raw("<tr><td colspan=\"8\" class=\"na\">").text(&checks.refused).raw("</td></tr>");
    }
    for row in checks.rows.iter().take(ROWS) {
        row_of(html, row, has_form);
    }
    html.raw("</tbody></table>");
    let hidden = checks.n_entries.saturating_sub(checks.rows.len().min(ROWS) as u64);
    html.raw("<p class=\"note ink3\">");
    if let Some(h) = checks.rows.iter().find_map(|row| row.h) {
        html.raw("First step h = ").text(&significant(h, 3));
        html.raw("; digits that differ from autodiff are dimmed");
    }
    if hidden > 0 {
        html.raw("; ")
            .int(hidden as usize)
            .raw(" more entries are in the Steps table or still to come");
    }
    html.raw("</p></div>");
}

fn row_of(html: &mut Html, row: &CheckRow, has_form: bool) {
    html.raw("<tr><th scope=\"row\"><code>").text(&entry(&row.leaf, &row.index));
    html.raw("</code></th>");
    let reference = significant(row.autodiff, DIGITS);
    html.raw("<td>").text(&reference).raw("</td>");
    let numbers = [row.fd, row.left, row.right, row.formula];
    for value in numbers.into_iter().take(if has_form { 4 } else { 3 }) {
        match value {
            Some(value) => {
                html.raw("<td>");
                compared(html, &significant(value, DIGITS), &reference);
                html.raw("</td>");
            }
            None => {
                html.raw("<td class=\"na\">none</td>");
            }
        }
    }
    if has_form {
        html.raw("<td class=\"u\">");
        match row.ulp {
            Some(ulp) => html.text(&ulp.to_string()),
            None => html.raw("–"),
        };
        html.raw("</td>");
    }
    verdict_cell(html, row.verdict);
    match (row.verdict, row.left, row.right) {
        (Verdict::Kink, Some(left), Some(right)) => {
            html.raw("kink: any of <span class=\"mono\">[").text(&short(left.min(right), 6));
            html.raw(", ").text(&short(left.max(right), 6)).raw("]</span>");
        }
        (Verdict::Agrees, ..) if row.autodiff == 0.0 => {
            html.raw("both zero");
        }
        _ => {
            html.raw(verdict(row.verdict));
        }
    }
    html.raw("</td></tr>");
}

/// Begins the cell of a verdict with its sign; the words follow.
pub(super) fn verdict_cell(html: &mut Html, verdict: Verdict) {
    let (tone, icon) = match verdict {
        Verdict::Agrees => ("t-ok", "check"),
        Verdict::Kink => ("ink2", "kink"),
        Verdict::Differs => ("t-refuse", "cross"),
    };
    html.raw("<td class=\"v ").raw(tone).raw("\">").icon(icon);
}

/// A number whose digits are dimmed from the first one that differs.
fn compared(html: &mut Html, text: &str, reference: &str) {
    let same: usize = text
        .chars()
        .zip(reference.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let (agrees, differs) = text.split_at(same);
    html.text(agrees);
    if !differs.is_empty() {
        html.raw("<span class=\"off\">").text(differs).raw("</span>");
    }
}

#[cfg(test)]
mod tests {
    use super::{Html, compared, frame, rows};
    use foldback::report::{
        CheckLine, CheckReport, CheckRow, FindingRow, Report, TrainLine, Verdict,
    };

    #[test]
    fn digits_are_dimmed_from_the_first_that_differs() {
        let mut html = Html::new();
        compared(&mut html, "−0.740741", "−0.740740");
        assert_eq!(html.done(), "−0.74074<span class=\"off\">1</span>");
    }

    fn asked() -> Report {
        Report {
            checks: vec![CheckLine { kind: "fd".to_owned(), leaf: String::new(), span: (0, 1) }],
            train: Some(TrainLine { method: "sgd".to_owned(), steps: 1, lr: 0.1, span: (0, 1) }),
            ..Report::default()
        }
    }

    #[test]
    fn the_panel_shows_what_the_text_asks_for() {
        let row = CheckRow {
            leaf: "w".to_owned(),
            index: vec![0],
            autodiff: 0.8,
            fd: Some(0.8),
            left: None,
            right: None,
            h: Some(1e-6),
            formula: Some(0.8),
            ulp: Some(0),
            fd_error: 0.0,
            error: 0.0,
            verdict: Verdict::Agrees,
        };
        let checks = CheckReport { rows: vec![row], n_entries: 1, ..CheckReport::default() };
        assert!(rows(&checks).contains("agrees"));
        assert!(frame(&asked()).contains("id=\"check-rows\""));
        assert!(frame(&Report::default()).contains("asks for no check"));
    }

    #[test]
    fn a_refused_build_has_nothing_to_check_and_a_run_that_says_why() {
        let stop = FindingRow {
            code: "gradient-shape".to_owned(),
            stops: true,
            node: Some(0),
            name: "y".to_owned(),
            ..FindingRow::default()
        };
        let html = frame(&Report { findings: vec![stop], ..asked() });
        assert!(html.contains("Nothing to check yet") && html.contains("Training run"), "{html}");
    }
}
