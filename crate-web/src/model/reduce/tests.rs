use std::sync::Arc;

use foldback::report::{FindingRow, FixRow, NodeRow, Report, Role, TickGlyph, TrainLine};

use super::{RULES, State};
use crate::model::action::{Action, Effect, Move, Pane, Source};
use crate::model::answer::Answer;
use crate::model::supervise::{Crash, LinkState};
use crate::model::timeline::Grain;
use crate::model::timeline::tests::report;
use crate::model::trainer;
use crate::model::view::{Over, Room, Side, Tab, Theme};
use crate::protocol::Trained;

/// Without what is kept beside the text: `shelf/tests.rs` has that.
fn reduce(state: &mut State, action: Action) -> Vec<Effect> {
    let mut effects = super::reduce(state, action);
    effects.retain(|effect| !matches!(effect, Effect::Keep("mark", _) | Effect::KeepSoon));
    effects
}

const TEXT: &str = "rules upstream\ny = w / c";

fn refusal() -> FindingRow {
    FindingRow {
        code: "gradient-shape".to_owned(),
        stops: true,
        node: Some(1),
        name: "y".to_owned(),
        op: "div".to_owned(),
        word: "DIV".to_owned(),
        src: Some(1),
        message: "c was stretched".to_owned(),
        span: Some((23, 24)),
        line: Some(2),
        fixes: vec![FixRow {
            title: "w / repeat(c, w)".to_owned(),
            note: String::new(),
            changes_rules: false,
            edits: vec![(23, 24, "repeat(c, w)".to_owned())],
        }],
        ..FindingRow::default()
    }
}

fn refused() -> Report {
    let node = |name: &str| NodeRow { name: name.to_owned(), role: Role::Op, ..NodeRow::default() };
    Report {
        rules: "upstream".to_owned(),
        findings: vec![refusal()],
        nodes: vec![node("c"), node("y")],
        n_forward: 2,
        ..report(TickGlyph::Refusal)
    }
}

fn built() -> Report {
    let train = TrainLine { method: "sgd".to_owned(), steps: 1, lr: 0.1, span: (0, 0) };
    Report { train: Some(train), findings: Vec::new(), ..Report { ..refused() } }
}

fn answer(state: &mut State, report: Report) -> Vec<Effect> {
    let answer = Arc::new(Answer { report, ..Answer::default() });
    let rev = state.doc.rev();
    reduce(state, Action::Answered { rev, answer })
}

/// A page whose text was refused.
pub(crate) fn page() -> State {
    let (mut state, effects) = State::open(TEXT, Room::default(), Theme::System);
    assert!(matches!(effects[..], [Effect::ShowText { .. }, Effect::Analyse { rev: 0, .. }]));
    answer(&mut state, refused());
    state
}

fn says(effects: &[Effect]) -> Vec<&str> {
    let said = |effect: &'_ Effect| match effect {
        Effect::Announce(said) => Some(said.clone()),
        _ => None,
    };
    effects.iter().filter_map(said).map(|said| &*said.leak()).collect()
}

#[test]
fn a_document_opens_at_its_refusal_and_says_why_once() {
    let (mut state, _) = State::open(TEXT, Room::default(), Theme::System);
    let effects = answer(&mut state, refused());
    assert_eq!(state.view.step, 10);
    assert_eq!(state.view.side, Side::Problem(0));
    assert_eq!(says(&effects), ["Refused: c was stretched"]);
    assert!(effects.contains(&Effect::Keep("text", TEXT.to_owned())));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Ask { .. })));
    assert_eq!(says(&answer(&mut state, refused())), [] as [&str; 0]);
}

#[test]
fn what_the_text_asks_for_is_asked_once_it_is_built() {
    let mut state = page();
    let effects = answer(&mut state, Report { ticks: report(TickGlyph::Emit).ticks, ..built() });
    let run = trainer::Event::Run { rev: 0, text: TEXT.to_owned(), start: true };
    assert!(effects.contains(&Effect::Train(run)));
    assert_eq!(says(&effects), ["Nothing is refused"]);
}

#[test]
fn typing_is_read_and_an_outdated_answer_is_dropped() {
    let mut state = page();
    let text = format!("{TEXT}d");
    let effects = reduce(&mut state, Action::Type { text: text.clone(), caret: text.len() });
    assert!(
        matches!(&effects[..], [Effect::Analyse { rev: 1, text: sent, .. }, Effect::Panels(_)] if *sent == text),
        "it is read, and what can follow is asked for"
    );
    let old = Arc::new(Answer::default());
    assert_eq!(reduce(&mut state, Action::Answered { rev: 0, answer: old }), []);
    assert_eq!(state.run.problems().len(), 1);
}

#[test]
fn a_text_without_a_graph_keeps_the_last_one_on_screen() {
    let mut state = page();
    let broken = Report { whole: false, findings: vec![refusal(), refusal()], ..Report::default() };
    answer(&mut state, broken);
    assert!(state.run.is_stale());
    assert_eq!(state.run.timeline.len(), 11);
    assert_eq!(state.run.problems().len(), 2);
    answer(&mut state, refused());
    assert!(!state.run.is_stale());
}

#[test]
fn a_fix_changes_the_text_in_one_step_of_undo() {
    let mut state = page();
    let effects = reduce(&mut state, Action::Fix { problem: 0, fix: 0 });
    assert_eq!(state.doc.text(), "rules upstream\ny = w / repeat(c, w)");
    assert!(matches!(&effects[0], Effect::ShowText { text, .. } if text == state.doc.text()));
    assert!(matches!(effects.last(), Some(Effect::Analyse { rev: 1, .. })));
    assert_eq!(
        reduce(&mut state, Action::Fix { problem: 0, fix: 0 }),
        [],
        "it belongs to an older text"
    );
    reduce(&mut state, Action::Undo);
    assert_eq!(state.doc.text(), TEXT);
    assert_eq!(reduce(&mut state, Action::Fix { problem: 7, fix: 0 }), []);
}

#[test]
fn rules_are_a_change_of_the_text() {
    let mut state = page();
    reduce(&mut state, Action::SetRules("ggml"));
    assert_eq!(state.doc.text(), "rules ggml\ny = w / c");
    reduce(&mut state, Action::Undo);
    assert_eq!(state.doc.text(), TEXT);
    reduce(&mut state, Action::NextRules);
    assert_eq!(state.doc.text(), "rules numpy\ny = w / c");
    assert_eq!(RULES[2], "numpy");
}

#[test]
fn forward_at_the_end_starts_again_at_the_seed_unless_the_key_is_held() {
    let mut state = page();
    let held = Action::Step(Move::Next { held: true });
    assert_eq!(reduce(&mut state, held), []);
    assert_eq!(state.view.step, 10);
    let effects = reduce(&mut state, Action::Step(Move::Next { held: false }));
    assert_eq!(state.view.step, 5);
    assert!(says(&effects)[0].starts_with("Step 6 of 11"));
    assert_eq!(state.view.side, Side::Inspect, "the problem belongs to its step");
}

#[test]
fn nodes_are_stepped_as_a_whole() {
    let mut state = page();
    reduce(&mut state, Action::Step(Move::To(6)));
    reduce(&mut state, Action::Step(Move::NextNode));
    assert_eq!(state.view.step, 8);
    reduce(&mut state, Action::Step(Move::BackNode));
    assert_eq!(state.view.step, 5);
    reduce(&mut state, Action::Step(Move::To(7)));
    reduce(&mut state, Action::SetGrain(Grain::Node));
    assert_eq!(state.view.step, 8);
    reduce(&mut state, Action::Step(Move::Next { held: false }));
    assert_eq!(state.view.step, 10);
    reduce(&mut state, Action::Step(Move::Back));
    assert_eq!(state.view.step, 8);
    reduce(&mut state, Action::Step(Move::First));
    reduce(&mut state, Action::Step(Move::Back));
    assert_eq!(state.view.step, 0);
}

#[test]
fn stepping_without_a_document_is_nothing() {
    let mut state = State::default();
    for to in [Move::Next { held: false }, Move::Back, Move::Last, Move::BackNode, Move::To(9)] {
        assert_eq!(reduce(&mut state, Action::Step(to)), []);
    }
    for action in [Action::Play, Action::Beat, Action::Fit, Action::NextProblem { forward: true }] {
        reduce(&mut state, action);
    }
    assert!(!state.view.playing);
}

#[test]
fn playing_ends_at_the_end() {
    let mut state = page();
    let waits = |effects: Vec<Effect>| {
        let is_wait = |effect: &Effect| matches!(effect, Effect::Wait(800));
        effects.iter().filter(|effect| is_wait(effect)).count() == 1
    };
    reduce(&mut state, Action::Step(Move::To(8)));
    assert!(waits(reduce(&mut state, Action::Play)));
    assert_eq!(state.view.step, 9);
    assert!(waits(reduce(&mut state, Action::Beat)));
    let effects = reduce(&mut state, Action::Beat);
    assert!(!state.view.playing);
    assert!(says(&effects)[0].starts_with("Step 11 of 11"));
    assert_eq!(reduce(&mut state, Action::Beat), []);
}

#[test]
fn problems_are_gone_through_in_a_ring() {
    let mut state = page();
    let mut two = refused();
    two.findings.push(FindingRow { stops: false, message: "then".to_owned(), ..refusal() });
    answer(&mut state, two);
    let effects = reduce(&mut state, Action::NextProblem { forward: true });
    assert_eq!(state.view.side, Side::Problem(1));
    assert_eq!(state.view.selected, Some(1));
    assert_eq!(says(&effects), ["Problem 2 of 2: then"]);
    reduce(&mut state, Action::NextProblem { forward: true });
    assert_eq!((state.view.side, state.view.step), (Side::Problem(0), 10));
    reduce(&mut state, Action::NextProblem { forward: false });
    assert_eq!(state.view.side, Side::Problem(1));
}

#[test]
fn a_selection_survives_an_edit_by_its_name() {
    let mut state = page();
    reduce(&mut state, Action::Select(Some(1)));
    let mut report = refused();
    report.nodes.insert(0, NodeRow { name: "new".to_owned(), ..NodeRow::default() });
    answer(&mut state, report);
    assert_eq!(state.view.selected, Some(2));
    reduce(&mut state, Action::Select(Some(99)));
    assert_eq!(state.view.selected, None);
}

#[test]
fn a_document_that_opens_has_a_history_of_its_own() {
    let mut state = page();
    reduce(&mut state, Action::Type { text: "y".to_owned(), caret: 1 });
    reduce(&mut state, Action::Toggle(Over::Checks));
    reduce(&mut state, Action::Open(Source::Text("x = 1".to_owned())));
    assert_eq!(state.doc.text(), "x = 1");
    assert_eq!(state.doc.rev(), 2, "no answer to the text before is taken for one to it");
    assert_eq!(state.view.over, Over::Graph);
    reduce(&mut state, Action::Undo);
    assert_eq!(state.doc.text(), "x = 1");
}

#[test]
fn files_are_named_after_the_title() {
    let mut state = page();
    answer(&mut state, Report { title: "Why does this: refuse?".to_owned(), ..refused() });
    let effects = reduce(&mut state, Action::Save);
    assert!(
        matches!(&effects[..], [Effect::Download { name, .. }] if name == "why-does-this-refuse.fold")
    );
    answer(&mut state, refused());
    let effects = reduce(&mut state, Action::Save);
    assert!(matches!(&effects[..], [Effect::Download { name, .. }] if name == "untitled.fold"));
}

#[test]
fn panes_are_a_ring_and_a_narrow_page_shows_the_one_with_the_focus() {
    let mut state = page();
    let next = |from| Action::NextPane { from, forward: true };
    assert_eq!(reduce(&mut state, next(None)), [Effect::Focus(Pane::Program)]);
    assert_eq!(state.view.tab, Tab::Program);
    assert_eq!(reduce(&mut state, next(Some(Pane::Stage))), [Effect::Focus(Pane::Side)]);
    assert_eq!(state.view.tab, Tab::Inspect);
    assert_eq!(reduce(&mut state, next(Some(Pane::Dock))), [Effect::Focus(Pane::Program)]);
}

#[test]
fn a_page_that_turns_narrow_is_drawn_again() {
    let mut state = page();
    let room = Room { narrow: true, ..Room::default() };
    let effects = reduce(&mut state, Action::Resize(room));
    assert!(matches!(&effects[..], [Effect::Analyse { rev: 1, text, .. }] if text == TEXT));
    assert_eq!(reduce(&mut state, Action::Resize(room)), []);
}

#[test]
fn a_crash_is_announced_once_and_retry_is_the_users() {
    let mut state = page();
    let down = || Action::Linked(LinkState::Down { crash: Crash::TimedOut, gave_up: false });
    assert_eq!(says(&reduce(&mut state, down())).len(), 1);
    assert_eq!(reduce(&mut state, down()), []);
    assert_eq!(reduce(&mut state, Action::Retry), [Effect::Retry]);
    assert_eq!(state.doc.text(), TEXT);
}

#[test]
fn a_run_goes_on_beside_a_text_that_cannot_be_read() {
    let mut state = page();
    answer(&mut state, Report { ticks: report(TickGlyph::Emit).ticks, ..built() });
    let text = format!("{TEXT}(");
    reduce(&mut state, Action::Type { text: text.clone(), caret: text.len() });
    let broken = Arc::new(Answer::default());
    reduce(&mut state, Action::Answered { rev: 1, answer: broken });
    assert!(state.run.is_stale());
    let trained = |rev| Action::Trained {
        rev,
        trained: Arc::new(Trained { losses: vec![1.0; 6], ..Trained::default() }),
    };
    reduce(&mut state, trained(7));
    assert!(state.run.training.is_none(), "a run of another text");
    reduce(&mut state, trained(0));
    assert_eq!(state.run.training.as_ref().map(|trained| trained.losses.len()), Some(6));
}

#[test]
fn another_document_leaves_the_keys_as_they_are() {
    let mut state = page();
    let effects = reduce(&mut state, Action::Keys("off".to_owned()));
    assert!(matches!(&effects[..], [Effect::KeepKeys(kept)] if kept.starts_with('x')));
    reduce(&mut state, Action::Open(Source::New));
    assert!(state.view.keys.is_off());
    let effects = reduce(&mut state, Action::Keys("0 two".to_owned()));
    assert!(matches!(&effects[..], [Effect::Announce(_)]), "and what is no key is said");
}
