//! From a report to what is drawn: boxes, and links between them.
//! Deliberately absent: positions, and anything that depends on the step.

#[cfg(feature = "full")]
pub(crate) mod closed;
mod gradients;
mod missing;

use foldback::report::{NodeRow, Report, Role, TickRow};

/// What a box is.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize,
)]
pub enum BoxKind {
    /// A trainable leaf.
    Param,
    /// A leaf that does not train.
    Const,
    /// A forward op.
    Op,
    /// The gradient backward starts from.
    Seed,
    /// The gradient a text supplies.
    Accumulator,
    /// What a rule sends to one of its operands, with all the nodes it took.
    Contribution,
    /// The fold of a contribution onto the shape of its operand.
    Fold,
    /// The sum of an earlier gradient and a contribution.
    Accumulate,
    /// The place of the gradient that was refused.
    Slot,
    /// A gradient that would have been built, had the build not stopped.
    Missing,
}

impl BoxKind {
    /// Whether it stands above the dividing line.
    pub fn is_forward(self) -> bool {
        matches!(self, Self::Param | Self::Const | Self::Op)
    }
}

/// What a link is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum LinkKind {
    /// A value that an op reads.
    Value,
    /// The loss turning into the seed.
    Turn,
    /// A gradient on its way back.
    Gradient,
    /// A gradient whose cells are added up on the way.
    Fold,
    /// A gradient that was refused: it ends before it arrives.
    Refused,
}

/// A box, not yet placed.
#[derive(Clone, PartialEq, Debug)]
pub struct SceneBox {
    /// What it is.
    pub kind: BoxKind,
    /// The report's nodes it stands for, in order of creation; empty for what was not built.
    pub nodes: Vec<u32>,
    /// The node whose values it shows.
    pub main: Option<u32>,
    /// The forward node in whose column it stands; for forward boxes, the node itself.
    pub of: Option<u32>,
    /// Which source of `of` it serves.
    pub of_src: Option<u8>,
    /// The forward node whose gradient, or part of it, it is.
    pub into: Option<u32>,
    /// Its name: `dc′`.
    pub name: String,
    /// How it came to be, short: `−dy · y / c`, `DIV`.
    pub label: String,
    /// The shape of what it holds, or would hold.
    pub shape: Vec<u32>,
    /// After how many ticks the first of its nodes exists.
    pub begun: Option<u32>,
    /// After how many ticks it exists.
    pub built: Option<u32>,
    /// After how many ticks its values are known.
    pub valued: Option<u32>,
    /// Whether the refusal is about it.
    pub refused: bool,
    /// The refusal's code, on the forward node whose rule was refused.
    pub badge: String,
}

/// A link, not yet routed.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// What it is.
    pub kind: LinkKind,
    /// The box it leaves.
    pub from: usize,
    /// The box it enters.
    pub to: usize,
    /// The shape that travels.
    pub shape: Vec<u32>,
    /// For a stretched operand: `expert ×3`.
    pub stretch: String,
    /// For a fold: how many cells become one.
    pub strands: u32,
    /// For a refused gradient: the shape that was wanted.
    pub wanted: Option<Vec<u32>>,
}

/// A saved forward value that a rule reads: drawn while the rule is at work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// The forward box.
    pub from: usize,
    /// The gradient box.
    pub to: usize,
}

/// All that is drawn of a report.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scene {
    /// Boxes: forward ones in order, then gradients in order of creation, then what was not reached.
    pub boxes: Vec<SceneBox>,
    /// Links; those into one box stand in the order of its inputs.
    pub links: Vec<Link>,
    /// Saved values.
    pub reads: Vec<Read>,
    /// The box of the loss.
    pub loss: Option<usize>,
    /// The seed.
    pub seed: Option<usize>,
    /// For each node of the report, its box.
    pub box_of: Vec<Option<usize>>,
    /// For each box, where the text has it; shorter where the rest is free.
    pub pins: Vec<Option<Pin>>,
}

/// Where the text has a box: `layout NODE X Y`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pin {
    /// Its column, counted from the left from 0.
    pub column: usize,
    /// How far its middle is from the line under the values, in pixels; upwards is negative.
    pub y: f64,
}

impl Scene {
    /// Where the text has a box. The part of the engine that the page starts with reads no pins.
    pub(crate) fn pin(&self, at: usize) -> Option<Pin> {
        if cfg!(feature = "full") { self.pins.get(at).copied().flatten() } else { None }
    }
}

/// What is drawn of `report`.
pub fn scene(report: &Report) -> Scene {
    let mut scene = Scene { box_of: vec![None; report.nodes.len()], ..Scene::default() };
    forward(report, &mut scene);
    gradients::add(report, &mut scene);
    missing::add(report, &mut scene);
    // Links into one box stand together and in order: the order of its ports.
    scene.links.sort_by_key(|link| link.to);
    scene
}

fn forward(report: &Report, scene: &mut Scene) {
    for (ix, row) in forward_rows(report) {
        let kind = match row.role {
            Role::Param => BoxKind::Param,
            Role::Op => BoxKind::Op,
            Role::Inline => continue,
            _ => BoxKind::Const,
        };
        let at = scene.boxes.len();
        if let Some(slot) = scene.box_of.get_mut(ix) {
            *slot = Some(at);
        }
        scene.boxes.push(SceneBox {
            kind,
            nodes: vec![ix as u32],
            main: Some(ix as u32),
            of: Some(ix as u32),
            of_src: None,
            into: None,
            name: row.name.clone(),
            label: word(report, row),
            shape: row.shape.clone(),
            begun: tick_of(report, |t| t.n_shaped, ix),
            built: tick_of(report, |t| t.n_shaped, ix),
            valued: tick_of(report, |t| t.n_evaluated, ix),
            refused: false,
            badge: badge(report, ix),
        });
        for (slot, src) in row.src.iter().enumerate() {
            let Some(from) = box_at(scene, *src) else { continue };
            let shape =
                report.nodes.get(*src as usize).map(|n| n.shape.clone()).unwrap_or_default();
            let stretch = row.stretch.get(slot).map(|axes| {
                let words: Vec<String> =
                    axes.iter().map(|a| format!("{} ×{}", a.name, a.to / a.from.max(1))).collect();
                words.join(", ")
            });
            scene.links.push(Link {
                kind: LinkKind::Value,
                from,
                to: at,
                shape,
                stretch: stretch.unwrap_or_default(),
                strands: 0,
                wanted: None,
            });
        }
    }
    scene.loss = report.loss.and_then(|id| box_at(scene, id));
}

/// The word beside the name, with the numbers that are drawn inside the box.
fn word(report: &Report, row: &NodeRow) -> String {
    let mut out = row.word.clone();
    for src in &row.src {
        if let Some(operand) = report.nodes.get(*src as usize).filter(|n| n.role == Role::Inline) {
            out.push(' ');
            out.push_str(&operand.name);
        }
    }
    out
}

fn badge(report: &Report, ix: usize) -> String {
    let stop = report.findings.iter().find(|f| f.stops && f.node == Some(ix as u32));
    stop.map(|f| f.code.clone()).unwrap_or_default()
}

pub(crate) fn forward_rows(report: &Report) -> impl Iterator<Item = (usize, &NodeRow)> {
    report.nodes.iter().enumerate().take(report.n_forward as usize)
}

fn box_at(scene: &Scene, node: u32) -> Option<usize> {
    scene.box_of.get(node as usize).copied().flatten()
}

/// After how many ticks a count of nodes includes node `ix`.
fn tick_of(report: &Report, count: impl Fn(&TickRow) -> u32, ix: usize) -> Option<u32> {
    let at = report.ticks.partition_point(|t| count(t) as usize <= ix);
    (at < report.ticks.len()).then_some(at as u32 + 1)
}
