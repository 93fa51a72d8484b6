//! What is said of gradients beside the table of entries: the doctor, random directions, the adjoint test, and what
//! one step does to the loss.

use foldback::report::{ChangeRow, CheckReport, Verdict};

use super::checks::verdict_cell;
use crate::model::markup::Html;
use crate::model::number::{plain, significant};
use crate::model::timeline::verdict;

/// Digits of numbers that are compared.
const DIGITS: usize = 10;

/// What is likely wrong, with what shows it.
pub(super) fn doctor(html: &mut Html, checks: &CheckReport) {
    if checks.diagnoses.is_empty() {
        return;
    }
    html.raw("<section class=\"doctor\" aria-label=\"Doctor\"><h3>").icon("kink");
    html.raw("What is likely wrong</h3><ul>");
    for found in &checks.diagnoses {
        html.raw("<li><strong>").prose(&found.says).raw("</strong>");
        html.raw("<button class=\"btn line\" data-do=\"trouble ").int(found.node as usize);
        html.raw("\">Show <code>").text(&found.name).raw("</code>");
        if let Some(src) = found.src {
            html.raw(", operand ").int(usize::from(src) + 1);
        }
        html.raw("</button><p class=\"prose\">").prose(&found.evidence).raw("</p></li>");
    }
    html.raw("</ul></section>");
}

/// The tests that take a leaf or the loss as a whole.
pub(super) fn further(html: &mut Html, checks: &CheckReport) {
    if !checks.directions.is_empty() {
        table(
            html,
            "Along random directions",
            &["autodiff", "finite difference", "left slope", "right slope"],
        );
        for row in &checks.directions {
            let name = format!("{}, direction {}", row.leaf, row.number + 1);
            line(html, &name, &[row.autodiff, row.fd, row.left, row.right], row.error, row.verdict);
        }
        html.raw("</tbody></table></div>");
    }
    if !checks.adjoint.is_empty() {
        table(html, "Adjoint test: ⟨J v, u⟩ = ⟨v, Jᵀ u⟩", &["forward mode", "backward graph"]);
        for row in &checks.adjoint {
            line(html, &row.leaf, &[row.forward, row.backward], row.error, row.verdict);
        }
        html.raw("</tbody></table></div>");
    }
    if let Some(change) = &checks.change {
        step(html, change);
    }
}

fn step(html: &mut Html, change: &ChangeRow) {
    let title = format!("Change of the loss by one step, lr = {}", plain(change.lr));
    table(html, &title, &["−lr g·g + lr²/2 gᵀHg", "by forward mode", "actual"]);
    let numbers = [change.claimed, change.predicted, change.actual];
    line(html, "loss", &numbers, change.error, change.verdict);
    html.raw("</tbody></table></div>");
}

fn table(html: &mut Html, title: &str, columns: &[&str]) {
    html.raw("<div class=\"chkwrap\" tabindex=\"0\" role=\"group\" aria-label=\"").text(title);
    html.raw("\"><table class=\"chk\"><caption>").text(title);
    html.raw("</caption><thead><tr><td></td>");
    for column in columns.iter().chain(&["relative error"]) {
        html.raw("<th scope=\"col\">").text(column).raw("</th>");
    }
    html.raw("<th scope=\"col\" class=\"v\">verdict</th></tr></thead><tbody>");
}

fn line(html: &mut Html, name: &str, numbers: &[f64], error: f64, says: Verdict) {
    html.raw("<tr><th scope=\"row\"><code>").text(name).raw("</code></th>");
    for number in numbers {
        html.raw("<td>").text(&significant(*number, DIGITS)).raw("</td>");
    }
    html.raw("<td>").text(&significant(error, 2)).raw("</td>");
    verdict_cell(html, says);
    html.raw(verdict(says)).raw("</td></tr>");
}

#[cfg(test)]
mod tests {
    use super::{Html, doctor, further};
    use foldback::report::{
        AdjointRow, ChangeRow, CheckReport, DiagnosisRow, DirectionRow, Verdict,
    };

    #[test]
    fn the_doctor_names_the_mistake_its_evidence_and_the_node() {
        let found = DiagnosisRow {
            says: "a mean instead of a sum".to_owned(),
            evidence: "Every entry is 1/4 of `dw`.".to_owned(),
            node: 3,
            name: "y<".to_owned(),
            src: Some(1),
        };
        let mut html = Html::new();
        doctor(&mut html, &CheckReport { diagnoses: vec![found], ..CheckReport::default() });
        let html = html.done();
        for part in ["a mean instead", "<code>dw</code>", "trouble 3", "y&lt;", "operand 2"] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn what_was_not_asked_for_is_not_shown() {
        let mut html = Html::new();
        doctor(&mut html, &CheckReport::default());
        further(&mut html, &CheckReport::default());
        assert_eq!(html.done(), "");
    }

    #[test]
    fn further_tests_have_a_row_each() {
        let verdict = Verdict::Differs;
        let report = CheckReport {
            adjoint: vec![AdjointRow {
                leaf: "w".to_owned(),
                forward: 1.5,
                backward: 1.25,
                error: 0.25,
                verdict,
            }],
            directions: vec![DirectionRow {
                leaf: "w".to_owned(),
                number: 0,
                autodiff: 2.5,
                fd: 2.0,
                left: 1.75,
                right: 2.25,
                error: 0.2,
                verdict,
            }],
            change: Some(ChangeRow {
                lr: 0.5,
                claimed: -0.125,
                predicted: -0.25,
                actual: -0.375,
                error: 0.5,
                verdict,
            }),
            ..CheckReport::default()
        };
        let mut html = Html::new();
        further(&mut html, &report);
        let html = html.done();
        for part in ["direction 1", "1.75", "2.25", "1.25", "−0.375", "lr = 0.5", "differs"] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}
