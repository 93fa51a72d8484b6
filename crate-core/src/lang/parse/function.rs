//! A `fn`: its header, its lines, its `}`.

use super::segments::{Segment, Stop};
use super::{Cx, Lines, Read, Unread};
use crate::lang::ast::{Comment, Function, LeafRole, Line, StatementKind};
use crate::lang::{Code, Diagnostic, TextEdit};

impl Cx<'_> {
    /// A `fn`, the comments inside its header, and where it ends.
    ///
    /// One mistake in it makes all of it a hole: without all its lines it has no value.
    pub(super) fn function(
        &mut self,
        head: Segment,
        body: &[Segment],
        closed: bool,
    ) -> (StatementKind, Vec<Comment>, Segment) {
        let n_exprs = self.ast.n_exprs();
        let header = self.line(head).header();
        let last = body.last().unwrap_or(&head);
        let stop = if body.is_empty() { head.stop } else { last.stop };
        let whole = Segment { first: head.first, end: last.end, stop };
        let inside = self.take_comments(self.token(head.end.saturating_sub(1)).start);
        let read = header.and_then(|(name, formals)| {
            let (open_comment, body) = self.body(head, body, closed)?;
            Ok(Function { name, formals, open_comment, body })
        });
        if let Ok(function) = read {
            return (StatementKind::Function(function), inside, whole);
        }
        self.ast.truncate(n_exprs);
        let hole = self.hole(whole, !closed || head.stop != Stop::OpenBrace);
        (StatementKind::Hole(hole), Vec::new(), whole)
    }

    /// How many segments the body of a `fn` has with its `}`, and whether that is there. Without one
    /// the `fn` ends after its `return`, or before a statement that no body has.
    pub(super) fn extent(&self, head: Segment, rest: &[Segment]) -> (usize, bool) {
        if head.stop != Stop::OpenBrace {
            return (0, true);
        }
        let mut after_return = None;
        for (ix, segment) in rest.iter().enumerate() {
            if segment.stop == Stop::CloseBrace {
                return (ix + 1, true);
            }
            match self.word(segment.first) {
                "return" if after_return.is_none() => after_return = Some(ix + 1),
                "rules" | "accumulator" | "fn" | "backward" | "check" | "train" | "layout" => {
                    return (after_return.unwrap_or(ix), false);
                }
                _ => {}
            }
        }
        (after_return.unwrap_or(rest.len()), false)
    }

    /// The lines between the braces.
    fn body(
        &mut self,
        head: Segment,
        body: &[Segment],
        closed: bool,
    ) -> Read<(Option<Comment>, Vec<Line>)> {
        let opened = self.token(head.end.saturating_sub(1));
        let open_comment = self.comment_after(opened, head.end);
        let mut lines = Lines::default();
        let mut returned = false;
        let mut readable = true;
        let statements = if closed { body.len().saturating_sub(1) } else { body.len() };
        for &segment in body.get(..statements).unwrap_or(&[]) {
            let first = self.token(segment.first);
            self.comments_before(&mut lines, first.start);
            let n_exprs = self.ast.n_exprs();
            let kind = self.line(segment).statement();
            let inside = self.take_comments(self.span(segment).end);
            let complaint = match &kind {
                Ok(_) if returned => Some("`return` is the last line of a fn; move this up"),
                Ok(StatementKind::Leaf(leaf)) if leaf.role == LeafRole::Param => {
                    Some("a fn has no param of its own; pass it as an argument")
                }
                Err(Unread)
                | Ok(
                    StatementKind::Assign { .. }
                    | StatementKind::Leaf(_)
                    | StatementKind::Return(_),
                ) => None,
                Ok(_) => Some("this cannot stand in a fn; move it out"),
            };
            if let Some(complaint) = complaint {
                self.report(Diagnostic::error(Code::Syntax, first, complaint));
            }
            readable &= complaint.is_none() && kind.is_ok();
            returned |= matches!(kind, Ok(StatementKind::Return(_)))
                || self.word(segment.first) == "return";
            if let Ok(kind) = kind {
                self.add(&mut lines, segment, kind, inside, n_exprs);
            }
        }
        let last = body.last().unwrap_or(&head);
        let end = self.token(last.end.saturating_sub(1));
        if !closed {
            self.report(
                Diagnostic::error(Code::Syntax, self.token(head.first), "this fn has no `}`")
                    .fix("Add `}`", TextEdit::insert(end.end, "\n}")),
            );
        } else if !returned {
            let name = lines.lines.iter().rev().find_map(|line| {
                line.statement().and_then(|statement| statement.kind.defines()).cloned()
            });
            let missing = Diagnostic::error(Code::Syntax, end, "a fn ends with `return`");
            self.report(match name {
                Some(name) => missing.fix(
                    format!("Return `{}`", name.text),
                    TextEdit::insert(end.start, format!("\nreturn {}\n", name.text)),
                ),
                None => missing,
            });
        }
        self.comments_before(&mut lines, end.start);
        if readable && closed && returned { Ok((open_comment, lines.lines)) } else { Err(Unread) }
    }
}
