//! `grad`: the gradient of each parameter, with its shape.
//! Deliberately absent: gradients of other nodes in the text form; `--json` has them.

use foldback::refusal::Code;
use foldback::report::json;

use crate::Status;
use crate::cx::{Cx, Stop};
use crate::input::Input;
use crate::judge::summary;
use crate::values::array;

/// So many elements of a gradient are printed.
const MOST: usize = 1024;

pub(crate) fn grad(cx: &mut Cx, input: &Input) -> Result<Status, Stop> {
    let progress = cx.begin(input);
    let analysis = input.analyse();
    drop(progress);
    let report = &analysis.report;
    // A text without a loss is right as it stands; it is this question that has no answer.
    let without = (report.loss.is_none() && report.findings.is_empty()).then_some(Code::NoLoss);
    let status = analysis.status(None, None).max(u8::from(without.is_some()));
    if cx.json {
        cx.stream(|out| {
            write!(out, "{{\"file\":{},", json::string(&input.name))?;
            write!(out, "\"rules\":{},\"loss\":", json::string(&report.rules))?;
            json::loss(&analysis, out)?;
            out.write_str(",\"grads\":")?;
            json::grads(&analysis, true, out)?;
            out.write_str(",\"node_grads\":")?;
            json::grads(&analysis, false, out)?;
            write!(out, ",\"findings\":{}}}", json::findings(&report.findings))
        })?;
        cx.line("")?;
        return Ok(status);
    }
    cx.aside(input, &report.findings)?;
    if let Some(code) = without {
        cx.complain(&format!("{}: {code}: {} {}", input.name, code.meaning(), code.what_next()));
        return Ok(status);
    }
    cx.line(&summary(&input.name, report))?;
    let graph = &analysis.trace.graph;
    for (leaf, grad) in analysis.gradients(true) {
        let node = graph.node(leaf);
        let (name, shape) = (node.name.as_deref().unwrap_or_default(), node.ty.shape);
        let values = match grad {
            Some(grad) => array(shape, &analysis.values.read_f64(graph, grad), "f32", MOST),
            None => "zeros: the loss does not depend on it".to_owned(),
        };
        cx.line(&format!("  d{name} {shape} = {values}"))?;
    }
    Ok(status)
}
