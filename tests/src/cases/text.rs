//! A case as `.fold` text. What the language cannot say (a rule that is missing or wrong) becomes a swap: the node
//! whose rule the library is asked to replace.

use serde_json::Value;

use super::{Case, Input, Op};

/// What stands in place of a node's rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Swap {
    /// It has none.
    NoBackward,
    /// It answers nothing, as a value that went to the host and back.
    Silent,
    /// It sends this operand, counted from 0, no gradient and the others zeros.
    Gap(usize),
    /// It sends numbers of shape `[]`.
    Scalar,
}

/// A case, ready to be run.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The text.
    pub text: String,
    /// Nodes with another rule.
    pub swaps: Vec<(String, Swap)>,
}

/// How a case is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As it stands.
    Plain,
    /// With every rule of the table, and in-place writes as functional updates.
    Mended,
}

/// The case as text, or what cannot be said.
pub fn tell(case: &Case, form: Form) -> Result<Told, String> {
    let mut told = Told { text: format!("rules {}\n", case.graph.broadcast), ..Told::default() };
    for input in &case.graph.inputs {
        told.text.push_str(&leaf(input));
    }
    for op in &case.graph.ops {
        let expr = expression(op, form)?;
        told.text.extend([&op.name, " = ", &expr, "\n"]);
        if form == Form::Plain {
            told.swaps.extend(swap(op)?.map(|swap| (op.name.clone(), swap)));
        }
    }
    told.text.extend(["backward ", &case.graph.loss]);
    // The node of a rule that gives a loss of its own stands for it with all its elements.
    if case.graph.ops.iter().any(|op| op.name == case.graph.loss && op.op == "custom") {
        told.text.push_str(" with ones");
    }
    told.text.push('\n');
    Ok(told)
}

fn swap(op: &Op) -> Result<Option<Swap>, String> {
    if op.op == "host_copy" {
        return Ok(Some(Swap::Silent));
    }
    if op.attrs.get("no_backward").and_then(Value::as_bool) == Some(true) {
        return Ok(Some(Swap::NoBackward));
    }
    if let Some(list) = op.attrs.get("no_backward_operands").and_then(Value::as_array) {
        let at = list.iter().find_map(|operand| match operand {
            Value::String(name) => op.inputs.iter().position(|i| i == name),
            other => other.as_u64().map(|n| n as usize),
        });
        return at.map(|at| Some(Swap::Gap(at))).ok_or_else(|| format!("operands {list:?}"));
    }
    match op.attrs.get("returns_grad_shape").and_then(Value::as_object) {
        None => Ok(None),
        Some(by) if by.values().all(|s| s.as_array().is_some_and(Vec::is_empty)) => {
            Ok(Some(Swap::Scalar))
        }
        Some(by) => Err(format!("gradients of shapes {by:?}")),
    }
}

fn leaf(input: &Input) -> String {
    let word = if input.requires_grad { "param" } else { "const" };
    format!(
        "{word} {} {} {} = {}\n",
        input.name,
        extents(&input.shape),
        input.dtype,
        literal(&input.shape, &input.values())
    )
}

/// A shape as text.
pub fn extents(shape: &[u32]) -> String {
    let items: Vec<String> = shape.iter().map(u32::to_string).collect();
    format!("[{}]", items.join(", "))
}

/// Numbers as nested lists.
pub fn literal(shape: &[u32], values: &[f64]) -> String {
    if values.is_empty() {
        return "zeros".to_owned();
    }
    let [n, rest @ ..] = shape else { return number(values.first().copied().unwrap_or(0.0)) };
    let each = values.len() / (*n).max(1) as usize;
    let items: Vec<String> = values.chunks(each.max(1)).map(|part| literal(rest, part)).collect();
    format!("[{}]", items.join(", "))
}

fn number(x: f64) -> String {
    if x.is_nan() {
        "nan".to_owned()
    } else if x.is_infinite() {
        if x > 0.0 { "inf" } else { "-inf" }.to_owned()
    } else {
        format!("{x:?}")
    }
}

/// Their word and ours, where they differ and the call looks alike.
const WORDS: &[(&str, &str)] =
    &[("square", "sqr"), ("ggml_mul_mat", "mul_mat"), ("topk_idx", "top_k")];

/// Attributes that are not the op's: they ask for another rule, or say how the op is used.
const NOT_OURS: &[&str] =
    &["inplace", "no_backward", "no_backward_operands", "returns_grad_shape", "note"];

fn expression(op: &Op, form: Form) -> Result<String, String> {
    let [a, b] = [0, 1].map(|ix| op.inputs.get(ix).map_or("", String::as_str));
    let in_place = op.attrs.get("inplace").and_then(Value::as_bool) == Some(true);
    let bang = if in_place && form == Form::Plain { "!" } else { "" };
    let sign = match op.op.as_str() {
        "add" => "+",
        "sub" => "-",
        "mul" | "custom" => "*",
        "div" => "/",
        "pow" => "^",
        "gt" => ">",
        "ge" => ">=",
        "lt" => "<",
        "le" => "<=",
        "eq" => "==",
        "ne" => "!=",
        _ => "",
    };
    if !sign.is_empty() && bang.is_empty() {
        return Ok(format!("{a} {sign} {b}"));
    }
    match op.op.as_str() {
        "identity" => return Ok(a.to_owned()),
        // The host copy is a node of its own, so that its rule can be taken away.
        "host_copy" => return Ok(format!("dup({a})")),
        "neg" => return Ok(format!("-{a}")),
        "add_scalar" => return Ok(format!("{a} + {}", value(op, "c")?)),
        "slice" => return bracket(op, a),
        "transpose" => {
            let perm = value(op, "perm")?;
            return Ok(format!("permute({a}, {})", perm.trim_matches(['[', ']'])));
        }
        "cast" if !op.attrs.contains_key("dtype") => return Ok(format!("cast({a}, dtype=f32)")),
        _ => {}
    }
    let name = WORDS.iter().find(|(theirs, _)| *theirs == op.op).map_or(op.op.as_str(), |w| w.1);
    let mut arguments = op.inputs.clone();
    for key in op.attrs.keys().filter(|k| !NOT_OURS.contains(&k.as_str())) {
        arguments.push(format!("{key}={}", value(op, key)?));
    }
    Ok(format!("{name}{bang}({})", arguments.join(", ")))
}

fn value(op: &Op, key: &str) -> Result<String, String> {
    let Some(value) = op.attrs.get(key) else { return Err(format!("no {key} for {}", op.name)) };
    match value {
        Value::String(word) => Ok(word.clone()),
        Value::Null | Value::Object(_) => Err(format!("{key}={value} of {}", op.name)),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => Ok(value.to_string()),
    }
}

fn bracket(op: &Op, of: &str) -> Result<String, String> {
    let axis = op.attrs.get("axis").and_then(Value::as_u64).ok_or("a slice without an axis")?;
    let part = |key| op.attrs.get(key).map(Value::to_string).unwrap_or_default();
    let step = op.attrs.get("step").map(|s| format!(":{s}")).unwrap_or_default();
    let before = ":, ".repeat(axis as usize);
    Ok(format!("{of}[{before}{}:{}{step}]", part("start"), part("stop")))
}
