//! The page's larger pieces as markup: pure functions from plain data to text, so that they are tested natively
//! and cost one `innerHTML`.
//!
//! Everything that comes from the document passes [`Html::text`]. A control carries its command in `data-do`,
//! which [`command::read`] understands. Deliberately absent: colours, sizes and `style` attributes, which the
//! content security policy forbids.

pub mod code;
pub mod command;
pub mod grid;
pub mod inspect;
pub mod math;
pub mod outline;
pub mod over;
pub mod problem;
pub mod say;
pub mod shell;
pub mod side;
pub mod steps;
pub mod track;
pub mod trouble;

/// Markup under construction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Html(String);

impl Html {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds markup.
    pub fn raw(&mut self, markup: &str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds text, whatever it holds. It may stand in an attribute's double quotes, too.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '&' => self.0.push_str("&amp;"),
                '"' => self.0.push_str("&quot;"),
                c => self.0.push(c),
            }
        }
        self
    }

    /// Adds a whole number.
    pub fn int(&mut self, n: usize) -> &mut Self {
        self.0.push_str(&n.to_string());
        self
    }

    /// Adds a coordinate, to half a pixel.
    pub fn at(&mut self, x: f64) -> &mut Self {
        let halves = (x * 2.0).round() as i64;
        self.0.push_str(&(halves / 2).to_string());
        if halves % 2 != 0 {
            self.0.push_str(".5");
        }
        self
    }

    /// Adds one of the page's icons, which says nothing to those who cannot see it.
    pub fn icon(&mut self, name: &str) -> &mut Self {
        self.raw("<svg class=\"ic\" aria-hidden=\"true\"><use href=\"#i-")
            .raw(name)
            .raw("\"/></svg>")
    }

    /// Adds an icon in a box of its own, as the buttons of the page's frame have it.
    pub fn boxed_icon(&mut self, name: &str) -> &mut Self {
        self.raw("<span class=\"i\" aria-hidden=\"true\">").icon(name).raw("</span>")
    }

    /// Adds text with its names set as code: what stands in backticks.
    pub fn prose(&mut self, text: &str) -> &mut Self {
        for (ix, piece) in text.split('`').enumerate() {
            if ix % 2 == 1 {
                self.raw("<code>").text(piece).raw("</code>");
            } else {
                self.text(piece);
            }
        }
        self
    }

    /// The markup.
    pub fn done(self) -> String {
        self.0
    }
}

/// What the lines and signs of the graph mean, as list items.
pub const LEGEND: &str = concat!(
    "<li><svg width=\"26\" height=\"10\" aria-hidden=\"true\"><path class=\"lg-fw\" d=\"M0 5H20M18 1.5 25 5l-7 3.5z\"/></svg>value</li>",
    "<li><svg width=\"26\" height=\"10\" aria-hidden=\"true\"><path class=\"lg-bw\" d=\"M26 5H7\"/><path class=\"lg-bw tip\" d=\"M8 1.5 1 5l7 3.5z\"/></svg>gradient</li>",
    "<li><svg width=\"18\" height=\"12\" aria-hidden=\"true\"><path class=\"lg-fold\" d=\"M0 1c8 0 6 5 16 5M0 6h16M0 11c8 0 6-5 16-5\"/></svg>fold</li>",
    "<li><i class=\"lg-p\"></i>positive</li>",
    "<li><i class=\"lg-n\"></i>negative, size is magnitude</li>",
    "<li><i class=\"lg-todo\"></i>not built</li>",
);

/// `[2,3]`, row-major.
pub fn shape(extents: &[u32]) -> String {
    super::measure::shape(extents)
}

/// `[2 token, 3 expert]`, row-major.
pub fn named_shape(extents: &[u32], axes: &[String]) -> String {
    if axes.iter().all(String::is_empty) {
        return shape(extents);
    }
    let axis = |(ix, extent): (usize, &u32)| match axes.get(ix) {
        Some(name) if !name.is_empty() => format!("{extent} {name}"),
        _ => extent.to_string(),
    };
    listed_with(", ", extents.iter().enumerate().map(axis))
}

/// The same shape as ggml prints it: innermost first, at least one extent.
pub fn ne(extents: &[u32]) -> String {
    let innermost_first = extents.iter().rev().map(u32::to_string);
    if extents.is_empty() { "1".to_owned() } else { innermost_first.collect::<Vec<_>>().join(", ") }
}

fn listed_with(separator: &str, items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(separator))
}

/// Whether a rule set's engine counts axes from the innermost one.
pub fn prints_ne(rules: &str) -> bool {
    rules != "numpy"
}

#[cfg(test)]
mod tests {
    use super::{Html, named_shape, ne, shape};

    #[test]
    fn what_comes_from_the_document_is_text() {
        let mut html = Html::new();
        html.text("a<b & \"c\">").prose("`<x>` is").at(2.5).at(3.0);
        assert_eq!(html.done(), "a&lt;b &amp; &quot;c&quot;&gt;<code>&lt;x&gt;</code> is2.53");
    }

    #[test]
    fn shapes_are_row_major_and_ne_is_not() {
        assert_eq!(shape(&[2, 3]), "[2,3]");
        assert_eq!(shape(&[]), "[]");
        let axes = ["token".to_owned(), String::new()];
        assert_eq!(named_shape(&[2, 1], &axes), "[2 token, 1]");
        assert_eq!(ne(&[2, 3]), "3, 2");
        assert_eq!(ne(&[]), "1");
    }
}
