//! Reference vectors: what JAX says of the programs in `reference/cases`. `reference/make.py` wrote them.

use std::collections::BTreeMap;
use std::fs;

use foldback::rules::RuleSet;
use serde::Deserialize;

use crate::golden::{files, home};

/// How a file was made.
#[derive(Deserialize, Debug)]
pub struct MadeBy {
    /// The command.
    pub command: String,
    /// Versions of everything that computed.
    pub versions: String,
    /// The number type.
    pub precision: String,
}

/// A number, or the name of one that JSON cannot write.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Named(String),
}

/// A tensor of the reference.
#[derive(Deserialize, Clone, Debug)]
pub struct Tensor {
    /// Extents, row-major.
    pub shape: Vec<u32>,
    values: Vec<Number>,
}

impl Tensor {
    /// Its elements, row-major.
    pub fn values(&self) -> Vec<f64> {
        let value = |n: &Number| match n {
            Number::Finite(x) => *x,
            Number::Named(name) => name.parse().unwrap_or(f64::NAN),
        };
        self.values.iter().map(value).collect()
    }
}

/// What JAX says of one program under one rule set.
#[derive(Deserialize, Clone, Debug)]
pub struct Answer {
    /// The case's name.
    pub case: String,
    /// The rules' name.
    pub rules: String,
    /// The value of `y`.
    pub y: Tensor,
    /// The gradient of every trainable leaf.
    pub grads: BTreeMap<String, Tensor>,
}

#[derive(Deserialize)]
struct File {
    made_by: MadeBy,
    cases: Vec<Answer>,
}

/// A program, the rules it is run under, and the right answer.
#[derive(Clone, Debug)]
pub struct Case {
    /// `GROUP: NAME (RULES)`.
    pub name: String,
    /// Its rules.
    pub rules: RuleSet,
    /// Its program, which ends in `y`.
    pub program: String,
    /// The right answer.
    pub answer: Answer,
}

impl Case {
    /// The text that the engine is given: the program under its rules, with the reference's cotangent.
    pub fn text(&self) -> String {
        let program = crate::under(self.rules, &self.program);
        format!("{program}\nbackward y with rand(seed=99, lo=-1, hi=1)\n")
    }
}

/// A group of programs with its answers.
pub struct Group {
    /// Its name.
    pub name: String,
    /// How its answers were made.
    pub made_by: MadeBy,
    /// Its cases, in order.
    pub cases: Vec<Case>,
}

/// All groups.
///
/// # Panics
/// If a file cannot be read, or programs and answers do not belong together.
pub fn groups() -> Vec<Group> {
    let folder = home().join("reference");
    files(&folder.join("cases"), ".fold")
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let programs = programs(&fs::read_to_string(&path).unwrap());
            let data = fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
            let file: File = serde_json::from_str(&data).unwrap();
            let mut answers = file.cases.into_iter();
            let mut cases = Vec::new();
            for (case, sets, program) in programs {
                for rules in sets {
                    let answer =
                        answers.next().unwrap_or_else(|| panic!("{name}: no answer for {case}"));
                    assert_eq!(
                        (&answer.case, answer.rules.as_str()),
                        (&case, rules.name()),
                        "run make.py"
                    );
                    let name = format!("{name}: {case} ({})", rules.name());
                    cases.push(Case { name, rules, program: program.clone(), answer });
                }
            }
            assert!(answers.next().is_none(), "{name}: more answers than cases; run make.py");
            Group { name, made_by: file.made_by, cases }
        })
        .collect()
}

/// Name, rule sets and program of every case: `#= NAME` or `#= NAME : RULES`, up to the next.
fn programs(text: &str) -> Vec<(String, Vec<RuleSet>, String)> {
    let mut out = Vec::new();
    for block in text.split("\n#= ").skip(1) {
        let (head, program) = block.split_once('\n').unwrap();
        let (name, sets) = head.split_once(':').unwrap_or((head, "ggml numpy"));
        let sets = sets.split_whitespace().map(|word| RuleSet::by_name(word).unwrap()).collect();
        out.push((name.trim().to_owned(), sets, program.trim().to_owned()));
    }
    out
}
