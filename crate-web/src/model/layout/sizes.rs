//! How big boxes are, where their ports stand, and how much room the chips beside them take.

use super::cells::Stacks;
use super::layers::Columns;
use super::{Orientation, in_band};
use crate::model::measure;
use crate::model::scene::{BoxKind, LinkKind, Scene, SceneBox};

/// Height of a shape chip.
pub(crate) const CHIP_HIGH: f64 = 17.0;
/// Between a line and the chip beside it.
pub(crate) const TAG_GAP: f64 = 6.5;
/// Between ports of one box.
const PITCH: f64 = 28.0;
/// How far a fork's outer strands are from its line.
const FORK: f64 = 8.0;
/// Height of the line that names a stretched axis.
const LABEL_HIGH: f64 = 16.0;

/// The room a link's chip, and the words under it, take at the link's end.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Tag {
    /// With the flow.
    pub(crate) main: f64,
    /// Across it.
    pub(crate) cross: f64,
    /// What the chip alone takes, along and across.
    pub(crate) chip_main: f64,
    pub(crate) chip_cross: f64,
    /// Between the line and the tag.
    pub(crate) gap: f64,
    /// On the far side of the line.
    pub(crate) far: bool,
}

/// Sizes of boxes along and across the flow, and their ports.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Sizes {
    pub(crate) main: Vec<f64>,
    pub(crate) cross: Vec<f64>,
    /// For each link, its port from the far edge of the box it enters by the side.
    pub(crate) port: Vec<f64>,
    /// For each link, its tag where it arrives.
    pub(crate) tag: Vec<Tag>,
}

/// The width of a shape's chip.
pub(crate) fn chip_width(shape: &str) -> f64 {
    (shape.chars().count() as f64 * 6.6 + 9.0).round()
}

pub(super) fn sizes(
    scene: &Scene,
    columns: &Columns,
    stacks: &Stacks,
    orientation: Orientation,
) -> Sizes {
    let n = scene.boxes.len();
    let mut out = Sizes {
        main: vec![0.0; n],
        cross: vec![0.0; n],
        port: vec![0.0; scene.links.len()],
        tag: vec![Tag::default(); scene.links.len()],
    };
    let mut entering: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (ix, link) in scene.links.iter().enumerate() {
        if in_band(link.kind) && stacks.enters_by_side(ix) {
            entering[link.to].push(ix);
        }
    }
    for (at, b) in scene.boxes.iter().enumerate() {
        let pill = columns.pill[at].is_some();
        let (wide, high) = screen_size(b, pill, orientation);
        let (main, mut cross) = match orientation {
            Orientation::Wide => (wide, high),
            Orientation::Tall => (high, wide),
        };
        let links = &entering[at];
        for (slot, ix) in links.iter().enumerate() {
            let far = orientation == Orientation::Tall && links.len() == 2 && slot == 0;
            out.tag[*ix] = tag(scene, *ix, far, orientation);
        }
        let steps: Vec<f64> = links
            .windows(2)
            .map(|pair| {
                let tag = out.tag[pair[0]];
                let two = orientation == Orientation::Tall && links.len() == 2;
                // The next line may have a fork, which is wider than the line.
                let fork = if scene.links[pair[1]].stretch.is_empty() { 0.0 } else { FORK };
                if two { PITCH } else { PITCH.max(tag.gap + tag.cross + 4.5 + fork) }
            })
            .collect();
        let span: f64 = steps.iter().sum();
        if links.len() > 1 {
            cross = cross.max(span + 44.0);
        }
        let mut port = (cross - span) / 2.0;
        for (slot, ix) in links.iter().enumerate() {
            out.port[*ix] = port;
            port += steps.get(slot).copied().unwrap_or(0.0);
        }
        out.main[at] = main;
        out.cross[at] = cross;
    }
    out
}

fn tag(scene: &Scene, ix: usize, far: bool, orientation: Orientation) -> Tag {
    let link = &scene.links[ix];
    let chip = chip_width(&measure::shape(&link.shape));
    let (mut wide, mut high) = (chip, CHIP_HIGH);
    let mut gap = TAG_GAP;
    if !link.stretch.is_empty() {
        wide = wide.max(measure::ui_width(&link.stretch, 11.0).ceil());
        high += LABEL_HIGH;
        gap = 10.5;
    }
    if link.kind == LinkKind::Fold {
        // Beside the fan: it is as wide as the box it leaves, or as a line's end.
        let (from, _) = screen_size(&scene.boxes[link.from], false, orientation);
        gap = if orientation == Orientation::Tall { (from - 27.6) / 2.0 + 8.0 } else { 15.0 };
    }
    if link.kind == LinkKind::Refused {
        gap = 18.0;
    }
    match orientation {
        Orientation::Wide => {
            Tag { main: wide, cross: high, chip_main: chip, chip_cross: CHIP_HIGH, gap, far }
        }
        Orientation::Tall => {
            Tag { main: high, cross: wide, chip_main: CHIP_HIGH, chip_cross: chip, gap, far }
        }
    }
}

/// Width and height of a box on the screen.
fn screen_size(b: &SceneBox, pill: bool, orientation: Orientation) -> (f64, f64) {
    if b.kind == BoxKind::Seed {
        let text = format!("{} = 1", b.name);
        return ((measure::mono_width(&text, 11.0) + 26.0).ceil().max(60.0), 26.0);
    }
    let name = measure::mono_width(&b.name, 12.5);
    let label = measure::ui_width(&b.label, 11.0);
    let text = (20.0 + name + 8.0 + label).ceil();
    if pill || (orientation == Orientation::Tall && b.kind == BoxKind::Const) {
        return (even(text + 12.0).clamp(64.0, 150.0), 26.0);
    }
    match orientation {
        Orientation::Wide => {
            let cells = b.shape.last().copied().unwrap_or(1);
            let least = if cells > 2 { 108.0 } else { 92.0 };
            // A label that must be cut anyway need not make its column wide.
            let text = if text > 156.0 { 132.0 } else { text };
            (even(text).max(least), 72.0)
        }
        Orientation::Tall => {
            let cells = b.shape.last().copied().unwrap_or(1);
            (even(text).clamp(if cells > 6 { 104.0 } else { 92.0 }, 116.0), 56.0)
        }
    }
}

/// Even, so that middles fall on whole pixels.
fn even(x: f64) -> f64 {
    (x / 2.0).ceil() * 2.0
}
