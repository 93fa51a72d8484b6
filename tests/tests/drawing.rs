//! Gestures on documents as people leave them: each gives the drawing that a second opinion gives, keeps every comment
//! and the bytes of every line that it does not concern, and is undone to the byte.

#![expect(clippy::print_stderr, reason = "the document that failed is the finding")]
#![expect(clippy::expect_used, reason = "edits that do not fit the text are the finding")]

use std::collections::{BTreeMap, BTreeSet};

use foldback::lang::ast::LineKind;
use foldback::lang::edit;
use foldback::lang::lex::lex;
use foldback::lang::patch::{
    Gesture, NewNode, complete, copy, fits, hover, inverse, palette, patch, sketch, sources,
    targets,
};
use foldback::lang::{Severity, parse};
use foldback::ops::OpKind;
use foldback::ops::def::{Default as Missing, ParamKind};
use foldback::report::analyse;
use foldback::rules::RuleSet;
use foldback_tests::drawing::{Drawing, In, No};
use foldback_tests::generate::{SMALL, lived_in, noisy, text};
use foldback_tests::rng::Rng;

/// So many seeds; `FOLDBACK_FUZZ=20` takes twenty times as many.
fn seeds(n: u64) -> std::ops::Range<u64> {
    let times = std::env::var("FOLDBACK_FUZZ").ok().and_then(|x| x.parse().ok()).unwrap_or(1);
    0..n * times
}

/// Prints what was at work when a test fails.
struct Shows<'a>(&'a str, String, u64);

impl Drop for Shows<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}, {}, document:\n{}\n{:?}", self.2, self.1, self.0, self.0);
        }
    }
}

/// An op that a text can apply, with few inputs.
fn any_op(rng: &mut Rng) -> &'static str {
    loop {
        let def = rng.pick(OpKind::ALL).def();
        let index = def.params.iter().any(|p| p.kind == ParamKind::Index);
        let node =
            def.params.iter().any(|p| p.kind == ParamKind::Node && p.default == Missing::Required);
        if !index && !node && def.arity.min <= 2 && def.arity.max > 0 {
            return def.name;
        }
    }
}

/// A gesture, and what the second opinion makes of it.
fn gesture(rng: &mut Rng, drawing: &Drawing, n: usize) -> (Gesture, Result<Drawing, No>) {
    let nodes = drawing.nodes();
    let all: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    let lines: Vec<&str> = drawing.lines.keys().map(String::as_str).collect();
    let with_slots: Vec<(&str, usize)> = nodes
        .iter()
        .filter(|node| !node.inputs.is_empty())
        .map(|node| (node.name.as_str(), node.inputs.len()))
        .collect();
    let mut then = drawing.clone();
    let (to, n_slots) = if with_slots.is_empty() { ("", 1) } else { rng.pick(&with_slots) };
    let (to, slot) = (to.to_owned(), rng.below(n_slots));
    let from = rng.pick(&all).to_owned();
    match rng.below(14) {
        0 => {
            let op = any_op(rng);
            let min = OpKind::ALL
                .iter()
                .find(|kind| kind.def().name == op)
                .map_or(1, |kind| kind.def().arity.min);
            let sources: Vec<Option<String>> =
                (0..min).map(|_| rng.chance(70).then(|| rng.pick(&all).to_owned())).collect();
            let name = format!("fresh{n}");
            then.insert(&name, op, &sources);
            let what = NewNode::Op(op.to_owned());
            let near = rng.chance(30).then(|| rng.pick(&lines).to_owned());
            (Gesture::Insert { what, name: Some(name), near, sources }, Ok(then))
        }
        1..=3 if !to.is_empty() => {
            let made = then.connect(&from, &to, slot).map(|()| then);
            (Gesture::Connect { from, to, slot }, made)
        }
        4 if !to.is_empty() => {
            let made = then.disconnect(&to, slot).map(|_| then);
            (Gesture::Disconnect { to, slot }, made)
        }
        5 => {
            let op = any_op(rng);
            then.append(&from, op);
            (Gesture::Append { after: from, op: op.to_owned() }, Ok(then))
        }
        6 if !to.is_empty() => {
            let op = any_op(rng);
            let made = then.prepend("$1", &to, slot, op).map(|()| then);
            (Gesture::Prepend { before: to, slot, op: op.to_owned() }, made)
        }
        7 | 8 => {
            let gone: BTreeSet<String> =
                (0..=rng.below(2)).map(|_| rng.pick(&all).to_owned()).collect();
            let through = rng.chance(50);
            then.delete(&gone, through);
            (Gesture::Delete { nodes: gone.into_iter().collect(), through }, Ok(then))
        }
        9 => {
            let to = format!("renamed{n}");
            then.rename(&from, &to);
            (Gesture::Rename { node: from, to }, Ok(then))
        }
        10 => {
            then.pin(&from, Some(("7".to_owned(), "-8.5".to_owned())));
            (Gesture::Pin { node: from, x: 7.0, y: -8.5 }, Ok(then))
        }
        12 => {
            let nodes: BTreeSet<String> = (0..2).map(|_| rng.pick(&lines).to_owned()).collect();
            then.duplicate(&nodes);
            (Gesture::Duplicate { nodes: nodes.into_iter().collect() }, Ok(then))
        }
        13 if !to.is_empty() => {
            let reads = drawing.find(&to).and_then(|node| node.inputs.get(slot).cloned());
            let (other, n_slots) = rng.pick(&with_slots);
            let (other, other_slot) = (other.to_owned(), rng.below(n_slots));
            let is_node = matches!(reads, Some(In::Part(_) | In::Line(_)));
            let made = if is_node {
                then.rewire(&to, slot, &other, other_slot).map(|()| then)
            } else {
                Err(No::Slot)
            };
            let gesture =
                Gesture::Rewire { from_node: to, from_slot: slot, to: other, slot: other_slot };
            (gesture, made)
        }
        _ => {
            then.pin(&from, None);
            (Gesture::Unpin { nodes: vec![from] }, Ok(then))
        }
    }
}

/// The comments of a text, with how often each stands there.
fn comments(text: &str) -> BTreeMap<String, usize> {
    let mut out = BTreeMap::new();
    for comment in lex(text).comments {
        *out.entry(comment.text).or_default() += 1;
    }
    out
}

/// The text of each line's statement with the comment behind it.
fn statements(text: &str) -> BTreeMap<String, String> {
    let ast = parse(text).ast;
    let mut out = BTreeMap::new();
    for line in &ast.lines {
        let LineKind::Statement(statement) = &line.kind else { continue };
        if let Some(name) = statement.kind.defines() {
            let behind = line.trailing.as_ref().map_or("", |comment| comment.text.as_str());
            let own = statement.span.of(text);
            out.entry(name.text.clone()).or_insert(format!("{own} {behind}"));
        }
    }
    out
}

/// What holds of every gesture that is accepted.
fn made(text: &str, gesture: &Gesture) -> Option<String> {
    let patch = patch(text, gesture).ok()?;
    let after = edit::apply(text, &patch.edits).expect("edits that fit the text");
    let errors = |text: &str| {
        let all = parse(text).diagnostics;
        all.iter().filter(|d| d.severity == Severity::Error).count()
    };
    assert!(errors(&after) <= errors(text), "it reads worse:\n{after}");
    assert!(after.is_char_boundary(patch.caret as usize));
    let back = edit::apply(&after, &inverse(text, &patch.edits)).expect("edits that undo");
    assert_eq!(back, text, "undo");
    for name in &patch.select {
        let is_known = sketch(&after).iter().any(|node| node.name == *name) || name.contains('.');
        assert!(is_known, "selects {name}, which is not in\n{after}");
    }
    Some(after)
}

#[test]
fn a_gesture_gives_what_a_second_opinion_gives() {
    let mut accepted = BTreeMap::<String, usize>::new();
    for seed in seeds(240) {
        let mut rng = Rng::new(seed);
        let rules = rng.pick(RuleSet::ALL);
        let mut document = lived_in(&mut rng, rules);
        for n in 0..6 {
            let before = Drawing::read(&document);
            if before.lines.is_empty() {
                break;
            }
            let (gesture, expected) = gesture(&mut rng, &before, n);
            let shows = Shows(&document, format!("{gesture:?}"), seed);
            let after = made(&document, &gesture);
            let refused = || patch(&document, &gesture).map(|_| ()).unwrap_err();
            match (&after, &expected) {
                (Some(after), Ok(expected)) => {
                    let got = Drawing::read(after);
                    let wrong = expected.differences(&got);
                    assert!(expected.is_like(&got), "got\n{after}\n{wrong}");
                    unconcerned(&document, after, &before, &got, &gesture);
                }
                (None, Ok(_)) => panic!("refused: {}", refused()),
                (Some(after), Err(no)) => panic!("accepted in spite of {no:?}:\n{after}"),
                (None, Err(no)) => {
                    let refused = refused();
                    assert_eq!(refused.code == "cycle", *no == No::Cycle, "{refused}");
                }
            }
            if let Some(after) = after {
                let name = format!("{gesture:?}");
                let name = name.split([' ', '{']).next().unwrap_or("").to_owned();
                *accepted.entry(name).or_default() += 1;
                drop(shows);
                document = after;
            }
        }
    }
    // A test that accepts nothing shows nothing.
    for name in [
        "Insert",
        "Connect",
        "Disconnect",
        "Append",
        "Prepend",
        "Delete",
        "Rename",
        "Pin",
        "Duplicate",
    ] {
        assert!(accepted.get(name).is_some_and(|n| *n > 20), "{name} in {accepted:?}");
    }
}

/// Comments stay but for those that go with a deleted line; lines that mean the same have the same bytes.
fn unconcerned(before: &str, after: &str, old: &Drawing, new: &Drawing, gesture: &Gesture) {
    let (old_lines, new_lines) = (statements(before), statements(after));
    let same = old.lines.iter().filter(|(name, tree)| new.lines.get(*name) == Some(tree));
    for (name, _) in same {
        assert_eq!(old_lines.get(name), new_lines.get(name), "the line of {name} in\n{after}");
    }
    let ast = parse(before).ast;
    let mut may_go: BTreeMap<String, usize> = BTreeMap::new();
    if matches!(gesture, Gesture::Delete { .. } | Gesture::Unpin { .. }) {
        for line in &ast.lines {
            // Comments inside an expression go with its parts.
            let name = line.statement().and_then(|s| s.kind.defines());
            let is_same = name.is_some_and(|n| old.lines.get(&n.text) == new.lines.get(&n.text));
            for comment in line.inner.iter().filter(|_| !is_same) {
                *may_go.entry(comment.text.clone()).or_default() += 1;
            }
            if let (Some(_), Some(comment)) = (line.statement(), &line.trailing) {
                let name = line.statement().and_then(|s| s.kind.defines()).map(|n| n.text.clone());
                let stays = name.is_some_and(|name| new.lines.contains_key(&name));
                *may_go.entry(comment.text.clone()).or_default() += usize::from(!stays);
            }
        }
    }
    let now = comments(after);
    for (comment, n) in comments(before) {
        let left = now.get(&comment).copied().unwrap_or(0);
        let may_go = may_go.get(&comment).copied().unwrap_or(0);
        assert!(left + may_go >= n, "{comment} is gone from\n{after}");
    }
}

/// The gradients of all leaves and the values of all lines, to the bit.
fn bits(text: &str) -> BTreeMap<String, Vec<u64>> {
    let analysis = analyse(text, &SMALL);
    let report = &analysis.report;
    let mut out = BTreeMap::new();
    let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
    for (ix, node) in report.nodes.iter().take(report.n_forward as usize).enumerate() {
        if node.name.contains('.') || !node.name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        out.insert(node.name.clone(), bits(&node.values));
        let grad = report.grads.get(ix).copied().flatten();
        if let Some(grad) = grad.and_then(|grad| report.nodes.get(grad as usize)) {
            out.insert(format!("d{}", node.name), bits(&grad.values));
        }
    }
    out
}

#[test]
fn a_list_of_candidates_says_what_each_connection_says() {
    let (mut fit, mut not) = (0, 0);
    for seed in seeds(60) {
        let mut rng = Rng::new(seed);
        // Under upstream it also counts what is a view.
        let rules = rng.pick(&[RuleSet::Ggml, RuleSet::Numpy]);
        let document = lived_in(&mut rng, rules);
        let names: Vec<String> = sketch(&document).into_iter().map(|node| node.name).collect();
        let from = names.get(rng.below(names.len())).cloned().unwrap_or_default();
        let _shows = Shows(&document, from.clone(), seed);
        let list = targets(&document, &from);
        for _ in 0..5 {
            let Some(target) = list.get(rng.below(list.len())) else { break };
            let exact = fits(&document, &from, &target.node, target.slot);
            assert_eq!(target.fit.is_ok(), exact.is_ok(), "{target:?}\n{exact:?}");
            match (&target.fit, exact) {
                (Ok(listed), Ok(exact)) => {
                    assert_eq!(listed.shape, exact.shape, "{target:?}");
                    assert_eq!(listed.stretches, exact.stretches, "{target:?}");
                    fit += 1;
                }
                (Err(listed), Err(exact)) => {
                    assert_eq!(listed.code, exact.code, "{target:?}\n{exact:?}");
                    not += 1;
                }
                _ => {}
            }
        }
    }
    assert!(fit > 30 && not > 30, "{fit} fit, {not} do not");
}

#[test]
fn groups_keep_values_and_gradients_to_the_bit() {
    let (mut grouped, mut inlined) = (0, 0);
    for seed in seeds(160) {
        let mut rng = Rng::new(seed);
        let rules = rng.pick(RuleSet::ALL);
        let document = lived_in(&mut rng, rules);
        let drawing = Drawing::read(&document);
        let lines: Vec<&str> = drawing.lines.keys().map(String::as_str).collect();
        // A line and some of those that it reads make a group more often than lines by chance.
        let mut nodes = vec![rng.pick(&lines).to_owned()];
        for _ in 0..rng.below(4) {
            let last = nodes.last().and_then(|name| drawing.lines.get(name));
            let reads = last.map(|tree| tree.inputs.clone()).unwrap_or_default();
            let next = reads.iter().find_map(|input| match input {
                In::Line(name) => Some(name.clone()),
                _ => None,
            });
            nodes.extend(next.filter(|next| drawing.lines.contains_key(next)));
        }
        let mut gestures = vec![Gesture::Group { nodes, name: "grouped".to_owned() }];
        let calls = drawing.nodes().into_iter().filter(|node| node.what.starts_with("fn "));
        gestures.extend(calls.map(|node| Gesture::Ungroup { call: node.name.clone() }));
        let before = bits(&document);
        for gesture in gestures {
            let _shows = Shows(&document, format!("{gesture:?}"), seed);
            let Some(after) = made(&document, &gesture) else { continue };
            let now = bits(&after);
            for (name, bits) in &now {
                if let Some(before) = before.get(name) {
                    assert_eq!(before, bits, "{name} in\n{after}");
                }
            }
            let loss = |bits: &BTreeMap<String, Vec<u64>>| bits.get("loss").cloned();
            assert_eq!(loss(&before), loss(&now), "{after}");
            let gone: Vec<_> = comments(&document)
                .into_iter()
                .filter(|(comment, n)| comments(&after).get(comment).copied().unwrap_or(0) < *n)
                .collect();
            assert!(gone.is_empty(), "{gone:?} went from\n{after}");
            if let Gesture::Group { nodes, .. } = &gesture {
                grouped += 1;
                // And back: the call is called as what was read outside.
                let call = nodes.iter().find(|name| after.contains(&format!("{name} = grouped(")));
                let back =
                    call.and_then(|call| made(&after, &Gesture::Ungroup { call: call.clone() }));
                if let Some(back) = back {
                    assert!(
                        Drawing::read(&back) == drawing || bits_agree(&before, &back),
                        "{back}"
                    );
                }
            } else {
                inlined += 1;
            }
        }
    }
    assert!(grouped > 20 && inlined > 20, "{grouped} groups, {inlined} calls");
}

#[test]
fn a_group_does_not_change_the_order_of_a_sum() {
    // Six products of one leaf: its gradient is a sum of six, and sums round.
    let (mut kept, mut refused) = (0, 0);
    for seed in seeds(60) {
        let mut rng = Rng::new(seed);
        let mut document = "param x = 0.7\n".to_owned();
        let (i, j) = (rng.below(6), rng.below(6));
        for n in 0..6 {
            document.push_str(&format!("a{n} = x * {}\n", rng.number(-3.0, 3.0)));
            if n == i.max(j) {
                document.push_str(&format!("s = a{i} + a{j}\n"));
            }
        }
        let others = (0..6).filter(|n| *n != i && *n != j).map(|n| format!("a{n}"));
        let others = others.collect::<Vec<_>>().join(" + ");
        document.push_str(&format!("loss = {others} + s\n"));
        let nodes = vec![format!("a{i}"), format!("a{j}"), "s".to_owned()];
        let gesture = Gesture::Group { nodes, name: "grouped".to_owned() };
        let _shows = Shows(&document, format!("{gesture:?}"), seed);
        match made(&document, &gesture) {
            Some(after) => {
                assert_eq!(bits(&document).get("dx"), bits(&after).get("dx"), "{after}");
                kept += 1;
            }
            None => refused += 1,
        }
    }
    assert!(kept > 3 && refused > 3, "{kept} kept, {refused} refused");
}

fn bits_agree(before: &BTreeMap<String, Vec<u64>>, text: &str) -> bool {
    let now = bits(text);
    before.iter().all(|(name, bits)| now.get(name).is_none_or(|now| now == bits))
}

#[test]
fn a_cell_changes_alone() {
    for seed in seeds(150) {
        let mut rng = Rng::new(seed);
        let document = lived_in(&mut rng, RuleSet::Numpy);
        let before = analyse(&document, &SMALL).report;
        let leaves = before.nodes.iter().take(before.n_forward as usize);
        let leaves: Vec<_> = leaves.filter(|n| n.op.is_empty() && is_a_name(&n.name)).collect();
        let Some(leaf) = leaves.get(rng.below(leaves.len())).filter(|leaf| leaf.n_elements > 0)
        else {
            continue;
        };
        let flat = rng.below(leaf.values.len());
        let mut rest = flat;
        let mut cell = Vec::new();
        for extent in leaf.shape.iter().rev() {
            cell.push((rest % *extent as usize) as u32);
            rest /= *extent as usize;
        }
        cell.reverse();
        let gesture = Gesture::SetLiteral {
            node: leaf.name.clone(),
            cell: Some(cell),
            slot: None,
            value: "-0.625".to_owned(),
        };
        let _shows = Shows(&document, format!("{gesture:?}"), seed);
        let after = made(&document, &gesture).expect("a leaf takes a number");
        let now = analyse(&after, &SMALL).report;
        let now = now.nodes.iter().find(|node| node.name == leaf.name).expect("the leaf is there");
        let mut wanted = leaf.values.clone();
        *wanted.get_mut(flat).expect("the cell is there") = -0.625;
        assert_eq!(now.values, wanted, "{after}");
        assert_eq!(now.shape, leaf.shape);
    }
}

fn is_a_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains('.')
}

/// Any gesture, on any names.
fn any_gesture(rng: &mut Rng, names: &[String]) -> Gesture {
    let mut name = || {
        let odd = ["", "y", "loss", "w.1", "f", "f.a", "é", "a b", "?", "."];
        if names.is_empty() || rng.chance(10) {
            rng.pick(&odd).to_owned()
        } else {
            names.get(rng.below(names.len())).cloned().unwrap_or_default()
        }
    };
    let (a, b, c) = (name(), name(), name());
    let slot = rng.below(3);
    let value = rng
        .pick(&["1", "-2.5", "[1, 2]", "", "?", "rand(seed=3)", "# x", "a\nb = 1", "]"])
        .to_owned();
    let op = rng.pick(OpKind::ALL).def().name.to_owned();
    match rng.below(22) {
        0 => Gesture::Insert {
            what: NewNode::Op(op),
            name: None,
            near: Some(a),
            sources: vec![Some(b), None],
        },
        1 => Gesture::Insert {
            what: NewNode::Param { shape: rng.pick(&["", "[2]", "[2 é", "2"]).to_owned(), value },
            name: Some(a),
            near: None,
            sources: Vec::new(),
        },
        2 | 3 => Gesture::Connect { from: a, to: b, slot },
        4 => Gesture::Disconnect { to: a, slot },
        5 => Gesture::Rewire { from_node: a, from_slot: slot, to: b, slot: rng.below(2) },
        6 => Gesture::Append { after: a, op },
        7 => Gesture::Prepend { before: a, slot, op },
        8 => Gesture::Delete { nodes: vec![a, b], through: rng.chance(50) },
        9 => Gesture::Rename {
            node: a,
            to: rng.pick(&["q", "loss", "fn", "1x", "é", ""]).to_owned(),
        },
        10 => Gesture::Duplicate { nodes: vec![a, b, c] },
        11 => Gesture::Paste { text: text(rng), at: rng.chance(50).then_some(a) },
        12 | 13 => Gesture::Group { nodes: vec![a, b, c], name: "g".to_owned() },
        14 | 15 => Gesture::Ungroup { call: a },
        16 => Gesture::SetLiteral {
            node: a,
            cell: rng.chance(50).then(|| vec![rng.below(3) as u32; rng.below(3)]),
            slot: rng.chance(30).then_some(slot),
            value,
        },
        17 => Gesture::SetShape {
            node: a,
            shape: rng.pick(&["[2]", "", "[3, 2 x]", "[", "[99999]"]).to_owned(),
        },
        18 => Gesture::SetAxisName {
            node: a,
            axis: slot,
            name: rng.pick(&["", "token", "é"]).to_owned(),
        },
        19 => Gesture::SetAttribute {
            node: a,
            attribute: rng.pick(&["axis", "min", "index", "é"]).to_owned(),
            value,
        },
        20 => Gesture::SetTrains { node: a, trains: rng.chance(50) },
        _ => Gesture::Pin { node: a, x: rng.number(-9.0, 9.0), y: f64::NAN },
    }
}

#[test]
fn no_gesture_panics_on_any_text() {
    for seed in seeds(700) {
        let mut rng = Rng::new(seed);
        let document = match seed % 3 {
            0 => text(&mut rng),
            1 => {
                let whole = lived_in(&mut rng, RuleSet::Numpy);
                noisy(&mut rng, &whole)
            }
            _ => {
                let bytes: Vec<u8> = (0..rng.below(200)).map(|_| rng.bits() as u8).collect();
                let mut out = text(&mut rng);
                out.push_str(&String::from_utf8_lossy(&bytes));
                let cut = rng.below(out.chars().count() + 1);
                out.chars().take(cut).collect()
            }
        };
        let names: Vec<String> = sketch(&document).into_iter().map(|node| node.name).collect();
        for _ in 0..6 {
            let gesture = any_gesture(&mut rng, &names);
            let _shows = Shows(&document, format!("{gesture:?}"), seed);
            made(&document, &gesture);
        }
        let _shows = Shows(&document, "questions".to_owned(), seed);
        let caret = rng.below(document.len() + 2) as u32;
        complete(&document, caret);
        hover(&document, caret);
        let pick = |rng: &mut Rng| names.get(rng.below(names.len())).cloned().unwrap_or_default();
        let (a, b) = (pick(&mut rng), pick(&mut rng));
        if seed % 10 == 0 {
            palette(&document, Some(&a), rng.pick(&["", "s", "soft", "é", "+"]));
        }
        let _ = fits(&document, &a, &b, rng.below(2));
        if seed % 10 == 1 {
            targets(&document, &a);
            sources(&document, &b, 0);
        }
        let _ = copy(&document, &[a, b]);
    }
}
