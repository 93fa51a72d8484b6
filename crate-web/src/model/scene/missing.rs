//! What would have been built, had the build not stopped: the distance not travelled stays visible.

use foldback::report::{FindingRow, Report, TickGlyph};

use super::gradients::turn;
use super::{BoxKind, Link, LinkKind, Scene, SceneBox, box_at, forward_rows};

/// What has become of the gradient that an op owes one of its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Debt {
    Paid,
    Refused,
    Open,
}

pub(super) fn add(report: &Report, scene: &mut Scene) {
    let Some(stop) = report.findings.iter().find(|f| f.stops) else { return };
    let needs = |node: u32| report.needed.get(node as usize).copied().unwrap_or(false);
    let (Some(loss), Some(loss_box)) = (report.loss, scene.loss) else { return };
    if !needs(loss) {
        return;
    }
    if scene.seed.is_none() {
        let seed = push(report, scene, BoxKind::Missing, loss, None, loss);
        scene.boxes[seed].name = format!("d{}", scene.boxes[loss_box].name);
        scene.boxes[seed].kind = BoxKind::Seed;
        scene.seed = Some(seed);
        scene.links.push(turn(scene, loss_box, seed));
    }
    let n = report.n_forward as usize;
    let debts = debts(report, stop);
    let mut owed = vec![0usize; n];
    for (_, _, src, _) in &debts {
        owed[*src as usize] += 1;
    }
    // What arrives at each node: contributions that stand, then those that do not.
    let mut arriving: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut paid = vec![0usize; n];
    for (_, _, src, debt) in &debts {
        paid[*src as usize] += usize::from(*debt == Debt::Paid);
    }
    for u in (0..=loss).rev() {
        if !needs(u) {
            continue;
        }
        let Some(gradient) = gradient(report, scene, u, &arriving, owed[u as usize]) else {
            continue;
        };
        for (of, slot, src, debt) in debts.iter().filter(|d| d.0 == u) {
            let number = {
                let n = &mut paid[*src as usize];
                *n += usize::from(*debt != Debt::Paid);
                *n
            };
            let made = match debt {
                Debt::Paid => continue,
                Debt::Open if passes(report, *of, *slot) => gradient,
                Debt::Open => open(report, scene, (*of, *slot, *src), gradient),
                Debt::Refused => refused(report, scene, (*of, *slot, *src), gradient, stop),
            };
            if made != gradient && *debt == Debt::Open {
                let many = owed[*src as usize] > 1;
                scene.boxes[made].name = gradient_name(report, *src, many.then_some(number));
            }
            arriving[*src as usize].push(made);
        }
    }
}

/// Every gradient an op owes an operand, in order: op, slot, operand, what became of it.
fn debts(report: &Report, stop: &FindingRow) -> Vec<(u32, u8, u32, Debt)> {
    let needs = |node: u32| report.needed.get(node as usize).copied().unwrap_or(false);
    let visited = |node: u32| {
        report.ticks.iter().any(|t| t.kind == TickGlyph::Rule && t.inside.or(t.node) == Some(node))
    };
    let mut out = Vec::new();
    for (ix, row) in forward_rows(report) {
        let of = ix as u32;
        if !needs(of) {
            continue;
        }
        let done = visited(of);
        for (slot, src) in row.src.iter().enumerate() {
            if !needs(*src) || row.sends.get(slot).is_none_or(String::is_empty) {
                continue;
            }
            let slot = slot as u8;
            let debt = match stop.src {
                _ if stop.node != Some(of) => {
                    if done {
                        Debt::Paid
                    } else {
                        Debt::Open
                    }
                }
                None => Debt::Refused,
                Some(bad) if slot == bad => Debt::Refused,
                Some(bad) if slot < bad && done => Debt::Paid,
                Some(_) => Debt::Open,
            };
            out.push((of, slot, *src, debt));
        }
    }
    out
}

/// The box that holds the gradient of `node`: the one that was built, the one contribution there would be, or a
/// place for their sum.
fn gradient(
    report: &Report,
    scene: &mut Scene,
    node: u32,
    arriving: &[Vec<usize>],
    owed: usize,
) -> Option<usize> {
    let built = report.grads.get(node as usize).copied().flatten().and_then(|g| box_at(scene, g));
    let late = &arriving[node as usize];
    if report.loss == Some(node) && built.is_none() && late.is_empty() {
        return scene.seed;
    }
    match (built, late.as_slice()) {
        (built, []) => built,
        (None, [only]) if owed < 2 => Some(*only),
        (built, late) => {
            let sum = push(report, scene, BoxKind::Missing, node, None, node);
            scene.boxes[sum].name = gradient_name(report, node, None);
            "sum".clone_into(&mut scene.boxes[sum].label);
            for from in built.into_iter().chain(late.iter().copied()) {
                join(scene, LinkKind::Gradient, from, sum);
            }
            Some(sum)
        }
    }
}

/// Whether the rule sends on what it gets.
fn passes(report: &Report, of: u32, slot: u8) -> bool {
    report.nodes.get(of as usize).is_some_and(|row| {
        let slot = usize::from(slot);
        row.stretch.get(slot).is_none_or(Vec::is_empty)
            && row.sends.get(slot).is_some_and(|s| *s == format!("d{}", row.name))
    })
}

fn open(
    report: &Report,
    scene: &mut Scene,
    (of, slot, src): (u32, u8, u32),
    gradient: usize,
) -> usize {
    let at = push(report, scene, BoxKind::Missing, of, Some(slot), src);
    let row = report.nodes.get(of as usize);
    scene.boxes[at].label = row.map(|r| r.word.clone()).unwrap_or_default();
    join(scene, LinkKind::Gradient, gradient, at);
    at
}

fn refused(
    report: &Report,
    scene: &mut Scene,
    (of, slot, src): (u32, u8, u32),
    gradient: usize,
    stop: &FindingRow,
) -> usize {
    let value = scene.boxes.iter().position(|b| {
        b.kind == BoxKind::Contribution && b.of == Some(of) && b.of_src == Some(slot)
    });
    let at = push(report, scene, BoxKind::Slot, of, Some(slot), src);
    let wanted = scene.boxes[at].shape.clone();
    let b = &mut scene.boxes[at];
    b.name = report.nodes.get(src as usize).map(|r| r.name.clone()).unwrap_or_default();
    b.label = format!("src[{slot}]");
    b.refused = true;
    let from = value.unwrap_or(gradient);
    let sent = stop.clash.as_ref().map_or_else(|| scene.boxes[from].shape.clone(), |c| c.0.clone());
    scene.links.push(Link {
        kind: LinkKind::Refused,
        from,
        to: at,
        shape: sent,
        stretch: String::new(),
        strands: 0,
        wanted: Some(stop.clash.as_ref().map_or(wanted, |c| c.1.clone())),
    });
    at
}

fn push(
    report: &Report,
    scene: &mut Scene,
    kind: BoxKind,
    of: u32,
    of_src: Option<u8>,
    into: u32,
) -> usize {
    scene.boxes.push(SceneBox {
        kind,
        nodes: Vec::new(),
        main: None,
        of: Some(of),
        of_src,
        into: Some(into),
        name: String::new(),
        label: String::new(),
        shape: report.nodes.get(into as usize).map(|r| r.shape.clone()).unwrap_or_default(),
        begun: None,
        built: None,
        valued: None,
        refused: false,
        badge: String::new(),
    });
    scene.boxes.len() - 1
}

fn join(scene: &mut Scene, kind: LinkKind, from: usize, to: usize) {
    let shape = scene.boxes[from].shape.clone();
    scene.links.push(Link {
        kind,
        from,
        to,
        shape,
        stretch: String::new(),
        strands: 0,
        wanted: None,
    });
}

fn gradient_name(report: &Report, node: u32, number: Option<usize>) -> String {
    let name = report.nodes.get(node as usize).map(|r| r.name.as_str()).unwrap_or_default();
    let digits: String = number
        .map(|n| {
            n.to_string()
                .chars()
                .filter_map(|c| char::from_u32('₀' as u32 + c.to_digit(10)?))
                .collect()
        })
        .unwrap_or_default();
    format!("d{name}{digits}")
}
