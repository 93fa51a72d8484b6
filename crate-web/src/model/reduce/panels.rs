//! What is asked of the panels' worker: drawing, predicting, taking along; and what becomes of its answers.

use foldback::report::{TickGlyph, TickRow};

use super::{State, go_to_pane, marks, rewritten, select, shelf};
use crate::model::action::{Action, Effect, Move, Pane};
use crate::model::asks::{self, Slot};
use crate::model::view::{Aid, Draw, Over, Tab};

/// One of the actions that concern them.
pub(super) fn acted(state: &mut State, action: Action, effects: &mut Vec<Effect>) {
    match action {
        Action::Tell(args) => state.panels.args = args,
        Action::Panel { slot, ask, html, .. } if slot == Slot::Keep.ix() => {
            shelf::heard(state, &ask, &html, effects);
        }
        Action::Panel { slot, rev, ask, html } => {
            if let Some(made) = state.panels.fill(slot, rev, &ask, html) {
                took(state, &made, effects);
            }
        }
        Action::Draw(draw) => {
            let was = state.view.draw;
            state.view.draw = draw;
            state.panels.query.clear();
            state.panels.refused.clear();
            if draw == Draw::Nothing && was != draw {
                let from = if let Draw::Find { from, .. } = was { from } else { None };
                go_to_pane(state, from.unwrap_or(Pane::Stage), effects);
            } else if draw != Draw::Nothing {
                state.view.over = Over::Graph;
                state.view.tab = Tab::Graph;
            }
        }
        Action::Find(query) => state.panels.query = query,
        Action::Make(words) => draw_it(state, &words, effects),
        Action::MakeHere(words) => draw_here(state, words, effects),
        Action::Wire { from, to } => {
            select(state, Some(from));
            state.panels.query.clear();
            state.view.draw = if to.is_some() { Draw::Connect { to } } else { Draw::New };
        }
        Action::Predict => {
            state.view.predict = !state.view.predict;
            state.view.quiz = None;
        }
        Action::Guess(guess) => state.panels.guess = guess,
        Action::EditLine => {
            let node = state.run.inspected(&state.view);
            let span = node.and_then(|ix| state.run.report()?.nodes.get(ix as usize)?.span);
            if let Some((start, _)) = span.filter(|_| !state.run.is_stale()) {
                go_to(state, start as usize, effects);
            }
        }
        Action::GoTo(byte) => go_to(state, byte, effects),
        Action::Aid(aid) => state.view.aid = aid,
        Action::CardHere => state.view.aid = Aid::Card(state.doc.caret()),
        Action::Write { span: (start, end), text } => {
            state.view.aid = Aid::Nothing;
            let mut whole = state.doc.text().to_owned();
            if start <= end && whole.get(start..end).is_some() {
                whole.replace_range(start..end, &text);
                if state.doc.replace(&whole) {
                    state.doc.put_caret(start + text.len());
                    rewritten(state, effects, &text);
                }
            }
        }
        Action::Keys(words) => {
            if state.view.keys.change(&words) {
                effects.push(Effect::KeepKeys(state.view.keys.text()));
            } else {
                let why = "One character that is no blank and no question mark";
                effects.push(Effect::Announce(why.to_owned()));
                // The field shows the key again that it had.
                state.panels.version += 1;
            }
        }
        Action::Take(what) => state.panels.errand = ["take ", &what].concat(),
        _ => {}
    }
}

/// What stands at the caret after typing: proposals while a word grows, or shrinks with some in sight.
pub(super) fn aid(state: &State, grew: bool) -> Aid {
    let before = state.doc.text().get(..state.doc.caret()).unwrap_or_default();
    let in_word = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let asked = matches!(state.view.aid, Aid::Complete { asked: true });
    let is_open = matches!(state.view.aid, Aid::Complete { .. });
    if in_word && (grew || is_open) { Aid::Complete { asked } } else { Aid::Nothing }
}

/// Puts the caret at a byte of the program, and the focus there.
fn go_to(state: &mut State, byte: usize, effects: &mut Vec<Effect>) {
    state.doc.put_caret(byte);
    let text = state.doc.text().to_owned();
    effects.push(Effect::ShowText { text, caret: byte });
    go_to_pane(state, Pane::Program, effects);
}

/// Whether a step forward is to be predicted first. Who goes on without an answer sees it.
pub(super) fn predicts(state: &mut State, to: Move, effects: &mut Vec<Effect>) -> bool {
    let asked = state.view.quiz.take();
    let Move::Next { .. } = to else { return false };
    if !state.view.predict || asked.is_some() {
        return false;
    }
    let timeline = &state.run.timeline;
    let place = timeline.place(state.view.grain, state.view.step);
    let next = timeline.step_at(state.view.grain, place + 1);
    let makes = |tick: &TickRow| {
        matches!(tick.kind, TickGlyph::Emit | TickGlyph::Fold | TickGlyph::Accumulate)
    };
    if next == state.view.step || !timeline.tick(next).is_some_and(makes) {
        return false;
    }
    state.view.quiz = Some(next);
    state.panels.guess.clear();
    effects
        .push(Effect::Announce("Predict the next step, or press Next again to see it".to_owned()));
    true
}

/// Draws, in words: the panels' worker writes it into the text.
fn draw_it(state: &mut State, words: &str, effects: &mut Vec<Effect>) {
    state.panels.refused.clear();
    if state.run.is_stale() || state.run.rev != state.doc.rev() {
        refused(state, "The text cannot be read as it stands; mend it first", effects);
        return;
    }
    state.panels.errand = ["make ", words].concat();
}

/// The same with what is selected, whose names stand where the words have `*`, and the closed calls for `%`.
pub(super) fn draw_here(state: &mut State, words: &str, effects: &mut Vec<Effect>) {
    let names = asks::drawables(state);
    if !names.is_empty() {
        let words = words.replace('*', &names).replace('%', &state.closed.join(" "));
        draw_it(state, &words, effects);
    }
}

pub(super) fn refused(state: &mut State, why: &str, effects: &mut Vec<Effect>) {
    why.clone_into(&mut state.panels.refused);
    state.panels.version += 1;
    effects.push(Effect::Announce(why.to_owned()));
}

/// What the worker has made for no place of the page.
fn took(state: &mut State, made: &str, effects: &mut Vec<Effect>) {
    let (head, text) = made.split_once('\n').unwrap_or((made, ""));
    let mut words = head.split(' ');
    match words.next().unwrap_or_default() {
        "ok" => {
            let caret = words.next().and_then(|caret| caret.parse().ok()).unwrap_or(0);
            state.drawn = words.filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect();
            // From the list one comes back to the graph; from a field of the node one stays there.
            let was_open = std::mem::take(&mut state.view.draw) != Draw::Nothing;
            if state.doc.replace(text) {
                state.doc.put_caret(caret);
                rewritten(state, effects, "Drawn");
            }
            if was_open {
                effects.push(Effect::Focus(Pane::Stage));
            }
        }
        // What was cut is on the clipboard before it is gone: so many bytes of it stand before the text.
        "cut" => {
            let long = words.next().and_then(|long| long.parse().ok()).unwrap_or(0);
            if let Some((gone, text)) = text.split_at_checked(long) {
                effects.push(Effect::Copy(gone.to_owned()));
                if state.doc.replace(text) {
                    rewritten(state, effects, "Cut");
                }
            }
        }
        "pick" => marks::named(state, &words.collect::<Vec<_>>(), effects),
        "no" => refused(state, text, effects),
        "open" => {
            let ix = words.next().and_then(|ix| ix.parse().ok()).unwrap_or(0);
            shelf::open_example(state, ix, text, effects);
        }
        "copy" | "" => effects.push(Effect::Copy(text.to_owned())),
        name => {
            effects.push(Effect::DownloadBytes { name: name.to_owned(), digits: text.to_owned() });
        }
    }
}
