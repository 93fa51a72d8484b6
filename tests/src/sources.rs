//! The repository's own sources, as text: what the tidy tests read and the mutants are made of.

use std::fs;
use std::path::PathBuf;

use crate::golden::{files, root};

/// A file of ours.
pub struct Source {
    /// From the root of the repository, with slashes.
    pub path: String,
    /// Where it lies.
    pub at: PathBuf,
    /// Its text.
    pub text: String,
}

impl Source {
    /// Its lines of code: without comments, blank lines and what stands under `#[cfg(test)]`. The numbers count
    /// from 1.
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let code = |(ix, line): (usize, &'_ str)| {
            let bare = line.split("//").next().unwrap_or("").trim();
            !bare.is_empty() && ix < usize::MAX
        };
        self.text
            .lines()
            .take_while(|line| !line.starts_with("#[cfg(test)]"))
            .enumerate()
            .filter(move |(ix, line)| code((*ix, line)))
            .map(|(ix, line)| (ix + 1, line.split("//").next().unwrap_or("")))
    }
}

/// Every file below a folder of the repository whose name ends so.
///
/// # Panics
/// If one cannot be read.
pub fn sources(folder: &str, ending: &str) -> Vec<Source> {
    let root = root();
    files(&root.join(folder), ending)
        .into_iter()
        .map(|at| Source {
            path: at.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"),
            text: fs::read_to_string(&at).unwrap_or_default(),
            at,
        })
        .collect()
}
