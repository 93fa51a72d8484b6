//! `cargo xtask bench`: what the workloads take, natively; and the module that a browser measures.

use crate::bindings::bind_module;
use crate::command::run;
use crate::toolchain::{self, TARGET, TARGET_FOLDER};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Optimised as the engine that is shipped.
const HOW: [&str; 4] = ["--package", "foldback-benches", "--profile", "measure"];

/// Where the browser's module is put, with its glue.
const FOLDER: &str = "target-wasm/benches";

/// Compiles the workloads for the browser.
pub(crate) fn web() -> Result<()> {
    let toolchain = toolchain::find()?;
    let what = ["--lib", "--crate-type", "cdylib"];
    run(toolchain.cargo("rustc").args(HOW).args(what).args(toolchain::FAST))?;
    let made = Path::new(TARGET_FOLDER).join(TARGET).join("measure/foldback_benches.wasm");
    bind_module(&made, Path::new(FOLDER))?;
    println!("wrote {FOLDER}");
    Ok(())
}

/// Measures the workloads natively, or documents that grow; `words` go to the program that does.
pub(crate) fn native(words: &[&str]) -> Result<()> {
    let (program, words) = match words {
        ["growth", rest @ ..] => ("growth", rest),
        all => ("native", all),
    };
    run(Command::new("cargo").arg("run").args(HOW).args(["--bin", program, "--"]).args(words))
}
