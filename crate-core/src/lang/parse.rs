//! Text to syntax tree. Every text has one; what cannot be read is a hole with a diagnostic.
//!
//! It resolves no name: whether one is defined, and twice, is lowering's to say.

/// Says why a line cannot be read, where this engine says it; the line is then a hole.
macro_rules! fail {
    ($reader:expr, $diagnostic:expr $(,)?) => {{
        if crate::WHOLE {
            let diagnostic = $diagnostic;
            $reader.cx.report(diagnostic);
        } else {
            $reader.cx.beyond();
        }
        Err(crate::lang::parse::Unread)
    }};
}

mod comments;
mod expr;
#[cfg(feature = "full")]
mod function;
mod mistake;
mod segments;
mod statement;
pub mod words;

use std::collections::BTreeSet;

pub use expr::MAX_DEPTH;

use self::segments::{Segment, Stop};
use super::ast::{
    Ast, Comment, Hole, Ident, Line as DocumentLine, LineKind, Statement, StatementKind,
};
use super::lex::{Bracket, Lexed, Token, TokenKind, lex};
use super::{Code, Diagnostic, Span, TextEdit};

/// How long a text may be, in bytes.
pub const MAX_TEXT: usize = 1 << 20;

/// After so many diagnostics the rest is not listed: nobody reads them, and each costs memory.
const MAX_DIAGNOSTICS: usize = 1000;

/// What a text reads as.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Parsed {
    /// The tree.
    pub ast: Ast,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a document.
pub fn parse(text: &str) -> Parsed {
    if text.len() > MAX_TEXT {
        return too_long(text);
    }
    let lexed = lex(text);
    let segments = segments::split(text, &lexed.tokens);
    let ast = Ast::titled(lexed.comments.first().cloned());
    let mut cx = Cx {
        text,
        lexed: &lexed,
        ast,
        diagnostics: Vec::new(),
        n_comments: 0,
        n_fresh: 0,
        taken: None,
    };
    let mut lines = Lines::default();
    let mut ix = 0;
    while let Some(&segment) = segments.get(ix) {
        cx.comments_before(&mut lines, cx.token(segment.first).start);
        let n_exprs = cx.ast.n_exprs();
        ix += 1;
        #[cfg(feature = "full")]
        if cx.word(segment.first) == "fn" {
            let rest = segments.get(ix..).unwrap_or(&[]);
            let (n_body, closed) = cx.extent(segment, rest);
            ix += n_body;
            let body = rest.get(..n_body).unwrap_or(&[]);
            let (kind, inside, whole) = cx.function(segment, body, closed);
            cx.add(&mut lines, whole, kind, inside, n_exprs);
            continue;
        }
        let (kind, inside) = cx.simple(segment);
        if let (StatementKind::Rules(_), false) = (&kind, segment.first == 0) {
            cx.late_rules(segment);
        }
        cx.add(&mut lines, segment, kind, inside, n_exprs);
    }
    cx.comments_before(&mut lines, u32::MAX);
    let Cx { mut ast, mut diagnostics, .. } = cx;
    ast.finish(lines.lines, text);
    if crate::WHOLE {
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    }
    Parsed { ast, diagnostics }
}

fn too_long(text: &str) -> Parsed {
    if !crate::WHOLE {
        return Parsed { ast: Ast::default(), diagnostics: vec![Diagnostic::beyond()] };
    }
    let span = Span::new(0, u32::try_from(text.len()).unwrap_or(u32::MAX));
    let hole = Hole { text: text.to_owned(), defines: None, unclosed: true };
    let kind = LineKind::Statement(Statement { kind: StatementKind::Hole(hole), span });
    let line = DocumentLine { blank_before: false, kind, inner: Vec::new(), trailing: None };
    let message = format!("a text may have {MAX_TEXT} bytes; this one has {}", text.len());
    let mut ast = Ast::default();
    ast.finish(vec![line], text);
    Parsed { ast, diagnostics: vec![Diagnostic::error(Code::Syntax, Span::at(0), message)] }
}

/// The line cannot be read; the diagnostic has been pushed.
#[derive(Clone, Copy, Debug)]
struct Unread;

type Read<T> = Result<T, Unread>;

/// The document while it is read.
struct Cx<'a> {
    text: &'a str,
    lexed: &'a Lexed,
    ast: Ast,
    diagnostics: Vec<Diagnostic>,
    /// How many comments have found their place.
    n_comments: usize,
    /// The last name that was made up.
    n_fresh: usize,
    /// All names of the text, once one has to be made up.
    taken: Option<BTreeSet<&'a str>>,
}

/// The lines of the document or of a body while they are collected.
#[derive(Default)]
struct Lines {
    lines: Vec<DocumentLine>,
    /// The line of the text on which the last one ended.
    last: Option<usize>,
}

/// One statement while it is read.
struct Reader<'cx, 'a> {
    cx: &'cx mut Cx<'a>,
    at: usize,
    segment: Segment,
    open: Vec<(Span, Bracket)>,
}

impl Reader<'_, '_> {
    fn ahead(&self, n: usize) -> Option<Token> {
        let ix = self.at + n;
        if ix < self.segment.end { self.cx.lexed.tokens.get(ix).copied() } else { None }
    }

    fn peek(&self) -> Option<Token> {
        self.ahead(0)
    }

    /// The token `n` before the next one.
    fn before(&self, n: usize) -> Option<Token> {
        let ix = self.at.checked_sub(n).filter(|&ix| ix >= self.segment.first)?;
        self.cx.lexed.tokens.get(ix).copied()
    }

    fn last_span(&self) -> Span {
        self.before(1).or_else(|| self.peek()).map_or(Span::at(0), |token| token.span)
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek().is_some_and(|token| token.kind == kind);
        self.at += usize::from(found);
        found
    }

    fn ident(&self, token: Token) -> Ident {
        Ident { text: token.span.of(self.cx.text).to_owned(), span: token.span }
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Read<T> {
        if !crate::WHOLE {
            return self.beyond();
        }
        let (span, message) = match self.peek() {
            Some(token) if matches!(token.kind, TokenKind::Bad(_)) => return self.bad(token),
            Some(token) => {
                let found = token.span.of(self.cx.text);
                (token.span, format!("expected {wanted}, found `{found}`"))
            }
            None => (self.last_span(), format!("expected {wanted} at the end of the line")),
        };
        fail!(self, Diagnostic::error(Code::Syntax, span, message))
    }
}

impl<'a> Cx<'a> {
    fn report(&mut self, diagnostic: Diagnostic) {
        if !crate::WHOLE {
            self.beyond();
        } else if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Only the whole engine reads this line, or says what is wrong with it.
    fn beyond(&mut self) {
        if self.diagnostics.is_empty() {
            self.diagnostics.push(Diagnostic::beyond());
        }
    }

    fn token(&self, ix: usize) -> Span {
        self.lexed.tokens.get(ix).map_or(Span::at(self.text.len() as u32), |token| token.span)
    }

    fn word(&self, ix: usize) -> &'a str {
        self.token(ix).of(self.text)
    }

    fn span(&self, segment: Segment) -> Span {
        self.token(segment.first).to(self.token(segment.end.saturating_sub(1)))
    }

    fn line(&mut self, segment: Segment) -> Reader<'_, 'a> {
        Reader { cx: self, at: segment.first, segment, open: Vec::new() }
    }

    /// A name that no token of the text has.
    fn fresh_name(&mut self) -> String {
        let text = self.text;
        let taken = self.taken.get_or_insert_with(|| {
            self.lexed.tokens.iter().map(|token| token.span.of(text)).collect()
        });
        loop {
            self.n_fresh += 1;
            let name = format!("y{}", self.n_fresh);
            if !taken.contains(name.as_str()) {
                return name;
            }
        }
    }

    /// Any statement of the document but a `fn`, and the comments inside it.
    fn simple(&mut self, segment: Segment) -> (StatementKind, Vec<Comment>) {
        let first = self.token(segment.first);
        let n_exprs = self.ast.n_exprs();
        let read = if !crate::WHOLE {
            self.line(segment).statement()
        } else if segment.stop == Stop::CloseBrace {
            self.report(
                Diagnostic::error(Code::Syntax, first, "this `}` closes nothing; remove it")
                    .fix("Remove `}`", TextEdit::replace(first, "")),
            );
            Err(Unread)
        } else if self.word(segment.first) == "return" {
            self.report(Diagnostic::error(
                Code::Syntax,
                first,
                "`return` stands at the end of a fn; give the value a name instead",
            ));
            Err(Unread)
        } else {
            self.line(segment).statement()
        };
        let before = segment.first.checked_sub(1).and_then(|ix| self.lexed.tokens.get(ix));
        let after_brace = before.is_some_and(|token| {
            token.kind == TokenKind::Close(Bracket::Curly)
                && self.same_line(token.span.end, first.start)
        });
        if crate::WHOLE && after_brace && read.is_ok() {
            self.report(
                Diagnostic::error(
                    Code::Syntax,
                    first,
                    "a new statement begins here; put it on a line of its own",
                )
                .fix("Start a new line", TextEdit::insert(first.start, "\n")),
            );
        }
        let inside = self.take_comments(self.span(segment).end);
        if let Ok(kind) = read {
            return (kind, inside);
        }
        self.ast.truncate(n_exprs);
        let hole = if crate::WHOLE {
            self.hole(segment, segment.stop == Stop::Guess)
        } else {
            Hole { text: String::new(), defines: None, unclosed: false }
        };
        (StatementKind::Hole(hole), Vec::new())
    }

    fn same_line(&self, a: u32, b: u32) -> bool {
        self.lexed.line_of(a) == self.lexed.line_of(b)
    }

    /// The hole that a line leaves, with its text as written.
    fn hole(&mut self, segment: Segment, unclosed: bool) -> Hole {
        let mut span = self.span(segment);
        if let Stop::Semicolon(ix) = segment.stop {
            // The `;` ends what is open, so it stays.
            span = span.to(self.token(ix));
        }
        // Its text has the comments inside it.
        self.n_comments = self.lexed.comments.partition_point(|c| c.span.start < span.end);
        let is_leaf = matches!(self.word(segment.first), "param" | "const" | "fn");
        let at = segment.first + usize::from(is_leaf);
        let token = self.lexed.tokens.get(at).filter(|_| at < segment.end);
        let assigns = self.lexed.tokens.get(at + 1).is_some_and(|t| t.kind == TokenKind::Assign);
        let defines = token.filter(|token| {
            let word = token.span.of(self.text);
            token.kind == TokenKind::Name
                && (is_leaf || assigns && at + 1 < segment.end)
                && !words::is_reserved(word)
                && word != "_"
        });
        let defines =
            defines.map(|t| Ident { text: t.span.of(self.text).to_owned(), span: t.span });
        Hole { text: span.of(self.text).to_owned(), defines, unclosed }
    }

    fn late_rules(&mut self, segment: Segment) {
        if !crate::WHOLE {
            return self.beyond();
        }
        if self.word(0) == "rules" {
            // A second one is a duplicate name, which lowering reports.
            return;
        }
        let span = self.span(segment);
        let line = format!("{}\n", span.of(self.text));
        let place = self.token(0).start;
        self.report(
            Diagnostic::error(Code::Syntax, span, "`rules` stands first; move it up").fix_all(
                "Move it up",
                vec![TextEdit::insert(place, line), TextEdit::replace(span, "")],
            ),
        );
    }

    /// Adds a statement; the comments before it have been placed, `inside` are those inside it.
    fn add(
        &mut self,
        lines: &mut Lines,
        segment: Segment,
        kind: StatementKind,
        inside: Vec<Comment>,
        n_exprs: usize,
    ) {
        let span = self.span(segment);
        let (inner, above) = self.split_inside(inside, n_exprs);
        let mut blank_before = lines.is_apart(self.lexed.line_of(span.start));
        for comment in above {
            lines.comment(comment, blank_before);
            blank_before = false;
        }
        let (end, next) = match segment.stop {
            Stop::Semicolon(ix) => (self.token(ix), ix + 1),
            _ => (span, segment.end),
        };
        let trailing = self.comment_after(end, next);
        lines.last = Some(self.lexed.line_of(end.end));
        let kind = LineKind::Statement(Statement { kind, span });
        lines.lines.push(DocumentLine { blank_before, kind, inner, trailing });
    }
}
