//! Statements: one line, or the header of a `fn`.

use super::{Read, Reader, words};
#[cfg(feature = "full")]
use crate::lang::ast::Formal;
use crate::lang::ast::{
    Axis, Check, Ident, Leaf, LeafRole, Number, Ref, Setting, ShapeText, StatementKind,
};
use crate::lang::lex::{Bracket, Infix, Token, TokenKind};
use crate::lang::suggest::nearest;
use crate::lang::{Code, Diagnostic, Span, TextEdit};

impl Reader<'_, '_> {
    /// A statement and nothing after it; a `fn` is the caller's.
    pub(super) fn statement(&mut self) -> Read<StatementKind> {
        let kind = self.start()?;
        self.end()?;
        Ok(kind)
    }

    fn start(&mut self) -> Read<StatementKind> {
        let Some(token) = self.peek() else {
            return self.unexpected("a statement");
        };
        let word = if token.kind == TokenKind::Name { token.span.of(self.cx.text) } else { "" };
        if self.ahead(1).is_some_and(|next| next.kind == TokenKind::Assign)
            && words::is_reserved(word)
        {
            return self.reserved(token);
        }
        match word {
            "accumulator" | "return" if !crate::WHOLE => self.beyond(),
            "rules" => {
                self.at += 1;
                Ok(StatementKind::Rules(self.name("a rule set, such as `ggml`")?))
            }
            "param" => self.leaf(LeafRole::Param),
            "const" => self.leaf(LeafRole::Const),
            "accumulator" => {
                self.at += 1;
                let of = self.node()?;
                let shape = self.shape()?;
                self.equals()?;
                Ok(StatementKind::Accumulator { of, shape, value: self.expr()? })
            }
            "return" => {
                self.at += 1;
                Ok(StatementKind::Return(self.expr()?))
            }
            "backward" => {
                self.at += 1;
                let of = self.node()?;
                let with = if self.eat_word("with") { Some(self.expr()?) } else { None };
                Ok(StatementKind::Backward { of, with })
            }
            "check" => {
                self.at += 1;
                self.check().map(StatementKind::Check)
            }
            "train" => {
                self.at += 1;
                let method = self.name("a method, such as `sgd`")?;
                Ok(StatementKind::Train { method, settings: self.settings()? })
            }
            "layout" => {
                self.at += 1;
                let of = self.node()?;
                Ok(StatementKind::Layout { of, x: self.signed()?, y: self.signed()? })
            }
            _ => self.assign(token),
        }
    }

    /// Nothing may follow.
    fn end(&mut self) -> Read<()> {
        let Some(token) = self.peek() else {
            return Ok(());
        };
        if !crate::WHOLE {
            return self.beyond();
        }
        let found = token.span.of(self.cx.text);
        let error = |message: &str| Diagnostic::error(Code::Syntax, token.span, message);
        let next = self.ahead(1).map(|next| next.kind);
        let diagnostic = match token.kind {
            TokenKind::Bad(_) => return self.bad(token),
            TokenKind::Close(_) => error(&format!("this `{found}` closes nothing; remove it"))
                .fix(format!("Remove `{found}`"), TextEdit::replace(token.span, "")),
            TokenKind::Name if next == Some(TokenKind::Assign) => {
                let place = self.last_span().end;
                error(&format!("a new statement begins at `{found}`; put it on a line of its own"))
                    .fix(
                        "Start a new line",
                        TextEdit::replace(Span::new(place, token.span.start), "\n"),
                    )
            }
            TokenKind::Assign => error("a second `=`; a comparison is `==`")
                .fix("Write `==`", TextEdit::replace(token.span, "==")),
            _ => error(&format!("expected a sign or the end of the line, found `{found}`")),
        };
        fail!(self, diagnostic)
    }

    fn assign(&mut self, token: Token) -> Read<StatementKind> {
        if token.kind != TokenKind::Name {
            return self.nameless(token);
        }
        let next = self.ahead(1);
        let word = token.span.of(self.cx.text);
        if next.is_some_and(|next| next.kind == TokenKind::Assign) {
            let name = self.name("a name")?;
            self.equals()?;
            return Ok(StatementKind::Assign { name, value: self.expr()? });
        }
        if !crate::WHOLE {
            return self.beyond();
        }
        let meant = nearest(word, words::STATEMENTS.iter().copied());
        let error = |message: String| Diagnostic::error(Code::Syntax, token.span, message);
        let diagnostic = match next.map(|next| next.kind) {
            // `parm w = 1`: two names in a row begin no assignment.
            Some(TokenKind::Name | TokenKind::Number) if !words::is_reserved(word) => match meant {
                Some(meant) => {
                    error(format!("`{word}` begins no statement; did you mean `{meant}`?"))
                        .fix(format!("Write `{meant}`"), TextEdit::replace(token.span, meant))
                }
                None => error(format!("`{word}` begins no statement; write `NAME = …`")),
            },
            Some(TokenKind::Infix(Infix::Equal)) => {
                let sign = next.map_or(token.span, |next| next.span);
                Diagnostic::error(Code::Syntax, sign, "a line defines a name with one `=`")
                    .fix("Write `=`", TextEdit::replace(sign, "="))
            }
            Some(TokenKind::Infix(_))
                if self.ahead(2).is_some_and(|t| t.kind == TokenKind::Assign) =>
            {
                Diagnostic::error(
                    Code::Syntax,
                    token.span,
                    format!("a name is defined once; give the new value of `{word}` another name"),
                )
            }
            _ => return self.nameless(token),
        };
        fail!(self, diagnostic)
    }

    /// An expression that nobody names.
    fn nameless(&mut self, token: Token) -> Read<StatementKind> {
        if !crate::WHOLE {
            return self.beyond();
        }
        match token.kind {
            TokenKind::Bad(_) => return self.bad(token),
            TokenKind::Close(_) => {
                self.end()?;
            }
            TokenKind::Name
            | TokenKind::Number
            | TokenKind::Open(Bracket::Round | Bracket::Square)
            | TokenKind::Question
            | TokenKind::Infix(Infix::Plus | Infix::Minus) => {}
            _ => return self.unexpected("a statement"),
        }
        // What is wrong inside it matters more than its missing name.
        self.expr()?;
        if let Some(sign) = self.peek().filter(|next| next.kind == TokenKind::Assign) {
            return fail!(
                self,
                Diagnostic::error(
                    Code::Syntax,
                    token.span.to(sign.span),
                    "only a name stands before `=`; an element cannot be assigned",
                )
            );
        }
        self.end()?;
        let name = self.cx.fresh_name();
        fail!(
            self,
            Diagnostic::error(
                Code::Syntax,
                token.span.to(self.last_span()),
                "this value has no name; write `NAME = …`",
            )
            .fix(
                format!("Name it `{name}`"),
                TextEdit::insert(token.span.start, format!("{name} = ")),
            ),
        )
    }

    fn leaf(&mut self, role: LeafRole) -> Read<StatementKind> {
        self.at += 1;
        let name = self.name("a name")?;
        let shape = self.shape()?;
        let dtype = self.peek().filter(|token| token.kind == TokenKind::Name);
        let dtype = dtype.map(|token| {
            self.at += 1;
            self.ident(token)
        });
        if self.peek().is_none() {
            let place = self.last_span();
            return fail!(
                self,
                Diagnostic::error(Code::Syntax, place, "a leaf has a value; write `= …`")
                    .fix("Add `= zeros`", TextEdit::insert(place.end, " = zeros")),
            );
        }
        self.equals()?;
        Ok(StatementKind::Leaf(Leaf { role, name, shape, dtype, value: self.expr()? }))
    }

    /// `shape` of the grammar, where one begins.
    fn shape(&mut self) -> Read<Option<ShapeText>> {
        let from = self.peek().map(|token| token.span);
        let is_open = |token: Option<Token>| {
            token.is_some_and(|token| token.kind == TokenKind::Open(Bracket::Square))
        };
        let ne = from.is_some_and(|span| span.of(self.cx.text) == "ne") && is_open(self.ahead(1));
        self.at += usize::from(ne);
        if !is_open(self.peek()) {
            return Ok(None);
        }
        let (axes, span) = self.bracketed(Bracket::Square, false, Self::axis)?;
        Ok(Some(ShapeText { ne, axes, span: from.map_or(span, |from| from.to(span)) }))
    }

    fn axis(&mut self) -> Read<Axis> {
        let Some(token) = self.peek().filter(|token| token.kind == TokenKind::Number) else {
            return self.unexpected("an extent, such as `2`");
        };
        let digits = token.span.of(self.cx.text);
        let extent =
            if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None };
        let Some(extent) = extent else {
            return fail!(
                self,
                Diagnostic::error(
                    Code::BadLiteral,
                    token.span,
                    format!("an extent is a whole number, not `{digits}`"),
                )
            );
        };
        self.at += 1;
        let name = match self.peek() {
            Some(next) if next.kind == TokenKind::Name => Some(self.name("an axis name")?),
            _ => None,
        };
        Ok(Axis { extent, name, span: token.span.to(self.last_span()) })
    }

    fn check(&mut self) -> Read<Check> {
        let what = self.name("`fd`, `adjoint` or `formula`")?;
        match what.text.as_str() {
            "fd" => self.settings().map(Check::Fd),
            "adjoint" => self.settings().map(Check::Adjoint),
            "formula" if crate::WHOLE => {
                let of = self.node()?;
                self.equals()?;
                Ok(Check::Formula { of, value: self.expr()? })
            }
            _ if !crate::WHOLE => self.beyond(),
            other => {
                let message = format!("`{other}` is no check; write `fd`, `adjoint` or `formula`");
                let diagnostic = Diagnostic::error(Code::Syntax, what.span, message);
                let meant = nearest(other, ["fd", "adjoint", "formula"]);
                let diagnostic = match meant {
                    Some(meant) => diagnostic
                        .fix(format!("Write `{meant}`"), TextEdit::replace(what.span, meant)),
                    None => diagnostic,
                };
                fail!(self, diagnostic)
            }
        }
    }

    fn settings(&mut self) -> Read<Vec<Setting>> {
        let mut settings = Vec::new();
        while self.peek().is_some() {
            let name = self.name("a setting, such as `lr=0.1`")?;
            self.equals()?;
            settings.push(Setting { name, value: self.signed()? });
        }
        Ok(settings)
    }

    /// `number` of the grammar.
    fn signed(&mut self) -> Read<Number> {
        let minus = self.peek().filter(|t| t.kind == TokenKind::Infix(Infix::Minus));
        self.at += usize::from(minus.is_some());
        let number = self.unsigned()?;
        Ok(match minus {
            None => number,
            Some(sign) => Number {
                text: format!("-{}", number.text),
                value: -number.value,
                span: sign.span.to(number.span),
            },
        })
    }

    /// `ref` of the grammar.
    fn node(&mut self) -> Read<Ref> {
        let mut parts = vec![self.name("the name of a node")?];
        while self.eat(TokenKind::Dot) {
            let part = self.peek().filter(|token| match token.kind {
                TokenKind::Name => true,
                TokenKind::Number => {
                    token.span.of(self.cx.text).bytes().all(|b| b.is_ascii_digit())
                }
                _ => false,
            });
            let Some(part) = part else {
                return self.unexpected("a name or a number after the dot");
            };
            self.at += 1;
            parts.push(self.ident(part));
        }
        let from = parts.first().map_or_else(|| self.last_span(), |part| part.span);
        Ok(Ref { parts, span: from.to(self.last_span()) })
    }

    /// The header of a `fn`, up to its `{`.
    #[cfg(feature = "full")]
    pub(super) fn header(&mut self) -> Read<(Ident, Vec<Formal>)> {
        self.at += 1;
        let name = self.name("a name")?;
        if !self.peek().is_some_and(|token| token.kind == TokenKind::Open(Bracket::Round)) {
            return self.unexpected("`(` and the arguments");
        }
        let (formals, _) = self.bracketed(Bracket::Round, false, |line| {
            let name = line.name("the name of an argument")?;
            let default = if line.eat(TokenKind::Assign) { Some(line.expr()?) } else { None };
            Ok(Formal { name, default })
        })?;
        if self.eat(TokenKind::Open(Bracket::Curly)) {
            return Ok((name, formals));
        }
        if self.peek().is_some() {
            return self.unexpected("`{`");
        }
        let place = self.last_span();
        fail!(
            self,
            Diagnostic::error(Code::Syntax, place, "a fn has a body; write `{ … return … }`")
                .fix("Add `{`", TextEdit::insert(place.end, " {")),
        )
    }

    /// A name of the document's own.
    fn name(&mut self, wanted: &str) -> Read<Ident> {
        let Some(token) = self.peek() else {
            return self.unexpected(wanted);
        };
        let word = token.span.of(self.cx.text);
        match token.kind {
            TokenKind::Bad(_) => self.bad(token),
            TokenKind::Name if word == "_" => fail!(
                self,
                Diagnostic::error(
                    Code::Syntax,
                    token.span,
                    "`_` alone is not a name; add a letter",
                )
            ),
            TokenKind::Name if words::is_reserved(word) => self.reserved(token),
            TokenKind::Name => {
                self.at += 1;
                Ok(self.ident(token))
            }
            _ => self.unexpected(wanted),
        }
    }

    fn equals(&mut self) -> Read<()> {
        if self.eat(TokenKind::Assign) {
            return Ok(());
        }
        match self.peek() {
            Some(token) if token.kind == TokenKind::Infix(Infix::Equal) => fail!(
                self,
                Diagnostic::error(Code::Syntax, token.span, "write one `=` here")
                    .fix("Write `=`", TextEdit::replace(token.span, "=")),
            ),
            Some(_) => self.unexpected("`=`"),
            None => {
                let place = self.last_span();
                fail!(
                    self,
                    Diagnostic::error(Code::Syntax, place, "expected `=` and a value")
                        .fix("Add `= ?`", TextEdit::insert(place.end, " = ?")),
                )
            }
        }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.span.of(self.cx.text) == word);
        self.at += usize::from(found);
        found
    }
}
