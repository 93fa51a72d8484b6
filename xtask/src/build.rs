//! `cargo xtask build`: the compiler, the bindings, the site, and what it weighs.

use crate::bindings::bind;
use crate::command::{answer, run};
use crate::site::{self, Site};
use crate::toolchain::{self, TARGET, TARGET_FOLDER};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The two ways to compile the page; their settings stand in the workspace's `Cargo.toml`.
#[derive(Clone, Copy)]
pub(crate) enum Profile {
    /// What is published.
    Web,
    /// What is rebuilt while one works.
    Dev,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Dev => "web-dev",
        }
    }
}

/// Builds the page into `dist/`, which keeps its last content when anything fails.
pub(crate) fn build(profile: Profile) -> Result<Site> {
    let start = Instant::now();
    let toolchain = toolchain::find()?;
    // The crate type is chosen here: one that is an rlib too gets no link-time optimisation.
    run(toolchain.cargo("rustc").args([
        "--package",
        "foldback-web",
        "--lib",
        "--crate-type",
        "cdylib",
        "--features",
        "page",
        "--profile",
        profile.name(),
    ]))?;
    let made = Path::new(TARGET_FOLDER).join(TARGET).join(profile.name());
    let bindings = bind(&made.join("foldback_web.wasm"), &made.join("bindings"), profile)?;
    let site = site::assemble(&bindings, &first_picture()?)?;
    site.print();
    println!("built dist/ in {:.1} s", start.elapsed().as_secs_f32());
    Ok(site)
}

/// The page stopped at the refusal, for the time before its engine has loaded. It is drawn by the engine, natively,
/// in a process of its own: an engine that does not compile must not keep `xtask` from saying so.
fn first_picture() -> Result<String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--quiet", "--package", "foldback-web", "--example", "first_page"]);
    answer(&mut cargo)
        .context("drawing the first picture: `cargo run -p foldback-web --example first_page`")
}
