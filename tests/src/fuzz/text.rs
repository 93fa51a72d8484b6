//! Programs: tokens of the language, lines of other programs, and what a front end asks of each.

use foldback::construct::Budget;
use foldback::lang::lower::{Loaded, Unloaded, Wanted};
use foldback::lang::spell::TableNames;
use foldback::lang::{self, format_with};
use foldback::report::draw::draw;
use foldback::report::{Analysis, analyse_with, json};
use foldback::rules::RuleSet;

use super::pick;
use crate::codes::MINIMAL;
use crate::generate::{SMALL, noisy, program, text, token};
use crate::golden::suite;
use crate::invariant::{broken, prefixes_fold};
use crate::rng::Rng;

/// Small enough for hundreds of programs a second.
const BUDGET: Budget = Budget { steps: 20, ..SMALL };

/// The longest program.
const MOST: usize = 3000;

/// The suite, a program for each code, and random ones.
pub fn seeds() -> Vec<Vec<u8>> {
    let suite = suite().into_iter().map(|(_, _, text)| text);
    let codes = MINIMAL
        .iter()
        .flat_map(|m| m.rules.split(' ').map(|rules| format!("rules {rules}\n{}\n", m.text)));
    let random = (0..60).map(|seed| {
        let rules = RuleSet::ALL[seed as usize % RuleSet::ALL.len()];
        program(&mut Rng::new(seed), rules, 8)
    });
    suite.chain(codes).chain(random).map(String::into_bytes).collect()
}

/// Another program.
pub fn mutate(rng: &mut Rng, pool: &[Vec<u8>]) -> Vec<u8> {
    let one = String::from_utf8_lossy(pick(rng, pool)).into_owned();
    let mut out = match rng.below(12) {
        0 => text(rng),
        1 => {
            let (rules, n_lines) = (rng.pick(RuleSet::ALL), 2 + rng.below(8));
            program(rng, rules, n_lines)
        }
        2 => noisy(rng, &one),
        _ => one,
    };
    for _ in 0..rng.below(5) {
        let other = String::from_utf8_lossy(pick(rng, pool));
        out = match rng.below(3) {
            0 => by_line(rng, &out, &other),
            _ => by_token(rng, &out),
        };
    }
    let end = out.char_indices().map(|(at, _)| at).take_while(|at| *at <= MOST).last();
    out.truncate(if out.len() > MOST { end.unwrap_or(0) } else { out.len() });
    out.into_bytes()
}

/// A line added, removed, repeated or moved.
fn by_line(rng: &mut Rng, text: &str, other: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let (at, from) = (rng.below(lines.len() + 1), rng.below(lines.len()));
    let theirs: Vec<&str> = other.lines().collect();
    match rng.below(4) {
        0 if !lines.is_empty() => {
            lines.remove(from);
        }
        1 if !lines.is_empty() => lines.insert(at, lines[from]),
        2 if !lines.is_empty() => {
            let line = lines.remove(from);
            lines.insert(at.min(lines.len()), line);
        }
        _ => {
            let from = rng.below(theirs.len());
            let end = (from + 1 + rng.below(4)).min(theirs.len());
            lines.splice(at..at, theirs.get(from..end).unwrap_or_default().iter().copied());
        }
    }
    lines.join("\n") + "\n"
}

/// A token changed for another one of the program or of the language.
fn by_token(rng: &mut Rng, text: &str) -> String {
    let tokens = tokens(text);
    let at = rng.below(tokens.len());
    let own = tokens.get(rng.below(tokens.len())).copied().unwrap_or_default();
    let number = format!("{}", rng.below(9) as i64 - 2);
    let new = match rng.below(5) {
        0 => "",
        1 | 2 => own,
        3 => number.as_str(),
        _ => token(rng),
    };
    let keeps = rng.chance(30);
    let mut out = String::new();
    for (ix, token) in tokens.iter().enumerate() {
        if ix == at {
            out.push_str(new);
        }
        if ix != at || keeps {
            out.push_str(token);
        }
    }
    out
}

/// Names and numbers, spaces, and each other letter by itself.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '.' => 0,
        ' ' => 1,
        _ => 2,
    };
    let mut out = Vec::new();
    let mut start = 0;
    let mut before = 2;
    for (at, c) in text.char_indices() {
        if at > start && (kind(c) != before || kind(c) == 2) {
            out.push(&text[start..at]);
            start = at;
        }
        before = kind(c);
    }
    out.push(&text[start..]);
    out
}

/// Files for `load`: the shape is in the name, `2x3.npy`.
fn file(wanted: Wanted<'_>) -> Result<Loaded, Unloaded> {
    let stem = wanted.file.split('.').next().unwrap_or_default();
    let dims: Option<Vec<u32>> = stem.split('x').map(|d| d.parse().ok()).collect();
    let dims = dims.ok_or_else(|| Unloaded::Unusable("there is no such file".to_owned()))?;
    let n = dims.iter().try_fold(1u64, |n, d| n.checked_mul(u64::from(*d)));
    let Some(n) = n.filter(|n| *n <= wanted.budget.tensor_elements) else {
        return Err(Unloaded::TooLarge);
    };
    Ok(Loaded { dims, values: (0..n).map(|x| x as f64).collect() })
}

/// Everything that a front end asks of a program.
///
/// # Panics
/// If something does not hold.
pub fn run(input: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(input);
    let analysis = analyse_with(&text, &BUDGET, &file);
    let broken = broken(&analysis);
    assert!(broken.is_empty(), "{broken:?}");
    if analysis.trace.events.len() < 300 {
        assert!(prefixes_fold(&analysis), "a prefix of the trace does not fold");
    }
    assert!(!analysis.digest().is_empty());
    assert_eq!(analysis.log().len(), analysis.trace.events.len());
    let once = format_with(&lang::parse(&text).ast, &TableNames);
    let twice = format_with(&lang::parse(&once).ast, &TableNames);
    assert_eq!(once, twice, "formatting twice differs");
    for (ix, finding) in analysis.report.findings.iter().enumerate() {
        let whole = |(start, end): (u32, u32)| text.get(start as usize..end as usize).is_some();
        assert!(finding.span.is_none_or(whole), "{} has a bad span", finding.code);
        assert!(!finding.message.is_empty(), "{} says nothing", finding.code);
        for (start, end, _) in finding.fixes.iter().flat_map(|fix| &fix.edits) {
            assert!(whole((*start, *end)), "{} has a bad edit", finding.code);
        }
        for fix in &finding.fixes {
            fix.edits.iter().fold(0, |last, (start, end, _)| {
                assert!(*start >= last, "edits of {} overlap", finding.code);
                *end
            });
        }
        if ix < 3 {
            assert!(draw("f.fold", &text, finding, ix == 0).contains(&finding.code));
        }
    }
    if let Some(fix) = analysis.report.findings.iter().find_map(|f| f.fixes.first()) {
        analyse_with(&crate::apply(&text, fix), &BUDGET, &file);
    }
    reached(&analysis)
}

/// The object of `check --json` can be read, and says what the analysis says.
///
/// # Panics
/// If it cannot, or does not.
pub fn run_json(input: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(input);
    let string: String = serde_json::from_str(&json::string(&text)).unwrap();
    assert_eq!(string, text);
    let analysis = analyse_with(&text, &BUDGET, &file);
    let answer = json::answer(&analysis);
    let value: serde_json::Value = serde_json::from_str(&answer.json).unwrap();
    assert_eq!(value["findings"].as_array().unwrap().len(), analysis.report.findings.len());
    let nodes = value["nodes"].as_array().unwrap();
    for node in nodes {
        let dims = node["shape"].as_array().unwrap().iter().map(|d| d.as_u64().unwrap());
        assert_eq!(node["value"].as_array().unwrap().len() as u64, dims.product::<u64>());
    }
    let mut events = String::new();
    json::events(&analysis, &mut events).unwrap();
    let events: serde_json::Value = serde_json::from_str(&events).unwrap();
    assert_eq!(events.as_array().unwrap().len(), analysis.trace.events.len());
    let mut out = reached(&analysis);
    out.push(format!("status {}", answer.status));
    for (kind, leaves) in value["checks"].as_object().unwrap() {
        for leaf in leaves.as_object().unwrap().values() {
            out.push(format!("{kind} {}", leaf["verdict"]));
        }
    }
    out.push(format!("train {}", value["train"]["state"]));
    out
}

/// Codes with their ops, ops with their rules, and how the build ended.
fn reached(analysis: &Analysis) -> Vec<String> {
    let report = &analysis.report;
    let findings = report.findings.iter().map(|f| {
        let stage = if f.stops { "stops" } else { "" };
        format!("{} {} {:?} {stage} {}", f.code, f.op, f.src, report.rules)
    });
    let forward = report.nodes.iter().take(report.n_forward as usize);
    let ops = forward.filter(|n| !n.op.is_empty()).map(|n| format!("{} {}", n.op, report.rules));
    let end = match (analysis.trace.refusal(), report.loss) {
        (Some(_), _) => "refused",
        (None, Some(_)) => "built",
        (None, None) => "forward",
    };
    let lines = format!("{end} {} {}", report.checks.len().min(3), report.train.is_some());
    findings.chain(ops).chain([lines]).collect()
}
