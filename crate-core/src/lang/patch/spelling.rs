//! How a row of the table is written as a person would write it: `a + b`, `-a`, `a[...]`, `clamp(a, min=0)`.

use super::{Code, Refused};
use crate::lang::ast::ExprKind;
use crate::lang::spell;
use crate::ops::def::{Default as Missing, ParamKind, ParamSpec, Sign};
use crate::ops::{OpKind, by_name};

/// The row of this name, if a text can apply it.
pub(super) fn row(name: &str) -> Result<OpKind, Refused> {
    let Some(op) = by_name(name) else {
        return Err(Refused::coded(Code::UnknownOp, format!("there is no op called `{name}`")));
    };
    match uncallable(op) {
        Some(words) => Err(Refused::new(words)),
        None => Ok(op),
    }
}

/// Why no text can apply a row, where none can.
pub(super) fn uncallable(op: OpKind) -> Option<String> {
    let def = op.def();
    let is_index = |kind: ParamKind| kind == ParamKind::Index;
    let needs = def.params.iter().any(|p| is_index(p.kind) && p.default == Missing::Required);
    let is_bracket = def.aliases.contains(&spell::BRACKET);
    (needs && !is_bracket).then(|| format!("`{}` is made by backward rules only", def.name))
}

/// How many slots a new node of this row has at least.
pub(super) fn n_slots(op: OpKind, n_given: usize) -> usize {
    op.def().arity.min.max(n_given.min(op.def().arity.max))
}

/// A row applied to operands; what it needs besides is open.
pub(super) fn written(op: OpKind, operands: &[String]) -> String {
    let def = op.def();
    match (def.sign, operands) {
        (Some(Sign::Infix(sign)), [a, b]) => return format!("{a} {sign} {b}"),
        (Some(Sign::Prefix(sign)), [a]) => return format!("{sign}{a}"),
        _ => {}
    }
    if let (true, [a, ..]) = (def.aliases.contains(&spell::BRACKET), operands) {
        return format!("{a}[...]");
    }
    let required = def.params.iter().filter(|p| p.default == Missing::Required);
    let (nodes, others): (Vec<&ParamSpec>, Vec<&ParamSpec>) =
        required.partition(|p| p.kind == ParamKind::Node);
    let n_named = nodes.len().min(operands.len());
    let (positional, named) = operands.split_at(operands.len() - n_named);
    let mut arguments = positional.to_vec();
    arguments.extend(nodes.iter().zip(named).map(|(p, node)| format!("{}={node}", p.name)));
    arguments.extend(others.iter().map(|p| format!("{}=?", p.name)));
    format!("{}({})", def.name, arguments.join(", "))
}

/// An expression as an operand of what [`written`] writes around it.
pub(super) fn operand(kind: &ExprKind, text: &str) -> String {
    match kind {
        ExprKind::Infix { .. } | ExprKind::Prefix { .. } => format!("({text})"),
        _ => text.to_owned(),
    }
}

/// What a new node of this row is called where nobody says.
pub(super) fn stem(op: OpKind) -> String {
    op.def()
        .name
        .chars()
        .find(char::is_ascii_alphabetic)
        .map_or_else(|| "y".to_owned(), String::from)
}
