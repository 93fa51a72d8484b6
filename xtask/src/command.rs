//! Running other programs: announced, and with an error that names what failed.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Prints the command as one would type it.
pub(crate) fn announce(command: &Command) {
    println!("$ {}", words(command));
}

fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// Runs a command that shares this terminal; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    announce(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("could not start `{}`", words(command)))?;
    if status.success() {
        return Ok(());
    }
    bail!("`{}` failed ({status})", words(command))
}

/// The trimmed standard output of a command that succeeds quietly, else nothing.
pub(crate) fn answer(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Runs a command for at most so long; `false` when it failed, was missing or took longer.
pub(crate) fn run_within(limit: Duration, command: &mut Command) -> bool {
    announce(command);
    let Ok(mut child) = command.stdin(Stdio::null()).spawn() else { return false };
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Ok(Some(status)) = child.try_wait() {
            return status.success();
        }
        thread::sleep(Duration::from_millis(50));
    }
    // Both can only fail when the child has ended meanwhile, which is what is wanted.
    let _ = child.kill();
    let _ = child.wait();
    println!("no answer within {} s", limit.as_secs());
    false
}

/// Runs a command whose output is shown and also returned, with whether it succeeded.
pub(crate) fn run_and_read(command: &mut Command) -> Result<(String, bool)> {
    announce(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{}`", words(command)))?;
    let stdout = child.stdout.take().map(|from| thread::spawn(|| show(from)));
    let stderr = child.stderr.take().map(|from| thread::spawn(|| show(from)));
    let text = [stdout, stderr]
        .into_iter()
        .flatten()
        .map(|reader| reader.join().unwrap_or_default())
        .collect();
    let status = child.wait().with_context(|| format!("waiting for `{}`", words(command)))?;
    Ok((text, status.success()))
}

fn show(from: impl Read) -> String {
    let mut text = String::new();
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    while matches!(lines.read_until(b'\n', &mut line), Ok(n) if n > 0) {
        let words = String::from_utf8_lossy(&line);
        print!("{words}");
        text.push_str(&words);
        line.clear();
    }
    text
}
