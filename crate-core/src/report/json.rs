//! The object that `foldback check FILE --json` prints, as text. `language.md`, *The command*, is its description.
//!
//! It is written part by part: the values of a large graph and the leaves after each step of a long run are never all
//! in memory. Deliberately absent: a serialiser. The object is small, its order is fixed, and the same text gives the
//! same bytes.

mod events;

use std::fmt::{self, Write};

use super::{Analysis, CheckReport, FindingRow, Told, TrainReport, Training};
use crate::graph::{NodeId, NodeKind};
use crate::tensor::{DType, Shape};

pub use events::{events, strings};

/// What a check run over a document found.
pub struct Answer {
    /// The object, one line.
    pub json: String,
    /// 0 built and every check passed, 1 refused or a check failed, 2 the text could not be read.
    pub status: u8,
}

/// Text as a JSON string.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A number, or the strings that stand for what JSON cannot say.
pub fn number(x: f64) -> String {
    if x.is_nan() {
        "\"nan\"".to_owned()
    } else if x.is_infinite() {
        if x > 0.0 { "\"inf\"" } else { "\"-inf\"" }.to_owned()
    } else if x == 0.0 {
        "0".to_owned()
    } else {
        let text = format!("{x:?}");
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    }
}

/// The shortest digits that give the f32 back.
pub fn single(x: f64) -> String {
    if !x.is_finite() || x == 0.0 {
        return number(x);
    }
    let text = format!("{:?}", x as f32);
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// An array, of items that are JSON.
pub fn list<T>(items: impl IntoIterator<Item = T>, f: impl Fn(T) -> String) -> String {
    let items: Vec<String> = items.into_iter().map(f).collect();
    format!("[{}]", items.join(","))
}

/// Extents, row-major.
pub fn shape(shape: &Shape) -> String {
    list(shape.dims(), u32::to_string)
}

/// An object, of names and what is JSON.
pub fn object<K: AsRef<str>>(entries: impl IntoIterator<Item = (K, String)>) -> String {
    let items: Vec<String> =
        entries.into_iter().map(|(k, v)| format!("{}:{v}", string(k.as_ref()))).collect();
    format!("{{{}}}", items.join(","))
}

/// A text, or null where there is none.
pub fn text(text: &str) -> String {
    if text.is_empty() { null() } else { string(text) }
}

fn null() -> String {
    "null".to_owned()
}

/// Where the parts of an object go.
type Out<'a> = &'a mut dyn Write;

/// Items that are written one by one.
fn each<T>(
    out: Out<'_>,
    items: impl IntoIterator<Item = T>,
    mut item: impl FnMut(Out<'_>, T) -> fmt::Result,
) -> fmt::Result {
    for (ix, it) in items.into_iter().enumerate() {
        if ix > 0 {
            out.write_char(',')?;
        }
        item(out, it)?;
    }
    Ok(())
}

/// Runs every check and the training of a document, and says it all.
pub fn answer(analysis: &Analysis) -> Answer {
    let mut json = String::new();
    // A text takes whatever is written to it.
    let status = write(analysis, None, &mut json, &mut |_| {}).unwrap_or_default();
    Answer { json, status }
}

/// The same into a stream, with the file's name where there is one; what comes back is the status.
pub fn write(
    analysis: &Analysis,
    file: Option<&str>,
    out: &mut dyn Write,
    told: &mut dyn FnMut(Told),
) -> Result<u8, fmt::Error> {
    out.write_char('{')?;
    if let Some(file) = file {
        write!(out, "\"file\":{},", string(file))?;
    }
    write!(out, "\"rules\":{},\"nodes\":", string(&analysis.report.rules))?;
    nodes(analysis, out, &|_| true)?;
    out.write_str(",\"loss\":")?;
    loss(analysis, out)?;
    out.write_str(",\"grads\":")?;
    grads(analysis, true, out)?;
    out.write_str(",\"node_grads\":")?;
    grads(analysis, false, out)?;
    write!(out, ",\"findings\":{},\"checks\":", findings(&analysis.report.findings))?;
    let checks = analysis.checks(told);
    out.write_str(&checks.as_ref().map_or_else(|| "{}".to_owned(), |c| check_object(analysis, c)))?;
    out.write_str(",\"train\":")?;
    let train = analysis.training().map(|t| train(t, out, told)).transpose()?;
    if train.is_none() {
        out.write_str("null")?;
    }
    out.write_char('}')?;
    Ok(analysis.status(checks.as_ref(), train.as_ref()))
}

fn name(analysis: &Analysis, id: NodeId) -> String {
    analysis.trace.graph.node(id).name.as_deref().unwrap_or_default().to_owned()
}

fn values(analysis: &Analysis, id: NodeId, out: Out<'_>) -> fmt::Result {
    out.write_char('[')?;
    let graph = &analysis.trace.graph;
    // A whole number may need more digits than an f32 has.
    let whole = graph.node(id).ty.dtype == DType::I32;
    let digits = if whole { number } else { single };
    each(out, analysis.values.read_f64(graph, id), |out, x| out.write_str(&digits(x)))?;
    out.write_char(']')
}

/// The name of the node that backward starts from, or null.
pub fn loss(analysis: &Analysis, out: &mut dyn Write) -> fmt::Result {
    out.write_str(&analysis.lowered.loss.map_or_else(null, |id| string(&name(analysis, id))))
}

/// Forward nodes and leaves of these names, in order, with their values.
pub fn nodes(
    analysis: &Analysis,
    out: &mut dyn Write,
    wanted: &dyn Fn(&str) -> bool,
) -> fmt::Result {
    let graph = &analysis.trace.graph;
    let shown = graph
        .prefix(analysis.trace.n_forward)
        .filter(|(id, n)| !n.flags.inline && wanted(&name(analysis, *id)));
    out.write_char('[')?;
    each(out, shown, |out, (id, node)| {
        let op = match &node.kind {
            NodeKind::Leaf(_) if node.flags.param => "param",
            NodeKind::Leaf(_) => "const",
            NodeKind::Op { op, .. } => op.def().name,
        };
        write!(
            out,
            "{{\"name\":{},\"op\":{},\"shape\":{},\"dtype\":{},\"value\":",
            string(&name(analysis, id)),
            string(op),
            shape(&node.ty.shape),
            string(node.ty.dtype.name()),
        )?;
        values(analysis, id, out)?;
        out.write_char('}')
    })?;
    out.write_char(']')
}

/// Gradients by trainable leaf, or by node, with their shapes.
pub fn grads(analysis: &Analysis, leaves: bool, out: &mut dyn Write) -> fmt::Result {
    out.write_char('{')?;
    each(out, analysis.gradients(leaves), |out, (id, grad)| {
        let shape_of = analysis.trace.graph.node(id).ty.shape;
        let (name, shape) = (string(&name(analysis, id)), shape(&shape_of));
        write!(out, "{name}:{{\"shape\":{shape},\"values\":")?;
        if let Some(grad) = grad {
            values(analysis, grad, out)?;
        } else {
            out.write_char('[')?;
            each(out, 0..shape_of.n_elements(), |out, _| out.write_char('0'))?;
            out.write_char(']')?;
        }
        out.write_char('}')
    })?;
    out.write_char('}')
}

/// Everything that was found, in order.
pub fn findings(all: &[FindingRow]) -> String {
    list(all, |f| {
        object(vec![
            ("severity", string(f.weight.name())),
            ("code", string(&f.code)),
            ("node", text(&f.name)),
            ("op", text(&f.op)),
            ("src", f.src.map_or_else(null, |s| s.to_string())),
            ("message", string(&f.message)),
            ("span", f.span.map_or_else(null, |(a, b)| format!("[{a},{b}]"))),
            (
                "fixes",
                list(&f.fixes, |fix| {
                    object(vec![
                        ("title", string(&fix.title)),
                        (
                            "edits",
                            list(&fix.edits, |(a, b, text)| {
                                object(vec![("span", format!("[{a},{b}]")), ("text", string(text))])
                            }),
                        ),
                    ])
                }),
            ),
        ])
    })
}

fn check_object(analysis: &Analysis, report: &CheckReport) -> String {
    object(report.verdicts(&analysis.report.checks).into_iter().map(|check| {
        let by_leaf = check.leaves.iter().map(|leaf| {
            let word = string(leaf.verdict.name());
            (&leaf.name, object([("error", number(leaf.error)), ("verdict", word)]))
        });
        (check.kind, object(by_leaf))
    }))
}

/// A step of a run: the loss before it and every leaf after it.
pub struct Moved {
    /// The loss before the step.
    pub loss: f64,
    /// Name and values of each leaf after the step.
    pub leaves: Vec<(String, Vec<f32>)>,
}

/// Takes every step of a run and writes each when the loss after it is known.
fn train(
    mut training: Training<'_>,
    out: Out<'_>,
    told: &mut dyn FnMut(Told),
) -> Result<TrainReport, fmt::Error> {
    out.write_str("{\"steps\":[")?;
    let mut last: Option<Moved> = None;
    let mut n_written = 0;
    loop {
        let stepped = training.advance();
        told(training.told());
        if let Some(step) = last.take() {
            // The loss after a step is the loss before the next one.
            let loss = training.report.losses.get(n_written + 1).copied().unwrap_or(step.loss);
            let comma = if n_written > 0 { "," } else { "" };
            write!(out, "{comma}{{\"loss\":{},\"leaves\":{{", number(loss))?;
            each(out, &step.leaves, |out, (name, values)| {
                write!(out, "{}:[", string(name))?;
                each(out, values, |out, x| out.write_str(&single(f64::from(*x))))?;
                out.write_char(']')
            })?;
            out.write_str("}}")?;
            n_written += 1;
        }
        if !stepped {
            break;
        }
        last = training.moved();
    }
    let report = training.report;
    write!(out, "],{}}}", train_state(&report))?;
    Ok(report)
}

/// How a run ended, as entries of an object: its state, and what stopped it.
pub fn train_state(report: &TrainReport) -> String {
    let mut entries = format!("\"state\":{}", string(&report.state));
    if report.state == "error" {
        let src = report.src.map_or_else(null, |s| s.to_string());
        entries.push_str(&format!(
            ",\"node\":{},\"op\":{},\"src\":{src},\"reason\":{}",
            text(&report.name),
            text(&report.op),
            string(&report.reason)
        ));
    }
    entries
}
