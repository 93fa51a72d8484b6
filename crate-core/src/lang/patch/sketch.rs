//! The document as it is drawn: nodes by name with their slots, those that cannot be evaluated yet included.
//!
//! It asks lowering what each piece of text is; it decides nothing about ops itself.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::{Code, Refused};
use crate::construct::Budget;
use crate::lang::ast::{
    Ast, Call, ExprId, ExprKind, Function, LeafRole, Line, Statement, StatementKind,
};
use crate::lang::lower::{Lowered, lower};
use crate::lang::{Span, parse, spell};
use crate::ops::{OpKind, by_name};

/// What a drawn node is.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum DrawnKind {
    /// A leaf that trains.
    Param,
    /// A leaf that does not train.
    Const,
    /// An op, by its name in the table.
    Op(String),
    /// A call of a function of the document.
    Call(String),
    /// A name whose value is still open: `y = ?`.
    Open,
    /// A line that cannot be read, or a call whose arguments are wrong.
    Unread,
}

/// What a slot reads.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Input {
    /// Nothing yet: `?`.
    Open,
    /// The node of this name.
    Node(String),
    /// A number or a list written in place, as its text.
    Number(String),
    /// Something that is no node: an unknown name, or a mistake.
    Unknown(String),
}

/// A place of a node where something is read.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Slot {
    /// What it reads.
    pub reads: Input,
    /// Its text.
    pub span: Span,
}

/// A node as it is drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Drawn {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: DrawnKind,
    /// Its slots, in order: an op's sources, a call's arguments.
    pub slots: Vec<Slot>,
    /// Its expression; the statement of a leaf.
    pub span: Span,
    /// Its statement.
    pub line: Span,
    /// Whether it is the whole value of its line, so that its name stands in the text.
    pub is_line: bool,
    /// Its shape, where it has one already.
    pub shape: Option<Vec<u32>>,
}

/// The nodes of the document's own lines, in the order of the text, parts of a line before the whole. What is inside
/// functions is not listed: all calls share it.
pub fn sketch(text: &str) -> Vec<Drawn> {
    Doc::read(text.to_owned()).drawn
}

/// A text, read.
#[derive(Clone, Debug)]
pub(super) struct Doc {
    pub(super) text: String,
    pub(super) ast: Ast,
    pub(super) lowered: Lowered,
    pub(super) drawn: Vec<Drawn>,
    /// Expressions by their text.
    by_span: BTreeMap<Span, ExprId>,
    /// The line of each name of the document.
    by_name: BTreeMap<String, usize>,
}

impl Doc {
    pub(super) fn read(text: String) -> Self {
        let ast = parse(&text).ast;
        let lowered = lower(&ast, &text, &Budget::default());
        let by_span = ast.exprs().map(|(id, expr)| (expr.span, id)).collect();
        let mut by_name = BTreeMap::new();
        for (ix, line) in ast.lines.iter().enumerate() {
            let name = line.statement().and_then(|statement| statement.kind.defines());
            if let Some(name) = name {
                by_name.entry(name.text.clone()).or_insert(ix);
            }
        }
        let mut doc = Self { text, ast, lowered, drawn: Vec::new(), by_span, by_name };
        doc.drawn = doc.draw();
        doc
    }

    /// The node of this name.
    pub(super) fn find(&self, name: &str) -> Option<&Drawn> {
        self.drawn.iter().find(|node| node.name == name)
    }

    /// The node of this name, or why there is none that a hand can take.
    pub(super) fn node(&self, name: &str) -> Result<&Drawn, Refused> {
        if let Some(node) = self.find(name) {
            return Ok(node);
        }
        let head = name.split('.').next().unwrap_or("");
        let called = |node: &&Drawn| {
            name.strip_prefix(node.name.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        let calls = self.drawn.iter().filter(called).find_map(|node| match &node.kind {
            DrawnKind::Call(function) => Some(function),
            _ => None,
        });
        Err(match calls {
            Some(function) => Refused::new(format!(
                "`{name}` is inside `fn {function}`, which all its calls share; ungroup `{head}` or edit the text of the fn"
            )),
            None => Refused::coded(Code::UnknownName, format!("no node is called `{name}`")),
        })
    }

    /// The line on which a name of the document is defined.
    pub(super) fn line_of_name(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The line of a node: its index among the lines of the document.
    pub(super) fn line_of(&self, node: &Drawn) -> Option<usize> {
        self.ast
            .lines
            .iter()
            .position(|line| line.statement().is_some_and(|statement| statement.span == node.line))
    }

    pub(super) fn statement(&self, line: usize) -> Option<&Statement> {
        self.ast.lines.get(line).and_then(Line::statement)
    }

    /// The expression with exactly this text.
    pub(super) fn expr_at(&self, span: Span) -> Option<ExprId> {
        self.by_span.get(&span).copied()
    }

    /// The function of this name.
    pub(super) fn function(&self, name: &str) -> Option<&Function> {
        self.ast.statements().find_map(|statement| match &statement.kind {
            StatementKind::Function(function) if function.name.text == name => Some(function),
            _ => None,
        })
    }

    /// Whether a name is defined by a line that is no function.
    pub(super) fn is_value(&self, name: &str) -> bool {
        let line = self.line_of_name(name).and_then(|line| self.statement(line));
        line.is_some_and(|statement| match &statement.kind {
            StatementKind::Function(_) => false,
            StatementKind::Hole(hole) => !hole.text.starts_with("fn"),
            _ => true,
        })
    }

    /// The text of functions, in order.
    pub(super) fn function_spans(&self) -> Vec<Span> {
        let is_function = |kind: &StatementKind| matches!(kind, StatementKind::Function(_));
        let statements = self.ast.statements().filter(|statement| is_function(&statement.kind));
        statements.map(|statement| statement.span).collect()
    }

    /// Where the document's own lines and directives read a name, functions left out.
    pub(super) fn reads(&self, name: &str) -> Vec<Span> {
        let functions = self.function_spans();
        let in_function = |span: Span| {
            let ix = functions.partition_point(|function| function.end <= span.start);
            functions.get(ix).is_some_and(|function| function.start <= span.start)
        };
        let exprs = self.ast.exprs().filter(|(_, expr)| match &expr.kind {
            ExprKind::Name(read) => read == name && !in_function(expr.span),
            _ => false,
        });
        exprs.map(|(_, expr)| expr.span).collect()
    }

    /// The names of the document that a line reads.
    pub(super) fn needs(&self, line: usize) -> BTreeSet<&str> {
        let Some(statement) = self.statement(line) else {
            return BTreeSet::new();
        };
        let root = match &statement.kind {
            StatementKind::Assign { value, .. } => *value,
            _ => return BTreeSet::new(),
        };
        let names = self.ast.parts(root).filter_map(|id| match &self.ast.expr(id).kind {
            ExprKind::Name(name) if self.is_value(name) => Some(name.as_str()),
            _ => None,
        });
        names.collect()
    }

    /// Whether the order of lines means something: a line writes over another's value.
    pub(super) fn writes_in_place(&self) -> bool {
        let asks = |kind: &ExprKind| matches!(kind, ExprKind::Call(call) | ExprKind::Method { call, .. } if call.in_place);
        self.ast.exprs().any(|(_, expr)| asks(&expr.kind))
            || self.lowered.graph.nodes().any(|(_, node)| node.flags.in_place)
    }

    fn draw(&self) -> Vec<Drawn> {
        let mut by_line: BTreeMap<Span, Vec<Drawn>> = BTreeMap::new();
        let mut made = Vec::new();
        for (id, node) in self.lowered.graph.nodes() {
            let (Some(name), Some(text)) = (&node.name, self.lowered.map.node(id)) else {
                continue;
            };
            if text.site.is_none() {
                let kind = match node.op() {
                    Some(op) => DrawnKind::Op(op.def().name.to_owned()),
                    None if node.flags.param => DrawnKind::Param,
                    None => DrawnKind::Const,
                };
                let shape = Some(node.ty.shape.dims().to_vec());
                made.push((name.to_string(), kind, text.clone(), shape));
            }
        }
        for unmade in self.lowered.unmade.iter().filter(|unmade| unmade.text.site.is_none()) {
            let kind = DrawnKind::Op(unmade.op.def().name.to_owned());
            made.push((unmade.name.clone(), kind, unmade.text.clone(), None));
        }
        let mut spans: BTreeMap<Span, String> = BTreeMap::new();
        for (name, kind, text, shape) in made {
            spans.insert(text.span, name.clone());
            let slots = text.operands.iter().map(|span| self.slot(*span)).collect();
            let is_line = !name.contains('.');
            let (span, line) = (text.span, text.line);
            let drawn = Drawn { name, kind, slots, span, line, is_line, shape };
            by_line.entry(line).or_default().push(drawn);
        }
        for called in &self.lowered.calls {
            let line = self.ast.statements().find(|statement| {
                statement.span.start <= called.span.start && called.span.end <= statement.span.end
            });
            let (Some(line), Some(drawn)) = (line, self.call(&called.name, called.span)) else {
                continue;
            };
            spans.insert(called.span, called.name.clone());
            by_line.entry(line.span).or_default().push(Drawn { line: line.span, ..drawn });
        }
        let mut out = Vec::new();
        let mut seen = BTreeSet::new();
        for (ix, line) in self.ast.lines.iter().enumerate() {
            let Some(statement) = line.statement() else {
                continue;
            };
            let Some(name) = statement.kind.defines() else {
                continue;
            };
            if self.by_name.get(&name.text) != Some(&ix) {
                continue;
            }
            let mut nodes = by_line.remove(&statement.span).unwrap_or_default();
            nodes.sort_by_key(|node| (node.span.end, std::cmp::Reverse(node.span.start)));
            if !nodes.iter().any(|node| node.name == name.text) {
                nodes.extend(self.plain(statement));
            }
            for mut node in nodes {
                if seen.insert(node.name.clone()) {
                    for slot in &mut node.slots {
                        self.resolve(slot, &spans);
                    }
                    out.push(node);
                }
            }
        }
        out
    }

    /// A slot with this text, whatever it reads.
    fn slot(&self, span: Span) -> Slot {
        Slot { reads: Input::Unknown(span.of(&self.text).to_owned()), span }
    }

    /// Finds what a slot reads.
    fn resolve(&self, slot: &mut Slot, spans: &BTreeMap<Span, String>) {
        let Some(id) = self.expr_at(slot.span) else {
            return;
        };
        let core = self.ast.expr(self.ast.core(id));
        slot.reads = match &core.kind {
            ExprKind::Open => Input::Open,
            ExprKind::Name(name) if self.is_value(name) => Input::Node(name.clone()),
            _ => match spans.get(&core.span) {
                Some(name) => Input::Node(name.clone()),
                None if self.is_number(id) => Input::Number(slot.span.of(&self.text).to_owned()),
                None => Input::Unknown(slot.span.of(&self.text).to_owned()),
            },
        };
    }

    /// Whether an expression reads nothing.
    pub(super) fn is_number(&self, id: ExprId) -> bool {
        self.ast.parts(id).all(|part| match &self.ast.expr(part).kind {
            ExprKind::Name(_) | ExprKind::Open | ExprKind::Text(_) => false,
            ExprKind::Call(call) => self.function(&call.name.text).is_none(),
            _ => true,
        })
    }

    /// A call of a function: a slot an argument.
    fn call(&self, name: &str, span: Span) -> Option<Drawn> {
        let expr = self.ast.expr(self.expr_at(span)?);
        let (call, receiver) = match &expr.kind {
            ExprKind::Call(call) => (call, None),
            ExprKind::Method { receiver, call } => (call, Some(*receiver)),
            _ => return None,
        };
        let function = self.function(&call.name.text)?;
        let given = Self::given(function, call, receiver);
        // An argument that is left out has no text to replace.
        let slots = given.into_iter().flatten().map(|id| self.slot(self.ast.expr(id).span));
        let node = self.lowered.names.get(name).map(|id| self.lowered.graph.node(*id));
        Some(Drawn {
            name: name.to_owned(),
            kind: DrawnKind::Call(function.name.text.clone()),
            slots: slots.collect(),
            span,
            line: span,
            is_line: !name.contains('.'),
            shape: node.map(|node| node.ty.shape.dims().to_vec()),
        })
    }

    /// What a call gives for each argument of a function.
    pub(super) fn given(
        function: &Function,
        call: &Call,
        receiver: Option<ExprId>,
    ) -> Vec<Option<ExprId>> {
        let mut given: Vec<Option<ExprId>> = vec![None; function.formals.len()];
        let positional = call.arguments.iter().filter(|argument| argument.name.is_none());
        let positional = receiver.into_iter().chain(positional.map(|argument| argument.value));
        for (slot, value) in given.iter_mut().zip(positional) {
            *slot = Some(value);
        }
        for argument in &call.arguments {
            let Some(name) = &argument.name else {
                continue;
            };
            let ix = function.formals.iter().position(|formal| formal.name.text == name.text);
            if let Some(slot) = ix.and_then(|ix| given.get_mut(ix)) {
                *slot = Some(argument.value);
            }
        }
        given
    }

    /// What a line is that lowering made nothing of.
    fn plain(&self, statement: &Statement) -> Option<Drawn> {
        let name = statement.kind.defines()?.text.clone();
        let (kind, slots, span) = match &statement.kind {
            StatementKind::Leaf(leaf) => {
                let trains = leaf.role == LeafRole::Param;
                let kind = if trains { DrawnKind::Param } else { DrawnKind::Const };
                (kind, Vec::new(), statement.span)
            }
            StatementKind::Assign { value, .. } => {
                let core = self.ast.expr(self.ast.core(*value));
                let plain = by_name(spell::PLAIN).map(|op| op.def().name.to_owned());
                let kind = match (&core.kind, plain) {
                    (ExprKind::Open, _) => DrawnKind::Open,
                    (ExprKind::Name(_), Some(plain)) => DrawnKind::Op(plain),
                    _ => DrawnKind::Unread,
                };
                let has_slot = kind != DrawnKind::Unread;
                (kind, has_slot.then(|| self.slot(core.span)).into_iter().collect(), core.span)
            }
            StatementKind::Hole(hole) if !hole.text.starts_with("fn") => {
                (DrawnKind::Unread, Vec::new(), statement.span)
            }
            _ => return None,
        };
        Some(Drawn { name, kind, slots, span, line: statement.span, is_line: true, shape: None })
    }
}

impl Drawn {
    /// Its op, where it is one.
    pub(super) fn op(&self) -> Option<OpKind> {
        match &self.kind {
            DrawnKind::Op(name) => by_name(name),
            _ => None,
        }
    }

    /// The slot at this place.
    pub(super) fn slot(&self, ix: usize) -> Result<&Slot, Refused> {
        self.slots.get(ix).ok_or_else(|| {
            let name = &self.name;
            Refused::new(match self.slots.len() {
                0 => format!("`{name}` reads nothing"),
                1 => format!("`{name}` has one input"),
                n => format!("`{name}` has {n} inputs, and there is no input {}", ix + 1),
            })
        })
    }
}
