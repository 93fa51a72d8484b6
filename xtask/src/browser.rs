//! Node and Chromium for the browser tests: found, or installed, or asked for by name.

use crate::command::{answer, run};
use crate::install::install;
use crate::server::Server;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "tests/e2e";

const CHROMIUMS: [&str; 5] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// `node` with all that a script in `tests/e2e` needs to look at the page of this server.
pub(crate) fn node(server: &Server) -> Result<Command> {
    let chromium = chromium()?;
    install_npm_packages()?;
    let mut node = Command::new("node");
    node.env("FOLDBACK_URL", &server.url).env("FOLDBACK_CHROMIUM", chromium);
    Ok(node)
}

/// The scripts of `tests/e2e` whose name ends so.
pub(crate) fn scripts(ending: &str) -> Result<Vec<String>> {
    let entries = fs::read_dir(FOLDER).with_context(|| format!("reading {FOLDER}"))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut scripts: Vec<String> = names
        .filter(|name| name.ends_with(ending))
        .map(|name| format!("{FOLDER}/{name}"))
        .collect();
    scripts.sort();
    if scripts.is_empty() {
        bail!("{FOLDER} has no *{ending}");
    }
    Ok(scripts)
}

fn chromium() -> Result<String> {
    if let Ok(chosen) = std::env::var("FOLDBACK_CHROMIUM") {
        return Ok(chosen);
    }
    let find = || CHROMIUMS.iter().find(|path| Path::new(path).exists());
    if let Some(found) = find() {
        return Ok((*found).to_owned());
    }
    install(&["chromium", "fonts-dejavu-core"], "Chromium, for the browser tests,")
        .context("without Chromium; one in an unusual place is named by FOLDBACK_CHROMIUM=PATH")?;
    find().map(|found| (*found).to_owned()).context("the package chromium came without its program")
}

/// Playwright's and axe's packages, from the lock file; neither brings a browser.
fn install_npm_packages() -> Result<()> {
    if answer(Command::new("npm").arg("--version")).is_none() {
        install(&["nodejs", "npm"], "Node with npm, for the browser tests,")?;
    }
    let changed = |path: String| fs::metadata(path).and_then(|file| file.modified()).ok();
    let installed = changed(format!("{FOLDER}/node_modules/.package-lock.json"));
    if installed.is_some() && installed >= changed(format!("{FOLDER}/package-lock.json")) {
        return Ok(());
    }
    println!("installing the browser tests' npm packages into {FOLDER}/node_modules");
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(FOLDER))
}
