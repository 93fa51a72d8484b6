//! The panel of documents: what is in the store, what was deleted, and the history of the open one.

use crate::model::library::diff::{Line, lines, words};
use crate::model::library::{Document, Version, ago};
use crate::model::markup::Html;

/// So many changed lines of a version are shown.
const SHOWN: usize = 6;

/// All documents; `args` say which one's name is being changed.
pub fn list(documents: &[Document], current: &str, args: &str, now: f64) -> String {
    let mut html = Html::new();
    html.raw("<div class=\"docs\">");
    bar(&mut html);
    let (mut there, mut deleted): (Vec<_>, Vec<_>) =
        documents.iter().partition(|document| document.is_there());
    there.sort_by(|a, b| b.changed.total_cmp(&a.changed));
    deleted.sort_by(|a, b| b.deleted.total_cmp(&a.deleted));
    if !there.iter().any(|document| document.id == current) {
        html.raw("<p class=\"what\">The open document is kept here from its first change on.");
        html.raw("<button class=\"btn line\" data-do=\"doc keep\" data-key=\"keep\">Keep it now");
        html.raw("</button></p>");
    }
    if there.is_empty() && deleted.is_empty() {
        html.raw("<p class=\"ink3\">No document has been changed on this device yet.</p>");
    }
    let renamed = args.strip_prefix("rename=");
    html.raw("<ul class=\"doclist\" aria-label=\"Documents\">");
    for document in there {
        row(&mut html, document, document.id == current, renamed == Some(&*document.id), now);
    }
    html.raw("</ul>");
    if !deleted.is_empty() {
        html.raw("<h3>Deleted<span class=\"sub\">can be put back for 30 days</span></h3>");
        html.raw("<ul class=\"doclist\" aria-label=\"Deleted documents\">");
        for document in deleted {
            gone(&mut html, document, now);
        }
        html.raw("</ul>");
    }
    html.raw("</div>");
    html.done()
}

fn bar(html: &mut Html) {
    html.raw("<p class=\"what\"><button class=\"btn line\" data-do=\"new\">");
    html.boxed_icon("plus");
    html.raw("New document</button><button class=\"btn line\" data-do=\"choose-file\">");
    html.boxed_icon("up");
    html.raw("Open a file…</button><button class=\"btn line\" data-do=\"save\">");
    html.boxed_icon("down");
    html.raw("Save as .fold</button></p>");
}

/// A button of a row; its name says of which document.
fn button(html: &mut Html, does: &str, id: &str, key: &str, word: &str, of: &str) {
    html.raw("<button class=\"btn line\" data-do=\"").raw(does).text(id).raw("\" data-key=\"");
    html.raw(key).text(id).raw("\" aria-label=\"").raw(word).raw(" ").text(of).raw("\">");
    html.raw(word).raw("</button>");
}

fn row(html: &mut Html, document: &Document, is_open: bool, is_renamed: bool, now: f64) {
    let (id, name) = (&*document.id, document.shown());
    html.raw(if is_open { "<li class=\"on\" aria-current=\"true\">" } else { "<li>" });
    html.raw("<p class=\"nm\">");
    if is_renamed {
        html.raw("<input type=\"text\" aria-label=\"Name\" maxlength=\"80\" autocomplete=\"off\" ");
        html.raw("data-then=\"doc rename ").text(id).raw(" \" data-key=\"name ").text(id);
        html.raw("\" value=\"").text(&name).raw("\">");
    } else if is_open {
        html.raw("<b>").text(&name).raw("</b><span class=\"tag\">open</span>");
    } else {
        html.raw("<button class=\"link\" data-do=\"doc open ").text(id).raw("\" data-key=\"open ");
        html.text(id).raw("\">").text(&name).raw("</button>");
    }
    html.raw("</p><p class=\"sub\">changed ");
    html.text(&ago(now, document.changed)).raw(", ").int(document.text.lines().count());
    html.raw(" lines</p><p class=\"acts\">");
    if is_renamed {
        // The key is the field's: whoever is done goes on at the button that began it.
        button(html, "tell", "", "done", "Done", "renaming");
    } else {
        button(html, "tell rename=", id, "name ", "Rename", &name);
    }
    if is_open {
        button(html, "tell history", "", "history", "History", &["of ", &name].concat());
    }
    button(html, "doc copy ", id, "copy ", "Duplicate", &name);
    button(html, "doc delete ", id, "gone ", "Delete", &name);
    html.raw("</p></li>");
}

fn gone(html: &mut Html, document: &Document, now: f64) {
    let (id, name) = (&*document.id, document.shown());
    html.raw("<li><p class=\"nm\">").text(&name).raw("</p><p class=\"sub\">deleted ");
    html.text(&ago(now, document.deleted)).raw("</p><p class=\"acts\">");
    button(html, "doc back ", id, "gone ", "Put back", &name);
    button(html, "doc forget ", id, "forget ", "Delete for good", &name);
    html.raw("</p></li>");
}

/// The history of a document: its versions, of which `versions` has the oldest first.
pub fn history(document: &Document, versions: &[Version], now: f64) -> String {
    let mut html = Html::new();
    html.raw("<div class=\"docs\"><p class=\"what\">");
    html.raw("<button class=\"btn line\" data-do=\"tell\" data-key=\"history\">");
    html.boxed_icon("prev");
    html.raw("All documents</button></p><h3>History of ").text(&document.shown());
    html.raw("</h3><p class=\"ink3\">Every edit of the last minutes, then fewer. Restoring is one step of undo.</p>");
    html.raw("<ol class=\"doclist\" aria-label=\"Versions\">");
    for (ix, version) in versions.iter().enumerate().rev() {
        let before = ix.checked_sub(1).and_then(|ix| versions.get(ix));
        let is_now = version.text == document.text;
        html.raw("<li><p class=\"nm\">").text(&ago(now, version.time));
        if is_now {
            html.raw("<span class=\"tag\">as it is</span>");
        }
        html.raw("</p>");
        if let Some(before) = before {
            changes(&mut html, &lines(&before.text, &version.text));
        } else {
            html.raw("<p class=\"sub\">the first that is kept, ");
            html.int(version.text.lines().count()).raw(" lines</p>");
        }
        if !is_now {
            let id = [&*document.id, " ", &version.rev.to_string()].concat();
            html.raw("<p class=\"acts\">");
            let of = ["the version of ", &ago(now, version.time)].concat();
            button(&mut html, "doc restore ", &id, "restore ", "Restore", &of);
            html.raw("</p>");
        }
        html.raw("</li>");
    }
    html.raw("</ol></div>");
    html.done()
}

/// A difference: in words, and its first lines with a sign each.
fn changes(html: &mut Html, lines: &[Line<'_>]) {
    html.raw("<p class=\"sub\">").text(&words(lines)).raw("</p>");
    let mut changed = lines.iter().filter(|line| !matches!(line, Line::Same(_)));
    let n = changed.clone().count();
    if n == 0 {
        return;
    }
    html.raw("<pre class=\"delta\">");
    for line in changed.by_ref().take(SHOWN) {
        let (tag, sign, line) = match line {
            Line::Gone(line) => ("del", "− ", line),
            Line::Come(line) | Line::Same(line) => ("ins", "+ ", line),
        };
        html.raw("<").raw(tag).raw(">").raw(sign).text(line).raw("</").raw(tag).raw(">\n");
    }
    if n > SHOWN {
        html.raw("and ").int(n - SHOWN).raw(" more\n");
    }
    html.raw("</pre>");
}

/// Where nothing can be stored.
pub fn unavailable(why: &str) -> String {
    let mut html = Html::new();
    html.raw("<div class=\"docs\">");
    bar(&mut html);
    html.raw(
        "<p class=\"prose\">This browser keeps only the document that is open, without a history: ",
    );
    html.raw("its database cannot be had here. To keep others, save them as files.</p>");
    html.raw("<p class=\"ink3\">").text(why).raw("</p></div>");
    html.done()
}

#[cfg(test)]
mod tests {
    use super::{history, list, unavailable};
    use crate::model::library::{Document, Version};
    use crate::model::markup::command;

    const NOW: f64 = 1.8e12;

    fn document(id: &str, name: &str) -> Document {
        let (id, name) = (id.to_owned(), name.to_owned());
        Document {
            id,
            name,
            changed: NOW - 2e5,
            text: "a\n".to_owned(),
            rev: 3,
            ..Document::default()
        }
    }

    fn all() -> [String; 4] {
        let hostile = "<img src=x onerror=alert(1)>\" onfocus=\"";
        let mut deleted = document("c", hostile);
        deleted.deleted = NOW;
        let documents = [document("a", hostile), document("b", ""), deleted];
        let versions: Vec<Version> = ["<b>\n", "<b>\n<i>\n", "a\n"]
            .iter()
            .zip(1..)
            .map(|(text, rev)| Version { rev, time: NOW, text: (*text).to_owned() })
            .collect();
        [
            list(&documents, "a", "", NOW),
            list(&documents, "b", "rename=a", NOW),
            history(&documents[0], &versions, NOW),
            unavailable("<img>"),
        ]
    }

    #[test]
    fn names_and_lines_are_text() {
        for html in all() {
            assert!(
                !html.contains("<img") && !html.contains("<i>") && !html.contains("\" onfocus")
            );
            assert!(!html.contains(" style="), "the content security policy forbids it");
        }
    }

    #[test]
    fn every_command_is_understood_and_every_control_has_a_name_of_its_own() {
        let mut n = 0;
        for html in all() {
            for piece in html.split("data-do=\"").skip(1) {
                let command = piece.split('"').next().unwrap_or_default();
                assert!(command::read(command).is_some(), "{command}");
                n += 1;
            }
            for piece in html.split("data-then=\"").skip(1) {
                let command = piece.split('"').next().unwrap_or_default();
                assert!(command::read(&[command, "x y"].concat()).is_some(), "{command}");
            }
            let key = |piece: &'_ str| piece.split('"').next().unwrap_or_default().to_owned();
            let keys: Vec<_> = html.split("data-key=\"").skip(1).map(key).collect();
            let unlike: std::collections::BTreeSet<_> = keys.iter().collect();
            assert_eq!(unlike.len(), keys.len(), "{html}");
        }
        assert!(n > 20, "only {n}");
    }

    #[test]
    fn a_version_says_what_it_changed_and_the_present_one_is_not_restored() {
        let [.., history, _] = all();
        assert!(history.contains("1 line added") && history.contains("<ins>+ &lt;i&gt;</ins>"));
        assert_eq!(history.matches("Restore</button>").count(), 2);
        assert_eq!(history.matches(">as it is<").count(), 1);
    }
}
