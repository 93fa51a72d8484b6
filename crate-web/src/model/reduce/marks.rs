//! Several nodes selected at once, boxes moved, calls closed.

use super::{State, edited, follow, neighbour, panels, select};
use crate::model::action::{Action, Effect, Many};
use crate::model::picture::{PicBox, Rect};

/// One of the actions that concern them.
pub(super) fn acted(state: &mut State, action: Action, effects: &mut Vec<Effect>) {
    match action {
        Action::Mark(node) => {
            if let Some(node) = node.or_else(|| state.run.inspected(&state.view)) {
                mark(state, node);
                told(state, effects);
            }
        }
        Action::MarkWalk(arrow) => {
            if let Some(node) = neighbour(state, arrow) {
                let before = state.run.inspected(&state.view);
                let also = std::mem::take(&mut state.also);
                select(state, Some(node));
                state.also = also;
                keep(state, before);
                effects.push(Effect::FocusSelected);
                told(state, effects);
            }
        }
        Action::MarkIn(a, b) => {
            let camera = state.camera;
            let at =
                |(x, y): (f64, f64)| ((x - camera.x) / camera.zoom, (y - camera.y) / camera.zoom);
            let ((ax, ay), (bx, by)) = (at(a), at(b));
            let (x, y) = (ax.min(bx), ay.min(by));
            let room = Rect { x, y, w: (ax - bx).abs(), h: (ay - by).abs() };
            let inside = found(state, |of| of.kind.is_forward() && of.rect.overlaps(room));
            add(state, &inside);
            told(state, effects);
        }
        Action::MarkAll(many) => {
            let all = match many {
                Many::All => found(state, |of| of.kind.is_forward()),
                Many::Consumers => linked(state, |of| &of.users),
                Many::Sources => linked(state, |of| &of.inputs),
            };
            add(state, &all);
            told(state, effects);
        }
        Action::Drag { node, by } => {
            if state.view.selected != Some(node) && !state.also.contains(&node) {
                select(state, Some(node));
            }
            let whole = |by: f64| ((by / state.camera.zoom).round() as i32).to_string();
            let words = ["move * ", &whole(by.0), " ", &whole(by.1), " %"].concat();
            panels::draw_here(state, &words, effects);
        }
        Action::Close(call) => {
            let node = state.run.inspected(&state.view);
            let own = || {
                let answer = state.run.shown.as_ref()?;
                Some(answer.boxed(answer.box_of(node?)?)?.call.clone())
            };
            let Some(call) = call.or_else(own).filter(|call| !call.is_empty()) else { return };
            // In a large graph those are named that are open.
            let now = state.run.shown.as_ref().is_some_and(|answer| {
                answer.picture.boxes.iter().any(|of| of.closed && of.call == call)
            });
            let said = if now { " opened" } else { " closed" };
            effects.push(Effect::Announce([call.as_str(), said].concat()));
            if !now {
                state.drawn = vec![call.clone()];
            }
            name_or_not(state, call);
            redrawn(state, effects);
        }
        _ => {}
    }
}

/// The same text has another picture.
fn redrawn(state: &mut State, effects: &mut Vec<Effect>) {
    state.doc.touch();
    edited(state, effects);
}

/// Opens what a node is hidden in, so that it can be shown.
pub(super) fn reveal(state: &mut State, node: Option<u32>, effects: &mut Vec<Effect>) {
    let inside = || {
        let answer = state.run.shown.as_ref()?;
        let of = answer.boxed(answer.box_of(node?)?)?;
        (of.closed && of.node != node).then(|| of.call.clone())
    };
    if let Some(call) = inside() {
        name_or_not(state, call);
        redrawn(state, effects);
    }
}

/// Names a call to the engine's side, or takes its name back.
fn name_or_not(state: &mut State, call: String) {
    match state.closed.iter().position(|name| *name == call) {
        Some(ix) => _ = state.closed.remove(ix),
        None => state.closed.push(call),
    }
}

/// Nothing is selected beside the selected node any more.
pub(super) fn none(state: &mut State) {
    if !state.also.is_empty() {
        state.also.clear();
        state.view.marks += 1;
    }
}

/// One more, or one less.
fn mark(state: &mut State, node: u32) {
    if state.view.selected == Some(node) {
        let mut also = std::mem::take(&mut state.also);
        let next = if also.is_empty() { None } else { Some(also.remove(0)) };
        state.view.selected = next;
        state.also = also;
    } else if let Some(ix) = state.also.iter().position(|other| *other == node) {
        state.also.remove(ix);
    } else {
        add(state, &[node]);
    }
    state.view.marks += 1;
}

/// Selects nodes beside those that are; the last one has the keys.
fn add(state: &mut State, nodes: &[u32]) {
    for node in nodes {
        let before = state.view.selected;
        if before == Some(*node) || state.also.contains(node) {
            continue;
        }
        state.view.selected = Some(*node);
        keep(state, before);
    }
    state.view.marks += 1;
}

/// Keeps a node selected beside the selected one.
fn keep(state: &mut State, node: Option<u32>) {
    let own = state.view.selected;
    state.also.retain(|other| Some(*other) != own);
    if let Some(node) = node.filter(|node| Some(*node) != own && !state.also.contains(node)) {
        state.also.push(node);
    }
    state.view.marks += 1;
}

/// The nodes of boxes that are like this.
fn found(state: &State, like: impl Fn(&PicBox) -> bool) -> Vec<u32> {
    let boxes = state.run.shown.as_deref().map_or(&[][..], |answer| &answer.picture.boxes);
    boxes.iter().filter(|of| like(of)).filter_map(|of| of.node).collect()
}

/// The forward nodes that the selected ones are linked to.
fn linked(state: &State, to: fn(&PicBox) -> &Vec<usize>) -> Vec<u32> {
    let Some(answer) = state.run.shown.as_deref() else { return Vec::new() };
    let mut out = Vec::new();
    for node in all(state) {
        let of = answer.box_of(node).and_then(|ix| answer.boxed(ix));
        for ix in of.map_or(&[][..], |of| to(of)) {
            out.extend(answer.boxed(*ix).filter(|of| of.kind.is_forward()).and_then(|of| of.node));
        }
    }
    out
}

/// All that is selected, in order: the selected node last.
fn all(state: &State) -> Vec<u32> {
    state.also.iter().copied().chain(state.view.selected).collect()
}

/// Their names, the selected node's first.
pub(super) fn names(state: &State) -> Vec<String> {
    let Some(report) = state.run.report() else { return Vec::new() };
    let nodes = state.view.selected.iter().chain(&state.also);
    nodes.filter_map(|node| Some(report.nodes.get(*node as usize)?.name.clone())).collect()
}

/// Says how many are selected, and which.
fn told(state: &mut State, effects: &mut Vec<Effect>) {
    if let Some(node) = state.view.selected {
        follow(state, node);
    }
    let nodes = all(state);
    let Some(report) = state.run.report() else { return };
    let names: Vec<&str> = nodes
        .iter()
        .filter_map(|node| report.nodes.get(*node as usize))
        .map(|node| node.name.as_str())
        .collect();
    effects.push(Effect::Announce(match names.len() {
        0 => "Nothing selected".to_owned(),
        1 => ["1 node selected: ", names[0]].concat(),
        n => [&n.to_string(), " nodes selected: ", &names.join(", ")].concat(),
    }));
}

#[cfg(test)]
mod tests;
