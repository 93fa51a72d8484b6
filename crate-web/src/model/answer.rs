//! What the engine's side sends for a text: the report, and where its picture's pieces go.

use foldback::report::Report;
use serde::{Deserialize, Serialize};

use super::view::Size;

/// The answer to a text.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// What was found and built.
    pub report: Report,
}

impl Answer {
    /// The whole picture's.
    pub fn size(&self) -> Size {
        Size { width: 800.0, height: 600.0 }
    }

    /// Where the box of a node stands; none where it has no box of its own.
    pub fn place(&self, _node: u32) -> Option<((f64, f64), Size)> {
        None
    }

    /// The nodes that have a box.
    pub fn placed(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.report.nodes.len() as u32).filter(|node| self.place(*node).is_some())
    }
}
