//! The training run: how it stands, what can be done with it, its first step beside the closed form, and the loss.

use foldback::report::{TrainLeaf, TrainLine, TrainReport, TrainStep};

use super::checks::ROWS;
use crate::model::markup::Html;
use crate::model::number::{plain, short};
use crate::model::timeline::entry;
use crate::protocol::Pace;

// What a run changes as it goes on stands in four places of its own, so that a button stays the same button while
// numbers change beside it.

/// What stands in those places, in the order of [`PLACES`](crate::protocol::PLACES); the curve is drawn by `chart`.
pub fn places(line: &TrainLine, report: &TrainReport, pace: Pace, chart: String) -> [String; 4] {
    let made = |write: fn(&mut Html, &TrainLine, &TrainReport, Pace)| {
        let mut html = Html::new();
        write(&mut html, line, report, pace);
        html.done()
    };
    [made(status), made(buttons), made(first_steps), chart]
}

/// The cards of a run, which the text asks for by this line, with its places.
pub(super) fn cards(html: &mut Html, line: &TrainLine) {
    html.raw("<div class=\"cards\"><section class=\"card\"><h3>");
    html.text(&line.method.to_uppercase()).raw("<span class=\"sub\">lr = ");
    html.text(&plain(line.lr)).raw("</span></h3><div class=\"run\"><div id=\"run-state\"></div>");
    html.raw(
        "<p id=\"run-buttons\" class=\"runbtns\" role=\"group\" aria-label=\"Training run\"></p>",
    );
    html.raw("</div><div id=\"run-steps\"></div></section><section class=\"card\"><h3>Loss");
    html.raw("<span class=\"sub\">before each step and after the last</span></h3>");
    html.raw("<div id=\"run-loss\"></div></section></div>");
}

fn first_steps(html: &mut Html, _: &TrainLine, report: &TrainReport, _: Pace) {
    if let Some(first) = &report.first {
        step_table(html, first, report.lr);
    }
    losses(html, report);
}

/// How the run stands, in a word with its sign.
fn status(html: &mut Html, line: &TrainLine, report: &TrainReport, pace: Pace) {
    let (state, done) = (report.state.as_str(), report.done);
    let (tone, icon, word) = match state {
        "" => ("", "wait", "Starting"),
        "done" => (" okg", "check", "Done"),
        "cancelled" => ("", "cross", "Cancelled"),
        "error" => (" refg", "cross", "Stopped by an error"),
        _ if pace.paused && done == 0 => ("", "wait", "Not started"),
        _ if pace.paused => ("", "pause", "Paused"),
        _ => ("", "play", "Running"),
    };
    html.raw("<p class=\"runstate\"><span class=\"tag").raw(tone).raw("\">");
    html.icon(icon).raw(word).raw("</span><span class=\"mono\">").int(done as usize);
    html.raw(" / ").int(line.steps as usize).raw(" steps</span><span class=\"sub\">");
    rate(html, u64::from(line.steps).saturating_sub(done), done, pace);
    html.raw("</span></p><progress aria-label=\"Training steps\" max=\"");
    html.int((line.steps as usize).max(1)).raw("\" value=\"").int(done as usize);
    html.raw("\"></progress>");
    if !report.reason.is_empty() {
        html.raw("<p class=\"prose\" role=\"alert\">").prose(&report.reason);
        if let Some(node) = report.node {
            html.raw(" <button class=\"btn line\" data-do=\"trouble ").int(node as usize);
            html.raw("\">Show <code>").text(&report.name).raw("</code></button>");
        }
        html.raw("</p>");
    }
}

/// What can be done with the run now.
fn buttons(html: &mut Html, _: &TrainLine, report: &TrainReport, pace: Pace) {
    let done = report.done;
    let mut button = |command: &str, icon: &str, word: &str| {
        html.raw("<button class=\"btn line\" data-do=\"train ").raw(command).raw("\">");
        html.icon(icon).raw(word).raw("</button>");
    };
    if pace.over {
        button("again", "undo", "Train again");
    } else if pace.paused {
        button("go", "play", if done == 0 { "Start" } else { "Continue" });
        button("step", "next", "One step");
        if done > 0 {
            button("cancel", "cross", "Cancel");
        }
    } else if !report.state.is_empty() {
        button("pause", "pause", "Pause");
        button("cancel", "cross", "Cancel");
    }
}

/// How fast it goes and how long it will take; nothing before that can be told.
fn rate(html: &mut Html, left: u64, done: u64, pace: Pace) {
    if done == 0 || pace.spent < 1.0 {
        return;
    }
    let rate = done as f64 / pace.spent * 1000.0;
    html.text(&short(rate, 3)).raw(" a second");
    if !pace.over && left > 0 {
        html.raw(", ").text(&time(left as f64 / rate)).raw(" left");
    }
}

/// A time in the largest unit that makes it a small number.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "under a second".to_owned(),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

fn step_table(html: &mut Html, step: &TrainStep, lr: f64) {
    let has_closed = step.leaves.iter().any(|leaf| !leaf.closed.is_empty());
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"First step\"><table class=\"mini\"><caption class=\"vh\">The first step, entry by entry</caption><thead><tr><td></td>");
    for title in ["before", "step", "after"] {
        html.raw("<th scope=\"col\">").raw(title).raw("</th>");
    }
    if has_closed {
        html.raw("<th scope=\"col\">closed form</th><th scope=\"col\" class=\"u\">ulp</th>");
    }
    html.raw("</tr></thead><tbody>");
    let mut worst = 0;
    let mut n = 0;
    for leaf in &step.leaves {
        for ix in 0..leaf.after.len() {
            n += 1;
            worst = leaf.ulp.get(ix).copied().unwrap_or(0).max(worst);
            if n <= ROWS {
                entry_row(html, leaf, ix, lr, has_closed);
            }
        }
    }
    html.raw("</tbody></table></div>");
    if has_closed {
        html.raw("<p class=\"verdict\">");
        match worst {
            0 => html
                .raw("<span class=\"tag okg\">")
                .icon("check")
                .raw("equal to the closed form, bit for bit</span>"),
            1..=4 => html
                .raw("<span class=\"tag okg\">")
                .icon("check")
                .raw("within ")
                .int(worst as usize)
                .raw(" ulp of the closed form</span>"),
            _ => html
                .raw("<span class=\"tag refg\">")
                .icon("cross")
                .int(worst as usize)
                .raw(" ulp from the closed form</span>"),
        };
        html.raw("</p>");
    }
}

fn entry_row(html: &mut Html, leaf: &TrainLeaf, ix: usize, lr: f64, has_closed: bool) {
    let at = |values: &[f64]| values.get(ix).copied().unwrap_or(f64::NAN);
    let (before, after) = (at(&leaf.before), at(&leaf.after));
    html.raw("<tr><th scope=\"row\"><code>").text(&entry(&leaf.name, &index(&leaf.shape, ix)));
    html.raw("</code></th><td>").text(&plain(before));
    html.raw("</td><td class=\"bwc\" title=\"gradient ").text(&plain(at(&leaf.grad)));
    html.raw(", lr ").text(&plain(lr)).raw("\">").text(&short(after - before, 6));
    html.raw("</td><td>").text(&plain(after)).raw("</td>");
    if has_closed {
        html.raw("<td>").text(&plain(at(&leaf.closed))).raw("</td><td class=\"u\">");
        match leaf.ulp.get(ix) {
            Some(ulp) => html.text(&ulp.to_string()),
            None => html.raw("–"),
        };
        html.raw("</td>");
    }
    html.raw("</tr>");
}

/// The index of a flat element, one number an axis.
pub(super) fn index(shape: &[u32], flat: usize) -> Vec<u32> {
    let mut rest = flat;
    let mut index: Vec<u32> = shape
        .iter()
        .rev()
        .map(|extent| {
            let extent = (*extent as usize).max(1);
            let at = rest % extent;
            rest /= extent;
            at as u32
        })
        .collect();
    index.reverse();
    index
}

fn losses(html: &mut Html, training: &TrainReport) {
    let [before, after, ..] = training.losses.as_slice() else { return };
    html.raw("<table class=\"mini loss\"><caption class=\"vh\">The loss over the first step and over the first ones</caption><thead><tr><th scope=\"col\">loss</th><th scope=\"col\">before</th><th scope=\"col\">after</th><th scope=\"col\">change</th></tr></thead><tbody>");
    let mut row = |name: &str, before: f64, after: f64| {
        html.raw("<tr><th scope=\"row\">").raw(name).raw("</th><td>").text(&short(before, 7));
        html.raw("</td><td>").text(&short(after, 7)).raw("</td><td>");
        html.text(&short(after - before, 6)).raw("</td></tr>");
    };
    row("1 step", *before, *after);
    if let (Some(last), true) = (training.losses.last(), training.losses.len() > 2) {
        let told = [&(training.losses.len() - 1).to_string(), " steps"].concat();
        row(&told, *before, *last);
    }
    html.raw("</tbody></table>");
    // The first order prediction: what the slope alone promises.
    if let Some(first) = &training.first {
        let squares: f64 = first.leaves.iter().flat_map(|leaf| &leaf.grad).map(|g| g * g).sum();
        if training.method == "sgd" {
            html.raw("<p class=\"prose\">The slope alone promises a change of −lr · |g|² = <code>");
            html.text(&short(-training.lr * squares, 6)).raw("</code>.</p>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{index, places, time};
    use crate::protocol::Pace;
    use foldback::report::{TrainLeaf, TrainLine, TrainReport, TrainStep};

    fn shown(report: Option<TrainReport>, pace: Pace) -> String {
        let line = TrainLine { method: "sgd".to_owned(), steps: 10, lr: 0.1, span: (0, 1) };
        places(&line, &report.unwrap_or_default(), pace, "<svg/>".to_owned()).concat()
    }

    fn has(html: &str, parts: &[&str], lacks: &[&str]) {
        for part in parts {
            assert!(html.contains(part), "{part} in {html}");
        }
        for part in lacks {
            assert!(!html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn an_index_counts_row_major() {
        assert_eq!(index(&[2, 3], 4), [1, 1]);
        assert_eq!(index(&[], 0), [] as [u32; 0]);
    }

    #[test]
    fn a_time_is_told_in_a_unit_that_suits_it() {
        assert_eq!(time(0.2), "under a second");
        assert_eq!(time(61.0), "61 s");
        assert_eq!(time(600.0), "10 min");
        assert_eq!(time(7200.0), "2 h");
    }

    #[test]
    fn the_first_step_stands_beside_its_closed_form() {
        let leaf = TrainLeaf {
            name: "w".to_owned(),
            shape: vec![1],
            before: vec![f64::from(0.3_f32)],
            grad: vec![0.8],
            after: vec![f64::from(0.22_f32)],
            closed: vec![f64::from(0.22_f32)],
            ulp: vec![0],
        };
        let report = TrainReport {
            state: "done".to_owned(),
            lr: 0.1,
            done: 10,
            losses: vec![0.6, 0.4],
            first: Some(TrainStep { step: 1, loss: 0.6, leaves: vec![leaf] }),
            ..TrainReport::default()
        };
        let html = shown(Some(report), Pace { over: true, ..Pace::default() });
        has(&html, &["bit for bit", "<td>0.22</td>", "<svg", "Done", "Train again"], &["Pause"]);
    }

    #[test]
    fn each_state_has_its_word_and_its_controls() {
        let at = |state: &str, done| TrainReport {
            state: state.to_owned(),
            done,
            ..TrainReport::default()
        };
        let paused = Pace { paused: true, spent: 500.0, over: false };
        has(&shown(None, Pace::default()), &["Starting"], &["data-do"]);
        has(
            &shown(Some(at("running", 0)), paused),
            &["Not started", "Start", "One step"],
            &["Cancel"],
        );
        has(&shown(Some(at("running", 5)), paused), &["Paused", "Continue", "Cancel"], &["Pause<"]);
        let going = Pace { spent: 500.0, ..Pace::default() };
        let html = shown(Some(at("running", 5)), going);
        has(
            &html,
            &["Running", "10 a second", "under a second left", "train pause"],
            &["Continue"],
        );
        let error = TrainReport {
            reason: "It is refused at `y`.".to_owned(),
            node: Some(3),
            name: "y".to_owned(),
            ..at("error", 0)
        };
        let html = shown(Some(error), Pace { over: true, ..Pace::default() });
        has(&html, &["Stopped by an error", "trouble 3", "<code>y</code>", "alert"], &["Pause"]);
    }
}
