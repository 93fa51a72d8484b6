//! Whole answers, kept as they are printed. `UPDATE_EXPECT=1` writes them anew.

use std::path::PathBuf;

use crate::answers::{GOOD, REFUSED, UNREADABLE};
use crate::ran::Folder;

const KINK: &str = "# a bend\nparam x = [0, 1]\nloss = sum(relu(x))\ncheck fd\n";

const RUNS: &[&[&str]] = &[
    &["--help"],
    &["check", "--help"],
    &["train", "--help"],
    &["fmt", "--help"],
    &["--version"],
    &["check", "good.fold"],
    &["check", "refused.fold"],
    &["check", "unreadable.fold"],
    &["check", "kink.fold", "none.fold"],
    &["check", "good.fold", "--json"],
    &["check", "unreadable.fold", "--json"],
    &["trace", "refused.fold"],
    &["trace", "kink.fold", "--json"],
    &["run", "good.fold"],
    &["train", "good.fold"],
    &["train", "good.fold", "--json"],
    &["grad", "good.fold"],
    &["fmt", "kink.fold"],
    &["ops", "div"],
    &["ops", "relu", "--json"],
    &["explain", "gradient-shape"],
    &["explain", "kink", "--json"],
    &["chek", "good.fold"],
];

#[test]
fn the_transcript() {
    let folder = Folder::new("transcript");
    for (name, text) in
        [("good", GOOD), ("refused", REFUSED), ("unreadable", UNREADABLE), ("kink", KINK)]
    {
        folder.write(&format!("{name}.fold"), text);
    }
    let mut out = String::new();
    for args in RUNS {
        let ran = folder.run(args);
        out.push_str(&format!("$ foldback {}\n{}", args.join(" "), ran.out));
        if !ran.err.is_empty() {
            // What the system calls a missing file is the system's.
            let err = ran
                .err
                .replace("The system cannot find the file specified.", "No such file or directory");
            out.push_str(&format!("-- on standard error\n{err}"));
        }
        out.push_str(&format!("-- status {}\n\n", ran.status));
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/command/transcript.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &out).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (ours, theirs) in out.split("$ foldback ").zip(expected.split("$ foldback ")) {
        assert_eq!(ours, theirs, "UPDATE_EXPECT=1 writes it anew; read it then");
    }
    assert_eq!(out.len(), expected.len());
}
