//! A second opinion on gestures: an abstract drawing, trees of nodes under the names of lines, with a gesture as a
//! change of trees. It reads texts through the parser and lowering only, and knows nothing of how a patch is made.
//! Deliberately absent: spelling, places of lines and comments; the test looks after these in the text.

use std::collections::{BTreeMap, BTreeSet};

use foldback::construct::Budget;
use foldback::lang::ast::{Ast, ExprId, ExprKind, StatementKind};
use foldback::lang::lower::{Lowered, lower};
use foldback::lang::{Span, parse};
use foldback::ops::by_name;

/// A node and what it reads.
#[derive(Clone, PartialEq, Debug)]
pub struct Tree {
    /// Its name where the text was read; parts are compared without.
    pub name: String,
    /// The table's op, `fn NAME`, or a leaf's text.
    pub what: String,
    /// Attributes as written; `None` where they do not count.
    pub attributes: Option<String>,
    /// What it reads.
    pub inputs: Vec<In>,
    /// Its position.
    pub pin: Option<(String, String)>,
    /// Whether backward starts here.
    pub is_backward: bool,
    /// Its shape, where it has one.
    pub shape: Option<Vec<u32>>,
}

/// What a node reads.
#[derive(Clone, PartialEq, Debug)]
pub enum In {
    /// A part of the same line.
    Part(Tree),
    /// Another line.
    Line(String),
    /// A number, as written.
    Number(String),
    /// Nothing yet.
    Open,
}

/// A drawing: trees by the names of their lines.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Drawing {
    /// The lines.
    pub lines: BTreeMap<String, Tree>,
}

/// Why a gesture is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum No {
    /// It would make a circle.
    Cycle,
    /// There is no such slot.
    Slot,
    /// A number alone stays a number.
    Number,
}

impl Drawing {
    /// Reads a text.
    pub fn read(text: &str) -> Self {
        let ast = parse(text).ast;
        let lowered = lower(&ast, text, &Budget::default());
        let mut reader = Reader { text, ast: &ast, lowered: &lowered, nodes: BTreeMap::new() };
        for (id, node) in lowered.graph.nodes() {
            if let (Some(name), Some(at), Some(op)) =
                (&node.name, lowered.map.node(id).filter(|at| at.site.is_none()), node.op())
            {
                let shape = node.ty.shape.dims().to_vec();
                let made = (name.to_string(), op.def().name, at.operands.clone(), Some(shape));
                reader.nodes.insert(at.span, made);
            }
        }
        for unmade in lowered.unmade.iter().filter(|unmade| unmade.text.site.is_none()) {
            let op = unmade.op.def().name;
            let made = (unmade.name.clone(), op, unmade.text.operands.clone(), None);
            reader.nodes.insert(unmade.text.span, made);
        }
        let mut out = Self::default();
        for statement in ast.statements() {
            let tree = match &statement.kind {
                StatementKind::Leaf(leaf) => Tree {
                    shape: lowered
                        .names
                        .get(leaf.name.text.as_str())
                        .map(|id| lowered.graph.node(*id).ty.shape.dims().to_vec()),
                    ..Tree::leaf(
                        &leaf.name.text,
                        statement.span.of(text).replacen(&leaf.name.text, "_", 1),
                    )
                },
                StatementKind::Assign { name, value } => match reader.input(*value) {
                    In::Part(tree) => Tree { name: name.text.clone(), ..tree },
                    In::Number(number) => Tree::leaf(&name.text, number),
                    input => Tree {
                        inputs: vec![input],
                        shape: lowered
                            .names
                            .get(name.text.as_str())
                            .map(|id| lowered.graph.node(*id).ty.shape.dims().to_vec()),
                        ..Tree::leaf(&name.text, "view".to_owned())
                    },
                },
                _ => continue,
            };
            out.lines.entry(tree.name.clone()).or_insert(tree);
        }
        for statement in ast.statements() {
            match &statement.kind {
                StatementKind::Layout { of, x, y } => {
                    if let Some(tree) = out.find_mut(&of.name()) {
                        tree.pin = Some((x.text.clone(), y.text.clone()));
                    }
                }
                StatementKind::Backward { of, .. } => {
                    if let Some(tree) = out.find_mut(&of.name()) {
                        tree.is_backward = true;
                    }
                }
                _ => {}
            }
        }
        out
    }

    /// All nodes, a line's parts before it.
    pub fn nodes(&self) -> Vec<&Tree> {
        let mut out = Vec::new();
        for tree in self.lines.values() {
            tree.walk(&mut out);
        }
        out
    }

    /// The node of this name.
    pub fn find(&self, name: &str) -> Option<&Tree> {
        self.nodes().into_iter().find(|tree| tree.name == name)
    }

    fn find_mut(&mut self, name: &str) -> Option<&mut Tree> {
        self.lines.values_mut().find_map(|tree| tree.find_mut(name))
    }

    /// Whether one line needs another, near or far.
    fn needs(&self, from: &str, to: &str) -> bool {
        let mut open = vec![from.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(name) = open.pop() {
            if name == to {
                return true;
            }
            if let (true, Some(tree)) = (seen.insert(name.clone()), self.lines.get(&name)) {
                let mut parts = Vec::new();
                tree.walk(&mut parts);
                open.extend(parts.iter().flat_map(|part| &part.inputs).filter_map(|i| match i {
                    In::Line(name) => Some(name.clone()),
                    _ => None,
                }));
            }
        }
        false
    }

    /// The line in which a node stands.
    fn line_of(&self, is: impl Fn(&str) -> bool) -> String {
        let has = |tree: &Tree| {
            let mut parts = Vec::new();
            tree.walk(&mut parts);
            parts.iter().any(|part| is(&part.name))
        };
        let line = self.lines.iter().find(|(_, tree)| has(tree));
        line.map_or_else(String::new, |(name, _)| name.clone())
    }

    /// Gives a part a line of its own under a name that nobody has yet; a line stays as it is.
    fn own_line(&mut self, node: &str) -> String {
        // A part that has become a line keeps its name in its tree.
        let is_own = |(line, tree): &(&String, &Tree)| *line == node || tree.name == node;
        if let Some((line, _)) = self.lines.iter().find(is_own) {
            return line.clone();
        }
        let line = self.line_of(|name| name == node);
        let made = self.lines.keys().filter(|name| name.starts_with('$')).count();
        let name = format!("${}", made + 1);
        let taken =
            self.lines.get_mut(&line).and_then(|tree| tree.take(node, &In::Line(name.clone())));
        let taken = taken.expect("the part stands in its line");
        self.lines.insert(name.clone(), taken);
        name
    }

    /// Connect.
    pub fn connect(&mut self, from: &str, to: &str, slot: usize) -> Result<(), No> {
        let inside = |outer: &Tree| {
            let mut parts = Vec::new();
            outer.walk(&mut parts);
            parts.iter().any(|part| part.name == to)
        };
        if self.find(from).is_some_and(inside) {
            return Err(No::Cycle);
        }
        // The user may lose its name as a part: it is found by a mark.
        self.mark(to);
        let source = self.own_line(from);
        let line = self.line_of(|name| name.ends_with('!'));
        if self.needs(&source, &line) {
            return Err(No::Cycle);
        }
        if let Some(In::Part(part)) = self.marked().inputs.get(slot) {
            let part = part.name.clone();
            self.own_line(&part);
        }
        let input = self.marked().inputs.get_mut(slot).ok_or(No::Slot)?;
        *input = In::Line(source);
        self.unmark();
        Ok(())
    }

    /// Disconnect; what stood there.
    pub fn disconnect(&mut self, to: &str, slot: usize) -> Result<In, No> {
        self.mark(to);
        if let Some(In::Part(part)) = self.marked().inputs.get(slot) {
            let part = part.name.clone();
            self.own_line(&part);
        }
        // An open input that the op does not need goes.
        let tree = self.marked();
        let least = by_name(&tree.what).map_or(usize::MAX, |op| op.def().arity.min);
        if tree.inputs.get(slot) == Some(&In::Open) && tree.inputs.len() > least {
            tree.inputs.remove(slot);
            self.unmark();
            return Ok(In::Open);
        }
        let input = self.marked().inputs.get_mut(slot).ok_or(No::Slot)?;
        let old = std::mem::replace(input, In::Open);
        self.unmark();
        Ok(old)
    }

    /// Moves the end of an edge.
    pub fn rewire(
        &mut self,
        from: &str,
        from_slot: usize,
        to: &str,
        slot: usize,
    ) -> Result<(), No> {
        let reads = self.find(from).and_then(|tree| tree.inputs.get(from_slot).cloned());
        let source = match reads {
            Some(In::Line(line)) => line,
            Some(In::Part(part)) => {
                self.own_line(&part.name);
                part.name
            }
            _ => return Err(No::Slot),
        };
        let input = self.find_mut(from).and_then(|tree| tree.inputs.get_mut(from_slot));
        *input.ok_or(No::Slot)? = In::Open;
        self.connect(&source, to, slot)
    }

    /// A new line.
    pub fn insert(&mut self, name: &str, op: &str, sources: &[Option<String>]) {
        let n = by_name(op).map_or(0, |op| op.def().arity.min).max(sources.len());
        let mut inputs = Vec::new();
        for ix in 0..n {
            let source = sources.get(ix).cloned().flatten();
            inputs.push(source.map_or(In::Open, |source| In::Line(self.own_line(&source))));
        }
        let tree = Tree { inputs, attributes: None, ..Tree::leaf(name, op.to_owned()) };
        self.lines.insert(name.to_owned(), tree);
    }

    /// A new line that reads a node first.
    pub fn append(&mut self, after: &str, op: &str) {
        let source = self.own_line(after);
        let made = self.lines.keys().filter(|name| name.starts_with('$')).count();
        self.insert(&format!("${}", made + 1), op, &[Some(source)]);
    }

    /// Copies of lines, which read each other where the lines do.
    pub fn duplicate(&mut self, nodes: &BTreeSet<String>) {
        let names: BTreeMap<&String, String> =
            nodes.iter().enumerate().map(|(n, name)| (name, format!("${}", n + 1))).collect();
        for (name, copy) in &names {
            let Some(mut tree) = self.lines.get(*name).cloned() else { continue };
            tree.forget();
            for (name, copy) in &names {
                tree.rename(name, copy);
            }
            self.lines.insert(copy.clone(), Tree { name: copy.clone(), ..tree });
        }
    }

    /// A new line between a slot and what it reads.
    pub fn prepend(&mut self, name: &str, before: &str, slot: usize, op: &str) -> Result<(), No> {
        let n = by_name(op).map_or(0, |op| op.def().arity.min).max(1);
        let tree = self.find_mut(before).ok_or(No::Slot)?;
        let input = tree.inputs.get_mut(slot).ok_or(No::Slot)?;
        if let (In::Number(_), 1) = (&*input, n) {
            return Err(No::Number);
        }
        let old = std::mem::replace(input, In::Line(name.to_owned()));
        let mut inputs = vec![In::Open; n];
        *inputs.first_mut().ok_or(No::Slot)? = old;
        let tree = Tree { inputs, attributes: None, ..Tree::leaf(name, op.to_owned()) };
        self.lines.insert(name.to_owned(), tree);
        Ok(())
    }

    /// Nodes go.
    pub fn delete(&mut self, gone: &BTreeSet<String>, through: bool) {
        let before = self.clone();
        let mut kept = BTreeMap::new();
        for (name, tree) in &before.lines {
            let tree = before.without(tree, gone, through);
            match tree {
                In::Part(tree) => {
                    let own = Tree { name: name.clone(), ..tree };
                    // What is handed on under the line's name has its own position, and the line's directives.
                    let is_backward = before.lines.get(name).is_some_and(|line| line.is_backward);
                    kept.insert(
                        name.clone(),
                        Tree { is_backward: own.is_backward || is_backward, ..own },
                    );
                }
                In::Line(_) | In::Open if gone.contains(name) => {}
                input => {
                    let own = Tree { inputs: vec![input], ..Tree::leaf(name, "view".to_owned()) };
                    kept.insert(name.clone(), own);
                }
            }
        }
        self.lines = kept;
    }

    /// What stands for a node when nodes go.
    fn without(&self, tree: &Tree, gone: &BTreeSet<String>, through: bool) -> In {
        if gone.contains(&tree.name) {
            let [input] = tree.inputs.as_slice() else { return In::Open };
            let source = match input {
                In::Part(part) => Some(part),
                In::Line(line) => self.lines.get(line),
                In::Number(_) | In::Open => None,
            };
            let carries = source.is_some_and(|s| s.shape.is_some() && s.shape == tree.shape);
            if !(through && carries) {
                return In::Open;
            }
            return match input {
                In::Part(part) => self.without(part, gone, through),
                In::Line(line) => self.instead(line, gone, through),
                In::Number(_) | In::Open => In::Open,
            };
        }
        let inputs = tree.inputs.iter().map(|input| match input {
            In::Part(part) => self.without(part, gone, through),
            In::Line(line) => self.instead(line, gone, through),
            input => input.clone(),
        });
        In::Part(Tree { inputs: inputs.collect(), ..tree.clone() })
    }

    /// What stands for a line where it is read, when nodes go.
    fn instead(&self, line: &str, gone: &BTreeSet<String>, through: bool) -> In {
        match self.lines.get(line).filter(|_| gone.contains(line)) {
            None => In::Line(line.to_owned()),
            Some(tree) => match self.without(tree, gone, through) {
                In::Part(_) => In::Line(line.to_owned()),
                input => input,
            },
        }
    }

    /// Another name for a line, or a line of this name for a part.
    pub fn rename(&mut self, node: &str, to: &str) {
        let line = self.own_line(node);
        // The node called `loss` stays the loss.
        let is_said = self.nodes().iter().any(|tree| tree.is_backward);
        if let (true, Some(tree)) = (line == "loss" && !is_said, self.lines.get_mut(&line)) {
            tree.is_backward = true;
        }
        self.call(&line, to);
    }

    /// The lines that differ, for a message.
    pub fn differences(&self, other: &Self) -> String {
        let names: BTreeSet<&String> = self.lines.keys().chain(other.lines.keys()).collect();
        let pairs = names.into_iter().map(|name| (self.lines.get(name), other.lines.get(name)));
        let differ = pairs.filter(|(a, b)| match (a, b) {
            (Some(a), Some(b)) => !a.is_like(b),
            _ => true,
        });
        let lines = differ.map(|(a, b)| format!("wanted {a:?}\ngot    {b:?}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Gives a line another name, wherever it is read.
    pub fn call(&mut self, line: &str, to: &str) {
        if let Some(tree) = self.lines.remove(line) {
            self.lines.insert(to.to_owned(), Tree { name: to.to_owned(), ..tree });
        }
        for tree in self.lines.values_mut() {
            tree.rename(line, to);
        }
    }

    /// Pins a node, or frees it.
    pub fn pin(&mut self, node: &str, pin: Option<(String, String)>) {
        if let Some(tree) = self.find_mut(node) {
            tree.pin = pin;
        }
    }

    /// Whether this is what the gesture should give: new lines of the model may have any names.
    pub fn is_like(&self, other: &Self) -> bool {
        let made: Vec<&String> = self.lines.keys().filter(|name| name.starts_with('$')).collect();
        let Some(first) = made.first() else {
            return self.same(other);
        };
        let free = other.lines.keys().filter(|name| !self.lines.contains_key(*name));
        free.into_iter().any(|name| {
            let mut named = self.clone();
            named.call(first, name);
            named.is_like(other)
        })
    }

    fn same(&self, other: &Self) -> bool {
        self.lines.len() == other.lines.len()
            && self
                .lines
                .iter()
                .all(|(name, tree)| other.lines.get(name).is_some_and(|other| tree.is_like(other)))
    }

    fn mark(&mut self, node: &str) {
        if let Some(tree) = self.find_mut(node) {
            tree.name = format!("{}!", tree.name);
        }
    }

    fn marked(&mut self) -> &mut Tree {
        let name = self.nodes().into_iter().find(|tree| tree.name.ends_with('!'));
        let name = name.map_or_else(String::new, |tree| tree.name.clone());
        self.find_mut(&name).expect("a node was marked")
    }

    fn unmark(&mut self) {
        let tree = self.marked();
        tree.name = tree.name.trim_end_matches('!').to_owned();
    }
}

impl Tree {
    fn leaf(name: &str, what: String) -> Self {
        Self {
            name: name.to_owned(),
            what,
            attributes: None,
            inputs: Vec::new(),
            pin: None,
            is_backward: false,
            shape: None,
        }
    }

    fn walk<'t>(&'t self, out: &mut Vec<&'t Self>) {
        for input in &self.inputs {
            if let In::Part(part) = input {
                part.walk(out);
            }
        }
        out.push(self);
    }

    fn find_mut(&mut self, name: &str) -> Option<&mut Self> {
        if self.name == name {
            return Some(self);
        }
        self.inputs.iter_mut().find_map(|input| match input {
            In::Part(part) => part.find_mut(name),
            _ => None,
        })
    }

    /// Neither pinned nor where backward starts.
    fn forget(&mut self) {
        self.pin = None;
        self.is_backward = false;
        for input in &mut self.inputs {
            if let In::Part(part) = input {
                part.forget();
            }
        }
    }

    /// Takes a part out and leaves an input in its place.
    fn take(&mut self, name: &str, instead: &In) -> Option<Self> {
        for input in &mut self.inputs {
            match input {
                In::Part(part) if part.name == name => {
                    let part = part.clone();
                    *input = instead.clone();
                    return Some(part);
                }
                In::Part(part) => {
                    if let Some(taken) = part.take(name, instead) {
                        return Some(taken);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn rename(&mut self, line: &str, to: &str) {
        for input in &mut self.inputs {
            match input {
                In::Line(name) if name == line => to.clone_into(name),
                In::Part(part) => part.rename(line, to),
                _ => {}
            }
        }
    }

    /// The same but for the names of parts, for attributes that do not count, and for shapes.
    fn is_like(&self, other: &Self) -> bool {
        let attributes = match (&self.attributes, &other.attributes) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        let inputs = self.inputs.len() == other.inputs.len()
            && self.inputs.iter().zip(&other.inputs).all(|pair| match pair {
                (In::Part(a), In::Part(b)) => a.is_like(b),
                (a, b) => a == b,
            });
        attributes
            && inputs
            && self.what == other.what
            && self.pin == other.pin
            && self.is_backward == other.is_backward
    }
}

/// Reads the expressions of a text.
struct Reader<'t> {
    text: &'t str,
    ast: &'t Ast,
    lowered: &'t Lowered,
    nodes: BTreeMap<Span, Applied>,
}

/// Name, op, operands and shape of what is applied, by its text.
type Applied = (String, &'static str, Vec<Span>, Option<Vec<u32>>);

impl Reader<'_> {
    fn input(&self, id: ExprId) -> In {
        let core = self.ast.core(id);
        let expr = self.ast.expr(core);
        match &expr.kind {
            ExprKind::Open => return In::Open,
            ExprKind::Name(name) => return In::Line(name.clone()),
            _ => {}
        }
        if let Some((name, op, operands, shape)) = self.nodes.get(&expr.span) {
            let by_span = |span: &Span| self.ast.exprs().find(|(_, e)| e.span == *span);
            let inputs = operands.iter().filter_map(by_span).map(|(id, _)| self.input(id));
            return In::Part(Tree {
                inputs: inputs.collect(),
                attributes: Some(self.attributes(core, operands)),
                shape: shape.clone(),
                ..Tree::leaf(name, (*op).to_owned())
            });
        }
        let called = self.lowered.calls.iter().find(|called| called.span == expr.span);
        if let (Some(called), ExprKind::Call(call)) = (called, &expr.kind) {
            let inputs = call.arguments.iter().map(|argument| self.input(argument.value));
            let node = self.lowered.names.get(called.name.as_str());
            return In::Part(Tree {
                inputs: inputs.collect(),
                shape: node.map(|id| self.lowered.graph.node(*id).ty.shape.dims().to_vec()),
                ..Tree::leaf(&called.name, format!("fn {}", call.name.text))
            });
        }
        In::Number(expr.span.of(self.text).to_owned())
    }

    /// What of a call is no operand.
    fn attributes(&self, id: ExprId, operands: &[Span]) -> String {
        match &self.ast.expr(id).kind {
            ExprKind::Call(call) | ExprKind::Method { call, .. } => {
                let others = call
                    .arguments
                    .iter()
                    .filter(|argument| !operands.contains(&self.ast.expr(argument.value).span));
                let texts = others.map(|argument| {
                    let value = self.ast.expr(argument.value).span.of(self.text);
                    let name = argument.name.as_ref().map_or("", |name| name.text.as_str());
                    format!("{name}={value}")
                });
                texts.collect::<Vec<_>>().join(", ")
            }
            ExprKind::Index { items, .. } => {
                items.iter().map(|item| item.span.of(self.text)).collect::<Vec<_>>().join(", ")
            }
            _ => String::new(),
        }
    }
}
