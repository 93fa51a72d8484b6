//! Mutants of rules, made from their text: a term, a sign, a reduction or a contribution left out, one at a time.
//! Deliberately absent: a parser. A mutant that does not compile is told from one that survives.

pub mod equivalent;
pub mod schema;
pub mod scratch;

use std::ops::Range;

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
    /// What is replaced, in bytes.
    pub span: Range<usize>,
    /// What stands there then.
    pub with: String,
    /// How it is switched on at run time.
    pub guard: Guard,
}

impl Mutant {
    /// The whole text of its file with this one change.
    pub fn text(&self, source: &Source) -> String {
        let mut text = source.text.clone();
        text.replace_range(self.span.clone(), &self.with);
        text
    }
}

/// How a mutant and the original stand in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// What is replaced is an expression: a branch chooses.
    Branch,
    /// This stands in its place, where `#` is the mutant's number.
    Text(&'static str),
}

/// Calls by which a rule makes a node, and how many of their arguments are nodes; none says that a list names them.
const CALLS: &[(&str, Option<usize>)] = &[
    ("emit.op(", None),
    ("emit.with(", None),
    ("emit.mul(", Some(2)),
    ("emit.sub(", Some(2)),
    ("emit.add(", Some(2)),
    ("emit.div(", Some(2)),
    ("emit.neg(", Some(1)),
    ("emit.affine(", Some(1)),
    ("emit.one_minus(", Some(1)),
    ("emit.above(", Some(1)),
    ("emit.below(", Some(1)),
    ("emit.within(", Some(1)),
    ("emit.pick(", Some(3)),
    ("emit.pick_or(", Some(2)),
    ("emit.sum_kept(", Some(1)),
    ("emit.mean_kept(", Some(1)),
];

/// A word, and what stands in its place.
struct Word {
    of: &'static str,
    with: &'static str,
    /// The same in short.
    says: &'static str,
    guard: Guard,
}

const fn branch(of: &'static str, with: &'static str) -> Word {
    Word { of, with, says: with, guard: Guard::Branch }
}

/// Words of rules.
const WORDS: &[Word] = &[
    branch("OpKind::Mul", "OpKind::Div"),
    branch("OpKind::Div", "OpKind::Mul"),
    branch("OpKind::Add", "OpKind::Sub"),
    branch("OpKind::Sub", "OpKind::Add"),
    branch("OpKind::GreaterEqual", "OpKind::Less"),
    branch("OpKind::LessEqual", "OpKind::Greater"),
    branch("-0.5", "0.5"),
    branch("-1.0", "1.0"),
    Word {
        of: "folded(",
        with: "(|src, value| crate::ops::def::Contribution { src, via: crate::trace::Accum::Add, value, fold: false })(",
        says: "unfolded(",
        guard: Guard::Text("crate::mutant::folded(#, "),
    },
    Word {
        of: "out.push(",
        with: "drop::<crate::ops::def::Contribution>(",
        says: "drop(",
        guard: Guard::Text("crate::mutant::push(#, &mut out, "),
    },
    Word {
        of: "one(",
        with: "(|_: crate::graph::NodeId| Ok(Vec::new()))(",
        says: "none(",
        guard: Guard::Text("crate::mutant::one(#, "),
    },
];

/// Words of the driver, whose code is conditions rather than terms.
const CONDITIONS: &[Word] = &[
    branch(" == ", " != "),
    branch(" != ", " == "),
    branch(" && ", " || "),
    branch(" || ", " && "),
    Word { of: "if !", with: "if ", says: "if", guard: Guard::Text("if !crate::mutant::is(#) ^ ") },
    branch("true", "false"),
];

/// All mutants of the sources of rules and driver whose path contains this, in their order.
pub fn all(only: &str) -> Vec<(Source, Vec<Mutant>)> {
    ["crate-core/src/autodiff", "crate-core/src/ops"]
        .into_iter()
        .flat_map(|folder| crate::sources::sources(folder, ".rs"))
        .filter(|s| !s.path.ends_with("/def.rs") && s.path.contains(only))
        .map(|s| {
            let found = mutants(&s);
            (s, found)
        })
        .collect()
}

/// All mutants of a file of rules, or of the driver.
pub fn mutants(source: &Source) -> Vec<Mutant> {
    let text = source.text.as_str();
    let driver = source.path.contains("/autodiff");
    let body = code_of(source, driver);
    let mut out = Vec::new();
    let mut make = |span: Range<usize>, with: String, guard: Guard, what: String| {
        let line_at = text.get(..span.start).and_then(|t| t.rfind('\n')).map_or(0, |at| at + 1);
        let before = text.get(line_at..span.start).unwrap_or("");
        let is_code = !before.contains("//") && before.matches('"').count().is_multiple_of(2);
        if body.contains(&span.start) && is_code {
            let line = text.get(..span.start).map_or(0, |t| t.matches('\n').count()) + 1;
            out.push(Mutant { path: source.path.clone(), line, what, span, with, guard });
        }
    };
    for (span, with) in calls(text) {
        let what = format!("`{}` instead of `{}`", short(&with), short(&text[span.clone()]));
        make(span, with, Guard::Branch, what);
    }
    for word in if driver { CONDITIONS } else { WORDS } {
        for (at, _) in text.match_indices(word.of).filter(|(at, _)| stands_alone(text, *at, word)) {
            let line = text.get(at..).unwrap_or("").lines().next().unwrap_or("");
            let what =
                format!("`{}` for `{}` in `{}`", word.says.trim(), word.of.trim(), short(line));
            let token = at..at + word.of.len();
            let span = match word.of {
                " == " | " != " => around(text, &token, true),
                " && " | " || " => around(text, &token, false),
                _ => token.clone(),
            };
            let with = [&text[span.start..token.start], word.with, &text[token.end..span.end]];
            make(span, with.concat(), word.guard.clone(), what);
        }
    }
    out.sort_by_key(|m| (m.line, m.span.start));
    out
}

/// Every call that makes a node, and what else could stand there: each of the nodes it is given, or its opposite.
fn calls(text: &str) -> Vec<(Range<usize>, String)> {
    let mut out = Vec::new();
    for (call, n) in CALLS {
        for (at, _) in text.match_indices(call) {
            let open = at + call.len() - 1;
            let Some((span, inside)) = call_at(text, at, open) else { continue };
            let nodes = match n {
                Some(n) => parts(inside).into_iter().take(*n).collect(),
                None => listed(inside),
            };
            out.extend(nodes.iter().map(|node| (span.clone(), result(text, &span, node))));
            let opposite = match *call {
                "emit.add(" => "emit.sub(",
                "emit.sub(" => "emit.add(",
                _ => continue,
            };
            out.push((span.clone(), format!("{opposite}{}", &text[open + 1..span.end])));
        }
    }
    // Functions of ours that make one from another.
    for (open, _) in text.match_indices("(emit, ") {
        let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.');
        let before = text[..open].trim_end_matches(name);
        let Some((span, inside)) = call_at(text, before.len(), open) else { continue };
        let of = parts(inside).into_iter().nth(1).unwrap_or_default();
        if before.len() < open && of != "site" && !of.starts_with('&') && !before.ends_with("fn ") {
            let several = of.strip_prefix('[').and_then(|of| of.strip_suffix(']'));
            let nodes = several.map_or_else(|| vec![of.clone()], parts);
            out.extend(nodes.iter().map(|node| (span.clone(), result(text, &span, node))));
        }
    }
    out
}

/// A call's place, with the `?` after it, and its arguments.
fn call_at(text: &str, at: usize, open: usize) -> Option<(Range<usize>, &str)> {
    let close = closing(text, open)?;
    let end = if text.get(close..close + 2) == Some(")?") { close + 2 } else { close + 1 };
    Some((at..end, text.get(open + 1..close)?))
}

/// A node in the place of a call.
fn result(text: &str, span: &Range<usize>, node: &str) -> String {
    if text[span.clone()].ends_with('?') { node.to_owned() } else { format!("Ok({node})") }
}

/// Whether a word is one, and no part of another.
fn stands_alone(text: &str, at: usize, word: &Word) -> bool {
    let before = text[..at].chars().next_back().unwrap_or(' ');
    let after = text[at + word.of.len()..].chars().next().unwrap_or(' ');
    let begins = !word.of.starts_with(|c: char| c.is_alphanumeric())
        || !(before.is_alphanumeric() || matches!(before, '_' | '.' | ':'));
    let ends = !word.of.starts_with("OpKind") && !word.of.starts_with('-') || after == ',';
    begins && ends && !text[..at].ends_with("fn ")
}

/// The comparison, or the whole condition, in which an operator stands.
fn around(text: &str, token: &Range<usize>, comparison: bool) -> Range<usize> {
    let joins = |part: &str| part.starts_with("&&") || part.starts_with("||");
    let before = |at: usize, word: &str| text.get(..=at).is_some_and(|t| t.ends_with(word));
    let words = ["if ", "while ", "match ", "return ", "let ", " = ", "=> "];
    let (mut depth, mut start) = (0usize, token.start);
    for (at, c) in text[..token.start].char_indices().rev() {
        let rest = &text[at..token.start];
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth > 0 => depth -= 1,
            '(' | '[' | '{' | '}' | ',' | ';' if depth == 0 => break,
            _ if depth > 0 => {}
            _ if comparison && (before(at, "&&") || before(at, "||")) => break,
            // A closure's head ends; an `or` has two bars.
            '|' if !text[..at].ends_with('|') && !rest.starts_with("||") => break,
            _ if words.iter().any(|w| before(at, w)) => break,
            _ => {}
        }
        start = at;
    }
    let (mut depth, mut end) = (0usize, token.end);
    for (at, c) in text[token.end..].char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            ')' | ']' | '{' | '}' | ',' | ';' if depth == 0 => break,
            _ if depth == 0 && comparison && joins(&text[token.end + at..]) => break,
            _ if depth == 0 && text[token.end + at..].starts_with("=>") => break,
            _ => {}
        }
        end = token.end + at + c.len_utf8();
    }
    let start = start + (text[start..end].len() - text[start..end].trim_start().len());
    start..start + text[start..end].trim_end().len()
}

/// Where a file's rules, or the driver's decisions, stand.
fn code_of(source: &Source, driver: bool) -> Range<usize> {
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

/// The nodes that a call is given: those of the list after the op.
fn listed(inside: &str) -> Vec<String> {
    let list = inside.find("&[").and_then(|at| inside.get(at + 2..closing(inside, at + 1)?));
    let named = || inside.split(',').nth(1).and_then(|arg| arg.trim().strip_prefix('&'));
    match list {
        Some(list) => parts(list),
        // A list with a name: its first node.
        None => named().map(|name| format!("{name}[0]")).into_iter().collect(),
    }
}

/// What stands between commas.
fn parts(list: &str) -> Vec<String> {
    let mut out = Vec::new();
    let (mut depth, mut from) = (0usize, 0);
    for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                let part = list.get(from..at).map(str::trim).filter(|s| !s.is_empty());
                out.extend(part.map(str::to_owned));
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
    use super::{around, listed, mutants, parts};
    use crate::sources::Source;

    #[test]
    fn each_operand_stands_for_the_whole() {
        assert_eq!(listed("OpKind::Mul, &[site.grad, f(a, b)]"), ["site.grad", "f(a, b)"]);
        assert_eq!(listed("OpKind::Mul, &both, vec![]"), ["both[0]"]);
        assert_eq!(parts("a, of(&[b])"), ["a", "of(&[b])"]);
    }

    #[test]
    fn a_sign_is_left_out() {
        let text = "const DEF: OpDef = 1;\nfn rule() { out.push(folded(1, emit.op(OpKind::Neg, &[site.grad])?)); }\n";
        let source = Source { path: "ops/x.rs".into(), at: "x".into(), text: text.into() };
        let all = mutants(&source);
        let texts: Vec<String> = all.iter().map(|m| m.text(&source)).collect();
        assert!(texts.iter().any(|t| t.contains("folded(1, site.grad)")), "{texts:?}");
        assert_eq!(all.len(), 3, "the sign, the fold and the contribution");
    }

    #[test]
    fn a_condition_ends_where_another_begins() {
        let text = "let x = a.b(c) == d && e != g || f;";
        let at = |op: &str| text.find(op).map_or(0, |at| at);
        assert_eq!(&text[around(text, &(at(" == ")..at(" == ") + 4), true)], "a.b(c) == d");
        assert_eq!(&text[around(text, &(at(" != ")..at(" != ") + 4), true)], "e != g");
        let whole = "a.b(c) == d && e != g || f";
        assert_eq!(&text[around(text, &(at(" && ")..at(" && ") + 4), false)], whole);
    }
}
