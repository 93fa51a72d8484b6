//! Every code of the list: the smallest text that produces it, and where it stands.

use foldback::refusal::Code;
use foldback::report::{FindingRow, Weight};
use foldback_tests::analyse;
use foldback_tests::codes::{MINIMAL, Minimal, each};

fn is(finding: &FindingRow, m: &Minimal) -> bool {
    finding.code == m.code.name() && (m.node.is_empty() || finding.name == m.node)
}

#[test]
fn each_code_has_a_text() {
    for code in Code::ALL {
        let made = MINIMAL.iter().any(|m| m.code == *code) || *code == Code::TooManyNodes;
        assert!(made, "no text produces {code}");
    }
}

#[test]
fn each_text_produces_its_code_at_its_place() {
    let mut wrong = Vec::new();
    for (m, text) in each() {
        let analysis = analyse(&text);
        let findings = &analysis.report.findings;
        let Some(found) = findings.iter().find(|f| is(f, m)) else {
            let all: Vec<String> =
                findings.iter().map(|f| format!("{} at {}", f.code, f.name)).collect();
            wrong.push(format!("{} at {:?}: {all:?} in\n{text}", m.code, m.node));
            continue;
        };
        let under = found.span.and_then(|(a, b)| text.get(a as usize..b as usize)).unwrap_or("");
        if found.src != m.src || !m.under.is_empty() && under != m.under {
            wrong.push(format!("{}: source {:?}, under {under:?} in\n{text}", m.code, found.src));
        }
        let said = [&found.message, &found.title, &found.next];
        if said.iter().any(|s| s.is_empty()) {
            wrong.push(format!("{}: something is not said in {said:?}", m.code));
        }
        // The minimal text has nothing else wrong with it.
        let others = findings.iter().filter(|f| f.weight == Weight::Error && f.code != found.code);
        let others: Vec<&str> = others.map(|f| f.code.as_str()).collect();
        if !others.is_empty() && m.code != Code::Syntax {
            wrong.push(format!("{}: beside {others:?} in\n{text}", m.code));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_code_appears_only_under_the_rules_that_produce_it() {
    for m in MINIMAL {
        let others = ["ggml", "upstream", "numpy"];
        for rules in others.into_iter().filter(|r| !m.rules.split(' ').any(|own| own == *r)) {
            let text = format!("rules {rules}\n{}\n", m.text);
            let analysis = analyse(&text);
            let found = analysis.report.findings.iter().any(|f| is(f, m));
            assert!(!found, "{} under {rules} in\n{text}", m.code);
        }
    }
}
