//! Takes out of a module what it exports and nobody calls, before its bindings are written: exports are kept with
//! all they need. Deliberately absent: what is called by nobody but exported by us; that is ours to delete.

use anyhow::{Context, Result};
use walrus::{Export, Module, ModuleConfig, RawCustomSection};

/// Classes of `wasm-streams`, which every page of leptos brings along for calls of a server.
const CLASSES: &str = "IntoUnderlying";

/// Where wasm-bindgen's macros note what shall be bound.
const NOTES: &str = "__wasm_bindgen_unstable";

/// The module without exports and notes of [`CLASSES`]; what only these need goes when the bindings are written.
pub(crate) fn drop_uncalled(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut config = ModuleConfig::new();
    config.strict_validate(false);
    let mut module: Module = config.parse(wasm).context("reading the module")?;
    let uncalled = |name: &str| name.contains(&CLASSES.to_lowercase());
    let ids: Vec<_> =
        module.exports.iter().filter(|export| uncalled(&export.name)).map(Export::id).collect();
    for id in ids {
        module.exports.delete(id);
    }
    if let Some(notes) = module.customs.remove_raw(NOTES) {
        let data = kept(&notes.data).context("the notes of wasm-bindgen have another form now")?;
        module.customs.add(RawCustomSection { name: notes.name, data });
    }
    Ok(module.emit_wasm())
}

/// The notes that name no such class. Each is a version and a program, both with their length before them.
fn kept(notes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = notes;
    let mut out = Vec::new();
    while !rest.is_empty() {
        let (version, after) = counted(rest)?;
        let (program, after) = counted(after)?;
        let both = rest.get(..rest.len() - after.len())?;
        if !program.windows(CLASSES.len()).any(|part| part == CLASSES.as_bytes()) {
            out.extend_from_slice(both);
        }
        debug_assert!(version.starts_with(b"{"), "a version is JSON");
        rest = after;
    }
    Some(out)
}

/// So many bytes as the four before them say, and what follows.
fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (n, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*n) as usize)
}

#[cfg(test)]
mod tests {
    use super::kept;

    fn note(program: &str) -> Vec<u8> {
        let mut out = Vec::new();
        for part in ["{}", program] {
            out.extend((part.len() as u32).to_le_bytes());
            out.extend(part.as_bytes());
        }
        out
    }

    #[test]
    fn notes_of_the_classes_go_and_others_stay() {
        let all = [note("start_page"), note("class IntoUnderlyingSink"), note("answer")].concat();
        assert_eq!(kept(&all), Some([note("start_page"), note("answer")].concat()));
        assert_eq!(kept(&all[..all.len() - 1]), None);
    }
}
