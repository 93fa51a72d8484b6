//! The documents that come with the page.

/// An example.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Example {
    /// Its name in the menu.
    pub name: &'static str,
    /// What it shows, a few words.
    pub note: &'static str,
    /// The document.
    pub text: &'static str,
}

/// All of them; the first is the one that a newcomer meets.
pub const EXAMPLES: [Example; 8] = [
    Example {
        name: "Why does this refuse to train?",
        note: "two refusals of upstream ggml, repaired",
        text: include_str!("../../../www/examples/refusal.fold"),
    },
    Example {
        name: "Two-expert router",
        note: "a closed form, and one step of SGD",
        text: include_str!("../../../www/examples/router-2.fold"),
    },
    Example {
        name: "Eight-expert router",
        note: "eight gradients come home to one divisor",
        text: include_str!("../../../www/examples/router-8.fold"),
    },
    Example {
        name: "A bias is copied",
        note: "so its gradient is summed",
        text: include_str!("../../../www/examples/bias.fold"),
    },
    Example {
        name: "A multilayer perceptron",
        note: "learns exclusive or",
        text: include_str!("../../../www/examples/mlp.fold"),
    },
    Example {
        name: "A mixture of experts",
        note: "eight used of eight: a larger graph",
        text: include_str!("../../../www/examples/moe-8.fold"),
    },
    Example {
        name: "One attention head",
        note: "softmax of queries and keys",
        text: include_str!("../../../www/examples/attention.fold"),
    },
    Example {
        name: "A chunked delta net",
        note: "decays between the places of a chunk",
        text: include_str!("../../../www/examples/delta-net.fold"),
    },
];

/// What "New" begins with.
pub const NEW: &str = "rules numpy\nparam x = 3\nloss = x * x\n";

#[cfg(test)]
mod tests {
    use super::{EXAMPLES, NEW};
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
    fn the_first_one_is_refused_and_the_others_are_not() {
        for (ix, example) in EXAMPLES.iter().enumerate() {
            let report = analyse(example.text, &Budget::default()).report;
            let refused = report.findings.iter().any(|finding| finding.stops);
            assert_eq!(refused, ix == 0, "{}", example.name);
        }
    }
}
