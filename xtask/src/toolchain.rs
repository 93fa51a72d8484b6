//! Which compiler makes WebAssembly here.
//!
//! The active toolchain if it has std for the target or can get it through rustup; else Debian's,
//! which brings the source of std and compiles it along. It pins no version and downloads no compiler.

use crate::command::{answer, run_within};
use crate::install::install;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Apart from `target/`: two compilers in one folder would throw away each other's work.
pub(crate) const TARGET_FOLDER: &str = "target-wasm";

const RUSTC: &str = "/usr/bin/rustc";
const CARGO: &str = "/usr/bin/cargo";
const CARGO_CLIPPY: &str = "/usr/bin/cargo-clippy";

/// Debian's compiler, cargo and source of std; `-web` are the ones that keep pace with browsers.
const PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// What rustup is asked for, and where it is noted which compiler it could not complete by it: a closed network is
/// waited for once.
const STD: ([&str; 3], &str) = (["target", "add", TARGET], "target-wasm/rustup-refused");
const SOURCE: ([&str; 3], &str) =
    (["component", "add", "rust-src"], "target-wasm/rustup-refused-source");

/// Long enough for 25 MB over a slow line, short enough where nobody answers.
const RUSTUP_LIMIT: Duration = Duration::from_secs(90);

pub(crate) enum Toolchain {
    /// The one that runs us, with std for the target; and whether it has the source of std, too.
    Active { has_source: bool },
    /// Debian's, with std compiled from source and this linker.
    Distribution { linker: PathBuf },
}

/// The toolchain of this run: looked for once, however often the page is built.
pub(crate) fn find() -> Result<&'static Toolchain> {
    static FOUND: OnceLock<Toolchain> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found);
    }
    let found = look()?;
    Ok(FOUND.get_or_init(|| found))
}

/// Looks in the order of the module's second paragraph and says what it finds.
fn look() -> Result<Toolchain> {
    if active_has_std() {
        say("the active compiler has std for WebAssembly");
        return Ok(active());
    }
    say("the active compiler has no std for WebAssembly");
    if rustup_adds(STD) && active_has_std() {
        return Ok(active());
    }
    match distribution() {
        Ok(linker) => {
            say("Debian's compiler, with std compiled from source (once, about a minute)");
            Ok(Toolchain::Distribution { linker })
        }
        Err(why) => bail!(
            "no compiler for WebAssembly: {why:#}\n\
             With rustup, run\n  rustup target add {TARGET}\n\
             On Debian, run\n  sudo apt-get update && sudo apt-get install {}",
            PACKAGES.join(" ")
        ),
    }
}

fn say(what: &str) {
    println!("toolchain: {what}");
}

fn active_has_std() -> bool {
    let folder =
        answer(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]));
    folder.is_some_and(|folder| last_with_prefix(Path::new(&folder), "libstd-").is_some())
}

/// The active compiler, with the source of std where it can be had: with it the page's module is a tenth smaller.
fn active() -> Toolchain {
    let has_source = has_source("rustc") || rustup_adds(SOURCE) && has_source("rustc");
    if !has_source {
        say(
            "without the source of std, the page's module keeps the words of its panics and is larger",
        );
    }
    Toolchain::Active { has_source }
}

/// Whether a compiler comes with the source of std.
fn has_source(rustc: &str) -> bool {
    let sysroot = answer(Command::new(rustc).args(["--print", "sysroot"]));
    sysroot.is_some_and(|sysroot| {
        Path::new(&sysroot).join("lib/rustlib/src/rust/library/Cargo.toml").exists()
    })
}

fn last_with_prefix(folder: &Path, prefix: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    let named = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(prefix);
    entries.flatten().filter(named).map(|entry| entry.path()).max()
}

fn rustup_adds((what, refused): ([&str; 3], &str)) -> bool {
    // Rustup's own word for "install nothing that nobody asked for by name".
    if std::env::var("RUSTUP_AUTO_INSTALL").is_ok_and(|value| value == "0") {
        say("RUSTUP_AUTO_INSTALL=0, so rustup is not asked for it");
        return false;
    }
    if answer(Command::new("rustup").arg("--version")).is_none() {
        say("there is no rustup to ask for it");
        return false;
    }
    let version = answer(Command::new("rustc").arg("-vV")).unwrap_or_default();
    if fs::read_to_string(refused).is_ok_and(|of| of == version) {
        say(&format!("rustup could not add it earlier (delete {refused} to ask again)"));
        return false;
    }
    let added = run_within(
        RUSTUP_LIMIT,
        Command::new("rustup").env("RUSTUP_MAX_RETRIES", "1").env("RUST_BACKTRACE", "0").args(what),
    );
    if added {
        say("rustup added it");
    } else {
        say("rustup could not add it");
        // Only saves the next run its wait, so a failure to write costs nothing but that.
        let _ = fs::create_dir_all(TARGET_FOLDER).and_then(|()| fs::write(refused, version));
    }
    added
}

/// The linker to use with Debian's compiler, once that compiler is complete.
fn distribution() -> Result<PathBuf> {
    if !distribution_is_complete() {
        install(&PACKAGES, "Debian's compiler with the source of std")?;
        if !distribution_is_complete() {
            bail!("the packages came without {CARGO} or without the source of std");
        }
    }
    if let Some(linker) = linker() {
        return Ok(linker);
    }
    // The linker of the compiler's own LLVM: an older one may not read what a newer one writes.
    let version = answer(Command::new(RUSTC).arg("-vV")).unwrap_or_default();
    let llvm = version.lines().find_map(|line| line.strip_prefix("LLVM version: "));
    let major = llvm.and_then(|llvm| llvm.split('.').next()).context("rustc names no LLVM")?;
    install(&[&format!("lld-{major}")], "a linker for WebAssembly")?;
    linker().with_context(|| format!("the package lld-{major} came without wasm-ld"))
}

fn distribution_is_complete() -> bool {
    has_source(RUSTC) && Path::new(CARGO).exists()
}

/// rustup's own `rust-lld`, else the newest `wasm-ld`.
fn linker() -> Option<PathBuf> {
    let host = answer(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let sysroot = answer(Command::new("rustc").args(["--print", "sysroot"]))?;
    let rust_lld = Path::new(&sysroot).join("lib/rustlib").join(host).join("bin/rust-lld");
    if rust_lld.exists() {
        return Some(rust_lld);
    }
    last_with_prefix(Path::new("/usr/bin"), "wasm-ld")
}

/// What makes the page's module smaller where std is compiled along: panics end it at once, without the words and
/// places of each, which cost a tenth of it. What a crash then says is the browser's; the whole engine keeps its words.
const SMALL: &str = "-C target-feature=+simd128 -Z location-detail=none \
                     -Z unstable-options -C panic=immediate-abort";

/// After cargo's own words: what makes the engine's loops faster by a twentieth. LLVM's strength reduction would make
/// pointers of what are constant offsets, and WebAssembly's loads have those for nothing.
pub(crate) const FAST: [&str; 3] = ["--", "-C", "llvm-args=-disable-lsr"];

/// Compiles std along.
const BUILD_STD: [&str; 2] = ["-Z", "build-std=std,panic_abort"];

impl Toolchain {
    /// Whether it compiles std along, and so can leave out what a smaller module does without.
    pub(crate) const fn shrinks(&self) -> bool {
        matches!(self, Self::Distribution { .. } | Self::Active { has_source: true })
    }

    /// Has `command`, made by `cargo`, make the smallest module that this toolchain can.
    pub(crate) fn shrink(&self, command: &mut Command) {
        if let Self::Active { has_source: true } = self {
            command.args(BUILD_STD).env("RUSTC_BOOTSTRAP", "1"); // build-std is the one unstable thing here
        }
        if self.shrinks() {
            command.args(["-Z", "build-std-features=optimize_for_size"]).env("RUSTFLAGS", SMALL); // in place of what .cargo/config.toml says
        }
    }

    /// `cargo SUBCOMMAND` for the target, with all that this toolchain needs.
    pub(crate) fn cargo(&self, subcommand: &str) -> Command {
        let program = match self {
            Self::Active { .. } => "cargo",
            Self::Distribution { .. } => CARGO,
        };
        self.complete(Command::new(program), subcommand)
    }

    /// `cargo clippy` for the target.
    pub(crate) fn clippy(&self) -> Result<Command> {
        if let Self::Active { .. } = self {
            return Ok(self.cargo("clippy"));
        }
        if !Path::new(CARGO_CLIPPY).exists() {
            install(&["rust-web-clippy"], "Debian's clippy")?;
        }
        // Not through cargo, which would prefer rustup's `cargo-clippy`.
        Ok(self.complete(Command::new(CARGO_CLIPPY), "clippy"))
    }

    fn complete(&self, mut command: Command, subcommand: &str) -> Command {
        command.args([subcommand, "--target", TARGET, "--target-dir", TARGET_FOLDER]);
        if let Self::Distribution { linker } = self {
            command
                .args(BUILD_STD)
                .env("RUSTC", RUSTC)
                .env("CARGO", CARGO) // what cargo-clippy starts
                .env("RUSTC_BOOTSTRAP", "1") // build-std is the one unstable thing here
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
                .env_remove("LD_LIBRARY_PATH"); // `cargo run` points it at the other compiler
        }
        command
    }
}
