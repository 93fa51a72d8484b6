//! The documents that come with the page.

/// An example.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Example {
    /// Its name in the menu.
    pub name: &'static str,
    /// What to look for, a few words.
    pub note: &'static str,
    /// The document: the whole engine has them, the page itself only the first.
    #[cfg(feature = "full")]
    pub text: &'static str,
}

/// The document that a newcomer meets.
pub const FIRST: &str = include_str!("../../../www/examples/refusal.fold");

macro_rules! examples {
    ($($name:literal, $note:literal, $file:literal;)*) => {
        /// All of them; the first is the one that a newcomer meets.
        pub const EXAMPLES: &[Example] = &[$(Example {
            name: $name,
            note: $note,
            #[cfg(feature = "full")]
            text: include_str!(concat!("../../../www/examples/", $file, ".fold")),
        },)*];
    };
}

examples! {
    "Why does this refuse to train?", "two refusals of upstream ggml, repaired", "refusal";
    "Two-expert router", "a closed form, and one step of SGD", "router-2";
    "Eight-expert router", "eight gradients come home to one divisor", "router-8";
    "One-expert router", "every weight is 1, so no gradient is left", "router-1";
    "A bias is copied", "so its gradient is summed", "bias";
    "Both operands are stretched", "two folds along two axes", "both-stretch";
    "A scalar becomes a matrix", "two axes fold away, and the rank", "rank-lift";
    "Tile against interleave", "the same shapes, another sum", "tile";
    "A product of matrices", "is a broadcast and a fold", "matmul";
    "Softmax and cross-entropy", "the gradient is p minus t", "cross-entropy";
    "A multilayer perceptron", "learns exclusive or", "mlp";
    "One attention head", "softmax of queries and keys", "attention";
    "A chunked delta net", "decays between the places of a chunk", "delta-net";
    "A mixture of experts", "eight used of eight: a larger graph", "moe-8";
    "Written over in place", "refused: backward needs the old value", "in-place";
    "An integer has no gradient", "refused by name", "integer";
    "An accumulator of the wrong shape", "refused before anything is added", "accumulator";
}

/// What "New" begins with.
pub const NEW: &str = "rules numpy\nparam x = 3\nloss = x * x\n";

#[cfg(test)]
mod tests {
    use super::{EXAMPLES, FIRST, NEW};
    use foldback::construct::Budget;
    use foldback::report::analyse;

    #[test]
    fn every_example_is_read_without_a_mistake() {
        for text in EXAMPLES.iter().map(|example| example.text).chain([NEW]) {
            let report = analyse(text, &Budget::default()).report;
            assert!(report.whole, "{text}");
            assert!(!report.ticks.is_empty(), "{text}");
        }
    }

    #[test]
    fn what_is_refused_says_so_in_its_note() {
        assert_eq!(EXAMPLES[0].text, FIRST);
        for (ix, example) in EXAMPLES.iter().enumerate() {
            let report = analyse(example.text, &Budget::default()).report;
            let refused = report.findings.iter().any(|finding| finding.stops);
            let says = ix == 0 || example.note.contains("refused");
            assert_eq!(refused, says, "{}", example.name);
        }
    }
}
