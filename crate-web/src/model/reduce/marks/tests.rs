use std::sync::Arc;

use foldback::construct::Budget;
use foldback::report::analyse;

use crate::model::action::{Action, Effect};
use crate::model::answer::Answer;
use crate::model::asks::{Slot, drawables};
use crate::model::layout::Orientation;
use crate::model::names::Arrow;
use crate::model::plan;
use crate::model::reduce::{State, reduce};
use crate::model::view::{Room, Size, Theme};

const TEXT: &str = "rules numpy\nfn f(a) { s = exp(a); t = relu(s); return t * a }\nparam w [2] = [1, 2]\nr = f(w)\nloss = sum(r)\n";

fn answered(state: &mut State) {
    let report = analyse(state.doc.text(), &Budget::default()).report;
    let closed = state.closed.join(" ");
    let picture = plan::draw(&report, state.doc.text(), Orientation::Wide, &closed);
    let answer = Answer { report, picture };
    let rev = state.doc.rev();
    reduce(state, Action::Answered { rev, answer: Arc::new(answer) });
}

fn page(text: &str) -> State {
    let room = Room { pane: Size { width: 4000.0, height: 2000.0 }, ..Room::default() };
    let (mut state, _) = State::open(text, room, Theme::System);
    answered(&mut state);
    state
}

fn id(state: &State, name: &str) -> u32 {
    let nodes = &state.run.report().expect("a report").nodes;
    nodes.iter().position(|node| node.name == name).expect("a node of this name") as u32
}

fn said(effects: &[Effect]) -> &str {
    let said = effects.iter().find_map(|effect| match effect {
        Effect::Announce(words) => Some(words.as_str()),
        _ => None,
    });
    said.unwrap_or_default()
}

#[test]
fn nodes_are_selected_beside_each_other_and_told_in_order() {
    let mut state = page(TEXT);
    let (w, r, loss) = (id(&state, "w"), id(&state, "r"), id(&state, "loss"));
    reduce(&mut state, Action::Select(Some(w)));
    let effects = reduce(&mut state, Action::Mark(loss));
    assert_eq!(said(&effects), "2 nodes selected: w, loss");
    let effects = reduce(&mut state, Action::Mark(r));
    assert_eq!(said(&effects), "3 nodes selected: w, loss, r");
    assert_eq!(drawables(&state), "w,loss,r");
    let effects = reduce(&mut state, Action::Mark(r));
    assert_eq!(said(&effects), "2 nodes selected: w, loss");
    assert_eq!(state.view.selected, Some(loss), "the last one has the keys");
    reduce(&mut state, Action::Mark(w));
    let effects = reduce(&mut state, Action::Mark(loss));
    assert_eq!((said(&effects), state.view.selected), ("0 nodes selected: ", None));
    reduce(&mut state, Action::Select(Some(w)));
    let effects = reduce(&mut state, Action::MarkWalk(Arrow::Right));
    assert_eq!(said(&effects), "2 nodes selected: w, r.s");
    reduce(&mut state, Action::Select(Some(w)));
    assert!(state.also.is_empty(), "one is selected alone");
    reduce(&mut state, Action::Mark(loss));
    // What the worker has found is selected beside them.
    reduce(&mut state, Action::MakeHere("pick all *"));
    let (rev, ask) = (state.run.rev, state.panels.errand.clone());
    let html = "pick w r.s r loss".to_owned();
    let effects = reduce(&mut state, Action::Panel { slot: Slot::Errand.ix(), rev, ask, html });
    assert_eq!(said(&effects), "4 nodes selected: w, loss, r.s, r");
    let version = state.view.marks;
    reduce(&mut state, Action::Select(None));
    assert!(state.also.is_empty() && state.view.marks > version);
}

#[test]
fn a_frame_selects_what_it_touches() {
    let mut state = page(TEXT);
    let all = |state: &State| state.also.len() + usize::from(state.view.selected.is_some());
    reduce(&mut state, Action::MarkIn((-9.0, -9.0), (-1.0, -1.0)));
    assert_eq!(all(&state), 0);
    reduce(&mut state, Action::MarkIn((4000.0, 2000.0), (0.0, 0.0)));
    assert_eq!(all(&state), 5, "gradients have no line of their own");
}

#[test]
fn what_is_done_here_is_done_to_all_that_is_selected() {
    let mut state = page(TEXT);
    let (w, loss) = (id(&state, "w"), id(&state, "loss"));
    reduce(&mut state, Action::Select(Some(w)));
    reduce(&mut state, Action::Mark(loss));
    reduce(&mut state, Action::MakeHere("delete *"));
    assert_eq!(state.panels.errand, "make delete w,loss");
    state.closed = vec!["r".to_owned()];
    // One of the selected is dragged, so all of them are.
    reduce(&mut state, Action::Drag { node: w, by: (10.0, -20.0) });
    assert_eq!(state.panels.errand, "make move w,loss 10 -20 r");
    let r = id(&state, "r");
    reduce(&mut state, Action::Drag { node: r, by: (10.4, 0.0) });
    assert_eq!(state.panels.errand, "make move r 10 0 r");
}

#[test]
fn a_selection_outlives_an_answer() {
    let mut state = page(TEXT);
    let (w, loss) = (id(&state, "w"), id(&state, "loss"));
    reduce(&mut state, Action::Select(Some(w)));
    reduce(&mut state, Action::Mark(loss));
    let text = TEXT.replace("param w", "const k = 2\nparam w");
    reduce(&mut state, Action::Type { text, caret: 0 });
    answered(&mut state);
    assert_eq!(state.view.selected, Some(id(&state, "loss")));
    assert_eq!(state.also, [id(&state, "w")]);
}

#[test]
fn a_call_closes_and_opens_and_opens_by_itself_for_what_is_inside() {
    let mut state = page(TEXT);
    let n = |state: &State| state.run.shown.as_ref().map_or(0, |shown| shown.picture.boxes.len());
    let whole = n(&state);
    let inside = id(&state, "r.s");
    reduce(&mut state, Action::Select(Some(inside)));
    let effects = reduce(&mut state, Action::Close(None));
    assert_eq!(said(&effects), "r closed");
    assert!(effects.iter().any(|e| matches!(e, Effect::Analyse { closed, .. } if closed == "r")));
    answered(&mut state);
    assert!(n(&state) < whole);
    assert_eq!(state.view.selected, Some(id(&state, "r")), "the box of the call has the keys");
    let step = state.view.step;
    assert_eq!(step, state.view.step, "a closed call is no other step");
    // What belongs to the box does not open it, and what is hidden in it does.
    let r = id(&state, "r");
    assert!(
        !reduce(&mut state, Action::Select(Some(r)))
            .iter()
            .any(|e| matches!(e, Effect::Analyse { .. }))
    );
    let effects = reduce(&mut state, Action::Select(Some(inside)));
    assert!(
        effects.iter().any(|e| matches!(e, Effect::Analyse { closed, .. } if closed.is_empty()))
    );
    answered(&mut state);
    assert_eq!((n(&state), state.view.selected), (whole, Some(inside)));
    let w = id(&state, "w");
    reduce(&mut state, Action::Select(Some(w)));
    assert!(reduce(&mut state, Action::Close(None)).is_empty(), "w is in no call");
}
