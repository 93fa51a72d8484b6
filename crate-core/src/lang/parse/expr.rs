//! Expressions. Operators are resolved with an explicit stack, so a long chain is only long;
//! brackets recurse and are at most [`MAX_DEPTH`] deep.

use super::{Read, Reader, Unread, words};
use crate::lang::ast::{Argument, Call, ExprId, ExprKind, Ident, Index, IndexKind, Number};
use crate::lang::lex::{Bracket, Infix, Token, TokenKind};
use crate::lang::{Code, Diagnostic, Span, TextEdit};

/// How deep brackets may nest.
pub const MAX_DEPTH: usize = 64;

/// An operator that waits for its right operand.
enum Waiting {
    Prefix(Infix, Span),
    Infix(Infix, Span),
}

impl Waiting {
    const fn binds(&self) -> u8 {
        match self {
            Self::Prefix(..) => Infix::PREFIX,
            Self::Infix(sign, _) => sign.binds(),
        }
    }
}

impl Reader<'_, '_> {
    /// `expr` of the grammar.
    pub(super) fn expr(&mut self) -> Read<ExprId> {
        let mut operands: Vec<ExprId> = Vec::new();
        let mut waiting: Vec<Waiting> = Vec::new();
        loop {
            while let Some((sign @ (Infix::Plus | Infix::Minus), span)) = self.infix() {
                self.at += 1;
                waiting.push(Waiting::Prefix(sign, span));
            }
            operands.push(self.operand()?);
            let Some((sign, span)) = self.infix() else {
                break;
            };
            let stays = |top: &Waiting| {
                top.binds() < sign.binds() || sign == Infix::Caret && top.binds() == sign.binds()
            };
            while let Some(top) = waiting.pop_if(|top| !stays(top)) {
                if sign.compares() && matches!(top, Waiting::Infix(before, _) if before.compares())
                {
                    return fail!(
                        self,
                        Diagnostic::error(
                            Code::Syntax,
                            span,
                            "comparisons do not chain; compare twice and multiply the results",
                        )
                    );
                }
                self.reduce(&mut operands, &top);
            }
            self.at += 1;
            waiting.push(Waiting::Infix(sign, span));
        }
        while let Some(top) = waiting.pop() {
            self.reduce(&mut operands, &top);
        }
        operands.pop().ok_or(Unread)
    }

    fn infix(&self) -> Option<(Infix, Span)> {
        match self.peek() {
            Some(Token { kind: TokenKind::Infix(sign), span, .. }) => Some((sign, span)),
            _ => None,
        }
    }

    fn reduce(&mut self, operands: &mut Vec<ExprId>, top: &Waiting) {
        let Some(right) = operands.pop() else {
            return;
        };
        let end = self.cx.ast.expr(right).span;
        let id = match *top {
            Waiting::Prefix(sign, span) => {
                self.cx.ast.push(ExprKind::Prefix { sign, operand: right }, span.to(end))
            }
            Waiting::Infix(sign, sign_span) => {
                let Some(left) = operands.pop() else {
                    return;
                };
                let span = self.cx.ast.expr(left).span.to(end);
                self.cx.ast.push(ExprKind::Infix { sign, sign_span, left, right }, span)
            }
        };
        operands.push(id);
    }

    /// `postfix` of the grammar: an atom and what follows it.
    fn operand(&mut self) -> Read<ExprId> {
        let mut id = self.atom()?;
        loop {
            let from = self.cx.ast.expr(id).span;
            let Some(token) = self.peek() else {
                return Ok(id);
            };
            let kind = match token.kind {
                TokenKind::Open(Bracket::Square | Bracket::Round) | TokenKind::Dot
                    if !crate::WHOLE =>
                {
                    return self.beyond();
                }
                TokenKind::Open(Bracket::Square) => {
                    let (items, _) = self.bracketed(Bracket::Square, false, Self::index)?;
                    if items.is_empty() {
                        return fail!(
                            self,
                            Diagnostic::error(
                                Code::Syntax,
                                token.span,
                                "an index is missing between `[` and `]`",
                            )
                        );
                    }
                    ExprKind::Index { receiver: id, items }
                }
                TokenKind::Dot => {
                    self.at += 1;
                    let name = self.member(token.span)?;
                    if self.opens_arguments() {
                        ExprKind::Method { receiver: id, call: self.call(name)? }
                    } else if name.text == "T" {
                        ExprKind::Transpose(id)
                    } else {
                        if !crate::WHOLE {
                            return self.beyond();
                        }
                        let message = format!(
                            "`.{0}` is not a call; write `.{0}()`, or `.T` for the transpose",
                            name.text
                        );
                        let place = name.span.end;
                        return fail!(
                            self,
                            Diagnostic::error(Code::Syntax, name.span, message)
                                .fix("Add `()`", TextEdit::insert(place, "()")),
                        );
                    }
                }
                TokenKind::Open(Bracket::Round) => {
                    return fail!(
                        self,
                        Diagnostic::error(
                            Code::Syntax,
                            token.span,
                            "only a name can be called; write `name(…)`, or `*` to multiply",
                        )
                    );
                }
                _ => return Ok(id),
            };
            id = self.cx.ast.push(kind, from.to(self.last_span()));
        }
    }

    /// The name after a dot.
    fn member(&mut self, dot: Span) -> Read<Ident> {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Name => {
                self.at += 1;
                Ok(self.ident(token))
            }
            Some(token) if token.kind == TokenKind::Number => fail!(
                self,
                Diagnostic::error(
                    Code::Syntax,
                    dot.to(token.span),
                    "an expression cannot read a derived name; give that node a line of its own",
                )
            ),
            _ => {
                fail!(self, Diagnostic::error(Code::Syntax, dot, "a name is missing after the dot"))
            }
        }
    }

    /// `atom` of the grammar.
    fn atom(&mut self) -> Read<ExprId> {
        let Some(token) = self.peek() else {
            return self.missing_value();
        };
        let word = token.span.of(self.cx.text);
        let kind = match token.kind {
            TokenKind::Number => {
                let number = self.unsigned()?;
                ExprKind::Number(number)
            }
            TokenKind::Text | TokenKind::Question if !crate::WHOLE => return self.beyond(),
            TokenKind::Text => {
                self.at += 1;
                ExprKind::Text(word.trim_matches('"').to_owned())
            }
            TokenKind::Question => {
                self.at += 1;
                ExprKind::Open
            }
            TokenKind::Name => {
                self.at += 1;
                match word {
                    "inf" => ExprKind::Inf,
                    "nan" => ExprKind::Nan,
                    "true" | "True" => ExprKind::Bool(true),
                    "false" | "False" => ExprKind::Bool(false),
                    "_" => {
                        return fail!(
                            self,
                            Diagnostic::error(
                                Code::Syntax,
                                token.span,
                                "`_` is a new axis and stands only in an index, as in `x[_, :]`",
                            )
                        );
                    }
                    _ if words::is_reserved(word) => return self.reserved(token),
                    _ if self.opens_arguments() => {
                        let name = self.ident(token);
                        ExprKind::Call(self.call(name)?)
                    }
                    _ => ExprKind::Name(word.to_owned()),
                }
            }
            TokenKind::Open(Bracket::Square) => {
                ExprKind::List(self.bracketed(Bracket::Square, true, Self::expr)?.0)
            }
            TokenKind::Open(Bracket::Round) => {
                let (parts, span) = self.bracketed(Bracket::Round, false, Self::expr)?;
                match parts.as_slice() {
                    &[part] => ExprKind::Paren(part),
                    _ => {
                        return fail!(
                            self,
                            Diagnostic::error(
                                Code::Syntax,
                                span,
                                "parentheses hold one value; a list stands in `[` and `]`",
                            )
                            .fix_all(
                                "Make it a list",
                                vec![
                                    TextEdit::replace(Span::new(span.start, span.start + 1), "["),
                                    TextEdit::replace(Span::new(span.end - 1, span.end), "]"),
                                ],
                            ),
                        );
                    }
                }
            }
            TokenKind::Bad(_) => return self.bad(token),
            _ => return self.missing_value(),
        };
        Ok(self.cx.ast.push(kind, token.span.to(self.last_span())))
    }

    /// A number without a sign, which must end where its token ends.
    pub(super) fn unsigned(&mut self) -> Read<Number> {
        let Some(token) = self.peek().filter(|token| token.kind == TokenKind::Number) else {
            return self.unexpected("a number");
        };
        self.at += 1;
        let text = token.span.of(self.cx.text);
        let tail = self.peek().filter(|next| next.span.start == token.span.end);
        if let Some(tail) = tail.filter(|next| next.kind == TokenKind::Name) {
            if !crate::WHOLE {
                return self.beyond();
            }
            let letters = tail.span.of(self.cx.text);
            let both = token.span.to(tail.span);
            let is_product = !letters.starts_with(['_', 'e', 'E', 'x', 'X']) || letters == "x";
            let diagnostic = if is_product && !words::is_reserved(letters) {
                Diagnostic::error(
                    Code::Syntax,
                    both,
                    format!("a sign is missing; write `{text} * {letters}`"),
                )
                .fix("Multiply", TextEdit::insert(token.span.end, " * "))
            } else {
                Diagnostic::error(
                    Code::BadLiteral,
                    both,
                    format!("`{text}{letters}` is not a number; write it as `0.5` or `1e-3`"),
                )
            };
            return fail!(self, diagnostic);
        }
        let Some(value) = read(text) else {
            return self.beyond();
        };
        if value.is_finite() {
            return Ok(Number { text: text.to_owned(), value, span: token.span });
        }
        fail!(
            self,
            Diagnostic::error(
                Code::BadLiteral,
                token.span,
                "this number is larger than any float; write `inf`",
            )
            .fix("Write `inf`", TextEdit::replace(token.span, "inf")),
        )
    }

    fn opens_arguments(&self) -> bool {
        let kind = |ahead| self.ahead(ahead).map(|token| token.kind);
        let open = Some(TokenKind::Open(Bracket::Round));
        kind(0) == open || kind(0) == Some(TokenKind::Bang) && kind(1) == open
    }

    /// The rest of a call whose name has been read.
    fn call(&mut self, name: Ident) -> Read<Call> {
        let in_place = self.eat(TokenKind::Bang);
        if !crate::WHOLE && in_place {
            return self.beyond();
        }
        let (arguments, span) = self.bracketed(Bracket::Round, true, Self::argument)?;
        let named = arguments.iter().position(|argument| argument.name.is_some());
        let late = arguments.iter().skip(named.unwrap_or(arguments.len()));
        if let Some(late) = late.into_iter().find(|argument| argument.name.is_none()) {
            let span = self.cx.ast.expr(late.value).span;
            return fail!(
                self,
                Diagnostic::error(
                    Code::Syntax,
                    span,
                    "named arguments come last; move this one before them, or name it",
                )
            );
        }
        Ok(Call { name, in_place, arguments, span })
    }

    fn argument(&mut self) -> Read<Argument> {
        let named = self.ahead(1).is_some_and(|token| token.kind == TokenKind::Assign);
        let name = self.peek().filter(|token| named && token.kind == TokenKind::Name);
        let name = name.map(|token| {
            self.at += 2;
            self.ident(token)
        });
        Ok(Argument { name, value: self.expr()? })
    }

    fn index(&mut self) -> Read<Index> {
        let Some(token) = self.peek() else {
            return self.missing_value();
        };
        let word = token.span.of(self.cx.text);
        let kind = match token.kind {
            TokenKind::Ellipsis => {
                self.at += 1;
                IndexKind::Rest
            }
            TokenKind::Name if word == "_" || word == "None" => {
                self.at += 1;
                IndexKind::NewAxis
            }
            _ => {
                let start = self.int()?;
                match start {
                    Some(at) if !self.eat(TokenKind::Colon) => IndexKind::At(at),
                    None if !self.eat(TokenKind::Colon) => return self.not_an_index(token),
                    _ => {
                        let stop = self.int()?;
                        let step = if self.eat(TokenKind::Colon) { self.int()? } else { None };
                        IndexKind::Slice { start, stop, step }
                    }
                }
            }
        };
        let ends = matches!(
            self.peek().map(|token| token.kind),
            None | Some(TokenKind::Comma | TokenKind::Close(_))
        );
        if ends {
            return Ok(Index { kind, span: token.span.to(self.last_span()) });
        }
        self.not_an_index(token)
    }

    fn not_an_index<T>(&mut self, token: Token) -> Read<T> {
        if !crate::WHOLE {
            return self.beyond();
        }
        if let TokenKind::Bad(_) = token.kind {
            return self.bad(token);
        }
        fail!(
            self,
            Diagnostic::error(
                Code::Syntax,
                token.span,
                "an index is a whole number, a slice such as `0:2`, `_` or `...`; \
             a tensor of indexes needs a call",
            )
        )
    }

    /// An optional whole number with an optional minus.
    fn int(&mut self) -> Read<Option<i64>> {
        let minus = self.infix().filter(|(sign, _)| *sign == Infix::Minus);
        let ahead = usize::from(minus.is_some());
        let Some(token) = self.ahead(ahead).filter(|token| token.kind == TokenKind::Number) else {
            return Ok(None);
        };
        let digits = token.span.of(self.cx.text);
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return self.not_an_index(token);
        }
        self.at += ahead + 1;
        let span = minus.map_or(token.span, |(_, sign)| sign.to(token.span));
        match digits.parse::<i64>() {
            Ok(value) => Ok(Some(if minus.is_some() { -value } else { value })),
            Err(_) => {
                fail!(self, Diagnostic::error(Code::BadLiteral, span, "this index is too large"))
            }
        }
    }

    /// `open { part "," } close`; the caller saw the opening bracket.
    pub(super) fn bracketed<T>(
        &mut self,
        bracket: Bracket,
        may_end_in_comma: bool,
        part: impl Fn(&mut Self) -> Read<T>,
    ) -> Read<(Vec<T>, Span)> {
        let from = self.peek().map_or_else(|| self.last_span(), |token| token.span);
        self.at += 1;
        self.open.push((from, bracket));
        if self.open.len() > MAX_DEPTH {
            return fail!(
                self,
                Diagnostic::error(
                    Code::Syntax,
                    from,
                    format!(
                        "brackets may be {MAX_DEPTH} deep; give the inner part a line of its own"
                    ),
                )
            );
        }
        let close = TokenKind::Close(bracket);
        let mut parts = Vec::new();
        while self.peek().is_some_and(|token| token.kind != close) {
            parts.push(part(self)?);
            let comma = self.peek();
            if !self.eat(TokenKind::Comma) {
                break;
            }
            let ends = self.peek().is_some_and(|token| token.kind == close);
            if let Some(comma) = comma.filter(|_| ends && !may_end_in_comma) {
                return fail!(
                    self,
                    Diagnostic::error(Code::Syntax, comma.span, "a value is missing after `,`")
                        .fix("Remove `,`", TextEdit::replace(comma.span, "")),
                );
            }
        }
        match self.peek() {
            None => return self.unclosed(),
            Some(token) if token.kind == close => self.at += 1,
            Some(token) => return self.not_closed_here(token, bracket),
        }
        self.open.pop();
        Ok((parts, from.to(self.last_span())))
    }
}

/// The number that digits stand for; infinity where it is too large. The part of the engine reads short ones only.
#[cfg_attr(
    feature = "full",
    expect(
        clippy::unnecessary_wraps,
        reason = "the other part of the engine has none for a long one"
    )
)]
fn read(text: &str) -> Option<f64> {
    #[cfg(feature = "full")]
    return Some(text.parse().unwrap_or(f64::INFINITY));
    #[cfg(not(feature = "full"))]
    crate::decimal::short(text)
}
