//! What lies where on the canvas, asked for one way at a time: a coarse grid, so that a question costs what is near.

use crate::model::picture::{PicEdge, Picture, Point, Rect};

/// The side of the grid's squares.
const SIDE: f64 = 240.0;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Solid,
    Upright,
    Level,
}

/// Boxes, words and lines of a picture.
pub(super) struct Things {
    n_cols: usize,
    n_rows: usize,
    squares: Vec<Vec<(Rect, Kind)>>,
}

impl Things {
    pub(super) fn new(picture: &Picture) -> Self {
        let n_cols = (picture.width / SIDE) as usize + 1;
        let n_rows = (picture.height / SIDE) as usize + 1;
        let mut out = Self { n_cols, n_rows, squares: vec![Vec::new(); n_cols * n_rows] };
        for b in &picture.boxes {
            out.add(b.rect, Kind::Solid);
        }
        for e in &picture.edges {
            out.edge(e);
        }
        out
    }

    fn edge(&mut self, e: &PicEdge) {
        for chip in &e.chips {
            self.add(chip.rect, Kind::Solid);
        }
        if let Some(word) = &e.stretch {
            self.add(word.rect, Kind::Solid);
        }
        if let Some(fan) = &e.fan {
            self.add(fan.rect, Kind::Solid);
        }
        for w in e.points.windows(2) {
            let upright = (w[0].x - w[1].x).abs() < 0.01;
            self.add(around(w[0], w[1], 0.25), if upright { Kind::Upright } else { Kind::Level });
        }
    }

    fn add(&mut self, rect: Rect, kind: Kind) {
        for at in self.near(rect) {
            self.squares[at].push((rect, kind));
        }
    }

    fn near(&self, r: Rect) -> Vec<usize> {
        let square = |x: f64, n: usize| ((x / SIDE).max(0.0) as usize).min(n - 1);
        let (c0, c1) = (square(r.x, self.n_cols), square(r.x + r.w, self.n_cols));
        let (r0, r1) = (square(r.y, self.n_rows), square(r.y + r.h, self.n_rows));
        (r0..=r1)
            .flat_map(|row| (c0..=c1).map(move |col| (row, col)))
            .map(|(row, col)| row * self.n_cols + col)
            .collect()
    }

    /// Whether nothing but lines that cross lies on a straight way; its ends may touch.
    pub(super) fn clear(&self, a: Point, b: Point) -> bool {
        let upright = (a.x - b.x).abs() < 0.01;
        let kind = if upright { Kind::Upright } else { Kind::Level };
        let (x, y) = if upright { (3.0, -0.5) } else { (-0.5, 3.0) };
        let r = around(a, b, 0.0);
        let way = Rect { x: r.x - x, y: r.y - y, w: r.w + 2.0 * x, h: r.h + 2.0 * y };
        self.near(way).into_iter().all(|at| {
            let in_the_way =
                |(rect, k): &(Rect, Kind)| (*k == Kind::Solid || *k == kind) && rect.overlaps(way);
            !self.squares[at].iter().any(in_the_way)
        })
    }
}

fn around(a: Point, b: Point, by: f64) -> Rect {
    Rect { x: a.x.min(b.x), y: a.y.min(b.y), w: (a.x - b.x).abs(), h: (a.y - b.y).abs() }.grown(by)
}
