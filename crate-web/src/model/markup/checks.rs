//! The panel of checks: every entry several ways, one step of training beside its closed form, and the loss.

use foldback::report::{CheckReport, CheckRow, Report, TrainLeaf, TrainReport, TrainStep, Verdict};

use super::Html;
use crate::model::chart::chart;
use crate::model::number::{plain, short, significant};
use crate::model::timeline::{entry, verdict};

/// Digits of the columns that are compared digit by digit.
const DIGITS: usize = 12;
/// Rows that are shown; the rest is counted.
const ROWS: usize = 200;

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

/// The panel under its title.
pub fn panel(
    report: &Report,
    checks: Option<&CheckReport>,
    training: Option<&TrainReport>,
) -> String {
    let mut html = Html::new();
    if let Some(stop) = report.findings.iter().find(|finding| finding.stops) {
        html.raw("<div class=\"empty\"><h3>Nothing to check yet</h3><p class=\"prose\">The build is refused at <code>");
        html.text(&stop.name).raw("</code>, so there is no gradient to compare.</p></div>");
        return html.done();
    }
    if report.checks.is_empty() && report.train.is_none() {
        html.raw("<div class=\"empty\"><h3>This program asks for no check</h3><p class=\"prose\">Add a line: <code>check fd</code> compares every gradient with finite differences, <code>train sgd lr=0.1</code> takes a step.</p></div>");
        return html.done();
    }
    if !report.checks.is_empty() {
        table(&mut html, checks);
    }
    if report.train.is_some() {
        html.raw("<div class=\"cards\">");
        steps(&mut html, training);
        if let Some(training) = training.filter(|training| training.losses.len() > 1) {
            html.raw("<section class=\"card\"><h3>Loss<span class=\"sub\">before each step and after the last</span></h3>");
            html.raw(&chart(&training.losses));
            html.raw("</section>");
        }
        html.raw("</div>");
    }
    html.done()
}

fn table(html: &mut Html, checks: Option<&CheckReport>) {
    html.raw("<div class=\"chkwrap\" tabindex=\"0\" role=\"group\" aria-label=\"Gradient checks\"><table class=\"chk\"><caption class=\"vh\">Gradient checks</caption><thead><tr><th scope=\"col\">cell</th>");
    for title in ["autodiff", "finite difference", "left slope", "right slope", "formula"] {
        html.raw("<th scope=\"col\">").raw(title).raw("</th>");
    }
    html.raw("<th scope=\"col\" class=\"u\">ulp</th><th scope=\"col\" class=\"v\">verdict</th></tr></thead><tbody>");
    let Some(checks) = checks else {
        html.raw("<tr><td colspan=\"8\" class=\"na\">Checking…</td></tr></tbody></table></div>");
        return;
    };
    if !checks.refused.is_empty() {
        html.raw("<tr><td colspan=\"8\" class=\"na\">").text(&checks.refused).raw("</td></tr>");
    }
    for row in checks.rows.iter().take(ROWS) {
        row_of(html, row);
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

fn row_of(html: &mut Html, row: &CheckRow) {
    html.raw("<tr><th scope=\"row\"><code>").text(&entry(&row.leaf, &row.index));
    html.raw("</code></th>");
    let reference = significant(row.autodiff, DIGITS);
    html.raw("<td>").text(&reference).raw("</td>");
    for value in [row.fd, row.left, row.right, row.formula] {
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
    html.raw("<td class=\"u\">");
    match row.ulp {
        Some(ulp) => html.text(&ulp.to_string()),
        None => html.raw("–"),
    };
    let (tone, icon) = match row.verdict {
        Verdict::Agrees => ("t-ok", "check"),
        Verdict::Kink => ("ink2", "kink"),
        Verdict::Differs => ("t-refuse", "cross"),
    };
    html.raw("</td><td class=\"v ").raw(tone).raw("\">").icon(icon);
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

fn steps(html: &mut Html, training: Option<&TrainReport>) {
    html.raw("<section class=\"card\"><h3>");
    let Some(training) = training else {
        html.raw("Training…</h3></section>");
        return;
    };
    html.text(&training.method.to_uppercase()).raw(" step<span class=\"sub\">1 of ");
    html.int(training.losses.len().saturating_sub(1)).raw(", lr = ").text(&plain(training.lr));
    html.raw("</span></h3>");
    if !training.reason.is_empty() {
        html.raw("<p class=\"prose\">").prose(&training.reason).raw("</p>");
    }
    if let Some(first) = &training.first {
        step_table(html, first, training.lr);
    }
    losses(html, training);
    html.raw("</section>");
}

fn step_table(html: &mut Html, step: &TrainStep, lr: f64) {
    let has_closed = step.leaves.iter().any(|leaf| !leaf.closed.is_empty());
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"First step\"><table class=\"mini\"><caption class=\"vh\">The first step, entry by entry</caption><thead><tr><td></td>");
    for title in ["before", "step", "after"] {
        html.raw("<th scope=\"col\">").raw(title).raw("</th>");
    }
    if has_closed {
        html.raw("<th scope=\"col\">closed form</th><th scope=\"col\" class=\"u\">ulp</th>");
    }
    html.raw("</tr></thead><tbody>");
    let mut worst = 0;
    let mut n = 0;
    for leaf in &step.leaves {
        for ix in 0..leaf.after.len() {
            n += 1;
            worst = leaf.ulp.get(ix).copied().unwrap_or(0).max(worst);
            if n <= ROWS {
                entry_row(html, leaf, ix, lr, has_closed);
            }
        }
    }
    html.raw("</tbody></table></div>");
    if has_closed {
        html.raw("<p class=\"verdict\">");
        match worst {
            0 => html
                .raw("<span class=\"tag okg\">")
                .icon("check")
                .raw("equal to the closed form, bit for bit</span>"),
            1..=4 => html
                .raw("<span class=\"tag okg\">")
                .icon("check")
                .raw("within ")
                .int(worst as usize)
                .raw(" ulp of the closed form</span>"),
            _ => html
                .raw("<span class=\"tag refg\">")
                .icon("cross")
                .int(worst as usize)
                .raw(" ulp from the closed form</span>"),
        };
        html.raw("</p>");
    }
}

fn entry_row(html: &mut Html, leaf: &TrainLeaf, ix: usize, lr: f64, has_closed: bool) {
    let at = |values: &[f64]| values.get(ix).copied().unwrap_or(f64::NAN);
    let (before, after) = (at(&leaf.before), at(&leaf.after));
    html.raw("<tr><th scope=\"row\"><code>").text(&entry(&leaf.name, &index(&leaf.shape, ix)));
    html.raw("</code></th><td>").text(&plain(before));
    html.raw("</td><td class=\"bwc\" title=\"gradient ").text(&plain(at(&leaf.grad)));
    html.raw(", lr ").text(&plain(lr)).raw("\">").text(&short(after - before, 6));
    html.raw("</td><td>").text(&plain(after)).raw("</td>");
    if has_closed {
        html.raw("<td>").text(&plain(at(&leaf.closed))).raw("</td><td class=\"u\">");
        match leaf.ulp.get(ix) {
            Some(ulp) => html.text(&ulp.to_string()),
            None => html.raw("–"),
        };
        html.raw("</td>");
    }
    html.raw("</tr>");
}

/// The index of a flat element, one number an axis.
fn index(shape: &[u32], flat: usize) -> Vec<u32> {
    let mut rest = flat;
    let mut index: Vec<u32> = shape
        .iter()
        .rev()
        .map(|extent| {
            let extent = (*extent as usize).max(1);
            let at = rest % extent;
            rest /= extent;
            at as u32
        })
        .collect();
    index.reverse();
    index
}

fn losses(html: &mut Html, training: &TrainReport) {
    let [before, after, ..] = training.losses.as_slice() else { return };
    html.raw("<table class=\"mini loss\"><caption class=\"vh\">The loss over the first step and over all</caption><thead><tr><td></td><th scope=\"col\">before</th><th scope=\"col\">after</th><th scope=\"col\">change</th></tr></thead><tbody>");
    let mut row = |name: &str, before: f64, after: f64| {
        html.raw("<tr><th scope=\"row\">").raw(name).raw("</th><td>").text(&short(before, 7));
        html.raw("</td><td>").text(&short(after, 7)).raw("</td><td>");
        html.text(&short(after - before, 6)).raw("</td></tr>");
    };
    row("loss", *before, *after);
    if let (Some(last), true) = (training.losses.last(), training.losses.len() > 2) {
        row("loss, all steps", *before, *last);
    }
    html.raw("</tbody></table>");
    // The first order prediction: what the slope alone promises.
    if let Some(first) = &training.first {
        let squares: f64 = first.leaves.iter().flat_map(|leaf| &leaf.grad).map(|g| g * g).sum();
        if training.method == "sgd" {
            html.raw("<p class=\"prose\">The slope alone promises a change of −lr · |g|² = <code>");
            html.text(&short(-training.lr * squares, 6)).raw("</code>.</p>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Html, compared, index, panel};
    use foldback::report::{
        CheckLine, CheckReport, CheckRow, Report, TrainLeaf, TrainLine, TrainReport, TrainStep,
        Verdict,
    };

    #[test]
    fn digits_are_dimmed_from_the_first_that_differs() {
        let mut html = Html::new();
        compared(&mut html, "−0.740741", "−0.740740");
        assert_eq!(html.done(), "−0.74074<span class=\"off\">1</span>");
    }

    #[test]
    fn an_index_counts_row_major() {
        assert_eq!(index(&[2, 3], 4), [1, 1]);
        assert_eq!(index(&[], 0), [] as [u32; 0]);
    }

    #[test]
    fn the_panel_shows_what_the_text_asks_for() {
        let asked = Report {
            checks: vec![CheckLine { kind: "fd".to_owned(), leaf: String::new(), span: (0, 1) }],
            train: Some(TrainLine { method: "sgd".to_owned(), steps: 1, lr: 0.1, span: (0, 1) }),
            ..Report::default()
        };
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
        let leaf = TrainLeaf {
            name: "w".to_owned(),
            shape: vec![1],
            before: vec![f64::from(0.3_f32)],
            grad: vec![0.8],
            after: vec![f64::from(0.22_f32)],
            closed: vec![f64::from(0.22_f32)],
            ulp: vec![0],
        };
        let training = TrainReport {
            method: "sgd".to_owned(),
            lr: 0.1,
            losses: vec![0.6, 0.4],
            first: Some(TrainStep { step: 1, loss: 0.6, leaves: vec![leaf] }),
            ..TrainReport::default()
        };
        let html = panel(&asked, Some(&checks), Some(&training));
        for part in ["agrees", "bit for bit", "<td>0.22</td>", "<svg"] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(panel(&asked, None, None).contains("Checking…"));
        assert!(panel(&Report::default(), None, None).contains("asks for no check"));
    }
}
