//! What a step changes: classes, the halo, the note. Positions never depend on the step.

use foldback::report::{Report, TickGlyph, TickRow};

use super::measure;
use super::picture::{PicBox, PicEdge, Picture, Point, Rect};
use super::scene::{BoxKind, LinkKind};

mod note;

/// How far a box or an edge has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// Its values are to be guessed.
    Hidden,
    /// Not built yet: it says the step that builds it.
    #[default]
    Pending,
    /// The first of its nodes are built.
    Begun,
    /// It has a shape, but no value yet.
    Shaped,
    /// It is there.
    Built,
    /// The build stopped before it.
    NotReached,
    /// The build stopped at it.
    Refused,
}

/// A box at a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BoxState {
    /// How far it has come.
    pub phase: Phase,
    /// Whether the step is about it.
    pub current: bool,
    /// Whether it is selected.
    pub selected: bool,
}

/// An edge at a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EdgeState {
    /// How far it has come.
    pub phase: Phase,
    /// Whether the step runs along it.
    pub live: bool,
}

/// What colour means at a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hue {
    /// No meaning: the column at work.
    Plain,
    /// A value.
    Forward,
    /// A gradient.
    Backward,
    /// A fold.
    Fold,
    /// A refusal.
    Refusal,
}

/// A rounded ground behind what the step is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Halo {
    /// Where it is.
    pub rect: Rect,
    /// What it means.
    pub hue: Hue,
}

/// The words beside the current step.
#[derive(Clone, PartialEq, Debug)]
pub struct Note {
    /// The room it takes.
    pub rect: Rect,
    /// Its title, in lines.
    pub title: Vec<String>,
    /// The sentence, in lines.
    pub lines: Vec<String>,
    /// From the note to what it is about.
    pub leader: Option<(Point, Point)>,
    /// The leader's colour.
    pub hue: Hue,
}

/// A picture at a step.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct State {
    /// For each box.
    pub boxes: Vec<BoxState>,
    /// For each edge.
    pub edges: Vec<EdgeState>,
    /// Which saved values the rule at work reads.
    pub reads: Vec<usize>,
    /// Grounds, from back to front.
    pub halos: Vec<Halo>,
    /// The note, where there is room for it.
    pub note: Option<Note>,
}

/// The picture after `tick` ticks: 0 is the empty stage, `report.ticks.len()` the end. `selected` is a box.
pub fn state(picture: &Picture, report: &Report, tick: usize, selected: Option<usize>) -> State {
    let tick = tick.min(report.ticks.len());
    let row = tick.checked_sub(1).and_then(|at| report.ticks.get(at));
    let stopped = row.is_some_and(|t| t.kind == TickGlyph::Refusal);
    let current = row.and_then(|t| current(picture, t));
    let boxes: Vec<BoxState> = picture
        .boxes
        .iter()
        .enumerate()
        .map(|(at, b)| BoxState {
            phase: phase(b, tick, stopped),
            current: current == Some(at),
            selected: selected == Some(at),
        })
        .collect();
    let edges = picture.edges.iter().map(|e| edge_state(e, &boxes, stopped)).collect();
    let inside = row.and_then(|t| t.inside);
    let reads = inside.map(|of| reads(picture, &boxes, of)).unwrap_or_default();
    let halos = row.map(|t| halos(picture, t, current)).unwrap_or_default();
    let mut out = State { boxes, edges, reads, halos, note: None };
    if let Some(row) = row {
        out.note = note::note(picture, &out, row, current);
    }
    out
}

/// The box a tick is about.
fn current(picture: &Picture, tick: &TickRow) -> Option<usize> {
    if tick.kind == TickGlyph::Refusal {
        let refused = |b: &PicBox| b.refused && b.kind != BoxKind::Slot;
        let at = picture.boxes.iter().position(refused);
        return at.or_else(|| picture.boxes.iter().position(|b| !b.badge.is_empty()));
    }
    let box_of = |node: u32| picture.box_of.get(node as usize).copied().flatten();
    tick.node.and_then(box_of)
}

fn phase(b: &PicBox, tick: usize, stopped: bool) -> Phase {
    let after = |at: Option<u32>| at.is_some_and(|at| at as usize <= tick);
    if stopped && (b.refused || !b.badge.is_empty()) {
        return Phase::Refused;
    }
    if b.nodes.is_empty() {
        return if stopped { Phase::NotReached } else { Phase::Pending };
    }
    match (after(b.begun), after(b.built), after(b.valued)) {
        (_, true, true) => Phase::Built,
        (_, true, false) => Phase::Shaped,
        (true, false, _) => Phase::Begun,
        (false, false, _) => Phase::Pending,
    }
}

fn edge_state(e: &PicEdge, boxes: &[BoxState], stopped: bool) -> EdgeState {
    let there = |at: usize| {
        matches!(boxes[at].phase, Phase::Begun | Phase::Shaped | Phase::Built | Phase::Refused)
    };
    let phase = if e.kind == LinkKind::Refused && stopped {
        Phase::Refused
    } else if there(e.from) && there(e.to) {
        Phase::Built
    } else if boxes[e.to].phase == Phase::NotReached {
        Phase::NotReached
    } else {
        Phase::Pending
    };
    EdgeState { phase, live: boxes[e.to].current && phase == Phase::Built }
}

fn reads(picture: &Picture, boxes: &[BoxState], of: u32) -> Vec<usize> {
    let shown = |r: &&usize| {
        let to = picture.reads[**r].to;
        picture.boxes[to].of == Some(of) && boxes[to].phase != Phase::Pending
    };
    let all: Vec<usize> = (0..picture.reads.len()).collect();
    all.iter().filter(shown).copied().collect()
}

/// The ground behind the node whose rule is at work and all that its rule makes, and behind the step itself.
fn halos(picture: &Picture, tick: &TickRow, current: Option<usize>) -> Vec<Halo> {
    let mut out = Vec::new();
    if let Some(of) = tick.inside {
        let own: Vec<usize> = (0..picture.boxes.len())
            .filter(|at| {
                let b = &picture.boxes[*at];
                b.of == Some(of)
                    && !matches!(b.kind, BoxKind::Accumulate | BoxKind::Accumulator | BoxKind::Seed)
            })
            .collect();
        let rects = own.iter().map(|at| picture.boxes[*at].rect);
        if let Some(column) = rects.clone().reduce(Rect::around) {
            let column = column.grown(10.0);
            let foreign = |(at, b): (usize, &PicBox)| {
                !own.contains(&at) && b.rect.grown(4.0).overlaps(column)
            };
            if picture.boxes.iter().enumerate().any(foreign) {
                out.extend(rects.map(|r| Halo { rect: r.grown(8.0), hue: Hue::Plain }));
            } else {
                out.push(Halo { rect: column, hue: Hue::Plain });
            }
        }
    }
    let Some(at) = current else { return out };
    let rect = picture.boxes[at].rect;
    let hue = hue(tick);
    match tick.kind {
        TickGlyph::Fold => {
            let feeds = picture.edges.iter().find(|e| e.to == at && e.kind == LinkKind::Fold);
            let next_to =
                feeds.filter(|e| e.points.len() == 2 && e.fan.is_some() && e.own.is_empty());
            let rect = match next_to {
                Some(e) => {
                    // From the middle of the box that is folded, so that the fan lies on the ground.
                    let from = picture.boxes[e.from].rect;
                    let lower = Rect {
                        x: from.x + from.w * 0.25,
                        y: from.y + from.h * 0.25,
                        w: from.w / 2.0,
                        h: from.h / 2.0,
                    };
                    rect.grown(4.0).around(lower)
                }
                None => rect.grown(6.0),
            };
            let wide = next_to.map_or(rect, |e| {
                let from = picture.boxes[e.from].rect;
                let upright = (e.points[0].x - e.points[1].x).abs() < 0.5;
                if upright {
                    Rect { x: rect.x.min(from.x - 4.0), w: rect.w.max(from.w + 8.0), ..rect }
                } else {
                    Rect { y: rect.y.min(from.y - 4.0), h: rect.h.max(from.h + 8.0), ..rect }
                }
            });
            out.push(Halo { rect: wide, hue });
        }
        TickGlyph::Refusal | TickGlyph::Rule | TickGlyph::Mark => {}
        _ => out.push(Halo { rect: rect.grown(6.0), hue }),
    }
    out
}

fn hue(tick: &TickRow) -> Hue {
    match tick.kind {
        TickGlyph::Shape | TickGlyph::Value => Hue::Forward,
        TickGlyph::Fold | TickGlyph::FoldNoOp => Hue::Fold,
        TickGlyph::Refusal => Hue::Refusal,
        TickGlyph::Mark => Hue::Plain,
        TickGlyph::Seed | TickGlyph::Rule | TickGlyph::Emit | TickGlyph::Accumulate => {
            Hue::Backward
        }
    }
}

/// The lines of a sentence beside the graph.
fn lines(text: &str, px: f64, most: f64) -> Vec<String> {
    measure::wrap(text, px, most)
}
