//! What we are built from: where it comes from, under which licence, and how much of it there is twice.
//!
//! Known vulnerabilities are not looked up: their list is in no registry that a build can rely on.

#![expect(clippy::expect_used, reason = "a check that cannot be made has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Licences under which anybody may use, change and pass on what is built, with no more than a notice.
const LICENCES: [&str; 9] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-3-Clause",
    "BSL-1.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "0BSD",
];

/// Packages of which there are two versions, each with the reason.
const TWICE: [(&str, &str); 3] = [
    ("embedded-io", "postcard names both, and neither is compiled"),
    ("hashbrown", "safetensors and wasmparser are behind indexmap"),
    ("syn", "walrus-macro is behind"),
];

fn metadata() -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let run = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).expect("it is JSON")
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

/// Whether an SPDX expression can be met by [`LICENCES`] alone: `OR` needs one side, `AND` both.
fn is_free(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let free = any(&words, &mut at);
    free && at == words.len()
}

fn any(words: &[&str], at: &mut usize) -> bool {
    let mut free = all(words, at);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        free |= all(words, at);
    }
    free
}

fn all(words: &[&str], at: &mut usize) -> bool {
    let mut free = one(words, at);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        free &= one(words, at);
    }
    free
}

fn one(words: &[&str], at: &mut usize) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word == "(" {
        let free = any(words, at);
        *at += 1;
        return free;
    }
    let mut name = (*word).to_owned();
    if words.get(*at) == Some(&"WITH") {
        name = format!("{name} WITH {}", words.get(*at + 1).unwrap_or(&""));
        *at += 2;
    }
    LICENCES.contains(&name.as_str())
}

#[test]
fn licences_are_read_as_they_are_meant() {
    for free in ["MIT", "MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0", "GPL-3.0 OR MIT"] {
        assert!(is_free(free), "{free}");
    }
    for bound in ["", "GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR LGPL-2.1) AND MIT", "MIT MIT"] {
        assert!(!is_free(bound), "{bound}");
    }
}

#[test]
fn every_package_is_free_and_comes_from_the_registry() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("a list");
    assert!(packages.len() > 50, "hardly any: {}", packages.len());
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        let (name, licence) = (text(package, "name"), text(package, "license"));
        assert!(is_free(licence), "{name}: {licence}");
        let source = package["source"].as_str();
        let ours = package["manifest_path"].as_str().is_some_and(|path| !path.contains("registry"));
        match source {
            None => assert!(ours, "{name} has no source and is not ours"),
            Some(source) => assert!(source.starts_with("registry+"), "{name}: {source}"),
        }
        versions.entry(name).or_default().insert(text(package, "version"));
    }
    let twice: Vec<&str> =
        versions.iter().filter(|(_, all)| all.len() > 1).map(|(name, _)| *name).collect();
    assert_eq!(twice, TWICE.map(|(name, _)| name), "what there is twice is known, and why");
}

#[test]
fn every_dependency_of_ours_says_what_it_is_for() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut n = 0;
    for member in ["crate-core", "crate-web", "tests", "xtask"] {
        let path = root.join(member).join("Cargo.toml");
        let manifest = std::fs::read_to_string(&path).expect("it can be read");
        let mut in_dependencies = false;
        for line in manifest.lines() {
            if line.starts_with('[') {
                in_dependencies = line.contains("dependencies");
                if in_dependencies && line.contains("dependencies.") {
                    n += 1;
                    assert!(line.contains('#'), "{member}: {line}");
                }
            } else if in_dependencies && line.contains(" = {") {
                n += 1;
                let is_ours = line.starts_with("foldback");
                assert!(is_ours || line.contains('#'), "{member} does not say why: {line}");
            }
        }
    }
    assert!(n > 10, "hardly any: {n}");
}
