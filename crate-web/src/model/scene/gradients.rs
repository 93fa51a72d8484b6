//! The boxes of the backward graph that was built: several nodes make one box.

use foldback::report::{NodeRow, Report, Role};

use super::{BoxKind, Link, LinkKind, Read, Scene, SceneBox, box_at, tick_of};

/// The boxes of rules and folds: their kind, node and operand, and their place.
type Groups = Vec<((BoxKind, u32, Option<u8>), usize)>;

pub(super) fn add(report: &Report, scene: &mut Scene) {
    let first = report.n_forward as usize;
    let mut groups = Groups::new();
    for (ix, row) in report.nodes.iter().enumerate().skip(first) {
        let at = match row.role {
            Role::Seed => Some(open(report, scene, BoxKind::Seed, ix)),
            Role::Accumulator => Some(open(report, scene, BoxKind::Accumulator, ix)),
            Role::Fold => Some(joined(report, scene, &mut groups, BoxKind::Fold, ix)),
            Role::Accumulate => Some(accumulated(report, scene, &mut groups, ix)),
            // A leaf that a rule made is a number in its formula, unless the rule claims it for a contribution.
            _ if row.src.is_empty() && row.of_src.is_none() => None,
            Role::Rule => Some(joined(report, scene, &mut groups, BoxKind::Contribution, ix)),
            _ => None,
        };
        if let Some(slot) = scene.box_of.get_mut(ix) {
            *slot = at;
        }
    }
    scene.seed = scene.boxes.iter().position(|b| b.kind == BoxKind::Seed);
    finish(report, scene);
    link(report, scene);
}

/// A new box for node `ix`.
fn open(report: &Report, scene: &mut Scene, kind: BoxKind, ix: usize) -> usize {
    let row = &report.nodes[ix];
    let of = match kind {
        BoxKind::Seed | BoxKind::Accumulate => row.into.or(row.of),
        _ => row.of.or(row.into),
    };
    scene.boxes.push(SceneBox {
        kind,
        nodes: vec![ix as u32],
        main: Some(ix as u32),
        of,
        of_src: row.of_src,
        into: row.into,
        name: String::new(),
        label: String::new(),
        shape: row.shape.clone(),
        begun: tick_of(report, |t| t.n_nodes, ix),
        built: None,
        valued: None,
        refused: false,
        badge: String::new(),
    });
    scene.boxes.len() - 1
}

/// The box of a rule's or a fold's nodes for one operand.
fn joined(
    report: &Report,
    scene: &mut Scene,
    groups: &mut Groups,
    kind: BoxKind,
    ix: usize,
) -> usize {
    let row = &report.nodes[ix];
    let key = (kind, row.of.unwrap_or(0), row.of_src);
    // The nodes of one box are made one after the other.
    let known = groups.iter().rev().find(|(known, _)| *known == key).map(|(_, at)| *at);
    let at = known.unwrap_or_else(|| {
        let at = open(report, scene, kind, ix);
        groups.push((key, at));
        at
    });
    push(scene, at, ix);
    at
}

/// The box of a node that joins a contribution to what is there. What turns its sign or spreads it, before there is
/// anything to add it to, belongs to the contribution.
fn accumulated(report: &Report, scene: &mut Scene, groups: &mut Groups, ix: usize) -> usize {
    let row = &report.nodes[ix];
    let [only] = row.src.as_slice() else { return open(report, scene, BoxKind::Accumulate, ix) };
    let made_by_this_rule = box_at(scene, *only).filter(|at| {
        let b = &scene.boxes[*at];
        b.of == row.of && matches!(b.kind, BoxKind::Contribution | BoxKind::Fold)
    });
    match made_by_this_rule {
        Some(at) => {
            push(scene, at, ix);
            at
        }
        None => joined(report, scene, groups, BoxKind::Contribution, ix),
    }
}

fn push(scene: &mut Scene, at: usize, ix: usize) {
    let b = &mut scene.boxes[at];
    if !b.nodes.contains(&(ix as u32)) {
        b.nodes.push(ix as u32);
    }
    b.main = Some(ix as u32);
}

/// Names, labels and ticks, once every box has all its nodes.
fn finish(report: &Report, scene: &mut Scene) {
    let first = scene.boxes.iter().position(|b| !b.kind.is_forward()).unwrap_or(scene.boxes.len());
    for at in first..scene.boxes.len() {
        let rows: Vec<&NodeRow> =
            scene.boxes[at].nodes.iter().filter_map(|id| report.nodes.get(*id as usize)).collect();
        let Some(last) = rows.last() else { continue };
        // A node that only turns the sign of a named one has no name of its own.
        let named = rows.iter().rev().find(|r| !r.name.contains('.') && !is_made_up(&r.name));
        let refused = report.findings.iter().any(|f| {
            f.stops
                && f.node.is_some()
                && f.node == last.of
                && f.src == last.of_src
                && f.src.is_some()
        });
        let b = &scene.boxes[at];
        let sent = b.of.zip(b.of_src).and_then(|(of, src)| {
            let sends = report.nodes.get(of as usize)?.sends.get(usize::from(src))?;
            (!sends.is_empty()).then(|| sends.clone())
        });
        let turned = rows.len() > 1 && last.role == Role::Accumulate && last.op == "neg";
        let label = match b.kind {
            BoxKind::Seed => "seed".to_owned(),
            BoxKind::Contribution => sent.unwrap_or_else(|| last.formula.clone()),
            // What a fold does is the sum; giving it its rank and turning its sign are part of it.
            BoxKind::Fold => {
                let sum = rows.iter().rev().find(|r| r.formula.starts_with('Σ')).unwrap_or(last);
                format!("{}{}", if turned { "−" } else { "" }, sum.formula)
            }
            _ => last.formula.clone(),
        };
        let ix = b.main.unwrap_or_default() as usize;
        let folded_from = (b.kind == BoxKind::Fold && turned)
            .then(|| rows.first().and_then(|r| box_at(scene, *r.src.first()?)))
            .flatten();
        let b = &mut scene.boxes[at];
        b.name.clone_from(&named.unwrap_or(last).name);
        b.label = label;
        b.shape.clone_from(&last.shape);
        b.built = tick_of(report, |t| t.n_nodes, ix);
        b.valued = b.built;
        b.refused = refused;
        // The sign is turned after the fold, so what comes in has not turned it yet.
        if let Some(source) = folded_from.and_then(|s| scene.boxes.get_mut(s))
            && let Some(rest) = source.label.strip_prefix('−')
        {
            source.label = rest.to_owned();
        }
    }
}

fn is_made_up(name: &str) -> bool {
    name.strip_prefix('t')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

fn link(report: &Report, scene: &mut Scene) {
    if let (Some(loss), Some(seed)) = (scene.loss, scene.seed) {
        scene.links.push(turn(scene, loss, seed));
    }
    for at in 0..scene.boxes.len() {
        if scene.boxes[at].kind.is_forward() {
            continue;
        }
        let mut sources: Vec<(usize, u32)> = Vec::new();
        for id in &scene.boxes[at].nodes {
            for src in report.nodes.get(*id as usize).map(|r| r.src.as_slice()).unwrap_or_default()
            {
                let Some(from) = box_at(scene, *src).filter(|from| *from != at) else { continue };
                // `g + g` has two inputs; a rule that reads its gradient twice has one.
                let once = scene.boxes[at].kind != BoxKind::Accumulate;
                if !(once && sources.iter().any(|(seen, _)| *seen == from)) {
                    sources.push((from, *src));
                }
            }
        }
        for (from, src) in sources {
            if scene.boxes[from].kind.is_forward() {
                scene.reads.push(Read { from, to: at });
                continue;
            }
            let strands = strands(report, scene, at);
            let kind = if strands > 1 { LinkKind::Fold } else { LinkKind::Gradient };
            let shape = report.nodes.get(src as usize).map(|r| r.shape.clone()).unwrap_or_default();
            let stretch = String::new();
            scene.links.push(Link { kind, from, to: at, shape, stretch, strands, wanted: None });
        }
    }
}

/// The link from the loss to the seed.
pub(super) fn turn(scene: &Scene, loss: usize, seed: usize) -> Link {
    Link {
        kind: LinkKind::Turn,
        from: loss,
        to: seed,
        shape: scene.boxes[loss].shape.clone(),
        stretch: String::new(),
        strands: 0,
        wanted: None,
    }
}

/// How many cells a fold adds up into one; 0 for a box that is no fold.
fn strands(report: &Report, scene: &Scene, at: usize) -> u32 {
    let b = &scene.boxes[at];
    if b.kind != BoxKind::Fold {
        return 0;
    }
    let folds = report.ticks.iter().filter_map(|t| t.fold.as_ref());
    let mut own = folds.filter(|f| b.nodes.contains(&f.to));
    own.next().map_or(0, |f| f.axes.iter().map(|a| a.to / a.from.max(1)).product())
}
