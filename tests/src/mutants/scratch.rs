//! A copy of the workspace that mutants may spoil: it is compiled, and its tests are run against the clock.

#![expect(
    clippy::disallowed_methods,
    reason = "a test that a mutant makes hang is ended by the clock"
)]

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;

use crate::golden::root;

/// The tests that must notice: those that know the truth from elsewhere first, and slow ones last.
pub const SUITES: &[&str] = &[
    "reference",
    "table",
    "router",
    "golden",
    "defects",
    "ranks",
    "extremes",
    "paths",
    "contract",
    "fixes",
    "cases",
    "train",
    "limits",
    "doctor",
    "property",
    "grad_cases",
    "broadcast",
];

/// The copy.
pub struct Scratch {
    at: PathBuf,
}

/// What the compiler complains of.
#[derive(Debug)]
pub struct Complaint {
    /// The file, from the root.
    pub path: String,
    /// Where in it: the main places first.
    pub places: Vec<Range<usize>>,
    /// In its own words.
    pub text: String,
}

/// A compiled suite.
#[derive(Debug)]
pub struct Suite {
    /// Its name.
    pub name: String,
    binary: PathBuf,
    /// How long it may take.
    limit: Duration,
}

impl Scratch {
    /// Copies what git lists, and touches nothing that is the same already.
    ///
    /// # Panics
    /// If a file cannot be copied.
    pub fn new() -> Self {
        let scratch = Self { at: root().join("target-mutants") };
        let listed = Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard"])
            .current_dir(root())
            .output()
            .unwrap();
        for path in String::from_utf8_lossy(&listed.stdout).lines() {
            if let Ok(bytes) = fs::read(root().join(path)) {
                scratch.write(path, &bytes);
            }
        }
        scratch
    }

    /// Writes a file, unless it is so already: its time decides whether it is compiled again.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, path: &str, bytes: &[u8]) {
        let to = self.at.join(path);
        if fs::read(&to).ok().as_deref() != Some(bytes) {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(&to, bytes).unwrap();
        }
    }

    fn cargo(&self, args: &[&str]) -> Vec<Value> {
        let output = Command::new("cargo")
            .args(args)
            .args(["--message-format=json", "--quiet"])
            .args(["--config", "profile.dev.debug=false", "--config", "profile.dev.opt-level=1"])
            .current_dir(&self.at)
            .env("CARGO_TARGET_DIR", self.at.join("target"))
            .env("RUSTFLAGS", "--cap-lints=warn -Awarnings")
            .stderr(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// What the compiler says against the engine.
    pub fn complaints(&self) -> Vec<Complaint> {
        self.cargo(&["check", "--package", "foldback"]).iter().filter_map(complaint).collect()
    }

    /// Compiles all suites, and sees how long each takes as it is.
    ///
    /// # Panics
    /// If one does not compile, or is red before anything is changed.
    pub fn suites(&self) -> Vec<Suite> {
        let mut built = self.suites_unseen();
        for suite in &mut built {
            let start = Instant::now();
            assert_eq!(suite.run(&self.at, None), Verdict::Green, "{} as it is", suite.name);
            // Several run at once, and the machine may be busy with other things by then.
            suite.limit = start.elapsed() * 20 + Duration::from_secs(30);
        }
        assert_eq!(built.len(), SUITES.len(), "a suite is missing");
        built
    }

    /// Compiles all suites; those of a mutant that stands in the text are not run as they are.
    pub fn suites_unseen(&self) -> Vec<Suite> {
        let tests = SUITES.iter().flat_map(|s| ["--test", s]);
        let args: Vec<&str> =
            ["test", "--no-run", "--package", "foldback-tests"].into_iter().chain(tests).collect();
        let messages = self.cargo(&args);
        let binary = |name: &&str| {
            let is_it = |m: &&Value| m["target"]["name"] == **name && m["executable"].is_string();
            let binary = messages.iter().find(is_it)?["executable"].as_str()?.into();
            Some(Suite { name: (*name).to_owned(), binary, limit: Duration::from_mins(2) })
        };
        SUITES.iter().filter_map(binary).collect()
    }

    /// The first suite that notices a mutant, or what is the matter with the one that stands in the text.
    pub fn noticed(&self, suites: &[Suite], mutant: Option<usize>) -> String {
        for suite in suites {
            match suite.run(&self.at, mutant) {
                Verdict::Green => {}
                Verdict::Red => return suite.name.clone(),
                Verdict::TooLong => return format!("{} (takes too long)", suite.name),
            }
        }
        String::new()
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// How a suite ended.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Green,
    Red,
    TooLong,
}

impl Suite {
    fn run(&self, scratch: &Path, mutant: Option<usize>) -> Verdict {
        let mut command = Command::new(&self.binary);
        command.current_dir(scratch.join("tests")).stdout(Stdio::piped()).stderr(Stdio::null());
        command
            .env_remove("UPDATE_EXPECT")
            .env("RUST_BACKTRACE", "0")
            .env("RUST_TEST_THREADS", "1");
        match mutant {
            Some(n) => command.env("FOLDBACK_MUTANT", n.to_string()),
            None => command.env_remove("FOLDBACK_MUTANT"),
        };
        let mut child = command.spawn().unwrap();
        let mut said = child.stdout.take().unwrap();
        let (ends, end) = mpsc::channel();
        // What it says ends when it ends, however it does.
        let reader =
            thread::spawn(move || ends.send(std::io::copy(&mut said, &mut std::io::sink())));
        let late = end.recv_timeout(self.limit).is_err();
        if late {
            // It may have ended by itself just now.
            let _ = child.kill();
        }
        let status = child.wait().unwrap();
        let _ = reader.join();
        match (late, status.success()) {
            (true, _) => Verdict::TooLong,
            (false, true) => Verdict::Green,
            (false, false) => Verdict::Red,
        }
    }
}

/// An error with its places, if this is one.
fn complaint(message: &Value) -> Option<Complaint> {
    let message = message.get("message").filter(|m| m["level"] == "error")?;
    let spans = message["spans"].as_array()?;
    let main = spans.iter().filter(|s| s["is_primary"] == true);
    let path = main.clone().next()?["file_name"].as_str()?.to_owned();
    let also = spans.iter().filter(|s| s["is_primary"] != true);
    let place = |s: &Value| {
        let byte = |name: &str| s[name].as_u64().map(|n| n as usize);
        Some(byte("byte_start")?..byte("byte_end")?)
    };
    let places = main.chain(also).filter(|s| s["file_name"] == *path).filter_map(place).collect();
    let text = message["rendered"].as_str().unwrap_or_default().to_owned();
    Some(Complaint { path, places, text })
}
