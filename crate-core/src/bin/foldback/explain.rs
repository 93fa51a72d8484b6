//! `explain`: what a code means, what to do, and a program that provokes it, with what is then said.
//! Deliberately absent: meanings. They are the library's.

use foldback::lang::suggest::nearest;
use foldback::refusal::Code;
use foldback::report::{FindingRow, json};

use crate::Status;
use crate::cx::{Cx, Stop};
use crate::example::example;
use crate::input::Input;

pub(crate) fn explain(cx: &mut Cx, code: Option<&str>) -> Result<Status, Stop> {
    let Some(name) = code else {
        if cx.json {
            let all = json::list(Code::ALL, |code| json::object(meaning(*code)));
            cx.line(&json::object([("codes", all)]))?;
        } else {
            for code in Code::ALL {
                cx.line(&format!("{:<24} {}", code.name(), code.meaning()))?;
            }
        }
        return Ok(0);
    };
    let Some(code) = Code::ALL.iter().copied().find(|code| code.name() == name) else {
        let near = nearest(name, Code::ALL.iter().map(|code| code.name()));
        let meant = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
        return Err(Stop::Says(format!("no code is called {name}{meant}")));
    };
    let text = example(code).to_owned();
    let input = Input { name: "example.fold".to_owned(), text, path: None };
    let provoked: Vec<FindingRow> =
        input.analyse().report.findings.into_iter().filter(|f| f.code == code.name()).collect();
    if cx.json {
        let mut entries = meaning(code);
        entries.push(("example", json::string(&input.text)));
        entries.push(("findings", json::findings(&provoked)));
        cx.line(&json::object(entries))?;
        return Ok(0);
    }
    cx.line(&format!("{}: {}", code.name(), code.meaning()))?;
    cx.line(code.what_next())?;
    cx.line("")?;
    for line in input.text.lines() {
        cx.line(&format!("    {line}"))?;
    }
    cx.line("")?;
    cx.findings(&input, provoked.get(..1).unwrap_or_default())?;
    Ok(0)
}

fn meaning(code: Code) -> Vec<(&'static str, String)> {
    vec![
        ("code", json::string(code.name())),
        ("meaning", json::string(code.meaning())),
        ("next", json::string(code.what_next())),
    ]
}
