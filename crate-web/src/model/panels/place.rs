//! Where boxes stand and what is done to several of them: gestures that need the picture, and their buttons.
//!
//! `move NAMES DX DY CLOSED` and `shift NAMES COLUMNS DY CLOSED` pin, `unpin NAMES` gives free, `unpin` all of them;
//! `cut NAMES` takes them away, `group NAMES` finds a name for the function, `pick all|consumers|sources NAMES` says
//! what else to select.

use foldback::lang::ast::StatementKind;
use foldback::lang::parse;
use foldback::lang::patch::{Gesture, Patch, copy, patch};
use foldback::report::Role;

use super::Opened;
use super::draw::{done, ok};
use crate::model::markup::Html;
use crate::model::plan::{self, Way};

/// How many names are tried for a new function.
const NAMES: usize = 1000;
/// The most boxes that are moved at once: each is a picture of its own.
const MOST: usize = 64;

/// Does such a gesture; none where the words are another's.
pub(super) fn make(opened: &Opened, words: &str) -> Option<String> {
    let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
    let made = match word {
        "move" | "shift" => moved(opened, word == "shift", rest),
        "unpin" => unpinned(opened, rest),
        "pick" => return Some(picked(opened, rest)),
        "cut" => return Some(cut(opened, rest)),
        "group" if !rest.trim().contains(' ') => grouped(opened, rest.trim()),
        _ => return None,
    };
    Some(made.unwrap_or_else(|why| "no\n".to_owned() + &why))
}

fn list(names: &str) -> Vec<String> {
    names.split(',').filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect()
}

fn moved(opened: &Opened, by_columns: bool, rest: &str) -> Result<String, String> {
    let mut words = rest.splitn(4, ' ');
    let names = list(words.next().unwrap_or_default());
    let mut number =
        || words.next().and_then(|word| word.parse::<f64>().ok()).filter(|n| n.is_finite());
    let (Some(right), Some(down)) = (number(), number()) else {
        return Err("A box is moved by two numbers".to_owned());
    };
    let closed = words.next().unwrap_or_default();
    let way = if by_columns { Way::Columns(right, down) } else { Way::Pixels(right, down) };
    if names.len() > MOST {
        return Err(format!("At most {MOST} boxes are moved at once"));
    }
    let mut text = opened.text.clone();
    let mut last = Patch::default();
    for node in &names {
        // From where all of them stand now, not from where the first has pushed the others.
        let place = plan::moved(opened.report(), &opened.text, closed, node, way);
        let (x, y) = place.ok_or_else(|| format!("`{node}` has no box of its own to move"))?;
        (text, last) = done(&text, &Gesture::Pin { node: node.clone(), x, y })?;
    }
    last.select = names;
    Ok(ok(&text, &last))
}

fn unpinned(opened: &Opened, rest: &str) -> Result<String, String> {
    let mut pinned: Vec<String> = Vec::new();
    for statement in parse(&opened.text).ast.statements() {
        if let StatementKind::Layout { of, .. } = &statement.kind {
            pinned.push(of.name());
        }
    }
    let chosen = list(rest.trim());
    if !chosen.is_empty() {
        pinned.retain(|name| chosen.contains(name));
    }
    if pinned.is_empty() {
        return Err("None of these boxes is pinned".to_owned());
    }
    let (text, mut patch) = done(&opened.text, &Gesture::Unpin { nodes: pinned })?;
    patch.select = chosen;
    Ok(ok(&text, &patch))
}

/// `pick`, and the names on the same line.
fn picked(opened: &Opened, rest: &str) -> String {
    let (which, chosen) = rest.split_once(' ').unwrap_or((rest, ""));
    let (report, chosen) = (opened.report(), list(chosen));
    let is_chosen =
        |ix: &u32| report.nodes.get(*ix as usize).is_some_and(|node| chosen.contains(&node.name));
    let mut out = "pick".to_owned();
    for (ix, node) in report.nodes.iter().enumerate().take(report.n_forward as usize) {
        let read = || {
            let users = report.nodes.iter().take(report.n_forward as usize);
            users
                .filter(|user| chosen.contains(&user.name))
                .any(|user| user.src.contains(&(ix as u32)))
        };
        let wanted = match which {
            "consumers" => node.src.iter().any(is_chosen),
            "sources" => read(),
            _ => true,
        };
        if wanted && node.role != Role::Inline {
            out = out + " " + &node.name;
        }
    }
    out
}

fn cut(opened: &Opened, rest: &str) -> String {
    let nodes = list(rest);
    let gone = copy(&opened.text, &nodes).map_err(|refused| refused.words);
    let left = gone.and_then(|gone| {
        let (text, _) = done(&opened.text, &Gesture::Delete { nodes, through: false })?;
        Ok(format!("cut {}\n{gone}{text}", gone.len()))
    });
    left.unwrap_or_else(|why| "no\n".to_owned() + &why)
}

/// The first free name of `f`, `f2`, ...
fn grouped(opened: &Opened, rest: &str) -> Result<String, String> {
    let nodes = list(rest);
    let mut why = String::new();
    for n in 1..=NAMES {
        let name = if n == 1 { "f".to_owned() } else { format!("f{n}") };
        match patch(&opened.text, &Gesture::Group { nodes: nodes.clone(), name: name.clone() }) {
            Err(refused)
                if refused.code == "duplicate-name"
                    && refused.words.contains(&format!("`{name}`")) =>
            {
                why = refused.words;
            }
            Err(refused) => return Err(refused.words),
            Ok(_) => {
                let (text, patch) = done(&opened.text, &Gesture::Group { nodes, name })?;
                return Ok(ok(&text, &patch));
            }
        }
    }
    Err(why)
}

fn button(html: &mut Html, command: &str, word: &str, key: &str) {
    html.raw("<button class=\"btn line\" data-do=\"").text(command).raw("\">").raw(word);
    if !key.is_empty() {
        html.raw("<kbd>").raw(key).raw("</kbd>");
    }
    html.raw("</button>");
}

/// Four buttons that do what dragging does.
fn arrows(html: &mut Html, names: &str, closed: &str) {
    let closed = closed.replace(',', " ");
    html.raw("<span class=\"arrows\" role=\"group\" aria-label=\"Move\">");
    for (by, sign, word) in [
        ("-1 0", "←", "Move a column to the left"),
        ("1 0", "→", "Move a column to the right"),
        ("0 -20", "↑", "Move up"),
        ("0 20", "↓", "Move down"),
    ] {
        html.raw("<button class=\"btn line icon\" aria-label=\"")
            .raw(word)
            .raw("\" title=\"")
            .raw(word);
        html.raw("\" data-do=\"").text(&["make shift ", names, " ", by, " ", &closed].concat());
        html.raw("\">").raw(sign).raw("</button>");
    }
    html.raw("</span>");
}

/// What can be done with several nodes.
pub(super) fn several(html: &mut Html, chosen: &str, closed: &str) {
    let names = list(chosen);
    if names.len() < 2 {
        return;
    }
    html.raw("<div class=\"sec edits\"><h3>Selected<span class=\"sub\">").int(names.len());
    html.raw(" nodes</span></h3><p class=\"prose\">");
    for (ix, name) in names.iter().enumerate() {
        html.raw(if ix == 0 { "<code>" } else { ", <code>" }).text(name).raw("</code>");
    }
    html.raw("</p><p class=\"ways\">");
    for (word, label, key) in [
        ("make group ", "Group into a fn", "Ctrl G"),
        ("make duplicate ", "Duplicate", "D"),
        ("make copy ", "Copy", "Ctrl C"),
        ("make cut ", "Cut", "Ctrl X"),
        ("make delete ", "Delete", "Del"),
        ("make unpin ", "Unpin", "U"),
    ] {
        button(html, &[word, chosen].concat(), label, key);
    }
    button(html, &["make pick consumers ", chosen].concat(), "Add consumers", "");
    button(html, &["make pick sources ", chosen].concat(), "Add sources", "");
    arrows(html, chosen, closed);
    html.raw("</p></div>");
}

/// Where one node stands: moved, pinned, in a call that can be closed.
pub(super) fn one(html: &mut Html, opened: &Opened, ix: u32, closed: &str) {
    let report = opened.report();
    let Some(name) =
        report.nodes.get(ix as usize).filter(|_| ix < report.n_forward).map(|n| n.name.as_str())
    else {
        return;
    };
    let pins = plan::pins(&opened.text);
    html.raw("<div class=\"sec edits\"><h3>Place<span class=\"sub\">");
    html.raw(if pins.contains_key(name) { "pinned" } else { "by itself" });
    html.raw("</span></h3><p class=\"ways\">");
    arrows(html, name, closed);
    if pins.contains_key(name) {
        button(html, &["make unpin ", name].concat(), "Unpin", "U");
    }
    if !pins.is_empty() {
        button(html, "make unpin", "Unpin all", "");
    }
    let calls = plan::calls(report, &opened.text);
    let mut key = "G";
    for call in calls.iter().rev().filter(|call| call.nodes.contains(&ix)) {
        let is_closed = plan::is_closed(report, closed.split(',').any(|name| name == call.name));
        let label = if is_closed { "Open " } else { "Close " };
        html.raw("<button class=\"btn line\" data-do=\"close ")
            .text(&call.name)
            .raw("\">")
            .raw(label);
        html.raw("<code>").text(&call.name).raw("</code>, fn ").text(&call.function);
        if !key.is_empty() {
            html.raw("<kbd>").raw(key).raw("</kbd>");
        }
        html.raw("</button>");
        key = "";
    }
    html.raw("</p></div>");
}

#[cfg(test)]
mod tests {
    use super::super::{Opened, panel};
    use super::make;

    const TEXT: &str = "# kept\nrules numpy\nparam w [2] = [1, 2]\na = exp(w)\nb = relu(w)\ny = a * b\nloss = sum(y)\n";

    fn done(text: &str, words: &str) -> String {
        make(&Opened::new(text), words).expect("a gesture of this file")
    }

    fn text(made: &str) -> &str {
        assert!(made.starts_with("ok "), "{made}");
        made.split_once('\n').map_or("", |(_, text)| text)
    }

    #[test]
    fn boxes_are_pinned_where_they_are_moved_to_and_given_free() {
        let moved = done(TEXT, "shift a 0 -20 ");
        assert!(
            text(&moved).starts_with("# kept\n") && text(&moved).contains("\n\nlayout a 1 -"),
            "{moved}"
        );
        let both = done(text(&moved), "move a,b 0 -30 ");
        assert!(
            both.starts_with("ok ") && both.lines().next().is_some_and(|l| l.ends_with("a b")),
            "{both}"
        );
        assert_eq!(text(&both).matches("layout").count(), 2);
        let one = done(text(&both), "unpin a");
        assert!(text(&one).contains("layout b") && !text(&one).contains("layout a"), "{one}");
        assert_eq!(text(&done(text(&both), "unpin")).trim_end(), TEXT.trim_end());
        assert!(done(TEXT, "unpin").starts_with("no\n"));
    }

    #[test]
    fn what_is_cut_comes_before_the_text_that_is_left() {
        let cut = done(TEXT, "cut w");
        assert!(cut.starts_with("cut ") && cut.contains("\nparam w [2] = [1, 2]\n# kept"), "{cut}");
        assert!(cut.contains("a = exp(?)"), "{cut}");
        assert!(done(TEXT, "cut nothing").starts_with("no\n"));
    }

    #[test]
    fn a_group_gets_the_first_free_name() {
        let grouped = done(TEXT, "group a,b,y");
        assert!(
            text(&grouped).contains("fn f(w)") && text(&grouped).contains("y = f(w)"),
            "{grouped}"
        );
        let taken = TEXT.replace("param w", "const f = 1\nparam w");
        assert!(text(&done(&taken, "group a,b,y")).contains("fn f2(w)"));
        assert!(done(TEXT, "group a,b").starts_with("no\n"), "two results");
    }

    #[test]
    fn what_reads_and_what_is_read_is_found_by_name() {
        assert_eq!(done(TEXT, "pick all w"), "pick w a b y loss");
        assert_eq!(done(TEXT, "pick consumers w,y"), "pick a b loss");
        assert_eq!(done(TEXT, "pick sources y"), "pick a b");
        assert_eq!(done(TEXT, "pick sources w"), "pick");
    }

    #[test]
    fn no_words_are_too_odd() {
        for words in [
            "move",
            "move a",
            "move a x y",
            "move a nan 0",
            "shift nothing 1 0",
            "shift a,a 1e300 -1e300",
            "unpin ,",
            "cut",
            "cut ,",
            "group",
            "group ,",
            "move w 1 1 w loss y",
        ] {
            let made = done(TEXT, words);
            assert!(made.starts_with("no\n") || made.starts_with("ok "), "{words}: {made}");
        }
    }

    #[test]
    fn a_panel_offers_what_can_be_done_with_several() {
        let opened = Opened::new(TEXT);
        let html = panel(&opened, "side 0 1 sel=a,b closed=");
        assert!(html.contains("make group a,b") && html.contains("2 nodes"), "{html}");
        assert!(html.contains("make shift a,b 0 -20"), "{html}");
        assert!(!panel(&opened, "side 0 1").contains("make group"));
        assert!(panel(&opened, "side 0 1").contains("by itself"));
    }
}
