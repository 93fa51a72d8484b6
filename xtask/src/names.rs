//! Gives what a module imports short names, in the module and in its glue: the long ones end in digits that no
//! compression makes smaller, some 7 KB of the first load.

use std::collections::BTreeMap;
use wasm_bindgen_cli_support::Output;

/// Renames in the module, and returns the glue that goes with it.
pub(crate) fn shorten(output: &mut Output) -> String {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (ix, import) in output.wasm_mut().imports.iter_mut().enumerate() {
        let short = short(ix);
        names.insert(std::mem::replace(&mut import.name, short.clone()), short);
        // The one module they all come from.
        let from = std::mem::replace(&mut import.module, "_".to_owned());
        names.insert(from, "_".to_owned());
    }
    renamed(output.js(), &names)
}

/// The names of imports are whole words of the glue, or stand between quotes.
fn renamed(glue: &str, names: &BTreeMap<String, String>) -> String {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '/');
    let mut out = String::with_capacity(glue.len());
    let mut rest = glue;
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len()).max(if part(c) {
            0
        } else {
            c.len_utf8()
        });
        let (word, after) = rest.split_at(end);
        out.push_str(names.get(word).map_or(word, String::as_str));
        rest = after;
    }
    out
}

/// A name that no other number has, and no word of the glue: `_0`, `_1`, …, `_a`.
fn short(ix: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut rest = ix;
    let mut out = String::new();
    loop {
        out.insert(0, char::from(DIGITS[rest % 36]));
        rest /= 36;
        if rest == 0 {
            out.insert(0, '_');
            return out;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{renamed, short};

    #[test]
    fn whole_words_alone_are_renamed() {
        let names = [("__wbg_at_0123", "_0"), ("./foldback_bg.js", "_")];
        let names = names.map(|(from, to)| (from.to_owned(), to.to_owned())).into();
        let glue = "const i = { __wbg_at_0123: f(__wbg_at_01234), \"./foldback_bg.js\": é };";
        assert_eq!(renamed(glue, &names), "const i = { _0: f(__wbg_at_01234), \"_\": é };");
    }

    #[test]
    fn short_names_differ() {
        let all: std::collections::BTreeSet<String> = (0..2000).map(short).collect();
        assert_eq!(all.len(), 2000);
    }
}
