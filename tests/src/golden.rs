//! Golden files: what a fixture gives stands beside it. `UPDATE_EXPECT=1` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of this package.
pub fn home() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The root of the repository.
///
/// # Panics
/// If the package lies at the root of the file system.
pub fn root() -> PathBuf {
    home().parent().unwrap().to_path_buf()
}

/// Every file below a folder whose name ends so, sorted.
///
/// # Panics
/// If a folder cannot be read.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if !name.starts_with("target") && !name.starts_with('.') && name != "node_modules" {
                    folders.push(path);
                }
            } else if name.ends_with(ending) {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// The documents of the suite: their names from its root, and their texts.
///
/// # Panics
/// If one cannot be read.
pub fn suite() -> Vec<(String, PathBuf, String)> {
    let folder = home().join("suite");
    let named = |path: PathBuf| {
        let name = path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        (name, path, text)
    };
    files(&folder, ".fold").into_iter().map(named).collect()
}

/// What differs between a golden file and what was found now; `None` where nothing does. A golden that should be
/// empty is no file.
///
/// # Panics
/// If the file cannot be read or written.
pub fn compare(path: &Path, now: &str) -> Option<String> {
    let then = fs::read_to_string(path).unwrap_or_default();
    if then == now {
        return None;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        if now.is_empty() {
            fs::remove_file(path).unwrap();
        } else {
            fs::write(path, now).unwrap();
        }
        return None;
    }
    let at = then.lines().zip(now.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or("(end)").to_owned();
    Some(format!(
        "{}:{}\n  golden: {}\n  now:    {}",
        path.display(),
        at + 1,
        line(&then),
        line(now)
    ))
}
