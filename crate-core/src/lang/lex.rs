//! Text to tokens and comments; it never fails, what it does not know becomes a [`TokenKind::Bad`].
//!
//! Lines are not tokens: a token says whether it is the first on its line.

use super::Span;
use super::ast::Comment;

/// A sign between two operands, or before one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Infix {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `@`
    At,
    /// `^`, also written `**`
    Caret,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

impl Infix {
    /// The canonical spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Star => "*",
            Self::Slash => "/",
            Self::At => "@",
            Self::Caret => "^",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }

    /// Whether it compares.
    pub const fn compares(self) -> bool {
        self.binds() == 1
    }

    /// How strongly it binds its operands; a sign before an operand binds with [`Infix::PREFIX`].
    pub const fn binds(self) -> u8 {
        match self {
            Self::Less
            | Self::LessEqual
            | Self::Greater
            | Self::GreaterEqual
            | Self::Equal
            | Self::NotEqual => 1,
            Self::Plus | Self::Minus => 2,
            Self::Star | Self::Slash | Self::At => 3,
            Self::Caret => 5,
        }
    }

    /// How strongly a sign before an operand binds: weaker than `^`, so `-x^2` is `-(x^2)`.
    pub const PREFIX: u8 = 4;
}

/// A pair of brackets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bracket {
    /// `(` and `)`
    Round,
    /// `[` and `]`
    Square,
    /// `{` and `}`
    Curly,
}

impl Bracket {
    /// The sign that opens.
    pub const fn open(self) -> &'static str {
        match self {
            Self::Round => "(",
            Self::Square => "[",
            Self::Curly => "{",
        }
    }

    /// The sign that closes.
    pub const fn close(self) -> &'static str {
        match self {
            Self::Round => ")",
            Self::Square => "]",
            Self::Curly => "}",
        }
    }
}

/// The longest name or text in quotes, in bytes.
pub const MAX_WORD: usize = 1000;

/// Why a token means nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bad {
    /// A character that the language does not use.
    Char,
    /// A name with a letter that is not ASCII.
    Name,
    /// A name or a text of more than [`MAX_WORD`] bytes.
    Long,
    /// A text without its closing quote.
    OpenText,
    /// A text in single or typographic quotes.
    Quotes,
}

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// Letters, digits and `_`, not a digit first; reserved words and `_` too.
    Name,
    /// A number without a sign.
    Number,
    /// A text in double quotes.
    Text,
    /// An opening bracket.
    Open(Bracket),
    /// A closing bracket.
    Close(Bracket),
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// `;`
    Semicolon,
    /// `.`
    Dot,
    /// `...`
    Ellipsis,
    /// `=`
    Assign,
    /// `?`
    Question,
    /// `!`
    Bang,
    /// An operator.
    Infix(Infix),
    /// Anything else.
    Bad(Bad),
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where.
    pub span: Span,
    /// Whether nothing but blanks stands before it on its line.
    pub first: bool,
}

/// What a text consists of.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lexed {
    /// The tokens, in order.
    pub tokens: Vec<Token>,
    /// The comments, in order.
    pub comments: Vec<Comment>,
    /// Where each line after the first begins.
    line_starts: Vec<u32>,
}

impl Lexed {
    /// The line of a byte, counted from 0.
    pub fn line_of(&self, place: u32) -> usize {
        self.line_starts.partition_point(|&start| start <= place)
    }
}

/// Characters that people paste, and what they mean.
pub(super) const LOOKALIKES: &[(char, &str)] = &[
    ('\u{2212}', "-"),
    ('\u{2013}', "-"),
    ('\u{2014}', "-"),
    ('\u{d7}', "*"),
    ('\u{b7}', "*"),
    ('\u{22c5}', "*"),
    ('\u{f7}', "/"),
    ('\u{2264}', "<="),
    ('\u{2265}', ">="),
    ('\u{2260}', "!="),
    ('\u{2026}', "..."),
    ('\u{221e}', "inf"),
];

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl Cursor<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    fn eat_while(&mut self, fits: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !fits(c)).unwrap_or(rest.len());
    }

    /// Digits, a fraction, an exponent; the caller saw that a number begins here.
    fn number(&mut self) {
        self.eat_while(|c| c.is_ascii_digit());
        if self.eat(".") {
            self.eat_while(|c| c.is_ascii_digit());
        }
        let rest = self.rest().as_bytes();
        let sign = usize::from(matches!(rest.get(1), Some(b'+' | b'-')));
        let has_exponent = matches!(rest.first(), Some(b'e' | b'E'))
            && rest.get(1 + sign).is_some_and(u8::is_ascii_digit);
        if has_exponent {
            self.at += 1 + sign;
            self.eat_while(|c| c.is_ascii_digit());
        }
    }
}

/// Splits a text; a text of more than 4 GiB is cut, the parser refuses it long before.
pub fn lex(text: &str) -> Lexed {
    let mut lexed = Lexed::default();
    let mut cursor = Cursor { text, at: 0 };
    let mut first = true;
    // The last token was the digits of a derived name, `y.1`: a dot after it is a dot.
    let mut after_ref = false;
    while let Some(c) = cursor.peek() {
        let start = cursor.at;
        if c == '\n' || c == '\r' {
            if !cursor.eat("\r\n") {
                cursor.at += 1;
            }
            lexed.line_starts.push(cursor.at as u32);
            first = true;
            continue;
        }
        // A byte order mark and a zero width space are blanks too, wherever they are pasted.
        if c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}') {
            cursor.at += c.len_utf8();
            continue;
        }
        if c == '#' {
            cursor.eat_while(|c| c != '\n' && c != '\r');
            let comment = text.get(start..cursor.at).unwrap_or("").trim_end();
            let span = Span::new(start as u32, (start + comment.len()) as u32);
            lexed.comments.push(Comment { text: comment.to_owned(), span, own_line: first });
            continue;
        }
        let glued = lexed.tokens.last().filter(|last| last.span.end as usize == start);
        let glued = glued.map(|last| last.kind);
        let is_ref = c.is_ascii_digit() && glued == Some(TokenKind::Dot);
        let dot_is_dot = after_ref && glued.is_some()
            || matches!(
                glued,
                Some(TokenKind::Name | TokenKind::Close(Bracket::Round | Bracket::Square))
            );
        let kind = if is_ref {
            cursor.eat_while(|c| c.is_ascii_digit());
            TokenKind::Number
        } else {
            let digit_next = cursor.second().is_some_and(|c| c.is_ascii_digit());
            if c.is_ascii_digit() || c == '.' && digit_next && !dot_is_dot {
                cursor.number();
                TokenKind::Number
            } else {
                sign(&mut cursor).unwrap_or_else(|| word(&mut cursor, c))
            }
        };
        after_ref = is_ref;
        let span = Span::new(start as u32, cursor.at as u32);
        lexed.tokens.push(Token { kind, span, first });
        first = false;
    }
    lexed
}

/// A token with a fixed spelling.
fn sign(cursor: &mut Cursor<'_>) -> Option<TokenKind> {
    const SIGNS: &[(&str, TokenKind)] = &[
        ("...", TokenKind::Ellipsis),
        ("**", TokenKind::Infix(Infix::Caret)),
        ("<=", TokenKind::Infix(Infix::LessEqual)),
        (">=", TokenKind::Infix(Infix::GreaterEqual)),
        ("==", TokenKind::Infix(Infix::Equal)),
        ("!=", TokenKind::Infix(Infix::NotEqual)),
        ("+", TokenKind::Infix(Infix::Plus)),
        ("-", TokenKind::Infix(Infix::Minus)),
        ("*", TokenKind::Infix(Infix::Star)),
        ("/", TokenKind::Infix(Infix::Slash)),
        ("@", TokenKind::Infix(Infix::At)),
        ("^", TokenKind::Infix(Infix::Caret)),
        ("<", TokenKind::Infix(Infix::Less)),
        (">", TokenKind::Infix(Infix::Greater)),
        ("(", TokenKind::Open(Bracket::Round)),
        (")", TokenKind::Close(Bracket::Round)),
        ("[", TokenKind::Open(Bracket::Square)),
        ("]", TokenKind::Close(Bracket::Square)),
        ("{", TokenKind::Open(Bracket::Curly)),
        ("}", TokenKind::Close(Bracket::Curly)),
        (",", TokenKind::Comma),
        (":", TokenKind::Colon),
        (";", TokenKind::Semicolon),
        (".", TokenKind::Dot),
        ("=", TokenKind::Assign),
        ("?", TokenKind::Question),
        ("!", TokenKind::Bang),
    ];
    SIGNS.iter().find(|(spelling, _)| cursor.eat(spelling)).map(|&(_, kind)| kind)
}

/// A name, a text, or a character that the language does not use.
fn word(cursor: &mut Cursor<'_>, c: char) -> TokenKind {
    let quote = |c| match c {
        '"' | '\'' => Some(c),
        '\u{201c}' => Some('\u{201d}'),
        '\u{2018}' => Some('\u{2019}'),
        _ => None,
    };
    if c == '_' || c.is_alphanumeric() {
        let start = cursor.at;
        cursor.eat_while(|c| c == '_' || c.is_alphanumeric());
        let name = cursor.text.get(start..cursor.at).unwrap_or("");
        return match name.is_ascii() {
            // Every node derived from it carries it, and every sentence about one.
            true if name.len() > MAX_WORD => TokenKind::Bad(Bad::Long),
            true => TokenKind::Name,
            false => TokenKind::Bad(Bad::Name),
        };
    }
    let start = cursor.at;
    cursor.at += c.len_utf8();
    let Some(closing) = quote(c) else {
        return TokenKind::Bad(Bad::Char);
    };
    cursor.eat_while(|c| c != closing && c != '\n' && c != '\r');
    if cursor.peek() != Some(closing) {
        return TokenKind::Bad(Bad::OpenText);
    }
    cursor.at += closing.len_utf8();
    match c {
        '"' if cursor.at - start > MAX_WORD => TokenKind::Bad(Bad::Long),
        '"' => TokenKind::Text,
        _ => TokenKind::Bad(Bad::Quotes),
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, lex};

    fn words(text: &str) -> Vec<&str> {
        lex(text).tokens.iter().map(|token| token.span.of(text)).collect()
    }

    #[test]
    fn a_dot_after_a_name_is_a_dot_and_a_number_before_one() {
        assert_eq!(
            words(".5 5. 1e-3 x.1 r.1.s.2"),
            [".5", "5.", "1e-3", "x", ".", "1", "r", ".", "1", ".", "s", ".", "2"]
        );
        assert_eq!(
            words("x[0].T x^.5 (a).1"),
            ["x", "[", "0", "]", ".", "T", "x", "^", ".5", "(", "a", ")", ".", "1"]
        );
        assert_eq!(words("1e 2x 5..f()"), ["1", "e", "2", "x", "5.", ".", "f", "(", ")"]);
    }

    #[test]
    fn comments_lines_and_the_byte_order_mark() {
        let text = "\u{feff}# title \r\na = 1 # one\t\r\n\r\nb";
        let lexed = lex(text);
        let comments: Vec<_> =
            lexed.comments.iter().map(|c| (c.text.as_str(), c.own_line)).collect();
        assert_eq!(comments, [("# title", true), ("# one", false)]);
        let firsts: Vec<_> = lexed.tokens.iter().map(|t| (t.span.of(text), t.first)).collect();
        assert_eq!(firsts, [("a", true), ("=", false), ("1", false), ("b", true)]);
        assert_eq!(lexed.line_of(text.len() as u32), 3);
    }

    #[test]
    fn strangers_are_one_token_on_character_boundaries() {
        let text = "gr\u{f6}\u{df}e = \u{2212}1 'f' \"g";
        assert_eq!(words(text), ["gr\u{f6}\u{df}e", "=", "\u{2212}", "1", "'f'", "\"g"]);
        let bad = lex(text).tokens.iter().filter(|t| matches!(t.kind, TokenKind::Bad(_))).count();
        assert_eq!(bad, 4);
    }
}
