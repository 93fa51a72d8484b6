//! The words of the language.

/// Words that begin a statement.
pub const STATEMENTS: &[&str] = &[
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
];

/// Words that are values.
pub const VALUES: &[&str] = &["inf", "nan", "true", "false"];

/// Python's spellings of values.
pub const VALUE_SPELLINGS: &[&str] = &["True", "False"];

/// Module names before a call, where the document defines no such name: `np.f(x)` is `f(x)`.
pub const PREFIXES: &[&str] = &["torch", "np", "numpy", "jnp", "F"];

/// The generator that reads a file, and so the only one that takes a text.
pub const LOAD: &str = "load";

/// Whether a name is taken by the language.
pub fn is_reserved(name: &str) -> bool {
    [STATEMENTS, VALUES, VALUE_SPELLINGS].iter().any(|words| words.contains(&name))
}

/// Whether a text is a name that a document may define.
pub fn is_name(text: &str) -> bool {
    let fits = |c: char| c == '_' || c.is_ascii_alphanumeric();
    text.chars().all(fits)
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && !matches!(text, "" | "_")
        && !is_reserved(text)
}
