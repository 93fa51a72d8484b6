//! What stands beneath the inspected node: ways into its fold and its paths, its rule as mathematics, where wrong
//! numbers began, and what all its elements say together.

use foldback::lang::patch::{Drawn, DrawnKind, sketch};
use foldback::ops::def::ParamKind;
use foldback::report::{NodeRow, Report, Role};

use super::mathml::math;
use super::{Opened, fold, place};
use crate::model::markup::Html;
use crate::model::number::{plain, short};

/// Bars of a histogram.
const BINS: usize = 24;
/// The most elements that are taken along at once.
const MOST: u64 = 1 << 20;
/// From how many elements on a tensor has one.
const MANY: u64 = 24;

/// `chosen` are the names of what is selected where that are several, `closed` those of the calls drawn closed.
pub(super) fn panel(
    opened: &Opened,
    step: usize,
    node: Option<u32>,
    chosen: &str,
    closed: &str,
) -> String {
    let report = opened.report();
    let mut html = Html::new();
    place::several(&mut html, chosen, closed);
    let Some((ix, row)) = node.and_then(|ix| Some((ix, opened.node(ix)?))) else {
        return html.done();
    };
    ways(&mut html, opened, step, ix);
    edits(&mut html, opened, ix);
    place::one(&mut html, opened, ix, closed);
    rule(&mut html, report, ix, row);
    origin(&mut html, report, ix, row);
    elements(&mut html, opened, ix, row);
    html.done()
}

fn ways(html: &mut Html, opened: &Opened, step: usize, ix: u32) {
    let report = opened.report();
    let about = report.ticks.get(step).and_then(|tick| tick.node) == Some(ix);
    let folds = about && fold::folding(opened, step).is_some();
    let of = if ix < report.n_forward { Some(ix) } else { report.nodes[ix as usize].into };
    let back = of.is_some_and(|of| report.grads.get(of as usize).copied().flatten().is_some());
    if !folds && !back {
        return;
    }
    html.raw("<div class=\"sec ways\">");
    if folds {
        html.raw("<button class=\"btn line\" data-do=\"show-fold\">").boxed_icon("fold");
        html.raw("Watch the fold</button>");
    }
    if back {
        html.raw("<button class=\"btn line\" data-do=\"show-paths\">").boxed_icon("half");
        html.raw("Paths<kbd>P</kbd></button>");
    }
    html.raw("</div>");
}

/// What can be changed of a node: its name, its value and shape or its attributes, and where it stands in the graph.
fn edits(html: &mut Html, opened: &Opened, ix: u32) {
    let report = opened.report();
    let Some(name) =
        report.nodes.get(ix as usize).filter(|_| ix < report.n_forward).map(|n| &n.name)
    else {
        return;
    };
    let Some(drawn) = sketch(&opened.text).into_iter().find(|drawn| drawn.name == *name) else {
        return;
    };
    html.raw("<div class=\"sec edits\"><h3>Edit<kbd>E</kbd></h3>");
    field(html, "name", &["rename ", name, " "].concat(), name);
    match &drawn.kind {
        DrawnKind::Param | DrawnKind::Const => leaf(html, opened, &drawn),
        DrawnKind::Op(op) => attributes(html, opened, &drawn, op),
        DrawnKind::Call(_) | DrawnKind::Open | DrawnKind::Unread => {}
    }
    html.raw("<p class=\"ways\">");
    let mut button = |command: &str, word: &str, key: &str| {
        html.raw("<button class=\"btn line\" data-do=\"").text(command).raw("\">").raw(word);
        if !key.is_empty() {
            html.raw("<kbd>").raw(key).raw("</kbd>");
        }
        html.raw("</button>");
    };
    button("draw connect", "Connect", "C");
    button("draw new", "New behind", "N");
    if !drawn.slots.is_empty() {
        button("draw before", "New before", "");
    }
    button(&["make duplicate ", name].concat(), "Duplicate", "D");
    button(&["make delete ", name].concat(), "Delete", "Del");
    if let DrawnKind::Call(_) = drawn.kind {
        button(&["make ungroup ", name].concat(), "Ungroup", "");
    }
    html.raw("</p></div>");
}

fn field(html: &mut Html, label: &str, make: &str, value: &str) {
    html.raw("<label class=\"field\"><span>").text(label).raw(
        "</span><input type=\"text\" spellcheck=\"false\" autocomplete=\"off\" data-then=\"make ",
    );
    html.text(make)
        .raw("\" data-key=\"edit ")
        .text(label)
        .raw("\" value=\"")
        .text(value)
        .raw("\"></label>");
}

fn leaf(html: &mut Html, opened: &Opened, drawn: &Drawn) {
    let line = opened.text.get(drawn.line.start as usize..drawn.line.end as usize).unwrap_or("");
    let (head, value) = line.split_once('=').unwrap_or((line, ""));
    let shape = head.find('[').and_then(|at| head.get(at..=head.rfind(']')?)).unwrap_or("");
    field(html, "shape", &["shape ", &drawn.name, " "].concat(), shape);
    let value = value.split(" #").next().unwrap_or("").trim();
    field(html, "value", &["value ", &drawn.name, " "].concat(), value);
    let (other, word) = match drawn.kind {
        DrawnKind::Param => ("no", "Hold it still: const"),
        _ => ("yes", "Let it train: param"),
    };
    html.raw("<p><button class=\"btn line\" data-do=\"make trains ").text(&drawn.name);
    html.raw(" ").raw(other).raw("\">").raw(word).raw("</button></p>");
}

/// A field for each attribute of the op, with what the text says of it.
fn attributes(html: &mut Html, opened: &Opened, drawn: &Drawn, op: &str) {
    let Some(def) = foldback::ops::by_name(op).map(foldback::ops::OpKind::def) else { return };
    let text = opened.text.get(drawn.span.start as usize..drawn.span.end as usize).unwrap_or("");
    for param in def.params.iter().filter(|param| param.kind != ParamKind::Node) {
        let mut names = std::iter::once(&param.name).chain(param.aliases);
        let written = names.find_map(|name| text.split_once(&[*name, "="].concat()));
        let value = written.map_or("", |(_, rest)| upto(rest));
        field(html, param.name, &["attribute ", &drawn.name, " ", param.name, " "].concat(), value);
    }
}

/// What stands before the comma or bracket that ends an attribute.
fn upto(text: &str) -> &str {
    let mut deep = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => deep += 1,
            ')' | ']' if deep > 0 => deep -= 1,
            ',' | ')' | ']' if deep == 0 => return text.get(..at).unwrap_or("").trim(),
            _ => {}
        }
    }
    text.trim()
}

/// The rule as mathematics: the value, and what it sends to each operand.
fn rule(html: &mut Html, report: &Report, ix: u32, node: &NodeRow) {
    let of = if ix < report.n_forward {
        Some(node)
    } else {
        node.of.and_then(|of| report.nodes.get(of as usize))
    };
    let Some(node) = of.filter(|node| node.role == Role::Op) else { return };
    html.raw("<div class=\"sec\"><h3>As mathematics<span class=\"sub\">").text(&node.place);
    html.raw("</span></h3><div class=\"mathrows\">");
    math(html, &format!("{} = {}", node.name, node.formula));
    for (src, sent) in node.src.iter().zip(&node.sends) {
        let Some(source) = report.nodes.get(*src as usize) else { continue };
        if !sent.is_empty() && source.role != Role::Inline {
            math(html, &format!("d{} = {sent}", source.name));
        }
    }
    html.raw("</div></div>");
}

/// Where numbers that are not finite began, when this node only inherits them.
fn origin(html: &mut Html, report: &Report, ix: u32, node: &NodeRow) {
    let bad = |node: &NodeRow| node.stats.n_nan + node.stats.n_inf > 0;
    if !bad(node) {
        return;
    }
    // Back along sources that have them, first source first; ids only fall, so this ends.
    let mut at = ix;
    while let Some(earlier) = report.nodes.get(at as usize).and_then(|node| {
        let mut all = node.src.iter().filter(|src| **src < at);
        all.find(|src| report.nodes.get(**src as usize).is_some_and(bad)).copied()
    }) {
        at = earlier;
    }
    let Some(first) = report.nodes.get(at as usize) else { return };
    html.raw("<div class=\"sec\"><h3>Not finite</h3><p class=\"prose\">");
    if at == ix {
        html.raw("It begins here: ").text(&first.formula);
    } else {
        html.raw("It began at <button class=\"link\" data-do=\"select ").int(at as usize);
        html.raw("\">").text(&first.name).raw("</button>, ").text(&first.formula);
    }
    html.raw("</p></div>");
}

/// All elements: what they say together, a histogram, and ways to take them along.
fn elements(html: &mut Html, opened: &Opened, ix: u32, node: &NodeRow) {
    if node.values.is_empty() {
        return;
    }
    html.raw("<div class=\"sec\"><h3>Elements<span class=\"sub\">").int(node.n_elements as usize);
    html.raw("</span></h3>");
    if node.n_elements >= MANY {
        histogram(html, &opened.elements(ix), node);
    }
    html.raw("<p class=\"ways\"><button class=\"btn line\" data-do=\"take text ").int(ix as usize);
    html.raw("\">Copy as text</button><button class=\"btn line\" data-do=\"take npy ");
    html.int(ix as usize).raw("\">Save as .npy</button></p></div>");
}

fn histogram(html: &mut Html, values: &[f64], node: &NodeRow) {
    let (min, max) = (node.stats.min, node.stats.max);
    let span = max - min;
    let mut bins = [0usize; BINS];
    for x in values.iter().filter(|x| x.is_finite()) {
        let at = if span > 0.0 { ((x - min) / span * BINS as f64) as usize } else { 0 };
        if let Some(bin) = bins.get_mut(at.min(BINS - 1)) {
            *bin += 1;
        }
    }
    let most = bins.iter().copied().max().unwrap_or(1).max(1);
    html.raw("<svg class=\"histogram\" role=\"img\" aria-label=\"").int(values.len());
    html.raw(" values from ").text(&short(min, 4)).raw(" to ").text(&short(max, 4));
    html.raw(", mean ").text(&short(node.stats.mean, 4)).raw("\" viewBox=\"0 0 288 56\">");
    for (at, n) in bins.iter().enumerate().filter(|(_, n)| **n > 0) {
        let high = (*n as f64 / most as f64 * 52.0).max(1.5);
        html.raw("<rect x=\"").int(at * 12).raw("\" y=\"").at(54.0 - high);
        html.raw("\" width=\"11\" height=\"").at(high).raw("\"/>");
    }
    if min < 0.0 && max > 0.0 {
        html.raw("<path d=\"M").at(-min / span * 288.0).raw(" 0V56\"/>");
    }
    html.raw("</svg><p class=\"ends\"><span>").text(&short(min, 4)).raw("</span><span>mean ");
    html.text(&short(node.stats.mean, 4)).raw("</span><span>").text(&short(max, 4));
    html.raw("</span></p>");
}

/// What one takes along of a node: the name of a file, nothing for the clipboard; a line end; and what it holds, as
/// text for the clipboard and as hexadecimal digits for a file.
pub(super) fn take(opened: &Opened, kind: &str, ix: u32) -> String {
    let Some(node) = opened.node(ix).filter(|node| node.n_elements <= MOST) else {
        return String::new();
    };
    let values = opened.elements(ix);
    match kind {
        "npy" => file_name(&node.name) + "\n" + &hex(&npy(&values, &node.shape)),
        _ => "\n".to_owned() + &listed(&values, &node.shape),
    }
}

/// The elements as a nested list, as the language writes them.
fn listed(values: &[f64], shape: &[u32]) -> String {
    let n_columns = shape.last().map_or(1, |n| *n as usize).max(1);
    let number = |x: &f64| plain(*x).replace('−', "-");
    if shape.is_empty() {
        return values.first().map(number).unwrap_or_default();
    }
    let rows: Vec<String> = values
        .chunks(n_columns)
        .map(|row| format!("[{}]", row.iter().map(number).collect::<Vec<_>>().join(", ")))
        .collect();
    let mut level = rows;
    for extent in shape.iter().rev().skip(1) {
        let extent = (*extent as usize).max(1);
        level = level.chunks(extent).map(|part| format!("[{}]", part.join(", "))).collect();
    }
    level.into_iter().next().unwrap_or_else(|| "[]".to_owned())
}

fn file_name(name: &str) -> String {
    let plain = name.replace('′', "-prime").replace('″', "-prime2");
    let kept: String = plain
        .chars()
        .map(|c| match c {
            '₀'..='₉' => char::from(b'0' + (c as u32 - 0x2080) as u8),
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') => c,
            _ => '_',
        })
        .collect();
    kept + ".npy"
}

/// NumPy's format, version 1.0: magic, header of a multiple of 64 bytes, `f4` little-endian in C order.
/// Source of the format: numpy/lib/format.py.
fn npy(values: &[f64], shape: &[u32]) -> Vec<u8> {
    let extents: Vec<String> = shape.iter().map(u32::to_string).collect();
    let tuple = match extents.as_slice() {
        [one] => format!("({one},)"),
        all => format!("({})", all.join(", ")),
    };
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    for x in values {
        out.extend((*x as f32).to_le_bytes());
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{file_name, hex, listed, npy};

    #[test]
    fn elements_are_nested_as_the_language_writes_them() {
        assert_eq!(listed(&[1.0, 2.5, -3.0, 4.0], &[2, 2]), "[[1, 2.5], [-3, 4]]");
        assert_eq!(listed(&[7.0], &[]), "7");
        assert_eq!(listed(&[1.0, 2.0], &[2, 1, 1]), "[[[1]], [[2]]]");
    }

    #[test]
    fn an_npy_file_has_the_header_that_numpy_writes() {
        let bytes = npy(&[1.0, -2.0], &[2]);
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let header = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
        assert_eq!((10 + header) % 64, 0);
        let text = String::from_utf8_lossy(&bytes[10..10 + header]).into_owned();
        assert!(text.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"));
        assert_eq!(&bytes[10 + header..], [0, 0, 128, 63, 0, 0, 0, 192]);
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(file_name("dw₁"), "dw1.npy");
        assert_eq!(file_name("dc′.1"), "dc-prime.1.npy");
        assert_eq!(hex(&[0, 255, 16]), "00ff10");
    }
}
