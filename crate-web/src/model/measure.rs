//! How wide text will be, before any font is known. Deliberately absent: the fonts themselves.
//! Widths are those of `DejaVu Sans`, about the widest fallback met in practice: other fonts leave some air.

/// The width of `text` in the platform's UI font at `px`.
pub fn ui_width(text: &str, px: f64) -> f64 {
    text.chars().map(ui_em).sum::<f64>() * px
}

/// The width of `text` in the platform's monospaced font at `px`.
pub fn mono_width(text: &str, px: f64) -> f64 {
    text.chars().filter(|c| !is_combining(*c)).count() as f64 * 0.605 * px
}

fn is_combining(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

fn ui_em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' | '′' => 0.29,
        ' ' | '.' | ',' | ':' | ';' | '·' | 'I' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | '!' => 0.4,
        's' | 'c' | 'z' | 'J' | '_' | '₀'..='₉' => 0.53,
        'm' | 'w' | 'M' | 'W' | '…' | '@' | '→' | '←' | '∞' => 0.98,
        '+' | '−' | '×' | '=' | '<' | '>' | '≤' | '≥' | '≠' | '~' => 0.84,
        'O' | 'Q' | 'D' | 'G' | 'H' | 'N' | 'U' => 0.78,
        'A'..='Z' => 0.69,
        '0'..='9' => 0.64,
        c if c.is_ascii() => 0.62,
        c if c < '\u{2e80}' => 0.7,
        _ => 1.0,
    }
}

/// `text`, cut with an ellipsis so that it is at most `most` wide by `width`.
pub fn cut(text: &str, most: f64, width: impl Fn(&str) -> f64) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut out: String = text.to_owned();
    while out.pop().is_some() {
        let tried = format!("{}…", out.trim_end());
        if width(&tried) <= most {
            return tried;
        }
    }
    String::new()
}

/// Breaks a sentence into lines at most `most` wide in the UI font.
pub fn wrap(text: &str, px: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let tried = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if ui_width(&tried, px) <= most {
            line = tried;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        line = cut(word, most, |t| ui_width(t, px));
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// A shape as its chip prints it: `[2,3]`.
pub fn shape(extents: &[u32]) -> String {
    // One that is not known yet.
    let item = |d: &u32| if *d == u32::MAX { "?".to_owned() } else { d.to_string() };
    let items: Vec<String> = extents.iter().map(item).collect();
    format!("[{}]", items.join(","))
}

#[cfg(test)]
mod tests {
    use super::{cut, mono_width, shape, ui_width, wrap};

    #[test]
    fn long_text_is_cut_or_wrapped() {
        assert_eq!(cut("abcdef", 34.0, |t| mono_width(t, 10.0)), "abcd…");
        assert!(
            wrap("one two three four five six", 12.0, 60.0)
                .iter()
                .all(|l| ui_width(l, 12.0) <= 60.0)
        );
        assert_eq!(shape(&[2, 3]), "[2,3]");
        assert_eq!(shape(&[]), "[]");
    }
}
