//! Which key does what where: the keyboard map as one function.
//!
//! Single letters work only where the graph or the stepper has the focus; a text field keeps all it can use.

use super::action::{Action, Move, Pane};
use super::names::Arrow;
use super::view::{Aid, Draw, Over};

/// A key press.
#[expect(clippy::struct_excessive_bools, reason = "that is what a key press consists of")]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Press<'a> {
    /// `KeyboardEvent.key`.
    pub key: &'a str,
    /// Ctrl, or Command.
    pub command: bool,
    /// Shift.
    pub shift: bool,
    /// Alt.
    pub alt: bool,
    /// Whether it is held down.
    pub held: bool,
}

/// Where the focus is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Focus {
    /// In the editor, or another field that uses keys itself.
    Field,
    /// In the graph.
    Graph,
    /// On the scrubber.
    Scrubber,
    /// Elsewhere in the stepper.
    Stepper,
    /// In another pane.
    Elsewhere,
    /// Nowhere.
    Nowhere,
}

/// The single characters that do something in the graph or the stepper, as they are at first. What they do stands in
/// [`LETTERS`], which the first load does without.
pub const KEYS: [char; 16] =
    ['n', 'c', 'e', 'd', 'u', 'g', 'f', 'p', 'l', '.', ',', ']', '[', '0', '+', '-'];

/// What each of [`KEYS`] does.
pub const LETTERS: [&str; KEYS.len()] = [
    "New node, which reads the selected one",
    "Connect the selected node",
    "Edit the node's line",
    "Duplicate what is selected",
    "Unpin what is selected",
    "Close or open a call",
    "The fold, cell by cell",
    "The paths of the node",
    "Next rules",
    "Next fold",
    "Previous fold",
    "Next contribution to the node's gradient",
    "Previous contribution",
    "Fit the graph into its pane",
    "Closer",
    "Farther",
];

/// Which characters do what: those of [`KEYS`], unless the user has others, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyMap {
    is_off: bool,
    keys: [char; KEYS.len()],
}

impl Default for KeyMap {
    fn default() -> Self {
        Self { is_off: false, keys: KEYS }
    }
}

impl KeyMap {
    /// Reads [`KeyMap::text`]; what is not one is the map as it is at first.
    pub fn read(text: &str) -> Self {
        let mut map = Self::default();
        let mut chars = text.chars();
        map.is_off = chars.next() == Some('x');
        for (ix, key) in chars.enumerate() {
            if ix == map.keys.len() || !map.put(ix, key) {
                return Self { is_off: map.is_off, ..Self::default() };
            }
        }
        map
    }

    /// The map in one word: `o` or `x` for on or off, and the characters in order.
    pub fn text(&self) -> String {
        let state = if self.is_off { 'x' } else { 'o' };
        let mut text = String::from(state);
        text.extend(self.keys);
        text
    }

    /// Changes the map as the words say: `on`, `off`, `reset`, or a place and its new key. Who had that key before gets
    /// the old one, so that no key does two things. No where they say nothing.
    pub fn change(&mut self, words: &str) -> bool {
        let (first, key) = words.split_once(' ').unwrap_or((words, ""));
        match first {
            "on" => self.is_off = false,
            "off" => self.is_off = true,
            "reset" => *self = Self::default(),
            place => {
                let mut chars = key.chars();
                let (Ok(place), Some(key), None) = (place.parse(), chars.next(), chars.next())
                else {
                    return false;
                };
                return self.put(place, key.to_ascii_lowercase());
            }
        }
        true
    }

    fn put(&mut self, place: usize, key: char) -> bool {
        // A blank plays, and a question mark is how one finds this map.
        if key <= ' ' || key == '?' || place >= self.keys.len() {
            return false;
        }
        let other = self.keys.iter().position(|other| *other == key).unwrap_or(place);
        self.keys.swap(place, other);
        self.keys[place] = key;
        true
    }

    /// Whether no character does anything.
    pub const fn is_off(&self) -> bool {
        self.is_off
    }

    /// The characters, in the order of [`KEYS`].
    pub const fn keys(&self) -> &[char] {
        &self.keys
    }

    /// What a character of the keyboard stands for; none where it does nothing.
    fn means(&self, key: char) -> Option<char> {
        if self.is_off {
            return None;
        }
        // The plus sign of most keyboards has an equals sign beneath it.
        let key = if key == '=' && !self.keys.contains(&key) { '+' } else { key };
        self.keys.iter().position(|own| *own == key).map(|ix| KEYS[ix])
    }
}

/// Keys that are held with another one, as a sum.
const ALT: u8 = 1;
const COMMAND: u8 = 2;
const SHIFT: u8 = 4;

/// What keys do to the selected nodes of the graph, in words.
const HERE: [(&str, u8, &str); 13] = [
    ("ArrowLeft", ALT, "shift * -1 0 %"),
    ("ArrowRight", ALT, "shift * 1 0 %"),
    // As far as a line is high.
    ("ArrowUp", ALT, "shift * 0 -20 %"),
    ("ArrowDown", ALT, "shift * 0 20 %"),
    ("d", COMMAND, "duplicate *"),
    ("Delete", 0, "delete *"),
    ("Backspace", 0, "delete *"),
    ("c", COMMAND, "copy *"),
    ("x", COMMAND, "cut *"),
    ("a", COMMAND, "pick all *"),
    ("g", COMMAND, "group *"),
    ("G", COMMAND | SHIFT, "ungroup *"),
    // With Ctrl, some systems leave the letter small.
    ("g", COMMAND | SHIFT, "ungroup *"),
];

/// What a key press does; none where the browser shall do what it always does.
pub fn action(
    press: Press<'_>,
    focus: Focus,
    pane: Option<Pane>,
    over: Over,
    map: &KeyMap,
) -> Option<Action> {
    let Press { key, command, shift, alt, held } = press;
    let graph = focus == Focus::Graph;
    let with = (u8::from(alt) * ALT) | (u8::from(command) * COMMAND) | (u8::from(shift) * SHIFT);
    // A move goes on while the key is held; all else is done once.
    if graph && (alt || !held) {
        let found = HERE.iter().find(|(named, mods, _)| *named == key && *mods == with);
        if let Some((.., words)) = found {
            return Some(Action::MakeHere(words));
        }
    }
    if alt {
        return None;
    }
    if command {
        let in_text = focus == Focus::Field && pane == Some(Pane::Program);
        return match (key, shift) {
            ("ArrowRight", false) if focus == Focus::Graph => Some(Action::Draw(Draw::New)),
            ("ArrowLeft", false) if focus == Focus::Graph => Some(Action::Draw(Draw::Before)),
            ("k", false) => Some(Action::Draw(Draw::Find { from: pane, lines: false })),
            ("f", false) if in_text => Some(Action::Draw(Draw::Find { from: pane, lines: true })),
            (" ", false) if in_text => Some(Action::Aid(Aid::Complete { asked: true })),
            ("i", false) if in_text => Some(Action::CardHere),
            ("z" | "Z", true) | ("y", false) => Some(Action::Redo),
            ("z", false) => Some(Action::Undo),
            ("o", false) => Some(Action::ChooseFile),
            _ => None,
        };
    }
    match key {
        "F6" => return Some(Action::NextPane { from: pane, forward: !shift }),
        "F8" => return Some(Action::NextProblem { forward: !shift }),
        "Escape" if over != Over::Graph => return Some(Action::Toggle(Over::Graph)),
        "Escape" if focus == Focus::Graph => return Some(Action::Select(None)),
        _ => {}
    }
    let stepping = matches!(focus, Focus::Scrubber | Focus::Stepper | Focus::Nowhere);
    let letters = matches!(focus, Focus::Graph | Focus::Scrubber | Focus::Stepper);
    let walking = focus == Focus::Graph;
    let mut chars = key.chars();
    if let (true, Some(one), None) = (letters, chars.next(), chars.next())
        && one != ' '
    {
        return character(map, one, walking, held);
    }
    Some(match key {
        "ArrowRight" if stepping && shift => Action::Step(Move::NextNode),
        "ArrowLeft" if stepping && shift => Action::Step(Move::BackNode),
        "ArrowRight" if stepping => Action::Step(Move::Next { held }),
        "ArrowLeft" if stepping => Action::Step(Move::Back),
        "ArrowUp" if focus == Focus::Scrubber => Action::Step(Move::Next { held }),
        "ArrowDown" if focus == Focus::Scrubber => Action::Step(Move::Back),
        "Home" if stepping || walking => Action::Step(Move::First),
        "End" if stepping || walking => Action::Step(Move::Last),
        " " if focus == Focus::Scrubber && !held => Action::Play,
        "ArrowLeft" if walking => walk(shift, Arrow::Left),
        "ArrowRight" if walking => walk(shift, Arrow::Right),
        "ArrowUp" if walking => walk(shift, Arrow::Up),
        "ArrowDown" if walking => walk(shift, Arrow::Down),
        _ => return None,
    })
}

/// What a single character does in the graph (`walking`) or in the stepper.
fn character(map: &KeyMap, key: char, walking: bool, held: bool) -> Option<Action> {
    if key == '?' {
        return Some(Action::Toggle(Over::Keys));
    }
    Some(match map.means(key)? {
        '.' => Action::Step(Move::Fold { forward: true }),
        ',' => Action::Step(Move::Fold { forward: false }),
        ']' => Action::Step(Move::Contribution { forward: true }),
        '[' => Action::Step(Move::Contribution { forward: false }),
        'l' if !held => Action::NextRules,
        'p' if !held => Action::Toggle(Over::Paths),
        'f' if !held => Action::Toggle(Over::Fold),
        'n' if walking && !held => Action::Draw(Draw::New),
        'c' if walking && !held => Action::Draw(Draw::Connect { to: None }),
        'e' if walking && !held => Action::EditLine,
        'd' if walking && !held => Action::MakeHere("duplicate *"),
        'u' if walking && !held => Action::MakeHere("unpin *"),
        'g' if walking && !held => Action::Close(None),
        '0' if walking => Action::Fit,
        '+' if walking => Action::Zoom { factor: 1.25, at: None },
        '-' if walking => Action::Zoom { factor: 0.8, at: None },
        _ => return None,
    })
}

/// With Shift the neighbour is selected beside the others.
const fn walk(shift: bool, arrow: Arrow) -> Action {
    if shift { Action::MarkWalk(arrow) } else { Action::Walk(arrow) }
}

/// The keys that are no single characters, as the page shows them: keys, what they do.
pub const MAP: [(&str, &[(&str, &str)]); 4] = [
    (
        "Anywhere",
        &[
            ("Ctrl K", "Find an action, a node or a line"),
            ("F6", "Next pane, with Shift the previous"),
            ("F8", "Next problem, with Shift the previous"),
            ("Ctrl Z", "Undo, with Shift redo"),
            ("Ctrl O", "Open a file"),
            ("Esc", "Back to the graph"),
        ],
    ),
    (
        "Program",
        &[
            ("Ctrl Space", "What can stand here"),
            ("Ctrl I", "About the word at the caret"),
            ("Ctrl F", "Find in the program"),
            ("Tab", "Write the proposal, where one is shown"),
        ],
    ),
    (
        "Stepper",
        &[
            ("← →", "Previous, next step"),
            ("Shift ← →", "Previous, next node"),
            ("Home End", "First, last step"),
            ("Space", "Play or pause, on the scrubber"),
            ("?", "This map"),
        ],
    ),
    (
        "Graph",
        &[
            ("← →", "To an input, to a consumer"),
            ("↑ ↓", "To the node above, below"),
            ("Ctrl →", "New node behind the selected one"),
            ("Ctrl ←", "New node before it"),
            ("Shift ← → ↑ ↓", "Select one more"),
            ("Shift Space", "Select it too, or not"),
            ("Ctrl A", "Select all"),
            ("Ctrl D", "Duplicate"),
            ("Ctrl C X V", "Copy, cut, paste"),
            ("Del", "Delete"),
            ("Alt ← → ↑ ↓", "Move, and pin"),
            ("Ctrl G", "Group into a fn, with Shift ungroup"),
            ("Esc", "Nothing selected"),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::{Focus, KEYS, KeyMap, LETTERS, Press};
    use crate::model::action::{Action, Move, Pane};
    use crate::model::names::Arrow;
    use crate::model::view::Over;

    fn action(press: Press<'_>, focus: Focus, pane: Option<Pane>, over: Over) -> Option<Action> {
        super::action(press, focus, pane, over, &KeyMap::default())
    }

    fn press(key: &str, focus: Focus) -> Option<Action> {
        action(Press { key, ..Press::default() }, focus, None, Over::Graph)
    }

    #[test]
    fn a_text_field_keeps_its_keys() {
        for key in ["ArrowRight", "Home", ".", "l", "?", " ", "0", "Tab", "Escape"] {
            assert!(press(key, Focus::Field).is_none(), "{key}");
        }
        assert!(matches!(press("F8", Focus::Field), Some(Action::NextProblem { forward: true })));
    }

    #[test]
    fn arrows_step_in_the_stepper_and_walk_in_the_graph() {
        assert!(matches!(
            press("ArrowRight", Focus::Scrubber),
            Some(Action::Step(Move::Next { held: false }))
        ));
        assert!(matches!(press("ArrowRight", Focus::Graph), Some(Action::Walk(Arrow::Right))));
        assert!(press("ArrowRight", Focus::Elsewhere).is_none());
    }

    #[test]
    fn letters_do_nothing_where_nothing_has_the_focus() {
        assert!(press("l", Focus::Nowhere).is_none());
        assert!(press("?", Focus::Elsewhere).is_none());
        assert!(matches!(press("l", Focus::Graph), Some(Action::NextRules)));
    }

    #[test]
    fn what_is_selected_is_moved_grouped_and_taken_along_by_keys() {
        let press = |key, alt, command, shift, held| {
            let press = Press { key, command, shift, alt, held };
            match action(press, Focus::Graph, None, Over::Graph) {
                Some(Action::MakeHere(words)) => words,
                _ => "",
            }
        };
        assert_eq!(press("ArrowUp", true, false, false, true), "shift * 0 -20 %");
        assert_eq!(press("g", false, true, false, false), "group *");
        assert_eq!(press("G", false, true, true, false), "ungroup *");
        assert_eq!(press("a", false, true, false, false), "pick all *");
        assert_eq!(press("Delete", false, false, false, false), "delete *");
        assert_eq!(press("Delete", false, false, false, true), "", "held it deletes once");
        assert_eq!(press("ArrowUp", true, false, true, false), "");
        let elsewhere = Press { key: "ArrowLeft", alt: true, ..Press::default() };
        assert!(action(elsewhere, Focus::Field, None, Over::Graph).is_none());
    }

    #[test]
    fn global_keys_work_everywhere() {
        let undo = Press { key: "z", command: true, ..Press::default() };
        assert!(matches!(action(undo, Focus::Field, None, Over::Graph), Some(Action::Undo)));
        let redo = Press { key: "Z", command: true, shift: true, ..Press::default() };
        assert!(matches!(action(redo, Focus::Graph, None, Over::Graph), Some(Action::Redo)));
        let pane = Some(Pane::Side);
        let back = Press { key: "F6", shift: true, ..Press::default() };
        assert!(matches!(
            action(back, Focus::Elsewhere, pane, Over::Graph),
            Some(Action::NextPane { from: Some(Pane::Side), forward: false })
        ));
    }

    #[test]
    fn escape_brings_the_graph_back() {
        let escape = Press { key: "Escape", ..Press::default() };
        assert!(matches!(
            action(escape, Focus::Field, None, Over::Checks),
            Some(Action::Toggle(Over::Graph))
        ));
        assert!(press("Escape", Focus::Field).is_none());
    }

    #[test]
    fn every_letter_does_something() {
        for (key, does) in KEYS.iter().zip(LETTERS) {
            assert!(press(&key.to_string(), Focus::Graph).is_some(), "{key} {does}");
        }
        assert!(press("=", Focus::Graph).is_some(), "the key of the plus sign");
    }

    #[test]
    fn letters_change_places_so_that_none_does_two_things() {
        let mut map = KeyMap::default();
        let with = |map: &KeyMap, key| {
            super::action(Press { key, ..Press::default() }, Focus::Graph, None, Over::Graph, map)
        };
        assert!(map.change("0 x"), "N");
        assert!(with(&map, "n").is_none());
        assert!(matches!(with(&map, "x"), Some(Action::Draw(_))));
        assert!(map.change("1 L"), "connect takes the letter of the rules");
        assert!(matches!(with(&map, "l"), Some(Action::Draw(_))));
        assert!(matches!(with(&map, "c"), Some(Action::NextRules)));
        assert_eq!(KeyMap::read(&map.text()), map);
        for odd in ["0 ", "0  ", "0 ?", "0 ab", "99 a", "", "odd", "-1 a"] {
            assert!(!map.change(odd), "{odd}");
        }
        assert!(map.change("off"));
        assert!(with(&map, "x").is_none());
        assert!(matches!(with(&map, "?"), Some(Action::Toggle(Over::Keys))), "the way back");
        assert_eq!(KeyMap::read(&map.text()), map);
        assert!(map.change("reset"));
        assert_eq!(map, KeyMap::default());
    }

    #[test]
    fn what_was_kept_wrongly_is_the_map_as_it_is_at_first() {
        for text in ["", "o", "oncedugfpl.,][0+-x", "oab c", "o?"] {
            assert_eq!(KeyMap::read(text), KeyMap::default(), "{text}");
        }
        // Whatever was kept, no key does two things.
        let twice = KeyMap::read("onnnnnnnnnnnnnn");
        for (ix, key) in twice.keys().iter().enumerate() {
            assert!(!twice.keys()[..ix].contains(key), "{twice:?}");
        }
    }
}
