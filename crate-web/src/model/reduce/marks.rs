//! Several nodes selected at once, boxes moved, calls closed.

use super::{State, edited, follow, neighbour, panels, select};
use crate::model::action::{Action, Effect};
use crate::model::picture::Rect;
use crate::model::view::Side;

/// One of the actions that concern them.
pub(super) fn acted(state: &mut State, action: Action, effects: &mut Vec<Effect>) {
    match action {
        Action::Mark(node) => {
            let mut nodes = all(state);
            match nodes.iter().position(|other| *other == node) {
                Some(ix) => _ = nodes.remove(ix),
                None => nodes.push(node),
            }
            set(state, nodes, effects);
        }
        Action::MarkWalk(arrow) => {
            if let Some(node) = neighbour(state, arrow) {
                let mut nodes = all(state);
                if nodes.is_empty() {
                    nodes.extend(state.run.inspected(&state.view));
                }
                nodes.retain(|other| *other != node);
                nodes.push(node);
                set(state, nodes, effects);
                effects.push(Effect::FocusSelected);
            }
        }
        Action::MarkIn((ax, ay), (bx, by)) => {
            let at = state.camera;
            let (x, y) = (ax.min(bx) - at.x, ay.min(by) - at.y);
            let (w, h) = ((ax - bx).abs() / at.zoom, (ay - by).abs() / at.zoom);
            let room = Rect { x: x / at.zoom, y: y / at.zoom, w, h };
            let boxes = state.run.shown.as_deref().map_or(&[][..], |shown| &shown.picture.boxes);
            let inside = boxes.iter().filter(|of| of.kind.is_forward() && of.rect.overlaps(room));
            let inside: Vec<u32> = inside.filter_map(|of| of.node).collect();
            add(state, &inside, effects);
        }
        Action::Drag { node, by } => {
            if !all(state).contains(&node) {
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
            let boxes = state.run.shown.as_deref().map_or(&[][..], |shown| &shown.picture.boxes);
            let is_closed = boxes.iter().any(|of| of.closed && of.call == call);
            let said = if is_closed { " opened" } else { " closed" };
            effects.push(Effect::Announce([call.as_str(), said].concat()));
            if !is_closed {
                state.drawn = vec![call.clone()];
            }
            turn(state, call, effects);
        }
        _ => {}
    }
}

/// Has a call drawn the other way: in a small graph those are named that are closed, in a large one those that are open.
fn turn(state: &mut State, call: String, effects: &mut Vec<Effect>) {
    match state.closed.iter().position(|name| *name == call) {
        Some(ix) => _ = state.closed.remove(ix),
        None => state.closed.push(call),
    }
    // The same text has another picture.
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
        turn(state, call, effects);
    }
}

/// Nothing is selected beside the selected node any more.
pub(super) fn none(state: &mut State) {
    if !state.also.is_empty() {
        state.also.clear();
        state.view.marks += 1;
    }
}

/// All that is selected, in order: the selected node last.
fn all(state: &State) -> Vec<u32> {
    state.also.iter().copied().chain(state.view.selected).collect()
}

/// Selects these beside what is.
fn add(state: &mut State, more: &[u32], effects: &mut Vec<Effect>) {
    let mut nodes = all(state);
    for node in more {
        if !nodes.contains(node) {
            nodes.push(*node);
        }
    }
    set(state, nodes, effects);
}

/// Selects the nodes of these names beside what is.
pub(super) fn named(state: &mut State, names: &[&str], effects: &mut Vec<Effect>) {
    let Some(report) = state.run.report() else { return };
    let at = |name: &&str| report.nodes.iter().position(|node| node.name == *name);
    let nodes: Vec<u32> = names.iter().filter_map(at).map(|ix| ix as u32).collect();
    add(state, &nodes, effects);
}

/// Selects exactly these, the last one with the keys.
pub(super) fn keep(state: &mut State, mut nodes: Vec<u32>) {
    state.view.selected = nodes.pop();
    state.also = nodes;
    state.view.marks += 1;
}

/// The same, and says how many they are, and which.
fn set(state: &mut State, nodes: Vec<u32>, effects: &mut Vec<Effect>) {
    keep(state, nodes);
    state.view.side = Side::Inspect;
    if let Some(node) = state.view.selected {
        follow(state, node);
    }
    let names = names(state);
    let n = names.len().to_string();
    let word = if names.len() == 1 { " node selected: " } else { " nodes selected: " };
    effects.push(Effect::Announce([&n, word, &names.join(", ")].concat()));
}

/// The names of what is selected, in order.
pub(super) fn names(state: &State) -> Vec<String> {
    let Some(report) = state.run.report() else { return Vec::new() };
    let nodes = all(state);
    nodes.iter().filter_map(|node| Some(report.nodes.get(*node as usize)?.name.clone())).collect()
}

#[cfg(test)]
mod tests;
