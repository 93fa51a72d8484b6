//! The syntax tree: one arena of expressions, and the lines of the document with their comments.
//!
//! Expressions refer to each other by index and a part always stands before the whole.
//! So a walk needs no recursion, and dropping a tree is flat however deep the text nests.

mod statement;

use super::Span;
use super::lex::Infix;

pub use statement::{
    Axis, Check, Formal, Function, Hole, Leaf, LeafRole, Line, LineKind, Ref, Setting, ShapeText,
    Statement, StatementKind,
};

/// A name as it stands in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The letters.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A comment, with its `#` and without the blanks at its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comment {
    /// The comment from `#` on.
    pub text: String,
    /// Where.
    pub span: Span,
    /// Whether nothing stands before it on its line.
    pub own_line: bool,
}

/// A number that keeps its spelling, so that formatting never changes a value.
#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    /// As written, the sign included.
    pub text: String,
    /// The nearest f64.
    pub value: f64,
    /// Where.
    pub span: Span,
}

/// The index of an expression in its [`Ast`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExprId(u32);

impl ExprId {
    /// The index; parts have smaller ones than the whole.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where, from its first to its last token.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A number without a sign.
    Number(Number),
    /// `inf`.
    Inf,
    /// `nan`.
    Nan,
    /// `true` or `false`.
    Bool(bool),
    /// The file name of `load("file")`, without its quotes.
    Text(String),
    /// A name that is read.
    Name(String),
    /// `?`, an input not yet connected.
    Open,
    /// An expression in parentheses.
    Paren(ExprId),
    /// `[a, b]`.
    List(Vec<ExprId>),
    /// `-a` or `+a`.
    Prefix {
        /// Plus or minus.
        sign: Infix,
        /// What the sign stands before.
        operand: ExprId,
    },
    /// `a + b` and its like.
    Infix {
        /// The sign between the operands.
        sign: Infix,
        /// Where the sign stands.
        sign_span: Span,
        /// The left operand.
        left: ExprId,
        /// The right operand.
        right: ExprId,
    },
    /// `f(a, k=b)`.
    Call(Call),
    /// `a.f(k=b)`.
    Method {
        /// What stands before the dot.
        receiver: ExprId,
        /// The name after the dot and its arguments.
        call: Call,
    },
    /// `a.T`.
    Transpose(ExprId),
    /// `a[0, 1:2]`.
    Index {
        /// What the bracket follows.
        receiver: ExprId,
        /// What stands in the bracket; at least one.
        items: Vec<Index>,
    },
}

impl Expr {
    /// The brackets of a list or of a call's arguments, which may take several lines.
    pub fn group(&self) -> Option<Span> {
        match &self.kind {
            ExprKind::List(_) => Some(self.span),
            ExprKind::Call(call) | ExprKind::Method { call, .. } => Some(call.span),
            _ => None,
        }
    }
}

/// A name with arguments.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The name before the parenthesis.
    pub name: Ident,
    /// Whether a `!` follows the name: the call writes into its first argument.
    pub in_place: bool,
    /// The arguments; the named ones are last.
    pub arguments: Vec<Argument>,
    /// The arguments with their parentheses.
    pub span: Span,
}

/// An argument of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Argument {
    /// The name before `=`.
    pub name: Option<Ident>,
    /// The value.
    pub value: ExprId,
}

/// One place of an index bracket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Index {
    /// What stands there.
    pub kind: IndexKind,
    /// Where.
    pub span: Span,
}

/// What one place of an index bracket holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexKind {
    /// `_` or `None`: a new axis.
    NewAxis,
    /// `...`: the axes that are not named.
    Rest,
    /// One element; the axis is dropped.
    At(i64),
    /// `start:stop:step`.
    Slice {
        /// The first index.
        start: Option<i64>,
        /// One past the last index.
        stop: Option<i64>,
        /// The distance between two.
        step: Option<i64>,
    },
}

/// What an id of another tree reads as.
static NOWHERE: Expr = Expr { kind: ExprKind::Open, span: Span::new(0, 0) };

/// A document.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Ast {
    /// Its lines, in the order of the text.
    pub lines: Vec<Line>,
    /// The first comment.
    pub title: Option<Comment>,
    exprs: Vec<Expr>,
    /// The whole text, where the end of a statement was guessed.
    source: Option<String>,
}

impl Ast {
    /// The expression behind an id of this tree.
    pub fn expr(&self, id: ExprId) -> &Expr {
        self.exprs.get(id.index()).unwrap_or(&NOWHERE)
    }

    /// The part of an expression that stands first in the tree; none where it has no parts.
    pub fn first_part(&self, id: ExprId) -> Option<ExprId> {
        let first = |call: &Call| call.arguments.first().map(|argument| argument.value);
        match &self.expr(id).kind {
            ExprKind::Number(_)
            | ExprKind::Inf
            | ExprKind::Nan
            | ExprKind::Bool(_)
            | ExprKind::Text(_)
            | ExprKind::Name(_)
            | ExprKind::Open => None,
            ExprKind::Paren(part)
            | ExprKind::Prefix { operand: part, .. }
            | ExprKind::Infix { left: part, .. }
            | ExprKind::Method { receiver: part, .. }
            | ExprKind::Transpose(part)
            | ExprKind::Index { receiver: part, .. } => Some(*part),
            ExprKind::List(parts) => parts.first().copied(),
            ExprKind::Call(call) => first(call),
        }
    }

    /// All parts of an expression and itself, parts before the whole.
    pub fn parts(&self, root: ExprId) -> impl Iterator<Item = ExprId> + use<> {
        let mut first = root;
        while let Some(part) = self.first_part(first) {
            first = part;
        }
        (first.0..=root.0).map(ExprId)
    }

    /// An expression without parentheses and plus signs around it.
    pub fn core(&self, id: ExprId) -> ExprId {
        let mut id = id;
        while let ExprKind::Paren(part) | ExprKind::Prefix { sign: Infix::Plus, operand: part } =
            &self.expr(id).kind
        {
            id = *part;
        }
        id
    }

    /// All expressions, parts before the whole.
    pub fn exprs(&self) -> impl ExactSizeIterator<Item = (ExprId, &Expr)> {
        self.exprs.iter().enumerate().map(|(ix, expr)| (ExprId(ix as u32), expr))
    }

    /// The statements of the document, in the order of the text; bodies are inside their `fn`.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.lines.iter().filter_map(Line::statement)
    }

    /// The first comment without its `#`.
    pub fn title_text(&self) -> Option<&str> {
        self.title.as_ref().map(|comment| comment.text.trim_start_matches('#').trim())
    }

    /// The statement that defines this name in the document.
    pub fn definition(&self, name: &str) -> Option<&Statement> {
        self.statements()
            .find(|statement| statement.kind.defines().is_some_and(|id| id.text == name))
    }

    pub(super) fn titled(title: Option<Comment>) -> Self {
        Self { title, ..Self::default() }
    }

    /// The whole text, where a bracket is never closed and the end of its line was guessed.
    pub fn guessed(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Adds the lines to the expressions; keeps the text where an end was guessed.
    pub(super) fn finish(&mut self, lines: Vec<Line>, text: &str) {
        self.lines = lines;
        let guessed = |statement: &Statement| match &statement.kind {
            StatementKind::Hole(hole) => hole.unclosed,
            _ => false,
        };
        let any_guessed = self.statements().any(guessed);
        self.source = any_guessed.then(|| text.to_owned());
    }

    pub(super) fn push(&mut self, kind: ExprKind, span: Span) -> ExprId {
        let id = ExprId(self.exprs.len() as u32);
        self.exprs.push(Expr { kind, span });
        id
    }

    pub(super) const fn n_exprs(&self) -> usize {
        self.exprs.len()
    }

    /// Forgets the expressions of a line that turned out to be a hole.
    pub(super) fn truncate(&mut self, n_exprs: usize) {
        self.exprs.truncate(n_exprs);
    }
}
