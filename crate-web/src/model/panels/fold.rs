//! A fold, cell by cell: stretch, arrive, fold, add, on one grid of columns.
//!
//! The page sets `--t`, how many pages have landed; the style sheet moves everything by it. So scrubbing needs no
//! engine, and without motion the four rows are a storyboard.

use foldback::report::{FoldRow, NodeRow, Role, StretchRow, TickGlyph};

use super::sheet::{Row, Sheet, letter, sheets};
use super::{Opened, numbers, said};
use crate::model::markup::{Html, named_shape};
use crate::model::number::short;

/// Columns that are drawn with their numbers; of a longer axis the first ones, a count, and the last.
const COLUMNS: usize = 12;
/// Rows that are drawn.
const ROWS: usize = 6;
/// The longest axis all of whose totals are printed.
const PRINTED: usize = 64;
/// Rows of totals that are drawn.
const BARS: usize = 3;
/// From one cell to the next, in pixels; the style sheet has the same numbers.
const ACROSS: f64 = 60.0;
const DOWN: f64 = 44.0;
/// Where the origins start, and the free room between them and their copies.
const LEFT: f64 = 72.0;
const THREAD: f64 = 44.0;
/// A page that has turned.
const PLEAT: f64 = 15.0;
const BAR: f64 = 76.0;

/// What is folded, whether on the way back or by an op that sums.
pub(super) struct Folding<'a> {
    /// The node whose cells arrive.
    from: &'a NodeRow,
    /// Its elements.
    values: Vec<f64>,
    /// The node that they add up to.
    to: &'a NodeRow,
    /// The operand that was stretched, with its elements; none for an op that sums.
    operand: Option<(&'a NodeRow, Vec<f64>)>,
    axes: Vec<StretchRow>,
    /// What the total is divided by.
    over: Option<u64>,
}

/// The panel for a step.
pub(super) fn panel(opened: &Opened, step: usize, args: &str) -> String {
    match folding(opened, step) {
        Some(mut folding) => {
            let order = said(args, "order").map(numbers).unwrap_or_default();
            if let [Some(first), Some(second)] = [order.first(), order.get(1)]
                && let (Some(a), Some(b)) = (folding.axes.get(*first), folding.axes.get(*second))
                && folding.axes.len() == 2
            {
                folding.axes = vec![a.clone(), b.clone()];
            }
            let at = said(args, "sheet").and_then(|n| n.parse().ok()).unwrap_or(0);
            draw(&folding, at, order == [1, 0])
        }
        None => nothing(opened, step),
    }
}

/// What a step folds: a contribution, or the operand of an op that sums.
pub(super) fn folding(opened: &Opened, step: usize) -> Option<Folding<'_>> {
    let report = opened.report();
    // A step counts from 0, a tick too.
    let tick = report.ticks.get(step)?;
    if let Some(FoldRow { from, to, axes, .. }) = &tick.fold {
        let operand = tick.target.and_then(|ix| Some((opened.node(ix)?, opened.elements(ix))));
        return Some(Folding {
            from: opened.node(*from)?,
            values: opened.elements(*from),
            to: opened.node(*to)?,
            operand,
            axes: axes.clone(),
            over: None,
        });
    }
    if tick.kind == TickGlyph::Value { summing(opened, tick.node?) } else { None }
}

/// An op whose result is the sum, or the mean, of its one operand along some axes: told by its numbers.
fn summing(opened: &Opened, ix: u32) -> Option<Folding<'_>> {
    let to = opened.node(ix)?;
    let &[src] = to.src.as_slice() else { return None };
    let from = opened.node(src)?;
    if to.role != Role::Op || to.n_elements >= from.n_elements || from.n_elements > 1 << 16 {
        return None;
    }
    let axes = summed(&to.shape, from)?;
    let (values, result) = (opened.elements(src), opened.elements(ix));
    let last = sheets(&values, &from.shape, &axes).pop()?;
    let n: u64 = axes.iter().map(|a| u64::from(a.to)).product();
    let is = |over: f64| {
        last.rows.len() == result.len()
            && last.rows.iter().zip(&result).all(|(row, y)| {
                let total = row.total(0) / over;
                (total - y).abs() <= 1e-5 * total.abs().max(1e-30)
            })
    };
    let over = if is(1.0) {
        None
    } else if is(n as f64) {
        Some(n)
    } else {
        return None;
    };
    Some(Folding { from, values, to, operand: None, axes, over })
}

/// The axes that a shape lacks of another, whether they are gone or 1 now.
fn summed(small: &[u32], large: &NodeRow) -> Option<Vec<StretchRow>> {
    let row = |axis: usize, to: u32| StretchRow {
        axis: axis as u8,
        name: match large.axes.get(axis) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("axis {axis}"),
        },
        from: 1,
        to,
    };
    if small.len() == large.shape.len() {
        let pairs = || small.iter().zip(&large.shape).enumerate();
        let fits = pairs().all(|(_, (s, l))| s == l || *s == 1);
        let axes = pairs().filter(|(_, (s, l))| s != l).map(|(axis, (_, l))| row(axis, *l));
        return fits.then(|| axes.collect());
    }
    // One axis that is gone, or all of them.
    if small.is_empty() || small == [1] {
        return Some(large.shape.iter().enumerate().map(|(axis, l)| row(axis, *l)).collect());
    }
    let gone = |axis: usize| {
        let mut rest = large.shape.clone();
        rest.remove(axis);
        rest == small
    };
    (0..large.shape.len()).find(|axis| gone(*axis)).map(|axis| vec![row(axis, large.shape[axis])])
}

fn nothing(opened: &Opened, step: usize) -> String {
    let mut html = Html::new();
    html.raw("<div class=\"empty\"><h3>Nothing is folded at this step</h3><p class=\"prose\">");
    let ticks = &opened.report().ticks;
    let title = ticks.get(step).map_or("", |tick| tick.title.as_str());
    if !title.is_empty() {
        html.text(title).raw(". ");
    }
    html.raw(if ticks.iter().any(|tick| tick.fold.is_some()) {
        "A gradient that comes back to a stretched operand is folded: its cells add up where they were copied from. <button class=\"btn line\" data-do=\"fold\">Next fold<kbd>.</kbd></button>"
    } else {
        "This program stretches no operand that needs a gradient, so there is no fold in it."
    });
    html.raw("</p></div>");
    html.done()
}

/// The columns that are drawn of an axis: cells, and how many are left out.
fn columns(n: usize) -> (Vec<usize>, usize) {
    if n <= COLUMNS {
        return ((0..n).collect(), 0);
    }
    let mut drawn: Vec<usize> = (0..COLUMNS - 2).collect();
    drawn.push(n - 1);
    (drawn, n - (COLUMNS - 1))
}

fn draw(folding: &Folding<'_>, at: usize, swapped: bool) -> String {
    let all = sheets(&folding.values, &folding.from.shape, &folding.axes);
    let Some(sheet) = all.get(at.min(all.len().saturating_sub(1))) else { return String::new() };
    let last = at + 1 >= all.len();
    let mut html = Html::new();
    html.raw("<div class=\"fold\" data-fold=\"").int(sheet.to).raw("\" data-style=\"--t:");
    html.int(sheet.to).raw(";--n:").int(sheet.to).raw("\">");
    head(&mut html, folding, &all, at, swapped);
    let rows = sheet.rows.get(..ROWS.min(sheet.rows.len())).unwrap_or(&[]);
    if let Some((operand, values)) = &folding.operand {
        row_head(&mut html, 1, "Stretch", &stretched(operand, sheet));
        stretch(&mut html, folding, sheet, rows, values);
    }
    let (two, three, four) = if folding.operand.is_some() { (2, 3, 4) } else { (1, 2, 3) };
    let arrives = if folding.operand.is_some() {
        "the rule gives one gradient a copy, lettered with the cell it goes back to"
    } else {
        "one value a cell, lettered with the cell it is added to"
    };
    row_head(&mut html, two, "Arrive", arrives);
    arrive(&mut html, folding, sheet, rows);
    let along = format!("along {}: each page lands on the cell of its letter", sheet.name);
    row_head(&mut html, three, "Fold", &along);
    pages(&mut html, folding, sheet, rows);
    row_head(
        &mut html,
        four,
        "Add",
        "the running total; a filled bar adds, an outlined bar takes away",
    );
    add(&mut html, folding, sheet, rows, last);
    if sheet.rows.len() > rows.len() {
        html.raw("<p class=\"more\">").int(sheet.rows.len() - rows.len());
        html.raw(" more rows fold the same way</p>");
    }
    if sheet.from > 1 {
        tiles(&mut html, sheet.from, sheet.to);
    }
    says(&mut html, folding, sheet);
    html.raw("</div>");
    scrub(&mut html, sheet);
    html.done()
}

fn head(html: &mut Html, folding: &Folding<'_>, all: &[Sheet], at: usize, swapped: bool) {
    let side = if folding.operand.is_some() { "bwg" } else { "fwg" };
    html.raw("<p class=\"what\"><span class=\"shape ").raw(side).raw("\">");
    html.text(&folding.from.name).raw(" ");
    html.text(&named_shape(&folding.from.shape, &folding.from.axes)).raw("</span> → ");
    html.raw("<span class=\"shape foldg\">").text(&folding.to.name).raw(" ");
    html.text(&named_shape(&folding.to.shape, &folding.to.axes)).raw("</span>");
    if let Some(n) = folding.over {
        html.raw("<span class=\"tag foldg\">a mean: the total / ").int(n as usize).raw("</span>");
    }
    if folding.from.shape.len() > folding.to.shape.len() && folding.operand.is_some() {
        html.raw("<span class=\"tag foldg\">the leading axis folds first and is gone</span>");
    }
    html.raw("</p>");
    if all.len() > 1 {
        let order = if swapped { "order=1,0 " } else { "" };
        html.raw("<p class=\"axesof\"><span class=\"seg\" role=\"group\" aria-label=\"Axis\">");
        for (ix, sheet) in all.iter().enumerate() {
            html.raw("<button data-do=\"tell ").raw(order).raw("sheet=").int(ix);
            html.raw("\" aria-pressed=\"").raw(if ix == at { "true" } else { "false" });
            html.raw("\">").int(ix + 1).raw(". ").text(&sheet.name).raw("</button>");
        }
        html.raw("</span>");
        if all.len() == 2 {
            html.raw("<button class=\"btn line\" data-do=\"tell ");
            html.raw(if swapped { "order=0,1" } else { "order=1,0" });
            html.raw(
                "\">Swap the order</button><span class=\"sub\">the totals are the same</span>",
            );
        }
        html.raw("</p>");
    }
}

fn stretched(operand: &NodeRow, sheet: &Sheet) -> String {
    let times = sheet.to / sheet.from.max(1);
    format!(
        "forward: each cell of {} is read {times} times along {}: {} → {}",
        operand.name, sheet.name, sheet.from, sheet.to
    )
}

fn row_head(html: &mut Html, number: usize, word: &str, words: &str) {
    html.raw("<h3><span class=\"no\">").int(number).raw("</span>").raw(word);
    html.raw("<span class=\"sub\">").text(words).raw("</span></h3>");
}

/// The left edge of the copies.
fn copies(sheet: &Sheet) -> f64 {
    LEFT + sheet.from as f64 * ACROSS + THREAD
}

fn open(html: &mut Html, what: &str, sheet: &Sheet, n_rows: usize, n_columns: usize) {
    let wide = copies(sheet) + n_columns as f64 * ACROSS;
    html.raw("<div class=\"sheet ").raw(what).raw("\" aria-hidden=\"true\" data-style=\"width:");
    html.at(wide).raw("px;height:").at(n_rows as f64 * DOWN).raw("px\">");
}

fn row_name(html: &mut Html, folding: &Folding<'_>, row: &Row, ix: usize) {
    let mut name = String::new();
    for (axis, at) in &row.index {
        if folding.from.shape.get(*axis).is_some_and(|extent| *extent > 1) {
            let axis = folding.from.axes.get(*axis).map_or("", String::as_str);
            if !name.is_empty() {
                name.push_str(", ");
            }
            name.push_str(axis);
            if !axis.is_empty() {
                name.push(' ');
            }
            name.push_str(&at.to_string());
        }
    }
    html.raw("<span class=\"rn\" data-style=\"top:").at(ix as f64 * DOWN).raw("px\">");
    html.text(&name).raw("</span>");
}

/// A cell at a place, with its letter and its number.
struct Cell<'a> {
    class: &'a str,
    x: f64,
    row: usize,
    origin: usize,
    value: f64,
}

fn cell(html: &mut Html, cell: &Cell<'_>, more: &str) {
    html.raw("<span class=\"cell ").raw(cell.class).raw(" h").int(cell.origin % 6);
    html.raw("\" data-style=\"left:").at(cell.x).raw("px;top:").at(cell.row as f64 * DOWN);
    html.raw("px").raw(more).raw("\"><i>").raw(&letter(cell.origin)).raw("</i><b>");
    html.text(&short(cell.value, 3)).raw("</b></span>");
}

fn stretch(html: &mut Html, folding: &Folding<'_>, sheet: &Sheet, rows: &[Row], values: &[f64]) {
    let (drawn, left_out) = columns(sheet.to);
    open(html, "stretching", sheet, rows.len(), drawn.len() + usize::from(left_out > 0));
    for (ix, row) in rows.iter().enumerate() {
        row_name(html, folding, row, ix);
        let value = |onto: usize| {
            row.origins.get(onto).and_then(|o| values.get(*o)).copied().unwrap_or(f64::NAN)
        };
        for (onto, origin) in row.origins.iter().enumerate() {
            let x = LEFT + onto as f64 * ACROSS;
            let of = Cell { class: "own", x, row: ix, origin: *origin, value: value(onto) };
            cell(html, &of, "");
        }
        html.raw("<span class=\"thread\" data-style=\"left:");
        html.at(LEFT + sheet.from as f64 * ACROSS - 2.0).raw("px;top:");
        html.at(ix as f64 * DOWN).raw("px\"></span>");
        across(html, sheet, &drawn, left_out, |html, x, page| {
            let onto = page % sheet.from.max(1);
            let origin = row.origins.get(onto).copied().unwrap_or(0);
            let of = Cell { class: "ghost", x, row: ix, origin, value: value(onto) };
            cell(html, &of, &format!(";--j:{page}"));
        });
        counter(html, sheet, left_out, ix);
    }
    html.raw("</div>");
}

/// Each column that is drawn, with its place.
fn across(
    html: &mut Html,
    sheet: &Sheet,
    drawn: &[usize],
    left_out: usize,
    mut draw: impl FnMut(&mut Html, f64, usize),
) {
    for (at, page) in drawn.iter().enumerate() {
        // The last one stands behind the count of those left out.
        let at = if left_out > 0 && at + 1 == drawn.len() { at + 1 } else { at };
        draw(html, copies(sheet) + at as f64 * ACROSS, *page);
    }
}

fn counter(html: &mut Html, sheet: &Sheet, left_out: usize, row: usize) {
    if left_out == 0 {
        return;
    }
    let x = copies(sheet) + (COLUMNS - 2) as f64 * ACROSS;
    html.raw("<span class=\"left-out\" data-style=\"left:").at(x).raw("px;top:");
    html.at(row as f64 * DOWN).raw("px\">+").int(left_out).raw(" more</span>");
}

fn arrive(html: &mut Html, folding: &Folding<'_>, sheet: &Sheet, rows: &[Row]) {
    let (drawn, left_out) = columns(sheet.to);
    let class = if folding.operand.is_some() { "came" } else { "came fw" };
    open(html, "arriving", sheet, rows.len(), drawn.len() + usize::from(left_out > 0));
    for (ix, row) in rows.iter().enumerate() {
        row_name(html, folding, row, ix);
        across(html, sheet, &drawn, left_out, |html, x, page| {
            let origin = row.origins.get(page % sheet.from.max(1)).copied().unwrap_or(0);
            let value = row.cells.get(page).copied().unwrap_or(f64::NAN);
            cell(html, &Cell { class, x, row: ix, origin, value }, "");
        });
        counter(html, sheet, left_out, ix);
    }
    html.raw("</div>");
}

/// The pages turn onto the totals, one after another. Each is drawn where it starts; the style sheet moves it.
fn pages(html: &mut Html, folding: &Folding<'_>, sheet: &Sheet, rows: &[Row]) {
    let (drawn, left_out) = columns(sheet.to);
    let class = if folding.operand.is_some() { "page" } else { "page fw" };
    open(html, "pages", sheet, rows.len(), drawn.len() + usize::from(left_out > 0));
    for (ix, row) in rows.iter().enumerate() {
        row_name(html, folding, row, ix);
        across(html, sheet, &drawn, left_out, |html, x, page| {
            let at = ((x - copies(sheet)) / ACROSS).round() as usize;
            let origin = row.origins.get(page % sheet.from.max(1)).copied().unwrap_or(0);
            let value = row.cells.get(page).copied().unwrap_or(f64::NAN);
            // Those left out turn together, before the last one.
            let (before, last) = (at.min(COLUMNS - 2), usize::from(at > COLUMNS - 2));
            let more = format!(
                ";--j:{page};--c:{at};--before:{before};--last:{last};--k:{};--odd:{}",
                left_out.max(1),
                at % 2
            );
            cell(html, &Cell { class, x, row: ix, origin, value }, &more);
        });
        for (onto, origin) in row.origins.iter().enumerate() {
            let x = LEFT + onto as f64 * ACROSS;
            total(html, row, ix, x, onto, *origin);
        }
    }
    html.raw("<span class=\"along\" data-style=\"--pleat:").at(PLEAT).raw("\">fold along ");
    html.text(&sheet.name).raw("</span></div>");
}

/// A landing cell, with its totals, of which one is seen.
fn total(html: &mut Html, row: &Row, ix: usize, x: f64, onto: usize, origin: usize) {
    html.raw("<span class=\"cell sum h").int(origin % 6).raw("\" data-style=\"left:").at(x);
    html.raw("px;top:").at(ix as f64 * DOWN).raw("px\"><i>").raw(&letter(origin)).raw("</i>");
    let n = row.cells.len();
    let running = row.running(onto);
    let mut shown: Vec<(usize, String)> = Vec::new();
    for landed in (0..=n).filter(|landed| n <= PRINTED || *landed < COLUMNS || *landed == n) {
        let now = short(running.get(landed).copied().unwrap_or(0.0), 3);
        // A number stands until another one takes its place.
        if shown.last().is_none_or(|(_, last)| *last != now) {
            shown.push((landed, now));
        }
    }
    for (at, (from, now)) in shown.iter().enumerate() {
        let until = shown.get(at + 1).map_or(n + 1, |(until, _)| *until);
        html.raw("<b data-style=\"--from:").int(*from).raw(";--until:").int(until);
        html.raw("\">").text(now).raw("</b>");
    }
    html.raw("</span>");
}

/// The totals as bars: each from the total before to the total after.
fn add(html: &mut Html, folding: &Folding<'_>, sheet: &Sheet, rows: &[Row], last: bool) {
    let (drawn, left_out) = columns(sheet.to);
    let n_columns = drawn.len() + usize::from(left_out > 0);
    let lines: Vec<(usize, &Row, usize)> = rows
        .iter()
        .enumerate()
        .flat_map(|(ix, row)| (0..sheet.from).map(move |onto| (ix, row, onto)))
        .take(BARS)
        .collect();
    let (x0, n) = (copies(sheet), sheet.to);
    let wide = x0 + (n_columns + 1) as f64 * ACROSS + 14.0;
    let totals: Vec<Vec<f64>> = lines.iter().map(|(_, row, onto)| row.running(*onto)).collect();
    let finite = || totals.iter().flatten().copied().filter(|x| x.is_finite());
    let (above, below) = (finite().fold(0.0, f64::max), finite().fold(0.0, f64::min));
    let scale = if above > below { BAR / (above - below) } else { 0.0 };
    let high: f64 = BAR + 42.0;
    html.raw("<svg class=\"sheet adding\" aria-hidden=\"true\" width=\"").at(wide);
    html.raw("\" height=\"").at(lines.len() as f64 * high).raw("\">");
    for (line, ((_, row, onto), running)) in lines.iter().zip(&totals).enumerate() {
        let total = |landed: usize| running.get(landed).copied().unwrap_or(0.0);
        let zero = line as f64 * high + 14.0 + above * scale;
        let foot = line as f64 * high + BAR + 32.0;
        let y = |total: f64| {
            if total.is_finite() { zero - total * scale } else { zero }
        };
        let origin = row.origins.get(*onto).copied().unwrap_or(0);
        html.raw("<text class=\"rn\" x=\"0\" y=\"").at(zero + 4.0).raw("\">");
        html.text(&folding.to.name).raw(" ").raw(&letter(origin)).raw("</text>");
        html.raw("<text class=\"zero\" x=\"").at(x0 - 12.0).raw("\" y=\"").at(zero + 4.0);
        html.raw("\">0</text><path class=\"axis\" d=\"M").at(x0 - 6.0).raw(" ").at(zero);
        html.raw("H").at(wide - 8.0).raw("\"/>");
        let bar = |html: &mut Html, x: f64, before: f64, after: f64, class: &str, j: usize| {
            let (top, bottom) = (y(before).min(y(after)), y(before).max(y(after)));
            let sign = if after < before { "minus" } else { "plus" };
            html.raw("<rect class=\"bar ").raw(class).raw(" ").raw(sign).raw("\" x=\"");
            html.at(x + 10.0).raw("\" y=\"").at(top).raw("\" width=\"36\" height=\"");
            html.at((bottom - top).max(1.5)).raw("\" data-style=\"--j:").int(j).raw("\"/>");
        };
        let mut landed_before = 0;
        across(html, sheet, &drawn, left_out, |html, x, page| {
            let (before, after) = (total(page), total(page + 1));
            if page > landed_before && left_out > 0 {
                // Those left out, as one bar.
                bar(html, x - ACROSS, total(landed_before), before, "some", page - 1);
            }
            landed_before = page + 1;
            if page % sheet.from == *onto {
                bar(html, x, before, after, "todo", page);
                bar(html, x, before, after, "done", page);
            }
            html.raw("<text class=\"num\" x=\"").at(x + 28.0).raw("\" y=\"");
            html.at(foot).raw("\" data-style=\"--j:").int(page).raw("\">");
            html.text(&short(after, 4)).raw("</text>");
        });
        let x = x0 + n_columns as f64 * ACROSS + 8.0;
        let shown = match (folding.over, last) {
            (Some(over), true) => total(n) / over as f64,
            _ => total(n),
        };
        bar(html, x, 0.0, shown, "all", n - 1);
        html.raw("<text class=\"num all\" x=\"").at(x + 28.0).raw("\" y=\"");
        html.at(foot).raw("\">").text(&short(shown, 4)).raw("</text>");
        if let (Some(over), true) = (folding.over, last) {
            html.raw("<text class=\"stamp\" x=\"").at(x + 28.0).raw("\" y=\"");
            html.at(line as f64 * high + 11.0).raw("\">/ ").int(over as usize).raw("</text>");
        }
    }
    html.raw("</svg>");
}

/// Two ways to copy that no shape tells apart, side by side: this sheet's cells, tiled and interleaved.
fn tiles(html: &mut Html, from: usize, to: usize) {
    let list = |origin: fn(usize, usize, usize) -> usize| {
        (0..to.min(12)).map(|j| letter(origin(j, from, to))).collect::<Vec<_>>().join(" ")
    };
    let tiled = list(|j, from, _| j % from);
    let interleaved = list(|j, from, to| j / (to / from).max(1));
    html.raw("<p class=\"note\"><strong>Same shape, different sum.</strong> ").int(from);
    html.raw(" cells copied to ").int(to).raw(": tiled they read <code>").raw(&tiled);
    html.raw("</code>, interleaved <code>").raw(&interleaved);
    html.raw(
        "</code>. Which cells add up depends on how they were copied; no shape check can tell.</p>",
    );
}

/// The same in words: what the slider says at each page, and for those who read it all.
fn says(html: &mut Html, folding: &Folding<'_>, sheet: &Sheet) {
    html.raw("<ol class=\"says vh\">");
    let rows = sheet.rows.iter().take(BARS);
    let cells = rows.flat_map(|row| row.origins.iter().enumerate().map(move |cell| (row, cell)));
    let cells: Vec<_> = cells.map(|(row, (onto, origin))| (*origin, row.running(onto))).collect();
    for landed in 0..=sheet.to.min(4 * PRINTED) {
        html.raw("<li>").int(landed).raw(" of ").int(sheet.to).raw(" have landed");
        for (origin, running) in &cells {
            html.raw("; ").text(&folding.to.name).raw(" ").raw(&letter(*origin)).raw(" = ");
            html.text(&short(running.get(landed).copied().unwrap_or(0.0), 4));
        }
        html.raw("</li>");
    }
    html.raw("</ol>");
}

fn scrub(html: &mut Html, sheet: &Sheet) {
    html.raw("<div class=\"scrub\"><button class=\"btn line icon\" aria-label=\"Fold one page less\" data-scrub=\"-1\">");
    html.boxed_icon("prev").raw("</button><input type=\"range\" aria-label=\"Fold along ");
    html.text(&sheet.name).raw("\" data-scrub=\"\" min=\"0\" max=\"").int(sheet.to);
    html.raw("\" step=\"any\" value=\"").int(sheet.to).raw(
        "\"><button class=\"btn line icon\" aria-label=\"Fold one page more\" data-scrub=\"1\">",
    );
    html.boxed_icon("next").raw("</button><output class=\"landed\">").int(sheet.to);
    html.raw("</output><span class=\"ink3\">/ ").int(sheet.to);
    html.raw("</span><button class=\"btn line\" aria-label=\"Fold again\" data-scrub=\"play\">")
        .boxed_icon("play");
    html.raw(
        "<span class=\"word\">Fold again</span></button><span class=\"sub\">drag, or <kbd>←</kbd> <kbd>→</kbd></span></div>",
    );
}
