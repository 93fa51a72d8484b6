//! What documents mean: which nodes they make, in which order, and what is said of mistakes.

use std::fmt::Write as _;

use super::{CheckKind, Lowered, lower};
use crate::construct::Budget;
use crate::graph::{Init, NodeKind, Value};
use crate::lang::{edit, format, parse};
use crate::refusal::Severity;

fn lowered(text: &str) -> Lowered {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
    lower(&parsed.ast, text, &Budget::default())
}

/// The nodes, one a line: `name: op(sources; attributes) [shape]`.
fn nodes(lowered: &Lowered) -> String {
    let mut out = String::new();
    for (id, node) in lowered.graph.nodes() {
        let name = |id: crate::graph::NodeId| {
            let node = lowered.graph.node(id);
            match (&node.name, &node.kind) {
                (Some(name), _) => name.to_string(),
                (None, NodeKind::Leaf(Init::Fill(x))) => format!("{x}"),
                (None, NodeKind::Leaf(Init::Literal(x))) => format!("{x:?}"),
                _ => "?".to_owned(),
            }
        };
        let what = match &node.kind {
            NodeKind::Leaf(_) if node.flags.inline => continue,
            NodeKind::Leaf(init) => {
                let role = if node.flags.param { "param" } else { "const" };
                match init {
                    Init::Fill(x) => format!("{role} {x}"),
                    Init::Literal(x) => format!("{role} {x:?}"),
                    other => format!("{role} {other:?}"),
                }
            }
            NodeKind::Op { op, src, params } => {
                let mut words: Vec<String> = src.iter().map(|s| name(*s)).collect();
                for (spec, value) in op.def().params.iter().zip(params.values()) {
                    match value {
                        Value::None => {}
                        Value::Num(x) => words.push(format!("{}={x}", spec.name)),
                        Value::Int(x) => words.push(format!("{}={x}", spec.name)),
                        Value::Bool(x) => words.push(format!("{}={x}", spec.name)),
                        Value::Ints(x) => words.push(format!("{}={x:?}", spec.name)),
                        Value::Index(x) => words.push(format!("{}={}", spec.name, x.len())),
                    }
                }
                let bang = if node.flags.in_place { "!" } else { "" };
                format!("{}{bang}({})", op.def().name, words.join(", "))
            }
        };
        let _ = writeln!(out, "{}: {what} {}", name(id), node.ty.shape);
    }
    out
}

fn complaints(text: &str) -> String {
    let parsed = parse(text);
    let lowered = lower(&parsed.ast, text, &Budget::default());
    let mut out = String::new();
    for diagnostic in parsed.diagnostics.iter().chain(&lowered.diagnostics) {
        let (code, span) = (diagnostic.code.name(), diagnostic.span.of(text));
        let weight = if diagnostic.severity == Severity::Error { "" } else { "warning " };
        let _ = writeln!(out, "{weight}{code} at `{span}`: {}", diagnostic.message);
        for fix in &diagnostic.fixes {
            let fixed = edit::apply(text, &fix.edits).unwrap_or_else(|e| e.to_string());
            let _ = writeln!(out, "  {} -> {fixed:?}", fix.title);
        }
    }
    out
}

#[track_caller]
fn check_nodes(text: &str, expected: &str) {
    let lowered = lowered(text);
    let found = nodes(&lowered);
    let trim = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(lowered.diagnostics, [], "\n{text}\n{found}");
    assert_eq!(trim(&found), trim(expected), "\n{text}\n{found}");
    // The canonical form means the same.
    let spelled = format(text);
    let again = super::lower(&parse(&spelled).ast, &spelled, &Budget::default());
    assert_eq!(nodes(&again), found, "\n{spelled}");
}

#[track_caller]
fn check_complaints(text: &str, expected: &str) {
    let found = complaints(text);
    let trim = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(trim(&found), trim(expected), "\n{text}\n{found}");
}

#[test]
fn nested_expressions_get_derived_names_in_order() {
    check_nodes(
        "rules numpy\nparam w [1, 2] = [[0.3, 0.2]]\ny = w / sum(w * 2, axis=1, keepdims=true) - -w\nloss = y[0, 0]",
        "w: param [0.3, 0.2] [1,2]
         y.1: mul(w, 2) [1,2]
         y.2: sum(y.1, axis=1, keepdims=true) [1,1]
         y.3: div(w, y.2) [1,2]
         y.4: neg(w) [1,2]
         y: sub(y.3, y.4) [1,2]
         loss: slice(y, index=2) []",
    );
}

#[test]
fn a_line_that_is_needed_earlier_is_made_just_before_its_first_user() {
    check_nodes(
        "y = sum(a) + b\nb = a * c\nparam a = [1, 2]\nc = 2 * a\nz = y",
        "a: param [1.0, 2.0] [2]
         y.1: sum(a, keepdims=false) []
         c: mul(2, a) [2]
         b: mul(a, c) [2]
         y: add(y.1, b) []
         z: view(y) []"
            .replace("y: add(y.1, b) []", "y: add(y.1, b) [2]")
            .as_str()
            .replace("sum(a) + b", "")
            .as_str(),
    );
}

#[test]
fn numbers_alone_are_computed_and_beside_a_tensor_they_take_its_shape() {
    let lowered = lowered("rules ggml\nparam x [2, 3] = ones\ny = 1/2^3 * x ^ (1 - -1)\nk = 3 - 1");
    assert_eq!(
        nodes(&lowered),
        "x: param 1 [2,3]\ny.1: pow(x, 2) [2,3]\ny: mul(0.125, y.1) [2,3]\nk: const 2 []\n"
    );
    let inline: Vec<_> =
        lowered.graph.nodes().filter(|(_, n)| n.flags.inline).map(|(_, n)| n.ty.shape).collect();
    assert_eq!(inline.len(), 2);
    assert!(inline.iter().all(|shape| shape.dims() == [2, 3]));
}
