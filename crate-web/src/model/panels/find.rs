//! Everything that can be done or looked at, as a list to type ahead in; and the lines of the program.

use foldback::report::{NodeRow, Role};

use super::Opened;
use super::draw::{Line, find_in, foot, group, head, line};
use crate::model::examples::EXAMPLES;
use crate::model::markup::{Html, named_shape, shape};

/// The most nodes and lines that are listed.
const MOST: usize = 60;
/// Actions that are listed before anything is looked for.
const FEW: usize = 8;

/// What can be done whatever is selected: in words, the command, the keys.
pub(super) const ACTIONS: &[(&str, &str, &str)] = &[
    ("New node", "draw new", "N"),
    ("Next step", "next", "→"),
    ("Previous step", "back", "←"),
    ("First step", "first", "Home"),
    ("Last step", "last", "End"),
    ("Play or pause", "play", "Space"),
    ("Play at another speed", "faster", ""),
    ("Run to the next fold", "fold", "."),
    ("Run to the next sum of gradients", "run sum", ""),
    ("Run to the refusal", "run refusal", ""),
    ("Step by nodes", "grain node", ""),
    ("Step by micro-steps", "grain micro", ""),
    ("Next problem", "next-problem", "F8"),
    ("Previous problem", "previous-problem", "Shift F8"),
    ("Show the fold, cell by cell", "show-fold", "F"),
    ("Show the checks", "checks", ""),
    ("Show the table of steps", "steps", ""),
    ("Compare rules", "show-rules", ""),
    ("Reference: ops, codes, rules", "reference", ""),
    ("Keyboard map", "help", "?"),
    ("Back to the graph", "graph", "Esc"),
    ("Predict each step", "predict", ""),
    ("Find in the program", "draw lines", "Ctrl F"),
    ("Unpin all nodes", "make unpin", ""),
    ("Undo", "undo", "Ctrl Z"),
    ("Redo", "redo", "Shift Ctrl Z"),
    ("Rules: ggml", "rules ggml", ""),
    ("Rules: upstream, which is ggml as it is", "rules upstream", ""),
    ("Rules: numpy", "rules numpy", ""),
    ("Fit the graph into its pane", "fit", "0"),
    ("Closer", "zoom-in", "+"),
    ("Farther", "zoom-out", "−"),
    ("Train from the start", "train again", ""),
    ("Pause training", "train pause", ""),
    ("Go on training", "train go", ""),
    ("Documents on this device", "documents", ""),
    ("New document", "new", ""),
    ("Open a file", "choose-file", ""),
    ("Save as a file", "save", ""),
    ("Theme: light", "theme light", ""),
    ("Theme: dark", "theme dark", ""),
    ("Theme: as the system has it", "theme system", ""),
];

/// What can be done with the selected node: in words, where `*` stands for its name, the command, the keys.
pub(super) const HERE: &[(&str, &str, &str)] = &[
    ("Connect *", "draw connect", "C"),
    ("New node before *", "draw before", "Ctrl ←"),
    ("Edit the line of *", "edit-line", "E"),
    ("Duplicate *", "make duplicate *", "D"),
    ("Delete *", "make delete *", "Del"),
    ("Group * into a function", "make group *", "Ctrl G"),
    ("Close or open the call around *", "close", "G"),
    ("Select what reads *, too", "make pick consumers *", ""),
    ("Select what * reads, too", "make pick sources *", ""),
    ("Select all nodes", "make pick all *", "Ctrl A"),
    ("Unpin *", "make unpin *", "U"),
    ("Paths of *", "show-paths", "P"),
    ("Run to the next step about *", "run node", ""),
    ("Next contribution to the gradient of *", "run contribution", "]"),
];

/// The list for `find NODE QUERY`; `-` stands for no node.
pub(super) fn panel(opened: &Opened, args: &str) -> String {
    let (node, query) = args.split_once(' ').unwrap_or((args, ""));
    let node = Some(node).filter(|name| !name.is_empty() && *name != "-");
    let mut html = Html::new();
    head(&mut html, "Find an action, a node or a line", opened, node, query);
    let looks = !query.trim().is_empty();
    nodes(&mut html, opened, query, if looks { MOST } else { 0 });
    if let Some(node) = node {
        let actions = HERE.iter().map(|(label, command, keys)| {
            (label.replace('*', node), command.replace('*', node), *keys)
        });
        list(&mut html, &["With ", node].concat(), actions, query, MOST);
    }
    let actions = ACTIONS
        .iter()
        .map(|(label, command, keys)| ((*label).to_owned(), (*command).to_owned(), *keys));
    list(&mut html, "Actions", actions, query, if looks { MOST } else { FEW });
    let examples = EXAMPLES.iter().enumerate().map(|(ix, example)| {
        (["Example: ", example.name].concat(), ["example ", &ix.to_string()].concat(), "")
    });
    list(&mut html, "Examples", examples, query, if looks { MOST } else { 0 });
    if looks {
        lines(&mut html, opened, query);
    }
    foot(&mut html, "do");
    html.done()
}

/// The list for `lines QUERY`.
pub(super) fn in_lines(opened: &Opened, query: &str) -> String {
    let mut html = Html::new();
    head(&mut html, "Find in the program", opened, None, query);
    lines(&mut html, opened, query);
    foot(&mut html, "go there");
    html.done()
}

fn list(
    html: &mut Html,
    title: &str,
    actions: impl Iterator<Item = (String, String, &'static str)>,
    query: &str,
    most: usize,
) {
    let mut first = true;
    let fits = actions.filter_map(|action| Some((find_in(query, &action.0)?, action)));
    for (found, (label, command, keys)) in fits.take(most) {
        if std::mem::take(&mut first) {
            group(html, title);
        }
        line(html, &Line { does: &command, name: &label, found: &found, keys, ..Line::default() });
    }
}

/// Nodes by name, op or shape: every word of the query has to be in one of them.
fn nodes(html: &mut Html, opened: &Opened, query: &str, most: usize) {
    let report = opened.report();
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let holds = |node: &NodeRow| {
        let own = [node.name.to_lowercase(), node.op.to_lowercase(), shape(&node.shape)];
        words.iter().all(|word| own.iter().any(|own| own.contains(word.as_str())))
    };
    let mut found: Vec<(usize, &NodeRow)> = report
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.role != Role::Inline && holds(node))
        .take(most)
        .collect();
    if found.is_empty() {
        return;
    }
    // Whose name is meant comes first.
    found.sort_by_key(|(_, node)| !words.iter().any(|word| node.name.to_lowercase() == *word));
    group(html, "Nodes");
    for (ix, node) in found {
        let is_forward = (ix as u32) < report.n_forward;
        let says = match (is_forward, node.op.as_str()) {
            (true, "") => "leaf".to_owned(),
            (true, op) => op.to_owned(),
            (false, op) => ["gradient, ", op].concat(),
        };
        let marks = find_in(query, &node.name).unwrap_or_default();
        line(
            html,
            &Line {
                does: &["trouble ", &ix.to_string()].concat(),
                name: &node.name,
                found: &marks,
                says: &says,
                shape: named_shape(&node.shape, &node.axes),
                ..Line::default()
            },
        );
    }
}

/// Lines of the text that hold the query, whatever its case.
fn lines(html: &mut Html, opened: &Opened, query: &str) {
    let query = query.trim().to_lowercase();
    let mut start = 0;
    let mut n = 0;
    for (ix, written) in opened.text.split('\n').enumerate() {
        let at = written.to_lowercase().find(&query);
        if let Some(at) = at.filter(|_| !written.trim().is_empty()) {
            if n == 0 {
                group(html, "Lines of the program");
            }
            n += 1;
            if n > MOST {
                group(html, "There are more: look for something longer");
                return;
            }
            // Letters whose small form is longer shift the place; then the line begins it.
            let at = if written.is_char_boundary(at) { at } else { 0 };
            let shown: String = written.chars().take(200).collect();
            line(
                html,
                &Line {
                    does: &["go-to ", &(start + at).to_string()].concat(),
                    name: &(ix + 1).to_string(),
                    says: &shown,
                    is_code: true,
                    ..Line::default()
                },
            );
        }
        start += written.len() + 1;
    }
    if n == 0 {
        group(html, "No line holds this");
    }
}

#[cfg(test)]
mod tests {
    use super::{ACTIONS, HERE, Opened, in_lines, panel};
    use crate::model::action::Action;
    use crate::model::keys::{Focus, KeyMap, Press, action};
    use crate::model::markup::command;
    use crate::model::view::Over;

    const TEXT: &str = "rules numpy\nparam w [2, 3] = rand(seed=1)\n# Ünits\ns = sum_rows(w)\ny = w / s\nloss = sum(y)\n";

    #[test]
    fn every_action_of_the_list_is_one_that_the_page_understands() {
        for (label, does, _) in ACTIONS.iter().chain(HERE) {
            assert!(command::read(&does.replace('*', "w")).is_some(), "{label}: {does}");
        }
    }

    /// What a key as the list writes it does in the graph.
    fn pressed(keys: &str) -> Option<Action> {
        let (command, key) = match keys.strip_prefix("Ctrl ") {
            Some(key) => (true, key),
            None => (false, keys),
        };
        let key = match key {
            "→" | "←" | "Space" => return None,
            "−" => "-".to_owned(),
            "Del" => "Delete".to_owned(),
            key if key.chars().count() == 1 => key.to_lowercase(),
            key => key.to_owned(),
        };
        let press = Press { key: &key, command, ..Press::default() };
        action(press, Focus::Graph, None, Over::Graph, &KeyMap::default())
    }

    #[test]
    fn the_keys_beside_an_action_are_those_that_do_it() {
        let mut n = 0;
        for (label, does, keys) in ACTIONS.iter().chain(HERE) {
            // Arrows and the blank belong to the stepper, Esc and Find to what is open.
            let Some(by_key) = pressed(keys).filter(|_| !matches!(*keys, "Esc" | "Ctrl F")) else {
                continue;
            };
            let by_list = match (&by_key, command::read(does)) {
                // Of the key the node is the selected one, of the list it has its name already.
                (Action::MakeHere(_), Some(Action::Make(words))) => format!("MakeHere({words:?})"),
                (_, read) => read.map_or(String::new(), |read| format!("{read:?}")),
            };
            assert_eq!(format!("{by_key:?}"), by_list, "{label}: {keys}");
            n += 1;
        }
        assert!(n > 18, "only {n} keys were looked at");
    }

    #[test]
    fn nodes_are_found_by_name_by_op_and_by_shape() {
        let opened = Opened::new(TEXT);
        let s = "<span class=\"nm\">s</span>";
        for query in ["sum_rows", "[2,1]"] {
            assert!(panel(&opened, &["- ", query].concat()).contains(s), "{query}");
        }
        let by_name = panel(&opened, "- w");
        assert!(by_name.contains("<u>w</u>") && by_name.contains("trouble "), "{by_name}");
        assert!(!panel(&opened, "- nothing of this name").contains("trouble "));
    }

    #[test]
    fn what_can_be_done_with_the_selected_node_stands_before_the_rest() {
        let html = panel(&Opened::new(TEXT), "w dele");
        assert!(html.contains("make delete w"), "{html}");
        let html = panel(&Opened::new(TEXT), "- dele");
        assert!(!html.contains("make delete"), "{html}");
    }

    #[test]
    fn lines_are_found_and_gone_to() {
        let html = in_lines(&Opened::new(TEXT), "y = ");
        let at = TEXT.find("y = ").expect("it is there");
        assert!(html.contains(&format!("go-to {at}\"")), "{html}");
        assert!(in_lines(&Opened::new(TEXT), "ünits").contains("go-to "));
        assert!(in_lines(&Opened::new(TEXT), "zzz").contains("No line holds this"));
        // A broken text has lines, too.
        assert!(in_lines(&Opened::new("y = = ("), "y").contains("go-to 0"));
    }
}
