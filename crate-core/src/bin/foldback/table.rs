//! `ops`: the table of ops, or one row of it with a program that uses it.
//! Deliberately absent: a list of ops. The rows are the library's.

use foldback::construct::Budget;
use foldback::lang::suggest::nearest;
use foldback::ops::def::{Backward, Default, Flow, OpDef, ParamSpec, Sign};
use foldback::ops::{self, OpKind};
use foldback::report::{analyse, json};
use foldback::rules::RuleSet;

use crate::Status;
use crate::cx::{Cx, Stop};
use crate::values::{forward, ty, value};

/// So many elements of a node are printed.
const MOST: usize = 64;

pub(crate) fn ops(cx: &mut Cx, name: Option<&str>) -> Result<Status, Stop> {
    let Some(name) = name else {
        if cx.json {
            let rows = json::list(OpKind::ALL, |op| json::object(summary(op.def())));
            cx.line(&json::object([("ops", rows)]))?;
        } else {
            for op in OpKind::ALL {
                cx.line(&format!("{:<16} {}", op.def().name, op.def().formula))?;
            }
        }
        return Ok(0);
    };
    let signed =
        || ops::by_sign(Sign::Infix(own(name)?)).or_else(|| ops::by_sign(Sign::Prefix(own(name)?)));
    let Some(op) = ops::by_name(name).or_else(signed) else {
        let near = nearest(name, OpKind::ALL.iter().map(|op| op.def().name));
        let meant = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
        return Err(Stop::Says(format!("no op is called {name}{meant}")));
    };
    if cx.json {
        let row = summary(op.def()).into_iter().chain(whole(op));
        cx.line(&json::object(row))?;
    } else {
        sheet(cx, op)?;
    }
    Ok(0)
}

/// A sign as the table has it.
fn own(sign: &str) -> Option<&'static str> {
    let signs = OpKind::ALL.iter().filter_map(|op| op.def().sign);
    signs.map(|(Sign::Infix(text) | Sign::Prefix(text))| text).find(|text| *text == sign)
}

/// What the list says of a row.
fn summary(def: &OpDef) -> Vec<(&'static str, String)> {
    let params = json::strings(def.params.iter().map(|p| p.name));
    vec![
        ("name", json::string(def.name)),
        ("ggml", json::string(def.ggml)),
        ("formula", json::string(def.formula)),
        ("params", params),
        ("backward", json::string(backward(def.backward).0)),
    ]
}

/// What one row says beside that.
fn whole(op: OpKind) -> Vec<(&'static str, String)> {
    let def = op.def();
    let null = || "null".to_owned();
    let sign = def.sign.map(|(Sign::Infix(text) | Sign::Prefix(text))| json::string(text));
    let most = if def.arity.max == usize::MAX { null() } else { def.arity.max.to_string() };
    let flow = json::list(def.flow, |flow| match flow {
        Flow::Carries { formula, .. } => json::object([("formula", json::string(formula))]),
        Flow::Ignored(why) => json::object([("none", json::string(why))]),
    });
    let differs = json::list(def.differs, |d| {
        json::object([
            ("rules", json::string(d.rules.name())),
            ("how", json::string(&d.how.says())),
            ("cite", json::text(d.cite)),
        ])
    });
    vec![
        ("aliases", json::strings(def.aliases.iter().copied())),
        ("sign", sign.unwrap_or_else(null)),
        ("says", json::string(def.says)),
        ("operands", json::object([("min", def.arity.min.to_string()), ("max", most)])),
        ("attributes", json::list(def.params, |p| json::string(&attribute(p)))),
        ("stretches", def.stretches.to_string()),
        ("kink", def.check.kink.is_some().to_string()),
        ("sends", flow),
        ("why", json::text(backward(def.backward).1)),
        ("differs", differs),
        ("example", def.check.samples.first().map_or_else(null, |text| json::string(text))),
    ]
}

fn sheet(cx: &mut Cx, op: OpKind) -> Result<(), Stop> {
    let def = op.def();
    cx.line(&format!("{}: {}", def.name, def.formula))?;
    cx.line(def.says)?;
    let mut facts: Vec<(&str, String)> = Vec::new();
    if let Some(Sign::Infix(sign) | Sign::Prefix(sign)) = def.sign {
        facts.push(("sign", sign.to_owned()));
    }
    if !def.aliases.is_empty() {
        facts.push(("also", def.aliases.join(", ")));
    }
    facts.push(("ggml", if def.ggml.is_empty() { "no such op" } else { def.ggml }.to_owned()));
    let stretched = if def.stretches { ", stretched to one shape" } else { "" };
    facts.push(("operands", format!("{}{stretched}", operands(def))));
    facts.extend(def.params.iter().map(|p| ("attribute", attribute(p))));
    let (word, why) = backward(def.backward);
    facts.push((
        "backward",
        if why.is_empty() { word.to_owned() } else { format!("{word}: {why}") },
    ));
    for (ix, flow) in def.flow.iter().enumerate() {
        let source = ["a", "b", "c", "d"].get(ix).copied().unwrap_or("more");
        facts.push(match flow {
            Flow::Carries { formula, .. } => ("sends", format!("to {source}: {formula}")),
            Flow::Ignored(why) => ("sends", format!("nothing to {source}: {why}")),
        });
    }
    if def.check.kink.is_some() {
        facts.push(("kink", "there are points at which the gradient is a choice".to_owned()));
    }
    for d in def.differs {
        let cite = if d.cite.is_empty() { String::new() } else { format!(" ({})", d.cite) };
        facts.push((d.rules.name(), format!("{}{cite}", d.how.says())));
    }
    for (word, fact) in facts {
        cx.line(&format!("  {word:<10} {fact}"))?;
    }
    let Some(example) = def.check.samples.first() else { return Ok(()) };
    cx.line("")?;
    for line in example.lines() {
        cx.line(&format!("    {line}"))?;
    }
    let analysis =
        analyse(&format!("rules {}\n{example}", RuleSet::Numpy.name()), &Budget::default());
    for (id, name) in forward(&analysis) {
        cx.line(&format!("    # {name} {} = {}", ty(&analysis, id), value(&analysis, id, MOST)))?;
    }
    Ok(())
}

fn operands(def: &OpDef) -> String {
    match (def.arity.min, def.arity.max) {
        (n, m) if n == m => n.to_string(),
        (n, usize::MAX) => format!("{n} or more"),
        (n, m) => format!("{n} to {m}"),
    }
}

const fn backward(of: Backward) -> (&'static str, &'static str) {
    match of {
        Backward::Rule(_) => ("rule", ""),
        Backward::Zero(why) => ("zero", why),
        Backward::Missing(why) => ("missing", why),
    }
}

/// `axis: an axis or a list of axes, may be left out`.
fn attribute(p: &ParamSpec) -> String {
    let kind = p.kind.says();
    let default = match p.default {
        Default::Required => String::new(),
        Default::Absent => ", may be left out".to_owned(),
        Default::Num(x) => format!(", {} if left out", json::number(x).trim_matches('"')),
        Default::Int(x) => format!(", {x} if left out"),
        Default::Bool(x) => format!(", {x} if left out"),
    };
    format!("{}: {kind}{default}", p.name)
}
