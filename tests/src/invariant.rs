//! What holds of every trace, whatever the text.

use foldback::report::Analysis;
use foldback::trace::{End, Event, Frame};

/// What is wrong with a trace; nothing where all is well.
pub fn broken(analysis: &Analysis) -> Vec<String> {
    let trace = &analysis.trace;
    let mut out = Vec::new();
    let terminal = |e: &Event| matches!(e, Event::Finished | Event::Refused(_));
    let n_terminal = trace.events.iter().filter(|e| terminal(e)).count();
    if n_terminal != 1 || !trace.events.last().is_some_and(terminal) {
        out.push(format!("{n_terminal} terminal events"));
    }
    let mut so_far = Frame::new(trace.n_forward);
    for (step, event) in trace.events.iter().enumerate() {
        // What the driver wrote down while it built must be what the fold says it was.
        let grad =
            |node: foldback::graph::NodeId| so_far.grads.get(node.index()).copied().flatten();
        match *event {
            Event::Entered { node, grad: had } if grad(node) != Some(had) => {
                out.push(format!(
                    "step {step}: entered with a gradient that the fold does not have"
                ));
            }
            Event::Contributed { into, before, .. } if grad(into) != before => {
                out.push(format!("step {step}: joined a gradient that the fold does not have"));
            }
            Event::Entered { .. } if so_far.inside.is_some() => {
                out.push(format!("step {step}: entered twice"));
            }
            Event::Left { node } if so_far.inside != Some(node) => {
                out.push(format!("step {step}: left what was not entered"));
            }
            Event::Emitted { node, .. } if node.index() != so_far.n_nodes.max(trace.n_forward) => {
                out.push(format!("step {step}: nodes appended out of order"));
            }
            _ => {}
        }
        so_far.apply(event);
    }
    let end = trace.frame(trace.events.len());
    if end != so_far || trace.frame(usize::MAX) != end {
        out.push("the last frame depends on how it is reached".to_owned());
    }
    if end.n_nodes != trace.graph.len() && trace.refusal().is_none() {
        out.push(format!(
            "the last frame has {} nodes, the graph {}",
            end.n_nodes,
            trace.graph.len()
        ));
    }
    let finished = matches!(end.end, Some(End::Finished));
    if finished == trace.refusal().is_some() {
        out.push("a refusal and an end that do not belong together".to_owned());
    }
    for (ix, grad) in end.grads.iter().enumerate() {
        let node = trace.graph.nodes().nth(ix);
        if let (Some((_, node)), Some(grad)) = (node, grad) {
            let shape = trace.graph.node(*grad).ty.shape;
            if shape != node.ty.shape {
                out.push(format!("a gradient of {shape} for {}", node.ty.shape));
            }
        }
    }
    out
}

/// Whether every prefix of a trace folds to what one event more makes of the prefix before it. Quadratic.
pub fn prefixes_fold(analysis: &Analysis) -> bool {
    let trace = &analysis.trace;
    let mut frame = Frame::new(trace.n_forward);
    for step in 0..=trace.events.len() {
        if trace.frame(step) != frame {
            return false;
        }
        if let Some(event) = trace.events.get(step) {
            frame.apply(event);
        }
    }
    true
}
