//! What is drawn otherwise than the report alone would have it: boxes that the text pins, calls that are drawn closed.
//!
//! The text is asked where the bodies of functions are; all else is read off the names of nodes.
//! Deliberately absent: anything that depends on the step.

use std::collections::{BTreeMap, BTreeSet};

use foldback::lang::ast::StatementKind;
use foldback::lang::parse;
use foldback::report::{Report, Role};

use super::layout::{self, Orientation};
use super::picture::{MOST, Picture, too_large};
use super::scene::{self, Pin, Scene, SceneBox, closed::close};
use super::{names, route};

/// A call of a function, and the nodes that it made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The call's name: `r`, or `r.q` for a call inside another.
    pub name: String,
    /// The function's.
    pub function: String,
    /// Its nodes in order, those of calls inside it included; the last one is its result.
    pub nodes: Vec<u32>,
}

/// Where the text has which node. Nothing is pinned in the tall picture, which runs another way.
pub fn pins(text: &str) -> BTreeMap<String, Pin> {
    let mut out = BTreeMap::new();
    for statement in parse(text).ast.statements() {
        if let StatementKind::Layout { of, x, y } = &statement.kind
            && x.value.is_finite()
            && y.value.is_finite()
        {
            let column = x.value.round().clamp(0.0, 1e6) as usize;
            out.entry(of.name()).or_insert(Pin { column, y: y.value.clamp(-1e6, 0.0) });
        }
    }
    out
}

/// The calls of a graph, outer ones before those inside them. One that made a single node is none.
pub fn calls(report: &Report, text: &str) -> Vec<Call> {
    let ast = parse(text).ast;
    let mut bodies: Vec<((u32, u32), &str)> = Vec::new();
    for statement in ast.statements() {
        if let StatementKind::Function(function) = &statement.kind {
            bodies.push(((statement.span.start, statement.span.end), &function.name.text));
        }
    }
    if bodies.is_empty() {
        return Vec::new();
    }
    let body_of = |ix: usize| {
        let (start, end) = report.nodes.get(ix)?.span?;
        bodies.iter().position(|((from, to), _)| *from <= start && end <= *to)
    };
    let mut drawn: Vec<(usize, usize, &str)> = Vec::new();
    for (ix, node) in scene::forward_rows(report) {
        if let Some(body) = body_of(ix).filter(|_| node.role != Role::Inline) {
            drawn.push((ix, body, node.name.as_str()));
        }
    }
    let mut by_depth = drawn.clone();
    by_depth.sort_by_key(|(ix, _, name)| (name.matches('.').count(), *ix));
    // A node whose text stands in another body than its owner's is itself what a call made.
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, body, name) in by_depth {
        if owner(&found, name, body).is_none() {
            found.insert(name, body);
        }
    }
    let mut all: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (ix, body, name) in drawn {
        let mut inside =
            owner(&found, name, body).or_else(|| found.get_key_value(name).map(|f| *f.0));
        while let Some(call) = inside {
            all.entry(call).or_default().push(ix as u32);
            inside = outer(&found, call);
        }
    }
    all.into_iter()
        .filter(|(_, nodes)| nodes.len() > 1)
        .filter_map(|(name, nodes)| {
            let function = bodies.get(*found.get(name)?)?.1.to_owned();
            Some(Call { name: name.to_owned(), function, nodes })
        })
        .collect()
}

/// The names before the dots of this one, the longest first.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let dots: Vec<usize> = name.match_indices('.').map(|(at, _)| at).collect();
    dots.into_iter().rev().filter_map(|at| name.get(..at))
}

/// The innermost call in whose function's body a node stands.
fn owner<'a>(found: &BTreeMap<&'a str, usize>, name: &str, body: usize) -> Option<&'a str> {
    parts(name).find_map(|part| found.get_key_value(part).filter(|f| *f.1 == body).map(|f| *f.0))
}

/// The call that a call stands in.
fn outer<'a>(found: &BTreeMap<&'a str, usize>, call: &str) -> Option<&'a str> {
    parts(call).find_map(|part| found.get_key_value(part).map(|f| *f.0))
}

/// From so many forward nodes on, calls are drawn closed but for those that the view names.
const CLOSED_FROM: u32 = 500;

/// Whether a call is drawn closed: one that the view names is, and in a large graph one that it does not name.
pub fn is_closed(report: &Report, named: bool) -> bool {
    named != (report.n_forward > CLOSED_FROM)
}

/// A scene as the text and the view would have it.
struct Planned {
    scene: Scene,
    /// The calls of its graph, outer ones before those inside them.
    calls: Vec<Call>,
    /// Those of them that are drawn closed; none is inside another.
    closed: Vec<usize>,
}

fn planned(report: &Report, text: &str, orientation: Orientation, closed: &str) -> Planned {
    let calls = calls(report, text);
    let mut scene = scene::scene(report);
    let named: BTreeSet<&str> = closed.split(' ').collect();
    let all: BTreeSet<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    let shut = |name: &str| all.contains(name) && is_closed(report, named.contains(name));
    let is_box = |call: &Call| shut(&call.name) && !parts(&call.name).any(shut);
    let closed: Vec<usize> = (0..calls.len()).filter(|ix| is_box(&calls[*ix])).collect();
    if !closed.is_empty() {
        let closed: Vec<&Call> = closed.iter().map(|ix| &calls[*ix]).collect();
        scene = close(report, &scene, &closed);
    }
    if orientation == Orientation::Wide {
        let pins = pins(text);
        let own = |b: &SceneBox| {
            let node = report.nodes.get(b.main.filter(|_| b.kind.is_forward())? as usize)?;
            pins.get(&node.name).copied()
        };
        if !pins.is_empty() {
            scene.pins = scene.boxes.iter().map(own).collect();
        }
    }
    Planned { scene, calls, closed }
}

/// Draws a report as its text and the view would have it. The same gives the same bytes.
pub fn draw(report: &Report, text: &str, orientation: Orientation, closed: &str) -> Picture {
    if report.n_forward > MOST {
        return too_large(report, orientation);
    }
    let Planned { scene, calls, closed } = planned(report, text, orientation, closed);
    let layout = layout::layout(&scene, orientation);
    let mut picture = route::picture(report, &scene, &layout);
    names::tell(report, &mut picture);
    // The innermost call of each node, and the closed one that it is the result of.
    let mut inside: BTreeMap<u32, &Call> = BTreeMap::new();
    for call in &calls {
        inside.extend(call.nodes.iter().map(|node| (*node, call)));
    }
    let mut results: BTreeMap<u32, &Call> = BTreeMap::new();
    for call in closed.iter().map(|ix| &calls[*ix]) {
        results.extend(call.nodes.last().map(|node| (*node, call)));
    }
    for (ix, b) in picture.boxes.iter_mut().enumerate() {
        let Some(node) = b.node.filter(|_| b.kind.is_forward()) else { continue };
        if let Some(call) = results.get(&node) {
            b.closed = true;
            b.call.clone_from(&call.name);
            let rest = b.spoken.split_once(' ').map_or("", |(_, rest)| rest).to_owned();
            b.spoken = format!("closed fn {} {rest}, {} nodes", call.function, call.nodes.len());
        } else if let Some(call) = inside.get(&node) {
            b.call.clone_from(&call.name);
        }
        if scene.pin(ix).is_some() {
            b.pinned = true;
            b.spoken.push_str(", pinned");
        }
    }
    picture
}

/// Where a node would be pinned to stand so far from where it is: by pixels, or by whole columns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Way {
    /// To the right and down, in pixels.
    Pixels(f64, f64),
    /// Columns to the right, and pixels down.
    Columns(f64, f64),
}

/// The numbers of the pin of `name`, moved by `way`; none where no box is called so.
pub fn moved(
    report: &Report,
    text: &str,
    closed: &str,
    name: &str,
    way: Way,
) -> Option<(f64, f64)> {
    if report.n_forward > MOST {
        return None;
    }
    let Planned { scene, .. } = planned(report, text, Orientation::Wide, closed);
    let layout = layout::layout(&scene, Orientation::Wide);
    let picture = route::picture(report, &scene, &layout);
    let at = scene.boxes.iter().position(|b| b.kind.is_forward() && b.name == name)?;
    let cell = layout.forward.cells.get(*layout.cell_of.get(at)?)?;
    let base = cell.boxes.iter().find(|(b, _)| *b == at)?.1;
    let y = cell.at + base + layout.sizes.cross.get(at)? / 2.0;
    let (column, down) = match way {
        Way::Columns(by, down) => (cell.layer as f64 + by, down),
        Way::Pixels(right, down) => {
            let middle = |b: usize| picture.boxes.get(b).map(|b| b.rect.x + b.rect.w / 2.0);
            let aim = middle(at)? + right;
            // The columns that have boxes; further ones are as far apart as a box is wide with its edge.
            let mut columns: BTreeMap<usize, f64> = BTreeMap::new();
            for cell in &layout.forward.cells {
                if let Some(x) = cell.boxes.first().and_then(|(b, _)| middle(*b)) {
                    columns.insert(cell.layer, x);
                }
            }
            let (last, end) = columns.last_key_value().map(|(layer, x)| (*layer, *x))?;
            let column = if aim > end + COLUMN / 2.0 {
                last as f64 + ((aim - end) / COLUMN).round()
            } else {
                let nearest =
                    columns.iter().min_by(|a, b| (a.1 - aim).abs().total_cmp(&(b.1 - aim).abs()));
                nearest.map_or(0.0, |(layer, _)| *layer as f64)
            };
            (column, down)
        }
    };
    Some((column.max(0.0), (y + down).min(0.0).round()))
}

/// From one column to the next where there is none yet.
const COLUMN: f64 = 170.0;

#[cfg(test)]
mod tests;
