//! What the sources promise about themselves: one list of ops, arrows one way, every code documented, no machine in a
//! tracked file, no test left out.

#![expect(clippy::unwrap_used, reason = "a check that cannot be made has failed")]

use std::collections::BTreeSet;
use std::process::Command;

use foldback::ops::OpKind;
use foldback::refusal::Code;
use foldback_tests::golden::root;
use foldback_tests::sources::{Source, sources};

/// The op kinds a line of code names.
fn named(line: &str) -> Vec<String> {
    let all: BTreeSet<String> = OpKind::ALL.iter().map(|op| format!("{op:?}")).collect();
    let words = line.match_indices("OpKind::").map(|(at, _)| {
        line.get(at + 8..)
            .unwrap_or("")
            .chars()
            .take_while(|c| c.is_alphanumeric())
            .collect::<String>()
    });
    words.filter(|word| all.contains(word)).collect()
}

#[test]
fn no_op_is_named_outside_its_row() {
    // The accumulators and their fold make their own sums; `ops.rs` is the list itself.
    let accumulate = ["Add", "Repeat", "RepeatBack", "Sum", "Reshape", "Sub", "Neg", "Scale"];
    // These write graphs of their own: what a rule would be with one thing wrong, and the losses of ggml-opt.
    let authors = ["crate-core/src/autodiff/mutate.rs", "crate-core/src/train/losses.rs"];
    let mut wrong = Vec::new();
    for source in sources("crate-core/src", ".rs") {
        let inside = source.path.starts_with("crate-core/src/ops/")
            || source.path == "crate-core/src/ops.rs";
        if inside || authors.contains(&source.path.as_str()) {
            continue;
        }
        let allowed = |op: &String| {
            source.path == "crate-core/src/autodiff/accumulate.rs"
                && accumulate.contains(&op.as_str())
        };
        for (n, line) in source.code() {
            wrong.extend(
                named(line)
                    .iter()
                    .filter(|op| !allowed(op))
                    .map(|op| format!("{}:{n} names {op}", source.path)),
            );
        }
    }
    for source in sources("crate-web/src", ".rs") {
        for (n, line) in source.code() {
            wrong.extend(named(line).iter().map(|op| format!("{}:{n} names {op}", source.path)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_op_is_named_in_quotes_either() {
    // A name in a string is a second list too: `if op == "softmax"`. The page has classes of such names; it knows an
    // op by what the report says.
    let names: BTreeSet<String> =
        OpKind::ALL.iter().map(|op| format!("\"{}\"", op.def().name)).collect();
    let words = [
        "\"fill\"",
        "\"view\"",
        "\"step\"",
        "\"scale\"",
        "\"take\"",
        "\"mean\"",
        "\"max\"",
        "\"min\"",
        "\"sum\"",
        "\"norm\"",
        "\"pad\"",
        "\"rows\"",
    ];
    let mut wrong = Vec::new();
    for source in sources("crate-core/src", ".rs") {
        let tests = source.path.ends_with("/tests.rs") || source.path.contains("/tests/");
        if tests || source.path.contains("/ops/") || source.path.ends_with("/ops.rs") {
            continue;
        }
        for (n, line) in source.code() {
            let found = names
                .iter()
                .filter(|name| line.contains(name.as_str()) && !words.contains(&name.as_str()));
            wrong.extend(found.map(|name| format!("{}:{n} names {name}", source.path)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A module's level: it may use what is on a lower one, or beside it. The lists are `ARCHITECTURE.md`'s.
fn level(path: &str) -> Option<usize> {
    let module = path.strip_prefix("crate-core/src/")?.split(['/', '.']).next()?;
    Some(match module {
        "tensor" => 1,
        "math" | "kernels" | "dual" | "optimizer" => 2,
        "graph" => 3,
        "refusal" | "trace" => 4,
        "ops" => 5,
        "rules" | "construct" => 6,
        "forward" | "autodiff" | "lang" => 7,
        "contract" | "check" | "train" | "files" => 8,
        "report" => 9,
        _ => return None,
    })
}

/// Arrows that go up, and why.
const UP: &[(&str, &str, &str)] = &[
    ("graph", "ops", "an op is an opaque key there"),
    ("refusal", "ops", "as in the graph: a refusal says whose row it was"),
    ("ops", "rules", "rows name the rule sets in which they differ"),
];

#[test]
fn modules_use_only_what_stands_below_them() {
    let mut wrong = BTreeSet::new();
    let mut met = BTreeSet::new();
    for source in sources("crate-core/src", ".rs") {
        let Some(own) = level(&source.path) else { continue };
        let module = source
            .path
            .strip_prefix("crate-core/src/")
            .unwrap()
            .split(['/', '.'])
            .next()
            .unwrap()
            .to_owned();
        for (n, line) in source.code() {
            for (at, _) in line.match_indices("crate::") {
                let used: String = line
                    .get(at + 7..)
                    .unwrap_or("")
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                let Some(theirs) = level(&format!("crate-core/src/{used}.rs")) else { continue };
                let known = UP.iter().find(|(from, to, _)| *from == module && *to == used);
                if let Some(arrow) = known {
                    met.insert(arrow);
                } else if theirs > own {
                    wrong.insert(format!("{}:{n} uses {used}", source.path));
                }
            }
        }
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let stale: Vec<_> = UP.iter().filter(|arrow| !met.contains(arrow)).collect();
    assert!(stale.is_empty(), "no longer needed: {stale:?}");
}

#[test]
fn the_engine_does_no_io_and_reads_no_clock() {
    let forbidden = [
        "std::fs",
        "std::net",
        "std::env",
        "std::thread",
        "std::time",
        "std::process",
        "println!",
        "eprintln!",
    ];
    let mut wrong = Vec::new();
    for source in sources("crate-core/src", ".rs") {
        let command = source.path.contains("/bin/");
        for (n, line) in source.code().filter(|_| !command) {
            wrong.extend(
                forbidden
                    .iter()
                    .filter(|f| line.contains(*f))
                    .map(|f| format!("{}:{n} uses {f}", source.path)),
            );
        }
    }
    for source in sources("crate-web/src/model", ".rs") {
        for (n, line) in source.code() {
            let found = ["leptos", "web_sys", "js_sys", "wasm_bindgen"]
                .into_iter()
                .filter(|f| line.contains(f));
            wrong.extend(found.map(|f| format!("{}:{n} uses {f}", source.path)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_is_documented() {
    for code in Code::ALL {
        let (meaning, next) = (code.meaning(), code.what_next());
        assert!(meaning.ends_with('.') && meaning.len() > 15, "{code}: {meaning:?}");
        assert!(next.ends_with('.') && next.len() > 15, "{code}: {next:?}");
        let kebab = code.name().chars().all(|c| c.is_ascii_lowercase() || c == '-');
        assert!(kebab, "{code} is no kebab-case word");
    }
    let names: BTreeSet<&str> = Code::ALL.iter().map(|c| c.name()).collect();
    assert_eq!(names.len(), Code::ALL.len(), "two codes share a name");
}

/// Our own sources: every crate's, and the tests'.
fn ours() -> Vec<Source> {
    ["benches", "crate-core", "crate-web", "tests", "xtask"]
        .into_iter()
        .flat_map(|folder| sources(folder, ".rs"))
        .collect()
}

#[test]
fn no_test_is_left_out_or_waits() {
    // Put together here, so that this file does not name what it looks for.
    let words = [concat!("#[", "ignore"), concat!("#[should", "_panic")];
    let mut wrong = Vec::new();
    for source in sources("tests", ".rs") {
        let sleeps = source.text.contains(concat!("thread::", "sleep"));
        wrong.extend(sleeps.then(|| format!("{} sleeps", source.path)));
    }
    for source in ours() {
        for (n, line) in source.text.lines().enumerate() {
            wrong.extend(
                words
                    .iter()
                    .filter(|w| line.contains(*w))
                    .map(|w| format!("{}:{} has {w}", source.path, n + 1)),
            );
        }
    }
    let waits = [concat!("waitFor", "Timeout"), concat!("test", ".skip"), concat!("test", ".only")];
    for source in sources("tests/e2e", ".mjs") {
        for (n, line) in source.text.lines().enumerate() {
            wrong.extend(
                waits
                    .iter()
                    .filter(|w| line.contains(*w))
                    .map(|w| format!("{}:{} has {w}", source.path, n + 1)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The longest a file of code may be. Past 400 lines it wants to be two; tables may run on.
const LINES: usize = 700;

/// Tables.
const TABLES: &[&str] = &["crate-core/src/ops/def.rs"];

#[test]
fn no_file_is_too_long() {
    let long: Vec<String> = ours()
        .iter()
        .filter(|s| !s.path.ends_with("/tests.rs") && !TABLES.contains(&s.path.as_str()))
        .map(|s| (s.path.clone(), s.text.lines().count()))
        .filter(|(_, n)| *n > LINES)
        .map(|(path, n)| format!("{path} has {n} lines"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn modules_say_what_they_are() {
    let mute: Vec<String> = ours()
        .into_iter()
        .filter(|s| !s.text.starts_with("//!"))
        .map(|s| s.path)
        .filter(|p| !p.ends_with("/tests.rs"))
        .collect();
    assert!(mute.is_empty(), "no module documentation in {}", mute.join(", "));
}

/// Every tracked file, from the root.
fn tracked() -> Vec<String> {
    let out = Command::new("git").arg("ls-files").current_dir(root()).output().unwrap();
    String::from_utf8_lossy(&out.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn no_tracked_file_names_a_machine_or_a_registry() {
    // Put together here, so that this file does not name what it looks for.
    let words = [
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("/Us", "ers/"),
        concat!("registry.", "npmjs"),
        concat!("index.", "crates.io"),
        concat!("static.", "crates.io"),
        concat!("pypi", ".org"),
        concat!("files.python", "hosted"),
    ];
    let files = tracked();
    assert!(files.len() > 100, "git lists {} files", files.len());
    let mut wrong = Vec::new();
    for path in
        files.iter().filter(|p| !p.ends_with("package-lock.json") && !p.starts_with("tests/cases/"))
    {
        let Ok(text) = std::fs::read_to_string(root().join(path)) else { continue };
        wrong.extend(
            words.iter().filter(|w| text.contains(*w)).map(|w| format!("{path} names {w}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
