//! What stands at a word of the program: what can be written there, and what is to be said of it.

use foldback::lang::patch::{Hover, Item, ItemKind, complete, hover};

use crate::model::markup::Html;

/// The most proposals that are listed.
const MOST: usize = 40;

/// The proposals at a byte. Those that were not asked for keep away where nothing has been written yet, and where what
/// is written is all that they propose.
pub(super) fn proposals(text: &str, caret: u32, asked: bool) -> String {
    let items = complete(text, caret);
    let Some(first) = items.first() else {
        return if asked { nothing(caret) } else { String::new() };
    };
    let word = text.get(first.span.range()).unwrap_or("");
    let typed = text.get(first.span.start as usize..caret as usize).unwrap_or("");
    if !asked && (typed.is_empty() || items.len() == 1 && first.insert == word) {
        return String::new();
    }
    let mut html = Html::new();
    html.raw("<div class=\"aid\" data-at=\"").int(first.span.start as usize);
    html.raw("\"><ul id=\"proposals\" role=\"listbox\" aria-label=\"Proposals\">");
    for item in items.iter().take(MOST) {
        proposal(&mut html, item, typed);
    }
    html.raw("</ul><p class=\"foot\"><span><kbd>↑</kbd> <kbd>↓</kbd> choose</span><span><kbd>Tab</kbd> write</span><span><kbd>Esc</kbd> close</span></p></div>");
    html.done()
}

fn nothing(caret: u32) -> String {
    let mut html = Html::new();
    html.raw("<div class=\"aid\" data-at=\"").int(caret as usize);
    html.raw("\" role=\"note\"><p class=\"foot\">Nothing is proposed here</p></div>");
    html.done()
}

fn proposal(html: &mut Html, item: &Item, typed: &str) {
    html.raw("<li role=\"option\" aria-selected=\"false\" data-do=\"write ");
    html.int(item.span.start as usize).raw(" ").int(item.span.end as usize).raw(" ");
    html.text(&item.insert).raw("\"><span class=\"kind\" aria-hidden=\"true\">");
    html.raw(kind(item.kind).0).raw("</span><span class=\"nm\">");
    match item.label.strip_prefix(typed).filter(|_| !typed.is_empty()) {
        Some(rest) => _ = html.raw("<u>").text(typed).raw("</u>").text(rest),
        None => _ = html.text(&item.label),
    }
    html.raw("</span><span class=\"vh\"> ")
        .raw(kind(item.kind).1)
        .raw(" </span><span class=\"detail\">");
    html.text(&item.detail).raw("</span><span class=\"says\">").prose(&item.says);
    html.raw("</span></li>");
}

/// A letter and a word.
const fn kind(kind: ItemKind) -> (&'static str, &'static str) {
    match kind {
        ItemKind::Op => ("ƒ", "op"),
        ItemKind::Function => ("fn", "function"),
        ItemKind::Node => ("◦", "node"),
        ItemKind::Attribute => ("=", "attribute"),
        ItemKind::Word => ("¶", "statement"),
        ItemKind::Value => ("·", "value"),
    }
}

/// The card for a byte; at the end of a word it is that word's.
pub(super) fn card(text: &str, at: u32) -> String {
    let before = at.checked_sub(1).filter(|at| text.is_char_boundary(*at as usize));
    let Some(card) = hover(text, at).or_else(|| hover(text, before?)) else {
        return String::new();
    };
    let mut html = Html::new();
    html.raw("<div class=\"aid card\" role=\"note\" aria-label=\"About this word\" data-at=\"");
    html.int(card.span.start as usize).raw("\"><p class=\"title\"><code>").text(&card.title);
    html.raw("</code></p>");
    said(&mut html, &card);
    html.raw("<button class=\"btn icon\" aria-label=\"Close\" data-do=\"aid\">")
        .boxed_icon("cross");
    html.raw("</button></div>");
    html.done()
}

fn said(html: &mut Html, card: &Hover) {
    for wrong in &card.wrong {
        html.raw("<p class=\"wrong\"><span class=\"tag refg\">").text(&wrong.code);
        html.raw("</span> ").prose(&wrong.message).raw("</p><p>").prose(&wrong.next).raw("</p>");
    }
    for line in &card.lines {
        html.raw("<p>").prose(line).raw("</p>");
    }
}

#[cfg(test)]
mod tests {
    use super::{card, proposals};

    const TEXT: &str = "rules numpy\nparam w [2, 3] = 1\ny = cl";

    #[test]
    fn a_word_that_is_being_written_has_proposals() {
        let html = proposals(TEXT, TEXT.len() as u32, false);
        let start = TEXT.len() - 2;
        assert!(html.contains(&format!("write {start} {} clamp", TEXT.len())), "{html}");
        assert!(html.contains("<u>cl</u>amp"), "{html}");
    }

    #[test]
    fn proposals_keep_away_unless_they_are_asked_for() {
        let text = "rules numpy\nparam w [2, 3] = 1\ny = ";
        assert_eq!(proposals(text, text.len() as u32, false), "");
        assert!(proposals(text, text.len() as u32, true).contains("write "));
        // In a comment nothing is proposed, and who asks is told so.
        assert_eq!(proposals("# cl", 4, false), "");
        assert!(proposals("# cl", 4, true).contains("Nothing is proposed"));
    }

    #[test]
    fn a_card_says_what_a_word_is_and_what_is_wrong_with_it() {
        let text = "rules numpy\nparam w [2, 3] = 1\ny = sum_rows(w)\nz = w / nope";
        let at = text.find("sum_rows").expect("it is there") as u32;
        assert!(card(text, at).contains("sum_rows("), "{}", card(text, at));
        assert!(card(text, at + 8).contains("sum_rows("), "at its end, too");
        let wrong = card(text, text.len() as u32 - 1);
        assert!(wrong.contains("class=\"wrong\""), "{wrong}");
        let text = "rules numpy\nparam w [2, 3] = 1\nz = nope(w)";
        let at = text.find("ope").expect("it is there") as u32;
        assert!(card(text, at).contains("class=\"wrong\""), "an op that is none");
        assert_eq!(card(text, 9999), "");
        assert!(card("é", 1).contains("syntax"), "inside of a letter");
    }
}
