//! How far a job is, on standard error, once it has lasted a second.
//! Deliberately absent: what the job does; it only says now and then where it is.

#![expect(
    clippy::disallowed_methods,
    reason = "the command has a clock and a thread; the engine knows of neither"
)]

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use foldback::report::Told;

const SECOND: Duration = Duration::from_secs(1);

/// Shown from its first second to its drop.
pub(crate) struct Progress {
    newest: Arc<Mutex<Option<Told>>>,
    /// Its end ends the thread.
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(crate) fn new(shows: bool, name: &str) -> Self {
        let newest = Arc::new(Mutex::new(None));
        let running = shows.then(|| {
            let (sender, ends) = mpsc::channel();
            let (newest, name) = (Arc::clone(&newest), name.to_owned());
            let shown = thread::spawn(move || {
                let begun = Instant::now();
                let redraws = io::stderr().is_terminal();
                let mut drawn = false;
                let mut pause = SECOND;
                while ends.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    let newest = *newest.lock().unwrap_or_else(PoisonError::into_inner);
                    let line = format!("{name}: {}", words(newest, begun.elapsed()));
                    let (before, after) = if redraws { ("\r\x1b[K", "") } else { ("", "\n") };
                    // Nobody is told where standard error is closed.
                    let _ = write!(io::stderr(), "{before}{line}{after}");
                    drawn = redraws;
                    pause = if redraws { SECOND / 5 } else { SECOND };
                }
                if drawn {
                    let _ = write!(io::stderr(), "\r\x1b[K");
                }
            });
            (sender, shown)
        });
        Self { newest, running }
    }

    /// The job has come so far.
    pub(crate) fn told(&self, told: Told) {
        if self.running.is_some() {
            *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, shown)) = self.running.take() {
            drop(sender);
            // It panics nowhere, and if it did the answer would still be right.
            let _ = shown.join();
        }
    }
}

fn words(told: Option<Told>, spent: Duration) -> String {
    let seconds = spent.as_secs();
    match told {
        None => format!("building, {seconds} s"),
        Some(Told::Checked { done, of }) => format!("{done} of {of} entries checked, {seconds} s"),
        Some(Told::Trained { done, of, loss }) => {
            format!("step {done} of {of}, loss {loss:.6}, {seconds} s")
        }
    }
}
