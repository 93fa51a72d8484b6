//! The command line. `foldback check FILE --json` answers for scripts and CI; `foldback ops --json` lists the table;
//! `foldback train FILE` runs the text's train line, and ends the script where that cannot be built or diverges.
//! Deliberately absent: anything the library does not do; this file reads arguments and files, and prints.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

use std::process::ExitCode;

use foldback::construct::Budget;
use foldback::ops::OpKind;
use foldback::ops::def::Backward;
use foldback::report::{analyse, json};

const USAGE: &str =
    "usage: foldback check FILE [--json]\n       foldback train FILE\n       foldback ops [--json]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).filter(|a| *a != "--json").collect();
    let as_json = args.iter().any(|a| a == "--json");
    match words.as_slice() {
        ["check", file] => check(file, as_json),
        ["train", file] => train(file),
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

/// The text of a file; the exit status where there is none.
fn read(file: &str) -> Result<String, ExitCode> {
    let bytes = std::fs::read(file).map_err(|e| {
        eprintln!("bad-file: {file}: {e}");
        ExitCode::from(2)
    })?;
    String::from_utf8(bytes).map_err(|e| {
        eprintln!("bad-file: {file} is not UTF-8 text: {e}");
        ExitCode::from(2)
    })
}

/// Training that ends with its host: the same run as everywhere, plus the end. The message names the node.
fn train(file: &str) -> ExitCode {
    let text = match read(file) {
        Ok(text) => text,
        Err(status) => return status,
    };
    let analysis = analyse(&text, &Budget::default());
    let Some(mut training) = analysis.training() else {
        for f in &analysis.report.findings {
            eprintln!("{file}: {}: {}", f.code, f.message);
        }
        eprintln!("{file}: there is nothing to train: no train line, or no loss");
        return ExitCode::from(2);
    };
    while training.advance() {}
    let report = &training.report;
    for (step, loss) in report.losses.iter().enumerate() {
        println!("{step} {loss}");
    }
    if report.state == "error" {
        eprintln!("{file}: training stopped after {} steps: {}", report.done, report.reason);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn check(file: &str, as_json: bool) -> ExitCode {
    let text = match read(file) {
        Ok(text) => text,
        Err(status) => return status,
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
