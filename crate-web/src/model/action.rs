//! Everything that can happen on the page, and everything the page does about it. Both lists are closed.

use std::sync::Arc;

use super::answer::Answer;
use super::asks;
use super::layout::Orientation;
use super::names::Arrow;
use super::supervise::LinkState;
use super::timeline::Grain;
use super::trainer;
use super::view::{Aid, Draw, Over, Room, Scroll, Tab, Theme};
use crate::protocol::{Checked, Control, Job, Trained};

/// Where to step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// To the next place of the scrubber. Held at the end it stays, pressed there it starts again at the seed.
    Next {
        /// Whether the key is held down.
        held: bool,
    },
    /// To the previous place.
    Back,
    /// To the end of the next node, at any grain.
    NextNode,
    /// To the end of the previous node.
    BackNode,
    /// To the first step.
    First,
    /// To the last step.
    Last,
    /// To a step.
    To(usize),
    /// To a place of the scrubber.
    Place(usize),
    /// To the next sum of gradients.
    Sum,
    /// To where the build is refused.
    Refusal,
    /// To the next step about the selected node.
    About,
    /// To the nearest contribution to the selected node's gradient.
    Contribution {
        /// Forward in the trace.
        forward: bool,
    },
    /// To the nearest fold.
    Fold {
        /// Forward in the trace.
        forward: bool,
    },
}

/// What a new document is made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// Three lines to begin with.
    New,
    /// An example, by its place in the list.
    Example(usize),
    /// A text that the page itself has.
    Text(String),
    /// A file.
    File {
        /// Its name, without what it ends in.
        name: String,
        /// What it holds.
        text: String,
    },
}

/// A pane of the page, in the order of F6.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pane {
    /// The text.
    Program,
    /// The graph, or what is over it.
    Stage,
    /// The right column.
    Side,
    /// The stepper.
    Stepper,
    /// The panels' buttons.
    Dock,
}

impl Pane {
    /// All of them, in the order of F6.
    pub const ALL: [Self; 5] = [Self::Program, Self::Stage, Self::Side, Self::Stepper, Self::Dock];
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Action {
    /// The editor's text changed.
    Type {
        /// All of it.
        text: String,
        /// The caret, in bytes.
        caret: usize,
    },
    /// The caret moved, in bytes.
    Caret(usize),
    /// Take the last change of the text back.
    Undo,
    /// Make it again.
    Redo,
    /// Judge the text by these rules.
    SetRules(&'static str),
    /// Judge it by the next ones.
    NextRules,
    /// Apply a problem's fix.
    Fix {
        /// Which problem.
        problem: usize,
        /// Which of its fixes.
        fix: usize,
    },
    /// Open another document.
    Open(Source),
    /// Do this with the documents in the store, in words.
    Doc(String),
    /// Store the open document now: the page may be about to end.
    Flush,
    /// Say why something could not be done.
    Refuse(&'static str),
    /// Let the user choose a file to open.
    ChooseFile,
    /// Save the text as a file.
    Save,
    /// Step.
    Step(Move),
    /// How far a step goes.
    SetGrain(Grain),
    /// Play or pause.
    Play,
    /// Play faster, or slow again.
    Faster,
    /// It is time for the next step of playing.
    Beat,
    /// Select a node, or none.
    Select(Option<u32>),
    /// Select a neighbour of the selected node.
    Walk(Arrow),
    /// Select a node beside the others, or not any more.
    Mark(u32),
    /// Select a neighbour beside the others.
    MarkWalk(Arrow),
    /// Select what stands between two points of the pane beside the others.
    MarkIn((f64, f64), (f64, f64)),
    /// Move a node, and what is selected with it, by so many pixels of the pane.
    Drag {
        /// The node.
        node: u32,
        /// To the right and down.
        by: (f64, f64),
    },
    /// Draw a call closed, or open again; without one, that of the selected node.
    Close(Option<String>),
    /// Show a problem.
    ShowProblem(usize),
    /// Show the next or previous problem.
    NextProblem {
        /// Forward in the list.
        forward: bool,
    },
    /// Show the node instead of the problem.
    Inspect,
    /// Look at another fix.
    PickFix(usize),
    /// Put a panel over the graph, or take it away.
    Toggle(Over),
    /// Tell the panel over the graph something more.
    Tell(String),
    /// The worker has made the markup of a panel.
    Panel {
        /// The place that asked.
        slot: usize,
        /// The text's revision.
        rev: u32,
        /// What was asked.
        ask: String,
        /// What is to stand there.
        html: String,
    },
    /// Open a list of things to draw, or close it.
    Draw(Draw),
    /// Look for something in it.
    Find(String),
    /// Draw, in words.
    Make(String),
    /// The same with the selected nodes, whose names stand where the words have `*`.
    MakeHere(&'static str),
    /// Connect one node's output to another's input.
    Wire {
        /// The node that is read.
        from: u32,
        /// The node that reads; none where a new one shall.
        to: Option<u32>,
    },
    /// Have what comes next predicted, or not any more.
    Predict,
    /// Guess something of it.
    Guess(String),
    /// Put the caret at the selected node's line.
    EditLine,
    /// Take a node's elements along: the kind, and the node.
    Take(String),
    /// Show a pane on a narrow page.
    Show(Tab),
    /// Light or dark.
    SetTheme(Theme),
    /// To the next or previous pane.
    NextPane {
        /// Where the focus is.
        from: Option<Pane>,
        /// Forward in the order of [`Pane::ALL`].
        forward: bool,
    },
    /// The page has another size.
    Resize(Room),
    /// Show the whole picture.
    Fit,
    /// Closer by a factor.
    Zoom {
        /// Above 1 is closer.
        factor: f64,
        /// The point held still; the middle of the pane where there is none.
        at: Option<(f64, f64)>,
    },
    /// Move the picture.
    Pan(f64, f64),
    /// The table of steps was scrolled.
    Scroll(Scroll),
    /// The engine has read a text.
    Answered {
        /// Its revision.
        rev: u32,
        /// What it found.
        answer: Arc<Answer>,
    },
    /// The engine has checked entries.
    Checked {
        /// The text's revision.
        rev: u32,
        /// The entries so far.
        checked: Arc<Checked>,
    },
    /// The engine has taken steps.
    Trained {
        /// The text's revision.
        rev: u32,
        /// The steps so far.
        trained: Arc<Trained>,
    },
    /// The trainer ended, and why.
    TrainerEnded {
        /// The text's revision.
        rev: u32,
        /// What is known of it.
        why: String,
    },
    /// Do this with the training run.
    Train(Control),
    /// Select a node, with the graph in sight.
    ShowTrouble(u32),
    /// Train from the start again.
    TrainAgain,
    /// The link to the engine has another state.
    Linked(LinkState),
    /// Send the text again that ended the engine.
    Retry,
    /// Show something at a word of the program, or nothing.
    Aid(Aid),
    /// Say what is to be said of the word at the caret.
    CardHere,
    /// Write a proposal.
    Write {
        /// The bytes that it takes the place of.
        span: (usize, usize),
        /// What is written.
        text: String,
    },
    /// Put the caret at a byte of the program.
    GoTo(usize),
    /// Change the keyboard map, in words.
    Keys(String),
}

/// Something to do outside of the state.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Give the engine a text.
    Analyse {
        /// Its revision.
        rev: u32,
        /// All of it.
        text: String,
        /// Which way its picture shall run.
        orientation: Orientation,
        /// The calls that are drawn closed, by their names, with blanks between them.
        closed: String,
    },
    /// Give the engine what the accepted text asks for further.
    Ask {
        /// Its revision.
        rev: u32,
        /// In this order.
        jobs: Vec<Job>,
    },
    /// Tell the trainer.
    Train(trainer::Event),
    /// Tell the panels' worker.
    Panels(asks::Event),
    /// Put a text that was not typed into the editor, and the caret, in bytes.
    ShowText {
        /// All of it.
        text: String,
        /// Where the caret goes.
        caret: usize,
    },
    /// Keep something in the browser, under this key: the text, or where the document stands.
    Keep(&'static str, String),
    /// [`Action::Flush`], in a moment.
    KeepSoon,
    /// Let the user choose a file to open.
    ChooseFile,
    /// Save a file.
    Download {
        /// Its name.
        name: String,
        /// What it holds.
        text: String,
    },
    /// Save a file of bytes, given as hexadecimal digits.
    DownloadBytes {
        /// Its name.
        name: String,
        /// Two digits a byte.
        digits: String,
    },
    /// Put a text on the clipboard.
    Copy(String),
    /// Say a sentence to those who cannot see the page.
    Announce(String),
    /// Give a pane the focus.
    Focus(Pane),
    /// Give the selected node of the graph the focus.
    FocusSelected,
    /// Light or dark, and remember it.
    Theme(Theme),
    /// Wait this many milliseconds, then [`Action::Beat`].
    Wait(u32),
    /// Send the text again that ended the engine.
    Retry,
    /// Keep the keyboard map.
    KeepKeys(String),
}
