//! What the engine's side sends for a text: the report, and its picture.

use foldback::report::Report;
use serde::{Deserialize, Serialize};

use super::layout::Orientation;
use super::picture::{PicBox, Picture, draw};
use super::view::Size;
use crate::protocol::pack;

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

    /// Both as an answer is packed: a report of thousands of steps is not copied for it.
    pub fn packed(report: &Report, picture: &Picture) -> Vec<u8> {
        pack(&(report, picture))
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

#[cfg(test)]
mod tests {
    use super::Answer;
    use crate::model::examples::FIRST;
    use crate::model::layout::Orientation;
    use crate::protocol::{pack, unpack};
    use foldback::construct::Budget;
    use foldback::report::analyse;

    #[test]
    fn what_is_packed_in_parts_is_the_answer() {
        let report = analyse(FIRST, &Budget::default()).report;
        let answer = Answer::new(report, Orientation::Wide);
        let bytes = Answer::packed(&answer.report, &answer.picture);
        assert_eq!(bytes, pack(&answer));
        assert_eq!(unpack(&bytes), Some(answer));
    }
}
