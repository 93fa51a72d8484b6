//! Every row of the op table, by its own samples: gradients against differences, f32 against f64, and what the row
//! says of itself against what its rule does. A new op is tested here the day it is entered.

#![expect(clippy::format_push_string, reason = "the texts of tests are put together plainly")]
#![expect(clippy::unwrap_used, reason = "a check that cannot be made has failed")]

use std::collections::BTreeSet;

use foldback::autodiff::{Request, build_backward};
use foldback::check::{Finite, Verdict, adjoint};
use foldback::construct::{Apply, Budget, apply, leaf};
use foldback::graph::{Flags, Graph, Index, Init, NodeId, Params, Value};
use foldback::ops::OpKind;
use foldback::ops::def::{Backward, Flow, ParamKind, Read};
use foldback::report::Analysis;
use foldback::rules::RuleSet;
use foldback::tensor::{Shape, TensorType};
use foldback::trace::{Author, Event};
use foldback_tests::golden::{compare, home};
use foldback_tests::grad::{differences, evaluated, gap, gap_of, gradients, largest};
use foldback_tests::{analyse, outcome, under, weighed};

/// Every sample of every row.
fn samples() -> impl Iterator<Item = (OpKind, usize, &'static str)> {
    let of = |op: &OpKind| {
        let op = *op;
        op.def().check.samples.iter().enumerate().map(move |(ix, text)| (op, ix, *text))
    };
    OpKind::ALL.iter().flat_map(of)
}

/// A sample under these rules, weighed.
fn sample(rules: RuleSet, text: &str) -> String {
    let text = under(rules, text);
    if foldback_tests::shape_of(&analyse(&text), "y").is_some() { weighed(&text) } else { text }
}

/// Whether a sample may be refused under these rules: only where the row or a row it uses differs there, or the
/// operands do not meet by their broadcast.
fn may_refuse(rules: RuleSet, analysis: &Analysis) -> bool {
    let finding = analysis.report.findings.first().unwrap();
    let at = finding
        .node
        .and_then(|ix| analysis.trace.graph.nodes().nth(ix as usize))
        .and_then(|(_, n)| n.op());
    let differs = at.is_some_and(|op| {
        let backward = matches!(rules.backward(op), Backward::Missing(_));
        backward || op.def().differs.iter().any(|d| d.rules == rules)
    });
    rules == RuleSet::Upstream && differs
}

/// What became of one sample under one rule set; `Err` where the row is at fault.
fn run(op: OpKind, rules: RuleSet, text: &str) -> Result<&'static str, String> {
    let document = sample(rules, text);
    let analysis = analyse(&document);
    let outcome = outcome(&analysis);
    if outcome != "built" {
        let meets = outcome.starts_with("shapes-do-not-broadcast")
            || outcome.starts_with("broadcast-not-allowed");
        let numpy = rules == RuleSet::Numpy && meets && op.def().stretches;
        // ggml's RESHAPE takes packed elements alone.
        let packed = rules == RuleSet::Upstream && outcome.starts_with("not-contiguous");
        return if numpy || packed || may_refuse(rules, &analysis) {
            Ok("refused")
        } else {
            Err(outcome)
        };
    }
    if analysis.report.findings.iter().any(|f| f.code == "upstream-value") {
        return Ok("warned");
    }
    let ours = gradients::<f64>(&analysis);
    let theirs = differences(&analysis);
    let missing = matches!(op.def().backward, Backward::Missing(_));
    let kink = analysis.report.findings.iter().any(|f| f.code == "kink");
    let gap = gap(&ours, &theirs, 1e-2);
    if gap > 1e-6 && !kink {
        return Err(format!("{gap:e} from differences: {ours:?} and {theirs:?}"));
    }
    if kink && op.def().check.kink.is_none() {
        return Err("a kink that the row does not declare".to_owned());
    }
    if !ours.iter().any(|of| of.size() > 1e-3) && !missing {
        return Err("the gradient is nothing".to_owned());
    }
    if ours.iter().any(|of| of.values.iter().any(|x| !x.is_finite())) {
        return Err("a gradient is not finite".to_owned());
    }
    for (wide, single) in ours.iter().zip(gradients::<f32>(&analysis)) {
        let gap = gap_of(&wide.values, &single.values, 0.1);
        if gap > 1e-5 {
            return Err(format!("d{} in f32 is {gap:e} from f64", wide.leaf));
        }
    }
    engines_own_checks(&analysis)?;
    Ok(if kink { "kink" } else { "agrees" })
}

/// What the page shows of a check must say the same.
fn engines_own_checks(analysis: &Analysis) -> Result<(), String> {
    let loss = analysis.lowered.loss.unwrap();
    if let Some(entry) = Finite::new(&analysis.trace, loss).find(|e| e.verdict == Verdict::Differs)
    {
        return Err(format!("the finite-difference check says: {entry:?}"));
    }
    let adjoint =
        adjoint(&analysis.trace, loss).into_iter().find(|a| a.error > 1e-9 || a.error.is_nan());
    adjoint.map_or(Ok(()), |a| Err(format!("the adjoint test says: {a:?}")))
}

#[test]
fn every_sample_agrees_with_differences() {
    let mut wrong = Vec::new();
    let mut table = String::from("# op, sample: under ggml, upstream, numpy\n");
    for (op, ix, text) in samples() {
        let mut row = format!("{} {ix}:", op.def().name);
        for rules in RuleSet::ALL {
            match run(op, *rules, text) {
                Ok(word) => row.push_str(&format!(" {word}")),
                Err(why) => {
                    row.push_str(" WRONG");
                    wrong.push(format!("{} under {}: {why}\n{text}", op.def().name, rules.name()));
                }
            }
        }
        table.push_str(&row);
        table.push('\n');
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
    if let Some(difference) = compare(&home().join("suite/ops.table"), &table) {
        panic!("what the samples come to has changed; UPDATE_EXPECT=1 takes it over\n{difference}");
    }
}

#[test]
fn a_transpose_after_the_op_changes_nothing() {
    // The rule then meets a gradient that is a view of another: upstream's rules disagree about such (B4, B6, B9).
    let mut n = 0;
    for rules in [RuleSet::Ggml, RuleSet::Numpy] {
        for (op, _, text) in samples() {
            let plain = under(rules, text);
            let rank = foldback_tests::shape_of(&analyse(&plain), "y").map_or(0, |s| s.rank());
            let (before, last) = plain.rsplit_once("\ny = ").unwrap();
            if rank < 2 || last.contains('\n') {
                continue;
            }
            let document = weighed(&format!("{before}\nr = {last}\ny = transpose(r, -1, -2)\n"));
            let analysis = analyse(&document);
            assert_eq!(outcome(&analysis), "built", "of\n{document}");
            if analysis.report.findings.iter().all(|f| f.code != "kink") {
                let gap = gap(&gradients::<f64>(&analysis), &differences(&analysis), 1e-2);
                assert!(gap < 1e-6, "{}: {gap:e} of\n{document}", op.def().name);
                n += 1;
            }
        }
    }
    assert!(n > 60, "only {n} documents");
}

#[test]
fn an_accumulator_is_added_and_nothing_else_changes() {
    let mut n = 0;
    for rules in [RuleSet::Ggml, RuleSet::Numpy] {
        for (op, _, text) in samples() {
            let plain = sample(rules, text);
            let analysis = analyse(&plain);
            let without = gradients::<f64>(&analysis);
            let reached: Vec<_> = without.iter().filter(|of| of.size() > 0.0).collect();
            let mut document = plain.clone();
            for of in &reached {
                document.push_str(&format!(
                    "accumulator {} {} = rand(seed=5, lo=1, hi=2)\n",
                    of.leaf, of.shape
                ));
            }
            let with = analyse(&document);
            assert_eq!(outcome(&with), outcome(&analysis), "of\n{document}");
            for (of, started) in gradients::<f64>(&with).iter().zip(&without) {
                if started.size() > 0.0 {
                    let start = Init::Rand { seed: 5, lo: 1.0, hi: 2.0 };
                    let ty = TensorType::f32(of.shape);
                    let expected: Vec<f64> = started
                        .values
                        .iter()
                        .enumerate()
                        .map(|(i, g)| g + start.element(&ty, i))
                        .collect();
                    let gap = gap_of(&of.values, &expected, 1e-3);
                    assert!(gap < 1e-12, "{}: {gap:e} of\n{document}", op.def().name);
                    n += 1;
                }
            }
        }
    }
    assert!(n > 100, "only {n} leaves");
}

/// The nodes of one op in a trace, with their sources.
fn nodes_of(analysis: &Analysis, op: OpKind) -> Vec<NodeId> {
    let forward = analysis.trace.graph.prefix(analysis.trace.n_forward);
    forward.filter(|(_, n)| n.op() == Some(op)).map(|(id, _)| id).collect()
}

/// A value that was read: a source's, or the node's own.
type Seen = Option<u8>;

/// What the rule of `node` read for its contribution to `src`: forward values at the ends of the nodes it made.
fn reads(analysis: &Analysis, node: NodeId, src: u8) -> BTreeSet<Seen> {
    let (trace, graph) = (&analysis.trace, &analysis.trace.graph);
    let own: BTreeSet<NodeId> = trace
        .events
        .iter()
        .filter_map(|e| match *e {
            Event::Emitted { node: made, by: Author::Rule { of } } if of == node => Some(made),
            _ => None,
        })
        .collect();
    let mut value = None;
    let mut folded = None;
    for event in &trace.events {
        match *event {
            Event::Entered { .. } => folded = None,
            Event::Folded { from, .. } => folded = Some(from),
            Event::Contributed { by, src: s, before, after, .. } => {
                if by == node && s == src {
                    let sum = before.and_then(|_| graph.node(after).src().get(1).copied());
                    value = folded.or(sum).or(Some(after));
                }
                folded = None;
            }
            _ => {}
        }
    }
    let mut out = BTreeSet::new();
    let mut stack: Vec<NodeId> = value.into_iter().filter(|v| own.contains(v)).collect();
    let mut seen: BTreeSet<NodeId> = stack.iter().copied().collect();
    while let Some(id) = stack.pop() {
        for s in graph.node(id).src() {
            if own.contains(s) {
                if seen.insert(*s) {
                    stack.push(*s);
                }
            } else if *s == node {
                out.insert(None);
            } else if let Some(ix) = graph.node(node).src().iter().position(|own| own == s) {
                out.insert(Some(ix as u8));
            }
        }
    }
    out
}

#[test]
fn every_rule_reads_what_its_row_says_and_nothing_else() {
    // The in-place refusals rest on it: a value that is read without being named could be overwritten unseen.
    let mut wrong = Vec::new();
    for op in OpKind::ALL {
        let def = op.def();
        let mut seen: Vec<(u8, BTreeSet<Seen>)> = Vec::new();
        for text in def.check.samples {
            let analysis = analyse(&sample(RuleSet::Ggml, text));
            for node in nodes_of(&analysis, *op) {
                let sources = analysis.trace.graph.node(node).src();
                let twice = sources
                    .iter()
                    .enumerate()
                    .any(|(ix, s)| sources.iter().take(ix).any(|t| t == s));
                let sent: BTreeSet<u8> = analysis
                    .trace
                    .events
                    .iter()
                    .filter_map(|e| match *e {
                        Event::Contributed { by, src, .. } if by == node => Some(src),
                        _ => None,
                    })
                    .collect();
                // A node that reads one source twice cannot tell which it read.
                seen.extend(
                    sent.iter().filter(|_| !twice).map(|src| (*src, reads(&analysis, node, *src))),
                );
            }
        }
        let sources: BTreeSet<u8> = seen.iter().map(|(src, _)| *src).collect();
        for src in sources {
            let all: BTreeSet<Seen> = seen
                .iter()
                .filter(|(s, _)| *s == src)
                .flat_map(|(_, r)| r.iter().copied())
                .collect();
            let Flow::Carries { reads, .. } = RuleSet::flow(*op, usize::from(src)) else {
                wrong.push(format!(
                    "{} sends to source {src}, which its row says carries nothing",
                    def.name
                ));
                continue;
            };
            let said: BTreeSet<Seen> = reads
                .iter()
                .map(|read| match read {
                    Read::Src(ix) => Some(*ix),
                    Read::Out => None,
                })
                .collect();
            if all != said {
                wrong.push(format!("{}, source {src}: reads {all:?}, says {said:?}", def.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_carrying_source_is_sent_something_that_counts() {
    let mut wrong = Vec::new();
    for op in OpKind::ALL {
        let def = op.def();
        if !matches!(def.backward, Backward::Rule(_)) || def.check.samples.is_empty() {
            continue;
        }
        let mut sent = BTreeSet::new();
        for text in def.check.samples {
            let analysis = analyse(&sample(RuleSet::Ggml, text));
            let values = evaluated::<f64>(&analysis);
            for node in nodes_of(&analysis, *op) {
                for event in &analysis.trace.events {
                    if let Event::Contributed { by, src, before, after, .. } = *event
                        && by == node
                    {
                        let graph = &analysis.trace.graph;
                        let read = |id| values.read_f64(graph, id);
                        let (after, before) = (read(after), before.map(read));
                        let own: Vec<f64> = match before {
                            Some(before) => after.iter().zip(before).map(|(a, b)| a - b).collect(),
                            None => after,
                        };
                        if largest(&own) > 1e-3 {
                            sent.insert(src);
                        }
                    }
                }
            }
        }
        for src in 0..def.arity.max.min(def.flow.len().max(def.arity.min)) {
            let carries = matches!(RuleSet::flow(*op, src), Flow::Carries { .. });
            if carries != sent.contains(&(src as u8)) {
                wrong.push(format!(
                    "{}, source {src}: carries {carries}, was sent {}",
                    def.name, !carries
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn flat_rows_send_nothing() {
    let mut n = 0;
    for (op, _, text) in samples().filter(|(op, ..)| matches!(op.def().backward, Backward::Zero(_)))
    {
        let analysis = analyse(&sample(RuleSet::Ggml, text));
        let nodes = nodes_of(&analysis, op);
        assert!(!nodes.is_empty(), "{} has a sample without the op", op.def().name);
        for event in &analysis.trace.events {
            let by = match *event {
                Event::Entered { node, .. } => Some(node),
                Event::Contributed { by, .. } => Some(by),
                _ => None,
            };
            assert!(by.is_none_or(|by| !nodes.contains(&by)), "{} sends a gradient", op.def().name);
        }
        n += 1;
    }
    assert!(n >= 8, "only {n} samples");
}

#[test]
fn every_row_is_documented_and_has_samples() {
    for op in OpKind::ALL {
        let def = op.def();
        assert!(
            def.says.ends_with('.') && def.says.len() > 7,
            "{}: {:?} is no sentence",
            def.name,
            def.says
        );
        assert!(!def.formula.is_empty(), "{} has no formula", def.name);
        assert!(!def.flow.is_empty(), "{} says of no source what becomes of it", def.name);
        assert!(
            def.place.file.contains("ops/") && def.place.line > 0,
            "{} does not know its place",
            def.name
        );
        assert!(def.arity.min <= def.arity.max, "{}", def.name);
        for flow in def.flow {
            let text = match flow {
                Flow::Carries { formula, .. } => formula,
                Flow::Ignored(why) => why,
            };
            assert!(!text.is_empty(), "{} has an empty flow", def.name);
        }
        if let Backward::Zero(why) | Backward::Missing(why) = def.backward {
            assert!(!why.is_empty(), "{} does not say why", def.name);
        }
        for differs in def.differs {
            assert!(differs.cite.contains("ggml"), "{} cites nothing", def.name);
        }
        let unwritable = def.params.iter().any(|p| p.kind == ParamKind::Index);
        let used = def
            .check
            .samples
            .iter()
            .all(|text| !nodes_of(&analyse(&under(RuleSet::Ggml, text)), *op).is_empty());
        assert!(used, "{} has a sample that does not use it", def.name);
        assert!(!def.check.samples.is_empty() || unwritable, "{} has no samples", def.name);
    }
}

/// Rows that no text writes are built through the library: here the adjoint of a bracket, whose own gradient is a
/// second derivative's business.
#[test]
fn the_adjoint_of_a_bracket_has_a_gradient() {
    let mut graph = Graph::default();
    let budget = Budget::default();
    let ty = TensorType::f32(Shape::new(&[2, 2]).unwrap());
    let init = Init::Rand { seed: 1, lo: -1.0, hi: 1.0 };
    let flags = Flags { param: true, ..Flags::default() };
    let x = leaf(&mut graph, &budget, ty, init, Some("x".into()), flags).unwrap();
    let range = |start, step| Index::Range { start, stop: None, step };
    let index = Value::Index([range(Some(1), Some(2)), range(None, Some(-2))].as_slice().into());
    let back = OpKind::ALL.iter().find(|op| op.def().check.samples.is_empty()).copied().unwrap();
    let mut push = |op, src: &[NodeId], params: Vec<Value>| {
        let what = Apply { op, src, params: Params::new(params), name: None, in_place: false };
        apply(&mut graph, &budget, RuleSet::Ggml, what).unwrap()
    };
    let shape = Value::Ints([4, 3].as_slice().into());
    let y = push(back, &[x], vec![index, shape]);
    let sqr = push(foldback_tests::op("sqr"), &[y], vec![]);
    let loss = push(foldback_tests::op("sum"), &[sqr], vec![Value::None, Value::Bool(false)]);
    let trace = build_backward(&graph, &Request { loss: Some(loss), ..Request::default() });
    assert!(trace.refusal().is_none());
    let mut values = foldback::forward::Values::<f64>::new();
    values.eval(&trace.graph, 0..trace.graph.len());
    let grad = trace.grads().first().copied().flatten().unwrap();
    let twice: Vec<f64> = values.read_f64(&trace.graph, x).iter().map(|x| 2.0 * x).collect();
    assert!(gap_of(&values.read_f64(&trace.graph, grad), &twice, 0.0) < 1e-12);
    let there: Vec<f64> = values.read_f64(&trace.graph, y);
    let filled: Vec<usize> =
        there.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(i, _)| i).collect();
    assert_eq!(filled, [3, 5, 9, 11], "rows 1 and 3, columns 0 and 2");
}

/// A sample in which one leaf has `more` leading axes of extent 1.
fn with_leading_ones(text: &str, line: usize, more: usize) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let slot = lines.get_mut(line)?;
    let is_leaf = slot.starts_with("param ") || slot.starts_with("const ");
    let (before, rest) = slot.split_once('[').filter(|_| is_leaf)?;
    let (dims, value) = rest.split_once(']')?;
    let rank = dims.split(',').filter(|d| !d.trim().is_empty()).count();
    if rank + more > 4 || before.contains('=') || before.ends_with("ne") {
        return None;
    }
    let ones = vec!["1"; more].join(", ");
    let comma = if rank == 0 { "" } else { ", " };
    let value = match value.split_once("= [") {
        Some((kind, list)) => {
            format!("{kind}= {}{list}{}", "[".repeat(more + 1), "]".repeat(more))
        }
        None => value.to_owned(),
    };
    *slot = format!("{before}[{ones}{comma}{dims}]{value}");
    Some(lines.join("\n"))
}

#[test]
fn a_leading_axis_of_one_is_refused_when_the_node_is_made_or_gets_its_gradient() {
    // What stands in the graph can be differentiated: an axis of extent 1 is no reason to stop on the way back.
    let (mut n, mut wrong) = (0, Vec::new());
    for rules in [RuleSet::Ggml, RuleSet::Numpy] {
        for (op, _, text) in samples() {
            let cases = (0..text.lines().count()).flat_map(|line| (1..4).map(move |n| (line, n)));
            for (line, more) in cases {
                let Some(text) = with_leading_ones(text, line, more) else { continue };
                let plain = under(rules, &text);
                if foldback_tests::shape_of(&analyse(&plain), "y").is_none() {
                    continue;
                }
                let document = weighed(&plain);
                let analysis = analyse(&document);
                if outcome(&analysis) != "built" {
                    wrong.push(format!("{}: {} of\n{document}", op.def().name, outcome(&analysis)));
                    continue;
                }
                // An axis that is counted from the left is another one now, and ids may lie beyond it.
                let says = |code: &str| analysis.report.findings.iter().any(|f| f.code == code);
                if !says("kink") && !says("not-finite") {
                    let gap = gap(&gradients::<f64>(&analysis), &differences(&analysis), 1e-2);
                    if gap > 1e-6 {
                        wrong.push(format!("{}: {gap:e} of\n{document}", op.def().name));
                    }
                    n += 1;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(n > 100, "only {n} documents");
}
