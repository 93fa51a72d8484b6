//! Documents: one opens in the place of another, is stored, and what the store has to say of it.

use super::panels::refused;
use super::{EXAMPLES, FIRST, NEW, State, rewritten};
use crate::model::action::{Action, Effect, Source};
use crate::model::shelf::{Place, number, word};
use crate::model::view::{Draw, Over, Tab, View};

impl State {
    /// The open document's name.
    pub fn name(&self) -> &str {
        let title = self.run.newest.as_ref().map_or("", |answer| answer.report.title.as_str());
        match (self.shelf.place.name.as_str(), title) {
            ("", "") => "Untitled",
            ("", name) | (name, _) => name,
        }
    }
}

/// Why the open document has another name all at once.
const CHANGED: &str = "This document was changed in another tab; your text goes on as a copy";

/// One of the actions that concern them.
pub(super) fn acted(state: &mut State, action: Action, effects: &mut Vec<Effect>) {
    match action {
        Action::Doc(words) if words == "keep" => state.shelf.claim(),
        Action::Doc(words) => {
            // A field for a name has done its work.
            if state.panels.args.starts_with("rename") {
                state.panels.args.clear();
            }
            state.shelf.push(words);
        }
        Action::Flush => {
            if state.is_dirty() {
                effects.push(Effect::Keep("text", state.doc.text().to_owned()));
            }
            state.shelf.want();
        }
        Action::Refuse(why) => {
            // It stands over the graph.
            state.view.tab = Tab::Graph;
            refused(state, why, effects);
        }
        _ => {}
    }
}

/// The engine has read the text: the browser keeps it at once, and the store in a moment.
pub(super) fn keep(state: &State, effects: &mut Vec<Effect>) {
    effects.push(Effect::Keep("text", state.doc.text().to_owned()));
    if state.is_dirty() || state.shelf.place.base > 0 {
        effects.push(Effect::KeepSoon);
    }
}

/// The engine is to read the same text again.
pub(super) fn touch(state: &mut State) {
    let is_dirty = state.is_dirty();
    state.doc.touch();
    if !is_dirty {
        state.shelf.settle(state.doc.rev());
    }
}

/// A document opens that the store does not have.
pub(super) fn open(state: &mut State, source: Source, effects: &mut Vec<Effect>) {
    let is_new = source == Source::New;
    let (text, name, own) = match source {
        Source::New => (NEW.to_owned(), String::new(), false),
        Source::Text(text) => (text, String::new(), false),
        Source::Example(0) => return open_example(state, 0, FIRST, effects),
        Source::Example(ix) => {
            // The whole engine has the others.
            state.panels.errand = ["make example ", &ix.to_string()].concat();
            return;
        }
        Source::File { name, text } => (text, name, true),
    };
    anew(state, text, name, own, effects);
    if is_new {
        // One begins with its last line, or with something drawn.
        let (text, caret) = (NEW.to_owned(), NEW.len() - 1);
        state.doc.put_caret(caret);
        effects.push(Effect::ShowText { text, caret });
        state.view.draw = Draw::New;
        state.view.tab = Tab::Graph;
    }
}

/// An example opens, under its own name.
pub(super) fn open_example(state: &mut State, ix: usize, text: &str, effects: &mut Vec<Effect>) {
    let name = EXAMPLES.get(ix).map_or("", |example| example.name);
    anew(state, text.to_owned(), name.to_owned(), false, effects);
}

fn anew(state: &mut State, text: String, name: String, own: bool, effects: &mut Vec<Effect>) {
    state.shelf_leave();
    shows(state, text, effects);
    state.shelf_anew(name, own);
}

/// Another text is on the page, with a history of its own.
fn shows(state: &mut State, text: String, effects: &mut Vec<Effect>) {
    if state.shelf.trouble.is_empty() {
        state.doc.open(text);
    } else if !state.doc.replace(&text) {
        state.doc.touch();
    }
    // The browser keeps text and place together.
    effects.push(Effect::Keep("text", state.doc.text().to_owned()));
    state.opens = true;
    state.also.clear();
    state.closed.clear();
    state.panels.version += 1;
    state.panels.refused.clear();
    state.view = View {
        theme: state.view.theme,
        grain: state.view.grain,
        speed: state.view.speed,
        tab: state.view.tab,
        keys: state.view.keys,
        ..View::default()
    };
    rewritten(state, effects, "Opened; the document before is under Documents");
}

/// What the store says.
pub(super) fn heard(state: &mut State, ask: &str, said: &str, effects: &mut Vec<Effect>) {
    if !state.shelf.lands(ask) {
        return;
    }
    state.shelf.trouble.clear();
    state.shelf.made += 1;
    state.panels.version += 1;
    let (head, text) = said.split_once('\n').unwrap_or((said, ""));
    let mut rest = head;
    match word(&mut rest) {
        // The id it had, and the place it has now.
        said @ ("saved" | "copied") => {
            let id = word(&mut rest);
            let place = place(rest).0;
            if state.shelf.stored(id, &place) && said == "copied" {
                refused(state, CHANGED, effects);
            } else if state.panels.refused == CHANGED {
                state.panels.refused.clear();
            }
        }
        "named" => {
            if state.shelf.place.id == word(&mut rest) {
                rest.clone_into(&mut state.shelf.place.name);
            }
            effects.push(Effect::Announce("Renamed".to_owned()));
        }
        "newer" => {
            let (place, step) = place(rest);
            if state.shelf.place.id == place.id && state.shelf.is_as_sent(state.doc.rev()) {
                state.shelf.place = place;
                if state.doc.replace(text) {
                    state.view.step = step;
                    effects.push(Effect::Keep("text", text.to_owned()));
                    rewritten(state, effects, "Changed in another tab, and here now, too");
                }
                state.shelf.settle(state.doc.rev());
            }
        }
        "open" => {
            let (place, step) = place(rest);
            state.shelf_leave();
            shows(state, text.to_owned(), effects);
            state.shelf.settle(state.doc.rev());
            state.shelf.place = place;
            state.shelf.step = Some(step);
        }
        "new" => anew(state, NEW.to_owned(), String::new(), false, effects),
        "gone" => {
            if state.shelf.place.id == rest {
                // It is not stored again; the one before it opens.
                state.shelf.settle(state.doc.rev());
                state.shelf.place.base = 0;
                state.shelf.push("latest".to_owned());
            }
            effects.push(Effect::Announce(text.to_owned()));
        }
        "text" => {
            if state.doc.replace(text) {
                rewritten(state, effects, "Restored");
            }
        }
        "said" => effects.push(Effect::Announce(rest.to_owned())),
        "none" => state.shelf.fails(rest),
        _ => state.shelf.fails("The worker that stores documents has ended."),
    }
    // The list stays open where its open document was deleted.
    if ask == "docs latest" {
        state.view.over = Over::Documents;
    }
}

/// Id, revision, step and name.
fn place(mut words: &str) -> (Place, usize) {
    let id = word(&mut words).to_owned();
    let (base, step) = (number(word(&mut words)), number(word(&mut words)));
    (Place { id, base, name: words.to_owned() }, step)
}

#[cfg(test)]
mod tests;
