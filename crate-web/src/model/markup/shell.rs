//! The page's frame: all that never changes, and the empty places that `model::parts` fills.

use super::{Html, LEGEND};
use crate::model::examples::EXAMPLES;
use crate::model::reduce::RULES;
use crate::model::view::Theme;

/// A line an element or a few; what stands in braces is a list, or else an icon.
const FRAME: &str = include_str!("shell.html");

/// Everything inside of the page's element.
pub fn shell() -> String {
    let mut html = Html::new();
    // Line ends are for the reader of the file: between two buttons they would be a gap.
    for line in FRAME.lines() {
        for (ix, piece) in line.split(['{', '}']).enumerate() {
            match piece {
                markup if ix % 2 == 0 => _ = html.raw(markup),
                "examples" => examples(&mut html),
                "rules" => rules(&mut html),
                "themes" => themes(&mut html),
                "legend" => _ = html.raw(LEGEND),
                name => _ = html.boxed_icon(name),
            }
        }
    }
    html.done()
}

fn rules(html: &mut Html) {
    for name in RULES {
        html.raw("<option value=\"").raw(name).raw("\">").raw(name).raw("</option>");
    }
}

fn themes(html: &mut Html) {
    for (theme, word) in Theme::ALL {
        html.raw("<li><button class=\"item one\" data-do=\"theme ").raw(theme.key());
        html.raw("\">").raw(word).raw("</button></li>");
    }
}

fn examples(html: &mut Html) {
    for (ix, example) in EXAMPLES.iter().enumerate() {
        html.raw("<li><button class=\"item\" data-do=\"example ").int(ix).raw("\"><strong>");
        html.text(example.name).raw("</strong><span>").text(example.note);
        html.raw("</span></button></li>");
    }
}

#[cfg(test)]
mod tests {
    use super::shell;
    use crate::model::markup::command;

    #[test]
    fn every_command_of_the_frame_is_understood() {
        let shell = shell();
        let mut n = 0;
        for piece in shell.split("data-do=\"").skip(1) {
            let command = piece.split('"').next().unwrap_or_default();
            assert!(command::read(command).is_some(), "{command}");
            n += 1;
        }
        assert!(n > 30, "only {n}");
    }

    #[test]
    fn nothing_is_left_of_the_template_and_no_style_is_in_it() {
        let shell = shell();
        assert!(!shell.contains(['{', '}', '\n']));
        assert!(!shell.contains("style="), "the content security policy forbids it");
        assert!(shell.contains("A mixture of experts") && shell.contains("Keyboard map"));
    }
}
