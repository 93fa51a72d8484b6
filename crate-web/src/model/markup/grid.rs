//! A tensor's elements as tables: tint is magnitude, filled is positive, outlined is negative, the number is printed.

use foldback::report::NodeRow;

use super::Html;
use crate::model::number::{plain, short};

/// How many elements are printed; above, only what they say together.
const CELLS: u64 = 1024;
/// Whether the cells stand so close that they print fewer digits, and no zero before the point.
fn is_dense(node: &NodeRow) -> bool {
    node.shape.last().is_some_and(|extent| *extent > 6)
}

/// Significant digits in a cell: as many as the right column has room for.
fn digits(node: &NodeRow) -> usize {
    if is_dense(node) { 3 } else { 4 }
}

/// Adds the elements of a node. `hue` is the class of its side.
pub fn grid(html: &mut Html, node: &NodeRow, hue: &str) {
    if node.n_elements == 0 {
        html.raw("<p class=\"ink3\">No elements</p>");
        return;
    }
    if node.values.is_empty() {
        html.raw("<p class=\"ink3\">Not evaluated</p>");
        return;
    }
    if node.n_elements > CELLS {
        statistics(html, node);
        return;
    }
    let (digits, dense) = (digits(node), is_dense(node));
    let largest = node.values.iter().filter(|value| value.is_finite());
    let largest = largest.fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let n_columns = node.shape.last().map_or(1, |extent| *extent as usize);
    let n_rows = node.shape.iter().rev().nth(1).map_or(1, |extent| *extent as usize);
    let slices = node.values.chunks((n_columns * n_rows).max(1));
    for (slice_ix, slice) in slices.enumerate() {
        html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"");
        html.text(&node.name).raw("\"><table class=\"heat ").raw(hue).raw("\">");
        html.raw("<caption class=\"")
            .raw(if node.shape.len() > 2 { "slice" } else { "vh" })
            .raw("\">");
        html.text(&node.name);
        if node.shape.len() > 2 {
            html.text(&slice_name(&node.shape, slice_ix));
        }
        html.raw("</caption>");
        for row in slice.chunks(n_columns.max(1)) {
            html.raw("<tr>");
            for value in row {
                let (shown, full) = (short(*value, digits), plain(*value));
                let printed = if dense { without_zero(&shown) } else { shown.clone() };
                let level = magnitude(*value, largest);
                cell(html, *value, level, &printed, (shown != full).then_some(&full));
            }
            html.raw("</tr>");
        }
        html.raw("</table></div>");
    }
}

/// To how many digits a grid of the node is rounded, where it is.
pub fn rounds(node: &NodeRow) -> Option<usize> {
    let digits = digits(node);
    let rounded = |value: &f64| short(*value, digits) != plain(*value);
    (node.n_elements <= CELLS && node.values.iter().any(rounded)).then_some(digits)
}

/// `−.25` for `−0.25`.
fn without_zero(number: &str) -> String {
    match (number.strip_prefix("0."), number.strip_prefix("−0.")) {
        (Some(rest), _) => format!(".{rest}"),
        (_, Some(rest)) => format!("−.{rest}"),
        (None, None) => number.to_owned(),
    }
}

/// From 0 to 10, against the largest element.
fn magnitude(value: f64, largest: f64) -> usize {
    let level = if largest > 0.0 { (value.abs() / largest * 10.0).round() as usize } else { 0 };
    level.min(10)
}

/// `full` is what the printed number leaves out.
fn cell(html: &mut Html, value: f64, level: usize, printed: &str, full: Option<&String>) {
    let sign = match value {
        v if v.is_nan() => "x",
        0.0 => "z",
        v if v < 0.0 => "n",
        _ => "p",
    };
    html.raw("<td class=\"").raw(sign).raw(" a").int(level);
    if let Some(full) = full {
        html.raw("\" title=\"").text(full);
    }
    html.raw("\">").text(printed).raw("</td>");
}

/// `[1,0,:,:]`
fn slice_name(shape: &[u32], slice_ix: usize) -> String {
    let mut rest = slice_ix;
    let mut outer: Vec<String> = Vec::new();
    for extent in shape.iter().rev().skip(2) {
        let extent = (*extent as usize).max(1);
        outer.push((rest % extent).to_string());
        rest /= extent;
    }
    outer.reverse();
    format!("[{},:,:]", outer.join(","))
}

fn statistics(html: &mut Html, node: &NodeRow) {
    html.raw("<dl class=\"stats\">");
    let mut row = |name: &str, value: &str| {
        html.raw("<dt>").raw(name).raw("</dt><dd>").text(value).raw("</dd>");
    };
    row("elements", &node.n_elements.to_string());
    row("least", &plain(node.stats.min));
    row("greatest", &plain(node.stats.max));
    row("mean", &short(node.stats.mean, 8));
    if node.stats.n_nan > 0 {
        row("nan", &node.stats.n_nan.to_string());
    }
    if node.stats.n_inf > 0 {
        row("infinite", &node.stats.n_inf.to_string());
    }
    html.raw("</dl>");
}

#[cfg(test)]
mod tests {
    use super::{grid, rounds, slice_name};
    use crate::model::markup::Html;
    use foldback::report::NodeRow;

    fn node(shape: &[u32], values: &[f64]) -> NodeRow {
        NodeRow {
            name: "y".to_owned(),
            shape: shape.to_vec(),
            values: values.to_vec(),
            n_elements: shape.iter().map(|extent| u64::from(*extent)).product(),
            ..NodeRow::default()
        }
    }

    fn made(node: &NodeRow) -> String {
        let mut html = Html::new();
        grid(&mut html, node, "fwg");
        html.done()
    }

    #[test]
    fn sign_and_size_are_classes_and_the_number_is_printed() {
        let html = made(&node(&[2, 2], &[0.0, 1.0, -0.5, f64::NAN]));
        assert!(html.contains(
            "<tr><td class=\"z a0\">0</td><td class=\"p a10\">1</td></tr>\
             <tr><td class=\"n a5\">−0.5</td><td class=\"x a0\">nan</td></tr>"
        ));
    }

    #[test]
    fn a_rounded_number_keeps_all_its_digits_within_reach() {
        let third = node(&[], &[1.0 / 3.0]);
        assert_eq!(rounds(&third), Some(4));
        assert!(made(&third).contains("title=\"0.3333333333333333\">0.3333</td>"));
        assert_eq!(rounds(&node(&[], &[0.25])), None);
    }

    #[test]
    fn a_dense_grid_drops_the_zero_before_the_point() {
        let html = made(&node(&[7], &[0.25, -0.5, 10.5, 0.0, 1.0, 2.0, 3.0]));
        for cell in [">.25<", ">−.5<", ">10.5<", ">0<"] {
            assert!(html.contains(cell), "{cell}");
        }
    }

    #[test]
    fn higher_ranks_are_sliced() {
        assert_eq!(slice_name(&[2, 3, 4, 5], 4), "[1,1,:,:]");
        let html = made(&node(&[2, 1, 2], &[1.0, 2.0, 3.0, 4.0]));
        assert_eq!(html.matches("<table").count(), 2);
        assert!(html.contains("y[1,:,:]"));
    }

    #[test]
    fn a_large_tensor_is_summed_up() {
        let html = made(&NodeRow { values: vec![1.0; 1024], ..node(&[64, 64], &[]) });
        assert!(html.contains("<dt>elements</dt><dd>4096</dd>"));
        assert!(!html.contains("<table"));
    }

    #[test]
    fn empty_and_unevaluated_tensors_say_so() {
        assert!(made(&node(&[0, 3], &[])).contains("No elements"));
        assert!(made(&node(&[2], &[])).contains("Not evaluated"));
    }
}
