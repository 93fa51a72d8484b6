//! Drawing: what can be made where, as a list to type ahead in; and a gesture in words, done to the text.
//!
//! A command of a list is a gesture in words, which comes back here: `append c mul`. Names have no blanks; what may
//! have them stands last.

use foldback::lang::edit;
use foldback::lang::patch::{
    Drawn, Entry, Gesture, Input, NewNode, Patch, Suits, copy, palette, patch, sketch, targets,
};

use super::{Opened, find, place};
use crate::model::examples::EXAMPLES;
use crate::model::markup::{Html, shape};

/// Slots that are listed.
const SLOTS: usize = 80;
/// Ops that are listed.
const OPS: usize = 60;
/// Ops that are listed behind slots.
const FEW: usize = 8;

/// The list for `new NODE QUERY`, `connect NODE TO QUERY` or `before NODE QUERY`; `-` stands for no node.
pub(super) fn panel(opened: &Opened, args: &str) -> String {
    let (kind, rest) = args.split_once(' ').unwrap_or((args, ""));
    let (node, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let node = Some(node).filter(|name| !name.is_empty() && *name != "-");
    let mut html = Html::new();
    match (kind, node) {
        ("find", _) => return find::panel(opened, args.get(5..).unwrap_or("")),
        ("lines", _) => return find::in_lines(opened, args.get(6..).unwrap_or("")),
        ("connect", Some(node)) => {
            let (to, query) = rest.split_once(' ').unwrap_or((rest, ""));
            let to = Some(to).filter(|name| *name != "-");
            head(&mut html, "Connect", opened, Some(node), query);
            slots(&mut html, opened, node, to, query);
            if to.is_none() {
                group(&mut html, &["New node from ", node].concat());
                let make = |op: &str| ["append ", node, " ", op].concat();
                ops(&mut html, &opened.text, Some(node), query, FEW, &make);
            }
        }
        ("connect", None) => {
            head(&mut html, "Connect", opened, None, rest);
            group(&mut html, "Select a node first: its output is what is connected");
        }
        ("before", Some(node)) => {
            head(&mut html, "Insert before", opened, Some(node), rest);
            for slot in 0..n_slots(opened, node).min(4) {
                group(&mut html, &["Into input ", &(slot + 1).to_string()].concat());
                let make = |op: &str| ["prepend ", node, " ", &slot.to_string(), " ", op].concat();
                ops(&mut html, &opened.text, None, rest, FEW, &make);
            }
        }
        (_, node) => {
            head(&mut html, "New node", opened, node, rest);
            leaves(&mut html, rest);
            group(&mut html, "Ops");
            let make = |op: &str| match node {
                Some(node) => ["append ", node, " ", op].concat(),
                None => ["insert ", op].concat(),
            };
            ops(&mut html, &opened.text, node, rest, OPS, &make);
        }
    }
    foot(&mut html, "make");
    html.done()
}

/// What a query finds of a name: the places of its letters; none where it does not fit.
pub(super) fn find_in(query: &str, name: &str) -> Option<Vec<u32>> {
    let name = name.to_lowercase();
    let mut marks = Vec::new();
    for word in query.split_whitespace() {
        let at = name.find(&word.to_lowercase())?;
        let start = name.get(..at)?.chars().count() as u32;
        marks.extend(start..start + word.chars().count() as u32);
    }
    Some(marks)
}

/// The end of a list: which keys do what, Enter this.
pub(super) fn foot(html: &mut Html, enter: &str) {
    html.raw("</ul><p class=\"foot\"><span><kbd>↑</kbd> <kbd>↓</kbd> choose</span><span><kbd>Enter</kbd> ");
    html.raw(enter).raw("</span><span><kbd>Esc</kbd> cancel</span></p></div>");
}

fn find_node<'a>(drawn: &'a [Drawn], name: &str) -> Option<&'a Drawn> {
    drawn.iter().find(|drawn| drawn.name == name)
}

fn n_slots(opened: &Opened, name: &str) -> usize {
    find_node(&sketch(&opened.text), name).map_or(0, |drawn| drawn.slots.len())
}

pub(super) fn head(html: &mut Html, title: &str, opened: &Opened, node: Option<&str>, query: &str) {
    html.raw("<div class=\"palette\" role=\"dialog\" aria-label=\"").raw(title);
    html.raw("\"><p class=\"ask\"><label><span class=\"vh\">").raw(title);
    html.raw("</span><input type=\"text\" role=\"combobox\" aria-expanded=\"true\" aria-controls=\"palette-list\" aria-autocomplete=\"list\" autocomplete=\"off\" spellcheck=\"false\" data-find=\"\" data-key=\"palette\" placeholder=\"");
    html.raw(title).raw("\" value=\"").text(query).raw("\"></label>");
    if let Some(node) = node {
        html.raw("<span class=\"ink3\">from <code>").text(node).raw("</code></span>");
        if let Some(dims) =
            find_node(&sketch(&opened.text), node).and_then(|drawn| drawn.shape.clone())
        {
            html.raw("<span class=\"shape fwg\">").text(&shape(&dims)).raw("</span>");
        }
    }
    html.raw("<button class=\"btn icon\" aria-label=\"Close\" data-do=\"draw\">")
        .boxed_icon("cross");
    html.raw("</button></p><ul id=\"palette-list\" role=\"listbox\" aria-label=\"")
        .raw(title)
        .raw("\">");
}

pub(super) fn group(html: &mut Html, title: &str) {
    html.raw("<li class=\"grp\" role=\"presentation\">").text(title).raw("</li>");
}

/// A line of the list: what it does, whether it fits, its name, what is said of it, the shape it gives, its keys.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) does: &'a str,
    pub(super) fits: Option<bool>,
    pub(super) name: &'a str,
    pub(super) found: &'a [u32],
    pub(super) says: &'a str,
    /// Whether that is a line of the program.
    pub(super) is_code: bool,
    pub(super) shape: String,
    pub(super) marked: &'a str,
    pub(super) keys: &'a str,
    /// The sign of a line that neither fits nor does not.
    pub(super) icon: &'static str,
}

pub(super) fn line(html: &mut Html, line: &Line<'_>) {
    html.raw("<li role=\"option\" aria-selected=\"false\" data-do=\"").text(line.does).raw("\">");
    let sign = match line.fits {
        Some(true) => Some(("t-ok", "check")),
        Some(false) => Some(("t-refuse", "cross")),
        None if !line.icon.is_empty() => Some(("ink3", line.icon)),
        None => None,
    };
    if let Some((class, icon)) = sign {
        html.raw("<span class=\"").raw(class).raw("\">").icon(icon).raw("</span>");
    }
    html.raw("<span class=\"nm\">");
    for (ix, c) in line.name.chars().enumerate() {
        let mut buffer = [0; 4];
        let text = c.encode_utf8(&mut buffer);
        if line.found.contains(&(ix as u32)) {
            html.raw("<u>").text(text).raw("</u>");
        } else {
            html.text(text);
        }
    }
    if line.is_code {
        html.raw("</span><code class=\"says\">").text(line.says).raw("</code>");
    } else {
        html.raw("</span><span class=\"says\">").prose(line.says).raw("</span>");
    }
    if !line.marked.is_empty() {
        html.raw("<span class=\"tag refg\">").text(line.marked).raw("</span>");
    }
    if !line.shape.is_empty() {
        html.raw("<span class=\"shape\">").text(&line.shape).raw("</span>");
    }
    if !line.keys.is_empty() {
        html.raw("<kbd>").text(line.keys).raw("</kbd>");
    }
    html.raw("</li>");
}

fn leaves(html: &mut Html, query: &str) {
    let all = [
        ("param", "a tensor that trains", "leaf param [2,3] rand(seed=1)"),
        ("const", "a tensor that does not train", "leaf const [2,3] rand(seed=2)"),
        ("number", "a parameter of one number", "leaf param - 1"),
    ];
    let mut shown = all.iter().filter(|(name, ..)| name.starts_with(query.trim())).peekable();
    if shown.peek().is_some() {
        group(html, "Leaves");
    }
    for (name, says, make) in shown {
        let shape = if name.starts_with('n') { "[]" } else { "[2,3]" }.to_owned();
        line(
            html,
            &Line {
                does: &["make ", make].concat(),
                name,
                says,
                shape,
                icon: "plus",
                ..Line::default()
            },
        );
    }
}

fn ops(
    html: &mut Html,
    text: &str,
    node: Option<&str>,
    query: &str,
    most: usize,
    make: &dyn Fn(&str) -> String,
) {
    for entry in palette(text, node, query).iter().take(most) {
        let Entry { op, says, found, suits, refused, .. } = entry;
        let (fits, dims) = match suits {
            Suits::Yes(dims) => (Some(true), shape(dims)),
            Suits::No(_) => (Some(false), String::new()),
            Suits::Open => (None, String::new()),
        };
        let why = if let Suits::No(why) = suits { why } else { says };
        let marked = if refused.is_empty() { "" } else { "no backward" };
        let does = ["make ", &make(op)].concat();
        line(
            html,
            &Line {
                does: &does,
                fits,
                name: op,
                found,
                says: why,
                shape: dims,
                marked,
                icon: "plus",
                ..Line::default()
            },
        );
    }
}

/// Where a node can be read: open inputs first, then those that would be replaced, then what does not fit, and why.
fn slots(html: &mut Html, opened: &Opened, from: &str, to: Option<&str>, query: &str) {
    let drawn = sketch(&opened.text);
    let query = query.trim();
    let mut all = targets(&opened.text, from);
    all.retain(|slot| {
        slot.node != from && to.is_none_or(|to| slot.node == to) && slot.node.contains(query)
    });
    // What fits comes before what does not, open or not.
    all.sort_by_key(|slot| slot.fit.is_err());
    if !all.is_empty() {
        group(html, "Inputs");
    }
    for slot in all.iter().take(SLOTS) {
        let reads = find_node(&drawn, &slot.node).and_then(|node| node.slots.get(slot.slot));
        let reads = match reads.map(|slot| &slot.reads) {
            Some(Input::Node(name) | Input::Number(name) | Input::Unknown(name)) => {
                format!("in place of {name}")
            }
            Some(Input::Open) | None => "open".to_owned(),
        };
        let (says, dims) = match &slot.fit {
            Ok(fit) => {
                let mut says = reads;
                for stretch in &fit.stretches {
                    says +=
                        &format!(", stretches {} {} → {}", stretch.name, stretch.from, stretch.to);
                }
                (says, fit.shape.as_deref().map(shape))
            }
            Err(misfit) => (misfit.words.clone(), misfit.clash.as_ref().map(|(_, own)| shape(own))),
        };
        line(
            html,
            &Line {
                does: &format!("make connect {from} {} {}", slot.node, slot.slot),
                fits: Some(slot.fit.is_ok()),
                name: &format!("{} input {}", slot.node, slot.slot + 1),
                says: &says,
                shape: dims.unwrap_or_default(),
                ..Line::default()
            },
        );
    }
}

/// A gesture in words.
fn gesture(words: &str) -> Option<Gesture> {
    let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
    let mut parts = rest.splitn(3, ' ');
    let mut next = || parts.next().unwrap_or_default().to_owned();
    let list = |names: String| names.split(',').map(ToOwned::to_owned).collect::<Vec<_>>();
    Some(match word {
        "insert" => Gesture::Insert {
            what: NewNode::Op(next()),
            name: None,
            near: None,
            sources: Vec::new(),
        },
        "leaf" => {
            let (role, dims, value) = (next(), next(), next());
            let shape = if dims == "-" { String::new() } else { dims };
            let what = match role.as_str() {
                "param" => NewNode::Param { shape, value },
                _ => NewNode::Const { shape, value },
            };
            Gesture::Insert { what, name: None, near: None, sources: Vec::new() }
        }
        "append" => Gesture::Append { after: next(), op: next() },
        "prepend" => Gesture::Prepend { before: next(), slot: next().parse().ok()?, op: next() },
        "connect" => Gesture::Connect { from: next(), to: next(), slot: next().parse().ok()? },
        "open" => Gesture::Disconnect { to: next(), slot: next().parse().ok()? },
        "delete" => Gesture::Delete { nodes: list(next()), through: false },
        "rename" => Gesture::Rename { node: next(), to: next().trim().to_owned() },
        "duplicate" => Gesture::Duplicate { nodes: list(next()) },
        "group" => Gesture::Group { nodes: list(next()), name: next() },
        "ungroup" => Gesture::Ungroup { call: next() },
        "value" => {
            let (node, value) = rest.split_once(' ')?;
            Gesture::SetLiteral {
                node: node.to_owned(),
                cell: None,
                slot: None,
                value: value.to_owned(),
            }
        }
        "shape" => {
            let (node, shape) = rest.split_once(' ')?;
            Gesture::SetShape { node: node.to_owned(), shape: shape.to_owned() }
        }
        "trains" => Gesture::SetTrains { node: next(), trains: next() == "yes" },
        "attribute" => Gesture::SetAttribute { node: next(), attribute: next(), value: next() },
        "paste" => Gesture::Paste { text: rest.to_owned(), at: None },
        _ => return None,
    })
}

/// Does a gesture: `ok`, the caret and the nodes to select on a line, and the new text behind it; or `no` and why.
pub(super) fn make(opened: &Opened, words: &str) -> String {
    if let Some(ix) = words.strip_prefix("example ") {
        let example = ix.parse::<usize>().ok().and_then(|ix| EXAMPLES.get(ix));
        return example
            .map_or_else(String::new, |example| ["open ", ix, "\n", example.text].concat());
    }
    if let Some(nodes) = words.strip_prefix("copy ") {
        let nodes: Vec<String> = nodes.split(',').map(ToOwned::to_owned).collect();
        return match copy(&opened.text, &nodes) {
            Ok(text) => "copy\n".to_owned() + &text,
            Err(refused) => "no\n".to_owned() + &refused.words,
        };
    }
    if let Some(made) = place::make(opened, words) {
        return made;
    }
    let Some(gesture) = gesture(words) else {
        return "no\nNothing of this name can be drawn".to_owned();
    };
    match done(&opened.text, &gesture) {
        Ok((text, patch)) => ok(&text, &patch),
        Err(words) => "no\n".to_owned() + &words,
    }
}

/// A text with a gesture done to it, or why it cannot be.
pub(super) fn done(text: &str, gesture: &Gesture) -> Result<(String, Patch), String> {
    let patch = patch(text, gesture).map_err(|refused| refused.words)?;
    match edit::apply(text, &patch.edits) {
        Ok(text) => Ok((text, patch)),
        Err(_) => Err("The edit does not fit the text".to_owned()),
    }
}

pub(super) fn ok(text: &str, patch: &Patch) -> String {
    format!("ok {} {}\n{text}", patch.caret, patch.select.join(" "))
}

#[cfg(test)]
mod tests {
    use super::{Opened, make, panel};

    const TEXT: &str =
        "# drawn\nrules numpy\nparam w [2, 3] = rand(seed=1)\nparam c [2, 1] = 1\ny = w / ?\n";

    #[test]
    fn a_list_says_what_fits_and_why_not() {
        let opened = Opened::new(TEXT);
        let html = panel(&opened, "connect c - ");
        assert!(html.contains("make connect c y 1") && html.contains("stretches"), "{html}");
        let html = panel(&opened, "new w sum");
        assert!(html.contains("make append w sum_rows") && html.contains("[2,1]"), "{html}");
        let html = panel(&opened, "new - par");
        assert!(html.contains("leaf param"), "{html}");
        assert!(panel(&opened, "before y ").contains("prepend y 0"));
    }

    #[test]
    fn gestures_in_words_edit_the_text_and_keep_its_comment() {
        let opened = Opened::new(TEXT);
        let made = make(&opened, "connect c y 1");
        assert!(
            made.starts_with("ok ") && made.ends_with("y = w / c\n") && made.contains("# drawn"),
            "{made}"
        );
        let made = make(&opened, "rename w weights");
        assert!(
            made.contains("param weights [2, 3]") && made.contains("y = weights / ?"),
            "{made}"
        );
        assert!(make(&opened, "rename w c").starts_with("no\n"));
        assert!(make(&opened, "connect y w 0").starts_with("no\n"));
        assert!(make(&opened, "shape c [2]").contains("param c [2] = 1"));
        assert!(make(&opened, "copy w").starts_with("copy\nparam w"));
    }

    #[test]
    fn no_words_are_too_odd() {
        let opened = Opened::new(TEXT);
        for words in [
            "",
            " ",
            "connect",
            "connect a",
            "connect a b c",
            "leaf",
            "value",
            "delete",
            "paste \u{0}",
            "group , ,",
        ] {
            let made = make(&opened, words);
            assert!(made.starts_with("no") || made.starts_with("ok"), "{words}: {made}");
            let _ = panel(&opened, words);
        }
    }
}
