//! What a box is called aloud, and which box an arrow key leads to.

use std::fmt::Write;

use foldback::report::Report;

use super::picture::{PicBox, Picture};
use super::scene::{BoxKind, LinkKind};
use super::stage::{BoxState, Phase};

/// Fills in who reads whom, and every box's spoken name up to its state.
pub(crate) fn tell(report: &Report, picture: &mut Picture) {
    for edge in &picture.edges {
        let (from, to) = (edge.from, edge.to);
        if !picture.boxes[to].inputs.contains(&from) {
            picture.boxes[to].inputs.push(from);
        }
        if !picture.boxes[from].users.contains(&to) {
            picture.boxes[from].users.push(to);
        }
    }
    let names: Vec<String> = picture.boxes.iter().map(called).collect();
    for at in 0..picture.boxes.len() {
        let b = &picture.boxes[at];
        let inputs: Vec<&str> = b.inputs.iter().map(|i| names[*i].as_str()).collect();
        let row = b.nodes.last().and_then(|id| report.nodes.get(*id as usize));
        let op = match b.kind {
            BoxKind::Param => "parameter ".to_owned(),
            BoxKind::Const => "constant ".to_owned(),
            BoxKind::Op => row.map(|r| format!("{} ", r.op)).unwrap_or_default(),
            BoxKind::Seed => "seed ".to_owned(),
            BoxKind::Slot => "place for the gradient of ".to_owned(),
            _ => "gradient ".to_owned(),
        };
        let how = if b.kind.is_forward() || b.kind == BoxKind::Seed || b.title.is_empty() {
            String::new()
        } else {
            format!(", {}", b.title)
        };
        let mut spoken = format!("{op}{}{how}, {}", b.name, shape_aloud(&b.shape));
        if !inputs.is_empty() && b.kind != BoxKind::Seed {
            let word = if inputs.len() == 1 { "input" } else { "inputs" };
            let _ = write!(spoken, ", {word} {}", list(&inputs));
        }
        picture.boxes[at].spoken = spoken;
    }
}

fn called(b: &PicBox) -> String {
    b.name.clone()
}

fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// `shape 2 by 3`, `a scalar`.
fn shape_aloud(shape: &str) -> String {
    let inside = shape.trim_matches(['[', ']']);
    if inside.is_empty() {
        "a scalar".to_owned()
    } else {
        format!("shape {}", inside.replace(',', " by "))
    }
}

/// A box's name for assistive technology: `div y, shape 2 by 3, inputs w and c, gradient ready, 1 problem`.
pub fn aloud(
    report: &Report,
    picture: &Picture,
    at: usize,
    state: &BoxState,
    tick: usize,
) -> String {
    let Some(b) = picture.boxes.get(at) else { return String::new() };
    let mut out = b.spoken.clone();
    match state.phase {
        Phase::Hidden => out.push_str(", hidden"),
        Phase::Pending => match b.built {
            Some(step) => {
                let _ = write!(out, ", built at step {step}");
            }
            None => out.push_str(", not built yet"),
        },
        Phase::Begun => out.push_str(", being built"),
        Phase::NotReached => out.push_str(", not reached"),
        Phase::Refused if !b.kind.is_forward() => out.push_str(", refused"),
        Phase::Shaped | Phase::Built | Phase::Refused => {}
    }
    if b.kind.is_forward()
        && let Some(id) = b.node
    {
        if let Some(gradient) = gradient_aloud(report, picture, id, tick) {
            out.push_str(gradient);
        }
        let problems = report.findings.iter().filter(|f| f.node == Some(id)).count();
        let last = tick >= report.ticks.len();
        match problems {
            _ if !last => {}
            0 => {}
            1 => out.push_str(", 1 problem"),
            n => {
                let _ = write!(out, ", {n} problems");
            }
        }
    }
    if state.current {
        out.push_str(", this step");
    }
    out
}

fn gradient_aloud(
    report: &Report,
    picture: &Picture,
    id: u32,
    tick: usize,
) -> Option<&'static str> {
    if !report.needed.get(id as usize).copied().unwrap_or(false) {
        return None;
    }
    let gradient = report.grads.get(id as usize).copied().flatten();
    let built = gradient
        .and_then(|g| picture.box_of.get(g as usize).copied().flatten())
        .and_then(|b| picture.boxes[b].built);
    let parts =
        picture.boxes.iter().any(|b| b.into == Some(id) && b.built.is_none() && b.nodes.is_empty());
    match built {
        Some(step) if step as usize <= tick && parts => Some(", gradient in part"),
        Some(step) if step as usize <= tick => Some(", gradient ready"),
        _ => Some(", no gradient yet"),
    }
}

/// An arrow key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrow {
    /// To an input.
    Left,
    /// To a consumer.
    Right,
    /// To the box above in the same column.
    Up,
    /// To the box below in the same column.
    Down,
}

/// The box an arrow key leads to: inputs, consumers, siblings of the column. At the loss, right leads to the seed.
pub fn neighbour(picture: &Picture, at: usize, arrow: Arrow) -> Option<usize> {
    let b = picture.boxes.get(at)?;
    let nearest = |ids: &[usize]| {
        let away = |other: &usize| {
            let (r, s) = (b.rect, picture.boxes[*other].rect);
            let (dx, dy) = (r.x + r.w / 2.0 - s.x - s.w / 2.0, r.y + r.h / 2.0 - s.y - s.h / 2.0);
            dx.abs() + dy.abs()
        };
        ids.iter().copied().min_by(|a, c| away(a).total_cmp(&away(c)).then(a.cmp(c)))
    };
    match arrow {
        Arrow::Left => nearest(&b.inputs),
        Arrow::Right => nearest(&b.users),
        Arrow::Up | Arrow::Down => {
            let middle = b.rect.x + b.rect.w / 2.0;
            let down = arrow == Arrow::Down;
            let ahead = picture.boxes.iter().enumerate().filter(|(ix, other)| {
                let shares = other.rect.x <= middle && middle <= other.rect.x + other.rect.w;
                let beyond = if down { other.rect.y > b.rect.y } else { other.rect.y < b.rect.y };
                *ix != at && shares && beyond
            });
            let away = |r: f64| (r - b.rect.y).abs();
            ahead
                .min_by(|(_, p), (_, q)| away(p.rect.y).total_cmp(&away(q.rect.y)))
                .map(|(ix, _)| ix)
        }
    }
}

/// Every box in reading order, for an outline and for the first focus: forward boxes, then gradients.
pub fn outline(picture: &Picture) -> Vec<usize> {
    (0..picture.boxes.len()).collect()
}

/// The link between two boxes, if there is one: for announcing what an arrow key followed.
pub fn link_between(picture: &Picture, a: usize, b: usize) -> Option<(usize, LinkKind)> {
    let found =
        picture.edges.iter().position(|e| (e.from, e.to) == (a, b) || (e.from, e.to) == (b, a));
    found.map(|ix| (ix, picture.edges[ix].kind))
}
