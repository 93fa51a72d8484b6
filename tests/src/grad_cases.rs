//! The gradient cases of ggml's own harness, shrunk: `cases/grad-cases.txt`, made by `cases/shrink.py`.

mod build;

use std::collections::BTreeMap;
use std::fs;

use crate::golden::home;

/// A case: an op, its parameters, and how many rows of the list it stands for.
#[derive(Clone, Debug)]
pub struct GradCase {
    /// ggml's name of the op.
    pub op: String,
    /// The line's parameters.
    pub params: String,
    /// Rows of the list.
    pub rows: usize,
}

/// A trainable leaf.
#[derive(Clone, Debug)]
pub struct Leaf {
    name: String,
    ne: Vec<u32>,
    range: (f64, f64),
}

/// A case as a program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    leaves: Vec<Leaf>,
    /// Constants, before the leaves.
    before: String,
    /// Lines that end in `y`.
    body: String,
    /// Whether the derivative is 0 wherever it exists.
    pub is_flat: bool,
}

/// What surrounds the op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Around {
    /// Nothing.
    Nothing,
    /// The result goes through a transpose.
    Before,
    /// Every leaf comes from one.
    After,
    /// Gradients start from given values.
    Accumulators,
}

/// All cases.
///
/// # Panics
/// If the file cannot be read.
pub fn grad_cases() -> Vec<GradCase> {
    let text = fs::read_to_string(home().join("cases/grad-cases.txt")).unwrap();
    let case = |line: &str| {
        let parts: Vec<&str> = line.split('\t').collect();
        let [op, params, rows] = parts.as_slice() else { panic!("not a case: {line}") };
        GradCase { op: (*op).to_owned(), params: (*params).to_owned(), rows: rows.parse().unwrap() }
    };
    text.lines().map(case).collect()
}

impl GradCase {
    /// The case as a program, or why there is none.
    pub fn program(&self) -> Result<Program, &'static str> {
        build::build(&self.op, &Params::new(&self.params))
    }
}

/// Parameters by name.
struct Params<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Params<'a> {
    fn new(text: &'a str) -> Self {
        Self(text.split(';').filter_map(|part| part.split_once('=')).collect())
    }

    fn num(&self, key: &str) -> f64 {
        self.0.get(key).and_then(|v| v.parse().ok()).unwrap_or(0.0)
    }

    fn int(&self, key: &str) -> i64 {
        self.num(key) as i64
    }

    fn flag(&self, key: &str) -> bool {
        self.int(key) != 0
    }

    fn ints(&self, key: &str) -> Vec<u32> {
        let list = self.0.get(key).map_or("", |v| v.trim_matches(['[', ']']));
        list.split(',').filter_map(|n| n.trim().parse().ok()).collect()
    }
}

/// A shape in ggml's order.
fn ne(dims: &[u32]) -> String {
    let items: Vec<String> = dims.iter().map(u32::to_string).collect();
    format!("ne[{}]", items.join(", "))
}

impl Program {
    fn leaf(mut self, name: &str, dims: &[u32], range: (f64, f64)) -> Self {
        self.leaves.push(Leaf { name: name.to_owned(), ne: dims.to_vec(), range });
        self
    }

    fn line(mut self, line: impl AsRef<str>) -> Self {
        self.body.push_str(line.as_ref());
        self.body.push('\n');
        self
    }

    fn constant(mut self, line: impl AsRef<str>) -> Self {
        self.before.push_str(line.as_ref());
        self.before.push('\n');
        self
    }

    /// The whole text, with a random cotangent.
    pub fn text(&self, around: Around) -> String {
        let mut text = format!("rules ggml\n{}", self.before);
        for (seed, leaf) in self.leaves.iter().enumerate() {
            let Leaf { name, ne: dims, range: (lo, hi) } = leaf;
            let rand = format!("rand(seed={}, lo={lo:?}, hi={hi:?})", seed + 1);
            if around == Around::After && dims.len() > 1 {
                let mut swapped = dims.clone();
                swapped.swap(0, 1);
                text.extend(["param ", name, "_t ", &ne(&swapped), " = ", &rand, "\n"]);
                text.extend([name, " = transpose(", name, "_t, -1, -2)\n"]);
            } else {
                text.extend(["param ", name, " ", &ne(dims), " = ", &rand, "\n"]);
            }
            if around == Around::Accumulators {
                let start = format!("rand(seed={}, lo=-1, hi=1)", seed + 50);
                text.extend(["accumulator ", name, " ", &ne(dims), " = ", &start, "\n"]);
            }
        }
        text.push_str(&self.body);
        if around == Around::Before {
            text.push_str("t = transpose(y, -1, -2)\n");
        }
        let out = if around == Around::Before { "t" } else { "y" };
        format!("{text}backward {out} with rand(seed=99, lo=-1, hi=1)\n")
    }
}
