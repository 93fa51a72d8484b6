//! The document: a text, where the caret stands, and one history of changes to the text.
//!
//! Everything undoable is a change of the text, so there is one kind of change and one history.
//! Deliberately absent: a clock. Typing is merged by what is typed, not by when.

/// How many changes are kept.
const HISTORY: usize = 1000;

/// A text and its history.
#[derive(Clone, Debug, Default)]
pub struct Doc {
    text: String,
    rev: u32,
    caret: usize,
    past: Vec<Change>,
    future: Vec<Change>,
    /// Whether the next typing joins the last change.
    open: bool,
}

/// One step of the history: `removed` stood at byte `at`, `inserted` stands there now.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Change {
    at: usize,
    removed: String,
    inserted: String,
    /// Where the caret stood before.
    caret: usize,
}

impl Doc {
    /// A document that has just been opened.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How often the text has changed.
    pub const fn rev(&self) -> u32 {
        self.rev
    }

    /// The caret, in bytes.
    pub const fn caret(&self) -> usize {
        self.caret
    }

    /// Whether there is something to undo.
    pub const fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// Whether there is something to redo.
    pub const fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    /// Another document in its place, with a history of its own.
    pub fn open(&mut self, text: String) {
        *self = Self { text, rev: self.rev + 1, ..Self::default() };
    }

    /// How many changes can be undone.
    pub const fn n_past(&self) -> usize {
        self.past.len()
    }

    /// Counts as changed, so that the engine reads the same text again.
    pub const fn touch(&mut self) {
        self.rev += 1;
    }

    /// Moves the caret, which ends a run of typing.
    pub fn put_caret(&mut self, caret: usize) {
        self.open &= caret == self.caret;
        self.caret = caret.min(self.text.len());
    }

    /// The text as the editor has it after a keystroke. Runs of typing become one change.
    pub fn typed(&mut self, text: &str, caret: usize) -> bool {
        let Some(change) = self.difference(text) else {
            self.put_caret(caret);
            return false;
        };
        let joins = self.open
            && self.future.is_empty()
            && self.past.last().is_some_and(|last| joins(last, &change));
        if joins && let Some(last) = self.past.last_mut() {
            last.inserted.push_str(&change.inserted);
        } else {
            self.push(change);
        }
        self.replaced(text.to_owned(), caret);
        self.open = true;
        true
    }

    /// Replaces the text by one that a command made; always a change of its own.
    pub fn replace(&mut self, text: &str) -> bool {
        let Some(change) = self.difference(text) else { return false };
        let caret = change.at + change.inserted.len();
        self.push(change);
        self.replaced(text.to_owned(), caret);
        true
    }

    /// Takes the last change back.
    pub fn undo(&mut self) -> bool {
        let Some(change) = self.past.pop() else { return false };
        let mut text = self.text.clone();
        let end = change.at + change.inserted.len();
        text.replace_range(change.at..end, &change.removed);
        self.replaced(text, change.caret);
        self.future.push(change);
        true
    }

    /// Makes the change again that was taken back last.
    pub fn redo(&mut self) -> bool {
        let Some(change) = self.future.pop() else { return false };
        let mut text = self.text.clone();
        let end = change.at + change.removed.len();
        text.replace_range(change.at..end, &change.inserted);
        self.replaced(text, change.at + change.inserted.len());
        self.past.push(change);
        true
    }

    fn push(&mut self, change: Change) {
        self.future.clear();
        if self.past.len() == HISTORY {
            self.past.remove(0);
        }
        self.past.push(change);
    }

    fn replaced(&mut self, text: String, caret: usize) {
        self.text = text;
        self.caret = caret.min(self.text.len());
        self.rev += 1;
        self.open = false;
    }

    /// The one change that leads from the text to another: what is left between what both begin and end with.
    fn difference(&self, text: &str) -> Option<Change> {
        let old = &self.text;
        if old == text {
            return None;
        }
        let same = |(a, b): &(char, char)| a == b;
        let width = |(c, _): (char, char)| c.len_utf8();
        let at: usize = old.chars().zip(text.chars()).take_while(same).map(width).sum();
        let (old_rest, new_rest) = (&old[at..], &text[at..]);
        let tail: usize =
            old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(same).map(width).sum();
        Some(Change {
            at,
            removed: old_rest[..old_rest.len() - tail].to_owned(),
            inserted: new_rest[..new_rest.len() - tail].to_owned(),
            caret: self.caret,
        })
    }
}

/// Whether a change goes on where the last one ended, within the same word or line of signs.
fn joins(last: &Change, next: &Change) -> bool {
    let ends_word = last.inserted.ends_with(char::is_whitespace);
    let begins_word = !next.inserted.starts_with(char::is_whitespace);
    last.removed.is_empty()
        && next.removed.is_empty()
        && next.at == last.at + last.inserted.len()
        && next.inserted.chars().count() == 1
        && !(ends_word && begins_word)
        && !next.inserted.starts_with('\n')
}

#[cfg(test)]
mod tests {
    use super::Doc;

    fn type_in(doc: &mut Doc, at: usize, typed: &str) {
        for (offset, c) in typed.char_indices() {
            let mut text = doc.text().to_owned();
            text.insert(at + offset, c);
            doc.typed(&text, at + offset + c.len_utf8());
        }
    }

    #[test]
    fn a_word_is_one_change_and_the_next_word_another() {
        let mut doc = Doc::new("x = ");
        doc.put_caret(4);
        type_in(&mut doc, 4, "sum y");
        assert_eq!(doc.text(), "x = sum y");
        assert!(doc.undo());
        assert_eq!(doc.text(), "x = sum ");
        assert!(doc.undo());
        assert_eq!(doc.text(), "x = ");
        assert_eq!(doc.caret(), 4);
        assert!(!doc.can_undo());
        assert!(doc.redo() && doc.redo());
        assert_eq!(doc.text(), "x = sum y");
    }

    #[test]
    fn moving_the_caret_ends_a_run() {
        let mut doc = Doc::new("");
        type_in(&mut doc, 0, "ab");
        doc.put_caret(0);
        type_in(&mut doc, 0, "c");
        assert_eq!(doc.text(), "cab");
        doc.undo();
        assert_eq!(doc.text(), "ab");
    }

    #[test]
    fn a_command_is_one_change_and_ends_what_could_be_redone() {
        let mut doc = Doc::new("rules upstream\ny = w / c");
        doc.replace("rules upstream\ny = w / repeat(c, w)");
        doc.undo();
        assert!(doc.can_redo());
        doc.replace("rules ggml\ny = w / c");
        assert!(!doc.can_redo());
        doc.undo();
        assert_eq!(doc.text(), "rules upstream\ny = w / c");
    }

    #[test]
    fn changes_never_cut_a_character() {
        let mut doc = Doc::new("é = è");
        doc.replace("ê = ë");
        assert_eq!(doc.text(), "ê = ë");
        doc.undo();
        assert_eq!(doc.text(), "é = è");
    }

    #[test]
    fn repeated_letters_are_not_counted_twice() {
        let mut doc = Doc::new("aa");
        doc.replace("aaa");
        doc.undo();
        assert_eq!(doc.text(), "aa");
        doc.replace("a");
        doc.undo();
        assert_eq!(doc.text(), "aa");
    }
}
