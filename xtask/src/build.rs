//! `cargo xtask build`: the compiler, the bindings, the site, and what it weighs.

use crate::bindings::{Bindings, bind};
use crate::command::{answer, run};
use crate::site::{self, Site};
use crate::toolchain::{self, TARGET, TARGET_FOLDER, Toolchain};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// What `cargo` is told for the page's module.
pub(crate) const PAGE: &[&str] = &["--no-default-features", "--features", "page"];

/// The two ways to compile the page; their settings stand in the workspace's `Cargo.toml`.
#[derive(Clone, Copy)]
pub(crate) enum Profile {
    /// What is published.
    Web,
    /// What is rebuilt while one works.
    Dev,
}

impl Profile {
    /// The page with the part of the engine that it starts with.
    fn page(self) -> Module {
        let profile = match self {
            Self::Web => "web",
            Self::Dev => "web-dev",
        };
        Module { profile, features: PAGE }
    }

    /// The whole engine, loaded behind it.
    fn engine(self) -> Module {
        let profile = match self {
            Self::Web => "web-engine",
            Self::Dev => "web-dev",
        };
        Module { profile, features: &[] }
    }
}

/// One of the two modules: how cargo compiles it, and into which folder.
#[derive(Clone, Copy)]
struct Module {
    profile: &'static str,
    features: &'static [&'static str],
}

fn compile(toolchain: &Toolchain, profile: Profile, module: Module) -> Result<Bindings> {
    // The crate type is chosen here: one that is an rlib too gets no link-time optimisation.
    let what = ["--package", "foldback-web", "--lib", "--crate-type", "cdylib", "--profile"];
    let mut cargo = toolchain.cargo("rustc");
    cargo.args(what).arg(module.profile).args(module.features);
    if module.profile == "web" {
        toolchain.shrink(&mut cargo);
    }
    if module.profile == "web-engine" {
        cargo.args(toolchain::FAST);
    }
    run(&mut cargo)?;
    let made = Path::new(TARGET_FOLDER).join(TARGET).join(module.profile);
    bind(&made.join("foldback_web.wasm"), &made.join("bindings"), profile)
}

/// Builds the page into `dist/`, which keeps its last content when anything fails.
pub(crate) fn build(profile: Profile) -> Result<Site> {
    let start = Instant::now();
    let toolchain = toolchain::find()?;
    let page = compile(toolchain, profile, profile.page())?;
    let engine = compile(toolchain, profile, profile.engine())?;
    let site = site::assemble(page, engine, &first_picture()?)?;
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
