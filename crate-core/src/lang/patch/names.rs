//! Names: which are free, and which a document cannot give.

use std::collections::BTreeSet;

use super::sketch::Doc;
use super::{Code, Refused};
use crate::lang::ast::{ExprKind, StatementKind};
use crate::lang::parse::words;

/// Names that mean something in a document, so that a new one must be another.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken(BTreeSet<String>);

impl Taken {
    /// Every word of the document: its names, those it reads, and those of axes and arguments.
    pub(super) fn of(doc: &Doc) -> Self {
        let mut names = BTreeSet::new();
        for statement in doc.ast.statements() {
            names.extend(statement.kind.defines().map(|name| name.text.clone()));
            if let StatementKind::Function(function) = &statement.kind {
                names.extend(function.formals.iter().map(|formal| formal.name.text.clone()));
                let body = function.body.iter().filter_map(|line| line.statement());
                let body = body.filter_map(|statement| statement.kind.defines());
                names.extend(body.map(|name| name.text.clone()));
            }
        }
        for (_, expr) in doc.ast.exprs() {
            match &expr.kind {
                ExprKind::Name(name) => {
                    names.insert(name.clone());
                }
                ExprKind::Call(call) => {
                    names.insert(call.name.text.clone());
                }
                _ => {}
            }
        }
        Self(names)
    }

    /// The names of the document's own lines, and all that they read: what is inside functions is free.
    pub(super) fn outside(doc: &Doc) -> Self {
        let defined = doc.ast.statements().filter_map(|statement| statement.kind.defines());
        let mut names: BTreeSet<String> = defined.map(|name| name.text.clone()).collect();
        let functions = doc.function_spans();
        for (_, expr) in doc.ast.exprs() {
            let inside =
                functions.iter().any(|f| f.start <= expr.span.start && expr.span.end <= f.end);
            if let (ExprKind::Name(name), false) = (&expr.kind, inside) {
                names.insert(name.clone());
            }
        }
        Self(names)
    }

    /// Takes what another document names, too.
    pub(super) fn join(&mut self, other: &Doc) {
        self.0.extend(Self::of(other).0);
    }

    /// Whether a name is taken.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// A free name that is, or begins with, this one; it is taken from now on.
    pub(super) fn free(&mut self, wanted: &str) -> String {
        let is_free = |name: &str| {
            words::is_name(name) && !words::PREFIXES.contains(&name) && !self.0.contains(name)
        };
        let stem = wanted.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = if words::is_name(stem) { stem } else { "n" };
        let mut name = wanted.to_owned();
        let mut n = 2u64;
        while !is_free(&name) {
            name = format!("{stem}{n}");
            n += 1;
        }
        self.0.insert(name.clone());
        name
    }
}

/// Why a document cannot give this name, where it cannot.
pub(super) fn check(doc: &Doc, name: &str) -> Result<(), Refused> {
    if words::is_reserved(name) {
        let words = format!("`{name}` is a word of the language; choose another name");
        return Err(Refused::coded(Code::Syntax, words));
    }
    if !words::is_name(name) {
        let words = format!("`{name}` is no name: letters, digits and `_`, not a digit first");
        return Err(Refused::coded(Code::Syntax, words));
    }
    if doc.line_of_name(name).is_some() {
        let words = format!("`{name}` is defined already; a name is defined once");
        return Err(Refused::coded(Code::DuplicateName, words));
    }
    let mut exprs = doc.ast.exprs();
    if exprs.any(|(_, expr)| matches!(&expr.kind, ExprKind::Name(read) if read == name)) {
        let words = format!("`{name}` means something else here already; choose another name");
        return Err(Refused::coded(Code::DuplicateName, words));
    }
    Ok(())
}
