//! Chips, and the words under them: where they stand, and what they say.

use super::paint::Canvas;
use crate::model::layout::{CHIP_HIGH, Inner, chip_width};
use crate::model::measure;
use crate::model::picture::{Chip, Rect, Word};
use crate::model::scene::{BoxKind, LinkKind};

fn chip_at(rect: Rect, shape: &[u32]) -> Chip {
    Chip { rect, text: measure::shape(shape), clash: Vec::new(), folded: false }
}

/// Every chip and the link it belongs to.
pub(super) fn chips(canvas: &Canvas<'_>) -> Vec<(usize, Chip)> {
    let Canvas { scene, layout, rects, .. } = canvas;
    let mut out = Vec::new();
    let mut carried = vec![false; scene.links.len()];
    for forward in [true, false] {
        let (band, frame) = (layout.band(forward), canvas.frame(forward));
        for cell in &band.cells {
            let Some(link) = cell.carries else { continue };
            carried[link] = true;
            let tag = layout.sizes.tag[link];
            let (m, c) = (frame.middle(cell.layer), cell.at);
            let rect = frame.rect(
                (m - tag.chip_main / 2.0, m + tag.chip_main / 2.0),
                (c - tag.chip_cross / 2.0, c + tag.chip_cross / 2.0),
            );
            out.push((link, chip_at(rect, &scene.links[link].shape)));
        }
        for (layer, channel) in canvas.channels(forward).iter().enumerate() {
            for s in &channel.standing {
                let l = &scene.links[s.link];
                let from = frame.channel(layer) + s.at;
                let room = frame.rect((from, from + s.main), (s.lo, s.hi));
                if carried[s.link] {
                    continue;
                }
                let shape = match (s.second, &l.wanted) {
                    (false, _) => &l.shape,
                    (true, Some(wanted)) => wanted,
                    (true, None) => &scene.boxes[l.to].shape,
                };
                let mut chip = chip_at(
                    within(room, chip_width(&measure::shape(shape)), canvas, s.link),
                    shape,
                );
                chip.folded = s.second && l.wanted.is_none();
                if let Some(wanted) = &l.wanted {
                    let other = if s.second { &l.shape } else { wanted };
                    chip.clash = clash(shape, other);
                }
                out.push((s.link, chip));
            }
        }
    }
    for (link, l) in scene.links.iter().enumerate() {
        let straight = layout.inner[link] == Some(Inner::Straight)
            && !matches!(l.kind, LinkKind::Fold | LinkKind::Refused);
        if !straight && l.kind != LinkKind::Turn {
            continue;
        }
        let (a, b) = (rects[l.from], rects[l.to]);
        let wide = chip_width(&measure::shape(&l.shape));
        let (from, to) = if canvas.tall() { (a.x + a.w, b.x) } else { (a.y + a.h, b.y) };
        let size = if canvas.tall() { wide } else { CHIP_HIGH };
        // Where a branch leaves on the way, the chip stands on the other side of it.
        let branches = branches_at(canvas, link);
        let place = match scene.boxes[l.from].kind {
            BoxKind::Seed if branches => from + 5.0,
            _ if branches => to - 14.0 - size,
            _ => f64::midpoint(from, to) - size / 2.0,
        };
        let rect = if canvas.tall() {
            Rect { x: place, y: b.y + b.h / 2.0 - 6.5 - CHIP_HIGH, w: wide, h: CHIP_HIGH }
        } else {
            Rect { x: b.x + b.w / 2.0 + 10.5, y: place, w: wide, h: CHIP_HIGH }
        };
        out.push((link, chip_at(rect, &l.shape)));
    }
    out
}

/// Whether another link leaves a straight one on its way.
fn branches_at(canvas: &Canvas<'_>, link: usize) -> bool {
    let from = canvas.scene.links[link].from;
    canvas
        .layout
        .inner
        .iter()
        .zip(&canvas.scene.links)
        .any(|(how, l)| l.from == from && matches!(how, Some(Inner::Around { .. })))
}

/// A chip inside the room it shares with a word: at its top, on the side of the line.
fn within(room: Rect, wide: f64, canvas: &Canvas<'_>, link: usize) -> Rect {
    let spare = room.w - wide;
    let x = if canvas.tall() {
        if layout_far(canvas, link) { room.x + spare } else { room.x }
    } else {
        room.x + spare / 2.0
    };
    let has_word = !canvas.scene.links[link].stretch.is_empty();
    let y = if has_word { room.y } else { room.y + (room.h - CHIP_HIGH) / 2.0 };
    Rect { x, y, w: wide, h: CHIP_HIGH }
}

/// Whether a link's chip stands left of its line on the screen.
fn layout_far(canvas: &Canvas<'_>, link: usize) -> bool {
    canvas.layout.sizes.tag[link].far == canvas.is_forward(link)
}

/// Axes, from the left, along which two shapes differ.
fn clash(shape: &[u32], other: &[u32]) -> Vec<usize> {
    let n = shape.len();
    (0..n)
        .filter(|axis| {
            let from_right = n - axis;
            let there = other.len().checked_sub(from_right).and_then(|at| other.get(at));
            there != shape.get(*axis)
        })
        .collect()
}

/// The words under the chips of stretched operands.
pub(super) fn words(canvas: &Canvas<'_>) -> Vec<(usize, Word)> {
    let frame = canvas.frame(true);
    let mut out = Vec::new();
    for (layer, channel) in canvas.forward.iter().enumerate() {
        for s in &channel.standing {
            let l = &canvas.scene.links[s.link];
            if l.stretch.is_empty() {
                continue;
            }
            let from = frame.channel(layer) + s.at;
            let room = frame.rect((from, from + s.main), (s.lo, s.hi));
            let wide = measure::ui_width(&l.stretch, 11.0).ceil();
            let spare = room.w - wide;
            let x = match (canvas.tall(), layout_far(canvas, s.link)) {
                (false, _) => room.x + spare / 2.0,
                (true, true) => room.x + spare,
                (true, false) => room.x,
            };
            let rect = Rect { x, y: room.y + CHIP_HIGH + 2.0, w: wide, h: 14.0 };
            out.push((s.link, Word { rect, text: l.stretch.clone() }));
        }
    }
    out
}
