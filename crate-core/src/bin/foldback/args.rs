//! The arguments. What stands here after three slashes is the help, the completions' text and the manual page.
//! Deliberately absent: what the arguments do.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Build, check and explain gradients of tensor programs.
///
/// A program is a text in the .fold language; `-` reads it from standard input.
/// `foldback check FILE` says whether its backward graph can be built and whether every gradient agrees with its
/// checks. The other words show what is in it.
#[derive(Parser, Debug)]
#[command(name = "foldback", version, after_long_help = AFTER, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) ask: Ask,
    #[command(flatten)]
    pub(crate) how: How,
}

const AFTER: &str = "\
Exit status:
  0  built, and every check passed
  1  refused, or a check failed
  2  the input or the arguments could not be read

Files in a program:
  const w = load(\"w.npy\")                  an array of NumPy
  const w = load(\"m.safetensors\", \"w\")     one of several tensors
  Names are relative to the program's file, or to the current folder for standard input.

COMMAND.md describes what --json prints.";

/// How answers are given.
#[derive(clap::Args, Debug)]
pub(crate) struct How {
    /// Answer in JSON: one object a file, one line each
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours; `auto` asks the terminal and NO_COLOR
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Say on standard error how far a long job is, terminal or not
    #[arg(long, global = true)]
    pub(crate) progress: bool,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Ask {
    /// Build the backward graph, run every check and the training, and say what is wrong
    Check {
        /// Programs; - is standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Print the steps in which the graphs are built and evaluated
    Trace {
        /// Programs; - is standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Evaluate forward and print the values
    Run {
        /// Programs; - is standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Print only this node, with all of its elements; may be given several times
        #[arg(long, value_name = "NAME")]
        node: Vec<String>,
    },
    /// Run the train line and print the losses and the parameters
    Train {
        /// Programs; - is standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Print the loss of every N-th step; some twenty are printed otherwise
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        every: Option<u64>,
    },
    /// Print the gradient of each parameter, with its shape
    Grad {
        /// Programs; - is standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Print the program in its canonical form
    Fmt {
        /// Programs; - is standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        how: Form,
    },
    /// List the table of ops, or show one of them
    Ops {
        /// An op by its name, one of its other spellings or its sign
        name: Option<String>,
    },
    /// Explain a code, with a program that provokes it; list them all without one
    Explain {
        /// A code as a finding shows it: gradient-shape
        code: Option<String>,
    },
    /// Print completions for a shell
    Completions {
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

/// What `fmt` does with the canonical form.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Only say which files differ from it, with exit status 1
    #[arg(long, conflicts_with = "write")]
    pub(crate) check: bool,
    /// Write it into the files
    #[arg(long, short)]
    pub(crate) write: bool,
}
