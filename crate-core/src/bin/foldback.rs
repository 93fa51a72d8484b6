//! The command line. `foldback check FILE --json` answers for scripts and CI; `foldback ops --json` lists the table.
//! Deliberately absent: anything the library does not do; this file reads arguments and files, and prints.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

use std::process::ExitCode;

use foldback::construct::Budget;
use foldback::ops::OpKind;
use foldback::ops::def::Backward;
use foldback::report::{analyse, json};

const USAGE: &str = "usage: foldback check FILE [--json]\n       foldback ops [--json]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).filter(|a| *a != "--json").collect();
    let as_json = args.iter().any(|a| a == "--json");
    match words.as_slice() {
        ["check", file] => check(file, as_json),
        ["ops"] => {
            ops(as_json);
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn check(file: &str, as_json: bool) -> ExitCode {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(e) => {
            eprintln!("bad-file: {file}: {e}");
            return ExitCode::from(2);
        }
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => {
            eprintln!("bad-file: {file} is not UTF-8 text");
            return ExitCode::from(2);
        }
    };
    let analysis = analyse(&text, &Budget::default());
    let answer = json::answer(&analysis);
    if as_json {
        println!("{}", answer.json);
    } else {
        for f in &analysis.report.findings {
            let line = f.line.map_or_else(String::new, |l| format!(":{l}"));
            println!("{file}{line}: {}: {}", f.code, f.message);
        }
        println!(
            "{}",
            if answer.status == 0 {
                "built, and every check passed"
            } else {
                "refused, or a check failed"
            }
        );
    }
    ExitCode::from(answer.status)
}

fn ops(as_json: bool) {
    if as_json {
        let rows: Vec<String> = OpKind::ALL
            .iter()
            .map(|op| {
                let def = op.def();
                let params: Vec<String> = def.params.iter().map(|p| json::string(p.name)).collect();
                let backward = match def.backward {
                    Backward::Rule(_) => "rule",
                    Backward::Zero(_) => "zero",
                    Backward::Missing(_) => "missing",
                };
                format!(
                    "{{\"name\":{},\"ggml\":{},\"formula\":{},\"params\":[{}],\"backward\":\"{backward}\"}}",
                    json::string(def.name),
                    json::string(def.ggml),
                    json::string(def.formula),
                    params.join(",")
                )
            })
            .collect();
        println!("{{\"ops\":[{}]}}", rows.join(","));
        return;
    }
    for op in OpKind::ALL {
        println!("{:<16} {}", op.def().name, op.def().formula);
    }
}
