//! What lines there are to make: the document's and each function's, by name; every name once.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Complaints;
use super::generator::is_generator;
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
    /// Elements of constants that were computed so far, in the document and its formulas.
    pub(super) folded: Cell<u64>,
    /// Functions by name; `None` for one that has no value because of a mistake.
    functions: BTreeMap<&'a str, Option<Callable<'a>>>,
}

impl<'a> Program<'a> {
    pub(super) fn new(ast: &'a Ast, text: &'a str, complaints: &mut Complaints) -> Self {
        let mut program = Self {
            ast,
            text,
            document: Block::default(),
            folded: Cell::new(0),
            functions: BTreeMap::new(),
        };
        let mut names = BTreeSet::new();
        for statement in ast.statements() {
            let Some(name) = statement.kind.defines() else {
                continue;
            };
            let is_new = if crate::WHOLE {
                names.insert(name.text.as_str())
            } else {
                !program.document.by_name.contains_key(name.text.as_str())
            };
            if !is_new {
                if !crate::WHOLE {
                    complaints.beyond();
                    continue;
                }
                let is_hole = matches!(statement.kind, StatementKind::Hole(_));
                if !is_hole && !complaints.is_full() {
                    let second = second_definition(ast, statement, name, &names, complaints);
                    complaints.add(second);
                }
                continue;
            }
            match &statement.kind {
                StatementKind::Function(function) if crate::WHOLE => {
                    let callable = callable(function, complaints);
                    program.functions.insert(&name.text, callable);
                }
                StatementKind::Hole(hole) if crate::WHOLE && hole.text.starts_with("fn") => {
                    program.functions.insert(&name.text, None);
                }
                kind => program.document.add(kind, statement.span),
            }
        }
        if crate::WHOLE {
            program.find_cycles(complaints);
            program.check_calls(complaints);
        }
        program
    }

    /// Whether the document defines a function of this name, readable or not.
    pub(super) fn has_function(&self, name: &str) -> bool {
        crate::WHOLE && self.functions.contains_key(name)
    }

    /// The function of this name, where it has a value.
    pub(super) fn function(&self, name: &str) -> Option<&Callable<'a>> {
        if !crate::WHOLE {
            return None;
        }
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
        if !crate::WHOLE {
            return None;
        }
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

    /// Finds functions that call themselves, directly or through others: one complaint a circle.
    fn find_cycles(&mut self, complaints: &mut Complaints) {
        let names: Vec<&'a str> = self.functions.keys().copied().collect();
        let place = |name: &str| names.binary_search(&name).ok();
        let mut calls: Vec<Vec<(usize, Span)>> = Vec::with_capacity(names.len());
        for callable in self.functions.values() {
            let all = callable.iter().flat_map(|callable| self.calls(callable));
            let own = all.filter(|(prefix, _)| prefix.is_none());
            let places = own.filter_map(|(_, name)| Some((place(&name.text)?, name.span)));
            let mut places: Vec<(usize, Span)> = places.collect();
            places.sort_unstable();
            places.dedup_by_key(|(place, _)| *place);
            calls.push(places);
        }
        let mut in_cycle = vec![false; names.len()];
        for circle in circles(&calls) {
            let members: BTreeSet<usize> = circle.iter().copied().collect();
            let (way, span) = way_round(&calls, &members);
            let way = way.into_iter().filter_map(|ix| names.get(ix).copied());
            complaints.error(Code::Cycle, span, cycle(way, "calls"));
            for member in members {
                if let Some(slot) = in_cycle.get_mut(member) {
                    *slot = true;
                }
            }
        }
        for (callable, in_cycle) in self.functions.values_mut().zip(in_cycle) {
            if let Some(callable) = callable {
                callable.in_cycle = in_cycle;
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
        if !crate::WHOLE {
            return complaints.beyond();
        }
        let text = &name.text;
        if is_generator(text) || text == words::LOAD {
            let message = format!("`{text}` fills a leaf; write `const NAME [SHAPE] = {text}(…)`");
            complaints.error(Code::UnknownOp, name.span, message);
            return;
        }
        let message = format!("there is no op called `{text}`");
        if !complaints.suggests() {
            complaints.error(Code::UnknownOp, name.span, message);
            return;
        }
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
fn second_definition(
    ast: &Ast,
    statement: &Statement,
    name: &Ident,
    names: &BTreeSet<&str>,
    complaints: &Complaints,
) -> Diagnostic {
    let message = format!("`{}` is defined already; a name is defined once", name.text);
    let diagnostic = Diagnostic::error(Code::DuplicateName, name.span, message);
    // In a very long text the search would cost more than it gives.
    let is_worth_it = complaints.suggests() && ast.exprs().len() < 20_000;
    let free = (2..100).map(|n| format!("{}{n}", name.text)).find(|free| {
        let free = free.as_str();
        is_worth_it && !names.contains(free) && ast.definition(free).is_none()
    });
    let Some(free) = free else {
        return diagnostic;
    };
    let mut edits = vec![TextEdit::replace(name.span, free.clone())];
    if !matches!(statement.kind, StatementKind::Function(_)) {
        let definitions: BTreeSet<Span> =
            ast.statements().filter_map(|s| s.kind.defines()).map(|name| name.span).collect();
        let later = edit::rename(ast, &name.text, &free);
        edits.extend(later.into_iter().filter(|edit| {
            edit.span.start > statement.span.end && !definitions.contains(&edit.span)
        }));
    }
    diagnostic.fix_all(format!("Rename to `{free}`"), edits)
}

/// The sets of functions that call each other in a circle: Tarjan's strongly connected components,
/// without recursion.
fn circles(calls: &[Vec<(usize, Span)>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let at = |of: &[usize], ix: usize| of.get(ix).copied().unwrap_or(UNSEEN);
    let put = |of: &mut [usize], ix: usize, value: usize| {
        if let Some(slot) = of.get_mut(ix) {
            *slot = value;
        }
    };
    let callees = |ix: usize| calls.get(ix).map_or(&[][..], Vec::as_slice);
    let mut order = vec![UNSEEN; calls.len()];
    let mut low = vec![UNSEEN; calls.len()];
    // Functions whose set is not known yet, and those on the way with the calls followed so far.
    let (mut open, mut way): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    let mut is_open = vec![false; calls.len()];
    let mut found = Vec::new();
    let mut n_seen = 0;
    for start in 0..calls.len() {
        if at(&order, start) == UNSEEN {
            way.push((start, 0));
        }
        while let Some((ix, n_followed)) = way.pop() {
            if n_followed == 0 {
                put(&mut order, ix, n_seen);
                put(&mut low, ix, n_seen);
                n_seen += 1;
                open.push(ix);
                if let Some(slot) = is_open.get_mut(ix) {
                    *slot = true;
                }
            } else if let Some((callee, _)) = callees(ix).get(n_followed - 1) {
                // Back from the call that was followed last.
                if is_open.get(*callee) == Some(&true) {
                    let lower = at(&low, ix).min(at(&low, *callee));
                    put(&mut low, ix, lower);
                }
            }
            if let Some((callee, _)) = callees(ix).get(n_followed) {
                way.push((ix, n_followed + 1));
                if at(&order, *callee) == UNSEEN {
                    way.push((*callee, 0));
                }
            } else if at(&low, ix) == at(&order, ix) {
                let from = open.iter().rposition(|other| *other == ix).unwrap_or(0);
                let set = open.split_off(from);
                for member in &set {
                    if let Some(slot) = is_open.get_mut(*member) {
                        *slot = false;
                    }
                }
                let calls_itself = callees(ix).iter().any(|(callee, _)| *callee == ix);
                if set.len() > 1 || calls_itself {
                    found.push(set);
                }
            }
        }
    }
    found
}

/// A shortest way from the first of a circle's functions back to itself, and its last call.
fn way_round(calls: &[Vec<(usize, Span)>], members: &BTreeSet<usize>) -> (Vec<usize>, Span) {
    let Some(&start) = members.first() else {
        return (Vec::new(), Span::at(0));
    };
    let mut from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(ix) = queue.pop_front() {
        for (callee, span) in calls.get(ix).map_or(&[][..], Vec::as_slice) {
            if *callee == start {
                let mut way = vec![ix];
                while let Some(before) = way.last().and_then(|last| from.get(last)) {
                    way.push(*before);
                }
                way.reverse();
                return (way, *span);
            }
            if members.contains(callee) && !from.contains_key(callee) {
                from.insert(*callee, ix);
                queue.push_back(*callee);
            }
        }
    }
    (vec![start], Span::at(0))
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
