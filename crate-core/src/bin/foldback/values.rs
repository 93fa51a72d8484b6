//! `run`: the values of every node, forward; and how values are printed.
//! Deliberately absent: gradients, and findings of the backward graph.

use foldback::graph::{NodeId, NodeKind};
use foldback::report::{Analysis, FindingRow, json};
use foldback::tensor::Shape;

use crate::Status;
use crate::cx::{Cx, Stop, has_errors};
use crate::input::Input;

/// So many elements of a node are printed, where not all of them are asked for.
const MOST: usize = 64;

pub(crate) fn run(cx: &mut Cx, input: &Input, only: &[String]) -> Result<Status, Stop> {
    let progress = cx.begin(input);
    let analysis = input.analyse();
    drop(progress);
    // The build of the backward graph is not what was asked about: those findings come after the text's.
    let n_text = analysis.parsed.diagnostics.len() + analysis.lowered.diagnostics.len();
    let findings: Vec<FindingRow> = analysis.report.findings.iter().take(n_text).cloned().collect();
    for name in only {
        if !analysis.lowered.names.contains_key(name.as_str()) {
            return Err(Stop::Says(format!("{}: no node called {name} has a value", input.name)));
        }
    }
    let wanted = |name: &str| only.is_empty() || only.iter().any(|n| n == name);
    if cx.json {
        cx.stream(|out| {
            write!(out, "{{\"file\":{},", json::string(&input.name))?;
            write!(out, "\"rules\":{},\"nodes\":", json::string(&analysis.report.rules))?;
            json::nodes(&analysis, out, &wanted)?;
            write!(out, ",\"findings\":{}}}", json::findings(&findings))
        })?;
        cx.line("")?;
    } else {
        cx.aside(input, &findings)?;
        let most = if only.is_empty() { MOST } else { usize::MAX };
        for (id, name) in forward(&analysis).filter(|(_, name)| wanted(name)) {
            cx.line(&format!("{name} {} = {}", ty(&analysis, id), value(&analysis, id, most)))?;
        }
    }
    Ok(if analysis.misread() { 2 } else { u8::from(has_errors(&findings)) })
}

/// Forward nodes that have a name of their own, in order.
pub(crate) fn forward(analysis: &Analysis) -> impl Iterator<Item = (NodeId, &str)> {
    let all = analysis.trace.graph.prefix(analysis.trace.n_forward);
    all.filter(|(_, node)| !node.flags.inline)
        .map(|(id, node)| (id, node.name.as_deref().unwrap_or_default()))
}

/// `param f32 [2, 3]`.
pub(crate) fn ty(analysis: &Analysis, id: NodeId) -> String {
    let node = analysis.trace.graph.node(id);
    let word = match &node.kind {
        NodeKind::Leaf(_) if node.flags.param => "param ",
        NodeKind::Leaf(_) => "const ",
        NodeKind::Op { .. } => "",
    };
    format!("{word}{} {}", node.ty.dtype, node.ty.shape)
}

/// A node's value, as a list of lists.
pub(crate) fn value(analysis: &Analysis, id: NodeId, most: usize) -> String {
    let graph = &analysis.trace.graph;
    let ty = graph.node(id).ty;
    array(ty.shape, &analysis.values.read_f64(graph, id), ty.dtype.name(), most)
}

/// Numbers as a list of lists; past so many, as a flat list that says how many there are.
pub(crate) fn array(shape: Shape, values: &[f64], dtype: &str, most: usize) -> String {
    let shown = |x: &f64| number(*x, dtype);
    if values.len() > most {
        let some: Vec<String> = values.iter().take(8).map(shown).collect();
        return format!("[{}, … {} elements]", some.join(", "), values.len());
    }
    let mut parts: Vec<String> = values.iter().map(shown).collect();
    let mut dims = shape.dims().to_vec();
    while let Some(extent) = dims.pop() {
        let n = dims.iter().map(|d| *d as usize).product();
        let lists = (0..n).map(|ix| {
            let at = ix * extent as usize;
            format!("[{}]", parts.get(at..at + extent as usize).unwrap_or_default().join(", "))
        });
        parts = lists.collect();
    }
    parts.concat()
}

/// The shortest digits that give an element back.
pub(crate) fn number(x: f64, dtype: &str) -> String {
    let digits = if dtype == "i32" { json::number(x) } else { json::single(x) };
    digits.trim_matches('"').to_owned()
}
