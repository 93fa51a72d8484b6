use super::{CAMERA, CARET, ENGINE, PARTS, SAID, SIDE, STEP, Seen, TEXT};
use crate::model::action::{Action, Move};
use crate::model::reduce::tests::page;
use crate::model::reduce::{State, reduce};
use crate::model::supervise::LinkState;

/// What changes with an action, after which the page shows a refusal.
fn changed(state: &mut State, action: Action) -> u16 {
    let before = Seen::of(state);
    reduce(state, action);
    before.changed(&Seen::of(state))
}

#[test]
fn a_signal_is_named_only_where_something_changed() {
    let mut state = page();
    assert_eq!(changed(&mut state, Action::Pan(1.0, 1.0)), CAMERA);
    assert_eq!(changed(&mut state, Action::Pan(0.0, 0.0)), 0);
    assert_eq!(changed(&mut state, Action::Caret(1)), CARET);
    assert_eq!(changed(&mut state, Action::Linked(LinkState::Ready)), ENGINE);
    let back = changed(&mut state, Action::Step(Move::Back));
    assert_eq!(back & !CAMERA, STEP | SIDE);
    let typed = Action::Type { text: "x".to_owned(), caret: 1 };
    assert_eq!(changed(&mut state, typed) & !CARET, TEXT);
}

#[test]
fn a_row_names_every_signal_that_changes_it() {
    let mut state = page();
    let all = |state: &State| PARTS.iter().map(|part| (part.make)(state)).collect::<Vec<_>>();
    let actions = [
        Action::Caret(3),
        Action::Step(Move::Back),
        Action::Step(Move::First),
        Action::Inspect,
        Action::NextProblem { forward: true },
        Action::Toggle(crate::model::view::Over::Steps),
        Action::Play,
        Action::Faster,
        Action::SetGrain(crate::model::timeline::Grain::Node),
        Action::SetTheme(crate::model::view::Theme::Dark),
        Action::Show(crate::model::view::Tab::Program),
        Action::Zoom { factor: 2.0, at: None },
        Action::Linked(LinkState::Ready),
        Action::Type { text: "param x = 3\n".to_owned(), caret: 1 },
        Action::Undo,
        Action::Draw(crate::model::view::Draw::New),
        Action::Make("delete x".to_owned()),
        Action::Draw(crate::model::view::Draw::Nothing),
        Action::Predict,
        Action::Toggle(crate::model::view::Over::Rules),
    ];
    for action in actions {
        let (name, before) = (format!("{action:?}"), all(&state));
        let changed = changed(&mut state, action);
        for ((part, before), after) in PARTS.iter().zip(before).zip(all(&state)) {
            let says_so = part.on & changed != 0;
            assert!(says_so || before == after, "{name} changes {} unheard", part.at);
        }
    }
}

#[test]
fn what_the_engine_says_reaches_the_page() {
    let mut state = page();
    let said = |state: &State, at: &str| {
        let part = PARTS.iter().find(|part| part.at == at && part.on & SAID != 0);
        part.map(|part| (part.make)(state)).unwrap_or_default()
    };
    assert_eq!(said(&state, "#app .saved"), "Saved on this device");
    assert_eq!(said(&state, "#stepper .ends"), "ends here");
    assert!(said(&state, "#side > .head").contains("1 of "));
    reduce(&mut state, Action::Type { text: "param x = 3\n".to_owned(), caret: 1 });
    assert_eq!(said(&state, "#app .saved"), "Saving…");
}
