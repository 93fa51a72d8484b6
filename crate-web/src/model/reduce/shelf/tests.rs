use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::action::{Action, Effect, Source};
use crate::model::answer::Answer;
use crate::model::asks::{self, Slot};
use crate::model::library::{Document, Outcome, Save, save};
use crate::model::reduce::{State, reduce};
use crate::model::view::{Draw, Room, Theme};

const FIRST: &str = "x = 1\n";

fn page() -> State {
    let (mut state, _) = State::open(FIRST, Room::default(), Theme::System);
    state.resume("", "s".to_owned(), false);
    answered(&mut state);
    state
}

fn answered(state: &mut State) -> Vec<Effect> {
    let rev = state.doc.rev();
    reduce(state, Action::Answered { rev, answer: Arc::new(Answer::default()) })
}

fn write(state: &mut State, text: &str) {
    reduce(state, Action::Type { text: text.to_owned(), caret: text.len() });
    answered(state);
}

/// The question for the store among these, and its text.
fn asked(effects: &[Effect]) -> Option<(String, String)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Panels(asks::Event::Ask { slot: Slot::Keep, ask, text, .. }) => {
            Some((ask.clone(), text.clone()))
        }
        _ => None,
    })
}

fn flush(state: &mut State) -> Option<(String, String)> {
    asked(&reduce(state, Action::Flush))
}

fn reply(state: &mut State, ask: &str, html: &str) -> Vec<Effect> {
    let (slot, rev) = (Slot::Keep.ix(), 0);
    let (ask, html) = (ask.to_owned(), html.to_owned());
    reduce(state, Action::Panel { slot, rev, ask, html })
}

#[test]
fn what_nobody_has_changed_is_not_stored() {
    let mut state = page();
    assert_eq!(flush(&mut state), None);
    reduce(&mut state, Action::Open(Source::New));
    answered(&mut state);
    assert_eq!(flush(&mut state), None);
    reduce(&mut state, Action::Doc("keep".to_owned()));
    assert_eq!(flush(&mut state), None, "it is asked already");
    assert!(!state.shelf.lands("another question"));
}

#[test]
fn an_edit_is_stored_and_goes_on_from_what_the_store_says() {
    let mut state = page();
    write(&mut state, "y");
    let (ask, text) = flush(&mut state).unwrap_or_default();
    assert_eq!((ask.as_str(), text.as_str()), ("docs save s-1 0 1 0 s.1 ", "y"));
    write(&mut state, "yy");
    assert_eq!(flush(&mut state), None, "one at a time");
    // What waited is sent with the answer, from the new revision on.
    let (ask, text) = asked(&reply(&mut state, &ask, "saved s-1 s-1 1 0 ")).unwrap_or_default();
    assert_eq!((ask.as_str(), text.as_str()), ("docs save s-1 1 1 0 s.2 ", "yy"));
    reply(&mut state, &ask, "saved s-1 s-1 2 0 A name");
    assert!(!state.is_dirty());
    assert_eq!((state.shelf.place.base, state.name()), (2, "A name"));
}

#[test]
fn what_is_left_behind_is_stored_before_anything_else_is_asked() {
    let mut state = page();
    write(&mut state, "one");
    let (first, _) = flush(&mut state).unwrap_or_default();
    write(&mut state, "one more");
    reduce(&mut state, Action::Open(Source::Text("two".to_owned())));
    reduce(&mut state, Action::Doc("copy s-1".to_owned()));
    // The answer to the first save is not taken for one to what was left.
    let (ask, text) = asked(&reply(&mut state, &first, "saved s-1 s-1 1 0 ")).unwrap_or_default();
    assert_eq!(text, "one more");
    assert!(ask.starts_with("docs save s-1 1 1 "), "{ask}");
    let (ask, _) = asked(&reply(&mut state, &ask, "saved s-1 s-1 2 0 ")).unwrap_or_default();
    assert_eq!(ask, "docs copy s-1");
    assert_eq!(state.doc.text(), "two");
    assert_eq!(state.shelf.place.id, "s-2");
}

#[test]
fn a_document_opens_at_its_step_and_one_that_was_deleted_makes_room() {
    let mut state = page();
    write(&mut state, "one");
    let (ask, _) = flush(&mut state).unwrap_or_default();
    reply(&mut state, &ask, "saved s-1 s-1 1 0 ");
    let (ask, _) = asked(&reduce(&mut state, Action::Doc("open b".to_owned()))).unwrap_or_default();
    reply(&mut state, &ask, "open b 4 7 Other name\ntheirs\n");
    assert_eq!((state.doc.text(), state.name()), ("theirs\n", "Other name"));
    assert!(state.shelf_head().starts_with("b 4 0 7 "), "{}", state.shelf_head());
    let (ask, _) =
        asked(&reduce(&mut state, Action::Doc("delete b".to_owned()))).unwrap_or_default();
    let (ask, _) = asked(&reply(&mut state, &ask, "gone b\nDeleted")).unwrap_or_default();
    assert_eq!(ask, "docs latest");
    assert!(asked(&reply(&mut state, &ask, "new")).is_none(), "what was deleted is not stored");
    assert_eq!(state.shelf.place.base, 0);
}

#[test]
fn a_version_is_restored_as_one_step_of_undo() {
    let mut state = page();
    write(&mut state, "one");
    let (ask, _) = flush(&mut state).unwrap_or_default();
    reply(&mut state, &ask, "saved s-1 s-1 1 0 ");
    let restore = Action::Doc("restore s-1 1".to_owned());
    let (ask, _) = asked(&reduce(&mut state, restore)).unwrap_or_default();
    reply(&mut state, &ask, "text\nan old one\n");
    assert_eq!(state.doc.text(), "an old one\n");
    reduce(&mut state, Action::Undo);
    assert_eq!(state.doc.text(), "one");
}

#[test]
fn what_cannot_be_stored_is_said_and_not_asked_again_by_itself() {
    let mut state = page();
    write(&mut state, "one");
    let (ask, _) = flush(&mut state).unwrap_or_default();
    let effects = reply(&mut state, &ask, "none There is no database");
    assert_eq!(state.shelf.trouble, "There is no database");
    assert_eq!(asked(&effects), None);
    assert!(state.is_dirty());
    // What is opened now can be taken back: there is nowhere else to find it again.
    assert_eq!(asked(&reduce(&mut state, Action::Open(Source::Text("two".to_owned())))), None);
    reduce(&mut state, Action::Undo);
    assert_eq!(state.doc.text(), "one");
    answered(&mut state);
    // The worker has ended: its answer is the markup of a panel that could not be made.
    let (ask, _) = flush(&mut state).unwrap_or_default();
    assert_eq!(asked(&reply(&mut state, &ask, "<p>Ended</p>")), None);
    assert!(!state.shelf.trouble.is_empty());
    let (ask, _) = flush(&mut state).unwrap_or_default();
    reply(&mut state, &ask, "saved s-2 s-2 1 0 ");
    assert!(state.shelf.trouble.is_empty() && !state.is_dirty());
}

#[test]
fn a_page_goes_on_with_what_the_browser_kept() {
    let (mut state, _) = State::open("kept", Room::default(), Theme::System);
    state.resume("s-9 4 1 12 s.3 A name of words", "t".to_owned(), true);
    assert!(state.is_dirty());
    assert!(state.shelf_head().starts_with("s-9 4 1 12 t.0 A name of words"));
    state.resume("s-9 4 0 12 s.3 ", "t".to_owned(), true);
    assert!(!state.is_dirty());
    // What was kept before there were documents is somebody's own.
    state.resume("", "t".to_owned(), true);
    assert!(state.is_dirty());
    assert_eq!(state.shelf.place.base, 0);
}

#[test]
fn what_was_left_behind_is_not_asked_for_in_a_ring_where_nothing_is_stored() {
    let mut state = page();
    write(&mut state, "one");
    let (ask, _) = asked(&reduce(&mut state, Action::Open(Source::New))).unwrap_or_default();
    assert!(ask.starts_with("docs save s-1 "), "{ask}");
    assert_eq!(asked(&reply(&mut state, &ask, "none")), None, "it rests");
    assert_eq!(asked(&reduce(&mut state, Action::Caret(1))), None);
    assert_eq!(flush(&mut state), Some((ask, "one".to_owned())), "until the next save");
}

#[test]
fn text_and_place_are_kept_together_when_another_document_opens() {
    let mut state = page();
    let effects = reduce(&mut state, Action::Open(Source::Text("two".to_owned())));
    let text = effects.iter().position(|effect| *effect == Effect::Keep("text", "two".to_owned()));
    let place = effects.iter().position(
        |effect| matches!(effect, Effect::Keep("mark", mark) if mark.starts_with("s-2 0 0 ")),
    );
    assert!(text.is_some() && text < place, "{effects:?}");
}

/// The store, played by what decides in it.
#[derive(Default)]
struct Store {
    documents: BTreeMap<String, Document>,
    texts: Vec<String>,
    n_copies: u32,
}

impl Store {
    fn answer(&mut self, ask: &str, text: &str) -> String {
        let words = ask.strip_prefix("docs save ").unwrap_or_default();
        let Some(asked) = Save::read(words, text) else { return "said".to_owned() };
        self.n_copies += 1;
        let others = self.documents.values().filter(|other| other.id != asked.id);
        let taken: Vec<String> = others.map(Document::shown).collect();
        let copy = format!("copy{}", self.n_copies);
        let (word, document) = match save(self.documents.get(asked.id), &asked, &taken, &copy, 1.0)
        {
            Outcome::Newer(document) => {
                return format!("newer {} {} 0 \n{}", document.id, document.rev, document.text);
            }
            Outcome::Same(document) | Outcome::Next { document, .. } => ("saved", document),
            Outcome::Copy(document) => ("copied", document),
        };
        self.texts.push(document.text.clone());
        let place = format!("{word} {} {} {} 0 ", asked.id, document.id, document.rev);
        self.documents.insert(document.id.clone(), document);
        place
    }
}

#[test]
fn two_pages_lose_nothing_whatever_they_do_and_when_the_store_answers() {
    for seed in 1..60_u64 {
        let mut dice = seed;
        let mut roll = |n: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            (dice >> 33) % n
        };
        let mut store = Store::default();
        let mut pages = [page(), page()];
        for page in &mut pages {
            // Both have the same document open.
            page.resume("a 0 1 0 s.0 ", format!("p{}", roll(1000)), true);
        }
        let mut flights: [Option<(String, String)>; 2] = [None, None];
        let mut written = Vec::new();
        for turn in 0..60 {
            let which = roll(2) as usize;
            let (page, flight) = (&mut pages[which], &mut flights[which]);
            let effects = match roll(4) {
                0 => {
                    let text = format!("# {which} {turn}");
                    write(page, &text);
                    written.push((which, turn, text));
                    Vec::new()
                }
                1 => reduce(page, Action::Open(Source::Text(format!("opened {turn}")))),
                2 => reduce(page, Action::Flush),
                _ => match flight.take() {
                    Some((ask, text)) => {
                        let said = store.answer(&ask, &text);
                        reply(page, &ask, &said)
                    }
                    None => Vec::new(),
                },
            };
            if let Some(ask) = asked(&effects) {
                assert!(flight.is_none(), "one question at a time");
                *flight = Some(ask);
            }
        }
        // Everything is stored in the end.
        for (page, flight) in pages.iter_mut().zip(&mut flights) {
            for _ in 0..200 {
                let effects = match flight.take() {
                    Some((ask, text)) => {
                        let said = store.answer(&ask, &text);
                        reply(page, &ask, &said)
                    }
                    None => reduce(page, Action::Flush),
                };
                *flight = asked(&effects);
            }
            assert!(!page.is_dirty());
        }
        // Of each page the last text before it was flushed or left is there: the last one of all at least.
        for which in 0..2 {
            let last = written.iter().rev().find(|(page, ..)| *page == which);
            assert!(last.is_none_or(|(.., text)| store.texts.contains(text)), "seed {seed}");
        }
    }
}

#[test]
fn a_new_document_begins_with_its_last_line_and_the_list_of_nodes() {
    let mut state = page();
    let effects = reduce(&mut state, Action::Open(Source::New));
    assert_eq!(state.view.draw, Draw::New);
    let text = state.doc.text();
    let last = effects.iter().rev().find_map(|effect| match effect {
        Effect::ShowText { text, caret } => Some((text.as_str(), *caret)),
        _ => None,
    });
    assert_eq!(last, Some((text, text.trim_end().len())), "the caret is behind the last line");
    reduce(&mut state, Action::Open(Source::Text("y = 2\n".to_owned())));
    assert_eq!(state.view.draw, Draw::Nothing, "another document has something already");
}
