//! From the compiler's module to the one a browser loads, with its JavaScript glue.

use crate::build::Profile;
use crate::command::{answer, run};
use crate::names::shorten;
use crate::uncalled::drop_uncalled;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;
use wasm_bindgen_cli_support::Bindgen;

/// What the page downloads of the Rust side.
pub(crate) struct Bindings {
    pub(crate) glue: Vec<u8>,
    pub(crate) module: Vec<u8>,
}

/// Writes into `folder` and reads back what came out.
pub(crate) fn bind(module: &Path, folder: &Path, profile: Profile) -> Result<Bindings> {
    println!("writing the bindings");
    let small = matches!(profile, Profile::Web);
    let compiled = fs::read(module).with_context(|| format!("reading {}", module.display()))?;
    let mut output = Bindgen::new()
        .input_bytes("foldback", drop_uncalled(&compiled)?)
        // Not modules: page and worker load the same glue, and a page opened as a file can
        // start a worker from a classic script only.
        .no_modules(true)?
        .typescript(false)
        // Here and not by `strip` in the profile, which would also take the section by which
        // the bindings know the target's features. Names stay where panics are looked at.
        .remove_name_section(small)
        .remove_producers_section(true)
        .generate_output()
        .context("making the bindings")?;
    // Names stay where the glue is looked at.
    let glue = if small { shorten(&mut output) } else { output.js().to_owned() };
    output.emit(folder).context("writing the bindings")?;
    let wasm = folder.join("foldback_bg.wasm");
    if small {
        shrink(&wasm);
    }
    let module = fs::read(&wasm).with_context(|| format!("reading {}", wasm.display()))?;
    Ok(Bindings { glue: glue.into_bytes(), module })
}

/// A few percent less to compile in the browser, where `wasm-opt` happens to be installed.
fn shrink(wasm: &Path) {
    let places = ["wasm-opt", "node_modules/.bin/wasm-opt", "tests/e2e/node_modules/.bin/wasm-opt"];
    let here = |place: &&&str| answer(Command::new(place).arg("--version")).is_some();
    let Some(wasm_opt) = places.iter().find(here) else { return };
    let shrunk = wasm.with_extension("shrunk");
    let features = [
        "--enable-simd",
        "--enable-bulk-memory",
        "--enable-mutable-globals",
        "--enable-multivalue",
        "--enable-nontrapping-float-to-int",
        "--enable-reference-types",
        "--enable-sign-ext",
    ];
    let done =
        run(Command::new(wasm_opt).arg("-Oz").args(features).arg(wasm).arg("-o").arg(&shrunk))
            .and_then(|()| fs::rename(&shrunk, wasm).context("replacing the module"));
    if let Err(error) = done {
        println!("left as it is: {error:#}");
    }
}

/// Writes the module of the workloads and its glue, for a script that imports it, into `folder`.
pub(crate) fn bind_module(module: &Path, folder: &Path) -> Result<()> {
    let compiled = fs::read(module).with_context(|| format!("reading {}", module.display()))?;
    Bindgen::new()
        .input_bytes("foldback_benches", compiled)
        .web(true)?
        .typescript(false)
        .generate(folder)
        .context("writing the bindings")
}
