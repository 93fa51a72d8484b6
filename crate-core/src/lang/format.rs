//! The canonical text of a syntax tree: one statement a line, one spelling, comments kept.
//!
//! It names no op: what an op, an argument or a prefix is called comes from a [`Spelling`].
//! A hole stands as it was written.

mod expr;

use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};

use super::ast::{
    Ast, Axis, Check, Comment, Formal, Function, Leaf, LeafRole, Line, LineKind, Ref, Setting,
    ShapeText, Statement, StatementKind,
};
use super::parse::parse;
use super::spell::TableNames;

const INDENT: usize = 2;

/// What things are called. Each answer must be its own answer: `op(None, op(_, x)) = op(_, x)`.
pub trait Spelling {
    /// The canonical name of an op; `prefix` is the module name before it that falls away.
    fn op<'a>(&'a self, prefix: Option<&str>, name: &'a str) -> &'a str;
    /// The canonical name of an argument of the op with this canonical name.
    fn argument<'a>(&'a self, op: &str, name: &'a str) -> &'a str;
    /// Whether a call on this module name is the plain call.
    fn drops(&self, prefix: &str) -> bool;
}

/// Every name as it was written.
#[derive(Clone, Copy, Default, Debug)]
pub struct AsWritten;

impl Spelling for AsWritten {
    fn op<'a>(&'a self, _prefix: Option<&str>, name: &'a str) -> &'a str {
        name
    }

    fn argument<'a>(&'a self, _op: &str, name: &'a str) -> &'a str {
        name
    }

    fn drops(&self, _prefix: &str) -> bool {
        false
    }
}

/// The canonical form of a text.
pub fn format(text: &str) -> String {
    format_with(&parse(text).ast, &TableNames)
}

/// The canonical text of a tree.
///
/// Where a bracket is never closed, the end of its line was guessed, and another layout could change
/// the guess. The text then stays as it is unless its canonical form is read the same way.
pub fn format_with(ast: &Ast, spelling: &dyn Spelling) -> String {
    let out = print(ast, spelling);
    let Some(source) = ast.guessed() else {
        return out;
    };
    let again = parse(&out).ast;
    let is_read_the_same = outline(ast) == outline(&again) && print(&again, spelling) == out;
    if is_read_the_same { out } else { source.to_owned() }
}

/// What kind of statement stands where, and what the holes hold.
fn outline(ast: &Ast) -> Vec<(Discriminant<StatementKind>, Option<&str>)> {
    let is_pin = |kind: &StatementKind| matches!(kind, StatementKind::Layout { .. });
    let mut kinds: Vec<_> = ast.statements().map(|statement| &statement.kind).collect();
    kinds.sort_by_key(|kind| is_pin(kind));
    kinds
        .into_iter()
        .map(|kind| match kind {
            StatementKind::Hole(hole) => (discriminant(kind), Some(hole.text.as_str())),
            _ => (discriminant(kind), kind.defines().map(|name| name.text.as_str())),
        })
        .collect()
}

fn print(ast: &Ast, spelling: &dyn Spelling) -> String {
    let mut printer = Printer {
        ast,
        spelling,
        own: own_names(ast),
        widths: Vec::with_capacity(ast.exprs().len()),
        out: String::new(),
        line_start: 0,
        comments: &[],
        after_comment: false,
    };
    for (_, expr) in ast.exprs() {
        let width = printer.flat_width(expr);
        printer.widths.push(width);
    }
    let (lines, pins) = pins_last(ast);
    printer.lines(&lines, 0);
    for (ix, line) in pins.iter().enumerate() {
        if ix == 0 && !printer.out.is_empty() {
            printer.out.push('\n');
        }
        printer.line(line, 0);
    }
    printer.out
}

/// The lines without and with a pinned position; a comment right above one goes with it.
fn pins_last(ast: &Ast) -> (Vec<&Line>, Vec<&Line>) {
    let is_title = |line: &Line| match (&line.kind, &ast.title) {
        (LineKind::Comment(comment), Some(title)) => comment.span == title.span,
        _ => false,
    };
    let (mut others, mut pins, mut run) = (Vec::new(), Vec::new(), Vec::new());
    for line in &ast.lines {
        if line.blank_before {
            others.append(&mut run);
        }
        match &line.kind {
            LineKind::Comment(_) if !is_title(line) => run.push(line),
            LineKind::Statement(Statement { kind: StatementKind::Layout { .. }, .. }) => {
                pins.append(&mut run);
                pins.push(line);
            }
            _ => {
                others.append(&mut run);
                others.push(line);
            }
        }
    }
    others.append(&mut run);
    (others, pins)
}

/// All names that the document gives, inside its functions too.
fn own_names(ast: &Ast) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for statement in ast.statements() {
        names.extend(statement.kind.defines().map(|name| name.text.as_str()));
        if let StatementKind::Function(function) = &statement.kind {
            names.extend(function.formals.iter().map(|formal| formal.name.text.as_str()));
            let body = function.body.iter().filter_map(Line::statement);
            names.extend(body.filter_map(|s| s.kind.defines()).map(|name| name.text.as_str()));
        }
    }
    names
}

struct Printer<'a> {
    ast: &'a Ast,
    spelling: &'a dyn Spelling,
    own: BTreeSet<&'a str>,
    /// The width of each expression on one line.
    widths: Vec<usize>,
    out: String,
    line_start: usize,
    /// The comments inside the statement that are not written yet.
    comments: &'a [Comment],
    after_comment: bool,
}

impl<'a> Printer<'a> {
    fn lines(&mut self, lines: &[&'a Line], indent: usize) {
        for (ix, line) in lines.iter().enumerate() {
            if ix > 0 && line.blank_before {
                self.out.push('\n');
            }
            self.line(line, indent);
        }
    }

    fn line(&mut self, line: &'a Line, indent: usize) {
        self.line_start = self.out.len();
        self.pad(indent);
        self.comments = &line.inner;
        match &line.kind {
            LineKind::Comment(comment) => self.out.push_str(&comment.text),
            LineKind::Statement(statement) => self.statement(&statement.kind, indent),
        }
        self.trailing(line.trailing.as_ref());
        self.out.push('\n');
    }

    fn trailing(&mut self, comment: Option<&Comment>) {
        if let Some(comment) = comment {
            self.out.push_str("  ");
            self.out.push_str(&comment.text);
        }
    }

    fn pad(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn new_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.line_start = self.out.len();
        self.after_comment = false;
        self.pad(indent);
    }

    fn words(&mut self, words: &[&str]) {
        for word in words {
            self.out.push_str(word);
        }
    }

    fn statement(&mut self, kind: &'a StatementKind, indent: usize) {
        match kind {
            StatementKind::Rules(name) => self.words(&["rules ", &name.text]),
            StatementKind::Leaf(leaf) => self.leaf(leaf, indent),
            StatementKind::Accumulator { of, shape, value } => {
                self.words(&["accumulator ", &of.name()]);
                self.shape(shape.as_ref());
                self.out.push_str(" = ");
                self.expr(*value, indent);
            }
            StatementKind::Assign { name, value } => {
                self.words(&[&name.text, " = "]);
                self.expr(*value, indent);
            }
            StatementKind::Function(function) => self.function(function, indent),
            StatementKind::Return(value) => {
                self.out.push_str("return ");
                self.expr(*value, indent);
            }
            StatementKind::Backward { of, with } => {
                self.words(&["backward ", &of.name()]);
                if let Some(with) = with {
                    self.out.push_str(" with ");
                    self.expr(*with, indent);
                }
            }
            StatementKind::Check(Check::Fd(settings)) => {
                self.out.push_str("check fd");
                self.settings(settings);
            }
            StatementKind::Check(Check::Adjoint(settings)) => {
                self.out.push_str("check adjoint");
                self.settings(settings);
            }
            StatementKind::Check(Check::Formula { of, value }) => {
                self.words(&["check formula ", &of.name(), " = "]);
                self.expr(*value, indent);
            }
            StatementKind::Train { method, settings } => {
                self.words(&["train ", &method.text]);
                self.settings(settings);
            }
            StatementKind::Layout { of, x, y } => {
                self.words(&["layout ", &Ref::name(of), " ", &x.text, " ", &y.text]);
            }
            StatementKind::Hole(hole) => self.out.push_str(&hole.text),
        }
    }

    fn leaf(&mut self, leaf: &'a Leaf, indent: usize) {
        let role = match leaf.role {
            LeafRole::Param => "param ",
            LeafRole::Const => "const ",
        };
        self.words(&[role, &leaf.name.text]);
        self.shape(leaf.shape.as_ref());
        if let Some(dtype) = &leaf.dtype {
            self.words(&[" ", &dtype.text]);
        }
        self.out.push_str(" = ");
        self.expr(leaf.value, indent);
    }

    fn shape(&mut self, shape: Option<&ShapeText>) {
        let Some(shape) = shape else {
            return;
        };
        self.out.push_str(if shape.ne { " ne[" } else { " [" });
        for (ix, Axis { extent, name, .. }) in shape.axes.iter().enumerate() {
            self.out.push_str(if ix == 0 { "" } else { ", " });
            self.out.push_str(&extent.to_string());
            if let Some(name) = name {
                self.words(&[" ", &name.text]);
            }
        }
        self.out.push(']');
    }

    fn settings(&mut self, settings: &[Setting]) {
        for Setting { name, value } in settings {
            self.words(&[" ", &name.text, "=", &value.text]);
        }
    }

    fn function(&mut self, function: &'a Function, indent: usize) {
        self.words(&["fn ", &function.name.text, "("]);
        for (ix, Formal { name, default }) in function.formals.iter().enumerate() {
            self.words(&[if ix == 0 { "" } else { ", " }, &name.text]);
            if let Some(default) = default {
                self.out.push('=');
                self.expr(*default, indent);
            }
        }
        self.out.push_str(") {");
        self.trailing(function.open_comment.as_ref());
        self.out.push('\n');
        let body: Vec<&Line> = function.body.iter().collect();
        self.lines(&body, indent + INDENT);
        self.pad(indent);
        self.out.push('}');
    }
}
