//! Names and formulas for gradient nodes, made from the trace: `dw`, `dw₁`, `dc′`, `−dy · y / c`.
//! Deliberately absent: names stored in the graph. They depend on the whole trace, so they are made at the edge.

use crate::decimal::{laid_out, trimmed};
use crate::graph::{Graph, Index, Init, Node, NodeId, NodeKind, Value};
use crate::ops::OpKind;
use crate::ops::def::{Flow, ParamKind, Sign};
use crate::rules::RuleSet;
use crate::trace::{Author, Event, Trace};

/// What a gradient node is for.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) of: Option<NodeId>,
    pub(super) of_src: Option<u8>,
    pub(super) into: Option<NodeId>,
}

/// A number as it is read: a real minus sign, the shortest digits that give the f64 back.
pub(super) fn number(x: f64) -> String {
    shown(&format!("{:e}", positive_zero(x)))
}

/// The same with the shortest digits that give the f32 back.
pub(super) fn single(x: f64) -> String {
    shown(&format!("{:e}", positive_zero(x) as f32))
}

/// A number in a sentence: at most six significant digits.
pub(super) fn rounded(x: f64) -> String {
    // Numbers so small have fewer digits than six; of f32, none is.
    if crate::WHOLE && x.abs() < f64::MIN_POSITIVE {
        return number(x);
    }
    shown(&trimmed(&format!("{:.5e}", positive_zero(x))))
}

fn positive_zero(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x }
}

fn shown(scientific: &str) -> String {
    laid_out(scientific, -4..16).replace('-', "−").replace("inf", "∞")
}

/// The name of every node: the text's for forward nodes, made up for gradient nodes.
pub(super) fn places(trace: &Trace) -> Vec<Place> {
    let graph = &trace.graph;
    let mut out: Vec<Place> = graph
        .nodes()
        .map(|(id, node)| Place { name: forward_name(graph, id, node), ..Place::default() })
        .collect();
    let mut total = vec![0usize; trace.n_forward];
    for event in &trace.events {
        if let Event::Contributed { into, .. } | Event::Supplied { node: into, .. } = event
            && let Some(n) = total.get_mut(into.index())
        {
            *n += 1;
        }
    }
    let mut so_far = vec![0usize; trace.n_forward];
    let mut pending: Vec<NodeId> = Vec::new();
    let mut folded: Option<(NodeId, NodeId)> = None;
    for event in &trace.events {
        match *event {
            Event::Entered { .. } => {
                pending.clear();
                folded = None;
            }
            Event::Seeded { node, grad } => {
                let name = format!("d{}", name(&out, node));
                name_it(&mut out, grad, name, None, None, Some(node));
            }
            Event::Supplied { node, grad } => {
                let n = next(&mut so_far, node);
                let name = numbered(&name(&out, node), n, count(&total, node));
                name_it(&mut out, grad, name, None, None, Some(node));
            }
            Event::Emitted { node, by } => {
                pending.push(node);
                if let Author::Rule { of } | Author::Fold { of, .. } | Author::Accumulate { of, .. } =
                    by
                    && let Some(place) = out.get_mut(node.index())
                {
                    place.of = Some(of);
                }
            }
            Event::Folded { from, to, .. } => folded = Some((from, to)),
            Event::Contributed { into, by, src, before, after, .. } => {
                let target = name(&out, into);
                let n = next(&mut so_far, into);
                let of_many = count(&total, into);
                let share = numbered(&target, n, of_many);
                let value = match before {
                    None => after,
                    Some(_) => {
                        graph.get(after).and_then(|a| a.src().get(1).copied()).unwrap_or(after)
                    }
                };
                let (raw, whole) = match folded.take() {
                    Some((from, to)) => (from, to),
                    None => (value, value),
                };
                let made_here = |id: NodeId| pending.contains(&id);
                if before.is_some() {
                    let sum = if n == of_many {
                        format!("d{target}")
                    } else {
                        format!("d{target}{}", span(n))
                    };
                    name_it(&mut out, after, sum, Some(by), Some(src), Some(into));
                }
                if made_here(whole) {
                    name_it(&mut out, whole, share.clone(), Some(by), Some(src), Some(into));
                }
                if raw != whole && made_here(raw) {
                    name_it(&mut out, raw, format!("{share}′"), Some(by), Some(src), Some(into));
                }
                let base = if raw == whole { share } else { format!("{share}′") };
                claim(&mut out, graph, &pending, raw, &base, (by, src, into));
                claim(&mut out, graph, &pending, whole, &base, (by, src, into));
            }
            Event::Refused(ix) => {
                // The contribution that was refused keeps what its rule made for it.
                let finding = trace.findings.get(ix as usize);
                if let Some((of, src)) = finding.and_then(|f| Some((f.at()?, f.src()?)))
                    && let Some(into) = graph.get(of).and_then(|n| n.src().get(src).copied())
                    && let Some(last) =
                        pending.iter().rev().find(|id| name(&out, **id).is_empty()).copied()
                {
                    let target = name(&out, into);
                    let n = next(&mut so_far, into);
                    let share = if n > 1 { numbered(&target, n, n) } else { format!("d{target}") };
                    name_it(&mut out, last, share.clone(), Some(of), Some(src as u8), Some(into));
                    claim(&mut out, graph, &pending, last, &share, (of, src as u8, into));
                }
            }
            _ => {}
        }
    }
    for (ix, place) in out.iter_mut().enumerate().skip(trace.n_forward) {
        if place.name.is_empty() {
            place.name = format!("t{}", ix - trace.n_forward);
        }
    }
    out
}

fn name(out: &[Place], id: NodeId) -> String {
    out.get(id.index()).map(|p| p.name.clone()).unwrap_or_default()
}

fn next(so_far: &mut [usize], node: NodeId) -> usize {
    so_far.get_mut(node.index()).map_or(1, |n| {
        *n += 1;
        *n
    })
}

fn count(total: &[usize], node: NodeId) -> usize {
    total.get(node.index()).copied().unwrap_or(1)
}

/// The first name a node is given stays: a gradient that is passed on is one node.
fn name_it(
    out: &mut [Place],
    id: NodeId,
    name: String,
    of: Option<NodeId>,
    of_src: Option<u8>,
    into: Option<NodeId>,
) {
    if let Some(place) = out.get_mut(id.index()).filter(|p| p.name.is_empty()) {
        *place = Place { name, of: of.or(place.of), of_src, into };
    }
}

/// Gives the nodes that a contribution was made from, as far as this rule made them, their place.
fn claim(
    out: &mut [Place],
    graph: &Graph,
    pending: &[NodeId],
    root: NodeId,
    base: &str,
    (of, src, into): (NodeId, u8, NodeId),
) {
    let mut found: Vec<NodeId> = Vec::new();
    let mut stack = vec![root];
    while let Some(id) = stack.pop() {
        for s in graph.get(id).map(Node::src).unwrap_or_default() {
            let free = out.get(s.index()).is_some_and(|p| p.name.is_empty());
            if pending.contains(s) && free && !found.contains(s) {
                found.push(*s);
                stack.push(*s);
            }
        }
    }
    found.sort_unstable();
    let mut n = 0;
    for id in found {
        n += 1;
        name_it(out, id, format!("{base}~{n}"), Some(of), Some(src), Some(into));
    }
}

/// `dw`, or `dw₂` where there are several.
fn numbered(target: &str, n: usize, of: usize) -> String {
    if of > 1 { format!("d{target}{}", subscript(n)) } else { format!("d{target}") }
}

/// `₁₋₃`: the sum of the first three.
fn span(n: usize) -> String {
    format!("₁₋{}", subscript(n))
}

fn subscript(n: usize) -> String {
    n.to_string().chars().filter_map(|c| char::from_u32('₀' as u32 + c.to_digit(10)?)).collect()
}

fn forward_name(graph: &Graph, id: NodeId, node: &Node) -> String {
    if let Some(name) = &node.name {
        return name.to_string();
    }
    match &node.kind {
        NodeKind::Leaf(init) if node.flags.inline => literal(init, graph, id),
        _ => String::new(),
    }
}

/// An inline constant as it is written.
fn literal(init: &Init, graph: &Graph, id: NodeId) -> String {
    let ty = graph.node(id).ty;
    match init {
        Init::Fill(v) => single(*v),
        Init::Literal(list) if list.len() <= 8 => {
            let items: Vec<String> = list.iter().map(|x| single(*x)).collect();
            format!("[{}]", items.join(", "))
        }
        _ => format!("{} constant", ty.shape),
    }
}

/// How a leaf is filled.
pub(super) fn filled(init: &Init) -> String {
    let n = number;
    match init {
        Init::Fill(v) => n(*v),
        Init::Literal(_) => "given".to_owned(),
        Init::Arange { start, step } => format!("arange(start={}, step={})", n(*start), n(*step)),
        Init::Linspace { a, b } => format!("linspace({}, {})", n(*a), n(*b)),
        Init::Eye => "eye".to_owned(),
        Init::Rand { seed, lo, hi } => format!("rand(seed={seed}, lo={}, hi={})", n(*lo), n(*hi)),
        Init::Randn { seed } => format!("randn(seed={seed})"),
    }
}

/// An op's value as a formula of names: infix where there is a sign, else a call.
pub(super) fn expression(
    op: OpKind,
    src: &[NodeId],
    params: &[Value],
    name: &dyn Fn(NodeId) -> String,
) -> String {
    let def = op.def();
    let args: Vec<String> = src.iter().map(|s| name(*s)).collect();
    match (def.sign, args.as_slice()) {
        (Some(Sign::Infix(sign)), [a, b]) => {
            let sign = match sign {
                "*" => "·",
                "-" => "−",
                "<=" => "≤",
                ">=" => "≥",
                "==" => "=",
                "!=" => "≠",
                other => other,
            };
            format!("{a} {sign} {b}")
        }
        (Some(Sign::Prefix(_)), [a]) => format!("−{a}"),
        (_, [of, ..])
            if params.iter().any(|p| matches!(p, Value::Index(_))) && def.params.len() == 1 =>
        {
            let items: Vec<String> = params.iter().flat_map(bracket).collect();
            format!("{of}[{}]", items.join(", "))
        }
        _ => {
            let mut parts = args;
            // A node that was given by name stands among the operands.
            let own = def.params.iter().zip(params).filter(|(p, _)| p.kind != ParamKind::Node);
            for (spec, value) in own {
                if let Some(text) = value_text(value) {
                    parts.push(format!("{}={text}", spec.name));
                }
            }
            format!("{}({})", def.name, parts.join(", "))
        }
    }
}

/// The items of a bracket as they are written.
fn bracket(value: &Value) -> Vec<String> {
    let Value::Index(items) = value else { return Vec::new() };
    let part = |n: Option<i64>| n.map_or_else(String::new, |n| n.to_string());
    let item = |i: &Index| match *i {
        Index::At(n) => n.to_string(),
        Index::Range { start, stop, step: None } => format!("{}:{}", part(start), part(stop)),
        Index::Range { start, stop, step } => {
            format!("{}:{}:{}", part(start), part(stop), part(step))
        }
        Index::New => "_".to_owned(),
        Index::Rest => "...".to_owned(),
    };
    items.iter().map(item).collect()
}

fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::None | Value::Index(_) | Value::Bool(false) => None,
        Value::Num(x) => Some(number(*x)),
        Value::Int(n) => Some(n.to_string()),
        Value::Bool(true) => Some("true".to_owned()),
        Value::Text(text) => Some(format!("\"{text}\"")),
        Value::Ints(list) => {
            const SHOWN: usize = 32;
            let mut items: Vec<String> = list.iter().take(SHOWN).map(i64::to_string).collect();
            if list.len() > SHOWN {
                items.push("…".to_owned());
            }
            Some(format!("[{}]", items.join(",")))
        }
    }
}

/// What a rule sends to a source, in names; empty where it sends nothing.
pub(super) fn sends(
    op: OpKind,
    src_ix: usize,
    node: &str,
    src: &[NodeId],
    params: &[Value],
    name: &dyn Fn(NodeId) -> String,
) -> String {
    let Flow::Carries { formula, .. } = RuleSet::flow(op, src_ix) else { return String::new() };
    let def = op.def();
    let mut out = String::with_capacity(formula.len() + 8);
    let mut word = String::new();
    for c in formula.chars().chain(std::iter::once('\0')) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            let operand = |ix: usize| src.get(ix).map(|s| name(*s));
            let replaced = match word.as_str() {
                "a" => operand(0),
                "b" => operand(1),
                "c" => operand(2),
                "y" => Some(node.to_owned()),
                "g" => Some(format!("d{node}")),
                other => def.params.iter().zip(params).find(|(p, _)| p.name == other).and_then(
                    |(p, v)| {
                        value_text(v).or(match p.name {
                            "min" => Some("−∞".to_owned()),
                            "max" => Some("∞".to_owned()),
                            _ => None,
                        })
                    },
                ),
            };
            out.push_str(replaced.as_deref().unwrap_or(&word));
            word.clear();
        }
        if c != '\0' {
            out.push(c);
        }
    }
    // A bound that is not there is not worth reading.
    out.replace(" ≤ ∞", "").replace("−∞ ≤ ", "")
}
