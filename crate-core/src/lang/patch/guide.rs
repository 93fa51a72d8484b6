//! The language in short, from the tables that read it: what a reference lists.

use super::complete::LINES;
use crate::lang::lower::{METHODS, generators};
use crate::ops::OpKind;
use crate::ops::def::Sign;
use crate::tensor::DType;

/// A part of the language: its title, and what belongs to it, each with what it is for.
pub type Part = (&'static str, Vec<(String, String)>);

/// All parts. What an op or a code is stands in tables of its own.
pub fn language() -> Vec<Part> {
    let said = |(form, says): &(&str, &str)| ((*form).to_owned(), (*says).to_owned());
    let signs = OpKind::ALL.iter().filter_map(|kind| {
        let op = kind.def();
        let form = match op.sign? {
            Sign::Infix(sign) => format!("a {sign} b"),
            Sign::Prefix(sign) => format!("{sign}a"),
        };
        Some((form, format!("`{}`: {}", op.name, op.says)))
    });
    let values = generators().map(|(name, params)| {
        let params: Vec<String> = params
            .iter()
            .map(|(name, default)| match default {
                Some(value) => format!("{name}={value}"),
                None => (*name).to_owned(),
            })
            .collect();
        let form = if params.is_empty() {
            name.to_owned()
        } else {
            format!("{name}({})", params.join(", "))
        };
        (form, "Fills a leaf of a shape that is given.".to_owned())
    });
    let methods = METHODS.iter().map(|(name, settings)| {
        let settings: Vec<String> = settings.iter().map(|s| format!("{s}=…")).collect();
        (format!("train {name} {}", settings.join(" ")), "Moves the parameters.".to_owned())
    });
    let types: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    vec![
        ("Lines", LINES.iter().map(said).chain(NOTATION.iter().map(said)).collect()),
        ("Signs", signs.collect()),
        ("Values", values.collect()),
        ("Training", methods.collect()),
        (
            "Types",
            vec![(types.join(", "), "What a leaf stores: `param w f16 [2] = 1`.".to_owned())],
        ),
    ]
}

/// What no word begins.
const NOTATION: &[(&str, &str)] = &[
    ("NAME = EXPR", "A node with a name; what stands inside of it has names like `y.1`."),
    ("# …", "A comment to the end of the line; the first one is the document's title."),
    ("[2 token, 3]", "A shape, row-major; axes may have names."),
    ("a.op(b, …)", "The same as `op(a, b, …)`."),
    ("?", "An input that is still open."),
];

#[cfg(test)]
mod tests {
    use super::language;
    use crate::construct::Budget;
    use crate::report::analyse;

    #[test]
    fn every_part_says_something_and_every_generator_fills_a_leaf() {
        let parts = language();
        assert_eq!(parts.len(), 5);
        for (title, rows) in &parts {
            assert!(!rows.is_empty(), "{title}");
            for (form, says) in rows {
                assert!(!form.is_empty() && !says.is_empty(), "{title}: {form}");
            }
        }
        let (_, values) = parts.iter().find(|(title, _)| *title == "Values").unwrap();
        for (form, _) in values {
            // Those without a default need numbers.
            let form = form.replace("(v)", "(2)").replace("(a, b)", "(0, 1)");
            let called = if form.contains('(') { form } else { form + "()" };
            let report =
                analyse(&format!("param w [2, 2] = {called}\nloss = sum(w)\n"), &Budget::default());
            assert!(report.report.whole, "{called}: {:?}", report.report.findings);
        }
    }
}
