//! The keyboard map, and which single characters it has.

use crate::model::keys::{KEYS, KeyMap, LETTERS, MAP};
use crate::model::markup::Html;

/// For the map in one word.
pub(super) fn panel(text: &str) -> String {
    let map = KeyMap::read(text);
    let mut html = Html::new();
    html.raw("<div class=\"keymap\">");
    for (title, keys) in MAP {
        html.raw("<section><h3>").raw(title).raw("</h3><dl>");
        for (key, does) in keys {
            html.raw("<div><dt><kbd>").raw(key).raw("</kbd></dt><dd>").raw(does);
            html.raw("</dd></div>");
        }
        html.raw("</dl></section>");
    }
    html.raw("<section class=\"letters\"><h3>Single characters</h3><p class=\"prose\">They work while the graph or the stepper has the focus. Write another character to change one; two that would be the same change places.</p><p class=\"ways\">");
    let off = map.is_off();
    html.raw("<button class=\"btn line\" data-key=\"keys-state\" aria-pressed=\"");
    html.raw(if off { "true" } else { "false" }).raw("\" data-do=\"keys ");
    html.raw(if off { "on\">Off" } else { "off\">Turn off" }).raw("</button>");
    html.raw(
        "<button class=\"btn line\" data-do=\"keys reset\">As they were at first</button></p><ul>",
    );
    for (ix, ((own, does), key)) in KEYS.iter().zip(LETTERS).zip(map.keys()).enumerate() {
        html.raw("<li><label><input type=\"text\" maxlength=\"1\" autocomplete=\"off\" autocapitalize=\"off\" spellcheck=\"false\" data-then=\"keys ");
        html.int(ix).raw(" \" data-key=\"letter-").int(ix).raw("\" value=\"");
        html.text(&key.to_string()).raw("\"");
        html.raw(if off { " disabled" } else { "" }).raw("> ").raw(does);
        if own != key {
            html.raw("<span class=\"sub\">at first ").text(&own.to_string()).raw("</span>");
        }
        html.raw("</label></li>");
    }
    html.raw("</ul></section></div>");
    html.done()
}

#[cfg(test)]
mod tests {
    use super::panel;
    use crate::model::keys::KeyMap;

    #[test]
    fn the_map_shows_what_was_changed() {
        let mut map = KeyMap::default();
        map.change("0 \"");
        let html = panel(&map.text());
        assert!(html.contains("value=\"&quot;\"") && html.contains("at first n"), "{html}");
        assert!(html.contains(">Turn off<"));
        map.change("off");
        assert!(panel(&map.text()).contains(" disabled>"));
    }
}
