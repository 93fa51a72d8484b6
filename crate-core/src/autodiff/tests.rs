use super::overwrites::Destroyed;
use super::{Build, Mode, Request, build_backward, differentiate, started, walked};
use crate::construct::Budget;
use crate::graph::NodeId;
use crate::ops::def::{Flow, Read};
use crate::rules::RuleSet;
use crate::{contract, lang, looks};

fn lowered(text: &str) -> lang::Lowered {
    let parsed = lang::parse(text);
    let lowered = lang::lower(&parsed.ast, text, &Budget::default());
    assert!(parsed.diagnostics.is_empty() && lowered.diagnostics.is_empty(), "{text}");
    lowered
}

fn request(lowered: &lang::Lowered) -> Request {
    Request { loss: lowered.loss, rules: lowered.rules, ..Request::default() }
}

/// For a document of a head, a line for each number from 1 and a loss at the last: ten times the nodes take ten times the looks, or a little more where something is sorted or searched.
fn check_growth(head: &str, line: fn(usize) -> String) {
    let looks = |n| {
        let lines: String = (1..=n).map(line).collect();
        let lowered = lowered(&format!("{head}{lines}loss = sum(x{n})\n"));
        let request = request(&lowered);
        looks::count(|| {
            build_backward(&lowered.graph, &request);
            contract::findings(&lowered.graph, &request);
            drop(differentiate(lowered.graph.clone(), &request));
        })
    };
    let (few, many) = (looks(100), looks(1_000));
    assert!(few > 100 && many < 13 * few, "{few} looks grow to {many}: {head}{}", line(1));
}

#[test]
fn a_build_looks_at_each_node_so_many_times_and_no_more() {
    check_growth("param x0 = [1, 2]\n", |i| format!("x{i} = sqr(x{})\n", i - 1));
}

#[test]
fn parameters_that_lead_nowhere_are_not_looked_for_one_by_one() {
    check_growth("param x0 = [1, 2]\n", |i| format!("param w{i} = 1\nx{i} = x{} + x0\n", i - 1));
}

#[test]
fn writes_in_place_are_not_looked_through_for_each_value() {
    let head = "param w = [1, 2]\nx0 = w + w\n";
    check_growth(head, |i| format!("x{i} = add!(x{}, w)\n", i - 1));
    check_growth(head, |i| format!("x{i} = mul!(x{}, w)\n", i - 1));
    // One half of a storage is written, and the other is read.
    let head = "param w = [1, 2]\nc = w + w\nx0 = c[:1]\nh = c[1:]\n";
    check_growth(head, |i| format!("x{i} = add!(x{}, 1)\ny{i} = sqr(h) + x{i}\n", i - 1));
}

#[test]
fn what_upstream_does_not_send_is_not_looked_for_in_the_whole_graph() {
    let head = "rules upstream\nparam x0 = [1, 2]\nparam w = [2, 2]\n";
    check_growth(head, |i| format!("x{i} = cpy(x{}, w)\n", i - 1));
}

#[test]
fn findings_are_not_looked_through_for_each_source() {
    let head = "rules upstream\nparam x0 = [1, 2]\nparam w = [2]\n";
    check_growth(head, |i| format!("x{i} = x{} / w\n", i - 1));
}

/// A document that writes in place into storage of which others have windows, by chance.
fn by_chance(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut text =
        "param w = [1, 2, 3, 4, 5, 6]\nconst c = [1, 2, 3, 4, 5, 6]\nx0 = w + c\n".to_owned();
    // A name and how long its vector is.
    let mut known = vec![("w".to_owned(), 6), ("c".to_owned(), 6), ("x0".to_owned(), 6)];
    for i in 1..16 {
        let (a, len) = known[below(known.len())].clone();
        let like: Vec<&str> = known.iter().filter(|k| k.1 == len).map(|k| k.0.as_str()).collect();
        let b = like[below(like.len())];
        let from = below(len);
        let (made, len) = match below(9) {
            0 => (format!("add!({a}, {b})"), len),
            1 => (format!("mul!({a}, {b})"), len),
            2 => (format!("exp!({a})"), len),
            3 => (format!("scale!({a}, 2)"), len),
            4 => (format!("{a} * {b}"), len),
            5 => (format!("exp({a})"), len),
            6 => (format!("stop_gradient({a})"), len),
            _ => (format!("{a}[{from}:]"), len - from),
        };
        text += &format!("x{i} = {made}\n");
        known.push((format!("x{i}"), len));
    }
    let sums: Vec<String> =
        (0..16).filter(|_| below(3) > 0).map(|i| format!("sum(x{i})")).collect();
    text + &format!("loss = sum(w) + {}\n", sums.join(" + "))
}

/// What each write destroys first, by looking at everything.
fn plainly(build: &Build<'_>) -> Vec<Option<Destroyed>> {
    let graph = &build.trace.graph;
    let n = build.trace.n_forward;
    let touch = |a: NodeId, b: NodeId| {
        let reach = |id| graph.storage(id).reach(&graph.node(id).ty.shape);
        graph.storage(a).root == graph.storage(b).root
            && matches!((reach(a), reach(b)), (Some(a), Some(b)) if a.0 <= b.1 && b.0 <= a.1)
    };
    let first = |writer: NodeId| {
        let root = graph.storage(writer).root;
        if graph.node(root).flags.param && build.needs(root) {
            return Some(Destroyed { victim: root, reader: None });
        }
        for (id, node) in graph.prefix(n).filter(|(id, _)| build.needs(*id)) {
            for (ix, s) in node.src().iter().enumerate().filter(|(_, s)| build.needs(**s)) {
                let Some(Flow::Carries { reads, .. }) = node.op().map(|op| RuleSet::flow(op, ix))
                else {
                    continue;
                };
                let read = reads.iter().map(|read| match read {
                    Read::Src(k) => node.src()[usize::from(*k)],
                    Read::Out => id,
                });
                let lost = |victim: &NodeId| writer > *victim && touch(writer, *victim);
                let stale = (writer < id && lost(s)).then_some(*s);
                if let Some(victim) = read.into_iter().find(lost).or(stale) {
                    return Some(Destroyed { victim, reader: Some(id) });
                }
            }
        }
        None
    };
    let writes =
        |(id, node): (NodeId, &crate::graph::Node)| node.flags.in_place.then(|| first(id))?;
    graph.prefix(n).map(writes).collect()
}

#[test]
fn a_write_destroys_first_what_a_plain_search_finds_first() {
    let (mut params, mut read, mut harmless) = (0, 0, 0);
    for seed in 0..400 {
        let text = by_chance(seed);
        let lowered = lowered(&text);
        let request = request(&lowered);
        let build = walked(started(&lowered.graph), &request, Mode::Collect, true);
        let (found, plain) = (build.overwrites(), plainly(&build));
        let writes = build.trace.graph.prefix(build.trace.n_forward).filter(|n| n.1.flags.in_place);
        harmless += writes.count() - plain.iter().flatten().count();
        params += plain.iter().flatten().filter(|d| d.reader.is_none()).count();
        read += plain.iter().flatten().filter(|d| d.reader.is_some()).count();
        assert!(found == plain || found.is_empty() && plain.iter().all(Option::is_none), "{text}");
    }
    assert!(params > 100 && read > 100 && harmless > 100, "{params}, {read}, {harmless}");
}
