//! What can be inserted: the ops of the table, with what fits the selected node first.
//!
//! Whether an op fits is tried: a text of two lines, a tensor like the selected one and the op, is lowered under the
//! document's rules. What more tensors would decide stays open; numbers stand for the other operands of ops that
//! stretch.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::search::{Found, find};
use super::sketch::Doc;
use super::{Code, Severity, phrase, spelling};
use crate::construct::Budget;
use crate::lang::ast::StatementKind;
use crate::lang::{lower, parse};
use crate::ops::OpKind;
use crate::ops::def::Sign;
use crate::rules::RuleSet;

/// Whether an op fits the selected node.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Suits {
    /// Nothing is selected, or it is not known yet: other inputs or attributes are needed.
    Open,
    /// It does, and gives this shape.
    Yes(Vec<u32>),
    /// It does not; why.
    No(String),
}

/// An op in the palette.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Entry {
    /// Its name in the table, or that of a function of the document: what [`super::Gesture::Append`] takes.
    pub op: String,
    /// How it is called: `clamp(a, min=…, max=…)`, `a + b`.
    pub signature: String,
    /// The value as a formula.
    pub formula: String,
    /// What it does, one sentence.
    pub says: String,
    /// The other spelling that the query found; empty where it found the name.
    pub alias: String,
    /// The letters of the name, or of the other spelling, that the query found: places from 0.
    pub found: Vec<u32>,
    /// Whether it fits the selected node.
    pub suits: Suits,
    /// Why the document's rules do not differentiate it; empty where they do. It can be inserted all the same.
    pub refused: String,
}

/// The ops that a query finds: what fits first, what does not fit behind it, what the rules do not differentiate last;
/// among these the name that is the query, begins with it, holds it, holds its letters, and other spellings after names.
pub fn palette(text: &str, selected: Option<&str>, query: &str) -> Vec<Entry> {
    let doc = Doc::read(text.to_owned());
    let rules = doc.lowered.rules;
    let tensor = selected.and_then(|name| tensor(&doc, name));
    let query = query.trim();
    let mut entries = Vec::new();
    for op in OpKind::ALL.iter().filter(|op| spelling::uncallable(**op).is_none()) {
        let Some((found, places, alias)) = search(*op, query) else {
            continue;
        };
        let def = op.def();
        let suits = tensor.as_deref().map_or(Suits::Open, |tensor| suits(*op, tensor, rules));
        let entry = Entry {
            op: def.name.to_owned(),
            signature: phrase::signature(*op),
            formula: def.formula.to_owned(),
            says: def.says.to_owned(),
            alias: alias.to_owned(),
            found: places,
            suits,
            refused: phrase::refused(*op, rules),
        };
        let is_misfit = matches!(entry.suits, Suits::No(_));
        entries.push(((!entry.refused.is_empty(), is_misfit, found, !alias.is_empty()), entry));
    }
    for statement in doc.ast.statements() {
        let StatementKind::Function(function) = &statement.kind else {
            continue;
        };
        let name = function.name.text.as_str();
        let Some((found, places)) = find(query, name) else {
            continue;
        };
        let formals: Vec<&str> = function.formals.iter().map(|f| f.name.text.as_str()).collect();
        let entry = Entry {
            op: name.to_owned(),
            signature: format!("{name}({})", formals.join(", ")),
            formula: String::new(),
            says: "A function of this document.".to_owned(),
            alias: String::new(),
            found: places,
            suits: Suits::Open,
            refused: String::new(),
        };
        entries.push(((false, false, found, false), entry));
    }
    entries.sort_by_key(|(key, _)| *key);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

/// The best way in which a query finds an op, and the other spelling that it found.
fn search(op: OpKind, query: &str) -> Option<(Found, Vec<u32>, &'static str)> {
    let def = op.def();
    let sign = match def.sign {
        Some(Sign::Infix(sign) | Sign::Prefix(sign)) => Some(sign),
        None => None,
    };
    if let Some(sign) = sign.filter(|sign| *sign == query) {
        return Some((Found::Whole, Vec::new(), sign));
    }
    let name = find(query, def.name).map(|(found, places)| (found, places, ""));
    let others = def
        .aliases
        .iter()
        .filter_map(|alias| find(query, alias).map(|(found, places)| (found, places, *alias)));
    name.into_iter().chain(others).min_by_key(|(found, _, alias)| (*found, !alias.is_empty()))
}

/// A line that defines a tensor like a node.
fn tensor(doc: &Doc, name: &str) -> Option<String> {
    let id = doc.lowered.names.get(name)?;
    let ty = doc.lowered.graph.node(*id).ty;
    let dims: Vec<String> = ty.shape.dims().iter().map(u32::to_string).collect();
    Some(format!("const a [{}] {} = 0", dims.join(", "), ty.dtype.name()))
}

/// Whether an op takes a tensor first.
fn suits(op: OpKind, tensor: &str, rules: RuleSet) -> Suits {
    let stretches = op.def().stretches;
    let operand = |ix: usize| match (ix, stretches) {
        (0, _) => "a".to_owned(),
        (_, true) => "1".to_owned(),
        (_, false) => "?".to_owned(),
    };
    let operands: Vec<String> = (0..spelling::n_slots(op, 1)).map(operand).collect();
    let call = spelling::written(op, &operands);
    let text = format!("rules {}\n{tensor}\ny = {call}\n", rules.name());
    let lowered = lower(&parse(&text).ast, &text, &Budget::default());
    let errors = lowered.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let mut errors = errors.filter(|d| d.code != Code::OpenInput);
    match (errors.next(), lowered.names.get("y")) {
        (Some(error), _) => {
            Suits::No(error.message.strip_prefix("y: ").unwrap_or(&error.message).to_owned())
        }
        (None, Some(id)) => Suits::Yes(lowered.graph.node(*id).ty.shape.dims().to_vec()),
        (None, None) => Suits::Open,
    }
}
