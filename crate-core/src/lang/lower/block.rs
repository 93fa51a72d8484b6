//! What lines there are to make: the document's and each function's, by name; every name once.

use std::collections::{BTreeMap, BTreeSet};

use super::constant::is_generator;
use super::{Complaints, another_name};
use crate::lang::ast::{
    Ast, ExprId, ExprKind, Function, Ident, Leaf, Line, Statement, StatementKind,
};
use crate::lang::parse::words;
use crate::lang::{Code, Diagnostic, Span, TextEdit, edit, spell};

/// What a line of a block makes.
#[derive(Clone, Copy)]
pub(super) enum Makes<'a> {
    Leaf(&'a Leaf),
    Value(&'a Ident, ExprId),
    /// It cannot be read: the name is known and has no value.
    Nothing(&'a Ident),
}

impl<'a> Makes<'a> {
    pub(super) const fn name(self) -> &'a Ident {
        match self {
            Self::Leaf(leaf) => &leaf.name,
            Self::Value(name, _) | Self::Nothing(name) => name,
        }
    }
}

/// A line that defines a name.
#[derive(Clone, Copy)]
pub(super) struct BlockLine<'a> {
    pub(super) makes: Makes<'a>,
    pub(super) span: Span,
}

/// Lines in the order of the text.
#[derive(Default)]
pub(super) struct Block<'a> {
    pub(super) lines: Vec<BlockLine<'a>>,
    pub(super) by_name: BTreeMap<&'a str, usize>,
}

/// A function that can be called.
pub(super) struct Callable<'a> {
    pub(super) function: &'a Function,
    pub(super) body: Block<'a>,
    pub(super) result: ExprId,
    pub(super) result_span: Span,
    /// Whether it calls itself, directly or not.
    in_cycle: bool,
}

/// A document, ready to be made.
pub(super) struct Program<'a> {
    pub(super) ast: &'a Ast,
    pub(super) text: &'a str,
    pub(super) document: Block<'a>,
    /// Functions by name; `None` for one that has no value because of a mistake.
    functions: BTreeMap<&'a str, Option<Callable<'a>>>,
}

impl<'a> Program<'a> {
    pub(super) fn new(ast: &'a Ast, text: &'a str, complaints: &mut Complaints) -> Self {
        let mut program =
            Self { ast, text, document: Block::default(), functions: BTreeMap::new() };
        let mut names = BTreeSet::new();
        for statement in ast.statements() {
            let Some(name) = statement.kind.defines() else {
                continue;
            };
            if !names.insert(name.text.as_str()) {
                let is_hole = matches!(statement.kind, StatementKind::Hole(_));
                if !is_hole && !complaints.is_full() {
                    complaints.add(second_definition(ast, statement, name));
                }
                continue;
            }
            match &statement.kind {
                StatementKind::Function(function) => {
                    let callable = callable(function, complaints);
                    program.functions.insert(&name.text, callable);
                }
                StatementKind::Hole(hole) if hole.text.starts_with("fn") => {
                    program.functions.insert(&name.text, None);
                }
                kind => program.document.add(kind, statement.span),
            }
        }
        program.find_cycles(complaints);
        program.check_calls(complaints);
        program
    }

    /// Whether the document defines a function of this name, readable or not.
    pub(super) fn has_function(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    /// The function of this name, where it has a value.
    pub(super) fn function(&self, name: &str) -> Option<&Callable<'a>> {
        let found = self.functions.get(name)?.as_ref();
        found.filter(|callable| !callable.in_cycle)
    }

    fn function_names(&self) -> impl Iterator<Item = &'a str> {
        self.functions.keys().copied()
    }

    /// A module name before a call, where the document defines no such name.
    pub(super) fn prefix(
        &self,
        receiver: ExprId,
        is_local: impl Fn(&str) -> bool,
    ) -> Option<&'a str> {
        match &self.ast.expr(receiver).kind {
            ExprKind::Name(name)
                if words::PREFIXES.contains(&name.as_str())
                    && !is_local(name)
                    && !self.document.by_name.contains_key(name.as_str()) =>
            {
                Some(name)
            }
            _ => None,
        }
    }

    /// The calls in a function's body, with the module name before each.
    fn calls(&self, callable: &Callable<'a>) -> Vec<(Option<&'a str>, &'a Ident)> {
        let ast = self.ast;
        let values = callable.body.lines.iter().filter_map(|line| match line.makes {
            Makes::Value(_, value) => Some(value),
            Makes::Leaf(_) | Makes::Nothing(_) => None,
        });
        let mut calls = Vec::new();
        for id in values.chain([callable.result]).flat_map(|value| ast.parts(value)) {
            match &ast.expr(id).kind {
                ExprKind::Call(call) => calls.push((None, &call.name)),
                ExprKind::Method { receiver, call } => {
                    let prefix = self.prefix(*receiver, |name| callable.knows(name));
                    calls.push((prefix, &call.name));
                }
                _ => {}
            }
        }
        calls
    }

    /// Finds functions that call themselves: depth first, each function once.
    fn find_cycles(&mut self, complaints: &mut Complaints) {
        let mut callees: BTreeMap<&'a str, Vec<&'a Ident>> = BTreeMap::new();
        for (&name, callable) in &self.functions {
            let calls = callable.iter().flat_map(|callable| self.calls(callable));
            let own = calls.filter(|(prefix, name)| {
                prefix.is_none() && self.functions.contains_key(name.text.as_str())
            });
            callees.insert(name, own.map(|(_, name)| name).collect());
        }
        let mut done: BTreeSet<&str> = BTreeSet::new();
        let mut in_cycle: BTreeSet<&str> = BTreeSet::new();
        for &start in callees.keys() {
            // The functions on the way, each with how many of its calls have been followed.
            let mut path: Vec<(&str, usize)> = vec![(start, 0)];
            let mut on_path = BTreeSet::from([start]);
            while let Some((name, n_followed)) = path.last_mut() {
                let name = *name;
                let next = callees.get(name).and_then(|calls| calls.get(*n_followed)).copied();
                *n_followed += 1;
                let Some(next) = next.filter(|_| !done.contains(name)) else {
                    done.insert(name);
                    on_path.remove(name);
                    path.pop();
                    continue;
                };
                if on_path.contains(next.text.as_str()) {
                    let way: Vec<&str> = path.iter().map(|(name, _)| *name).collect();
                    let from = way.iter().position(|name| *name == next.text).unwrap_or(0);
                    in_cycle.extend(way.iter().skip(from));
                    let message = cycle(way.iter().skip(from).copied(), "calls");
                    complaints.error(Code::Cycle, next.span, message);
                } else if !done.contains(next.text.as_str()) {
                    on_path.insert(&next.text);
                    path.push((&next.text, 0));
                }
            }
        }
        for (name, callable) in &mut self.functions {
            if let Some(callable) = callable {
                callable.in_cycle = in_cycle.contains(name);
            }
        }
    }

    /// A call of nothing is a mistake in a function that nobody calls, too.
    fn check_calls(&self, complaints: &mut Complaints) {
        for callable in self.functions.values().flatten() {
            for (prefix, name) in self.calls(callable) {
                let known = prefix.is_none() && self.functions.contains_key(name.text.as_str());
                if !known && spell::op(prefix, &name.text).is_none() {
                    self.unknown_op(name, complaints);
                }
            }
        }
    }

    pub(super) fn unknown_op(&self, name: &Ident, complaints: &mut Complaints) {
        let text = &name.text;
        if is_generator(text) || text == words::LOAD {
            let message = format!("`{text}` fills a leaf; write `const NAME [SHAPE] = {text}(…)`");
            complaints.error(Code::UnknownOp, name.span, message);
            return;
        }
        let message = format!("there is no op called `{text}`");
        let own = self.function_names().map(str::to_owned);
        let known: Vec<String> = own.chain(spell::op_names().map(str::to_owned)).collect();
        let known = known.iter().map(String::as_str);
        complaints.unknown(Code::UnknownOp, name, message, known);
    }
}

impl Callable<'_> {
    /// Whether its body may read this name.
    fn knows(&self, name: &str) -> bool {
        let is_formal = self.function.formals.iter().any(|formal| formal.name.text == name);
        is_formal || self.body.by_name.contains_key(name)
    }
}

impl<'a> Block<'a> {
    fn add(&mut self, kind: &'a StatementKind, span: Span) {
        let makes = match kind {
            StatementKind::Leaf(leaf) => Makes::Leaf(leaf),
            StatementKind::Assign { name, value } => Makes::Value(name, *value),
            _ => match kind.defines() {
                Some(name) => Makes::Nothing(name),
                None => return,
            },
        };
        self.by_name.insert(&makes.name().text, self.lines.len());
        self.lines.push(BlockLine { makes, span });
    }
}

fn callable<'a>(function: &'a Function, complaints: &mut Complaints) -> Option<Callable<'a>> {
    let mut names = BTreeSet::new();
    let mut body = Block::default();
    let mut result = None;
    let formals = function.formals.iter().map(|formal| (&formal.name, None));
    let lines = function.body.iter().filter_map(Line::statement);
    let lines = lines.filter_map(|line| {
        if let StatementKind::Return(value) = line.kind {
            result = Some((value, line.span));
        }
        line.kind.defines().map(|name| (name, Some(line)))
    });
    for (name, line) in formals.chain(lines) {
        if !names.insert(name.text.as_str()) {
            let message = format!("`{}` is defined twice in this fn; rename one", name.text);
            complaints.error(Code::DuplicateName, name.span, message);
        } else if let Some(line) = line {
            body.add(&line.kind, line.span);
        }
    }
    let (result, result_span) = result?;
    Some(Callable { function, body, result, result_span, in_cycle: false })
}

/// `a = …` twice: the fix renames the second, and what reads it below.
fn second_definition(ast: &Ast, statement: &Statement, name: &Ident) -> Diagnostic {
    let first = ast.definition(&name.text).map_or(Span::at(0), |first| first.span);
    let to = another_name(ast, &name.text);
    let is_function = matches!(statement.kind, StatementKind::Function(_));
    let mut edits = vec![TextEdit::replace(name.span, to.clone())];
    // In a very long text the search would cost more than it gives.
    if !is_function && ast.exprs().len() < 20_000 {
        let definitions: BTreeSet<Span> =
            ast.statements().filter_map(|s| s.kind.defines()).map(|name| name.span).collect();
        let later = edit::rename(ast, &name.text, &to);
        edits.extend(later.into_iter().filter(|edit| {
            edit.span.start > statement.span.end && !definitions.contains(&edit.span)
        }));
    }
    let line = if first.end <= name.span.start { "above" } else { "elsewhere" };
    Diagnostic::error(
        Code::DuplicateName,
        name.span,
        format!("`{}` is defined {line} already; a name is defined once", name.text),
    )
    .fix_all(format!("Rename to `{to}`"), edits)
}

/// `a needs b, which needs a`.
pub(super) fn cycle<'n>(names: impl Iterator<Item = &'n str>, verb: &str) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => String::new(),
        [name] => format!("`{name}` {verb} itself"),
        [first, middle @ ..] => {
            let shown = middle.iter().take(5).map(|name| format!("`{name}`, which {verb} "));
            let shown: String = shown.collect();
            let more = if middle.len() > 5 { "… " } else { "" };
            format!("`{first}` {verb} {shown}{more}`{first}`")
        }
    }
}
