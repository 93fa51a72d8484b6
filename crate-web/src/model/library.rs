//! The store of documents, as far as it can be told without a store: what a save does to what is there, which versions
//! are kept, names, and times in words.
//!
//! Pure: the time is an argument. Deliberately absent: `IndexedDB`, which `worker/store.rs` speaks.

use foldback::lang;
use serde::{Deserialize, Serialize};

pub mod diff;

/// So many versions of a document are kept at most.
pub const VERSIONS: usize = 100;
/// They hold so many bytes at most; the newest is kept whatever it holds.
pub const BYTES: usize = 4 << 20;
/// What is deleted can be put back for so many milliseconds.
pub const DELETED_FOR: f64 = 30.0 * DAY;
/// The longest name, in characters.
const LONGEST: usize = 80;

const SECOND: f64 = 1000.0;
const MINUTE: f64 = 60.0 * SECOND;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

/// A document in the store.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// Its key.
    pub id: String,
    /// The name that it was given; empty where it goes by its title.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The step that was shown last.
    pub step: u32,
    /// Counts the changes of the text.
    pub rev: u32,
    /// The step of undo that the text was made by.
    pub edit: String,
    /// When it was stored first, in milliseconds of the epoch, as all times here.
    pub made: f64,
    /// When its text changed last.
    pub changed: f64,
    /// When it was deleted; 0 where it was not.
    pub deleted: f64,
}

/// A text that a document had.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Version {
    /// The document's revision.
    pub rev: u32,
    /// When it was stored.
    pub time: f64,
    /// All of it.
    pub text: String,
}

impl Document {
    /// The name that is shown.
    pub fn shown(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let title = lang::parse(&self.text).ast.title_text().map(clean).unwrap_or_default();
        if title.is_empty() { "Untitled".to_owned() } else { title }
    }

    /// Whether it is listed among those that can be opened.
    pub fn is_there(&self) -> bool {
        self.deleted <= 0.0
    }

    /// The text as a version of its own.
    pub fn version(&self) -> Version {
        Version { rev: self.rev, time: self.changed, text: self.text.clone() }
    }
}

/// A page's document, which is to be stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Save<'a> {
    /// Its key.
    pub id: &'a str,
    /// The revision that its text comes from; 0 for none.
    pub base: u32,
    /// Whether the text is another one than at that revision.
    pub dirty: bool,
    /// The step shown.
    pub step: u32,
    /// The step of undo.
    pub edit: &'a str,
    /// Its name, where it is new.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

impl<'a> Save<'a> {
    /// Reads the words of a page's question.
    pub fn read(words: &'a str, text: &'a str) -> Option<Self> {
        let mut words = words.splitn(6, ' ');
        let mut word = || words.next();
        Some(Self {
            id: word().filter(|id| !id.is_empty())?,
            base: word()?.parse().ok()?,
            dirty: word()? == "1",
            step: word()?.parse().ok()?,
            edit: word()?,
            name: word()?,
            text,
        })
    }
}

/// What a save comes to.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The text is there already; at most the step is another.
    Same(Document),
    /// It is the document's next text.
    Next {
        /// As it is now.
        document: Document,
        /// The version that this one takes the place of, because both are one step of undo.
        instead_of: Option<u32>,
    },
    /// The store has a newer text, and the page has changed nothing: the page shall show it.
    Newer(Document),
    /// Two have changed the same text: the page's goes on as a document of its own.
    Copy(Document),
}

/// What a save does to what is there. `taken` are the names of the other documents, `copy` is an id for a copy.
pub fn save(
    stored: Option<&Document>,
    save: &Save<'_>,
    taken: &[String],
    copy: &str,
    now: f64,
) -> Outcome {
    let fresh = |id: &str, name: &str| {
        let mut document = Document {
            id: id.to_owned(),
            name: clean(name),
            text: save.text.to_owned(),
            step: save.step,
            rev: 1,
            edit: save.edit.to_owned(),
            made: now,
            changed: now,
            deleted: 0.0,
        };
        let shown = document.shown();
        let free = free_name(&shown, taken);
        if free != shown {
            document.name = free;
        }
        document
    };
    let Some(stored) = stored else {
        let document = fresh(save.id, save.name);
        return Outcome::Next { document, instead_of: None };
    };
    if stored.text == save.text {
        return Outcome::Same(Document { step: save.step, ..stored.clone() });
    }
    if stored.rev == save.base && save.dirty {
        let joins = stored.edit == save.edit && stored.rev > 1;
        let document = Document {
            text: save.text.to_owned(),
            step: save.step,
            rev: stored.rev + 1,
            edit: save.edit.to_owned(),
            changed: now,
            // Who goes on with what was deleted elsewhere has it back.
            deleted: 0.0,
            ..stored.clone()
        };
        return Outcome::Next { document, instead_of: joins.then_some(stored.rev) };
    }
    if stored.rev != save.base && !save.dirty {
        return Outcome::Newer(stored.clone());
    }
    // So is a text that claims to be the stored one and is not: whatever happened, nothing is written over.
    let mut taken = taken.to_vec();
    taken.push(stored.shown());
    let mut document = fresh(copy, &stored.shown());
    document.name = free_name(&document.shown(), &taken);
    Outcome::Copy(document)
}

/// A name in one line, not too long.
pub fn clean(name: &str) -> String {
    let words: Vec<&str> = name.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(LONGEST).collect::<String>().trim_end().to_owned()
}

/// A name, or the first of `NAME (2)`, `NAME (3)` … that is not taken.
pub fn free_name(name: &str, taken: &[String]) -> String {
    let is_free = |name: &String| !taken.contains(name);
    let name = name.to_owned();
    if is_free(&name) {
        return name;
    }
    let stem = match name.rsplit_once(" (") {
        Some((stem, n)) if n.strip_suffix(')').is_some_and(|n| n.parse::<u32>().is_ok()) => stem,
        _ => &name,
    };
    // One of so many and one more is free.
    let mut numbered = (2..taken.len() + 3).map(|n| format!("{stem} ({n})"));
    numbered.find(is_free).unwrap_or(name)
}

/// How far apart versions of this age are kept, in milliseconds; coarser by a power of two.
fn gap(age: f64, coarser: u32) -> f64 {
    let finest = if coarser == 0 { 0.0 } else { SECOND };
    let gap = if age < 5.0 * MINUTE {
        finest
    } else if age < HOUR {
        MINUTE
    } else if age < DAY {
        30.0 * MINUTE
    } else {
        DAY
    };
    gap * f64::from(1_u32 << coarser)
}

/// Which versions are given up, of those with these revisions, times and bytes, the oldest first.
///
/// All of the last minutes are kept, then one a minute, one in half an hour, one a day: the last of each. Where that
/// is too many, the spans are twice as long. Of what is then too large the oldest go first; the newest stays.
pub fn thinned(versions: &[(u32, f64, usize)], now: f64) -> Vec<u32> {
    let coarser = |coarser| apart(versions, now, coarser);
    let few = |gone: &Vec<u32>| versions.len() - gone.len() <= VERSIONS;
    let mut gone = (0..30).map(coarser).find(few).unwrap_or_default();
    let mut bytes = 0;
    for (n, (rev, _, size)) in versions.iter().rev().enumerate() {
        if gone.contains(rev) {
            continue;
        }
        bytes += size;
        if n > 0 && bytes > BYTES {
            gone.push(*rev);
        }
    }
    gone
}

/// Those that stand in a span with a newer one. Spans are fixed, so that it does not matter when one thins.
fn apart(versions: &[(u32, f64, usize)], now: f64, coarser: u32) -> Vec<u32> {
    let mut gone = Vec::new();
    let mut last = None;
    for (rev, time, _) in versions.iter().rev() {
        let gap = gap(now - time, coarser);
        let span = (gap > 0.0).then(|| (gap.to_bits(), (time / gap).floor().to_bits()));
        if span.is_some() && span == last {
            gone.push(*rev);
        }
        last = span;
    }
    gone
}

/// How long ago something was, in words.
pub fn ago(now: f64, then: f64) -> String {
    let age = now - then;
    let (n, unit) = if age < 5.0 * SECOND {
        return "just now".to_owned();
    } else if age < MINUTE {
        (age / SECOND, "second")
    } else if age < HOUR {
        (age / MINUTE, "minute")
    } else if age < DAY {
        (age / HOUR, "hour")
    } else {
        (age / DAY, "day")
    };
    let n = n.floor();
    format!("{n} {unit}{} ago", if n > 1.0 { "s" } else { "" })
}

#[cfg(test)]
mod tests;
