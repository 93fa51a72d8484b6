//! Statements, and the lines they stand on.

use super::{Comment, ExprId, Ident, Number};
use crate::lang::Span;

/// A node's name in a directive: `y`, `y.1` or `r.s`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ref {
    /// The parts between the dots; at least one.
    pub parts: Vec<Ident>,
    /// Where.
    pub span: Span,
}

impl Ref {
    /// The whole name.
    pub fn name(&self) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(".")
    }
}

/// A shape as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShapeText {
    /// Whether `ne` stands before it: ggml's order, innermost first.
    pub ne: bool,
    /// The extents, in the order of the text.
    pub axes: Vec<Axis>,
    /// Where, with its brackets.
    pub span: Span,
}

/// One axis of a shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    /// How many elements.
    pub extent: u64,
    /// The axis name.
    pub name: Option<Ident>,
    /// Where.
    pub span: Span,
}

/// Whether a leaf trains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeafRole {
    /// `param`.
    Param,
    /// `const`.
    Const,
}

/// `param NAME SHAPE? TYPE? = VALUE`.
#[derive(Clone, PartialEq, Debug)]
pub struct Leaf {
    /// Whether it trains.
    pub role: LeafRole,
    /// Its name.
    pub name: Ident,
    /// Its shape, where it is written.
    pub shape: Option<ShapeText>,
    /// Its type, where it is written.
    pub dtype: Option<Ident>,
    /// Its value.
    pub value: ExprId,
}

/// `fn NAME(a, b=1) { … return EXPR }`.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name.
    pub name: Ident,
    /// Its arguments.
    pub formals: Vec<Formal>,
    /// The comment after `{`.
    pub open_comment: Option<Comment>,
    /// Its lines; the last statement is the `return`.
    pub body: Vec<Line>,
}

/// An argument of a `fn`.
#[derive(Clone, PartialEq, Debug)]
pub struct Formal {
    /// Its name.
    pub name: Ident,
    /// What it is where the call leaves it out.
    pub default: Option<ExprId>,
}

/// `NAME=number` in a directive.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// The name before `=`.
    pub name: Ident,
    /// The number after it.
    pub value: Number,
}

/// Which check a line asks for.
#[derive(Clone, PartialEq, Debug)]
pub enum Check {
    /// `check fd`.
    Fd(Vec<Setting>),
    /// `check adjoint`.
    Adjoint(Vec<Setting>),
    /// `check formula LEAF = EXPR`.
    Formula {
        /// The leaf whose gradient is compared.
        of: Ref,
        /// What it should be.
        value: ExprId,
    },
}

/// A line that cannot be read.
#[derive(Clone, PartialEq, Debug)]
pub struct Hole {
    /// The text, as written.
    pub text: String,
    /// The name that the line seems to define: what reads it has no value, and is not a mistake.
    pub defines: Option<Ident>,
    /// Whether a bracket or a brace in it is never closed, so that its end was guessed.
    pub unclosed: bool,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where, from its first to its last token.
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, PartialEq, Debug)]
pub enum StatementKind {
    /// `rules NAME`.
    Rules(Ident),
    /// `param` or `const`.
    Leaf(Leaf),
    /// `accumulator NODE SHAPE? = VALUE`.
    Accumulator {
        /// The leaf or node whose gradient starts there.
        of: Ref,
        /// Its shape, where it is written.
        shape: Option<ShapeText>,
        /// Its value.
        value: ExprId,
    },
    /// `NAME = EXPR`.
    Assign {
        /// The name.
        name: Ident,
        /// What it is.
        value: ExprId,
    },
    /// `fn NAME(…) { … }`.
    Function(Function),
    /// `return EXPR`, the last statement of a `fn`.
    Return(ExprId),
    /// `backward NODE with VALUE`.
    Backward {
        /// The node where the walk begins.
        of: Ref,
        /// Its cotangent.
        with: Option<ExprId>,
    },
    /// `check …`.
    Check(Check),
    /// `train NAME …`.
    Train {
        /// The method.
        method: Ident,
        /// Its settings.
        settings: Vec<Setting>,
    },
    /// `layout NODE X Y`.
    Layout {
        /// The node that is pinned.
        of: Ref,
        /// To the right.
        x: Number,
        /// Downwards.
        y: Number,
    },
    /// A line that cannot be read.
    Hole(Hole),
}

impl StatementKind {
    /// The name that the statement gives to the document.
    pub const fn defines(&self) -> Option<&Ident> {
        match self {
            Self::Leaf(leaf) => Some(&leaf.name),
            Self::Assign { name, .. } => Some(name),
            Self::Function(function) => Some(&function.name),
            Self::Hole(hole) => hole.defines.as_ref(),
            Self::Rules(_)
            | Self::Accumulator { .. }
            | Self::Return(_)
            | Self::Backward { .. }
            | Self::Check(_)
            | Self::Train { .. }
            | Self::Layout { .. } => None,
        }
    }
}

/// One line of the document: a statement or a comment of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// Whether an empty line stands before it.
    pub blank_before: bool,
    /// What stands on it.
    pub kind: LineKind,
    /// Comments inside the brackets of a statement that takes several lines.
    pub inner: Vec<Comment>,
    /// The comment after the statement.
    pub trailing: Option<Comment>,
}

/// What stands on a line.
#[derive(Clone, PartialEq, Debug)]
pub enum LineKind {
    /// A comment alone.
    Comment(Comment),
    /// A statement.
    Statement(Statement),
}

impl Line {
    /// The statement, where there is one.
    pub const fn statement(&self) -> Option<&Statement> {
        match &self.kind {
            LineKind::Statement(statement) => Some(statement),
            LineKind::Comment(_) => None,
        }
    }
}
