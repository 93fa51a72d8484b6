//! Calls drawn closed: all that a call made is one box, and all that its nodes send back is another.

use std::collections::{BTreeMap, BTreeSet};

use foldback::report::Report;

use super::{BoxKind, LinkKind, Read, Scene, SceneBox};
use crate::model::plan::Call;

/// A call's boxes on one side of the dividing line.
type Side = (usize, bool);

/// The scene with these calls closed. They do not hold each other.
pub(crate) fn close(report: &Report, scene: &Scene, calls: &[&Call]) -> Scene {
    let mut call_of: BTreeMap<u32, usize> = BTreeMap::new();
    for (ix, call) in calls.iter().enumerate() {
        call_of.extend(call.nodes.iter().map(|node| (*node, ix)));
    }
    let side_of = |b: &SceneBox| -> Option<Side> {
        if b.kind == BoxKind::Seed {
            return None;
        }
        Some((*call_of.get(&b.of?)?, b.kind.is_forward()))
    };
    let sides: Vec<Option<Side>> = scene.boxes.iter().map(side_of).collect();
    let mut members: BTreeMap<Side, Vec<usize>> = BTreeMap::new();
    for (at, side) in sides.iter().enumerate() {
        if let Some(side) = side {
            members.entry(*side).or_default().push(at);
        }
    }
    let mut out = Scene { box_of: scene.box_of.clone(), ..Scene::default() };
    let mut new_of = vec![0usize; scene.boxes.len()];
    for (at, side) in sides.iter().enumerate() {
        let made = match side {
            None => scene.boxes[at].clone(),
            Some(side) => {
                let all = &members[side];
                // The box stands where its last part stood: after all that it reads.
                if all.last() != Some(&at) {
                    continue;
                }
                for member in all {
                    new_of[*member] = out.boxes.len();
                }
                let parts: Vec<&SceneBox> =
                    all.iter().map(|member| &scene.boxes[*member]).collect();
                merged(report, &parts, calls[side.0], side.1)
            }
        };
        new_of[at] = out.boxes.len();
        out.boxes.push(made);
    }
    let mut is_made = vec![false; out.boxes.len()];
    for (at, side) in sides.iter().enumerate() {
        is_made[new_of[at]] |= side.is_some();
    }
    let mut known: BTreeSet<(usize, usize)> = BTreeSet::new();
    for link in &scene.links {
        let (from, to) = (new_of[link.from], new_of[link.to]);
        let mut link = super::Link { from, to, ..link.clone() };
        if from == to {
            continue;
        }
        if is_made[to] {
            // What a stretch or a fold does in there is not seen from outside.
            link.stretch.clear();
            link.wanted = None;
            link.strands = 0;
            if matches!(link.kind, LinkKind::Fold | LinkKind::Refused) {
                link.kind = LinkKind::Gradient;
            }
            if !known.insert((from, to)) {
                continue;
            }
        }
        out.links.push(link);
    }
    out.links.sort_by_key(|link| link.to);
    known.clear();
    for read in &scene.reads {
        let (from, to) = (new_of[read.from], new_of[read.to]);
        let call = |at: usize| sides[at].map(|side| side.0);
        let inside = call(read.from).is_some() && call(read.from) == call(read.to);
        if !inside && known.insert((from, to)) {
            out.reads.push(Read { from, to });
        }
    }
    for slot in out.box_of.iter_mut().flatten() {
        *slot = new_of[*slot];
    }
    out.loss = scene.loss.map(|at| new_of[at]);
    out.seed = scene.seed.map(|at| new_of[at]);
    out
}

/// One box of several.
fn merged(report: &Report, parts: &[&SceneBox], call: &Call, forward: bool) -> SceneBox {
    let mut nodes: Vec<u32> = parts.iter().flat_map(|b| b.nodes.iter().copied()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let result = call.nodes.last().copied();
    let main = if forward { result } else { nodes.last().copied() };
    let shape = main.and_then(|id| report.nodes.get(id as usize)).map(|row| row.shape.clone());
    // What is not built for one of them is not built for all.
    let all = |of: fn(&SceneBox) -> Option<u32>| {
        parts
            .iter()
            .map(|b| of(b))
            .collect::<Option<Vec<u32>>>()
            .and_then(|all| all.into_iter().max())
    };
    SceneBox {
        kind: if forward { BoxKind::Op } else { BoxKind::Contribution },
        main,
        of: result,
        of_src: None,
        into: if forward { None } else { result },
        name: if forward { call.name.clone() } else { format!("d{}", call.name) },
        label: if forward {
            format!("fn {}", call.function)
        } else {
            format!("{} nodes", nodes.len())
        },
        shape: shape.unwrap_or_default(),
        begun: parts.iter().filter_map(|b| b.begun).min(),
        built: all(|b| b.built),
        valued: all(|b| b.valued),
        refused: parts.iter().any(|b| b.refused),
        badge: parts
            .iter()
            .map(|b| b.badge.as_str())
            .find(|badge| !badge.is_empty())
            .unwrap_or_default()
            .to_owned(),
        nodes,
    }
}
