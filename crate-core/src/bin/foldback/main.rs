//! The command line: `foldback check FILE --json` answers for scripts and CI, the other words for people as well.
//! Deliberately absent: anything the library does not do. These files read arguments and files, and print.

mod args;
mod cx;
mod example;
mod explain;
mod gradients;
mod input;
mod judge;
mod manual;
mod progress;
mod steps;
mod table;
mod tidy;
mod training;
mod values;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Ask};
use crate::cx::{Cx, Stop};

/// What scripts go by: 0 all well, 1 refused or a check failed, 2 the input or the arguments could not be read.
type Status = u8;

fn main() -> ExitCode {
    // Wrong arguments end here, with clap's own message and status 2.
    let Args { ask, how } = Args::parse();
    let mut cx = Cx::new(&how);
    let done = answer(&mut cx, &ask).and_then(|status| cx.flush().map(|()| status));
    ExitCode::from(match done {
        Ok(status) => status,
        // Whoever reads has seen enough.
        Err(Stop::NobodyReads) => 0,
        Err(Stop::Says(why)) => {
            cx.complain(&why);
            2
        }
    })
}

fn answer(cx: &mut Cx, ask: &Ask) -> Result<Status, Stop> {
    match ask {
        Ask::Check { files } => cx.each(files, judge::check),
        Ask::Trace { files } => cx.each(files, steps::trace),
        Ask::Run { files, node } => cx.each(files, |cx, input| values::run(cx, input, node)),
        Ask::Train { files, every } => {
            cx.each(files, |cx, input| training::train(cx, input, *every))
        }
        Ask::Grad { files } => cx.each(files, gradients::grad),
        Ask::Fmt { files, how } => cx.each(files, |cx, input| tidy::fmt(cx, input, *how)),
        Ask::Ops { name } => table::ops(cx, name.as_deref()),
        Ask::Explain { code } => explain::explain(cx, code.as_deref()),
        Ask::Completions { shell } => manual::completions(cx, *shell),
        Ask::Man => manual::man(cx),
    }
}
