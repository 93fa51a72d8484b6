//! What the checks of a text say, leaf by leaf: one verdict where there are thousands of entries.
//! Deliberately absent: words about why. The entries and the doctor have those.

use super::{CheckLine, CheckReport, CheckRow, Verdict};
use crate::check::relative_error;

/// What one kind of check says.
#[derive(Clone, PartialEq, Debug)]
pub struct KindVerdict {
    /// `fd`, `adjoint` or `formula`.
    pub kind: String,
    /// Each trainable leaf that it is about.
    pub leaves: Vec<LeafVerdict>,
}

/// What a kind of check says of a leaf.
#[derive(Clone, PartialEq, Debug)]
pub struct LeafVerdict {
    /// The leaf's name.
    pub name: String,
    /// The largest error of its entries.
    pub error: f64,
    /// The verdict over all of them.
    pub verdict: Verdict,
}

impl Verdict {
    /// The word in the command's answer.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Kink => "kink",
            Self::Differs => "differs",
        }
    }

    /// The verdict over several entries: one that differs decides, then a kink.
    fn of(all: &(impl Iterator<Item = Self> + Clone)) -> Self {
        let any = |v: Self| all.clone().any(|x| x == v);
        if any(Self::Differs) {
            Self::Differs
        } else if any(Self::Kink) {
            Self::Kink
        } else {
            Self::Agrees
        }
    }
}

impl CheckReport {
    /// What each kind of check says, in the order in which the text asks, each kind once.
    pub fn verdicts(&self, lines: &[CheckLine]) -> Vec<KindVerdict> {
        let mut out: Vec<KindVerdict> = Vec::new();
        for line in lines {
            if out.iter().any(|check| check.kind == line.kind) {
                continue;
            }
            let leaves = match line.kind.as_str() {
                "adjoint" => self.by_adjoint(),
                "fd" if !self.directions.is_empty() => self.by_direction(),
                "fd" => self.by_entry(false),
                _ => self.by_entry(true),
            };
            out.push(KindVerdict { kind: line.kind.clone(), leaves });
        }
        out
    }

    fn by_adjoint(&self) -> Vec<LeafVerdict> {
        let row = |a: &super::AdjointRow| LeafVerdict {
            name: a.leaf.clone(),
            error: a.error,
            verdict: if a.verdict == Verdict::Agrees { Verdict::Agrees } else { Verdict::Differs },
        };
        self.adjoint.iter().map(row).collect()
    }

    fn by_direction(&self) -> Vec<LeafVerdict> {
        let runs = self.directions.chunk_by(|a, b| a.leaf == b.leaf);
        runs.map(|rows| LeafVerdict {
            name: rows.first().map(|d| d.leaf.clone()).unwrap_or_default(),
            error: rows.iter().map(|d| d.error).fold(0.0, f64::max),
            verdict: Verdict::of(&rows.iter().map(|d| d.verdict)),
        })
        .collect()
    }

    /// Over the entries of each leaf: against differences, or against the closed form where there is one.
    fn by_entry(&self, formula: bool) -> Vec<LeafVerdict> {
        let error = |r: &CheckRow| {
            if formula {
                r.formula.map_or(0.0, |f| relative_error(r.autodiff, f))
            } else {
                r.fd_error
            }
        };
        let judge = |r: &CheckRow| {
            let e = error(r);
            if !formula && r.verdict == Verdict::Kink {
                Verdict::Kink
            } else if e.is_nan() || e > self.tolerance {
                Verdict::Differs
            } else {
                Verdict::Agrees
            }
        };
        let runs = self.rows.chunk_by(|a, b| a.leaf == b.leaf);
        let meant = runs.filter(|rows| !formula || rows.iter().any(|r| r.formula.is_some()));
        meant
            .map(|rows| LeafVerdict {
                name: rows.first().map(|r| r.leaf.clone()).unwrap_or_default(),
                error: rows.iter().map(error).fold(0.0, f64::max),
                verdict: Verdict::of(&rows.iter().map(judge)),
            })
            .collect()
    }
}
