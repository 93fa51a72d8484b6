//! Mutants that cannot change any result, each with the reason why no test can notice it.

/// A mutant that means the same as the original.
pub struct Equivalent {
    /// Its file, from the root.
    pub path: &'static str,
    /// What it does, in the words of the list of mutants.
    pub what: &'static str,
    /// Why nothing can come of it.
    pub why: &'static str,
}

/// All of them, file by file.
pub const ALL: &[Equivalent] = &[
    Equivalent {
        path: "crate-core/src/ops/add1.rs",
        what: "`unfolded(` for `folded(` in `folded(0, site.grad));`",
        why: "The result has the first operand's shape: there is nothing to fold, and the fold hands on what it is given.",
    },
    Equivalent {
        path: "crate-core/src/ops/l2_norm.rs",
        what: "`square` instead of `emit.pick_or(counts, square, 1.0)?`",
        why: "The root of a length that does not count is replaced by the bound in the next line; only a second derivative, which nothing here takes, would meet the root's slope at 0.",
    },
    Equivalent {
        path: "crate-core/src/ops/matmul.rs",
        what: "`d` instead of `drop_axis(emit, d, 1)?`",
        why: "The fold sums over a leading axis of 1 as well, and over the batch before it.",
    },
    Equivalent {
        path: "crate-core/src/ops/pow.rs",
        what: "`a` instead of `emit.op(OpKind::NotEqual, &[a, zero])?`",
        why: "A condition holds wherever it is not 0: a number says by itself whether it is another than 0.",
    },
    Equivalent {
        path: "crate-core/src/ops/sample_std.rs",
        what: "`size` instead of `emit.above(size, 0.0)?`",
        why: "A condition holds wherever it is not 0, and a size is never below.",
    },
    Equivalent {
        path: "crate-core/src/ops/softmax_sinks.rs",
        what: "`unfolded(` for `folded(` in `folded(0, logits.to_operand(emit, grad)?));`",
        why: "The result has the logits' shape: there is nothing to fold, and the fold hands on what it is given.",
    },
    Equivalent {
        path: "crate-core/src/ops/softmax.rs",
        what: "`unfolded(` for `folded(` in `folded(0, logits.to_operand(emit, grad)?));`",
        why: "The result has the logits' shape: there is nothing to fold, and the fold hands on what it is given.",
    },
    Equivalent {
        path: "crate-core/src/ops/softmax_sinks.rs",
        what: "`unfolded(` for `folded(` in `folded(0, logits.to_operand(emit, grad)?)])`",
        why: "The result has the logits' shape: there is nothing to fold, and the fold hands on what it is given.",
    },
    Equivalent {
        path: "crate-core/src/ops/std_.rs",
        what: "`size` instead of `emit.above(size, 0.0)?`",
        why: "A condition holds wherever it is not 0, and a size is never below.",
    },
    Equivalent {
        path: "crate-core/src/ops/flash_attn_ext.rs",
        what: "`site.src(1)` instead of `shaped(emit, site.src(1), four([kb, kh, s.keys, s.width]))?`",
        why: "A product stretches the operand of fewer axes, and the other one has four still.",
    },
    Equivalent {
        path: "crate-core/src/ops/flash_attn_ext.rs",
        what: "`site.src(0)` instead of `shaped(emit, site.src(0), by_key(s.width))?`",
        why: "A product stretches the operand of fewer axes, and the other one has four still.",
    },
    Equivalent {
        path: "crate-core/src/ops/flash_attn_ext.rs",
        what: "`site.src(2)` instead of `shaped(emit, site.src(2), four([kb, kh, s.keys, s.out]))?`",
        why: "A product stretches the operand of fewer axes, and the other one has four still.",
    },
    Equivalent {
        path: "crate-core/src/ops/mul_mat.rs",
        what: "`grad` instead of `shaped(emit, grad, rows(m))?`",
        why: "A product stretches the operand of fewer axes, and the other one has four still.",
    },
];

/// Why a mutant is equivalent, if it is.
pub fn why(mutant: &super::Mutant) -> Option<&'static str> {
    ALL.iter().find(|e| e.path == mutant.path && e.what == mutant.what).map(|e| e.why)
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn each_is_a_mutant_still() {
        let all = crate::mutants::all("");
        let mut mutants = all.iter().flat_map(|(_, found)| found);
        for e in ALL {
            let known = mutants.clone().any(|m| m.path == e.path && m.what == e.what);
            assert!(known, "{}: there is no {}", e.path, e.what);
        }
        assert!(mutants.any(|m| super::why(m).is_none()), "not all can be equivalent");
    }
}
