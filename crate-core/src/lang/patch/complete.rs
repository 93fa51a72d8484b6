//! What can stand at the caret. It reads tokens, so that a line that is being typed has proposals too.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use std::collections::BTreeSet;

use super::search::{Found, find};
use super::sketch::Doc;
use super::{phrase, spelling};
use crate::lang::lex::{Bracket, Lexed, Token, TokenKind, lex};
use crate::lang::lower::{METHODS, generator_names};
use crate::lang::parse::words;
use crate::lang::{Span, spell};
use crate::ops::OpKind;
use crate::ops::def::{ParamKind, Sign};
use crate::rules::RuleSet;
use crate::tensor::DType;

/// What a proposal is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum ItemKind {
    /// An op.
    Op,
    /// A function of the document.
    Function,
    /// A node in scope.
    Node,
    /// An attribute of the call around the caret.
    Attribute,
    /// A word of the language.
    Word,
    /// A rule set, a type, a method, a setting, an axis.
    Value,
}

/// A proposal.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Item {
    /// What is listed.
    pub label: String,
    /// What it is.
    pub kind: ItemKind,
    /// What is written in place of `span`.
    pub insert: String,
    /// The word that is replaced.
    pub span: Span,
    /// A signature or a shape, short.
    pub detail: String,
    /// What it does, one sentence; may be empty.
    pub says: String,
}

/// The words that begin a line, and what each is for.
pub(super) const LINES: &[(&str, &str)] = &[
    ("param", "A leaf that trains: `param NAME [SHAPE] = VALUE`."),
    ("const", "A leaf that does not train: `const NAME [SHAPE] = VALUE`."),
    ("fn", "A group of nodes with a name: `fn NAME(a, b) { … return y }`."),
    ("backward", "The node that backward starts from: `backward NODE with VALUE`."),
    ("check", "Compares gradients: `check fd`, `check adjoint`, `check formula LEAF = EXPR`."),
    ("train", "Moves the parameters: `train sgd lr=0.1 steps=10`."),
    ("accumulator", "Where a gradient starts from: `accumulator NODE [SHAPE] = VALUE`."),
    ("layout", "A pinned position: `layout NODE X Y`."),
    ("rules", "Whose rules the document is judged by; the first line."),
];

/// What can stand at the caret, a byte of the text; best first. Nothing inside comments and texts.
pub fn complete(text: &str, caret: u32) -> Vec<Item> {
    let lexed = lex(text);
    let in_comment = lexed.comments.iter().any(|c| c.span.start < caret && caret <= c.span.end);
    let around = |token: &Token| token.span.start < caret && caret < token.span.end;
    let in_text = lexed.tokens.iter().any(|t| t.kind == TokenKind::Text && around(t));
    if in_comment || in_text || !text.is_char_boundary(caret as usize) {
        return Vec::new();
    }
    let place = Place::at(text, &lexed, caret);
    let mut list = List { place: &place, items: Vec::new() };
    propose(&mut list, &place, &Doc::read(text.to_owned()));
    list.items.sort_by_key(|(found, order, _)| (*found, *order));
    list.items.into_iter().map(|(_, _, item)| item).collect()
}

/// Where the caret stands.
struct Place<'t> {
    text: &'t str,
    /// The word at the caret.
    word: Span,
    /// What of it stands before the caret.
    query: &'t str,
    /// The tokens of the statement before the word.
    before: Vec<Token>,
    /// The brackets that are open there, by index into `before`.
    open: Vec<(usize, Bracket)>,
    /// The function around the caret: the names that it gives.
    scope: Option<BTreeSet<&'t str>>,
    /// Whether `(` or `=` follows the word.
    is_called: bool,
    is_assigned: bool,
}

impl<'t> Place<'t> {
    fn at(text: &'t str, lexed: &Lexed, caret: u32) -> Self {
        let is_word = |token: &&Token| {
            token.kind == TokenKind::Name && token.span.start < caret && caret <= token.span.end
        };
        let word = lexed.tokens.iter().find(is_word).map_or(Span::at(caret), |token| token.span);
        let next = lexed.tokens.iter().find(|token| token.span.start >= word.end.max(caret));
        let (mut before, mut open): (Vec<Token>, Vec<(usize, Bracket)>) = (Vec::new(), Vec::new());
        let mut scope: Option<BTreeSet<&'t str>> = None;
        let mut last_end = 0;
        for token in lexed.tokens.iter().take_while(|token| token.span.end <= word.start) {
            let first = before.first().map_or("", |first: &Token| first.span.of(text));
            let name = token.span.of(text);
            let begins = words::STATEMENTS.contains(&name);
            if token.first && (open.is_empty() || begins) && !before.is_empty() {
                before.clear();
                open.clear();
            }
            last_end = token.span.end;
            match token.kind {
                TokenKind::Semicolon => {
                    before.clear();
                    open.clear();
                    continue;
                }
                TokenKind::Open(Bracket::Curly) => {
                    let is_header = first == "fn";
                    let names = before.iter().skip(2).filter(|t| t.kind == TokenKind::Name);
                    scope = is_header.then(|| names.map(|t| t.span.of(text)).collect());
                    before.clear();
                    open.clear();
                    continue;
                }
                TokenKind::Close(Bracket::Curly) => {
                    scope = None;
                    before.clear();
                    open.clear();
                    continue;
                }
                TokenKind::Open(bracket) => open.push((before.len(), bracket)),
                TokenKind::Close(_) => {
                    open.pop();
                }
                TokenKind::Assign if before.len() == 1 => {
                    scope = scope.map(|mut names| {
                        names.insert(first);
                        names
                    });
                }
                _ => {}
            }
            before.push(*token);
        }
        // A new line ends what stands before it, where no bracket is open.
        let between = text.get(last_end as usize..word.start as usize).unwrap_or("");
        if open.is_empty() && between.contains(['\n', '\r']) {
            before.clear();
        }
        let query = text.get(word.start as usize..caret as usize).unwrap_or("");
        let next = next.map(|token| token.kind);
        let is_called = matches!(next, Some(TokenKind::Open(Bracket::Round) | TokenKind::Bang));
        let is_assigned = next == Some(TokenKind::Assign);
        Self { text, word, query, before, open, scope, is_called, is_assigned }
    }

    fn word_at(&self, ix: usize) -> &'t str {
        self.before.get(ix).map_or("", |token| token.span.of(self.text))
    }

    fn last(&self) -> Option<TokenKind> {
        self.before.last().map(|token| token.kind)
    }

    fn has_assign(&self) -> bool {
        self.before.iter().any(|token| token.kind == TokenKind::Assign)
    }
}

/// Proposals while they are collected.
struct List<'p, 't> {
    place: &'p Place<'t>,
    items: Vec<(Found, usize, Item)>,
}

impl List<'_, '_> {
    fn add(&mut self, kind: ItemKind, label: &str, insert: &str, detail: &str, says: &str) {
        let Some((found, _)) = find(self.place.query, label) else {
            return;
        };
        let item = Item {
            label: label.to_owned(),
            kind,
            insert: insert.to_owned(),
            span: self.place.word,
            detail: detail.to_owned(),
            says: says.to_owned(),
        };
        self.items.push((found, self.items.len(), item));
    }

    fn words(&mut self, kind: ItemKind, words: &[&str]) {
        for word in words {
            self.add(kind, word, word, "", "");
        }
    }
}

fn propose(list: &mut List<'_, '_>, place: &Place<'_>, doc: &Doc) {
    let n = place.before.len();
    match (place.word_at(0), n) {
        (_, 0) => lines(list, place),
        ("rules", 1) => {
            for rules in RuleSet::ALL {
                list.add(ItemKind::Value, rules.name(), rules.name(), "", rules.says());
            }
        }
        ("layout" | "accumulator" | "backward", 1) => all_nodes(list, doc, |_| true),
        ("backward", _) if !place.has_assign() && place.open.is_empty() => {
            list.words(ItemKind::Word, &["with"]);
        }
        ("check", 1) => list.words(ItemKind::Word, &["fd", "adjoint", "formula"]),
        ("check", 2) if place.word_at(1) == "formula" => {
            all_nodes(list, doc, |name| {
                let id = doc.lowered.names.get(name);
                id.is_some_and(|id| doc.lowered.graph.node(*id).flags.param)
            });
        }
        ("train", 1) => {
            let methods: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
            list.words(ItemKind::Value, &methods);
        }
        ("train", _) if place.last() != Some(TokenKind::Assign) => {
            let method = METHODS.iter().find(|(name, _)| *name == place.word_at(1));
            let given = |name: &str| place.before.iter().any(|t| t.span.of(place.text) == name);
            for name in method.map_or(&[][..], |(_, own)| own).iter().filter(|name| !given(name)) {
                list.add(ItemKind::Value, name, &format!("{name}="), "", "");
            }
        }
        ("param" | "const" | "accumulator", _) if place.has_assign() => {
            let names: Vec<&str> = generator_names().collect();
            list.words(ItemKind::Value, &names);
        }
        ("param" | "const", 2..) if place.open.is_empty() => {
            let names: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
            list.words(ItemKind::Value, &names);
        }
        ("param" | "const" | "accumulator" | "fn" | "rules" | "train" | "layout", _) => {}
        ("check" | "return", _) => expression(list, place, doc),
        _ if place.has_assign() => expression(list, place, doc),
        _ => {}
    }
}

fn lines(list: &mut List<'_, '_>, place: &Place<'_>) {
    // A name that is being given is nobody else's.
    if place.is_assigned {
        return;
    }
    if place.scope.is_some() {
        list.add(ItemKind::Word, "return", "return ", "", "The value of the fn; its last line.");
        list.add(ItemKind::Word, "const", "const ", "", "A leaf that does not train.");
        return;
    }
    for (word, says) in LINES {
        list.add(ItemKind::Word, word, &format!("{word} "), "", says);
    }
}

fn all_nodes(list: &mut List<'_, '_>, doc: &Doc, fits: impl Fn(&str) -> bool) {
    for (name, id) in doc.lowered.names.iter().filter(|(name, _)| fits(name)) {
        let shape = doc.lowered.graph.node(*id).ty.shape.to_string();
        list.add(ItemKind::Node, name, name, &shape, "");
    }
}

fn expression(list: &mut List<'_, '_>, place: &Place<'_>, doc: &Doc) {
    let last = place.last();
    if last == Some(TokenKind::Dot) {
        ops(list, place);
        return;
    }
    // After a value comes a sign.
    let after_value = matches!(
        last,
        Some(
            TokenKind::Name
                | TokenKind::Number
                | TokenKind::Question
                | TokenKind::Close(Bracket::Round | Bracket::Square)
        )
    );
    let is_return = place.word_at(0) == "return" && place.before.len() == 1;
    if after_value && !is_return {
        return;
    }
    if let Some(&(at, Bracket::Round)) = place.open.last()
        && let Some(name) = at.checked_sub(1).map(|ix| place.word_at(ix))
        && arguments(list, place, doc, at, name)
    {
        return;
    }
    if let Some(names) = &place.scope {
        for name in names {
            list.add(ItemKind::Node, name, name, "", "");
        }
    } else {
        let own = place.word_at(0);
        for node in doc.drawn.iter().filter(|node| node.is_line && node.name != own) {
            let shape = doc.lowered.names.get(node.name.as_str());
            let shape = shape.map(|id| doc.lowered.graph.node(*id).ty.shape.to_string());
            let text = node.line.of(place.text);
            let text = text.lines().next().unwrap_or("");
            list.add(ItemKind::Node, &node.name, &node.name, &shape.unwrap_or_default(), text);
        }
    }
    for statement in doc.ast.statements() {
        if let crate::lang::ast::StatementKind::Function(function) = &statement.kind {
            let names: Vec<&str> = function.formals.iter().map(|f| f.name.text.as_str()).collect();
            let name = &function.name.text;
            let signature = format!("{name}({})", names.join(", "));
            list.add(ItemKind::Function, name, &called(place, name), &signature, "");
        }
    }
    ops(list, place);
}

fn ops(list: &mut List<'_, '_>, place: &Place<'_>) {
    let is_written = |op: &&OpKind| {
        spelling::uncallable(**op).is_none()
            && !op.def().aliases.contains(&spell::BRACKET)
            && !matches!(op.def().sign, Some(Sign::Prefix(_)))
    };
    for op in OpKind::ALL.iter().filter(is_written) {
        let def = op.def();
        let detail = format!("{}   {}", phrase::signature(*op), def.formula);
        list.add(ItemKind::Op, def.name, &called(place, def.name), &detail, def.says);
        let is_word = |alias: &&&str| words::is_name(alias);
        // Another spelling writes the name.
        for alias in def.aliases.iter().filter(is_word) {
            if find(list.place.query, def.name).is_none() {
                list.add(ItemKind::Op, alias, &called(place, def.name), &detail, def.says);
            }
        }
    }
}

fn called(place: &Place<'_>, name: &str) -> String {
    if place.is_called { name.to_owned() } else { format!("{name}(") }
}

/// What can stand in the arguments of a call; whether nothing else can.
fn arguments(list: &mut List<'_, '_>, place: &Place<'_>, doc: &Doc, at: usize, name: &str) -> bool {
    let inside = place.before.get(at + 1..).unwrap_or(&[]);
    let last = inside.last().map(|token| token.kind);
    let formals = doc.function(name).map(|function| &function.formals);
    let op = if formals.is_some() { None } else { spell::op(None, name) };
    if last == Some(TokenKind::Assign) {
        let named = inside.len().checked_sub(2).and_then(|ix| inside.get(ix));
        let named = named.map_or("", |token| token.span.of(place.text));
        let spec = op.and_then(|op| op.def().params.get(spell::param(op, named)?));
        match spec.map(|spec| spec.kind) {
            Some(ParamKind::Axis | ParamKind::Axes) => {
                let first = inside.first().map_or("", |token| token.span.of(place.text));
                axes(list, doc, first);
                return true;
            }
            Some(ParamKind::Bool) => {
                list.words(ItemKind::Value, &["true", "false"]);
                return true;
            }
            Some(ParamKind::Text) => {
                let types: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
                list.words(ItemKind::Value, &types);
                return true;
            }
            Some(ParamKind::Num | ParamKind::Int | ParamKind::Ints | ParamKind::Index) => {
                return true;
            }
            Some(ParamKind::Node) | None => return false,
        }
    }
    if !matches!(last, None | Some(TokenKind::Comma)) {
        return false;
    }
    let is_given = |name: &str| {
        inside.windows(2).any(|pair| match pair {
            [word, sign] => sign.kind == TokenKind::Assign && word.span.of(place.text) == name,
            _ => false,
        })
    };
    for formal in formals.into_iter().flatten().filter(|formal| !is_given(&formal.name.text)) {
        let name = &formal.name.text;
        list.add(ItemKind::Attribute, name, &format!("{name}="), "", "");
    }
    for spec in op.map_or(&[][..], |op| op.def().params) {
        if spec.kind != ParamKind::Index && !is_given(spec.name) {
            let detail = format!("{}, {}", phrase::attribute(spec), spec.kind.says());
            list.add(ItemKind::Attribute, spec.name, &format!("{}=", spec.name), &detail, "");
        }
    }
    false
}

/// The axes of a node by name.
fn axes(list: &mut List<'_, '_>, doc: &Doc, node: &str) {
    let Some(id) = doc.lowered.names.get(node) else {
        return;
    };
    let ty = doc.lowered.graph.node(*id).ty;
    let extents = ty.shape.dims().iter().zip(ty.axes);
    for (ix, (extent, axis)) in extents.enumerate() {
        let name = axis
            .map_or_else(|| ix.to_string(), |axis| doc.lowered.graph.axis_name(axis).to_owned());
        list.add(ItemKind::Value, &name, &name, &format!("{extent} along axis {ix}"), "");
    }
}
