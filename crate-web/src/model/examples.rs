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
pub const EXAMPLES: [Example; 4] = [
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
];

/// What "New" begins with.
pub const NEW: &str = "rules numpy\nparam x = 3\nloss = x * x\n";
