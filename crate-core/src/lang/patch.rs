//! Drawing writes text: a gesture on the picture becomes edits of the document's text.
//!
//! The text stays the only truth. A gesture keeps comments and the formatting of every line it does not change,
//! is one step of undo, and is refused in words where it cannot be done; nothing here panics on any text.
//! It holds no state, evaluates no tensor and knows nothing of pixels but the two numbers of a pinned position.
//!
//! # How the page calls it
//!
//! - [`sketch()`] gives the nodes of a text by name, unfinished ones too, each with its slots: what is drawn and
//!   what a pointer can hit. Names are those of the report, `y`, `y.1`, `r.s`.
//! - [`patch()`] takes the text and a [`Gesture`] and gives a [`Patch`]: apply its edits as one step of undo, select
//!   the nodes it names, put the caret where it says. [`inverse`] gives the edits that undo it.
//! - [`fits()`] says before a connection is made whether it can be, and what it would stretch; [`targets`] and
//!   [`sources`] list all slots for a node, and all nodes for a slot, in this way; [`palette()`] lists what can be
//!   inserted; [`complete()`] and [`hover()`] serve the text pane.
//!
//! ```
//! use foldback::lang::edit::apply;
//! use foldback::lang::patch::{Gesture, inverse, patch};
//!
//! let text = "# drawn by hand\nparam w [2] = 1  # the weights\nloss = sum(w)\n";
//! let gesture = Gesture::Append { after: "w".to_owned(), op: "mul".to_owned() };
//! let made = patch(text, &gesture)?;
//! let after = apply(text, &made.edits)?;
//! assert_eq!(after, "# drawn by hand\nparam w [2] = 1  # the weights\nm = w * ?\nloss = sum(w)\n");
//! assert_eq!((made.select, &after[made.caret as usize..][..1]), (vec!["m".to_owned()], "?"));
//! assert_eq!(apply(&after, &inverse(text, &made.edits))?, text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What stays as it is
//!
//! Nothing that is drawn vanishes unless it is deleted: where a slot that held a part of an expression is connected or
//! opened, the part gets a line of its own. A part that another node is to read gets one too. Positions and other
//! directives follow their nodes. Where lines write over each other's values no line moves.
//!
//! # What becomes of comments
//!
//! A comment behind a line that is deleted goes with it, and so do comments inside a deleted expression; comments on
//! lines of their own stay. A line that moves takes the comments directly above it along.

mod change;
mod clip;
mod complete;
mod connect;
mod delete;
mod diff;
mod fits;
mod group;
mod guide;
mod hover;
mod insert;
mod leaf;
mod lines;
mod names;
mod palette;
mod phrase;
mod pin;
mod rename;
mod same;
mod search;
mod sketch;
mod spelling;
#[cfg(test)]
mod tests;
mod ungroup;

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

pub use complete::{Item, ItemKind, complete};
pub use diff::{between, inverse};
pub use fits::{Candidate, Fit, Misfit, Stretch, fits, sources, targets};
pub use guide::{Part, language};
pub use hover::{Hover, Wrong, hover};
pub use palette::{Entry, Suits, palette};
pub use phrase::signature;
pub use sketch::{Drawn, DrawnKind, Input, Slot, sketch};

use self::change::Draft;
use super::{Code, Severity, TextEdit};

/// What a hand does to the picture. Nodes are named as [`sketch()`] and the report name them.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Gesture {
    /// A new node on a line of its own. Slots without a source are written as `?`.
    Insert {
        /// What it is.
        what: NewNode,
        /// Its name; a free one is found where there is none.
        name: Option<String>,
        /// The node after whose line it goes; after its sources, or at the end, where there is none.
        near: Option<String>,
        /// What its slots read, in order.
        sources: Vec<Option<String>>,
    },
    /// Makes a slot of `to` read `from`. What stood there before stays, on a line of its own.
    Connect {
        /// The node that is read.
        from: String,
        /// The node that reads.
        to: String,
        /// Its slot, from 0; one past the last adds a slot where the op takes more.
        slot: usize,
    },
    /// Opens a slot: it is written as `?`. One that is open already, and that the op does not need, goes.
    Disconnect {
        /// The node that reads.
        to: String,
        /// Its slot, from 0.
        slot: usize,
    },
    /// Moves the end of an edge from one slot to another.
    Rewire {
        /// The node that reads now.
        from_node: String,
        /// Its slot, which is opened.
        from_slot: usize,
        /// The node that is to read.
        to: String,
        /// Its slot.
        slot: usize,
    },
    /// A new node that reads `after` in its first slot.
    Append {
        /// The node that is read.
        after: String,
        /// The op.
        op: String,
    },
    /// A new node between a slot of `before` and what the slot reads.
    Prepend {
        /// The node that reads.
        before: String,
        /// Its slot, from 0.
        slot: usize,
        /// The op.
        op: String,
    },
    /// Removes nodes. Their users get `?`; a part of an expression becomes `?`. Directives that name them go too.
    Delete {
        /// The nodes.
        nodes: Vec<String>,
        /// Users of a node that has one source of its own shape read that source instead.
        through: bool,
    },
    /// Another name, everywhere. A part of an expression gets a line of its own under the new name.
    /// `f` also names a function, and `f.a` its argument or a line of its body.
    Rename {
        /// The node.
        node: String,
        /// The new name.
        to: String,
    },
    /// Copies of nodes beside them; what is not copied is read as before.
    Duplicate {
        /// The nodes.
        nodes: Vec<String>,
    },
    /// Lines of another document, or of this one. Names that are taken are made free.
    Paste {
        /// What [`copy()`] gave, or any text of the language.
        text: String,
        /// The node after whose line it goes; at the end where there is none.
        at: Option<String>,
    },
    /// Makes a function of nodes, and a call of it in their place. Values and gradients stay the same.
    Group {
        /// The nodes, each a whole line.
        nodes: Vec<String>,
        /// The function's name.
        name: String,
    },
    /// Puts the lines of a function in the place of a call of it. Values and gradients stay the same.
    Ungroup {
        /// The call.
        call: String,
    },
    /// A new value of a leaf, or of one element of it; of a number written beside a tensor.
    SetLiteral {
        /// The leaf, or the node that reads the number.
        node: String,
        /// Which element, one index an axis; `None` for the whole value.
        cell: Option<Vec<u32>>,
        /// For a node that reads a number: the slot where it stands.
        slot: Option<usize>,
        /// The value, as text: `0.5`, `[[1, 2]]`, `rand(seed=1)`.
        value: String,
    },
    /// Another shape of a leaf, as text: `[2 token, 3]`. Its value stays where it can fill the shape.
    SetShape {
        /// The leaf.
        node: String,
        /// The shape with its brackets; empty to leave it out.
        shape: String,
    },
    /// Another name of an axis of a leaf; empty for none.
    SetAxisName {
        /// The leaf.
        node: String,
        /// The axis, row-major from 0.
        axis: usize,
        /// The name.
        name: String,
    },
    /// Another element type of a leaf.
    SetType {
        /// The leaf.
        node: String,
        /// The type's word.
        dtype: String,
    },
    /// Whether a leaf trains.
    SetTrains {
        /// The leaf.
        node: String,
        /// `param` or `const`.
        trains: bool,
    },
    /// An attribute of an op, as text; empty to leave it out.
    SetAttribute {
        /// The node.
        node: String,
        /// The attribute's name.
        attribute: String,
        /// Its value.
        value: String,
    },
    /// The rules of the document.
    SetRules {
        /// Their name.
        rules: String,
    },
    /// A fixed position.
    Pin {
        /// The node.
        node: String,
        /// Its column, counted from the left from 0.
        x: f64,
        /// How far its middle is from the line under the values, in pixels; upwards is negative.
        y: f64,
    },
    /// No fixed position any more.
    Unpin {
        /// The nodes.
        nodes: Vec<String>,
    },
}

/// A node to insert.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum NewNode {
    /// An op of the table, by any of its names, or a function of the document.
    Op(String),
    /// A leaf that trains.
    Param {
        /// Its shape as text, `[2 token, 3]`; empty to leave it out.
        shape: String,
        /// Its value as text.
        value: String,
    },
    /// A leaf that does not train.
    Const {
        /// Its shape as text; empty to leave it out.
        shape: String,
        /// Its value as text.
        value: String,
    },
}

/// What a gesture does to the text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Patch {
    /// The edits: in order, not overlapping, one step of undo.
    pub edits: Vec<TextEdit>,
    /// The nodes to select afterwards.
    pub select: Vec<String>,
    /// Where the caret goes, a byte of the new text: the first open input of what was made, else its name.
    pub caret: u32,
}

/// Why a gesture cannot be done.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Refused {
    /// The reason, in one or two sentences.
    pub words: String,
    /// The stable code of the pattern, where it has one; else empty.
    pub code: String,
}

impl Refused {
    fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), code: String::new() }
    }

    fn coded(code: Code, words: impl Into<String>) -> Self {
        Self { words: words.into(), code: code.name().to_owned() }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Refused {}

/// The edits that a gesture makes in a text, or why it makes none.
pub fn patch(text: &str, gesture: &Gesture) -> Result<Patch, Refused> {
    let doc = sketch::Doc::read(text.to_owned());
    let n_before = n_unread(text);
    let Draft { doc, select } = change::make(&doc, gesture)?;
    // What was made must be there: a bracket that is never closed may swallow it.
    let is_lost = |name: &String| !name.contains('.') && doc.line_of_name(name).is_none();
    if n_unread(&doc.text) > n_before || select.iter().any(is_lost) {
        return Err(Refused::coded(
            Code::Syntax,
            "a line that cannot be read stands in the way; mend it first",
        ));
    }
    let caret = caret(&doc, &select);
    Ok(Patch { edits: between(text, &doc.text), select, caret })
}

/// The text of nodes, complete in itself: what they read and is not among them is open.
pub fn copy(text: &str, nodes: &[String]) -> Result<String, Refused> {
    clip::copy(&sketch::Doc::read(text.to_owned()), nodes)
}

/// How many lines cannot be read.
fn n_unread(text: &str) -> usize {
    let diagnostics = super::parse(text).diagnostics;
    diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
}

/// The first open input of what was made, or the name.
fn caret(doc: &sketch::Doc, select: &[String]) -> u32 {
    let Some(node) = select.first().and_then(|name| doc.find(name)) else {
        return 0;
    };
    let open = node.slots.iter().find(|slot| slot.reads == Input::Open);
    open.map_or(node.span.start, |slot| slot.span.start)
}
