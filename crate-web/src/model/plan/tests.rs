use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Way, calls, draw, moved, pins};
use crate::model::layout::Orientation;
use crate::model::picture::tests::{BOTH, Dice, faults, laid_on, random, report};
use crate::model::picture::{self, PicBox, Picture};

const NESTED: &str = "rules numpy
fn router(w, e=1e-5) { s = sum_rows(w); const k = 0.5; c = clamp(s, min=e); return w / c * k }
fn two(a) { q = router(a * 2); return exp(a) + q }
param w [2,3] = rand(seed=1)
r = router(w)
z = two(r + 1)
loss = sum(z * r)
";

fn find<'a>(picture: &'a Picture, name: &str) -> Option<&'a PicBox> {
    picture.boxes.iter().find(|b| b.kind.is_forward() && b.name == name)
}

fn middle(of: &PicBox) -> (f64, f64) {
    (of.rect.x + of.rect.w / 2.0, of.rect.y + of.rect.h / 2.0)
}

#[test]
fn calls_are_found_inside_calls_and_arguments_are_not_theirs() {
    let report = report(NESTED);
    let found = calls(&report, NESTED);
    let names = |nodes: &[u32]| -> Vec<&str> {
        nodes.iter().map(|ix| report.nodes[*ix as usize].name.as_str()).collect()
    };
    let told: Vec<_> =
        found.iter().map(|c| (c.name.as_str(), c.function.as_str(), names(&c.nodes))).collect();
    assert_eq!(
        told,
        [
            ("r", "router", vec!["r.s", "r.k", "r.c", "r.1", "r"]),
            ("z", "two", vec!["z.q.1", "z.q.s", "z.q.k", "z.q.c", "z.q.2", "z.q", "z.2", "z"]),
            ("z.q", "router", vec!["z.q.s", "z.q.k", "z.q.c", "z.q.2", "z.q"]),
        ]
    );
}

#[test]
fn a_closed_call_is_one_box_with_its_inputs_and_its_gradients_are_another() {
    let report = report(NESTED);
    for (closed, inputs) in [("r", vec!["w"]), ("z", vec!["z.1"]), ("z z.q r", vec!["z.1"])] {
        let picture = draw(&report, NESTED, Orientation::Wide, closed);
        let name = closed.split(' ').next().unwrap_or_default();
        let of = find(&picture, name).expect("the closed box");
        let called: Vec<&str> =
            of.inputs.iter().map(|ix| picture.boxes[*ix].name.as_str()).collect();
        assert_eq!((of.closed, called), (true, inputs), "{closed}");
        assert!(
            of.spoken.starts_with("closed fn ") && of.spoken.contains(" nodes"),
            "{}",
            of.spoken
        );
        let inside = |b: &&PicBox| b.kind.is_forward() && b.name.starts_with(&format!("{name}."));
        assert_eq!(picture.boxes.iter().filter(inside).filter(|b| b.name != "z.1").count(), 0);
        let own = picture.box_of[report.nodes.iter().position(|n| n.name == name).unwrap()];
        let back = picture.boxes.iter().filter(|b| {
            !b.kind.is_forward() && b.of.is_some_and(|of| picture.box_of[of as usize] == own)
        });
        assert_eq!(back.count(), 1, "{closed}");
    }
    let open = draw(&report, NESTED, Orientation::Wide, "");
    assert_eq!(find(&open, "z.q.s").map(|b| b.call.as_str()), Some("z.q"));
    assert_eq!(find(&open, "z.2").map(|b| b.call.as_str()), Some("z"));
    assert_eq!(find(&open, "w").map(|b| b.call.as_str()), Some(""));
}

#[test]
fn a_refusal_inside_of_a_closed_call_is_told_at_its_box() {
    let text = NESTED.replace("numpy", "upstream");
    let report = report(&text);
    let stop = report.findings.iter().find(|f| f.stops).expect("upstream refuses it");
    let name = report.nodes[stop.node.expect("at a node") as usize].name.clone();
    let call = name.split('.').next().unwrap_or_default();
    let picture = draw(&report, &text, Orientation::Wide, call);
    let of = find(&picture, call).expect("the closed box");
    assert_eq!(of.badge, stop.code);
}

/// A text with functions, some of whose calls are inside others.
fn with_calls(seed: u64) -> (String, String) {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut out = "rules numpy\nfn f(a, b) { s = a * b; t = exp(s * 0.1); return t + a }\nfn g(a) { q = f(a, a); r = relu(q); return r - a }\n".to_owned();
    let _ = writeln!(out, "param n0 [2, 3] = rand(seed=1)\nparam n1 [2, 3] = rand(seed=2)");
    let mut closed = String::new();
    let n = 4 + dice.below(10);
    for i in 2..n {
        let (a, b) = (dice.below(i), dice.below(i));
        let _ = match dice.below(4) {
            0 => writeln!(out, "n{i} = f(n{a}, n{b})"),
            1 => writeln!(out, "n{i} = g(n{a})"),
            2 => writeln!(out, "n{i} = n{a} * n{b}"),
            _ => writeln!(out, "n{i} = exp(n{a} * 0.1)"),
        };
        if dice.below(2) == 0 {
            let _ = write!(closed, "n{i} ");
        }
    }
    let _ = writeln!(out, "loss = sum(n{} * n{})", n - 1, n / 2);
    (out, closed)
}

#[test]
fn nothing_overlaps_where_calls_are_closed() {
    let mut n_closed = 0;
    for seed in 0..300 {
        let (text, closed) = with_calls(seed + 1);
        let report = report(&text);
        assert!(report.whole, "{text}");
        for orientation in BOTH {
            let picture = draw(&report, &text, orientation, &closed);
            n_closed += picture.boxes.iter().filter(|b| b.closed).count();
            let faults = faults(&picture);
            assert!(
                faults.is_empty(),
                "seed {seed}, {orientation:?}, closed {closed}:\n{}\n{text}",
                faults.join("\n")
            );
            assert_eq!(laid_on(&picture), 0, "seed {seed}");
        }
    }
    assert!(n_closed > 500, "only {n_closed}");
}

#[test]
fn a_text_without_pins_and_closed_calls_is_drawn_as_its_report() {
    for seed in 0..40 {
        let (text, _) = with_calls(seed + 1);
        let report = report(&text);
        let mut planned = draw(&report, &text, Orientation::Wide, "");
        for b in &mut planned.boxes {
            b.call.clear();
        }
        assert_eq!(planned, picture::draw(&report, Orientation::Wide));
    }
}

#[test]
fn nothing_overlaps_where_boxes_are_pinned_anywhere() {
    let (mut exact, mut all) = (0, 0);
    for seed in 0..1000 {
        let mut dice = Dice(seed * 77 + 5);
        let n = 5 + seed % 28;
        let mut text = random(n, seed + 1);
        for _ in 0..=dice.below(4) {
            let (node, column, y) = (dice.below(n), dice.below(14), dice.below(900));
            let _ = writeln!(text, "layout n{node} {column} -{y}");
        }
        let report = report(&text);
        let picture = draw(&report, &text, Orientation::Wide, "");
        let faults = faults(&picture);
        assert!(faults.is_empty(), "seed {seed}:\n{}\n{text}", faults.join("\n"));
        assert_eq!(laid_on(&picture), 0, "seed {seed}:\n{text}");
        for (name, pin) in pins(&text) {
            let Some((_, y)) = moved(&report, &text, "", &name, Way::Columns(0.0, 0.0)) else {
                continue;
            };
            all += 1;
            exact += usize::from((y - pin.y).abs() < 1.0);
        }
    }
    println!("{exact} of {all} boxes stand where they are pinned");
    assert!(exact * 10 > all * 5, "only {exact} of {all} boxes stand where they are pinned");
}

#[test]
fn odd_pins_are_drawn() {
    for pin in [
        "layout y 1e30 1e30",
        "layout y -5 -1e300",
        "layout w 99999 -5",
        "layout loss 0 0",
        "layout y 0.4 -0.0",
        "layout w 3 -40\nlayout y 3 -40\nlayout loss 3 -40",
    ] {
        let text = format!("rules numpy\nparam w [2] = [1, 2]\ny = exp(w)\nloss = sum(y)\n{pin}\n");
        let report = report(&text);
        let picture = draw(&report, &text, Orientation::Wide, "");
        assert!(faults(&picture).is_empty(), "{pin}: {:?}", faults(&picture));
        assert!(
            picture.width < 5000.0 && picture.height < 5000.0,
            "{pin}: {} {}",
            picture.width,
            picture.height
        );
        // The narrow picture runs another way and has no pins.
        assert_eq!(
            draw(&report, &text, Orientation::Tall, ""),
            picture::draw(&report, Orientation::Tall)
        );
    }
}

#[test]
fn a_box_that_is_moved_stands_there_and_the_others_stay() {
    let text = "rules numpy\nparam w [2, 3] = rand(seed=1)\nparam v [2, 3] = rand(seed=2)\na = exp(w)\nb = relu(v)\ny = a * b\nloss = sum(y)\n";
    let report = report(text);
    let before = draw(&report, text, Orientation::Wide, "");
    let (column, y) = moved(&report, text, "", "a", Way::Pixels(4.0, -60.0)).expect("a has a box");
    let text = format!("{text}layout a {column} {y}\n");
    let after = draw(&report, &text, Orientation::Wide, "");
    let (at, was) = (middle(find(&after, "a").unwrap()), middle(find(&before, "a").unwrap()));
    // Others are seen from b, because the picture may have grown at the top.
    let (b, b_was) = (middle(find(&after, "b").unwrap()), middle(find(&before, "b").unwrap()));
    assert!(
        ((at.1 - b.1) - (was.1 - b_was.1) + 60.0).abs() < 2.0,
        "{at:?} {was:?} {b:?} {b_was:?}"
    );
    assert!((at.0 - was.0).abs() < 40.0, "it stays in its column");
    assert!(
        find(&after, "a").unwrap().pinned
            && find(&after, "a").unwrap().spoken.ends_with(", pinned")
    );
    // A column to the right, and what reads it makes room.
    let (column, y) = moved(&report, &text, "", "a", Way::Columns(1.0, 0.0)).expect("a has a box");
    let text = text.replace("layout a", "# layout a") + &format!("layout a {column} {y}\n");
    let far = draw(&report, &text, Orientation::Wide, "");
    assert!(middle(find(&far, "a").unwrap()).0 > middle(find(&far, "b").unwrap()).0 + 60.0);
    assert!(middle(find(&far, "y").unwrap()).0 > middle(find(&far, "a").unwrap()).0 + 60.0);
}

/// How many boxes that both pictures have stand elsewhere, once the pictures are laid on each other.
fn n_moved(a: &Picture, b: &Picture) -> (usize, usize) {
    let place = |p: &Picture| -> BTreeMap<String, (f64, f64)> {
        p.boxes
            .iter()
            .filter(|b| b.kind.is_forward())
            .map(|b| (b.name.clone(), middle(b)))
            .collect()
    };
    let (a, b) = (place(a), place(b));
    let mut ways: Vec<(f64, f64)> = Vec::new();
    for (name, (x, y)) in &a {
        if let Some((x2, y2)) = b.get(name) {
            ways.push((x2 - x, y2 - y));
        }
    }
    let usual = |of: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = ways.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(0.0)
    };
    let (x, y) = (usual(|w| w.0), usual(|w| w.1));
    let moved = ways.iter().filter(|w| (w.0 - x).abs() > 8.0 || (w.1 - y).abs() > 8.0).count();
    (moved, ways.len())
}

#[test]
fn a_small_edit_moves_few_boxes() {
    for (what, most) in
        [("another number", 0), ("another op", 20), ("a node at the end", 40), ("a line less", 45)]
    {
        let (mut moved, mut all) = (0, 0);
        for seed in 0..200 {
            let n = 8 + seed % 28;
            let text = random(n, seed + 1);
            let mut dice = Dice(seed * 31 + 7);
            let other = match what {
                "another number" => text.replace("seed=1", "seed=9"),
                "another op" => text.replacen("relu", "tanh", 1),
                "a node at the end" => format!("{text}new = exp(n{})\n", dice.below(n)),
                _ => {
                    // One that nothing else reads.
                    let unread = (0..n).rev().find(|i| text.matches(&format!("n{i}")).count() == 1);
                    let Some(unread) = unread else { continue };
                    text.lines()
                        .filter(|l| !l.starts_with(&format!("n{unread} =")))
                        .fold(String::new(), |all, l| all + l + "\n")
                }
            };
            let (a, b) = (report(&text), report(&other));
            let (m, n) = n_moved(
                &picture::draw(&a, Orientation::Wide),
                &picture::draw(&b, Orientation::Wide),
            );
            moved += m;
            all += n;
        }
        let share = 100.0 * moved as f64 / all.max(1) as f64;
        println!("{what}: {share:.1} % of {all} boxes move");
        assert!(share <= f64::from(most), "{what}: {share:.1} % of the boxes move");
    }
}
