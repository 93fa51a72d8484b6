//! `fmt`: the canonical form of a program.
//! Deliberately absent: anything about a text with lines that cannot be read; it is left as it is.

use std::io::Write;
use std::path::Path;

use foldback::construct::Budget;
use foldback::lang::spell::TableNames;
use foldback::lang::{self, format_with};
use foldback::report::{FindingRow, analyse, json};

use crate::Status;
use crate::args::Form;
use crate::cx::{Cx, Stop, has_errors};
use crate::input::Input;

pub(crate) fn fmt(cx: &mut Cx, input: &Input, how: Form) -> Result<Status, Stop> {
    // Only what cannot be read as lines stands in the way: a program may be tidied before it is right.
    let parsed = lang::parse(&input.text);
    let holes = holes(input, parsed.diagnostics.len());
    let whole = !has_errors(&holes);
    let tidy = if whole { format_with(&parsed.ast, &TableNames) } else { String::new() };
    let changed = whole && tidy != input.text;
    if changed && how.write {
        match &input.path {
            Some(path) => {
                write(path, &tidy).map_err(|e| Stop::Says(format!("{}: {e}", input.name)))?;
            }
            None => return Err(Stop::Says("standard input cannot be written to".to_owned())),
        }
    }
    if cx.json {
        let text = if whole { json::string(&tidy) } else { "null".to_owned() };
        cx.line(&json::object([
            ("file", json::string(&input.name)),
            ("changed", changed.to_string()),
            ("text", text),
            ("findings", json::findings(&holes)),
        ]))?;
    } else {
        cx.aside(input, &holes)?;
        match (whole, how.check, how.write) {
            (true, true, _) if changed => cx.line(&input.name)?,
            (false, ..) | (true, true, _) | (true, false, true) => {}
            (true, false, false) => cx.bytes(tidy.as_bytes())?,
        }
    }
    Ok(if whole { u8::from(changed && how.check) } else { 2 })
}

/// The findings of lines that cannot be read, which come first. No file is loaded for them.
fn holes(input: &Input, n: usize) -> Vec<FindingRow> {
    if n == 0 {
        return Vec::new();
    }
    analyse(&input.text, &Budget::default()).report.findings.into_iter().take(n).collect()
}

/// Beside the file first: a full disk must not cost anyone a program.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".foldback-new");
    let beside = path.with_file_name(name);
    let permissions = std::fs::metadata(path)?.permissions();
    let written = std::fs::File::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.set_permissions(permissions)?;
        file.sync_all()
    });
    let done = written.and_then(|()| std::fs::rename(&beside, path));
    if done.is_err() {
        // What went wrong is said; a file that may not even exist is not worth a second complaint.
        let _ = std::fs::remove_file(&beside);
    }
    done
}
