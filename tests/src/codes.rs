//! Every code with the smallest text that produces it: where it stands, and under which rules.

use foldback::refusal::Code;

/// A text that produces a code.
#[derive(Clone, Copy, Debug)]
pub struct Minimal {
    /// The code.
    pub code: Code,
    /// The rule sets under which it does.
    pub rules: &'static str,
    /// The text, without its `rules` line.
    pub text: &'static str,
    /// The node; empty where the document or a line is meant.
    pub node: &'static str,
    /// The source, counted from 0.
    pub src: Option<u8>,
    /// The text that is underlined; empty where there is none.
    pub under: &'static str,
}

const ALL: &str = "ggml upstream numpy";
const TILING: &str = "ggml upstream";

const fn minimal(
    code: Code,
    rules: &'static str,
    text: &'static str,
    node: &'static str,
    src: Option<u8>,
    under: &'static str,
) -> Minimal {
    Minimal { code, rules, text, node, src, under }
}

/// At least one text a code; the codes of limits have generated ones in `tests/limits.rs` as well.
pub const MINIMAL: &[Minimal] = &[
    minimal(Code::Syntax, ALL, "param x = 1\ny = x +", "", None, ""),
    minimal(Code::Syntax, ALL, "param x = 1\ny = (x", "", None, ""),
    minimal(Code::OpenInput, ALL, "param x [2] = 1\ny = x + ?", "", None, "?"),
    minimal(Code::UnknownName, ALL, "param weight = 1\ny = sqr(weigth)", "", None, "weigth"),
    minimal(Code::UnknownName, ALL, "param x = 1\ny = sqr(x)\nbackward z", "", None, "z"),
    minimal(Code::UnknownOp, ALL, "param x = 1\ny = sqrtt(x)", "", None, "sqrtt"),
    minimal(Code::WrongArguments, ALL, "param x = 1\ny = sqr(x, x)", "", None, ""),
    minimal(Code::WrongArguments, ALL, "param x [2] = 1\ny = sum(x, axis=3)", "y", Some(0), "3"),
    minimal(Code::DuplicateName, ALL, "param x = 1\nx = sqr(x)", "", None, "x"),
    minimal(
        Code::DuplicateName,
        ALL,
        "param loss = 1\nbackward loss\nbackward loss",
        "",
        None,
        "backward loss",
    ),
    minimal(Code::Cycle, ALL, "a = sqr(b)\nb = sqr(a)", "", None, ""),
    minimal(Code::BadLiteral, ALL, "param x [3] = [1, 2]", "", None, "[1, 2]"),
    minimal(Code::BadFile, ALL, "param x = load(\"w.npy\")", "", None, ""),
    minimal(
        Code::ShapesDoNotBroadcast,
        ALL,
        "param a [2,3] = 1\nparam b [3,2] = 1\ny = a + b",
        "y",
        Some(1),
        "b",
    ),
    minimal(
        Code::BroadcastNotAllowed,
        TILING,
        "param a [3,1] = 1\nparam b [1,2] = 1\ny = a + b",
        "y",
        Some(0),
        "a",
    ),
    minimal(
        Code::ShapeMismatch,
        ALL,
        "param a [2,3] = 1\nparam b [2,4] = 1\ny = mul_mat(a, b)",
        "y",
        Some(1),
        "b",
    ),
    minimal(
        Code::NotContiguous,
        "upstream",
        "param x [2,3] = 1\ny = reshape(x.T, [6])",
        "y",
        Some(0),
        "x.T",
    ),
    minimal(Code::NoParameter, ALL, "const x = 1\nloss = sqr(x)", "", None, ""),
    minimal(Code::NoLoss, ALL, "param x = 1\ny = sqr(x)\ncheck fd", "", None, ""),
    minimal(Code::LossNotScalar, ALL, "param x = [1, 2]\nloss = sqr(x)", "loss", None, "sqr(x)"),
    minimal(
        Code::NoBackward,
        "upstream",
        "param x = 1\nloss = sigmoid(x)",
        "loss",
        None,
        "sigmoid(x)",
    ),
    minimal(
        Code::NoBackward,
        "upstream",
        "param x = [1, 2]\nloss = sum(ceil(x))",
        "loss.1",
        None,
        "ceil(x)",
    ),
    minimal(
        Code::PartialBackward,
        "upstream",
        "param x [2,4] = 1\nloss = sum(swiglu(x))",
        "loss.1",
        None,
        "swiglu(x)",
    ),
    minimal(
        Code::InPlaceWrite,
        ALL,
        "param a = [1, 2]\ns = exp(a)\nt = scale!(s, 2)\nloss = sum(t)",
        "t",
        None,
        "scale!(s, 2)",
    ),
    minimal(
        Code::InPlaceWrite,
        "ggml numpy",
        "param w = [1, 2]\nd = sqr(w)\nc = cpy([3, 4], into=w)\nloss = sum(d * c)",
        "c",
        None,
        "cpy([3, 4], into=w)",
    ),
    minimal(
        Code::NonFloatSource,
        ALL,
        "param i [2] i32 = [1, 2]\nparam x = [1, 2]\nloss = sum(x * i)",
        "i",
        None,
        "param i [2] i32 = [1, 2]",
    ),
    minimal(
        Code::NonFloatSource,
        "upstream",
        "param x [2] bf16 = [1, 2]\nloss = sum(sqr(x))",
        "loss.1",
        Some(0),
        "x",
    ),
    minimal(
        Code::GradientMissing,
        "upstream",
        "param x = [1, 2]\nparam p = [3, 4]\nd = p * 2\ny = cpy(x, into=d)\nloss = sum(y)",
        "y",
        Some(1),
        "d",
    ),
    minimal(
        Code::GradientShape,
        "upstream",
        "param w [1,2] = [[0.3, 0.2]]\nc = sum_rows(w)\ny = w / c\nloss = y[0, 0]",
        "y",
        Some(1),
        "c",
    ),
    minimal(
        Code::AccumulatorShape,
        ALL,
        "param w = [1, 2]\naccumulator w [3] = 0\nloss = sum(w)",
        "w",
        None,
        "param w = [1, 2]",
    ),
    minimal(
        Code::Layout,
        "upstream",
        "param x [2,3] = 1\nr = scale(x, 2)\nloss = sum(cont(r.T))",
        "r",
        None,
        "scale(x, 2)",
    ),
    minimal(Code::TooManyElements, ALL, "param x [4097,4096] = 0", "x", None, ""),
    minimal(
        Code::TooManySteps,
        ALL,
        "param x = 1\nloss = sqr(x)\ntrain sgd lr=0.1 steps=100001",
        "",
        None,
        "100001",
    ),
    minimal(Code::Kink, ALL, "param x = [0, 1]\nloss = sum(relu(x))", "loss.1", None, "relu(x)"),
    minimal(Code::NotFinite, ALL, "param x = [0, 1]\nloss = sum(log(x))", "loss.1", None, "log(x)"),
    minimal(
        Code::BroadcastBoth,
        "numpy",
        "param p [3,1] = 1\nparam t [3] = 1\nd = p - t",
        "d",
        None,
        "p - t",
    ),
    minimal(
        Code::UnusedParameter,
        ALL,
        "param x = 1\nparam u = 1\nloss = sqr(x)",
        "u",
        None,
        "param u = 1",
    ),
    minimal(
        Code::NoGradientPath,
        ALL,
        "param x = 1\nparam u = 1\nside = sqr(u)\nloss = sqr(x)",
        "u",
        None,
        "param u = 1",
    ),
    minimal(
        Code::UpstreamValue,
        "upstream",
        "param x [4] = 1\nparam b [1] = 1\nz = add1(x, b)\nloss = sum(z)",
        "z",
        None,
        "add1(x, b)",
    ),
];

/// Each text under each of its rule sets.
pub fn each() -> impl Iterator<Item = (&'static Minimal, String)> {
    MINIMAL.iter().flat_map(|m| {
        m.rules.split(' ').map(move |rules| (m, format!("rules {rules}\n{}\n", m.text)))
    })
}
