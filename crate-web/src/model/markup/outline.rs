//! The nodes as a list: the graph for those who do not look at pictures, and a table of contents for the rest.

use foldback::report::{NodeRow, Report, Role, TickGlyph, TickRow};

use super::{Html, shape};
use crate::model::reduce::Run;
use crate::model::view::View;

/// How far a node's gradient is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    NoneNeeded,
    NotYet,
    NotReached,
    Partial(usize, usize),
    Ready,
    Seed,
    Refused,
}

/// One button a forward node, with its gradient's state at the step shown.
pub fn outline(run: &Run, view: &View) -> String {
    let mut html = Html::new();
    let Some(report) = run.report() else { return html.done() };
    let at = run.timeline.picture(view.step);
    let tick = at.and_then(|step| run.timeline.tick(step));
    let paths = paths(report, at.map_or(0, |step| step + 1));
    let inspected = run.inspected(view).map(|ix| match report.nodes.get(ix as usize) {
        // A gradient is listed under the node that it is of.
        Some(node) if ix >= report.n_forward => node.into.or(node.of).unwrap_or(ix),
        _ => ix,
    });
    for (ix, node) in report.nodes.iter().enumerate().take(report.n_forward as usize) {
        if node.role == Role::Inline {
            continue;
        }
        let status = status(report, tick, ix as u32, node, paths[ix]);
        let (icon, tone) = match status {
            Status::NoneNeeded => ("minus", "ink3"),
            Status::NotYet | Status::NotReached => ("wait", "ink3"),
            Status::Partial(..) => ("half", "t-bw"),
            Status::Ready | Status::Seed => ("check", "t-bw"),
            Status::Refused => ("cross", "t-refuse"),
        };
        html.raw("<li><button data-do=\"select ").int(ix).raw("\" data-key=\"o").int(ix).raw("\"");
        // Said either way, so that a step changes words and attributes and nothing else.
        let is_here = inspected == Some(ix as u32);
        html.raw(" aria-current=\"").raw(if is_here { "true" } else { "false" }).raw("\">");
        html.raw("<span class=\"")
            .raw(tone)
            .raw("\">")
            .icon(icon)
            .raw("</span><span class=\"nm\">");
        html.text(&node.name).raw("</span><span class=\"op\">").text(&node.word);
        html.raw("<span class=\"vh\">, shape ")
            .text(&shape(&node.shape))
            .raw(inputs(report, node).as_str());
        html.raw(", gradient </span></span><span class=\"st\">");
        match status {
            Status::NoneNeeded if node.dtype == "open" => html.raw("open"),
            Status::NoneNeeded => html.raw("none needed"),
            Status::NotYet => html.raw("not yet"),
            Status::NotReached => html.raw("not reached"),
            Status::Partial(done, all) => html.int(done).raw(" of ").int(all).raw(" paths"),
            Status::Ready => html.raw("ready"),
            Status::Seed => html.raw("seed"),
            Status::Refused => html.raw("refused"),
        };
        html.raw("</span></button></li>");
    }
    html.done()
}

fn inputs(report: &Report, node: &NodeRow) -> String {
    let names: Vec<&str> = node
        .src
        .iter()
        .filter_map(|ix| report.nodes.get(*ix as usize))
        .map(|source| source.name.as_str())
        .collect();
    let mut html = Html::new();
    if !names.is_empty() {
        html.raw(", from ").text(&names.join(" and "));
    }
    html.done()
}

fn status(
    report: &Report,
    tick: Option<&TickRow>,
    ix: u32,
    node: &NodeRow,
    (done, all): (usize, usize),
) -> Status {
    let n_nodes = tick.map_or(0, |tick| tick.n_nodes);
    let at_refusal = tick.is_some_and(|tick| tick.kind == TickGlyph::Refusal);
    if !report.needed.get(ix as usize).copied().unwrap_or(false) {
        return if report.needed.is_empty() && node.role != Role::Const {
            Status::NotYet
        } else {
            Status::NoneNeeded
        };
    }
    if at_refusal && tick.and_then(|tick| tick.target.or(tick.node)) == Some(ix) {
        return Status::Refused;
    }
    let built = report.grads.get(ix as usize).copied().flatten().is_some_and(|grad| grad < n_nodes);
    match (built, done) {
        _ if report.loss == Some(ix) && built => Status::Seed,
        (_, 1..) if done < all => Status::Partial(done, all),
        (true, _) => Status::Ready,
        _ if at_refusal => Status::NotReached,
        _ => Status::NotYet,
    }
}

/// For each forward node, how many consumers have sent their part of its gradient, and how many will.
fn paths(report: &Report, n_ticks: usize) -> Vec<(usize, usize)> {
    let (n, ticks) = (report.n_forward as usize, report.ticks.get(..n_ticks).unwrap_or(&[]));
    let n_nodes = ticks.last().map_or(0, |tick| tick.n_nodes as usize);
    // By consumer, a bit for each source whose part has arrived.
    let mut sent = vec![0_u64; n];
    let mut sums = vec![0; n];
    let bit = |src: usize| 1_u64.checked_shl(src as u32).unwrap_or(0);
    for gradient in report.nodes.get(n..n_nodes).unwrap_or(&[]) {
        let into = gradient.into.and_then(|into| report.nodes.get(into as usize));
        if let (Some(of), Some(src)) = (gradient.of, gradient.of_src)
            && into.is_some_and(|into| into.shape == gradient.shape)
            && let Some(sent) = sent.get_mut(of as usize)
        {
            *sent |= bit(usize::from(src));
        }
    }
    for tick in ticks {
        let Some(into) = tick.target else { continue };
        match tick.kind {
            // What a sum sends is its own gradient, which is no part's node: it is folded, if only by nothing.
            TickGlyph::Fold | TickGlyph::FoldNoOp => {
                let node = tick.node.and_then(|node| report.nodes.get(node as usize));
                let consumer = tick.inside.and_then(|ix| report.nodes.get(ix as usize));
                if let (Some(inside), Some(consumer)) = (tick.inside, consumer)
                    && node.is_some_and(|node| node.of != Some(inside))
                    && let Some(sent) = sent.get_mut(inside as usize)
                {
                    let mut reads = consumer.src.iter().enumerate();
                    let next = reads.find(|(src, read)| **read == into && *sent & bit(*src) == 0);
                    *sent |= next.map_or(0, |(src, _)| bit(src));
                }
            }
            TickGlyph::Accumulate => {
                if let Some(sum) = sums.get_mut(into as usize) {
                    *sum += 1;
                }
            }
            _ => {}
        }
    }
    let mut paths = vec![(0, 0); n];
    for ((consumer, needed), bits) in report.nodes.iter().zip(&report.needed).zip(&sent) {
        for (src, (source, sends)) in consumer.src.iter().zip(&consumer.sends).enumerate() {
            if let Some((done, all)) = paths.get_mut(*source as usize)
                && *needed
                && !sends.is_empty()
            {
                *all += 1;
                *done += usize::from(bits & bit(src) != 0);
            }
        }
    }
    // A consumer that only hands on makes neither node nor fold; but what is added up has arrived.
    for ((done, all), sums) in paths.iter_mut().zip(sums) {
        *done = (*done).max(if sums > 0 { sums + 1 } else { 0 }).min(*all);
    }
    paths
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{outline, paths};
    use crate::model::action::{Action, Move};
    use crate::model::answer::Answer;
    use crate::model::examples::FIRST;
    use crate::model::layout::Orientation;
    use crate::model::reduce::{State, reduce};
    use crate::model::view::{Room, Theme};
    use foldback::construct::Budget;
    use foldback::report::analyse;

    /// What a screen reader has of the list: a line a node.
    fn transcript(state: &State) -> String {
        let mut lines = String::new();
        for item in outline(&state.run, &state.view).split("<li>").skip(1) {
            let current = item.contains("aria-current=\"true\"");
            let words = item.split('<').filter_map(|piece| piece.split_once('>'));
            let words: Vec<&str> =
                words.map(|(_, text)| text.trim()).filter(|text| !text.is_empty()).collect();
            lines += &words.join(" ").replace(" ,", ",");
            lines += if current { " (here)\n" } else { "\n" };
        }
        lines
    }

    #[test]
    fn the_first_document_is_read_aloud() {
        let (mut state, _) = State::open(FIRST, Room::default(), Theme::System);
        let report = analyse(FIRST, &Budget::default()).report;
        let answer = Arc::new(Answer::new(report, Orientation::Wide));
        let rev = state.doc.rev();
        reduce(&mut state, Action::Answered { rev, answer });
        assert_eq!(transcript(&state), AT_THE_REFUSAL);
        reduce(&mut state, Action::Step(Move::First));
        assert_eq!(transcript(&state), AT_FIRST);
    }

    const AT_THE_REFUSAL: &str = "\
w param, shape [2,3], gradient 1 of 2 paths
s SUM_ROWS, shape [2,1], from w, gradient not reached
c CLAMP, shape [2,1], from s, gradient refused
y DIV, shape [2,3], from w and c, gradient ready (here)
g const, shape [2,3], gradient none needed
loss.1 MUL, shape [2,3], from y and g, gradient ready
loss SUM, shape [], from loss.1, gradient seed
";
    const AT_FIRST: &str = "\
w param, shape [2,3], gradient not yet (here)
s SUM_ROWS, shape [2,1], from w, gradient not yet
c CLAMP, shape [2,1], from s, gradient not yet
y DIV, shape [2,3], from w and c, gradient not yet
g const, shape [2,3], gradient none needed
loss.1 MUL, shape [2,3], from y and g, gradient not yet
loss SUM, shape [], from loss.1, gradient not yet
";

    #[test]
    fn at_the_end_of_a_build_every_part_has_arrived() {
        // Of a sum the parts are the sum's own gradient, and no nodes of their own.
        for text in [
            "rules numpy\nparam a [2] = 1\nb = relu(a)\nc = b + a\nloss = sum(c)\n",
            "rules numpy\nparam x [3, 2] = 1\nparam b [2] = 0\ny = x + b\nloss = sum(y * y)\n",
            "rules numpy\nparam a [2] = 1\nb = clone(a)\nc = b * a\nloss = sum(c)\n",
            "rules ggml\nparam w [2, 3] = 1\ns = sum_rows(w)\ny = w / s\nloss = sum(y)\n",
        ] {
            let report = analyse(text, &Budget::default()).report;
            let all = paths(&report, report.ticks.len());
            assert!(all.iter().any(|(_, all)| *all > 0), "{text}");
            for (node, (done, all)) in report.nodes.iter().zip(all) {
                assert_eq!(done, all, "{} of {text}", node.name);
            }
            assert!(paths(&report, 0).iter().all(|(done, _)| *done == 0));
        }
    }
}
