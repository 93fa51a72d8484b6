//! Comments keep their place: above a line, behind it, or inside its brackets.
//! Only the whole engine writes a text anew, so the part that the page starts with leaves them out.

use super::{Cx, Lines};
use crate::lang::Span;
use crate::lang::ast::{Comment, Line, LineKind};
use crate::lang::lex::TokenKind;

impl Cx<'_> {
    /// Places the comments before a byte.
    pub(super) fn comments_before(&mut self, lines: &mut Lines, place: u32) {
        if !crate::WHOLE {
            return;
        }
        for comment in self.take_comments(place) {
            let line = self.lexed.line_of(comment.span.start);
            let blank_before = lines.is_apart(line);
            lines.comment(comment, blank_before);
            lines.last = Some(line);
        }
    }

    /// The comments before a byte that have no place yet.
    pub(super) fn take_comments(&mut self, place: u32) -> Vec<Comment> {
        if !crate::WHOLE {
            return Vec::new();
        }
        let rest = self.lexed.comments.get(self.n_comments..).unwrap_or(&[]);
        let n_taken = rest.partition_point(|comment| comment.span.start < place);
        self.n_comments += n_taken;
        rest.get(..n_taken).unwrap_or(&[]).to_vec()
    }

    /// The comment behind a statement on its line, where no token stands between.
    pub(super) fn comment_after(&mut self, span: Span, next: usize) -> Option<Comment> {
        if !crate::WHOLE {
            return None;
        }
        let comment = self.lexed.comments.get(self.n_comments)?;
        let tokens = self.lexed.tokens.get(next..).unwrap_or(&[]);
        let token = tokens.iter().find(|token| token.kind != TokenKind::Semicolon);
        let is_next = token.is_none_or(|token| token.span.start > comment.span.start);
        if is_next && self.same_line(span.end, comment.span.start) {
            self.n_comments += 1;
            return Some(comment.clone());
        }
        None
    }

    /// Comments inside a statement: those in a list or a call, which the formatter can break, and
    /// those elsewhere, which move above the statement.
    pub(super) fn split_inside(
        &self,
        inside: Vec<Comment>,
        n_exprs: usize,
    ) -> (Vec<Comment>, Vec<Comment>) {
        if !crate::WHOLE || inside.is_empty() {
            return (inside, Vec::new());
        }
        let exprs = self.ast.exprs().skip(n_exprs);
        let mut groups: Vec<Span> = exprs.filter_map(|(_, expr)| expr.group()).collect();
        groups.sort_unstable();
        let mut groups = groups.into_iter().peekable();
        let mut reach = 0;
        inside.into_iter().partition(|comment| {
            while let Some(group) = groups.next_if(|group| group.start < comment.span.start) {
                reach = reach.max(group.end);
            }
            comment.span.start < reach
        })
    }
}

impl Lines {
    /// Whether an empty line stands before this line of the text.
    pub(super) fn is_apart(&self, line: usize) -> bool {
        self.last.is_some_and(|last| line > last + 1)
    }

    pub(super) fn comment(&mut self, comment: Comment, blank_before: bool) {
        let kind = LineKind::Comment(Comment { own_line: true, ..comment });
        self.lines.push(Line { blank_before, kind, inner: Vec::new(), trailing: None });
    }
}
