//! Formulas as MathML: the notation of the op table and of the report, `−dy · y / c`, read and set as mathematics.
//!
//! What is not understood is set as text, never lost.

use crate::model::markup::Html;

/// Deeper brackets are set as text: the reader is a small machine with a stack of its own calls.
const DEPTH: usize = 24;

/// Adds a formula as a `math` element, with the plain text for those who read it aloud.
pub(super) fn math(html: &mut Html, formula: &str) {
    html.raw("<math aria-label=\"").text(formula).raw("\">");
    let tokens = read(formula);
    let mut reader = Reader { tokens: &tokens, at: 0, depth: 0 };
    let mut out = Html::new();
    while reader.at < tokens.len() {
        let before = reader.at;
        let sides = reader.equation();
        out.raw(&sides);
        if reader.at == before {
            // A sign that begins nothing.
            operator(&mut out, &tokens[before].text);
            reader.at += 1;
        }
    }
    html.raw("<mrow>").raw(&out.done()).raw("</mrow></math>");
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Name,
    Number,
    Sign,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Token {
    kind: Kind,
    text: String,
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '′' | '″' | '₀'..='₉')
}

fn read(formula: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut rest = formula;
    while let Some(first) = rest.chars().next() {
        let (kind, len) = if first.is_ascii_digit() {
            (Kind::Number, number(rest))
        } else if first.is_alphabetic() && first != 'Σ' {
            // A name may go on behind a point: the parts of a nested expression have such names.
            let end = |(at, c): &(usize, char)| {
                let next = rest[at + c.len_utf8()..].chars().next();
                !(is_part(*c) || *c == '.' && next.is_some_and(|c| c.is_ascii_digit()))
            };
            (Kind::Name, rest.char_indices().find(end).map_or(rest.len(), |(at, _)| at))
        } else {
            (Kind::Sign, first.len_utf8())
        };
        let (piece, after) = rest.split_at(len);
        if !piece.trim().is_empty() {
            out.push(Token { kind, text: piece.to_owned() });
        }
        rest = after;
    }
    out
}

/// How long the number is that a text begins with, with its exponent.
fn number(text: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mut len = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let rest = text.get(len..).unwrap_or("");
    if let Some(power) = rest.strip_prefix('e') {
        let sign = power.chars().next().filter(|c| matches!(c, '−' | '-' | '+'));
        let sign = sign.map_or(0, char::len_utf8);
        let n = digits(power.get(sign..).unwrap_or(""));
        if n > 0 {
            len += 1 + sign + n;
        }
    }
    len
}

fn operator(html: &mut Html, sign: &str) {
    html.raw("<mo>").text(sign).raw("</mo>");
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn sign(&self, among: &[&str]) -> Option<String> {
        let token = self.peek().filter(|token| token.kind == Kind::Sign)?;
        among.contains(&token.text.as_str()).then(|| token.text.clone())
    }

    /// Sums with `=`, commas and comparisons between them.
    fn equation(&mut self) -> String {
        let mut html = Html::new();
        loop {
            html.raw(&self.sum());
            let Some(sign) = self.sign(&["=", ",", ";", ":", "<", ">", "≤", "≥", "≠", "≈"])
            else {
                return html.done();
            };
            operator(&mut html, &sign);
            self.at += 1;
        }
    }

    fn sum(&mut self) -> String {
        let mut html = Html::new();
        while let Some(sign) = self.sign(&["−", "-", "+", "¬"]) {
            operator(&mut html, &sign);
            self.at += 1;
        }
        html.raw(&self.product());
        while let Some(sign) = self.sign(&["+", "−", "-"]) {
            operator(&mut html, &sign);
            self.at += 1;
            html.raw(&self.product());
        }
        html.done()
    }

    /// Factors from left to right; what stands before a `/` is over what stands behind it.
    fn product(&mut self) -> String {
        let mut left = self.factor();
        loop {
            if let Some(sign) = self.sign(&["·", "*", "×", "⊙", "@"]) {
                self.at += 1;
                let right = self.factor();
                let sign = if sign == "*" { "·" } else { &sign };
                left = [&left, "<mo>", sign, "</mo>", &right].concat();
            } else if self.sign(&["/"]).is_some() {
                self.at += 1;
                let right = self.factor();
                left =
                    ["<mfrac><mrow>", &left, "</mrow><mrow>", &right, "</mrow></mfrac>"].concat();
            } else if self.starts_factor() {
                left.push_str("<mspace width=\"0.2em\"/>");
                left.push_str(&self.factor());
            } else {
                return left;
            }
        }
    }

    fn starts_factor(&self) -> bool {
        match self.peek() {
            Some(token) if token.kind != Kind::Sign => true,
            Some(_) => self.sign(&["(", "[", "Σ", "|"]).is_some() && self.depth < DEPTH,
            None => false,
        }
    }

    fn factor(&mut self) -> String {
        let mut base = self.atom();
        loop {
            if self.sign(&["²", "³"]).is_some() {
                let two = self.sign(&["²"]).is_some();
                self.at += 1;
                let power = if two { "2" } else { "3" };
                base = ["<msup><mrow>", &base, "</mrow><mn>", power, "</mn></msup>"].concat();
            } else if self.sign(&["^"]).is_some() {
                self.at += 1;
                let power = self.atom();
                base = ["<msup><mrow>", &base, "</mrow><mrow>", &power, "</mrow></msup>"].concat();
            } else if self.sign(&["ᵀ"]).is_some() {
                self.at += 1;
                base = ["<msup><mrow>", &base, "</mrow><mi mathvariant=\"normal\">T</mi></msup>"]
                    .concat();
            } else {
                return base;
            }
        }
    }

    fn atom(&mut self) -> String {
        let Some(token) = self.peek().cloned() else { return String::new() };
        let mut html = Html::new();
        match (token.kind, token.text.as_str()) {
            (Kind::Number, text) => {
                self.at += 1;
                html.raw("<mn>").text(text).raw("</mn>");
            }
            (Kind::Name, text) => {
                self.at += 1;
                let is_call = self.sign(&["("]).is_some();
                if is_call && text == "sqrt" && self.depth < DEPTH {
                    self.at += 1;
                    let inside = self.inside(")");
                    html.raw("<msqrt>").raw(&inside).raw("</msqrt>");
                } else {
                    name(&mut html, text, is_call);
                }
            }
            (Kind::Sign, "Σ" | "∑") => {
                self.at += 1;
                // The axis stands behind it, and what is summed may follow.
                match self.peek().filter(|token| token.kind == Kind::Name).cloned() {
                    Some(axis) => {
                        self.at += 1;
                        html.raw("<munder><mo>∑</mo><mtext>").text(&axis.text);
                        html.raw("</mtext></munder>");
                    }
                    None => operator(&mut html, "∑"),
                }
            }
            (Kind::Sign, "√") => {
                self.at += 1;
                let inside = if self.depth < DEPTH {
                    self.depth += 1;
                    let inside = self.atom();
                    self.depth -= 1;
                    inside
                } else {
                    String::new()
                };
                html.raw("<msqrt>").raw(&inside).raw("</msqrt>");
            }
            (Kind::Sign, open @ ("(" | "[" | "|")) if self.depth < DEPTH => {
                let close = match open {
                    "(" => ")",
                    "[" => "]",
                    _ => "|",
                };
                self.at += 1;
                let inside = self.inside(close);
                html.raw("<mrow><mo>").raw(open).raw("</mo>").raw(&inside);
                html.raw("<mo>").raw(close).raw("</mo></mrow>");
            }
            (Kind::Sign, _) => {}
        }
        html.done()
    }

    /// What stands in brackets, and the bracket behind it.
    fn inside(&mut self, close: &str) -> String {
        self.depth += 1;
        let mut html = Html::new();
        while self.peek().is_some() && self.sign(&[close]).is_none() {
            let before = self.at;
            html.raw(&self.equation());
            if self.at == before {
                let text = self.tokens.get(self.at).map_or("", |token| token.text.as_str());
                operator(&mut html, text);
                self.at += 1;
            }
        }
        self.at += usize::from(self.peek().is_some());
        self.depth -= 1;
        html.done()
    }
}

/// A name, with the primes and the lower index that it carries.
fn name(html: &mut Html, text: &str, is_call: bool) {
    let end = text.find(['′', '″', '₀', '₁', '₂', '₃', '₄', '₅', '₆', '₇', '₈', '₉']);
    let (base, marks) = text.split_at(end.unwrap_or(text.len()));
    let primes: String = marks.chars().filter(|c| matches!(c, '′' | '″')).collect();
    let below = marks.chars().filter(|c| ('₀'..='₉').contains(c));
    let below: String = below.map(|c| char::from(b'0' + (c as u32 - 0x2080) as u8)).collect();
    let italic = !is_call && base.chars().count() > 1;
    let mut core = Html::new();
    core.raw(if italic { "<mi class=\"it\">" } else { "<mi>" }).text(base).raw("</mi>");
    let core = core.done();
    match (below.is_empty(), primes.is_empty()) {
        (true, true) => html.raw(&core),
        (false, true) => html.raw("<msub>").raw(&core).raw("<mn>").raw(&below).raw("</mn></msub>"),
        (true, false) => html.raw("<msup>").raw(&core).raw("<mo>").raw(&primes).raw("</mo></msup>"),
        (false, false) => {
            html.raw("<msubsup>").raw(&core).raw("<mn>").raw(&below).raw("</mn><mo>");
            html.raw(&primes).raw("</mo></msubsup>")
        }
    };
}

#[cfg(test)]
mod tests {
    use super::math;
    use crate::model::markup::Html;

    fn set(formula: &str) -> String {
        let mut html = Html::new();
        math(&mut html, formula);
        let html = html.done();
        let inside = html.split_once("<mrow>").map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        inside.strip_suffix("</mrow></math>").unwrap_or_default().to_owned()
    }

    #[test]
    fn a_fraction_is_over_what_stands_behind_the_stroke() {
        assert_eq!(
            set("−g · y / b"),
            "<mo>−</mo><mfrac><mrow><mi>g</mi><mo>·</mo><mi>y</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"
        );
        assert_eq!(
            set("w / (a + b)²"),
            "<mfrac><mrow><mi>w</mi></mrow><mrow><msup><mrow><mrow><mo>(</mo><mi>a</mi><mo>+</mo>\
             <mi>b</mi><mo>)</mo></mrow></mrow><mn>2</mn></msup></mrow></mfrac>"
        );
    }

    #[test]
    fn names_carry_their_marks() {
        assert_eq!(set("dc′"), "<msup><mi class=\"it\">dc</mi><mo>′</mo></msup>");
        assert_eq!(set("dw₁"), "<msub><mi class=\"it\">dw</mi><mn>1</mn></msub>");
        assert_eq!(
            set("exp(x)"),
            "<mi>exp</mi><mspace width=\"0.2em\"/><mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow>"
        );
    }

    #[test]
    fn a_number_keeps_its_exponent() {
        assert_eq!(set("6.1e−5 · x"), "<mn>6.1e−5</mn><mo>·</mo><mi>x</mi>");
        assert_eq!(set("2e"), "<mn>2</mn><mspace width=\"0.2em\"/><mi>e</mi>");
    }

    #[test]
    fn a_sum_names_its_axis() {
        assert_eq!(set("Σ expert"), "<munder><mo>∑</mo><mtext>expert</mtext></munder>");
    }

    #[test]
    fn whatever_it_is_nothing_is_lost_and_every_element_is_closed() {
        let formulas = [
            "",
            ")",
            "((",
            "a ⟨ b",
            "a / / b",
            "[ , ]",
            "√(a² + ε)",
            "where(a > 0, b, c)",
            "y = |a|",
            "x.1 · 2.5e3",
            "<script>&\"",
            "a, b; c",
            "Σ",
            "−−a",
            "\u{0}",
        ];
        let deep = "(".repeat(500) + "a" + &")".repeat(500);
        let defs = foldback::ops::OpKind::ALL.iter().map(|op| op.def().formula);
        for formula in formulas.into_iter().chain(defs).chain([deep.as_str()]) {
            let html = set(formula);
            let mut open = Vec::new();
            for piece in html.split('<').skip(1) {
                let tag = piece.split(['>', ' ']).next().unwrap_or_default();
                if let Some(closed) = tag.strip_prefix('/') {
                    assert_eq!(open.pop(), Some(closed.to_owned()), "{formula}: {html}");
                } else if !piece.split('>').next().unwrap_or_default().ends_with('/') {
                    open.push(tag.to_owned());
                }
            }
            assert!(open.is_empty(), "{formula}: {html}");
            let text: String = html
                .split('<')
                .map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text))
                .collect();
            for c in formula.chars().filter(|c| c.is_alphabetic() && c.is_ascii()) {
                let kept = text.contains(c) || formula.contains("sqrt") || c == 'e';
                assert!(kept, "{formula} lost {c}: {text}");
            }
        }
    }
}
