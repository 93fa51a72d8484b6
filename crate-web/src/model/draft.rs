//! A graph that is still being drawn: what is open is shown with what is known, in place of the last whole picture.
//!
//! The report of a text with open inputs ends before them. Here the nodes that wait for them are added, as the
//! language's own sketch has them, and what a whole graph alone can have is left out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldback::lang::patch::{Drawn, DrawnKind, Input, sketch};
use foldback::report::{NodeRow, Report, Role, TickGlyph, Weight};

/// An extent that is not known yet; [`measure::shape`](super::measure::shape) writes it as `?`.
pub const UNKNOWN: u32 = u32::MAX;

/// The report with its open nodes; the same where there is none, or where something else is wrong, too.
pub fn drafted<'a>(report: &'a Report, text: &str) -> Cow<'a, Report> {
    let mut errors = report.findings.iter().filter(|finding| finding.weight == Weight::Error);
    let is_open = errors.clone().count() > 0 && errors.all(|finding| finding.code == "open-input");
    if report.whole || !is_open {
        return Cow::Borrowed(report);
    }
    let mut report = report.clone();
    let n = report.n_forward as usize;
    report.nodes.truncate(n);
    report.ticks.retain(|tick| matches!(tick.kind, TickGlyph::Shape | TickGlyph::Value));
    report.loss = None;
    report.grads = vec![None; n];
    report.needed = vec![false; n];
    report.checks.clear();
    report.train = None;
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    for (ix, node) in report.nodes.iter().enumerate() {
        known.insert(node.name.clone(), ix as u32);
    }
    for drawn in sketch(text) {
        if !known.contains_key(&drawn.name) {
            known.insert(drawn.name.clone(), report.nodes.len() as u32);
            report.nodes.push(row(&drawn, &known, text));
        }
    }
    report.n_forward = report.nodes.len() as u32;
    report.grads.resize(report.nodes.len(), None);
    report.needed.resize(report.nodes.len(), false);
    report.whole = true;
    Cow::Owned(report)
}

fn row(drawn: &Drawn, known: &BTreeMap<String, u32>, text: &str) -> NodeRow {
    let (role, op) = match &drawn.kind {
        DrawnKind::Param => (Role::Param, "param"),
        DrawnKind::Const => (Role::Const, "const"),
        DrawnKind::Op(op) | DrawnKind::Call(op) => (Role::Op, op.as_str()),
        DrawnKind::Open | DrawnKind::Unread => (Role::Op, ""),
    };
    let mut src = Vec::new();
    let mut word = op.to_owned();
    for slot in &drawn.slots {
        match &slot.reads {
            Input::Node(name) => src.extend(known.get(name).copied()),
            Input::Open => word.push_str(" ?"),
            Input::Number(number) | Input::Unknown(number) => {
                word.push(' ');
                word.push_str(number);
            }
        }
    }
    if drawn.kind == DrawnKind::Open {
        word.push('?');
    }
    let span = (drawn.span.start, drawn.span.end);
    NodeRow {
        name: drawn.name.clone(),
        role,
        op: op.to_owned(),
        word: word.trim().to_owned(),
        formula: text.get(span.0 as usize..span.1 as usize).unwrap_or_default().to_owned(),
        dtype: "open".to_owned(),
        shape: drawn.shape.clone().unwrap_or_else(|| vec![UNKNOWN]),
        axes: vec![String::new(); drawn.shape.as_ref().map_or(1, Vec::len)],
        stretch: vec![Vec::new(); src.len()],
        sends: vec![String::new(); src.len()],
        src_spans: vec![None; src.len()],
        src,
        span: Some(span),
        ..NodeRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::{UNKNOWN, drafted};
    use crate::model::answer::Answer;
    use crate::model::layout::Orientation;
    use foldback::construct::Budget;
    use foldback::report::{Report, analyse};

    fn draft(text: &str) -> Report {
        drafted(&analyse(text, &Budget::default()).report, text).into_owned()
    }

    #[test]
    fn an_open_node_and_what_waits_for_it_are_drawn() {
        let text = "rules numpy\nparam w [2] = [1, 2]\ny = w / ?\nz = exp(y)\nloss = sum(z)\n";
        let report = draft(text);
        let words: Vec<_> =
            report.nodes.iter().map(|node| (node.name.as_str(), node.word.as_str())).collect();
        assert_eq!(words, [("w", "param"), ("y", "div ?"), ("z", "exp"), ("loss", "sum")]);
        assert!(report.whole && report.loss.is_none());
        assert_eq!(
            (&report.nodes[2].src[..], &report.nodes[2].shape[..]),
            (&[1][..], &[UNKNOWN][..])
        );
        let picture = Answer::new(report, Orientation::Wide).picture;
        assert_eq!(picture.boxes.len(), 4);
    }

    #[test]
    fn a_whole_text_and_a_broken_one_stay_as_they_are() {
        for text in
            ["param w = 1\nloss = w * w\n", "param w = 1\ny = w +\n", "y = ?\nz = nothing\n", ""]
        {
            let report = analyse(text, &Budget::default()).report;
            assert_eq!(*drafted(&report, text), report, "{text}");
        }
    }

    #[test]
    fn whatever_is_open_is_drawn_without_a_panic() {
        for text in [
            "y = ?",
            "y = ? + ?",
            "fn f(a) { return a }\ny = f(?)",
            "y = sum(? * ?)\nz = y",
            "param p [2] = ?",
            "x = ?\ny = x[0]",
        ] {
            let _ = Answer::new(draft(text), Orientation::Tall);
        }
    }
}
