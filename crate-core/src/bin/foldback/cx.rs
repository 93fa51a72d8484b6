//! What every word of the command shares: where answers go, in which form, and how files are gone through.
//! Deliberately absent: what any of them says.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Stderr, Stdout, Write};
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use foldback::report::draw::{draw, shown};
use foldback::report::{FindingRow, Weight};

use crate::Status;
use crate::args::{Color, How};
use crate::input::{self, Input};
use crate::progress::Progress;

/// So many findings of a text are drawn.
const MOST_FINDINGS: usize = 100;

/// Why an answer ends early.
pub(crate) enum Stop {
    /// Standard output was closed.
    NobodyReads,
    /// This.
    Says(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Says(format!("standard output: {error}")),
        }
    }
}

/// Where answers go, and in which form.
pub(crate) struct Cx {
    /// Whether they are JSON.
    pub(crate) json: bool,
    out: Out,
    /// Whether standard output and standard error take colours.
    colours: (bool, bool),
    show_progress: bool,
}

impl Cx {
    pub(crate) fn new(how: &How) -> Self {
        let colours = |auto: ColorChoice| match how.color {
            Color::Auto => auto != ColorChoice::Never,
            Color::Always => true,
            Color::Never => false,
        };
        let mixed = how.json && io::stdout().is_terminal();
        Self {
            json: how.json,
            out: Out { to: BufWriter::new(io::stdout()), broken: None },
            colours: (
                colours(AutoStream::<Stdout>::choice(&io::stdout())),
                colours(AutoStream::<Stderr>::choice(&io::stderr())),
            ),
            show_progress: how.progress || io::stderr().is_terminal() && !mixed,
        }
    }

    /// Answers for each file in turn; the worst status counts.
    pub(crate) fn each(
        &mut self,
        files: &[PathBuf],
        mut answer: impl FnMut(&mut Self, &Input) -> Result<Status, Stop>,
    ) -> Result<Status, Stop> {
        if files.iter().filter(|file| *file == Path::new("-")).count() > 1 {
            return Err(Stop::Says("standard input can be read once: - stands twice".to_owned()));
        }
        let mut worst = 0;
        for file in files {
            let status = match input::read(file) {
                Ok(input) => answer(self, &input)?,
                Err(why) => {
                    self.complain(&why);
                    2
                }
            };
            worst = worst.max(status);
        }
        Ok(worst)
    }

    /// Something went wrong outside of any text.
    pub(crate) fn complain(&mut self, why: &str) {
        // Where neither can be written to, nothing is left to say it with; the status still does.
        let _ = self.out.to.flush();
        let _ = writeln!(io::stderr(), "foldback: {}", shown(why));
    }

    /// A line of the answer.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Stop> {
        writeln!(self.out.to, "{line}").map_err(Stop::from)
    }

    /// Something that writes itself, such as JSON.
    pub(crate) fn stream<T>(
        &mut self,
        write: impl FnOnce(&mut dyn fmt::Write) -> Result<T, fmt::Error>,
    ) -> Result<T, Stop> {
        write(&mut self.out).map_err(|_nothing_in_it| match self.out.broken.take() {
            Some(error) => Stop::from(error),
            None => Stop::Says("an answer could not be written".to_owned()),
        })
    }

    /// The bytes of the answer.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.out.to.write_all(bytes).map_err(Stop::from)
    }

    pub(crate) fn flush(&mut self) -> Result<(), Stop> {
        self.out.to.flush().map_err(Stop::from)
    }

    /// The findings, as part of the answer.
    pub(crate) fn findings(&mut self, input: &Input, all: &[FindingRow]) -> Result<(), Stop> {
        let text = drawn(input, all, self.colours.0);
        self.bytes(text.as_bytes())
    }

    /// The findings, beside the answer.
    pub(crate) fn aside(&mut self, input: &Input, all: &[FindingRow]) -> Result<(), Stop> {
        self.flush()?;
        let text = drawn(input, all, self.colours.1);
        // As in `complain`.
        let _ = io::stderr().write_all(text.as_bytes());
        Ok(())
    }

    /// A job that may take long begins.
    pub(crate) fn begin(&self, input: &Input) -> Progress {
        Progress::new(self.show_progress, &shown(&input.name))
    }
}

fn drawn(input: &Input, all: &[FindingRow], colours: bool) -> String {
    let mut out = String::new();
    for finding in all.iter().take(MOST_FINDINGS) {
        out.push_str(draw(&input.name, &input.text, finding, colours).trim_end());
        out.push_str("\n\n");
    }
    let more = all.len().saturating_sub(MOST_FINDINGS);
    if more > 0 {
        out.push_str(&format!("and {more} more\n\n"));
    }
    out
}

/// The errors among the findings.
pub(crate) fn has_errors(all: &[FindingRow]) -> bool {
    all.iter().any(|f| f.weight == Weight::Error)
}

/// Standard output, for what writes text piece by piece.
struct Out {
    to: BufWriter<Stdout>,
    broken: Option<io::Error>,
}

impl fmt::Write for Out {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.to.write_all(text.as_bytes()).map_err(|error| {
            self.broken = Some(error);
            fmt::Error
        })
    }
}
