//! `cargo xtask`: builds, serves and tests Foldback.
//!
//! It is a program for people at a terminal and for CI. It knows nothing of the engine.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line speaks there")]

mod bench;
mod bindings;
mod browser;
mod build;
mod command;
mod install;
mod names;
mod serve;
mod server;
mod shots;
mod site;
mod test;
mod toolchain;
mod uncalled;

use anyhow::{Context, Result, bail};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  build [--dev]                           the static site, into dist/
  serve [--release] [--port N] [--no-open]
                                          build, open in the browser, rebuild on change
  test [--quick | --browser [--dev]]      everything that CI runs, or its first minute, or the page alone
  shots [--dev]                           pictures of the page, into shots/
  bench [WORKLOAD... | growth [FORM...] | --web]
                                          what training steps take, or documents of more and more nodes, or the
                                          module that a browser measures";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<ExitCode> {
    let root = std::env::var("CARGO_MANIFEST_DIR").context("run it as `cargo xtask`")?;
    std::env::set_current_dir(format!("{root}/..")).context("entering the workspace")?;
    let (command, options) = match args {
        [command, options @ ..] => (*command, options),
        [] => bail!("no command\n{USAGE}"),
    };
    match (command, options) {
        ("build", []) => build::build(build::Profile::Web).map(|_| ExitCode::SUCCESS),
        ("build", ["--dev"]) => build::build(build::Profile::Dev).map(|_| ExitCode::SUCCESS),
        ("serve", options) => {
            serve::serve(&serve::Options::parse(options)?).map(|()| ExitCode::SUCCESS)
        }
        ("test", []) => Ok(test::everything()),
        ("test", ["--quick"]) => Ok(test::quick()),
        ("test", ["--browser"]) => Ok(test::browser(build::Profile::Web)),
        ("test", ["--browser", "--dev"]) => Ok(test::browser(build::Profile::Dev)),
        ("shots", []) => shots::shots(build::Profile::Web).map(|()| ExitCode::SUCCESS),
        ("shots", ["--dev"]) => shots::shots(build::Profile::Dev).map(|()| ExitCode::SUCCESS),
        ("bench", ["--web"]) => bench::web().map(|()| ExitCode::SUCCESS),
        ("bench", words) => bench::native(words).map(|()| ExitCode::SUCCESS),
        ("help" | "--help" | "-h", _) => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("`cargo xtask {}` is no command\n{USAGE}", args.join(" ")),
    }
}
