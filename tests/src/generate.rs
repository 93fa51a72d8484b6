//! Random documents: programs that the op table allows, and texts that nothing allows.
//! Ops, attributes and signs come from the rows, so a new op is generated the day it is entered.

use foldback::construct::Budget;
use foldback::ops::OpKind;
use foldback::ops::def::{OpDef, ParamKind, Sign, Storage};
use foldback::report::{Weight, analyse};
use foldback::rules::RuleSet;

use crate::rng::Rng;

const SHAPES: &[&str] = &[
    "[]",
    "[1]",
    "[2]",
    "[3]",
    "[4]",
    "[2, 3]",
    "[2, 1]",
    "[1, 3]",
    "[3, 2]",
    "[2, 2]",
    "[2, 1, 3]",
    "[2, 3, 2]",
    "[1, 2, 1, 3]",
];

/// Small enough that thousands of documents are analysed in a minute.
pub const SMALL: Budget = Budget {
    nodes: 2_000,
    tensor_elements: 1 << 12,
    elements: 1 << 16,
    events: 20_000,
    steps: 1_000,
};

/// A program under these rules that can be evaluated, with a loss: leaves, then lines that each apply a row to
/// what is there already. Lines that the engine does not take are dropped as they are met.
pub fn program(rng: &mut Rng, rules: RuleSet, n_lines: usize) -> String {
    let mut text = format!("rules {}\n", rules.name());
    let mut names: Vec<String> = Vec::new();
    for ix in 0..2 + rng.below(3) {
        let word = if ix == 0 || rng.chance(70) { "param" } else { "const" };
        let lo = if rng.chance(50) { "0.5" } else { "-2" };
        let shape = rng.pick(SHAPES);
        text.push_str(&format!(
            "{word} p{ix} {shape} = rand(seed={}, lo={lo}, hi=2)\n",
            rng.below(1000)
        ));
        names.push(format!("p{ix}"));
    }
    let mut tries = 0;
    while names.len() < n_lines + 2 && tries < 6 * n_lines {
        tries += 1;
        let name = format!("t{}", names.len());
        let line = format!("{name} = {}\n", line(rng, &names));
        let longer = format!("{text}{line}");
        let analysis = analyse(&longer, &SMALL);
        let sound = analysis.report.findings.iter().all(|f| f.weight != Weight::Error);
        let tame = analysis.report.nodes.iter().all(|n| n.values.iter().all(|x| x.abs() < 1e3));
        if sound && tame {
            text = longer;
            names.push(name);
        }
    }
    let analysis = analyse(&text, &SMALL);
    let mut loss = Vec::new();
    for (ix, name) in names.iter().enumerate() {
        // Every line counts, each with weights of its own.
        if let Some(shape) = crate::shape_of(&analysis, name) {
            text.push_str(&format!("const W{ix} {shape} = rand(seed={ix}, lo=-1, hi=1)\n"));
            text.push_str(&format!("l{ix} = sum({name} * W{ix})\n"));
            loss.push(format!("l{ix}"));
        }
    }
    format!("{text}loss = {}\n", loss.join(" + "))
}

/// A program as a person leaves it: with a title, comments, empty lines, parts inside parts, calls of a function,
/// open inputs, lines above those that they need, pinned positions and a `backward` line.
pub fn lived_in(rng: &mut Rng, rules: RuleSet) -> String {
    let n_lines = 3 + rng.below(6);
    let plain = program(rng, rules, n_lines);
    let mut lines: Vec<String> = plain.lines().map(str::to_owned).collect();
    nest(rng, &mut lines);
    let names: Vec<String> = lines.iter().filter_map(|line| defined(line)).collect();
    if rng.chance(60) {
        let body =
            rng.pick(&["b = a * k  # twice\n  return exp(b) + a", "return a / k", "return -a"]);
        let function = format!("fn f(a, k=2) {{  # a group\n  {body}\n}}");
        let at = 1 + rng.below(lines.len() - 1);
        lines.insert(at, function);
        for n in 0..=rng.below(2) {
            let argument = rng.pick(&[0, 1, 2]);
            let name = rng.pick(&names.iter().map(String::as_str).collect::<Vec<_>>()).to_owned();
            let call = match argument {
                0 => format!("f({name})"),
                1 => format!("f({name} * 2, k=3) + 1"),
                _ => format!("f({name}, 0.5)"),
            };
            lines.push(format!("u{n} = {call}"));
        }
    }
    // A line may stand above those that it needs.
    if rng.chance(40) {
        let from = 1 + rng.below(lines.len() - 1);
        let line = lines.remove(from);
        let at = 1 + rng.below(lines.len());
        lines.insert(at, line);
    }
    if rng.chance(50) {
        open(rng, &mut lines);
    }
    let known = analyse(&lines.join("\n"), &SMALL);
    let nodes = known.report.nodes.iter().take(known.report.n_forward as usize);
    let nodes: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
    let nodes: Vec<&str> =
        nodes.into_iter().filter(|n| n.starts_with(|c: char| c.is_ascii_alphabetic())).collect();
    let mut out = if rng.chance(70) { "# a drawing\n".to_owned() } else { String::new() };
    for (ix, line) in lines.iter().enumerate() {
        if ix > 0 && rng.chance(20) {
            out.push('\n');
        }
        for n in 0..rng.below(4).saturating_sub(2) {
            out.push_str(&format!("# above {ix}, {n}\n"));
        }
        match line.find('(').filter(|_| rng.chance(10) && line.ends_with(')')) {
            // A call over several lines, with a comment inside.
            Some(at) => {
                let (head, rest) = line.split_at(at + 1);
                let inner = rest.get(..rest.len() - 1).unwrap_or("");
                out.push_str(&format!("{head}  # inside {ix}\n    {inner}\n)"));
            }
            None => out.push_str(line),
        }
        if rng.chance(25) && !line.starts_with("fn") {
            out.push_str(&format!("  # behind {ix}"));
        }
        let joins =
            rng.chance(8) && !out.ends_with(|c: char| c.is_ascii_digit() && line.contains('#'));
        let is_plain = !line.starts_with("fn")
            && !line.starts_with("rules")
            && !out.ends_with(&format!("behind {ix}"));
        out.push_str(if joins && is_plain && ix + 1 < lines.len() { "; " } else { "\n" });
    }
    if rng.chance(40) {
        out.push_str(&format!("backward {}\n", rng.pick(&nodes)));
    }
    for n in 0..rng.below(4) {
        let node = rng.pick(&nodes);
        if !out.contains(&format!("layout {node} ")) {
            out.push_str(&format!("layout {node} {n} {}\n", rng.below(500)));
        }
    }
    if rng.chance(30) {
        out.push_str("# the end");
    }
    out
}

/// The name that a line gives.
fn defined(line: &str) -> Option<String> {
    let words = line.split([' ', '=']).filter(|word| !word.is_empty());
    let mut words = words.skip_while(|word| matches!(*word, "param" | "const"));
    words.next().filter(|name| *name != "rules").map(str::to_owned)
}

/// Whether a letter belongs to a name.
fn is_letter(c: char) -> bool {
    c == '_' || c == '.' || c.is_ascii_alphanumeric()
}

/// The places where a line reads a name.
fn reads(line: &str, name: &str) -> Vec<usize> {
    let places = line.match_indices(name).map(|(at, _)| at);
    let is_whole = |at: &usize| {
        let before = line.get(..*at).and_then(|text| text.chars().last());
        let after = line.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    };
    places.filter(is_whole).filter(|at| *at > line.find('=').unwrap_or(0)).collect()
}

/// Writes some lines into those that read them.
fn nest(rng: &mut Rng, lines: &mut [String]) {
    for _ in 0..rng.below(4) {
        let from = rng.below(lines.len());
        let line = lines.get(from).cloned().unwrap_or_default();
        let (Some(name), Some((_, value))) = (defined(&line), line.split_once(" = ")) else {
            continue;
        };
        let is_leaf = line.starts_with("param") || line.starts_with("const") || name == "loss";
        let users = lines.iter().enumerate().filter(|(_, line)| !reads(line, &name).is_empty());
        let users: Vec<usize> = users.map(|(ix, _)| ix).collect();
        if is_leaf || users.is_empty() {
            continue;
        }
        let user = rng.pick(&users);
        let before = lines.get(user).cloned().unwrap_or_default();
        let Some(at) = reads(&before, &name).first().copied() else { continue };
        let mut nested = before.clone();
        nested.replace_range(at..at + name.len(), &format!("({value})"));
        let longer = lines.iter().enumerate().map(|(ix, l)| if ix == user { &nested } else { l });
        let text: Vec<&str> = longer.map(String::as_str).collect();
        let analysis = analyse(&text.join("\n"), &SMALL);
        if analysis.report.findings.iter().all(|finding| finding.weight != Weight::Error)
            && let Some(slot) = lines.get_mut(user)
        {
            *slot = nested;
        }
    }
}

/// Opens an input.
fn open(rng: &mut Rng, lines: &mut [String]) {
    let names: Vec<String> = lines.iter().filter_map(|line| defined(line)).collect();
    let ix = rng.below(lines.len());
    let Some(line) = lines.get_mut(ix) else { return };
    if line.starts_with("fn") {
        return;
    }
    for name in names {
        if let Some(at) = reads(line, &name).first().copied() {
            line.replace_range(at..at + name.len(), "?");
            return;
        }
    }
}

/// One line's expression: a row applied to what is there, or a bracket.
fn line(rng: &mut Rng, names: &[String]) -> String {
    if rng.chance(12) {
        return format!("{}[{}]", recent(rng, names), index(rng));
    }
    let def = rng.pick(OpKind::ALL).def();
    apply(rng, def, names)
}

fn apply(rng: &mut Rng, def: &OpDef, names: &[String]) -> String {
    let n = def.arity.min + rng.below(def.arity.max.min(def.arity.min + 2) - def.arity.min + 1);
    let mut args: Vec<String> = (0..n)
        .map(|ix| if ix > 0 && rng.chance(15) { "1.5".to_owned() } else { recent(rng, names) })
        .collect();
    match (def.sign, args.as_slice()) {
        (Some(Sign::Infix(sign)), [a, b]) => return format!("{a} {sign} {b}"),
        (Some(Sign::Prefix(sign)), [a]) => return format!("{sign}{a}"),
        _ => {}
    }
    for spec in def.params {
        let required = matches!(spec.default, foldback::ops::def::Default::Required);
        if spec.kind == ParamKind::Node {
            args.pop();
            args.push(format!("{}={}", spec.name, recent(rng, names)));
        } else if required || rng.chance(60) {
            args.push(format!("{}={}", spec.name, attribute(rng, spec.kind)));
        }
    }
    let bang = if matches!(def.storage, Storage::OwnOrFirst) && rng.chance(3) { "!" } else { "" };
    format!("{}{bang}({})", def.name, args.join(", "))
}

/// A name, the newest ones most often: deep graphs rather than broad ones.
fn recent(rng: &mut Rng, names: &[String]) -> String {
    let back = rng.below(names.len()).min(rng.below(names.len()));
    names.iter().rev().nth(back).cloned().unwrap_or_else(|| "p0".to_owned())
}

fn attribute(rng: &mut Rng, kind: ParamKind) -> String {
    let list = match kind {
        ParamKind::Num => ["0.5", "-1", "2", "1e-3", "inf"].as_slice(),
        ParamKind::Int | ParamKind::Axis => &["0", "1", "-1", "-2", "2"],
        ParamKind::Bool => &["true", "false"],
        ParamKind::Axes => &["0", "1", "-1", "[0, 1]", "[0, 2]", "[-1, -2]"],
        ParamKind::Ints => {
            &["[2, 3]", "[3, 2]", "[6]", "[-1]", "[1, 2]", "[2]", "[2, 2]", "[]", "[4, 6]"]
        }
        ParamKind::Node => &["p0"],
        // Texts, and whatever a later row may ask for.
        _ => &["0", "\"ij,jk->ik\"", "\"ij->j\"", "\"sum\"", "\"none\"", "\"\""],
    };
    rng.pick(list).to_owned()
}

fn index(rng: &mut Rng) -> String {
    let parts = ["0", "-1", ":", "0:1", "1:", ":-1", "::2", "::-1", "_", "..."];
    let n = 1 + rng.below(3);
    let parts: Vec<&str> = (0..n).map(|_| rng.pick(&parts)).collect();
    parts.join(", ")
}

const WORDS: &[&str] = &[
    "rules",
    "param",
    "const",
    "accumulator",
    "fn",
    "return",
    "backward",
    "check",
    "train",
    "layout",
    "inf",
    "nan",
    "true",
    "false",
    "with",
    "fd",
    "adjoint",
    "formula",
    "sgd",
    "adamw",
    "ggml",
    "upstream",
    "numpy",
    "f32",
    "f16",
    "i32",
    "bool",
    "ne",
    "x",
    "y",
    "w",
    "loss",
    "x.1",
    "into",
    "axis",
    "lr",
    "steps",
    "rand",
    "randn",
    "arange",
    "linspace",
    "eye",
    "zeros",
    "ones",
    "full",
    "load",
    "torch.relu",
    "np.sum",
    "None",
    "T",
];

const SIGNS: &[&str] = &[
    "+", "-", "*", "/", "@", "^", "**", "<", "<=", "==", "!=", "=", "(", ")", "[", "]", "{", "}",
    ",", ".", ":", ";", "?", "!", "...", "_", "#", "\"", "\n", "\n", "\n", " ", "\t", "\r\n",
    "\u{0}", "é", "𝛁", "\u{feff}", "'", "\\", "$",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2.5",
    ".5",
    "5.",
    "1e-5",
    "1e400",
    "-0",
    "99999999999999999999",
    "0x10",
    "1_000",
    "1e",
    "3.14.15",
    "4294967296",
    "-9223372036854775808",
];

const LINES: &[&str] = &[
    "# a title",
    "rules upstream",
    "param w [2, 3] = rand(seed=1)",
    "param v [3] i32 = [1, 2, 3]",
    "const g [2 token, 3 expert] = ones",
    "param big [100000, 100000] = 0",
    "x = sum_rows(w)",
    "y = w / clamp(x, min=1e-5)",
    "z = ?",
    "z = z + 1",
    "a = b; b = a",
    "fn f(a, k=2) { b = a * k; return b + 1 }",
    "u = f(w)",
    "u = f(f(w), k=3)",
    "c = clamp!(x, min=0)",
    "q = cpy(w, into=g)",
    "accumulator w [2, 3] = 1",
    "accumulator w [3] = 1",
    "loss = sum(w * w)",
    "backward y with [[1, 2, 3], [4, 5, 6]]",
    "check fd",
    "check adjoint",
    "check formula w = [[w[0,0], 1, 2], 2 * w[1]]",
    "train sgd lr=0.1 steps=3",
    "train adamw lr=0.1 steps=2 period=2 clip=1",
    "layout y 10 -20.5",
    "e = torch.softmax(w, dim=-1).sum(axis=0)[..., _]",
    "h = w[0:1, ::2] @ np.transpose(w)",
];

/// A text that is nearly, and sometimes really, one of the language.
pub fn text(rng: &mut Rng) -> String {
    let mut out = String::new();
    for _ in 0..=rng.below(14) {
        match rng.below(10) {
            0..=5 => out.push_str(rng.pick(LINES)),
            6 => out.push_str(&format!("n{} = {}", rng.below(4), expression(rng))),
            7 => out.push_str(&format!(
                "param p{} {} = {}",
                rng.below(3),
                rng.pick(SHAPES),
                rng.pick(NUMBERS)
            )),
            _ => {
                for _ in 0..rng.below(12) {
                    out.push_str(token(rng));
                    if rng.chance(50) {
                        out.push(' ');
                    }
                }
            }
        }
        out.push('\n');
    }
    let mut out = noisy(rng, &out);
    if rng.chance(20) {
        let cut = rng.below(out.chars().count() + 1);
        out = out.chars().take(cut).collect();
    }
    out
}

/// A text with a few characters removed, doubled, moved or put in.
pub fn noisy(rng: &mut Rng, text: &str) -> String {
    let mut out: Vec<char> = text.chars().collect();
    for _ in 0..rng.below(4) {
        let at = rng.below(out.len() + 1);
        match rng.below(4) {
            0 if at < out.len() => {
                out.remove(at);
            }
            1 if at < out.len() => {
                let c = out.get(at).copied().unwrap_or(' ');
                out.insert(at, c);
            }
            2 if !out.is_empty() => {
                let from = rng.below(out.len());
                let end = (from + rng.below(20)).min(out.len());
                let part: Vec<char> = out.drain(from..end).collect();
                let to = rng.below(out.len() + 1);
                out.splice(to..to, part);
            }
            _ => {
                let word: Vec<char> = token(rng).chars().collect();
                out.splice(at..at, word);
            }
        }
    }
    out.into_iter().collect()
}

/// A word, a number or a sign of the language, or what is nearly one.
pub fn token(rng: &mut Rng) -> &'static str {
    match rng.below(4) {
        0 => rng.pick(WORDS),
        1 => rng.pick(NUMBERS),
        2 => rng.pick(OpKind::ALL).def().name,
        _ => rng.pick(SIGNS),
    }
}

/// An expression, made from the inside out.
fn expression(rng: &mut Rng) -> String {
    let names = ["w", "x", "y", "n0", "2"];
    let mut out = rng.pick(&names).to_owned();
    for _ in 0..rng.below(5) {
        out = match rng.below(6) {
            0 => format!("({out})"),
            1 => format!("-{out}"),
            2 => format!("{out}[{}]", index(rng)),
            3 => format!("{out}.{}()", rng.pick(OpKind::ALL).def().name),
            4 => {
                let def = rng.pick(OpKind::ALL).def();
                apply(rng, def, &[out, "w".to_owned()])
            }
            _ => format!(
                "{out} {} {}",
                rng.pick(&["+", "-", "*", "/", "@", "^", "<"]),
                rng.pick(&names)
            ),
        };
    }
    out
}
