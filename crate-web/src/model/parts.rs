//! What changes on the page: a table of places in its frame, what is put there, and when it is looked at again.
//!
//! Plain data and functions of the state. `ui` runs one effect a row, which listens to the row's signals alone.

use super::reduce::State;
use super::view::{Camera, Room, Scroll, View};

pub mod change;
mod table;

pub use table::PARTS;

/// What can change by itself; a bit each, so that several are a sum.
pub type Signals = u16;

/// What is over the graph.
pub const OVER: Signals = 1;
/// The text.
pub const TEXT: Signals = 1 << 1;
/// The caret.
pub const CARET: Signals = 1 << 2;
/// What the engine has said.
pub const SAID: Signals = 1 << 3;
/// Which step or node is shown, and how far a step goes.
pub const STEP: Signals = 1 << 4;
/// What the right column shows.
pub const SIDE: Signals = 1 << 5;
/// The choices of tabs, playing, speed and theme.
pub const CHOICE: Signals = 1 << 6;
/// Where the picture stands.
pub const CAMERA: Signals = 1 << 7;
/// How much room there is.
pub const ROOM: Signals = 1 << 8;
/// Where the table of steps stands.
pub const SCROLL: Signals = 1 << 9;
/// How the engine is.
pub const ENGINE: Signals = 1 << 10;
/// What the panels' worker has made.
pub const MADE: Signals = 1 << 11;
/// How many there are.
pub const N_SIGNALS: usize = 12;

/// A place of the page and what stands there.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The place, as a selector. Where there is none now, nothing is made.
    pub at: &'static str,
    /// How it is put there.
    pub put: Put,
    /// When it is looked at again.
    pub on: Signals,
    /// What is put there.
    pub make: fn(&State) -> String,
}

/// How a text is put into an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Put {
    /// As its text.
    Text,
    /// As its markup; the focus stays on a control like the one that had it.
    Markup,
    /// As its markup; where only words and attributes are others, they alone are put there.
    Changes,
    /// As the markup of the one element that follows it, or of none.
    After,
    /// As this attribute.
    Attribute(&'static str),
    /// As this attribute being there, where it is not empty.
    Flag(&'static str),
    /// As this class being there, where it is not empty.
    Class(&'static str),
    /// As the value of a select.
    Value,
    /// As the command of the one of its buttons that is pressed.
    Pressed,
}

/// What the signals watch of a state.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    rev: u32,
    caret: usize,
    version: u32,
    view: View,
    camera: Camera,
    room: Room,
    scroll: Scroll,
    n_links: u32,
    made: u32,
}

impl Seen {
    /// Of this state.
    pub const fn of(state: &State) -> Self {
        Self {
            rev: state.doc.rev(),
            caret: state.doc.caret(),
            version: state.run.version,
            view: state.view,
            camera: state.camera,
            room: state.room,
            scroll: state.scroll,
            n_links: state.n_links,
            made: state.panels.version,
        }
    }

    /// What is different there.
    pub fn changed(&self, now: &Self) -> Signals {
        let (was, is) = (&self.view, &now.view);
        let step = |view: &View| (view.step, view.grain, view.selected, view.marks);
        let choice = |view: &View| {
            (
                view.tab,
                view.playing,
                view.speed,
                view.theme,
                view.draw,
                view.predict,
                view.quiz,
                view.aid,
                view.keys,
            )
        };
        [
            (OVER, was.over != is.over),
            (TEXT, self.rev != now.rev),
            (CARET, self.caret != now.caret),
            (SAID, self.version != now.version),
            (STEP, step(was) != step(is)),
            (SIDE, (was.side, was.fix) != (is.side, is.fix)),
            (CHOICE, choice(was) != choice(is)),
            (CAMERA, self.camera != now.camera),
            (ROOM, self.room != now.room),
            (SCROLL, self.scroll != now.scroll),
            (ENGINE, self.n_links != now.n_links),
            (MADE, self.made != now.made),
        ]
        .iter()
        .filter(|(_, changed)| *changed)
        .map(|(signal, _)| signal)
        .sum()
    }
}

#[cfg(test)]
mod tests;
