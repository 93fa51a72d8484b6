//! The document that is open, and what is asked of the store of all documents, which the panels' worker holds.
//!
//! One question at a time: the answer to a save tells the revision that the next one goes on from. What is left behind
//! when another document opens waits here until it is stored.
//! Deliberately absent: the store itself, clocks, and chance; ids are made from a seed.

use super::asks::{Event, Slot};
use super::reduce::State;

/// Where a document stands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Its id in the store.
    pub id: String,
    /// The revision in the store that its text comes from; 0 while it is not there.
    pub base: usize,
    /// The name that it was given; empty where it goes by its title.
    pub name: String,
}

/// A document that another one has taken the place of before it was stored.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Left {
    place: Place,
    /// The words behind its base.
    rest: String,
    text: String,
}

/// The open document, and what is to be asked of the store.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shelf {
    /// The open document's place.
    pub place: Place,
    /// The step that it is to open at.
    pub step: Option<usize>,
    /// Why the store keeps nothing; empty where it does.
    pub trouble: String,
    /// Counts what has changed in the store, so that its list is made anew.
    pub made: usize,
    /// The revision of the page's text that is in the store, or was opened; none where it is to be stored anyhow.
    clean: Option<u32>,
    /// The revision that was sent last.
    sent: u32,
    /// The question under way.
    flight: Option<String>,
    /// Whether that is about what was left behind.
    carries_left: bool,
    /// Whether nothing is asked until somebody wants something: the last question had no good answer.
    rests: bool,
    /// Whether the open document is to be stored now.
    wants: bool,
    left: Vec<Left>,
    /// What else is to be asked, in this order.
    todo: Vec<String>,
    seed: String,
    n_ids: usize,
    told: String,
}

impl State {
    /// Goes on with the document of which the browser kept this; without that it is a new one, which is somebody's own
    /// if its text was kept.
    pub fn resume(&mut self, kept: &str, seed: String, own: bool) {
        let shelf = &mut self.shelf;
        shelf.seed = seed;
        if kept.is_empty() {
            return self.shelf_anew(String::new(), own);
        }
        let mut words = kept;
        let mut place = Place::default();
        word(&mut words).clone_into(&mut place.id);
        place.base = number(word(&mut words));
        shelf.clean = (word(&mut words) == "0").then_some(self.doc.rev());
        shelf.step = Some(number(word(&mut words)));
        word(&mut words);
        words.clone_into(&mut place.name);
        shelf.place = place;
    }

    /// A new document is open; one that is somebody's own is stored even if it never changes.
    pub fn shelf_anew(&mut self, name: String, own: bool) {
        let shelf = &mut self.shelf;
        shelf.n_ids += 1;
        let id = [&*shelf.seed, "-", &shelf.n_ids.to_string()].concat();
        shelf.place = Place { id, base: 0, name };
        shelf.clean = (!own).then_some(self.doc.rev());
        shelf.step = None;
    }

    /// Puts what is open aside until it is stored, because something else opens.
    pub fn shelf_leave(&mut self) {
        // Without a store it is taken back like any change.
        if self.is_dirty() && self.shelf.trouble.is_empty() {
            let left = Left {
                place: self.shelf.place.clone(),
                rest: self.shelf_rest(),
                text: self.doc.text().to_owned(),
            };
            self.shelf.left.push(left);
        }
    }

    /// Whether the text is not in the store.
    pub fn is_dirty(&self) -> bool {
        self.shelf.clean != Some(self.doc.rev())
    }

    /// What of a document has to be known to go on with it, but for its text.
    pub fn shelf_head(&self) -> String {
        head(&self.shelf.place, &self.shelf_rest())
    }

    fn shelf_rest(&self) -> String {
        let dirty = if self.is_dirty() { "1 " } else { "0 " };
        let step = self.shelf.step.unwrap_or(self.view.step).to_string();
        // Two saves within one step of undo are one version.
        let edit = self.doc.n_past().to_string();
        [dirty, &step, " ", &self.shelf.seed, ".", &edit].concat()
    }

    /// The same, if it has changed since it was asked for.
    pub fn shelf_news(&mut self) -> Option<String> {
        let head = self.shelf_head();
        (self.shelf.told != head).then(|| {
            self.shelf.told.clone_from(&head);
            head
        })
    }

    /// The next question for the store.
    pub fn shelf_ask(&mut self) -> Option<Event> {
        if self.shelf.flight.is_some() || self.shelf.rests {
            return None;
        }
        let is_dirty = self.is_dirty();
        // What nobody has changed and what was never stored is no work to be kept.
        let wants =
            std::mem::take(&mut self.shelf.wants) && (is_dirty || self.shelf.place.base > 0);
        self.shelf.carries_left = !self.shelf.left.is_empty();
        let (ask, text) = if let Some(left) = self.shelf.left.first() {
            self.shelf.wants = wants;
            ([SAVE, &head(&left.place, &left.rest)].concat(), left.text.clone())
        } else if wants || (is_dirty && !self.shelf.todo.is_empty()) {
            self.shelf.sent = self.doc.rev();
            ([SAVE, &self.shelf_head()].concat(), self.doc.text().to_owned())
        } else if self.shelf.todo.is_empty() {
            return None;
        } else {
            (["docs ", &self.shelf.todo.remove(0)].concat(), String::new())
        };
        self.shelf.flight = Some(ask.clone());
        Some(Event::Ask { slot: Slot::Keep, rev: self.run.rev, text, ask, waits: false })
    }
}

/// The first word of some, which then begin behind it.
pub fn word<'a>(words: &mut &'a str) -> &'a str {
    let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
    *words = rest;
    word
}

/// A number in words, or else 0.
pub fn number(word: &str) -> usize {
    word.parse().unwrap_or(0)
}

const SAVE: &str = "docs save ";

fn head(place: &Place, rest: &str) -> String {
    [&*place.id, " ", &place.base.to_string(), " ", rest, " ", &place.name].concat()
}

impl Shelf {
    /// The open document is to be stored as soon as the store is free.
    pub const fn want(&mut self) {
        self.wants = true;
        self.rests = false;
    }

    /// The text is to be stored whether it has changed or not.
    pub const fn claim(&mut self) {
        self.clean = None;
        self.want();
    }

    /// The text of this revision needs no storing.
    pub const fn settle(&mut self, rev: u32) {
        self.clean = Some(rev);
    }

    /// Something else is to be asked.
    pub fn push(&mut self, words: String) {
        self.todo.push(words);
        self.rests = false;
    }

    /// Whether this is the answer to the question under way, which then is no longer so.
    pub fn lands(&mut self, ask: &str) -> bool {
        let is = self.flight.as_deref() == Some(ask);
        if is {
            self.flight = None;
        }
        is
    }

    /// Whether the text has not changed since it was sent.
    pub const fn is_as_sent(&self, rev: u32) -> bool {
        self.sent == rev
    }

    /// A document is in the store under this place; whether it is the open one.
    pub fn stored(&mut self, id: &str, place: &Place) -> bool {
        if self.carries_left && !self.left.is_empty() {
            self.left.remove(0);
        } else if self.place.id == id {
            self.clean = Some(self.sent);
        }
        for left in &mut self.left {
            if left.place.id == id {
                left.place.clone_from(place);
            }
        }
        let is_open = self.place.id == id;
        if is_open {
            self.place.clone_from(place);
        }
        is_open
    }

    /// What could not be stored is not asked for again by itself.
    pub fn fails(&mut self, why: &str) {
        why.clone_into(&mut self.trouble);
        self.todo.clear();
        self.rests = true;
    }
}
