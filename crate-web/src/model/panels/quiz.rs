//! Predict mode: before a step is shown, its shape is chosen and its first element is told.
//!
//! What was guessed comes back in the question, so nothing is kept here: `s=1 v=0.5`.

use foldback::report::{NodeRow, TickRow};

use super::{Opened, said};
use crate::model::markup::{Html, shape};
use crate::model::number::short;

/// How far a told number may be off, relative.
const NEAR: f64 = 1e-3;

/// The card for the step that comes next.
pub(super) fn panel(opened: &Opened, step: usize, guess: &str) -> String {
    let report = opened.report();
    let Some(tick) = report.ticks.get(step) else { return String::new() };
    let Some(node) = tick.node.and_then(|ix| opened.node(ix)) else { return String::new() };
    let shapes = choices(opened, tick, node);
    let chosen = said(guess, "s").and_then(|n| n.parse::<usize>().ok());
    let right = shapes.iter().position(|dims| *dims == node.shape);
    let knows_shape = chosen.is_some() && chosen == right;
    let mut html = Html::new();
    html.raw("<section class=\"quiz\" aria-label=\"Predict\"><h3>");
    html.raw(if knows_shape { "And its first element?" } else { "Which shape comes next?" });
    html.raw("<span class=\"sub\">").text(&node.name);
    if let Some(into) = node.into.and_then(|ix| opened.node(ix)) {
        html.raw(", part of the gradient of ").text(&into.name);
    }
    html.raw("</span></h3>");
    if knows_shape {
        value(&mut html, node, chosen.unwrap_or(0), said(guess, "v"));
    } else {
        html.raw("<p class=\"ways\">");
        for (ix, dims) in shapes.iter().enumerate() {
            let wrong = chosen == Some(ix);
            html.raw("<button class=\"btn line").raw(if wrong { " wrong" } else { "" });
            html.raw("\" data-do=\"guess s=").int(ix).raw("\" data-key=\"g").int(ix).raw("\">");
            html.raw(if wrong { "<s>" } else { "" }).raw(&shape(dims));
            html.raw(if wrong { "</s>" } else { "" }).raw("</button>");
        }
        html.raw("</p>");
        if chosen.is_some() {
            html.raw("<p class=\"prose\" role=\"status\">")
                .prose(&hint(opened, tick, node))
                .raw("</p>");
        }
    }
    html.raw("<p class=\"ways\"><button class=\"btn\" data-do=\"step ").int(step);
    html.raw("\">Show it</button></p></section>");
    html.done()
}

fn value(html: &mut Html, node: &NodeRow, chosen: usize, told: Option<&str>) {
    html.raw("<p class=\"prose\"><span class=\"t-ok\">Right, ").raw(&shape(&node.shape));
    html.raw(".</span></p>");
    let Some(first) = node.values.first().copied() else { return };
    let number = told.and_then(|told| told.replace('−', "-").parse::<f64>().ok());
    let is_right = number.is_some_and(|x| (x - first).abs() <= NEAR * first.abs().max(NEAR));
    if is_right {
        html.raw("<p class=\"prose\" role=\"status\"><span class=\"t-ok\">Right, ");
        html.text(&short(first, 6)).raw(".</span></p>");
        return;
    }
    html.raw("<label class=\"field\"><span>element</span><input type=\"text\" inputmode=\"decimal\" autocomplete=\"off\" data-key=\"quiz\" data-then=\"guess s=");
    html.int(chosen).raw(" v=\" value=\"").text(told.unwrap_or("")).raw("\"></label>");
    if told.is_some() {
        html.raw("<p class=\"prose\" role=\"status\">Not that. It is <code>").text(&node.formula);
        html.raw("</code>.</p>");
    }
}

/// The right shape among others that one may take it for, in an order that tells nothing.
fn choices(opened: &Opened, tick: &TickRow, node: &NodeRow) -> Vec<Vec<u32>> {
    let mut all = vec![node.shape.clone()];
    let mut add = |dims: Vec<u32>| {
        if !all.contains(&dims) && all.len() < 4 {
            all.push(dims);
        }
    };
    for ix in &node.src {
        if let Some(src) = opened.node(*ix) {
            add(src.shape.clone());
        }
    }
    if let Some(inside) = tick.inside.and_then(|ix| opened.node(ix)) {
        for ix in &inside.src {
            if let Some(src) = opened.node(*ix) {
                add(src.shape.clone());
            }
        }
    }
    let mut turned = node.shape.clone();
    turned.reverse();
    add(turned);
    if let Some(last) = node.shape.len().checked_sub(1) {
        let mut ones = node.shape.clone();
        ones[last] = if ones[last] == 1 { 2 } else { 1 };
        add(ones);
    }
    add(Vec::new());
    add(vec![node.n_elements.min(u64::from(u32::MAX - 1)) as u32]);
    all.sort();
    all
}

/// What decides the shape, without telling it.
fn hint(opened: &Opened, tick: &TickRow, node: &NodeRow) -> String {
    let shape_of = |ix: Option<u32>| ix.and_then(|ix| opened.node(ix)).map(|node| &node.shape);
    if tick.fold.is_some() {
        "A fold ends in the shape of the operand that was stretched.".to_owned()
    } else if shape_of(node.into) == Some(&node.shape) {
        "A gradient has the shape of what it is the gradient of.".to_owned()
    } else if shape_of(tick.inside) == Some(&node.shape) {
        "Before it is folded, it has the shape of the rule's result.".to_owned()
    } else {
        format!("It is computed as `{}`.", node.formula)
    }
}
