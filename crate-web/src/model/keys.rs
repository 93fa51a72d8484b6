//! Which key does what where: the keyboard map as one function.
//!
//! Single letters work only where the graph or the stepper has the focus; a text field keeps all it can use.

use super::action::{Action, Move, Pane};
use super::names::Arrow;
use super::view::{Draw, Over};

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

/// Keys that are held with another one, as a sum.
const ALT: u8 = 1;
const COMMAND: u8 = 2;
const SHIFT: u8 = 4;

/// What keys do to the selected nodes of the graph, in words.
const HERE: [(&str, u8, &str); 14] = [
    ("ArrowLeft", ALT, "shift * -1 0 %"),
    ("ArrowRight", ALT, "shift * 1 0 %"),
    // As far as a line is high.
    ("ArrowUp", ALT, "shift * 0 -20 %"),
    ("ArrowDown", ALT, "shift * 0 20 %"),
    ("u", 0, "unpin *"),
    ("d", 0, "duplicate *"),
    ("d", COMMAND, "duplicate *"),
    ("Delete", 0, "delete *"),
    ("Backspace", 0, "delete *"),
    ("c", COMMAND, "copy *"),
    ("x", COMMAND, "cut *"),
    ("a", COMMAND, "pick all *"),
    ("g", COMMAND, "group *"),
    ("G", COMMAND | SHIFT, "ungroup *"),
];

/// What a key press does; none where the browser shall do what it always does.
pub fn action(press: Press<'_>, focus: Focus, pane: Option<Pane>, over: Over) -> Option<Action> {
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
        return match (key, shift) {
            ("ArrowRight", false) if focus == Focus::Graph => Some(Action::Draw(Draw::New)),
            ("ArrowLeft", false) if focus == Focus::Graph => Some(Action::Draw(Draw::Before)),
            ("z" | "Z", true) | ("y", false) => Some(Action::Redo),
            ("z", false) => Some(Action::Undo),
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
        "g" if walking && !held => Action::Close(None),
        "." if letters => Action::Step(Move::Fold { forward: true }),
        "," if letters => Action::Step(Move::Fold { forward: false }),
        "l" if letters && !held => Action::NextRules,
        "p" if letters && !held => Action::Toggle(Over::Paths),
        "f" if letters && !held => Action::Toggle(Over::Fold),
        "?" if letters => Action::Help,
        "n" if walking && !held => Action::Draw(Draw::New),
        "c" if walking && !held => Action::Draw(Draw::Connect { to: None }),
        "e" if walking && !held => Action::EditLine,
        "0" if walking => Action::Fit,
        "+" | "=" if walking => Action::Zoom { factor: 1.25, at: None },
        "-" if walking => Action::Zoom { factor: 0.8, at: None },
        _ => return None,
    })
}

/// With Shift the neighbour is selected beside the others.
const fn walk(shift: bool, arrow: Arrow) -> Action {
    if shift { Action::MarkWalk(arrow) } else { Action::Walk(arrow) }
}

/// The map as the page shows it: keys, what they do.
pub const MAP: [(&str, &[(&str, &str)]); 4] = [
    (
        "Anywhere",
        &[
            ("F6", "Next pane, with Shift the previous"),
            ("F8", "Next problem, with Shift the previous"),
            ("Ctrl Z", "Undo, with Shift redo"),
            ("Esc", "Back to the graph"),
        ],
    ),
    (
        "Stepper",
        &[
            ("← →", "Previous, next step"),
            ("Shift ← →", "Previous, next node"),
            ("Home End", "First, last step"),
            ("Space", "Play or pause, on the scrubber"),
        ],
    ),
    (
        "Graph",
        &[
            ("← →", "To an input, to a consumer"),
            ("↑ ↓", "To the node above, below"),
            ("N", "New node, which reads the selected one"),
            ("C", "Connect the selected node"),
            ("Ctrl →", "New node behind it"),
            ("Ctrl ←", "New node before it"),
            ("E", "Edit its line"),
            ("Shift ← → ↑ ↓", "Select one more"),
            ("Shift Space", "Select it too, or not"),
            ("Ctrl A", "Select all"),
            ("D", "Duplicate"),
            ("Ctrl C X V", "Copy, cut, paste"),
            ("Del", "Delete"),
            ("Alt ← → ↑ ↓", "Move, and pin"),
            ("U", "Unpin"),
            ("Ctrl G", "Group into a fn, with Shift ungroup"),
            ("G", "Close or open a call"),
            ("0 + −", "Fit, closer, farther"),
            ("Esc", "Nothing selected"),
        ],
    ),
    (
        "Stepper and graph",
        &[
            (". ,", "Next, previous fold"),
            ("F", "The fold, cell by cell"),
            ("P", "The paths of the node"),
            ("L", "Next rules"),
            ("?", "This map"),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::{Focus, Press, action};
    use crate::model::action::{Action, Move, Pane};
    use crate::model::names::Arrow;
    use crate::model::view::Over;

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
}
