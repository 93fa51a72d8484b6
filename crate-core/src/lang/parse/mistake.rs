//! What is said where a line cannot be read, and the edit that mends it.

use super::{Read, Reader, Unread};
use crate::lang::lex::{Bad, Bracket, LOOKALIKES, MAX_WORD, Token, TokenKind};
use crate::lang::{Code, Diagnostic, Span, TextEdit};

impl Reader<'_, '_> {
    /// Only the whole engine reads this line, or says what is wrong with it.
    pub(super) fn beyond<T>(&mut self) -> Read<T> {
        self.cx.beyond();
        Err(Unread)
    }

    pub(super) fn not_closed_here<T>(&mut self, token: Token, bracket: Bracket) -> Read<T> {
        if !crate::WHOLE {
            return self.beyond();
        }
        let found = token.span.of(self.cx.text);
        let close = bracket.close();
        match token.kind {
            TokenKind::Bad(_) => self.bad(token),
            TokenKind::Close(_) => fail!(
                self,
                Diagnostic::error(
                    Code::Syntax,
                    token.span,
                    format!("`{}` is closed by `{close}`, not by `{found}`", bracket.open()),
                )
                .fix(format!("Write `{close}`"), TextEdit::replace(token.span, close)),
            ),
            TokenKind::Assign => fail!(
                self,
                Diagnostic::error(
                    Code::Syntax,
                    token.span,
                    "`=` names an argument of a call; a comparison is `==`",
                )
            ),
            TokenKind::Name | TokenKind::Number | TokenKind::Open(_) | TokenKind::Question => {
                let place = self.last_span().end;
                fail!(
                    self,
                    Diagnostic::error(
                        Code::Syntax,
                        token.span,
                        format!("expected `,` or `{close}` before `{found}`"),
                    )
                    .fix("Add `,`", TextEdit::insert(place, ","))
                    .fix(format!("Add `{close}`"), TextEdit::insert(place, close)),
                )
            }
            _ => self.unexpected(&format!("`,` or `{close}`")),
        }
    }

    /// A bracket is still open where the statement ends.
    pub(super) fn unclosed<T>(&mut self) -> Read<T> {
        if !crate::WHOLE {
            return self.beyond();
        }
        let Some(&(span, bracket)) = self.open.last() else {
            return Err(Unread);
        };
        let missing: String = self.open.iter().rev().map(|(_, bracket)| bracket.close()).collect();
        let place = self.last_span().end;
        fail!(
            self,
            Diagnostic::error(
                Code::Syntax,
                span,
                format!("this `{}` is never closed; add `{}`", bracket.open(), bracket.close()),
            )
            .fix(format!("Add `{missing}`"), TextEdit::insert(place, missing)),
        )
    }

    /// A place where a value should stand.
    pub(super) fn missing_value<T>(&mut self) -> Read<T> {
        if !crate::WHOLE {
            return self.beyond();
        }
        let before = self.before(1);
        if let Some(found) = self.peek() {
            if let TokenKind::Bad(_) = found.kind {
                return self.bad(found);
            }
            let here = found.span.of(self.cx.text);
            return fail!(
                self,
                Diagnostic::error(
                    Code::Syntax,
                    found.span,
                    format!("a value is missing before `{here}`"),
                )
                .fix("Add `?`", TextEdit::insert(found.span.start, "?")),
            );
        }
        let before = before.map_or(Span::at(0), |token| token.span);
        if let (Some(_), "(" | "[" | ",") = (self.open.last(), before.of(self.cx.text)) {
            return self.unclosed();
        }
        let after = before.of(self.cx.text);
        let message = format!("a value is missing after `{after}`; write `?` for one to come");
        fail!(
            self,
            Diagnostic::error(Code::Syntax, before, message)
                .fix("Add `?`", TextEdit::insert(before.end, " ?")),
        )
    }

    /// A reserved word where a name or a value should stand.
    pub(super) fn reserved<T>(&mut self, token: Token) -> Read<T> {
        if !crate::WHOLE {
            return self.beyond();
        }
        let word = token.span.of(self.cx.text);
        let message = format!("`{word}` is a word of the language; choose another name");
        fail!(self, Diagnostic::error(Code::Syntax, token.span, message))
    }

    /// A token that means nothing.
    pub(super) fn bad<T>(&mut self, token: Token) -> Read<T> {
        if !crate::WHOLE {
            return self.beyond();
        }
        let text = self.cx.text;
        let found = token.span.of(text);
        let error = |message: String| Diagnostic::error(Code::Syntax, token.span, message);
        let diagnostic = match token.kind {
            TokenKind::Bad(Bad::Name) => error(format!(
                "`{found}` has a letter that names cannot have; use A to Z, digits and `_`"
            )),
            TokenKind::Bad(Bad::Long) => {
                error(format!("a name or a text has at most {MAX_WORD} letters"))
            }
            TokenKind::Bad(Bad::OpenText) => error("this text has no closing quote".to_owned()),
            TokenKind::Bad(Bad::Quotes) => {
                let inside: String = {
                    let mut letters = found.chars();
                    letters.next();
                    letters.next_back();
                    letters.collect()
                };
                error("a text stands in double quotes".to_owned()).fix(
                    "Use double quotes",
                    TextEdit::replace(token.span, format!("\"{inside}\"")),
                )
            }
            _ => {
                let meant = LOOKALIKES.iter().find(|(c, _)| found.starts_with(*c));
                match (meant, found) {
                    (Some(&(_, meant)), _) => {
                        error(format!("`{found}` is not a sign of the language; write `{meant}`"))
                            .fix(format!("Write `{meant}`"), TextEdit::replace(token.span, meant))
                    }
                    (None, c) if c.chars().any(char::is_control) => {
                        error("a control character cannot stand here; delete it".to_owned())
                            .fix("Delete it", TextEdit::replace(token.span, ""))
                    }
                    (None, _) => error(format!("`{found}` means nothing here")),
                }
            }
        };
        fail!(self, diagnostic)
    }
}
