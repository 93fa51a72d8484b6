//! The picture of a report: every box and edge in its place, as plain data that travels from the worker to the page.
//! Deliberately absent: the step. What a step changes is in [`super::stage`].

use foldback::report::Report;
use serde::{Deserialize, Serialize};

use super::layout::{Orientation, layout};
use super::scene::{BoxKind, LinkKind, scene};
use super::{names, route};

/// A point of the canvas, in pixels.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// A rectangle of the canvas.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// The same, `by` larger on every side.
    #[must_use]
    pub fn grown(self, by: f64) -> Self {
        Self { x: self.x - by, y: self.y - by, w: self.w + 2.0 * by, h: self.h + 2.0 * by }
    }

    /// Whether the two have more than an edge in common.
    pub fn overlaps(self, other: Self) -> bool {
        let apart = self.x + self.w <= other.x
            || other.x + other.w <= self.x
            || self.y + self.h <= other.y
            || other.y + other.h <= self.y;
        !apart
    }

    /// The smallest rectangle around both.
    #[must_use]
    pub fn around(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.w).max(other.x + other.w);
        let bottom = (self.y + self.h).max(other.y + other.h);
        Self { x, y, w: right - x, h: bottom - y }
    }
}

/// What a box shows of its values.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Preview {
    /// Rows and columns drawn, at most 2 and 8; 0 where there is nothing to show.
    pub n_rows: usize,
    /// Columns.
    pub n_cols: usize,
    /// The values drawn, row by row.
    pub values: Vec<f64>,
    /// The greatest magnitude of the whole tensor.
    pub most: f64,
    /// Whether there are rows or columns that are not drawn.
    pub more: bool,
    /// Whether the tensor is a scalar.
    pub scalar: bool,
}

/// A box in its place.
#[expect(clippy::struct_excessive_bools, reason = "each is a face that a box has or has not")]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PicBox {
    /// What it is.
    pub kind: BoxKind,
    /// Where it is.
    pub rect: Rect,
    /// Drawn as a pill.
    pub pill: bool,
    /// Its name.
    pub name: String,
    /// How it came to be, cut to fit.
    pub label: String,
    /// The same, whole.
    pub title: String,
    /// The shape as its chip prints it.
    pub shape: String,
    /// What it shows.
    pub preview: Preview,
    /// In ports, from its left top corner.
    pub ins: Vec<Point>,
    /// Out ports, from its left top corner.
    pub outs: Vec<Point>,
    /// The report's nodes it stands for.
    pub nodes: Vec<u32>,
    /// The node that one selects with it: its last node, else the forward node it belongs to.
    pub node: Option<u32>,
    /// The forward node in whose column it stands.
    pub of: Option<u32>,
    /// The forward node whose gradient it is, or is part of.
    pub into: Option<u32>,
    /// After how many ticks its first node exists.
    pub begun: Option<u32>,
    /// After how many ticks it exists.
    pub built: Option<u32>,
    /// After how many ticks its values are known.
    pub valued: Option<u32>,
    /// Whether the refusal is about it.
    pub refused: bool,
    /// The refusal's code, on the node whose rule was refused.
    pub badge: String,
    /// Its name for assistive technology, up to its state: `div y, shape 2 by 3, inputs w and c`.
    pub spoken: String,
    /// Boxes it reads.
    pub inputs: Vec<usize>,
    /// Boxes that read it.
    pub users: Vec<usize>,
    /// The call that made it, innermost first of those that are open; empty outside of functions.
    pub call: String,
    /// Whether all that its call made is in it.
    pub closed: bool,
    /// Whether the text says where it stands.
    pub pinned: bool,
}

/// A shape printed beside or on an edge.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Chip {
    /// Where it is.
    pub rect: Rect,
    /// `[2,3]`.
    pub text: String,
    /// Axes that clash, from the left.
    pub clash: Vec<usize>,
    /// Whether it says the shape after a fold.
    pub folded: bool,
}

/// A word on the canvas.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Word {
    /// The room it takes.
    pub rect: Rect,
    /// The word.
    pub text: String,
}

/// Many strands becoming one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Fan {
    /// Paths.
    pub strands: Vec<String>,
    /// Shaded between strands, every other one.
    pub pleats: Vec<String>,
    /// How many strands are not drawn: `+125`.
    pub count: Option<Word>,
    /// The room it takes.
    pub rect: Rect,
}

/// An edge in its place.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PicEdge {
    /// What it is.
    pub kind: LinkKind,
    /// The box it leaves.
    pub from: usize,
    /// The box it enters.
    pub to: usize,
    /// The corners of its whole way, for tests and for keeping clear of it.
    pub points: Vec<Point>,
    /// The path of what it does not share with an edge drawn before it.
    pub own: String,
    /// The path of its whole way.
    pub whole: String,
    /// The arrowhead; empty where there is none.
    pub arrow: String,
    /// Where it leaves a shared way.
    pub dots: Vec<Point>,
    /// Its chips: one, or two where the shape changes on the way.
    pub chips: Vec<Chip>,
    /// The axis an operand was stretched along: `expert ×3`.
    pub stretch: Option<Word>,
    /// The outer strands of a stretched operand's fork.
    pub fork: String,
    /// The fan of a fold.
    pub fan: Option<Fan>,
    /// Where a refused gradient stops, and the path from there to the place it does not reach.
    pub stop: Option<(Point, String)>,
}

/// A saved value on its way to a rule: drawn while the rule is at work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PicRead {
    /// The forward box.
    pub from: usize,
    /// The gradient box.
    pub to: usize,
    /// The corners of its way.
    pub points: Vec<Point>,
    /// Its path.
    pub path: String,
}

/// A report, drawn.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Picture {
    /// Which way the values run.
    pub orientation: Orientation,
    /// Width of the canvas.
    pub width: f64,
    /// Height of the canvas.
    pub height: f64,
    /// Boxes, in the scene's order.
    pub boxes: Vec<PicBox>,
    /// Edges.
    pub edges: Vec<PicEdge>,
    /// Saved values.
    pub reads: Vec<PicRead>,
    /// The dividing line, in pieces.
    pub divider: Vec<(Point, Point)>,
    /// The words `Forward` and `Backward`, and where each begins; a picture without gradients has one.
    pub bands: Vec<Word>,
    /// For each node of the report, its box.
    pub box_of: Vec<Option<usize>>,
    /// How many nodes the graph has, where those are too many to be drawn; else 0.
    pub too_many: u32,
}

/// The most forward nodes of a graph that is drawn.
pub const MOST: u32 = 2000;

#[cfg(test)]
pub(super) mod tests;

/// In place of a picture that nobody could look at.
pub(super) fn too_large(report: &Report, orientation: Orientation) -> Picture {
    let box_of = vec![None; report.nodes.len()];
    Picture { orientation, too_many: report.n_forward, box_of, ..Picture::default() }
}

/// Draws a report. The same report gives the same bytes.
pub fn draw(report: &Report, orientation: Orientation) -> Picture {
    if report.n_forward > MOST {
        return too_large(report, orientation);
    }
    let scene = scene(report);
    let layout = layout(&scene, orientation);
    let mut picture = route::picture(report, &scene, &layout);
    names::tell(report, &mut picture);
    picture
}
