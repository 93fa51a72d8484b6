//! What the language promises: reading never fails, formatting is canonical and keeps comments.

use std::fmt::Write as _;

use super::ast::{Ast, Comment, LineKind, StatementKind};
use super::edit::{self, EditError};
use super::format::{AsWritten, Spelling, format_with};
use super::lex::lex;
use super::parse::{MAX_TEXT, parse};
use super::{Span, TextEdit, format};

/// A document with everything in it.
const WHOLE: &str = "# router.fold : why does this refuse to train?
rules ggml   # ggml | upstream | numpy

param w [1, 2] = [[0.3, 0.2]]                # trainable
const k ne[2 token,1 expert] f16 = rand(seed=1, lo=-1); const z = load(\"f.csv\")
s = sum_rows(w)
c=clamp!(s, min=6.103515625e-5, max=inf) ; d = np.sum(c, axis=[0,2], keepdims=True)
y = w / c ** -2 @ k.T - -x.sum( )
layout y 10 -2.5 # pinned
q = w[0,::2, _, ..., None, 1:-1:2] != (a<b)


fn router(w, eps=6.1e-5) { # opens
  # inside
  const h = 2.
  t = w * .5 # half
  return t / h
  # last
} # closes
big = f([1, # one
  2],
  # two
  k=3)
matrix = [[0.123456, 0.123456, 0.123456, 0.123456], [0.123456, 0.123456, 0.123456, 0.123456], [1, 2]]
row = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35]
loss = y[0, 0]
open = ? + 1
accumulator y.1 [2] = zeros
backward loss with [1, 2]
check fd step=1e-3
check adjoint
check formula w = [[w[0,1], -w[0,0]]] / (w[0,0] + w[0,1])^2
train sgd lr=0.1 steps=1
# about c
layout c 1 2
# the end";

const WHOLE_FORMATTED: &str = "# router.fold : why does this refuse to train?
rules ggml  # ggml | upstream | numpy

param w [1, 2] = [[0.3, 0.2]]  # trainable
const k ne[2 token, 1 expert] f16 = rand(seed=1, lo=-1)
const z = load(\"f.csv\")
s = sum_rows(w)
c = clamp!(s, min=6.103515625e-5, max=inf)
d = sum(c, axis=[0, 2], keepdims=true)
y = w / c^-2 @ k.T - -x.sum()
q = w[0, ::2, _, ..., _, 1:-1:2] != (a < b)

fn router(w, eps=6.1e-5) {  # opens
  # inside
  const h = 2.
  t = w * .5  # half
  return t / h
  # last
}  # closes
big = f(
  [
    1,  # one
    2,
  ],
  # two
  k=3,
)
matrix = [
  [0.123456, 0.123456, 0.123456, 0.123456],
  [0.123456, 0.123456, 0.123456, 0.123456],
  [1, 2],
]
row = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
  28, 29, 30, 31, 32, 33, 34, 35,
]
loss = y[0, 0]
open = ? + 1
accumulator y.1 [2] = zeros
backward loss with [1, 2]
check fd step=1e-3
check adjoint
check formula w = [[w[0, 1], -w[0, 0]]] / (w[0, 0] + w[0, 1])^2
train sgd lr=0.1 steps=1
# the end

layout y 10 -2.5  # pinned
# about c
layout c 1 2
";

/// Diagnostics as `code at "text": message`, one a line.
fn diagnose(text: &str) -> String {
    let mut out = String::new();
    for diagnostic in parse(text).diagnostics {
        let (code, span) = (diagnostic.code.name(), diagnostic.span.of(text));
        let _ = writeln!(out, "{code} at `{span}`: {}", diagnostic.message);
        for fix in &diagnostic.fixes {
            let fixed = edit::apply(text, &fix.edits).unwrap_or_else(|e| e.to_string());
            let _ = writeln!(out, "  {} -> {fixed:?}", fix.title);
        }
    }
    out
}

#[track_caller]
fn check_diagnosis(text: &str, expected: &str) {
    let found = diagnose(text);
    let lines = |text: &str| text.lines().map(|l| l.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&found), lines(expected), "\n{text}\n{found}");
}

#[track_caller]
fn check_format(text: &str, expected: &str) {
    let found = format(text);
    assert_eq!(found, expected, "\n{found}");
    check_laws(text);
}

/// The tree without places, comments and blank lines; pinned positions last.
fn sketch(ast: &Ast) -> String {
    let is_pin = |kind: &StatementKind| matches!(kind, StatementKind::Layout { .. });
    let mut kinds: Vec<&StatementKind> = ast.statements().map(|s| &s.kind).collect();
    kinds.sort_by_key(|kind| is_pin(kind));
    let mut text = String::new();
    for kind in kinds {
        match kind {
            StatementKind::Function(function) => {
                let body = function.body.iter().filter_map(|line| line.statement());
                let kinds: Vec<_> = body.map(|statement| &statement.kind).collect();
                let _ = writeln!(text, "{:?} {:?} {kinds:?}", function.name, function.formals);
            }
            _ => {
                let _ = writeln!(text, "{kind:?}");
            }
        }
    }
    for (_, expr) in ast.exprs() {
        let _ = writeln!(text, "{expr:?}");
    }
    // Spans print as @1..2.
    let mut out = String::new();
    for (ix, piece) in text.split('@').enumerate() {
        let is_span = |c: char| c == '.' || c.is_ascii_digit();
        out.push_str(if ix == 0 { piece } else { piece.trim_start_matches(is_span) });
    }
    out
}

fn comments(text: &str) -> Vec<String> {
    let mut comments: Vec<String> = lex(text).comments.into_iter().map(|c| c.text).collect();
    comments.sort();
    comments
}

#[track_caller]
fn check_laws(text: &str) {
    let parsed = parse(text);
    for diagnostic in &parsed.diagnostics {
        assert!(text.get(diagnostic.span.range()).is_some(), "{text:?}\n{diagnostic:?}");
        for fix in &diagnostic.fixes {
            assert!(edit::apply(text, &fix.edits).is_ok(), "{text:?}\n{fix:?}");
        }
    }
    for (id, expr) in parsed.ast.exprs() {
        assert!(!expr.span.of(text).is_empty(), "{text:?}\n{id:?}");
    }
    let spelled = format(text);
    assert_eq!(format(&spelled), spelled, "format is not idempotent on {text:?}");
    assert_eq!(comments(&spelled), comments(text), "comments of {text:?} in {spelled:?}");
    let as_written = |text: &str| format_with(&parse(text).ast, &AsWritten);
    let once = as_written(text);
    assert_eq!(as_written(&once), once, "format is not idempotent on {text:?}");
    assert_eq!(comments(&once), comments(text), "comments of {text:?} in {once:?}");
    let again = parse(&once);
    assert_eq!(sketch(&again.ast), sketch(&parsed.ast), "{text:?}\nbecame {once:?}");
}

#[test]
fn a_whole_document_is_read_without_a_word() {
    assert_eq!(diagnose(WHOLE), "");
    assert_eq!(parse(WHOLE).ast.title_text(), Some("router.fold : why does this refuse to train?"));
}

#[test]
fn a_whole_document_is_formatted() {
    check_format(WHOLE, WHOLE_FORMATTED);
    check_format(WHOLE_FORMATTED, WHOLE_FORMATTED);
    check_format(&WHOLE.replace('\n', "\r\n"), WHOLE_FORMATTED);
    check_format(&format!("\u{feff}{WHOLE}\n\n"), WHOLE_FORMATTED);
}

#[test]
fn formatting_of_small_things() {
    check_format("", "");
    check_format("\n\n  \t", "");
    check_format("a=1;;b=2;# c", "a = 1\nb = 2  # c\n");
    check_format("#a\n\n\n#b\na=1", "#a\n\n#b\na = 1\n");
    check_format("a=(1 + # c\n 2)", "# c\na = (1 + 2)\n");
    check_format("a = f( # c\n)", "a = f(  # c\n)\n");
    check_format("a = 5 .sum() + 5..sum()", "a = 5 .sum() + 5. .sum()\n");
    check_format("a = -x**2**-y", "a = -x^2^-y\n");
    check_format("y = ) ; b=1", "y = ) ;\nb = 1\n");
    check_format("b=2\ny = f(a, # c\nz=1", "b = 2\ny = f(a,  # c\nz = 1\n");
    // In another layout the bracket would swallow more, or less.
    check_format("y = f(a, # c\nlayout y 1 2\nb", "y = f(a, # c\nlayout y 1 2\nb");
    check_format("y = f(a,\nz=1\n;b)", "y = f(a,\nz=1\n;b)");
    check_format("# t\nlayout a 1 2\na=1", "# t\na = 1\n\nlayout a 1 2\n");
    check_format("fn f(a, # c\n b) { return a }", "# c\nfn f(a, b) {\n  return a\n}\n");
    check_format("a = [1,]\nb = f(x,)", "a = [1]\nb = f(x)\n");
    check_format("a = -9223372036854775807", "a = -9223372036854775807\n");
}

#[test]
fn spelling_comes_from_outside() {
    struct Torch;
    impl Spelling for Torch {
        fn op<'a>(&'a self, _prefix: Option<&str>, name: &'a str) -> &'a str {
            if name == "total" { "sum" } else { name }
        }
        fn argument<'a>(&'a self, op: &str, name: &'a str) -> &'a str {
            if op == "sum" && name == "dim" { "axis" } else { name }
        }
        fn drops(&self, prefix: &str) -> bool {
            prefix == "torch"
        }
    }
    let spelled = |text: &str| format_with(&parse(text).ast, &Torch);
    assert_eq!(spelled("y = torch.total(x, dim=1)"), "y = sum(x, axis=1)\n");
    assert_eq!(spelled("y = x.total(dim=1).f(dim=2)"), "y = x.sum(axis=1).f(dim=2)\n");
    assert_eq!(spelled("torch = 1\ny = torch.total()"), "torch = 1\ny = torch.sum()\n");
    assert_eq!(
        spelled("fn sum(x, dim) { return x }\ny = sum(x, dim=1)"),
        "fn sum(x, dim) {\n  return x\n}\ny = sum(x, dim=1)\n"
    );
    assert_eq!(
        spelled("fn total(x) { return x }\ny = total(x, dim=1)"),
        "fn total(x) {\n  return x\n}\ny = total(x, dim=1)\n"
    );
}

#[test]
fn precedence_is_pythons() {
    let shape = |text: &str| {
        let ast = parse(&format!("y = {text}")).ast;
        let mut out: Vec<String> = Vec::new();
        for (_, expr) in ast.exprs() {
            use super::ast::ExprKind::{Infix, Prefix};
            let of = |id: super::ast::ExprId| out.get(id.index()).cloned().unwrap_or_default();
            out.push(match &expr.kind {
                Infix { sign, left, right, .. } => {
                    format!("({}{}{})", of(*left), sign.as_str(), of(*right))
                }
                Prefix { sign, operand } => format!("({}{})", sign.as_str(), of(*operand)),
                _ => expr.span.of(&format!("y = {text}")).to_owned(),
            });
        }
        out.last().cloned().unwrap_or_default()
    };
    assert_eq!(shape("-x^2"), "(-(x^2))");
    assert_eq!(shape("a^b^c"), "(a^(b^c))");
    assert_eq!(shape("2^-x*y"), "((2^(-x))*y)");
    assert_eq!(shape("2^-x^y"), "(2^(-(x^y)))");
    assert_eq!(shape("a-b-c"), "((a-b)-c)");
    assert_eq!(shape("-a*b"), "((-a)*b)");
    assert_eq!(shape("a+b*c@d<e/f"), "((a+((b*c)@d))<(e/f))");
    assert_eq!(shape("- -+a"), "(-(-(+a)))");
}

#[test]
fn mistakes_are_named_with_what_to_do() {
    for (text, expected) in [
        (
            "y = sum(x",
            "syntax at `(`: this `(` is never closed; add `)`\n  Add `)` -> \"y = sum(x)\"",
        ),
        (
            "y = f([x[0",
            "syntax at `[`: this `[` is never closed; add `]`\n  Add `]])` -> \"y = f([x[0]])\"",
        ),
        (
            "y = sum(x]",
            "syntax at `]`: `(` is closed by `)`, not by `]`\n  Write `)` -> \"y = sum(x)\"",
        ),
        ("y = x)", "syntax at `)`: this `)` closes nothing; remove it\n  Remove `)` -> \"y = x\""),
        (
            "y =",
            "syntax at `=`: a value is missing after `=`; write `?` for one to come\n  Add `?` -> \"y = ?\"",
        ),
        (
            "y = a +",
            "syntax at `+`: a value is missing after `+`; write `?` for one to come\n  Add `?` -> \"y = a + ?\"",
        ),
        ("y = * a", "syntax at `*`: a value is missing before `*`\n  Add `?` -> \"y = ?* a\""),
        ("y == 3", "syntax at `==`: a line defines a name with one `=`\n  Write `=` -> \"y = 3\""),
        ("y += 1", "syntax at `y`: a name is defined once; give the new value of `y` another name"),
        (
            "y = a < b < c",
            "syntax at `<`: comparisons do not chain; compare twice and multiply the results",
        ),
        ("y = 2x", "syntax at `2x`: a sign is missing; write `2 * x`\n  Multiply -> \"y = 2 * x\""),
        (
            "y = 1_000",
            "bad-literal at `1_000`: `1_000` is not a number; write it as `0.5` or `1e-3`",
        ),
        (
            "y = 1e999",
            "bad-literal at `1e999`: this number is larger than any float; write `inf`\n  Write `inf` -> \"y = inf\"",
        ),
        (
            "parm w = 1",
            "syntax at `parm`: `parm` begins no statement; did you mean `param`?\n  Write `param` -> \"param w = 1\"",
        ),
        (
            "sum(y1)",
            "syntax at `sum(y1)`: this value has no name; write `NAME = \u{2026}`\n  Name it `y2` -> \"y2 = sum(y1)\"",
        ),
        (
            "x[0] = 1",
            "syntax at `x[0] =`: only a name stands before `=`; an element cannot be assigned",
        ),
        ("train = 1", "syntax at `train`: `train` is a word of the language; choose another name"),
        (
            "y = param + 1",
            "syntax at `param`: `param` is a word of the language; choose another name",
        ),
        ("_ = 1", "syntax at `_`: `_` alone is not a name; add a letter"),
        (
            "y = x[i]",
            "syntax at `i`: an index is a whole number, a slice such as `0:2`, `_` or `...`; a tensor of indexes needs a call",
        ),
        (
            "y = y.1 + 1",
            "syntax at `.1`: an expression cannot read a derived name; give that node a line of its own",
        ),
        (
            "y = x.shape",
            "syntax at `shape`: `.shape` is not a call; write `.shape()`, or `.T` for the transpose\n  Add `()` -> \"y = x.shape()\"",
        ),
        (
            "y = f(a=1, b)",
            "syntax at `b`: named arguments come last; move this one before them, or name it",
        ),
        (
            "y = a \u{2212} b",
            "syntax at `\u{2212}`: `\u{2212}` is not a sign of the language; write `-`\n  Write `-` -> \"y = a - b\"",
        ),
        (
            "gr\u{f6}\u{df}e = 1",
            "syntax at `gr\u{f6}\u{df}e`: `gr\u{f6}\u{df}e` has a letter that names cannot have; use A to Z, digits and `_`",
        ),
        (
            "const a = load('f')",
            "syntax at `'f'`: a text stands in double quotes\n  Use double quotes -> \"const a = load(\\\"f\\\")\"",
        ),
        (
            "param w [2]",
            "syntax at `]`: a leaf has a value; write `= \u{2026}`\n  Add `= zeros` -> \"param w [2] = zeros\"",
        ),
        ("param w [2.5] = 1", "bad-literal at `2.5`: an extent is a whole number, not `2.5`"),
        (
            "y = (1, 2)",
            "syntax at `(1, 2)`: parentheses hold one value; a list stands in `[` and `]`\n  Make it a list -> \"y = [1, 2]\"",
        ),
        (
            "y = f(a b)",
            "syntax at `b`: expected `,` or `)` before `b`\n  Add `,` -> \"y = f(a, b)\"\n  Add `)` -> \"y = f(a) b)\"",
        ),
        (
            "y = 1 z = 2",
            "syntax at `z`: a new statement begins at `z`; put it on a line of its own\n  Start a new line -> \"y = 1\\nz = 2\"",
        ),
        (
            "a = 1\nrules ggml",
            "syntax at `rules ggml`: `rules` stands first; move it up\n  Move it up -> \"rules ggml\\na = 1\\n\"",
        ),
        (
            "return 1",
            "syntax at `return`: `return` stands at the end of a fn; give the value a name instead",
        ),
        (
            "fn f(a) { b = a }",
            "syntax at `}`: a fn ends with `return`\n  Return `b` -> \"fn f(a) { b = a \\nreturn b\\n}\"",
        ),
        (
            "fn f(a) {\nreturn a\nb = 1",
            "syntax at `fn`: this fn has no `}`\n  Add `}` -> \"fn f(a) {\\nreturn a\\n}\\nb = 1\"",
        ),
        (
            "fn f(a) { param b = 1; return a }",
            "syntax at `param`: a fn has no param of its own; pass it as an argument",
        ),
        ("check grad", "syntax at `grad`: `grad` is no check; write `fd`, `adjoint` or `formula`"),
        (
            "train sgd lr",
            "syntax at `lr`: expected `=` and a value\n  Add `= ?` -> \"train sgd lr = ?\"",
        ),
    ] {
        check_diagnosis(text, expected);
        check_laws(text);
    }
}

#[test]
fn one_bad_line_leaves_the_others_alone() {
    let kinds = |text: &str| -> Vec<String> {
        let ast = parse(text).ast;
        let statements = ast.statements();
        let names = statements.map(|s| match (&s.kind, s.kind.defines()) {
            (StatementKind::Hole(_), Some(name)) => format!("hole {}", name.text),
            (StatementKind::Hole(_), None) => "hole".to_owned(),
            (_, Some(name)) => name.text.clone(),
            (_, None) => "directive".to_owned(),
        });
        names.collect()
    };
    assert_eq!(kinds("a = sum(x\nb = 1\nc = 2"), ["hole a", "b", "c"]);
    assert_eq!(kinds("a = f(x,\nb = 1\nc = 2"), ["hole a", "b", "c"]);
    assert_eq!(kinds("a = f(x,\nb = 1)\nc = 2"), ["a", "c"]);
    assert_eq!(kinds("a = [1,\nb = 1\nc = 2"), ["hole a", "b", "c"]);
    assert_eq!(kinds("param a = [1\nbackward a"), ["hole a", "directive"]);
    assert_eq!(kinds("a = f(g(x); b = 1"), ["hole a", "b"]);
    assert_eq!(kinds("fn f(a {\n b = a\n return b\n}\nc = 2"), ["hole f", "c"]);
    assert_eq!(kinds("fn f(a) {\n b = )\n return b\n}\nc = 2"), ["hole f", "c"]);
    assert_eq!(kinds("fn f(a) {\n b = a\nbackward b"), ["hole f", "directive"]);
    assert_eq!(kinds("fn f(a)\n{\n return a\n}"), ["f"]);
}

#[test]
fn depth_is_bounded_and_length_is_not() {
    let nest = |n: usize| format!("y = {}x{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(diagnose(&nest(64)), "");
    assert!(diagnose(&nest(65)).starts_with("syntax at `(`: brackets may be 64 deep"));
    for piece in ["+a", "-", "^b", "^-b", ".T", ".f()", "[0]", "*f(a)", " @ -a"] {
        let text = match piece {
            "-" => format!("y = {}a", piece.repeat(100_000)),
            _ => format!("y = a{}", piece.repeat(100_000)),
        };
        assert_eq!(diagnose(&text), "", "{piece}");
        check_laws(&text);
    }
    for piece in
        ["(", "[", "f(", "a=f(b,\n", ")", "([", "a=[", "fn f(", "fn f() {\n", "?", "sum(x)\n"]
    {
        let text = piece.repeat(50_000);
        assert!(!parse(&text).diagnostics.is_empty());
        let once = format(&text);
        assert_eq!(format(&once), once);
    }
    let long = format!("y = {}", "1".repeat(MAX_TEXT));
    assert!(diagnose(&long).starts_with("syntax at ``: a text may have 1048576 bytes"));
    assert_eq!(format(&long), long);
}

/// A small generator with a fixed sequence.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

#[test]
fn laws_hold_for_every_prefix_and_every_gap() {
    let starts: Vec<usize> = WHOLE.char_indices().map(|(ix, _)| ix).collect();
    for &end in &starts {
        check_laws(&WHOLE[..end]);
    }
    let mut dice = Dice(1);
    for _ in 0..1500 {
        let from = starts[dice.below(starts.len())];
        let to = starts[dice.below(starts.len())].max(from).min(from + 1 + dice.below(60));
        let to = starts.iter().copied().find(|&s| s >= to).unwrap_or(from).max(from);
        check_laws(&format!("{}{}", &WHOLE[..from], &WHOLE[to..]));
    }
}

#[test]
fn laws_hold_for_nasty_text() {
    const PIECES: &[&str] = &[
        "a",
        "b",
        "x",
        "y",
        "sum",
        "np",
        "T",
        "1",
        "0",
        ".5",
        "5.",
        "1e-3",
        "\"f\"",
        "load",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ",",
        ":",
        ";",
        ".",
        "...",
        "=",
        "=",
        "?",
        "!",
        "+",
        "-",
        "*",
        "/",
        "@",
        "^",
        "**",
        "<",
        "<=",
        "==",
        "!=",
        "#",
        "# c",
        "#c\n",
        "\n",
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        " ",
        " ",
        "\t",
        "fn",
        "fn f(a) {\n",
        "return a",
        "return",
        "rules",
        "rules ggml\n",
        "param",
        "param p = 1\n",
        "const",
        "accumulator",
        "backward",
        "with",
        "check",
        "fd",
        "formula",
        "train",
        "layout",
        "layout y 1 2\n",
        "y = x\n",
        "y = f(a,\n",
        "z = [1, # c\n2]\n",
        "inf",
        "nan",
        "true",
        "False",
        "None",
        "_",
        "ne",
        "ne[2]",
        "f16",
        "\u{e9}",
        "\u{2212}",
        "\u{1f600}",
        "\0",
        "'",
        "\"",
        "\u{feff}",
        "\\",
        "$",
        "y.1",
        "r.1.s.2",
        "a=1",
        "k=2",
    ];
    let mut dice = Dice(2);
    for _ in 0..20_000 {
        let n = 1 + dice.below(24);
        let text: String = (0..n).map(|_| PIECES[dice.below(PIECES.len())]).collect();
        check_laws(&text);
    }
}

#[test]
fn edits_keep_the_rest() {
    let text = "# t\nrules ggml\nparam w = 1 # w\ns = w + w.f(w); t = w\nbackward w\nlayout w.1 1 2\nq = (w";
    let ast = parse(text).ast;
    let applied = |edits: &[TextEdit]| edit::apply(text, edits);
    assert_eq!(
        applied(&edit::rename(&ast, "w", "v")).as_deref(),
        Ok(
            "# t\nrules ggml\nparam v = 1 # w\ns = v + v.f(v); t = v\nbackward v\nlayout v.1 1 2\nq = (v"
        )
    );
    let statement = |ix: usize| {
        let line = &ast.lines[ix];
        (line, line.statement().unwrap())
    };
    let (_, leaf) = statement(2);
    assert_eq!(
        applied(&[edit::insert_after(text, leaf, "a", "w + 1")]),
        Ok(text.replace("# w\n", "# w\na = w + 1\n"))
    );
    let (line, s) = statement(3);
    assert_eq!(
        applied(&[edit::insert_after(text, s, "a", "s")]),
        Ok(text.replace("(w); t", "(w)\na = s; t"))
    );
    assert_eq!(applied(&[edit::remove(text, line)]), Ok(text.replace("s = w + w.f(w); ", "")));
    assert_eq!(applied(&[edit::remove(text, statement(4).0)]), Ok(text.replace("; t = w", "")));
    assert_eq!(
        applied(&[edit::remove(text, statement(2).0)]),
        Ok(text.replace("param w = 1 ", ""))
    );
    assert_eq!(
        applied(&[edit::remove(text, statement(5).0)]),
        Ok(text.replace("backward w\n", ""))
    );
    assert_eq!(applied(&[edit::set_rules(text, &ast, "numpy")]), Ok(text.replace("ggml", "numpy")));
    for (text, expected) in [
        ("", "rules numpy\n"),
        ("# t\na = 1", "# t\nrules numpy\na = 1"),
        ("a = 1", "rules numpy\na = 1"),
    ] {
        let edit = edit::set_rules(text, &parse(text).ast, "numpy");
        assert_eq!(edit::apply(text, &[edit]).as_deref(), Ok(expected));
    }
}

#[test]
fn renaming_a_function_renames_its_calls_and_nothing_else() {
    let text = "fn f(a) { f1 = a; return f1 + f }\nf2 = f(x) + x.f() + f";
    let renamed = edit::apply(text, &edit::rename(&parse(text).ast, "f", "g"));
    let expected = "fn g(a) { f1 = a; return f1 + f }\nf2 = g(x) + x.g() + f";
    assert_eq!(renamed.as_deref(), Ok(expected));
}

#[test]
fn edits_that_clash_are_refused() {
    let span = Span::new;
    let edits = [TextEdit::replace(span(0, 2), "x"), TextEdit::replace(span(1, 3), "y")];
    assert_eq!(edit::apply("abc", &edits), Err(EditError::Overlap(span(1, 3))));
    let edits = [TextEdit::replace(span(1, 9), "x")];
    assert_eq!(edit::apply("abc", &edits), Err(EditError::OutOfText(span(1, 9))));
    let edits = [TextEdit::insert(1, "x")];
    assert_eq!(edit::apply("\u{e9}", &edits), Err(EditError::OutOfText(span(1, 1))));
    let edits = [TextEdit::insert(1, "x"), TextEdit::insert(1, "y"), TextEdit::insert(0, "z")];
    assert_eq!(edit::apply("abc", &edits).as_deref(), Ok("zaxybc"));
}

#[test]
fn comments_know_their_place() {
    let text = "a = f(x, # in\n y) # after\n# own";
    let ast = parse(text).ast;
    let line = &ast.lines[0];
    let texts = |comments: &[Comment]| comments.iter().map(|c| c.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&line.inner), ["# in"]);
    assert_eq!(line.trailing.as_ref().map(|c| c.text.as_str()), Some("# after"));
    assert!(matches!(&ast.lines[1].kind, LineKind::Comment(c) if c.text == "# own"));
}
