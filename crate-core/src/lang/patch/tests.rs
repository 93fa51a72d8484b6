//! Gestures, each as a text before and after.

use super::{Gesture, Input, NewNode, Refused, fits, inverse, patch, sketch};
use crate::lang::edit;

fn op(name: &str, sources: &[&str]) -> Gesture {
    let source = |name: &&str| if name.is_empty() { None } else { Some((*name).to_owned()) };
    Gesture::Insert {
        what: NewNode::Op(name.to_owned()),
        name: None,
        near: None,
        sources: sources.iter().map(source).collect(),
    }
}

fn connect(from: &str, to: &str, slot: usize) -> Gesture {
    Gesture::Connect { from: from.to_owned(), to: to.to_owned(), slot }
}

fn disconnect(to: &str, slot: usize) -> Gesture {
    Gesture::Disconnect { to: to.to_owned(), slot }
}

fn delete(nodes: &[&str]) -> Gesture {
    Gesture::Delete { nodes: nodes.iter().map(|n| (*n).to_owned()).collect(), through: false }
}

fn through(nodes: &[&str]) -> Gesture {
    Gesture::Delete { nodes: nodes.iter().map(|n| (*n).to_owned()).collect(), through: true }
}

fn rename(node: &str, to: &str) -> Gesture {
    Gesture::Rename { node: node.to_owned(), to: to.to_owned() }
}

fn append(after: &str, op: &str) -> Gesture {
    Gesture::Append { after: after.to_owned(), op: op.to_owned() }
}

fn prepend(before: &str, slot: usize, op: &str) -> Gesture {
    Gesture::Prepend { before: before.to_owned(), slot, op: op.to_owned() }
}

/// The text after a gesture. What undoes it gives the text before, to the byte.
fn after(text: &str, gesture: &Gesture) -> Result<String, Refused> {
    let made = patch(text, gesture)?;
    let new = edit::apply(text, &made.edits).unwrap();
    let back = edit::apply(&new, &inverse(text, &made.edits)).unwrap();
    assert_eq!(back, text, "undo of {gesture:?}");
    Ok(new)
}

fn becomes(text: &str, gesture: &Gesture, want: &str) {
    assert_eq!(after(text, gesture).as_deref(), Ok(want), "{gesture:?} in\n{text}");
}

fn refused(text: &str, gesture: &Gesture, words: &str) {
    let refused = after(text, gesture).map_err(|refused| refused.words);
    assert_eq!(refused, Err(words.to_owned()), "{gesture:?} in\n{text}");
}

#[test]
fn a_sketch_has_names_for_what_is_still_open() {
    let text =
        "param w [2] = 1\ny = exp(?) * log(w) + f(?, 2)\nz = ?\nfn f(a, k) {\n  return a * k\n}\n";
    let drawn = sketch(text);
    let names: Vec<&str> = drawn.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["w", "y.1", "y.2", "y.3", "y.4", "y", "z"]);
    let reads = |name: &str| -> Vec<Input> {
        let node = drawn.iter().find(|node| node.name == name).unwrap();
        node.slots.iter().map(|slot| slot.reads.clone()).collect()
    };
    let node = |name: &str| Input::Node(name.to_owned());
    assert_eq!(reads("y.1"), [Input::Open]);
    assert_eq!(reads("y.2"), [node("w")]);
    assert_eq!(reads("y.3"), [node("y.1"), node("y.2")]);
    assert_eq!(reads("y.4"), [Input::Open, Input::Number("2".to_owned())]);
    assert_eq!(reads("y"), [node("y.3"), node("y.4")]);
    assert_eq!(reads("z"), [Input::Open]);
}

#[test]
fn insert_writes_a_line_behind_its_sources() {
    becomes("", &op("exp", &[]), "e = exp(?)\n");
    becomes(
        "# title\nparam w [2] = 1  # the weights\nloss = sum(w)\nbackward loss\n",
        &op("mul", &["w", ""]),
        "# title\nparam w [2] = 1  # the weights\nm = w * ?\nloss = sum(w)\nbackward loss\n",
    );
    becomes("a = 1; b = 2", &op("neg", &["a"]), "a = 1\nn = -a; b = 2");
    becomes("e = 1", &op("exp", &["e"]), "e = 1\ne2 = exp(e)");
    becomes("x = 1\n", &op("reshape", &["x"]), "x = 1\nr = reshape(x, shape=?)\n");
    becomes("x = 1\n", &op("x[..]", &["x"]), "x = 1\ns = x[...]\n");
    refused("", &op("expp", &[]), "there is no op called `expp`");
}

#[test]
fn insert_puts_a_leaf_behind_the_other_leaves() {
    let param = Gesture::Insert {
        what: NewNode::Param { shape: "[2 token, 3]".to_owned(), value: "zeros".to_owned() },
        name: None,
        near: None,
        sources: Vec::new(),
    };
    becomes(
        "rules numpy\nparam w = 1\ny = w\n",
        &param,
        "rules numpy\nparam w = 1\nparam w2 [2 token, 3] = zeros\ny = w\n",
    );
    becomes("# t\n", &param, "# t\nparam w [2 token, 3] = zeros\n");
    becomes("# t\ny = ?\n", &param, "# t\nparam w [2 token, 3] = zeros\ny = ?\n");
}

#[test]
fn connect_fills_a_slot() {
    becomes("a = 1\ny = a / ?\n", &connect("a", "y", 1), "a = 1\ny = a / a\n");
    becomes("a = 1\ny = ?\n", &connect("a", "y", 0), "a = 1\ny = a\n");
    becomes("a = 1\ny = ?.sum()\n", &connect("a", "y", 0), "a = 1\ny = a.sum()\n");
    becomes("a = 1\ny = concat(a)\n", &connect("a", "y", 1), "a = 1\ny = concat(a, a)\n");
    becomes(
        "fn f(a, b) {\n  return a * b\n}\nx = 1\ny = f(x, b=?)\n",
        &connect("x", "y", 1),
        "fn f(a, b) {\n  return a * b\n}\nx = 1\ny = f(x, b=x)\n",
    );
    refused("a = 1\n", &connect("a", "a", 0), "this would make a circle: `a` would read itself");
    refused("a = 1\nb = a\n", &connect("b", "a", 0), "this would make a circle: `b` needs `a`");
}

#[test]
fn connect_moves_a_later_source_up_with_its_comments() {
    becomes(
        "# t\nparam w = 1\n\n# the user\ny = w / ?  # divides\n\n# needed\nd = w + 1  # deep\n# the source\n# of y\ns = exp(d)  # shallow\n\nz = s\n",
        &connect("s", "y", 1),
        "# t\nparam w = 1\n\n# needed\nd = w + 1  # deep\n# the source\n# of y\ns = exp(d)  # shallow\n# the user\ny = w / s  # divides\n\n\nz = s\n",
    );
    // Where lines write over each other, they stay.
    becomes(
        "x = 1\ny = ?\ns = clamp!(x, min=0)\n",
        &connect("s", "y", 0),
        "x = 1\ny = s\ns = clamp!(x, min=0)\n",
    );
}

#[test]
fn connect_gives_a_part_of_an_expression_a_line() {
    becomes(
        "param a = 1\ny = exp(a * 2) + a\nz = ? + 1\nlayout y.1 1 2\n",
        &connect("y.1", "z", 0),
        "param a = 1\nm = a * 2\ny = exp(m) + a\nz = m + 1\nlayout m 1 2\n",
    );
    // What is disconnected stays drawn.
    becomes(
        "param a = 1\ny = (a + 1) * 2\n",
        &disconnect("y", 0),
        "param a = 1\na2 = a + 1\ny = ? * 2\n",
    );
    refused(
        "param a = 1\ny = exp(a * 2)\n",
        &connect("y", "y.1", 0),
        "this would make a circle: `y` needs `y.1`",
    );
}

#[test]
fn rewire_moves_the_end_of_an_edge() {
    let rewire =
        Gesture::Rewire { from_node: "y".to_owned(), from_slot: 1, to: "z".to_owned(), slot: 0 };
    becomes("a = 1\ny = a + a\nz = ?\n", &rewire, "a = 1\ny = a + ?\nz = a\n");
    refused("y = 1 + ?\nz = ?\n", &rewire, "input 2 of `y` reads no node");
}

#[test]
fn append_and_prepend_create_and_connect() {
    becomes("w = 1  # c\nz = 2\n", &append("w", "add"), "w = 1  # c\na = w + ?\nz = 2\n");
    becomes(
        "w = 1\ny = (w + 1) * 2\nlayout y.1 3 4\n",
        &prepend("y", 0, "exp"),
        "w = 1\ne = exp((w + 1))\ny = e * 2\nlayout e.1 3 4\n",
    );
    becomes("w = 1\ny = w * ?\n", &prepend("y", 1, "sub"), "w = 1\ns = ? - ?\ny = w * s\n");
}

#[test]
fn delete_opens_what_read_the_node() {
    becomes(
        "# t\nparam w = 1  # goes\n# stays\ns = exp(w)\nloss = s * w\nlayout w 1 2\ncheck formula w = s\n",
        &delete(&["w"]),
        "# t\n# stays\ns = exp(?)\nloss = s * ?\n",
    );
    becomes("a = 1; b = a; c = b\n", &delete(&["b"]), "a = 1; c = ?\n");
    becomes("a = 1; b = a; c = b # x\n", &delete(&["c"]), "a = 1; b = a # x\n");
    becomes("a = 1; b = a; c = b # x\n", &delete(&["a", "b", "c"]), " # x\n");
    // A part of an expression becomes open, and the other parts keep their positions.
    becomes(
        "w = 1\ny = exp(w) * (log(w) + 1)\nlayout y.1 1 1\nlayout y.2 2 2\nlayout y.3 3 3\n",
        &delete(&["y.1"]),
        "w = 1\ny = ? * (log(w) + 1)\nlayout y.1 2 2\nlayout y.2 3 3\n",
    );
}

#[test]
fn delete_through_hands_the_source_on() {
    becomes("w = 1\ne = exp(w)\ny = e * 2\n", &through(&["e"]), "w = 1\ny = w * 2\n");
    becomes("w = 1\ny = exp(w) * 2\n", &through(&["y.1"]), "w = 1\ny = w * 2\n");
    becomes("w = 1\ny = exp(w + 1)\nz = y\n", &through(&["y"]), "w = 1\ny = w + 1\nz = y\n");
    becomes("w = 1\ny = exp(w + 1) * 2\n", &through(&["y.2"]), "w = 1\ny = (w + 1) * 2\n");
    // Another shape, or two sources: open.
    becomes(
        "param w [2] = 1\ns = sum(w)\ny = s * 2\n",
        &through(&["s"]),
        "param w [2] = 1\ny = ? * 2\n",
    );
}

#[test]
fn rename_reaches_directives_and_names_parts() {
    becomes(
        "w = 1\ny = w * w\nbackward y\nlayout y 1 2\ncheck formula w = 2 * w\n",
        &rename("w", "v"),
        "v = 1\ny = v * v\nbackward y\nlayout y 1 2\ncheck formula v = 2 * v\n",
    );
    becomes(
        "w = 1\ny = exp(w * 2)\nbackward y.1\n",
        &rename("y.1", "twice"),
        "w = 1\ntwice = w * 2\ny = exp(twice)\nbackward twice\n",
    );
    refused("w = 1\nv = w\n", &rename("w", "v"), "`v` is defined already; a name is defined once");
    refused(
        "w = 1\n",
        &rename("w", "loss."),
        "`loss.` is no name: letters, digits and `_`, not a digit first",
    );
    refused(
        "w = 1\n",
        &rename("w", "train"),
        "`train` is a word of the language; choose another name",
    );
    refused("w = 1\n", &rename("v", "u"), "no node is called `v`");
}

#[test]
fn fits_says_which_axis_clashes_and_what_stretches() {
    let text = "rules numpy\nparam c [2 token, 1] = 1\nparam u [3 head, 8] = 1\nparam w [2 token, 8 expert] = 1\ny = w / ?\nv = ? * u\n";
    let fit = fits(text, "c", "y", 1).unwrap();
    assert_eq!(fit.shape, Some(vec![2, 8]));
    let stretch = fit.stretches.first().unwrap();
    assert_eq!((stretch.name.as_str(), stretch.from, stretch.to), ("expert", 1, 8));
    let misfit = fits(text, "c", "v", 0).unwrap_err();
    assert_eq!(misfit.words, "2 against 3 on token");
    assert_eq!(misfit.code, "shapes-do-not-broadcast");
    assert_eq!(misfit.axis, Some((0, 0)));
    let misfit = fits(text, "v", "u", 0).unwrap_err();
    assert_eq!(misfit.code, "cycle");
}
