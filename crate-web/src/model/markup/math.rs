//! A formula in the engine's notation, `−dy · y / c`, set as mathematics: names slanted, everything else upright.

use super::Html;

/// Adds a formula.
pub fn math(html: &mut Html, formula: &str) {
    html.raw("<span class=\"math\">");
    let mut rest = formula;
    while let Some(first) = rest.chars().next() {
        let len = if is_letter(first) {
            rest.find(|c| !is_part(c)).unwrap_or(rest.len())
        } else {
            rest.find(is_letter).unwrap_or(rest.len())
        };
        let (piece, after) = rest.split_at(len.max(first.len_utf8()));
        // A name before a bracket is a function, and functions are upright.
        if is_letter(first) && !after.starts_with('(') {
            html.raw("<i>").text(piece).raw("</i>");
        } else {
            html.text(piece);
        }
        rest = after;
    }
    html.raw("</span>");
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !matches!(c, 'Σ')
}

/// Digits, primes and subscripts belong to the name before them.
fn is_part(c: char) -> bool {
    is_letter(c) || c.is_ascii_digit() || matches!(c, '_' | '′' | '″' | '₀'..='₉')
}

#[cfg(test)]
mod tests {
    use super::math;
    use crate::model::markup::Html;

    fn set(formula: &str) -> String {
        let mut html = Html::new();
        math(&mut html, formula);
        html.done()
    }

    #[test]
    fn names_are_slanted_and_functions_upright() {
        assert_eq!(
            set("−dy · y / c"),
            "<span class=\"math\">−<i>dy</i> · <i>y</i> / <i>c</i></span>"
        );
        assert_eq!(
            set("repeat(ds₁, w) < 2"),
            "<span class=\"math\">repeat(<i>ds₁</i>, <i>w</i>) &lt; 2</span>"
        );
        assert_eq!(set(""), "<span class=\"math\"></span>");
    }
}
