//! `cargo xtask serve`: build, open, and build again whenever a source changes.

use crate::build::{Profile, build};
use crate::server::{self, Live};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

/// What the page is made of.
const SOURCES: [&str; 5] = ["Cargo.toml", "index.html", "www", "crate-core", "crate-web"];

/// Looking at a hundred files this often costs nothing and works on every file system.
const LOOK: Duration = Duration::from_millis(300);

pub(crate) struct Options {
    port: u16,
    profile: Profile,
    open: bool,
}

impl Options {
    pub(crate) fn parse(mut args: &[&str]) -> Result<Self> {
        let mut options = Self { port: 8080, profile: Profile::Dev, open: true };
        loop {
            args = match args {
                [] => return Ok(options),
                ["--port", port, rest @ ..] => {
                    options.port =
                        port.parse().with_context(|| format!("`{port}` is no port number"))?;
                    rest
                }
                ["--no-open", rest @ ..] => {
                    options.open = false;
                    rest
                }
                ["--release", rest @ ..] => {
                    options.profile = Profile::Web;
                    rest
                }
                [other, ..] => {
                    bail!("serve has no option `{other}`; it has --release, --port N and --no-open")
                }
            };
        }
    }
}

/// Serves until it is interrupted.
pub(crate) fn serve(options: &Options) -> Result<()> {
    // The port first: a taken one should not cost a build.
    let server = server::start(options.port, Live::Reload)?;
    let mut seen = sources();
    build(options.profile)?;
    println!("serving dist/ at {} (Ctrl-C ends it)", server.url);
    if options.open && open::that_detached(&server.url).is_err() {
        println!("no browser could be opened here: open {} yourself", server.url);
    }
    loop {
        thread::sleep(LOOK);
        let now = sources();
        if now == seen {
            continue;
        }
        seen = now;
        // The page's first picture stays the one of this program, which is not compiled again.
        match build(options.profile) {
            Ok(_) => server.reload(),
            Err(error) => {
                println!("error: {error:#}\nthe last good page stays; waiting for a change");
            }
        }
    }
}

/// Every source with its time of change; what cannot be read has none and counts as absent.
fn sources() -> Vec<(PathBuf, Option<SystemTime>)> {
    let mut found = Vec::new();
    let mut paths: Vec<PathBuf> = SOURCES.iter().map(PathBuf::from).collect();
    while let Some(path) = paths.pop() {
        if let Ok(entries) = fs::read_dir(&path) {
            paths.extend(entries.flatten().map(|entry| entry.path()));
        } else {
            let changed = fs::metadata(&path).and_then(|file| file.modified()).ok();
            found.push((path, changed));
        }
    }
    found.sort();
    found
}
