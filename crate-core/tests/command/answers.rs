//! Each word of the command: status, facts, streams.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::ran::{Folder, ran};

pub(crate) const GOOD: &str = "\
# good
param w [1, 2] = [[0.3, 0.2]]
s = sum_rows(w)
y = w / s
loss = y[0, 0]
check fd
check adjoint
check formula w = [[w[0,1], -w[0,0]]] / (w[0,0] + w[0,1])^2
train sgd lr=0.1 steps=3
";

pub(crate) const REFUSED: &str = "\
rules upstream
param w [1, 2] = [[0.3, 0.2]]
s = sum_rows(w)
y = w / s
loss = y[0, 0]
";

pub(crate) const UNREADABLE: &str = "param x = 1\ny = sqr(x\n";

const DIFFERS: &str = "param w = [1, 2]\nloss = sum(sqr(w))\ncheck formula w = w\n";

/// The statuses of `language.md`, for every word that takes a program.
#[test]
fn statuses() {
    let folder = Folder::new("statuses");
    folder.write("good.fold", GOOD);
    folder.write("refused.fold", REFUSED);
    folder.write("unreadable.fold", UNREADABLE);
    folder.write("differs.fold", DIFFERS);
    folder.write("latin1.fold", b"param x = 1 # \xe9\n");
    let words = ["check", "trace", "run", "train", "grad", "fmt"];
    for json in [&["--json"][..], &[]] {
        for word in words {
            let status = |file: &str| folder.run(&[&[word, file], json].concat()).status;
            assert_eq!(status("good.fold"), 0, "{word}");
            assert_eq!(status("unreadable.fold"), 2, "{word}");
            assert_eq!(status("latin1.fold"), 2, "{word}");
            assert_eq!(status("none.fold"), 2, "{word}");
            assert_eq!(status("."), 2, "{word}");
            // Forward there is nothing wrong with it, nor with its form.
            let refused = i32::from(!matches!(word, "run" | "fmt"));
            assert_eq!(status("refused.fold"), refused, "{word}");
        }
    }
    assert_eq!(folder.run(&["check", "differs.fold"]).status, 1);
    assert_eq!(folder.run(&["check", "differs.fold", "--json"]).status, 1);
    assert_eq!(folder.run(&["grad", "differs.fold"]).status, 0, "no check is asked for");
    // The worst of several counts, whatever its place.
    assert_eq!(folder.run(&["check", "refused.fold", "good.fold"]).status, 1);
    assert_eq!(folder.run(&["check", "none.fold", "refused.fold", "good.fold"]).status, 2);
    for args in [
        &["check"][..],
        &[],
        &["chek", "good.fold"],
        &["check", "good.fold", "--jsn"],
        &["fmt", "--check", "--write", "good.fold"],
        &["train", "good.fold", "--every", "0"],
        &["ops", "dvi"],
        &["explain", "gradient-shap"],
        &["completions", "tcsh"],
        &["check", "-", "-"],
        &["run", "good.fold", "--node", "z"],
    ] {
        let ran = folder.run(args);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(!ran.err.is_empty(), "{args:?}");
    }
    assert!(folder.run(&["ops", "dvi"]).err.contains("did you mean div?"));
    assert!(folder.run(&["explain", "gradient-shap"]).err.contains("gradient-shape?"));
    assert!(folder.run(&["check", "none.fold"]).err.contains("bad-file: none.fold: "));
    assert!(folder.run(&["check", "latin1.fold"]).err.contains("latin1.fold is not UTF-8"));
}

#[test]
fn standard_input_is_a_file_too() {
    let folder = Folder::new("stdin");
    folder.write("good.fold", GOOD);
    for word in ["check", "trace", "run", "train", "grad", "fmt"] {
        let (file, stdin) = (folder.run(&[word, "good.fold"]), folder.feed(&[word, "-"], GOOD));
        assert_eq!(stdin.status, 0);
        assert_eq!(stdin.out.replace("<stdin>", "good.fold"), file.out, "{word}");
    }
    assert_eq!(folder.feed(&["fmt", "-w", "-"], "x=1").status, 2);
}

#[test]
fn a_text_of_any_length_is_answered() {
    let folder = Folder::new("long");
    // Cut in the middle of a letter of two bytes, and long past the limit.
    for text in [format!("#{}", "é".repeat(1 << 19)), "#".repeat(3 << 20)] {
        folder.write("long.fold", &text);
        let (answer, status) = folder.json(&["check", "long.fold", "--json"]);
        assert_eq!(status, 2);
        assert_eq!(answer["findings"][0]["code"], "syntax");
    }
    folder.write("fits.fold", format!("#{}", "a".repeat((1 << 20) - 1)));
    assert_eq!(folder.run(&["check", "fits.fold"]).status, 0);
}

/// The operand to blame is underlined, letters of several bytes and tabs before it or not.
#[test]
fn the_operand_is_underlined() {
    let folder = Folder::new("underline");
    let shown = |text: &str| folder.feed(&["check", "-"], text).out;
    let at = |out: &str, place: &str, line: &str, marks: &str| {
        assert!(out.contains(&format!("--> <stdin>:{place}\n")), "{out}");
        let lines: Vec<&str> = out.lines().collect();
        let ix = lines.iter().position(|l| *l == line).unwrap_or_else(|| panic!("{out}"));
        assert!(lines[ix + 1].starts_with(marks), "{out}");
        assert!(!lines[ix + 1].starts_with(&format!("{marks}^")), "{out}");
    };
    at(&shown(REFUSED), "4:9", "4 | y = w / s", "  |         ^");
    at(
        &shown("param weight = 1\ny = sqr(weigth)\n"),
        "2:9",
        "2 | y = sqr(weigth)",
        "  |         ^^^^^^",
    );
    let wide = "param a [2,3] = 1; param b [3,2] = 1; y = a + b # é 界\n";
    at(
        &shown(wide),
        "1:47",
        &format!("1 | {}", wide.trim_end()),
        &format!("  | {}^", " ".repeat(46)),
    );
    let crlf = "param x = 1\r\ny = sqr(z)\r\n";
    at(&shown(crlf), "2:9", "2 | y = sqr(z)", "  |         ^");
}

#[test]
fn nothing_of_a_text_reaches_the_terminal_as_a_command() {
    let folder = Folder::new("escapes");
    for text in
        ["y = sqr(\u{1b}[31m)\n", "param \u{202e}x = 1\n", "param x = load(\"\u{1b}]0;t\u{7}\")\n"]
    {
        for word in ["check", "run", "grad", "trace", "train"] {
            let ran = folder.feed(&[word, "-"], text);
            let all = format!("{}{}", ran.out, ran.err);
            assert!(!all.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{word}: {all:?}");
        }
    }
    let ran = folder.run(&["check", "\u{1b}[2J.fold"]);
    assert!(!ran.err.contains('\u{1b}'), "{:?}", ran.err);
}

#[test]
fn colours_only_where_they_are_wanted() {
    let folder = Folder::new("colours");
    folder.write("refused.fold", REFUSED);
    let coloured = |args: &[&str], no_color: bool| {
        let mut command = folder.command(args);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        let ran = ran(command, "");
        (ran.out.contains('\u{1b}'), ran.err.contains('\u{1b}'))
    };
    // Tests read through pipes.
    assert_eq!(coloured(&["check", "refused.fold"], false), (false, false));
    assert_eq!(coloured(&["grad", "refused.fold"], false), (false, false));
    assert_eq!(coloured(&["check", "refused.fold", "--color", "never"], false), (false, false));
    assert_eq!(coloured(&["check", "refused.fold", "--color=always"], false), (true, false));
    assert_eq!(coloured(&["--color=always", "grad", "refused.fold"], false), (false, true));
    // Who says always means it.
    assert_eq!(coloured(&["check", "refused.fold", "--color=always"], true), (true, false));
    assert_eq!(
        coloured(&["check", "refused.fold", "--color=always", "--json"], false),
        (false, false)
    );
}

/// The number of a JSON answer as the text has it.
fn number(x: &Value) -> String {
    x.as_str().map_or_else(|| x.to_string().trim_end_matches(".0").to_owned(), str::to_owned)
}

#[test]
fn text_and_json_say_the_same() {
    let folder = Folder::new("same");
    folder.write("good.fold", GOOD);
    let (check, _) = folder.json(&["check", "good.fold", "--json"]);
    assert_eq!(check["file"], "good.fold");
    assert_eq!(check["rules"], "ggml");
    let names: Vec<&str> =
        check["nodes"].as_array().unwrap().iter().map(|n| n["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["w", "s", "y", "loss"]);
    for kind in ["fd", "adjoint", "formula"] {
        assert_eq!(check["checks"][kind]["w"]["verdict"], "agrees");
    }
    let text = folder.run(&["check", "good.fold"]).out;
    for line in [
        "good.fold: rules ggml, 4 nodes, loss = 0.6",
        "  fd       w: agrees",
        "  formula  w: agrees",
        "good.fold: built, and every check passed",
    ] {
        assert!(text.contains(line), "{text}");
    }

    let (values, _) = folder.json(&["run", "good.fold", "--json"]);
    assert_eq!(values["nodes"], check["nodes"]);
    let text = folder.run(&["run", "good.fold"]).out;
    assert!(text.contains("y f32 [1,2] = [[0.6, 0.4]]\n"), "{text}");
    let one = folder.json(&["run", "good.fold", "--json", "--node", "y"]).0;
    assert_eq!(one["nodes"].as_array().unwrap().len(), 1);
    assert_eq!(
        folder.run(&["run", "good.fold", "--node", "y"]).out,
        "y f32 [1,2] = [[0.6, 0.4]]\n"
    );

    let (grads, _) = folder.json(&["grad", "good.fold", "--json"]);
    assert_eq!((&grads["grads"], &grads["node_grads"]), (&check["grads"], &check["node_grads"]));
    let of: Vec<String> =
        grads["grads"]["w"]["values"].as_array().unwrap().iter().map(number).collect();
    let text = folder.run(&["grad", "good.fold"]).out;
    assert!(text.contains(&format!("dw [1,2] = [[{}]]", of.join(", "))), "{text}");
    // 1 / s - w₀ / s² and -w₀ / s².
    let near = |x: &str, y: f64| (x.parse::<f64>().unwrap() - y).abs() < 1e-6;
    assert!(near(&of[0], 0.8) && near(&of[1], -1.2), "{of:?}");

    let (train, _) = folder.json(&["train", "good.fold", "--json"]);
    assert_eq!(
        (&train["state"], &train["done"], &train["asked"]),
        (&"done".into(), &3.into(), &3.into())
    );
    let steps = check["train"]["steps"].as_array().unwrap();
    let after: Vec<&Value> = steps.iter().map(|s| &s["loss"]).collect();
    let losses = train["losses"].as_array().unwrap();
    assert_eq!(losses.iter().skip(1).collect::<Vec<_>>(), after);
    assert_eq!(train["leaves"]["w"]["values"], steps[2]["leaves"]["w"]);
    let text = folder.run(&["train", "good.fold"]).out;
    for (ix, loss) in losses.iter().enumerate() {
        let loss = loss.as_f64().unwrap() as f32;
        assert!(text.contains(&format!("\n   {ix}  {loss}")), "{text}");
    }

    let (trace, _) = folder.json(&["trace", "good.fold", "--json"]);
    let steps = trace["steps"].as_array().unwrap();
    let text = folder.run(&["trace", "good.fold"]).out;
    for step in steps {
        assert!(text.contains(step["title"].as_str().unwrap()), "{step}");
        assert!(text.contains(step["sentence"].as_str().unwrap()), "{step}");
    }
    let events = trace["events"].as_array().unwrap();
    assert_eq!(events[0], serde_json::json!({"event": "shaped", "node": "w"}));
    assert_eq!(events.last().unwrap(), &serde_json::json!({"event": "finished"}));
    let nodes: Vec<&Value> =
        trace["nodes"].as_array().unwrap().iter().map(|n| &n["name"]).collect();
    for event in events {
        for key in ["node", "grad", "from", "to", "into", "by", "of", "before", "after"] {
            let name = event
                .get(key)
                .filter(|n| n.is_string() && !(key == "by" && event["event"] == "emitted"));
            assert!(name.is_none_or(|n| nodes.contains(&n)), "{event}");
        }
    }
}

#[test]
fn findings_are_the_same_in_every_answer() {
    let folder = Folder::new("findings");
    folder.write("refused.fold", REFUSED);
    let (check, _) = folder.json(&["check", "refused.fold", "--json"]);
    let first = &check["findings"][0];
    assert_eq!(
        (&first["code"], &first["node"], &first["src"]),
        (&"gradient-shape".into(), &"y".into(), &1.into())
    );
    let span: Vec<usize> =
        first["span"].as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as usize).collect();
    assert_eq!(&REFUSED[span[0]..span[1]], "s");
    for word in ["trace", "grad"] {
        assert_eq!(folder.json(&[word, "refused.fold", "--json"]).0["findings"], check["findings"]);
        let ran = folder.run(&[word, "refused.fold"]);
        assert!(
            ran.err.contains("error[gradient-shape]") && !ran.out.contains("error["),
            "{ran:?}"
        );
    }
    assert_eq!(check["grads"], serde_json::json!({}));
    // Forward it is whole.
    let run = folder.json(&["run", "refused.fold", "--json"]).0;
    assert_eq!((&run["findings"], &run["nodes"]), (&serde_json::json!([]), &check["nodes"]));
    let last = folder.json(&["trace", "refused.fold", "--json"]).0["events"]
        .as_array()
        .unwrap()
        .last()
        .cloned();
    assert_eq!(
        last.unwrap(),
        serde_json::json!({"event": "refused", "code": "gradient-shape", "node": "y", "src": 1})
    );
}

#[test]
fn what_json_cannot_say_is_a_text() {
    let folder = Folder::new("nonfinite");
    folder.write(
        "a.fold",
        "param w = [0, 1]\nconst i [2] i32 = [16777217, -3]\ny = log(w)\nloss = sum(y)\n",
    );
    let (check, status) = folder.json(&["check", "a.fold", "--json"]);
    assert_eq!(status, 0, "a warning is no refusal");
    assert_eq!(check["nodes"][2]["value"], serde_json::json!(["-inf", 0]));
    assert_eq!(check["grads"]["w"]["values"], serde_json::json!(["inf", 1]));
    // A whole number has all its digits, which an f32 has not.
    assert_eq!(check["nodes"][1]["value"], serde_json::json!([16_777_217, -3]));
    assert!(folder.run(&["run", "a.fold"]).out.contains("i const i32 [2] = [16777217, -3]\n"));
}

#[test]
fn grad_and_train_need_something_to_work_on() {
    let folder = Folder::new("nothing");
    folder.write("a.fold", "param w = 1\ny = sqr(w)\n");
    let grad = folder.run(&["grad", "a.fold"]);
    assert_eq!(grad.status, 1);
    assert!(grad.err.contains("no-loss"), "{grad:?}");
    let train = folder.run(&["train", "a.fold"]);
    assert_eq!(train.status, 2);
    assert!(train.err.contains("no train line"), "{train:?}");
    folder.write("u.fold", "param w = 1\nparam u = 2\nside = sqr(u)\nloss = sqr(w)\n");
    let grad = folder.run(&["grad", "u.fold"]);
    assert!(grad.out.contains("  du [] = zeros: the loss does not depend on it\n"), "{grad:?}");
    assert!(grad.err.contains("warning[no-gradient-path]"), "{grad:?}");
    folder.write("d.fold", "param w = 100\nloss = exp(w)\ntrain sgd lr=0.1 steps=5\n");
    let train = folder.run(&["train", "d.fold"]);
    assert_eq!(train.status, 1);
    assert!(train.out.contains("A value that is not finite begins at loss."), "{train:?}");
    let (train, status) = folder.json(&["train", "d.fold", "--json"]);
    assert_eq!((status, &train["state"], &train["node"]), (1, &"error".into(), &"loss".into()));
}

#[test]
fn some_twenty_losses_of_a_long_run_or_as_many_as_asked() {
    let folder = Folder::new("curve");
    folder.write("a.fold", "param w = 1\nloss = sqr(w)\ntrain sgd lr=0.001 steps=1000\n");
    let rows = |args: &[&str]| {
        let out = folder.run(args).out;
        let first = |l: &str| l.split_whitespace().next().and_then(|w| w.parse::<u32>().ok());
        out.lines().filter_map(first).collect::<Vec<u32>>()
    };
    let own = rows(&["train", "a.fold"]);
    assert_eq!((own.len(), own[0], own[20]), (21, 0, 1000));
    assert_eq!(rows(&["train", "a.fold", "--every", "400"]), [0, 400, 800, 1000]);
}

#[test]
fn the_canonical_form() {
    let folder = Folder::new("fmt");
    let (loose, tidy) =
        ("param  x=1 # one\nloss=x.square( )\n", "param x = 1  # one\nloss = x.sqr()\n");
    folder.write("loose.fold", loose);
    folder.write("tidy.fold", tidy);
    folder.write("bad.fold", UNREADABLE);
    let printed = folder.run(&["fmt", "loose.fold"]);
    assert_eq!((printed.status, printed.out.as_str()), (0, tidy));
    let checked = folder.run(&["fmt", "--check", "loose.fold", "tidy.fold"]);
    assert_eq!((checked.status, checked.out.as_str()), (1, "loose.fold\n"));
    let (json, status) = folder.json(&["fmt", "--json", "loose.fold"]);
    assert_eq!((status, &json["changed"], &json["text"]), (0, &true.into(), &tidy.into()));
    assert_eq!(folder.read("loose.fold"), loose, "nothing is written unasked");
    // One that cannot be read is left alone, and does not keep the others from being written.
    let written = folder.run(&["fmt", "--write", "bad.fold", "loose.fold", "tidy.fold"]);
    assert_eq!((written.status, written.out.as_str()), (2, ""));
    assert!(written.err.contains("error[syntax]"), "{written:?}");
    assert_eq!(
        (folder.read("loose.fold").as_str(), folder.read("bad.fold").as_str()),
        (tidy, UNREADABLE)
    );
    assert!(!folder.path("loose.fold.foldback-new").exists());
    assert_eq!(folder.run(&["fmt", "--check", "loose.fold", "tidy.fold"]).status, 0);
    // A program that is read but refused has a form.
    folder.write("refused.fold", REFUSED);
    assert_eq!(folder.run(&["fmt", "refused.fold"]).out, REFUSED);
}

#[test]
fn several_files_are_several_lines_of_json() {
    let folder = Folder::new("several");
    folder.write("a.fold", GOOD);
    folder.write("b.fold", REFUSED);
    let ran = folder.run(&["check", "a.fold", "none.fold", "b.fold", "--json"]);
    let files: Vec<Value> = ran
        .out
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap()["file"].clone())
        .collect();
    assert_eq!(files, ["a.fold", "b.fold"]);
    assert_eq!(ran.status, 2);
}

#[test]
fn the_table() {
    let folder = Folder::new("ops");
    let (all, _) = folder.json(&["ops", "--json"]);
    let rows = all["ops"].as_array().unwrap();
    let text = folder.run(&["ops"]).out;
    assert_eq!(text.lines().count(), rows.len());
    let mut n_shown = 0;
    for row in rows {
        let keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys.len(), 5, "{keys:?}");
        let name = row["name"].as_str().unwrap();
        let sheet = folder.run(&["ops", name]);
        assert_eq!(sheet.status, 0);
        assert!(sheet.out.starts_with(&format!("{name}: {}\n", row["formula"].as_str().unwrap())));
        // Rows that only rules use have none.
        let (whole, _) = folder.json(&["ops", name, "--json"]);
        let shown = sheet.out.contains("\n    # y ");
        assert_eq!(shown, whole["example"].is_string(), "{}", sheet.out);
        n_shown += usize::from(shown);
    }
    assert!(n_shown > 100, "{n_shown}");
    let (div, _) = folder.json(&["ops", "/", "--json"]);
    assert_eq!((&div["name"], &div["sign"]), (&"div".into(), &"/".into()));
    assert_eq!(folder.run(&["ops", "divide"]).out, folder.run(&["ops", "div"]).out);
    assert!(folder.run(&["ops", "relu"]).out.contains("  kink "));
}

#[test]
fn every_code_is_provoked_by_its_example() {
    let folder = Folder::new("explain");
    let (all, _) = folder.json(&["explain", "--json"]);
    let codes = all["codes"].as_array().unwrap();
    assert!(codes.len() > 30);
    assert_eq!(folder.run(&["explain"]).out.lines().count(), codes.len());
    for code in codes {
        let name = code["code"].as_str().unwrap();
        let (one, status) = folder.json(&["explain", name, "--json"]);
        assert_eq!(status, 0);
        assert_eq!(one["findings"][0]["code"], *name);
        let text = folder.run(&["explain", name]).out;
        assert!(
            text.starts_with(&format!("{name}: {}\n", code["meaning"].as_str().unwrap())),
            "{text}"
        );
        assert!(text.contains(&format!("[{name}]")), "{text}");
        // The first error of the example is the one that it is for.
        let found = folder.feed(&["check", "-", "--json"], one["example"].as_str().unwrap());
        let found: Value = serde_json::from_str(&found.out).unwrap();
        assert_eq!(found["findings"][0]["code"], *name);
    }
}

#[test]
fn completions_and_the_manual_know_every_word() {
    let folder = Folder::new("manual");
    let words =
        ["check", "trace", "run", "train", "grad", "fmt", "ops", "explain", "completions", "man"];
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let made = folder.run(&["completions", shell]);
        assert_eq!(made.status, 0);
        assert!(words.iter().all(|word| made.out.contains(word)), "{shell}");
    }
    let man = folder.run(&["man"]).out;
    assert!(man.contains(".TH foldback 1"), "{man}");
    for word in words {
        assert!(man.contains(&format!("FOLDBACK {}", word.to_uppercase())), "{word}");
    }
    assert!(man.contains("safetensors"), "how files are loaded");
}

/// More than a second of training, told on standard error; ended as soon as it has been.
#[test]
fn a_long_job_says_how_far_it_is() {
    let folder = Folder::new("progress");
    folder.write("a.fold", "param w [512, 512] = 1\nconst x [512, 512] = 1\nloss = sum(sqr(w @ x))\ntrain sgd lr=1e-9 steps=100000\n");
    for word in ["train", "check"] {
        let mut command = folder.command(&[word, "a.fold", "--progress", "--json"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains(" of 100000, loss ") {
            line.clear();
            assert!(err.read_line(&mut line).unwrap() > 0, "it ended without a word");
            assert!(line.starts_with("a.fold: ") && !line.contains('\u{1b}'), "{line:?}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    folder.write("short.fold", GOOD);
    assert_eq!(
        folder.run(&["check", "short.fold", "--progress"]).err,
        "",
        "a short one says nothing"
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = Folder::new("pipe");
    folder.write("a.fold", "const x [4000, 1000] = rand\n");
    let mut command = folder.command(&["check", "a.fold", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stderr.as_slice()), (Some(0), &b""[..]));
}
