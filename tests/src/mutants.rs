//! Mutants of rules, made from their text: a term, a sign, a reduction or a contribution left out, one at a time.
//! Deliberately absent: a parser. A mutant that does not compile is told from one that survives.

use crate::sources::Source;

/// One change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The file, from the root.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// What is done, in a few words.
    pub what: String,
    /// The whole text afterwards.
    pub text: String,
}

/// Calls by which a rule makes a node.
const CALLS: &[&str] = &[
    "emit.op(",
    "emit.with(",
    "emit.mul(",
    "emit.sub(",
    "emit.add(",
    "emit.div(",
    "emit.neg(",
    "emit.scaled(",
    "emit.sum_kept(",
    "emit.mean_kept(",
];

/// Words and what stands in their place.
const WORDS: &[(&str, &str)] = &[
    ("OpKind::Mul,", "OpKind::Div,"),
    ("OpKind::Add,", "OpKind::Sub,"),
    ("OpKind::GreaterEqual", "OpKind::Less"),
    ("OpKind::LessEqual", "OpKind::Greater"),
    (
        "folded(",
        "(|src, value| crate::ops::def::Contribution { src, via: crate::trace::Accum::Add, value, fold: false })(",
    ),
    ("out.push(", "drop::<crate::ops::def::Contribution>("),
];

/// The same for the driver, whose code is conditions rather than terms.
const CONDITIONS: &[(&str, &str)] = &[
    (" == ", " != "),
    (" != ", " == "),
    (" && ", " || "),
    (" || ", " && "),
    ("if !", "if "),
    ("true", "false"),
];

/// All mutants of a file of rules, or of the driver.
pub fn mutants(source: &Source) -> Vec<Mutant> {
    let driver = source.path.contains("/autodiff");
    let mut out = Vec::new();
    let mut make = |at: usize, end: usize, with: &str, what: String| {
        let mut text = source.text.clone();
        text.replace_range(at..end, with);
        let line = source.text.get(..at).map_or(0, |before| before.matches('\n').count()) + 1;
        out.push(Mutant { path: source.path.clone(), line, what, text });
    };
    let body = code_of(source, driver);
    for call in CALLS {
        for (at, _) in source.text.match_indices(call) {
            if !body.contains(&at) {
                continue;
            }
            let open = at + call.len() - 1;
            let Some(close) = closing(&source.text, open) else { continue };
            let end =
                if source.text.get(close..close + 2) == Some(")?") { close + 2 } else { close + 1 };
            let inside = source.text.get(open + 1..close).unwrap_or("");
            for operand in operands(inside) {
                let with =
                    if end == close + 2 { operand.to_owned() } else { format!("Ok({operand})") };
                let what = format!(
                    "`{}` instead of `{}`",
                    short(operand),
                    short(source.text.get(at..end).unwrap_or(""))
                );
                make(at, end, &with, what);
            }
        }
    }
    for (word, with) in if driver { CONDITIONS } else { WORDS } {
        for (at, _) in source.text.match_indices(word).filter(|(at, _)| body.contains(at)) {
            let line = source.text.get(at..).unwrap_or("").lines().next().unwrap_or("");
            make(
                at,
                at + word.len(),
                with,
                format!("`{}` for `{}` in `{}`", short(with), word.trim(), short(line)),
            );
        }
    }
    out.sort_by_key(|m| m.line);
    out
}

/// Where a file's rules, or the driver's decisions, stand.
fn code_of(source: &Source, driver: bool) -> std::ops::Range<usize> {
    let end = source.text.find("#[cfg(test)]").unwrap_or(source.text.len());
    let start = if driver { source.text.find("impl ") } else { source.text.find("const DEF") };
    start.unwrap_or(0)..end
}

/// The place of the bracket that closes the one at `open`.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.get(open..)?.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(open + at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The nodes that a call is given: the list after the op, or the arguments themselves.
fn operands(inside: &str) -> Vec<&str> {
    let list = match inside.find("&[") {
        Some(at) => closing(inside, at + 1).and_then(|end| inside.get(at + 2..end)).unwrap_or(""),
        None => inside,
    };
    let mut out = Vec::new();
    let (mut depth, mut from) = (0usize, 0);
    for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                out.extend(list.get(from..at).map(str::trim).filter(|s| !s.is_empty()));
                from = at + 1;
            }
            _ => {}
        }
    }
    out
}

fn short(text: &str) -> String {
    let flat: Vec<&str> = text.split_whitespace().collect();
    let flat = flat.join(" ");
    if flat.chars().count() > 70 {
        format!("{}…", flat.chars().take(69).collect::<String>())
    } else {
        flat
    }
}

#[cfg(test)]
mod tests {
    use super::{mutants, operands};
    use crate::sources::Source;

    #[test]
    fn each_operand_stands_for_the_whole() {
        assert_eq!(operands("OpKind::Mul, &[site.grad, f(a, b)]"), ["site.grad", "f(a, b)"]);
        assert_eq!(operands("a, b"), ["a", "b"]);
    }

    #[test]
    fn a_sign_is_left_out() {
        let text = "const DEF: OpDef = 1;\nfn rule() { out.push(folded(1, emit.op(OpKind::Neg, &[site.grad])?)); }\n";
        let source = Source { path: "ops/x.rs".into(), at: "x".into(), text: text.into() };
        let all = mutants(&source);
        assert!(all.iter().any(|m| m.text.contains("folded(1, site.grad)")), "{all:?}");
        assert_eq!(all.len(), 3, "the sign, the fold and the contribution");
    }
}
