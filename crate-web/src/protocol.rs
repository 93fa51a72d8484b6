//! What page and worker say to each other, as plain data.
//!
//! The envelope crosses as a JavaScript object. Whatever may be large (a report, a check, a training run)
//! follows it as one transferred buffer in postcard's format: thousands of ticks as objects would be slow.
//! Deliberately absent: tensors, graphs and anything that only one side could read.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use foldback::report::CheckRow;

use crate::model::layout::Orientation;

/// The version of these types; a page and a worker of different versions do not talk.
pub const VERSION: u32 = 1;

/// What the page asks. Complete in itself, but for what `Check` and a trainer's controls continue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Request {
    /// [`VERSION`] of the sender.
    pub version: u32,
    /// Which text it is about; the page counts them up.
    pub rev: u32,
    /// What to do.
    pub job: Job,
}

/// A job of the worker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Job {
    /// Read the text, build and trace its graphs. Ends whatever else is running.
    Analyse {
        /// The whole text.
        text: String,
        /// Which way its picture shall run.
        orientation: Orientation,
        /// The calls that are drawn closed, by their names, with blanks between them.
        closed: String,
    },
    /// Run the checks that the text of this revision asks for.
    Check,
    /// Train as this text asks for. It goes to a worker of its own, and ends what that one is doing.
    Run {
        /// The whole text.
        text: String,
        /// Whether it begins at once.
        start: bool,
    },
    /// Do this with the run of this revision.
    Control(Control),
    /// Make the markup of a panel. It goes to a worker of its own.
    Panel {
        /// The place that asks.
        slot: u32,
        /// The whole text.
        text: String,
        /// A word, and what that needs to know.
        ask: String,
    },
}

/// What can be done with a training run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Control {
    /// Halt before the next step.
    Pause,
    /// Go on.
    Go,
    /// Take one step, and halt.
    Step,
    /// End it; what it has done stays.
    Cancel,
}

/// How a training run stands, beside what it has reached.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Pace {
    /// Whether no further step will come.
    pub over: bool,
    /// Whether it waits to be told to go on.
    pub paused: bool,
    /// How long it has been stepping, in milliseconds.
    pub spent: f64,
}

/// What the worker answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reply {
    /// [`VERSION`] of the sender.
    pub version: u32,
    /// The request's revision.
    pub rev: u32,
    /// What it says.
    pub body: Body,
}

/// The kinds of answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Body {
    /// The worker runs; nothing is sent before this.
    Ready,
    /// An `Answer` follows.
    Report,
    /// The text needs more than the part of the engine that this worker has.
    Beyond,
    /// A [`Checked`] follows, with the entries checked so far.
    Checks {
        /// Whether these are all.
        done: bool,
    },
    /// A [`Trained`] follows, with the steps taken so far.
    Training(Pace),
    /// The markup of a panel.
    Panel {
        /// The place that asked.
        slot: u32,
        /// What it asked.
        ask: String,
        /// What is to stand there.
        html: String,
    },
    /// Still at work.
    Progress,
    /// The worker is about to end.
    Panicked {
        /// What the panic said.
        message: String,
        /// File and line.
        place: String,
    },
}

/// What a training run has reached.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Trained {
    /// `sgd` or `adamw`.
    pub method: String,
    /// The learning rate.
    pub lr: f64,
    /// The loss before each of the first [`LOSSES`] steps and after the last of them.
    pub losses: Vec<f64>,
    /// What stands in the run's places, in the order of [`PLACES`].
    pub places: [String; 4],
}

/// The places of a training run on the page: how it stands, what can be done with it, its first step, and the curve
/// of all its losses.
pub const PLACES: [&str; 4] = ["#run-state", "#run-buttons", "#run-steps", "#run-loss"];

/// What the checks have found.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Checked {
    /// The entries, which are steps.
    pub rows: Vec<CheckRow>,
    /// How many agree.
    pub counts: String,
    /// The panel.
    pub panel: String,
}

/// So many losses go to the page one by one; of a longer run the chart tells the rest.
pub const LOSSES: usize = 1001;

impl Request {
    /// A request of this version.
    pub const fn new(rev: u32, job: Job) -> Self {
        Self { version: VERSION, rev, job }
    }
}

impl Reply {
    /// A reply of this version.
    pub const fn new(rev: u32, body: Body) -> Self {
        Self { version: VERSION, rev, body }
    }
}

/// The bytes of what follows an envelope; empty where it cannot be written, which never reads back.
pub fn pack(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).unwrap_or_default()
}

/// What was packed, if the bytes are whole.
pub fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}
