//! What the engine's side sends for a text: the report, and its picture.

use foldback::report::Report;
use serde::{Deserialize, Serialize};

use super::layout::Orientation;
use super::picture::{PicBox, Picture, draw};
use super::view::Size;

/// The answer to a text.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// What was found and built.
    pub report: Report,
    /// Where its boxes and edges go.
    pub picture: Picture,
}

impl Answer {
    /// A report with its picture.
    pub fn new(report: Report, orientation: Orientation) -> Self {
        let picture = draw(&report, orientation);
        Self { report, picture }
    }

    /// The same with the pins that the text has, and with calls that are drawn closed.
    #[cfg(feature = "full")]
    pub fn planned(report: Report, text: &str, orientation: Orientation, closed: &str) -> Self {
        let picture = super::plan::draw(&report, text, orientation, closed);
        Self { report, picture }
    }

    /// The whole picture's.
    pub const fn size(&self) -> Size {
        Size { width: self.picture.width, height: self.picture.height }
    }

    /// The box of a node.
    pub fn box_of(&self, node: u32) -> Option<usize> {
        self.picture.box_of.get(node as usize).copied().flatten()
    }

    /// A box.
    pub fn boxed(&self, ix: usize) -> Option<&PicBox> {
        self.picture.boxes.get(ix)
    }

    /// Where the box of a node stands.
    pub fn place(&self, node: u32) -> Option<((f64, f64), Size)> {
        let rect = self.boxed(self.box_of(node)?)?.rect;
        Some(((rect.x, rect.y), Size { width: rect.w, height: rect.h }))
    }
}
