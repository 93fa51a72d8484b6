//! Where the note goes: the free place nearest to what the step is about.

use foldback::report::TickRow;

use super::{Hue, Note, State, hue, lines};
use crate::model::picture::{Picture, Point, Rect};

/// The grid on which places are tried.
const GRID: f64 = 8.0;
/// The width of a note's text, and how far from the step a note may stand.
const WIDE: f64 = 236.0;
const REACH: f64 = 620.0;
const TITLE: f64 = 17.0;
const LINE: f64 = 16.0;

pub(super) fn note(
    picture: &Picture,
    state: &State,
    tick: &TickRow,
    current: Option<usize>,
) -> Option<Note> {
    let title = lines(&tick.title, 13.5, WIDE);
    let text = lines(&tick.sentence, 11.0, WIDE);
    if title.is_empty() || title.len() > 3 || text.len() > 9 {
        return None;
    }
    let anchor = current.map(|at| picture.boxes[at].rect).or_else(|| {
        let of = tick.inside.or(tick.node)?;
        let at = picture.box_of.get(of as usize).copied().flatten()?;
        Some(picture.boxes[at].rect)
    })?;
    let size = (WIDE, title.len() as f64 * TITLE + 4.0 + text.len() as f64 * LINE);
    let taken = taken(picture, state);
    let rect = place(picture, &taken, anchor, size)?;
    let ground = state.halos.last().map_or(anchor, |h| h.rect.around(anchor));
    let leader = leader(rect, ground, &taken);
    Some(Note {
        rect,
        title,
        lines: text,
        leader,
        hue: if hue(tick) == Hue::Plain { Hue::Plain } else { hue(tick) },
    })
}

/// Everything a note must keep clear of.
fn taken(picture: &Picture, state: &State) -> Vec<Rect> {
    let mut out: Vec<Rect> = picture.boxes.iter().map(|b| b.rect.grown(12.0)).collect();
    for e in &picture.edges {
        out.extend(e.chips.iter().map(|c| c.rect.grown(8.0)));
        out.extend(e.stretch.iter().map(|w| w.rect.grown(8.0)));
        out.extend(e.fan.iter().map(|f| f.rect.grown(8.0)));
        out.extend(segments(&e.points).map(|r| r.grown(10.0)));
    }
    for read in &state.reads {
        out.extend(segments(&picture.reads[*read].points).map(|r| r.grown(8.0)));
    }
    out.extend(picture.bands.iter().map(|w| w.rect.grown(6.0)));
    let lines = picture.divider.iter().flat_map(|(a, b)| segments(&[*a, *b]).collect::<Vec<_>>());
    out.extend(lines.map(|r| r.grown(6.0)));
    out.extend(state.halos.iter().map(|h| h.rect.grown(12.0)));
    out
}

fn segments(points: &[Point]) -> impl Iterator<Item = Rect> + '_ {
    points.windows(2).map(|w| Rect {
        x: w[0].x.min(w[1].x),
        y: w[0].y.min(w[1].y),
        w: (w[0].x - w[1].x).abs(),
        h: (w[0].y - w[1].y).abs(),
    })
}

/// The free place nearest to `anchor`: a grid of what is taken, summed, so that each try costs four look-ups.
fn place(picture: &Picture, taken: &[Rect], anchor: Rect, size: (f64, f64)) -> Option<Rect> {
    let window = {
        let w = anchor.grown(REACH);
        let (x, y) = (w.x.max(12.0), w.y.max(12.0));
        let right = (w.x + w.w).min(picture.width - 12.0);
        let bottom = (w.y + w.h).min(picture.height - 12.0);
        Rect { x, y, w: right - x, h: bottom - y }
    };
    if window.w < size.0 || window.h < size.1 {
        return None;
    }
    let (cols, rows) = ((window.w / GRID) as usize + 1, (window.h / GRID) as usize + 1);
    let mut sums = vec![0u32; (cols + 1) * (rows + 1)];
    let at = |c: usize, r: usize| r * (cols + 1) + c;
    let cells = |from: f64, to: f64, n: usize| {
        let a = (from / GRID).floor().max(0.0) as usize;
        let b = (to / GRID).ceil().max(0.0) as usize;
        (a.min(n), b.min(n))
    };
    for r in taken.iter().filter(|r| r.overlaps(window)) {
        let (c0, c1) = cells(r.x - window.x, r.x + r.w - window.x, cols);
        let (r0, r1) = cells(r.y - window.y, r.y + r.h - window.y, rows);
        for row in r0..r1 {
            for col in c0..c1 {
                sums[at(col + 1, row + 1)] = 1;
            }
        }
    }
    for row in 1..=rows {
        for col in 1..=cols {
            let here = sums[at(col, row)];
            sums[at(col, row)] =
                here + sums[at(col - 1, row)] + sums[at(col, row - 1)] - sums[at(col - 1, row - 1)];
        }
    }
    let (wide, high) = ((size.0 / GRID).ceil() as usize, (size.1 / GRID).ceil() as usize);
    let mut best: Option<(f64, Rect)> = None;
    for row in 0..rows.saturating_sub(high) {
        for col in 0..cols.saturating_sub(wide) {
            let (a, b, c, d) = (
                sums[at(col, row)],
                sums[at(col + wide, row)],
                sums[at(col, row + high)],
                sums[at(col + wide, row + high)],
            );
            if d + a != b + c {
                continue;
            }
            let (x, y) = (window.x + col as f64 * GRID, window.y + row as f64 * GRID);
            let rect = Rect { x, y, w: size.0, h: size.1 };
            let cost = apart(rect, anchor);
            if best.as_ref().is_none_or(|(least, _)| cost < *least - 1e-9) {
                best = Some((cost, rect));
            }
        }
    }
    best.map(|(_, rect)| rect)
}

/// How far two rectangles are apart; a note at the same height, where a line can lead to it, counts as nearer.
fn apart(a: Rect, b: Rect) -> f64 {
    let gap = |a0: f64, a1: f64, b0: f64, b1: f64| (b0 - a1).max(a0 - b1).max(0.0);
    let dx = gap(a.x, a.x + a.w, b.x, b.x + b.w);
    let dy = gap(a.y, a.y + a.h, b.y, b.y + b.h);
    let lean = ((a.y + a.h / 2.0) - (b.y + b.h / 2.0)).abs() * 0.02;
    dx + dy * 1.5 + lean
}

/// A line from the note to the ground of the step, if nothing stands in its way.
fn leader(note: Rect, ground: Rect, taken: &[Rect]) -> Option<(Point, Point)> {
    let (top, bottom) = (note.y.max(ground.y), (note.y + note.h).min(ground.y + ground.h));
    let (left, right) = (note.x.max(ground.x), (note.x + note.w).min(ground.x + ground.w));
    let (from, to) = if bottom - top > 12.0 {
        let y = f64::midpoint(top, bottom);
        if note.x + note.w < ground.x {
            (Point { x: note.x + note.w + 6.0, y }, Point { x: ground.x, y })
        } else {
            (Point { x: note.x - 8.0, y }, Point { x: ground.x + ground.w, y })
        }
    } else if right - left > 12.0 {
        let x = left + 12.0;
        if note.y + note.h < ground.y {
            (Point { x, y: note.y + note.h + 6.0 }, Point { x, y: ground.y })
        } else {
            (Point { x, y: note.y - 8.0 }, Point { x, y: ground.y + ground.h })
        }
    } else {
        return None;
    };
    let line = Rect {
        x: from.x.min(to.x),
        y: from.y.min(to.y),
        w: (from.x - to.x).abs().max(1.0),
        h: (from.y - to.y).abs().max(1.0),
    };
    // What is taken by the step's own ground is what the line leads to.
    let clear = taken.iter().all(|r| !r.overlaps(line) || r.overlaps(ground));
    clear.then_some((from, to))
}
