//! An op in words, for the palette, the completion and the card under a pointer.

use crate::lang::spell;
use crate::ops::OpKind;
use crate::ops::def::{Backward, Default as Missing, Flow, How, ParamKind, ParamSpec, Sign};
use crate::rules::RuleSet;

/// The letters of the operands in a formula.
const OPERANDS: &[&str] = &["a", "b", "c", "d", "e", "f", "g", "h"];

/// How an op is called: `a + b`, `clamp(a, min=…, max=…)`.
pub fn signature(op: OpKind) -> String {
    let def = op.def();
    match def.sign {
        Some(Sign::Infix(sign)) => return format!("a {sign} b"),
        Some(Sign::Prefix(sign)) => return format!("{sign}a"),
        None => {}
    }
    if def.aliases.contains(&spell::BRACKET) {
        return "a[…]".to_owned();
    }
    let nodes = def.params.iter().filter(|p| p.kind == ParamKind::Node);
    let (n_nodes, n_required) = nodes.fold((0, 0), |(all, required), p| {
        (all + 1, required + usize::from(p.default == Missing::Required))
    });
    let most = def.arity.max.saturating_sub(n_nodes);
    let least = def.arity.min.saturating_sub(n_required).min(most);
    let mut parts: Vec<String> =
        OPERANDS.iter().take(least).map(|letter| (*letter).to_owned()).collect();
    if most > least.max(1) {
        parts.push("…".to_owned());
    }
    parts.extend(def.params.iter().map(attribute));
    format!("{}({})", def.name, parts.join(", "))
}

/// An attribute with its default: `axis=-1`, `min=…`.
pub(super) fn attribute(spec: &ParamSpec) -> String {
    match spec.default {
        Missing::Required | Missing::Absent => format!("{}=…", spec.name),
        Missing::Num(x) => format!("{}={x}", spec.name),
        Missing::Int(n) => format!("{}={n}", spec.name),
        Missing::Bool(b) => format!("{}={b}", spec.name),
    }
}

/// Why these rules do not differentiate an op; empty where they do.
pub(super) fn refused(op: OpKind, rules: RuleSet) -> String {
    match rules.backward(op) {
        Backward::Missing(why) => format!("no backward under {}: {why}", rules.name()),
        Backward::Rule(_) | Backward::Zero(_) => String::new(),
    }
}

/// All that a card says of an op.
pub(super) fn card(op: OpKind, rules: RuleSet) -> Vec<String> {
    let def = op.def();
    let mut lines = vec![def.formula.to_owned(), def.says.to_owned()];
    match rules.backward(op) {
        Backward::Missing(_) => lines.push(format!("Backward: {}.", refused(op, rules))),
        Backward::Zero(why) => lines.push(format!("Backward: zero, {why}.")),
        Backward::Rule(_) => {
            for (letter, flow) in OPERANDS.iter().zip(def.flow) {
                lines.push(match flow {
                    Flow::Carries { formula, .. } => format!("d{letter} = {formula}"),
                    Flow::Ignored(why) => format!("d{letter}: none, {why}"),
                });
            }
        }
    }
    if def.check.kink.is_some() {
        lines.push("It has kinks: points where the gradient is a choice.".to_owned());
    }
    for differs in def.differs.iter().filter(|differs| differs.rules == rules) {
        if let How::Wrong(wrong) = &differs.how {
            lines.push(format!("Under {}: {}.", rules.name(), wrong.what));
        }
    }
    if !def.ggml.is_empty() {
        lines.push(format!("ggml calls it {}.", def.ggml));
    }
    lines
}
