//! What must hold of every picture, tried on many graphs.

use std::collections::BTreeMap;
use std::fmt::Write;

use foldback::construct::Budget;
use foldback::report::{Report, analyse};

use super::{MOST, Picture, Point, Rect, draw};
use crate::model::layout::Orientation;
use crate::model::names::{Arrow, neighbour};
use crate::model::scene::LinkKind;
use crate::model::stage::{Phase, state};
use crate::model::svg::whole;

pub(in crate::model) const BOTH: [Orientation; 2] = [Orientation::Wide, Orientation::Tall];

pub(in crate::model) fn report(text: &str) -> Report {
    analyse(text, &Budget::default()).report
}

/// Xorshift: small, and the same everywhere.
pub(in crate::model) struct Dice(pub(in crate::model) u64);

impl Dice {
    pub(in crate::model) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// A text of `n` nodes, most of which read one of the last few.
pub(in crate::model) fn random(n: u64, seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let rules = ["numpy", "ggml", "upstream"][dice.below(3) as usize];
    let mut out = format!("rules {rules}\n");
    let n_leaves = 2 + dice.below(4);
    for i in 0..n_leaves {
        let kind = if i == 0 || dice.below(3) > 0 { "param" } else { "const" };
        // The first operand is the larger one more often than not: two rule sets stretch only the second.
        let shapes = ["[2 token, 3 expert]", "[2, 3]", "[2, 3]", "[2, 3]", "[2, 1]", "[1, 3]"];
        let shape = shapes[dice.below(shapes.len() as u64) as usize];
        let _ = writeln!(out, "{kind} n{i} {shape} = rand(seed={i}, lo=0.5, hi=2)");
    }
    for i in n_leaves..n {
        let a = format!("n{}", i - 1 - dice.below(i.min(4)));
        let b = format!("n{}", dice.below(i));
        let _ = match dice.below(9) {
            0 => writeln!(out, "n{i} = relu({a})"),
            1 => writeln!(out, "n{i} = {a} * {b}"),
            2 => writeln!(out, "n{i} = {a} - {b}"),
            3 => writeln!(out, "n{i} = exp({a} * 0.1)"),
            4 => writeln!(out, "n{i} = {a} / {b}"),
            5 => writeln!(out, "n{i} = clamp({a}, min=0.1)"),
            6 => writeln!(out, "n{i} = sum_rows({a})"),
            _ => writeln!(out, "n{i} = {a} + {b}"),
        };
    }
    let _ = writeln!(out, "loss = sum(n{} * n{})", n - 1, n / 2);
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

/// Everything that is wrong with a picture.
pub(in crate::model) fn faults(p: &Picture) -> Vec<String> {
    let mut out = Vec::new();
    for (i, a) in p.boxes.iter().enumerate() {
        let r = a.rect;
        if r.x < 8.0 || r.y < 8.0 || r.x + r.w > p.width - 8.0 || r.y + r.h > p.height - 8.0 {
            out.push(format!("{} is outside", a.name));
        }
        for b in &p.boxes[..i] {
            if a.rect.grown(4.0).overlaps(b.rect.grown(4.0)) {
                out.push(format!("box {} on {}", a.name, b.name));
            }
        }
    }
    let mut words: Vec<(usize, Rect, &str)> = Vec::new();
    for (at, e) in p.edges.iter().enumerate() {
        words.extend(e.chips.iter().map(|c| (at, c.rect, c.text.as_str())));
        words.extend(e.stretch.iter().map(|w| (at, w.rect, w.text.as_str())));
    }
    for (i, (_, a, text)) in words.iter().enumerate() {
        out.extend(
            words[..i]
                .iter()
                .filter(|(_, b, _)| a.overlaps(*b))
                .map(|(_, b, other)| format!("{text} {a:?} on {other} {b:?}")),
        );
        out.extend(
            p.boxes
                .iter()
                .filter(|b| b.rect.grown(3.9).overlaps(*a))
                .map(|b| format!("{text} {a:?} on box {}", b.name)),
        );
        if a.x < 0.0 || a.y < 0.0 || a.x + a.w > p.width || a.y + a.h > p.height {
            out.push(format!("{text} is outside"));
        }
    }
    for (at, e) in p.edges.iter().enumerate() {
        let name = format!("{} to {}", p.boxes[e.from].name, p.boxes[e.to].name);
        for (n, s) in segments(&e.points).enumerate() {
            let s = Rect { x: s.x - 0.5, y: s.y - 0.5, w: s.w + 1.0, h: s.h + 1.0 };
            for (i, b) in p.boxes.iter().enumerate() {
                // Its own boxes it touches with its ends alone.
                let own = i == e.from || i == e.to;
                let room = if own { b.rect.grown(-1.0) } else { b.rect };
                if s.overlaps(room) {
                    out.push(format!("edge {name}, piece {n}, through {}", b.name));
                }
            }
            for (other, w, text) in &words {
                if *other != at && s.overlaps(*w) {
                    out.push(format!(
                        "edge {name} through {text} of {}",
                        p.boxes[p.edges[*other].to].name
                    ));
                }
            }
        }
        let diagonal = e
            .points
            .windows(2)
            .any(|w| (w[0].x - w[1].x).abs() > 0.01 && (w[0].y - w[1].y).abs() > 0.01);
        if diagonal {
            out.push(format!("edge {name} is not upright: {:?}", e.points));
        }
        if e.points.len() < 2 {
            out.push(format!("edge {name} has no way"));
        }
    }
    out
}

/// Everything that is wrong with what a step adds.
fn step_faults(p: &Picture, report: &Report, tick: usize) -> Vec<String> {
    let mut out = Vec::new();
    let now = state(p, report, tick, None);
    let reads: Vec<Rect> = now.reads.iter().flat_map(|r| segments(&p.reads[*r].points)).collect();
    if let Some(note) = &now.note {
        let chips = p.edges.iter().flat_map(|e| e.chips.iter().map(|c| c.rect));
        let lines = p.edges.iter().flat_map(|e| segments(&e.points));
        let things =
            p.boxes.iter().map(|b| b.rect).chain(chips).chain(lines).chain(reads.iter().copied());
        let halos = now.halos.iter().map(|h| h.rect);
        if things.chain(halos).any(|r| r.grown(3.0).overlaps(note.rect)) {
            out.push(format!("the note at tick {tick} is in the way"));
        }
    }
    for r in &now.reads {
        let read = &p.reads[*r];
        for s in segments(&read.points) {
            for (i, b) in p.boxes.iter().enumerate() {
                let room = if i == read.from || i == read.to { b.rect.grown(-1.0) } else { b.rect };
                if room.overlaps(Rect { x: s.x - 0.5, y: s.y - 0.5, w: s.w + 1.0, h: s.h + 1.0 }) {
                    out.push(format!(
                        "a read of {} by {} through {}",
                        p.boxes[read.from].name, p.boxes[read.to].name, b.name
                    ));
                }
            }
        }
    }
    out
}

/// How often lines of different nets lie on each other.
pub(in crate::model) fn laid_on(p: &Picture) -> usize {
    let mut level: BTreeMap<i64, Vec<(f64, f64, usize)>> = BTreeMap::new();
    for e in &p.edges {
        for w in e.points.windows(2) {
            let upright = (w[0].x - w[1].x).abs() < 0.01;
            let (at, a, b) =
                if upright { (w[0].x, w[0].y, w[1].y) } else { (w[0].y, w[0].x, w[1].x) };
            let key = (at * 2.0).round() as i64 * 2 + i64::from(upright);
            level.entry(key).or_default().push((a.min(b), a.max(b), e.from));
        }
    }
    let mut count = 0;
    for lines in level.values() {
        for (i, (a0, a1, a)) in lines.iter().enumerate() {
            let on = |(b0, b1, b): &&(f64, f64, usize)| b != a && *b0 < a1 - 1.0 && a0 + 1.0 < *b1;
            count += lines[..i].iter().filter(on).count();
        }
    }
    count
}

#[test]
fn nothing_overlaps_on_a_thousand_graphs() {
    let (mut on, mut refused, mut gradients, mut notes) = (0, 0, 0, 0);
    for seed in 0..1000 {
        let text = random(5 + seed % 28, seed + 1);
        let report = report(&text);
        refused += usize::from(report.findings.iter().any(|f| f.stops));
        for orientation in BOTH {
            let picture = draw(&report, orientation);
            let faults = faults(&picture);
            assert!(
                faults.is_empty(),
                "seed {seed}, {orientation:?}:\n{}\n{text}",
                faults.join("\n")
            );
            let step = report.ticks.len() * (seed as usize % 7) / 6;
            let faults = step_faults(&picture, &report, step);
            assert!(
                faults.is_empty(),
                "seed {seed}, {orientation:?}:\n{}\n{text}",
                faults.join("\n")
            );
            notes += usize::from(state(&picture, &report, step, None).note.is_some());
            on += laid_on(&picture);
            gradients += picture.boxes.iter().filter(|b| !b.kind.is_forward()).count();
        }
    }
    assert!(refused > 50, "only {refused} of the graphs are refused");
    assert!(gradients > 10_000, "only {gradients} gradients are drawn");
    assert_eq!(on, 0, "lines lie on lines");
    println!("refused graphs: {refused}, gradients: {gradients}, notes: {notes} of 2000");
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    for seed in 0..20 {
        let report = report(&random(30, seed + 1));
        for orientation in BOTH {
            let draw = || {
                let picture = draw(&report, orientation);
                let state = state(&picture, &report, report.ticks.len() / 2, Some(0));
                whole(&picture, &state, "twice", &[])
            };
            assert_eq!(draw(), draw());
        }
    }
}

#[test]
fn a_long_chain_and_a_large_graph_are_drawn() {
    let mut chain = "param a0 [2] = [1, 2]\n".to_owned();
    for i in 1..=100 {
        let _ = writeln!(chain, "a{i} = a{} + a{}", i - 1, i - 1);
    }
    chain.push_str("loss = sum(a100)\n");
    for text in [chain, random(300, 3)] {
        let report = report(&text);
        for orientation in BOTH {
            let faults = faults(&draw(&report, orientation));
            assert!(faults.is_empty(), "{orientation:?}:\n{}", faults.join("\n"));
        }
    }
    let large = report(&random(1400, 5));
    assert!(large.n_forward >= 1400 && large.n_forward < MOST);
    let picture = draw(&large, Orientation::Wide);
    assert!(picture.boxes.len() >= 1400 && picture.width > 1000.0);
    // What nobody could look at is not laid out.
    assert!(draw(&report(&random(2000, 5)), Orientation::Wide).boxes.is_empty());
}

#[test]
fn odd_graphs_are_drawn() {
    let wide = (0..12).fold("rules numpy\nparam x [2] = [1, 2]\n".to_owned(), |mut out, i| {
        let _ = writeln!(out, "y{i} = x * {i}");
        out
    }) + "loss = sum(y0 + y1 + y2 + y3 + y4 + y5 + y6 + y7 + y8 + y9 + y10 + y11)\n";
    for text in [
        "",
        "param x = 3\n",
        "param x = 3\nloss = x * x\n",
        "param x = 3\nparam y = 4\nloss = x + y\n",
        "param x = 3\nparam y = 4\na = x * y\nb = x - y\nloss = a * b\n",
        "param x [2] = [1, 2]\nparam unused [3] = [1, 2, 3]\ny = exp(unused)\nloss = sum(x)\n",
        "param x [2,3] = rand(seed=1)\nbackward x\n",
        "rules upstream\nparam x [1, 2] = [[1, 2]]\nloss = sum(ceil(x))\n",
        "rules numpy\nparam x [2, 2, 3] = rand(seed=1)\nparam b [128] = rand(seed=2)\nz = sum(x) * b\nloss = sum(z)\n",
        wide.as_str(),
    ] {
        let report = report(text);
        for orientation in BOTH {
            let picture = draw(&report, orientation);
            let faults = faults(&picture);
            assert!(faults.is_empty(), "{orientation:?}:\n{}\n{text}", faults.join("\n"));
            for tick in 0..=report.ticks.len() {
                let state = state(&picture, &report, tick, None);
                assert_eq!(state.boxes.len(), picture.boxes.len());
            }
        }
    }
}

const ROUTER: &str = "rules RULES
param w [2 token, 3 expert] = [[0.2, 0.3, 0.5], [1e-5, 2e-5, 1e-5]]
s = sum_rows(w)
c = clamp(s, min=6.103515625e-5)
y = w / c
const g [2 token, 3 expert] = [[1, 0, 0], [1, 0, 0]]
loss = sum(y * g)
";

fn at(picture: &Picture, name: &str) -> usize {
    picture.boxes.iter().position(|b| b.name == name).unwrap_or_else(|| panic!("no box {name}"))
}

#[test]
fn the_router_is_refused_where_it_should_be() {
    let report = report(&ROUTER.replace("RULES", "upstream"));
    let picture = draw(&report, Orientation::Wide);
    let end = state(&picture, &report, report.ticks.len(), None);
    let phase = |name: &str| end.boxes[at(&picture, name)].phase;
    assert_eq!(phase("y"), Phase::Refused);
    assert_eq!(picture.boxes[at(&picture, "y")].badge, "gradient-shape");
    assert_eq!(phase("dc"), Phase::Refused);
    assert_eq!(phase("ds"), Phase::NotReached);
    assert_eq!(phase("dw₂"), Phase::NotReached);
    let refused =
        picture.edges.iter().find(|e| e.kind == LinkKind::Refused).expect("a refused edge");
    assert_eq!(refused.chips.len(), 2);
    assert_eq!(refused.chips[0].text, "[2,3]");
    assert_eq!(refused.chips[1].clash, [1]);
    // Before the refusal nothing says so.
    let before = state(&picture, &report, report.ticks.len() - 1, None);
    assert!(before.boxes.iter().all(|b| !matches!(b.phase, Phase::Refused | Phase::NotReached)));
}

#[test]
fn the_router_folds_and_adds_up() {
    for rules in ["numpy", "ggml"] {
        let report = report(&ROUTER.replace("RULES", rules));
        let picture = draw(&report, Orientation::Wide);
        let fold = picture.edges.iter().find(|e| e.kind == LinkKind::Fold).expect("a fold");
        assert_eq!(fold.fan.as_ref().map(|f| f.strands.len()), Some(3));
        assert_eq!(picture.boxes[fold.to].name, "dc");
        let end = state(&picture, &report, report.ticks.len(), None);
        assert!(end.boxes.iter().all(|b| b.phase == Phase::Built), "{rules}");
        let dw = at(&picture, "dw");
        assert_eq!(picture.boxes[dw].inputs.len(), 2);
        // A gradient stands under the node whose rule made it.
        let (y, dc) = (picture.boxes[at(&picture, "y")].rect, picture.boxes[fold.to].rect);
        assert!((y.x + y.w / 2.0 - dc.x - dc.w / 2.0).abs() < 1.0 && dc.y > y.y);
    }
}

#[test]
fn arrows_lead_along_edges() {
    let report = report(&ROUTER.replace("RULES", "numpy"));
    let picture = draw(&report, Orientation::Wide);
    let go = |from: &str, arrow| {
        neighbour(&picture, at(&picture, from), arrow).map(|b| picture.boxes[b].name.clone())
    };
    assert_eq!(go("y", Arrow::Left).as_deref(), Some("c"));
    assert_eq!(go("s", Arrow::Right).as_deref(), Some("c"));
    assert_eq!(go("loss", Arrow::Right).as_deref(), Some("dloss"));
    assert_eq!(go("y", Arrow::Down).as_deref(), Some("dc′"));
    let spoken = &picture.boxes[at(&picture, "y")].spoken;
    assert_eq!(spoken, "div y, shape 2 by 3, inputs w and c");
}

#[test]
fn text_is_escaped() {
    use crate::model::svg::escape;
    assert_eq!(escape("<a & \"b\">'\u{1}"), "&lt;a &amp; &quot;b&quot;&gt;&#39; ");
}
