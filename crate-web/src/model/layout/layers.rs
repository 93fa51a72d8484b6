//! Layers: longest path, leaves pulled to their consumers; gradients in the column of the node whose rule made them.

use super::Orientation;
use crate::model::scene::{BoxKind, LinkKind, Scene};

/// How many columns beyond the last one a pin may make.
const BEYOND: usize = 8;

/// The layer of every box.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Columns {
    /// How many layers there are, empty ones left out.
    pub n_layers: usize,
    /// For each box, its layer, counted with the forward flow.
    pub layer: Vec<usize>,
    /// For each box, the consumer on which it stands as a pill.
    pub pill: Vec<Option<usize>>,
}

pub(super) fn columns(scene: &Scene, orientation: Orientation) -> Columns {
    let pill = pills(scene, orientation);
    let mut layer = forward_layers(scene, &pill);
    for (ix, b) in scene.boxes.iter().enumerate() {
        if !b.kind.is_forward() {
            let column = b.of.and_then(|of| scene.box_of.get(of as usize).copied().flatten());
            layer[ix] = column.map_or(0, |c| layer[c]);
        }
    }
    with_the_flow(scene, &mut layer);
    if cfg!(feature = "full") && !scene.pins.is_empty() {
        leave_out_empty(&mut layer);
    }
    let n_layers = layer.iter().max().map_or(0, |m| m + 1);
    let mut columns = Columns { n_layers, layer, pill };
    if orientation == Orientation::Tall {
        spread(scene, &mut columns);
    }
    columns
}

/// Between two columns that have boxes there is none without.
fn leave_out_empty(layer: &mut [usize]) {
    let mut used: Vec<usize> = layer.to_vec();
    used.sort_unstable();
    used.dedup();
    for at in layer.iter_mut() {
        *at = used.partition_point(|other| other < at);
    }
}

/// A gradient never stands upstream of what it reads. Reports of our engine have none that would; this keeps a
/// strange one drawable.
fn with_the_flow(scene: &Scene, layer: &mut [usize]) {
    for _ in 0..scene.boxes.len() {
        let mut changed = false;
        for link in scene.links.iter().filter(|l| is_gradient(scene, l.from)) {
            if layer[link.to] > layer[link.from] {
                layer[link.to] = layer[link.from];
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
}

fn is_gradient(scene: &Scene, at: usize) -> bool {
    !scene.boxes[at].kind.is_forward()
}

/// Constants that are used once, beside another operand, stand above their consumer; one for each consumer.
fn pills(scene: &Scene, orientation: Orientation) -> Vec<Option<usize>> {
    let n = scene.boxes.len();
    let mut pill = vec![None; n];
    if orientation == Orientation::Tall {
        return pill;
    }
    let mut n_uses = vec![0usize; n];
    let mut n_inputs = vec![0usize; n];
    for link in scene.links.iter().filter(|l| l.kind == LinkKind::Value) {
        n_uses[link.from] += 1;
        n_inputs[link.to] += 1;
    }
    let mut taken = vec![false; n];
    for link in scene.links.iter().filter(|l| l.kind == LinkKind::Value) {
        let fits = scene.boxes[link.from].kind == BoxKind::Const
            && n_uses[link.from] == 1
            && n_inputs[link.to] > 1
            && link.stretch.is_empty();
        if fits && !taken[link.to] && scene.pin(link.from).is_none() {
            taken[link.to] = true;
            pill[link.from] = Some(link.to);
        }
    }
    pill
}

fn forward_layers(scene: &Scene, pill: &[Option<usize>]) -> Vec<usize> {
    let n = scene.boxes.len();
    let mut layer = vec![0usize; n];
    let mut inputs: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut uses: Vec<Vec<usize>> = vec![Vec::new(); n];
    for link in &scene.links {
        // Forward boxes stand in order of evaluation, so a link that runs back in that order is none.
        if link.kind == LinkKind::Value && link.from < link.to && pill[link.from].is_none() {
            inputs[link.to].push(link.from);
            uses[link.from].push(link.to);
        }
    }
    for at in 0..n {
        layer[at] = inputs[at].iter().map(|s| layer[*s] + 1).max().unwrap_or(0);
    }
    // What hangs on nothing but leaves of its own moves up to where it is used.
    let mut free = vec![false; n];
    for at in 0..n {
        free[at] = inputs[at].iter().all(|s| free[*s] && uses[*s].len() == 1);
    }
    for at in (0..n).rev() {
        if let Some(first) = uses[at].iter().map(|u| layer[*u]).min()
            && free[at]
        {
            layer[at] = first - 1;
        }
    }
    // A pin moves its box as far as what it reads lets it, and not far beyond what there is; what reads it makes room.
    let most = layer.iter().max().map_or(0, |last| last + BEYOND);
    for at in 0..n {
        let least = inputs[at].iter().map(|s| layer[*s] + 1).max().unwrap_or(0);
        let wanted = scene.pin(at).map_or(layer[at], |pin| pin.column.min(most));
        layer[at] = wanted.max(least);
    }
    for at in 0..n {
        if let Some(consumer) = pill[at] {
            layer[at] = layer[consumer];
        }
    }
    layer
}

/// In the tall orientation gradients of one node that feed each other take rows of their own, above it.
fn spread(scene: &Scene, columns: &mut Columns) {
    let n = scene.boxes.len();
    let mut depth = vec![0usize; n];
    // What was built stands in order of creation and what was not behind it, but a place for a sum may come after
    // what reads it: so relax until nothing changes. Depths are small.
    let inside: Vec<(usize, usize)> = scene
        .links
        .iter()
        .filter(|l| is_gradient(scene, l.from) && scene.boxes[l.from].kind != BoxKind::Seed)
        .filter(|l| columns.layer[l.from] == columns.layer[l.to])
        .map(|l| (l.from, l.to))
        .collect();
    for _ in 0..n {
        let mut changed = false;
        for (from, to) in &inside {
            if depth[*to] <= depth[*from] {
                depth[*to] = depth[*from] + 1;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut deepest = vec![0usize; columns.n_layers];
    for at in 0..n {
        let most = &mut deepest[columns.layer[at]];
        *most = (*most).max(depth[at]);
    }
    let mut base = Vec::with_capacity(deepest.len());
    let mut next = 0;
    for most in &deepest {
        base.push(next + most);
        next += most + 1;
    }
    for at in 0..n {
        columns.layer[at] = base[columns.layer[at]] - depth[at];
    }
    columns.n_layers = next;
}
