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
    let text = "fn f(a, k, m=2) {\n  return a * k * m\n}\nw = 1\n";
    becomes(text, &append("w", "f"), &format!("{text}y = f(w, ?)\n"));
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
    // Parentheses stay where a comment stands in them.
    becomes(
        "param a = 1\ny = (  # why\n  a + 1) * 2\n",
        &disconnect("y", 0),
        "param a = 1\na2 = a + 1\ny = (  # why\n  ?) * 2\n",
    );
    // An open input that the op does not need goes.
    becomes("a = 1\ny = concat(a, ?, a)\n", &disconnect("y", 1), "a = 1\ny = concat(a, a)\n");
    becomes("a = 1\ny = softmax(a, mask=?)\n", &disconnect("y", 1), "a = 1\ny = softmax(a)\n");
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
    becomes("a = 1; b = a; c = b # x\n", &delete(&["c"]), "a = 1; b = a\n");
    becomes("a = 1; b = a; c = b # x\n", &delete(&["a", "b", "c"]), "\n");
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
    let misfit = fits(text, "u", "v", 1).unwrap();
    assert_eq!(misfit.shape, None, "the other input is open");
    let circle = fits("a = ?\nb = a\n", "b", "a", 0).unwrap_err();
    assert_eq!(circle.code, "cycle");
    assert_eq!(circle.words, "this would make a circle: `b` needs `a`");
    let targets: Vec<(String, usize, bool)> = super::targets(text, "c")
        .into_iter()
        .map(|target| (target.node, target.slot, target.fit.is_ok()))
        .collect();
    let target = |node: &str, slot, fits| (node.to_owned(), slot, fits);
    assert_eq!(targets.get(..2), Some(&[target("y", 1, true), target("v", 0, false)][..]));
}

fn group(nodes: &[&str], name: &str) -> Gesture {
    let nodes = nodes.iter().map(|n| (*n).to_owned()).collect();
    Gesture::Group { nodes, name: name.to_owned() }
}

fn ungroup(call: &str) -> Gesture {
    Gesture::Ungroup { call: call.to_owned() }
}

#[test]
fn rename_reaches_into_functions() {
    let text = "fn f(a, k=2) {\n  b = a * k  # twice\n  return b + a\n}\nw = 1\nu = f(w, k=3)\nv = f(a=w)\nlayout u.b 1 2\nbackward v\n";
    becomes(
        text,
        &rename("u.b", "double"),
        "fn f(a, k=2) {\n  double = a * k  # twice\n  return double + a\n}\nw = 1\nu = f(w, k=3)\nv = f(a=w)\nlayout u.double 1 2\nbackward v\n",
    );
    becomes(
        text,
        &rename("f.a", "x"),
        "fn f(x, k=2) {\n  b = x * k  # twice\n  return b + x\n}\nw = 1\nu = f(w, k=3)\nv = f(x=w)\nlayout u.b 1 2\nbackward v\n",
    );
    becomes(
        text,
        &rename("f", "g"),
        "fn g(a, k=2) {\n  b = a * k  # twice\n  return b + a\n}\nw = 1\nu = g(w, k=3)\nv = g(a=w)\nlayout u.b 1 2\nbackward v\n",
    );
    becomes(
        text,
        &rename("u", "y"),
        "fn f(a, k=2) {\n  b = a * k  # twice\n  return b + a\n}\nw = 1\ny = f(w, k=3)\nv = f(a=w)\nlayout y.b 1 2\nbackward v\n",
    );
    refused(
        text,
        &rename("f.a", "k"),
        "`k` means something in this fn already; choose another name",
    );
}

#[test]
fn rename_keeps_the_loss_and_the_axes() {
    becomes(
        "param w = 1\nloss = w * w\ncheck fd\n",
        &rename("loss", "l"),
        "param w = 1\nl = w * w\nbackward l\ncheck fd\n",
    );
    refused(
        "param w [2 token, 3] = 1\ns = sum(w, axis=token)\n",
        &rename("s", "token"),
        "`token` means something else here already; choose another name",
    );
}

#[test]
fn duplicate_copy_and_paste_make_names_free() {
    let nodes = || vec!["s".to_owned(), "y".to_owned()];
    let text = "# t\nparam w = 1\n# the scale\ns = exp(w)  # e\ny = s * w\nloss = y\n";
    becomes(
        text,
        &Gesture::Duplicate { nodes: nodes() },
        "# t\nparam w = 1\n# the scale\ns = exp(w)  # e\ny = s * w\n# the scale\ns2 = exp(w)  # e\ny2 = s2 * w\nloss = y\n",
    );
    let copied = super::copy(text, &nodes()).unwrap();
    assert_eq!(copied, "# the scale\ns = exp(?)  # e\ny = s * ?\n");
    becomes(
        "param s = 2\n",
        &Gesture::Paste { text: copied, at: None },
        "param s = 2\n# the scale\ns2 = exp(?)  # e\ny = s2 * ?\n",
    );
    // A reference that this document has is kept, any other is open; directives stay behind.
    becomes(
        "w = 1\nz = w\n",
        &Gesture::Paste {
            text: "rules numpy\na = w + b\nbackward a\n".to_owned(),
            at: Some("w".to_owned()),
        },
        "w = 1\na = w + ?\nz = w\n",
    );
    // Functions come along, once.
    let text = "fn f(a) {\n  return a * 2\n}\nw = 1\ny = f(w)\n";
    let copied = super::copy(text, &["y".to_owned()]).unwrap();
    assert_eq!(copied, "fn f(a) {\n  return a * 2\n}\ny = f(?)\n");
    becomes(
        text,
        &Gesture::Paste { text: copied, at: None },
        "fn f(a) {\n  return a * 2\n}\nw = 1\ny = f(w)\ny2 = f(?)\n",
    );
}

#[test]
fn group_and_ungroup_undo_each_other() {
    let text = "# router\nparam w [2, 3] = rand(seed=1)\ns = sum_rows(w)  # the sums\n# keep away from 0\nc = clamp(s, min=0.1)\ny = w / c\nloss = sum(y * y)\nlayout s 1 2\nlayout y.1 3 4\n";
    let grouped = "# router\nparam w [2, 3] = rand(seed=1)\nfn router(w) {\n  s = sum_rows(w)  # the sums\n  # keep away from 0\n  c = clamp(s, min=0.1)\n  return w / c\n}\ny = router(w)\nloss = sum(y * y)\nlayout y.s 1 2\nlayout y.1 3 4\n";
    let text = text.replace("layout y.1 3 4\n", "layout loss.1 3 4\n");
    let grouped = grouped.replace("layout y.1 3 4\n", "layout loss.1 3 4\n");
    becomes(&text, &group(&["w", "s", "c", "y"], "router"), &grouped);
    becomes(&grouped, &ungroup("y"), &text);
}

#[test]
fn group_is_refused_where_a_function_cannot_be() {
    let text = "param w = 1\na = exp(w)\nb = log(a)\nc = a * b\nd = a + c\nloss = d\n";
    refused(
        text,
        &group(&["a", "b"], "f"),
        "`a` and `b` are both read outside, and a fn returns one value",
    );
    refused(
        text,
        &group(&["c", "a"], "f"),
        "`a` and `c` are both read outside, and a fn returns one value",
    );
    refused(
        "param w = 1\na = exp(w)\nb = log(a)\nc = b * 2\n",
        &group(&["a", "c"], "f"),
        "`b` stands between: it reads one of these and is read by another",
    );
    refused(text, &group(&["w"], "f"), "there is nothing to group: leaves that train stay outside");
    let text = "param x = 2\na = x * 3\nb = exp(x)\nc = a * log(x)\nloss = c + b\n";
    refused(
        text,
        &group(&["a", "c"], "f"),
        "the nodes between these would be computed in another order, and gradients would round otherwise",
    );
    // Two contributions give one sum in any order.
    becomes(
        &text.replace("log(x)", "2"),
        &group(&["a", "c"], "f"),
        "param x = 2\nfn f(x) {\n  a = x * 3\n  return a * 2\n}\nb = exp(x)\nc = f(x)\nloss = c + b\n",
    );
    refused(
        text,
        &group(&["a"], "exp"),
        "`exp` is an op, which the fn would hide; choose another name",
    );
    refused(text, &group(&["a"], "x"), "`x` is defined already; a name is defined once");
}

#[test]
fn ungroup_gives_arguments_lines_and_numbers_their_place() {
    becomes(
        "fn f(a, k=2) {  # scales\n  # inside\n  b = a * k  # twice\n  return exp(b) + a^k\n}\nparam w = 1\nb = w\nu = f(w + 1, k=-3) + b  # u\nlayout u.2.b 1 2\n",
        &ungroup("u.2"),
        "param w = 1\nb = w\na = w + 1\n# scales\n# inside\nb2 = a * (-3)  # twice\ny = exp(b2) + a^(-3)\nu = y + b  # u\nlayout b2 1 2\n",
    );
    becomes(
        "fn f(a) {\n  b = a * 2\n  return exp(b + a)\n}\nparam w = 1\nu = f(w)\nv = f(u)\nlayout u.b 1 2\nlayout u.1 3 4\n",
        &ungroup("u"),
        "fn f(a) {\n  b = a * 2\n  return exp(b + a)\n}\nparam w = 1\nb = w * 2\nu = exp(b + w)\nv = f(u)\nlayout b 1 2\nlayout u.1 3 4\n",
    );
    becomes(
        "fn f(a) {\n  return exp(a)\n}\nw = 1\nu = f(  # why\n  w)\n",
        &ungroup("u"),
        "w = 1\n# why\nu = exp(w)\n",
    );
    refused("w = 1\n", &ungroup("w"), "`w` is no call of a fn");
}

fn literal(node: &str, cell: Option<&[u32]>, slot: Option<usize>, value: &str) -> Gesture {
    Gesture::SetLiteral {
        node: node.to_owned(),
        cell: cell.map(<[u32]>::to_vec),
        slot,
        value: value.to_owned(),
    }
}

#[test]
fn values_change_in_place() {
    let text = "param w [2, 2] = [[1, 2],  # first\n  [3, 4]]  # last\n";
    becomes(
        text,
        &literal("w", Some(&[1, 0]), None, "-0.5"),
        "param w [2, 2] = [[1, 2],  # first\n  [-0.5, 4]]  # last\n",
    );
    becomes(
        "param w [2, 2] = [1, 2, 3, 4]",
        &literal("w", Some(&[1, 0]), None, "9"),
        "param w [2, 2] = [1, 2, 9, 4]",
    );
    becomes(
        "param w [3] = arange",
        &literal("w", Some(&[1]), None, "inf"),
        "param w [3] = [0, inf, 2]",
    );
    becomes(
        "param w [2, 1] = 0.1",
        &literal("w", Some(&[1, 0]), None, "2"),
        "param w [2, 1] = [[0.1], [2]]",
    );
    becomes("k = 2\n", &literal("k", None, None, "3"), "k = 3\n");
    becomes("w = 1\ny = w ^ 2\n", &literal("y", None, Some(1), "-3"), "w = 1\ny = w ^ (-3)\n");
    refused(
        "w = 1\ny = exp(w)\n",
        &literal("y", None, None, "3"),
        "`y` is no leaf; its value is computed",
    );
    refused("param w [2] = 1", &literal("w", Some(&[2]), None, "3"), "[2] has no element [2]");
}

#[test]
fn shapes_types_and_roles_change_in_place() {
    let shape = |shape: &str| Gesture::SetShape { node: "w".to_owned(), shape: shape.to_owned() };
    becomes("param w [2] = rand\n", &shape("[3, 2]"), "param w [3, 2] = rand\n");
    becomes("param w = 1\n", &shape("[3 row]"), "param w [3 row] = 1\n");
    becomes("param w [2] = 1\n", &shape(""), "param w = 1\n");
    becomes(
        "param w [2, 2] = [[1, 2], [3, 4]]\n",
        &shape("[1, 3]"),
        "param w [1, 3] = [[1, 2, 0]]\n",
    );
    refused(
        "param w [2] = 1\n",
        &shape("[2"),
        "`=` names an argument of a call; a comparison is `==`",
    );
    let axis = |axis: usize, name: &str| Gesture::SetAxisName {
        node: "w".to_owned(),
        axis,
        name: name.to_owned(),
    };
    becomes("param w [2, 3] = 1\n", &axis(1, "expert"), "param w [2, 3 expert] = 1\n");
    becomes("param w ne[3, 2] = 1\n", &axis(1, "expert"), "param w ne[3 expert, 2] = 1\n");
    becomes("param w = [[1, 2]]\n", &axis(0, "row"), "param w [1 row, 2] = [[1, 2]]\n");
    let dtype = |dtype: &str| Gesture::SetType { node: "w".to_owned(), dtype: dtype.to_owned() };
    becomes("param w [2] = 1\n", &dtype("f16"), "param w [2] f16 = 1\n");
    becomes("param w [2] f16 = 1\n", &dtype("f32"), "param w [2] = 1\n");
    let trains = |trains| Gesture::SetTrains { node: "w".to_owned(), trains };
    becomes("param w = 1\n", &trains(false), "const w = 1\n");
    becomes("w = 1\n", &trains(true), "param w = 1\n");
}

#[test]
fn attributes_change_in_place() {
    let set = |attribute: &str, value: &str| Gesture::SetAttribute {
        node: "y".to_owned(),
        attribute: attribute.to_owned(),
        value: value.to_owned(),
    };
    let text = "param w [2, 3] = 1\n";
    let becomes = |line: &str, gesture: &Gesture, want: &str| {
        becomes(&format!("{text}{line}\n"), gesture, &format!("{text}{want}\n"));
    };
    becomes("y = clamp(w)", &set("min", "-1"), "y = clamp(w, min=-1)");
    becomes("y = clamp(w, min=0, max=1)", &set("lo", "2"), "y = clamp(w, min=2, max=1)");
    becomes("y = clamp(w, min=0, max=1)", &set("min", ""), "y = clamp(w, max=1)");
    becomes("y = clamp(w, 0, 1)", &set("max", "4"), "y = clamp(w, 0, 4)");
    becomes("y = w.sum()", &set("axis", "[0, 1]"), "y = w.sum(axis=[0, 1])");
    becomes("y = permute(w, 1, 0)", &set("axes", "[0, 1]"), "y = permute(w, [0, 1])");
    becomes("y = w[0]", &set("index", "1, ::2"), "y = w[1, ::2]");
    refused("param w = 1\ny = exp(w)\n", &set("axis", "1"), "`y` has no attribute `axis`");
}

#[test]
fn rules_stand_first() {
    let rules = |rules: &str| Gesture::SetRules { rules: rules.to_owned() };
    becomes("# t\nw = 1\n", &rules("numpy"), "# t\nrules numpy\nw = 1\n");
    becomes("rules ggml # r\nw = 1\n", &rules("numpy"), "rules numpy # r\nw = 1\n");
    refused("", &rules("torch"), "there are no rules called `torch`");
}

#[test]
fn pins_stand_in_a_trailer() {
    let pin = |node: &str, x, y| Gesture::Pin { node: node.to_owned(), x, y };
    becomes("w = 1\ny = w", &pin("y", 10.04, -0.01), "w = 1\ny = w\n\nlayout y 10 0\n");
    becomes("w = 1\n\nlayout w 1 2\n", &pin("w", 3.5, 4.0), "w = 1\n\nlayout w 3.5 4\n");
    becomes(
        "w = 1\ny = w\n\nlayout w 1 2\n",
        &pin("y", 3.0, 4.0),
        "w = 1\ny = w\n\nlayout w 1 2\nlayout y 3 4\n",
    );
    let unpin = Gesture::Unpin { nodes: vec!["w".to_owned()] };
    becomes("w = 1\n\nlayout w 1 2\n", &unpin, "w = 1\n\n");
}

#[test]
fn the_palette_lists_what_fits_first_and_what_is_refused_last() {
    let text = "rules upstream\nparam w [2 token, 3] = 1\n";
    let names = |query: &str| -> Vec<String> {
        super::palette(text, Some("w"), query).into_iter().map(|entry| entry.op).collect()
    };
    let all = super::palette(text, Some("w"), "");
    let is_refused: Vec<bool> = all.iter().map(|entry| !entry.refused.is_empty()).collect();
    assert!(is_refused.is_sorted() && is_refused.contains(&true));
    let sum = super::palette(text, Some("w"), "+").remove(0);
    assert_eq!((sum.signature.as_str(), sum.suits), ("a + b", super::Suits::Yes(vec![2, 3])));
    assert_eq!(names("softm").first().map(String::as_str), Some("softmax"));
    assert_eq!(
        names("clip").last().map(String::as_str),
        Some("clamp"),
        "an alias, refused by upstream"
    );
    let found = super::palette(text, None, "sfx");
    let found = found.iter().find(|entry| entry.op == "softmax").unwrap();
    assert_eq!(found.found, [0, 2, 6]);
    // A scalar has no axis.
    let misfit = super::palette("param w = 1\n", Some("w"), "softmax");
    let misfit = misfit.iter().find(|entry| entry.op == "softmax").unwrap();
    assert!(matches!(misfit.suits, super::Suits::No(_)), "{misfit:?}");
}

#[test]
fn completion_knows_where_the_caret_stands() {
    let text = "rules numpy\nparam w [2 token, 3] = 1\ns = sum(w, |\n";
    let at = |text: &str| -> Vec<String> {
        let caret = text.find('|').unwrap() as u32;
        let items = super::complete(&text.replace('|', ""), caret);
        items.into_iter().map(|item| item.label).take(4).collect()
    };
    assert_eq!(at(text).get(..2), Some(&["axis".to_owned(), "keepdims".to_owned()][..]));
    assert_eq!(at("param w [2 token, 3] = 1\ns = sum(w, axis=|"), ["token", "1"]);
    assert_eq!(at("ru|"), ["rules", "return", "accumulator"][..1].to_vec());
    assert_eq!(at("rules ups|"), ["upstream"]);
    assert_eq!(at("w = 1\nbackward |"), ["w"]);
    assert_eq!(at("train sgd lr=0.1 st|"), ["steps"]);
    assert_eq!(at("param w [2] b|"), ["bf16", "bool"]);
    assert_eq!(at("param w [2] = ran|"), ["rand", "randn", "arange"]);
    assert_eq!(at("wide = 1\ny = wid|"), ["wide"]);
    assert_eq!(at("w = 1  # sum|"), Vec::<String>::new());
    assert_eq!(at("w = 1\ny = sigm|").first().map(String::as_str), Some("sigmoid"));
    assert_eq!(at("fn f(arg) {\n  return ar|").first().map(String::as_str), Some("arg"));
    assert_eq!(at("w = 1\ny = w |"), Vec::<String>::new());
}

#[test]
fn a_card_says_what_is_under_the_pointer() {
    let text = "rules upstream\nparam w [2 token, 3] = 1\nc = clamp(w, min=0) * ?\nbackward c\n";
    let title =
        |word: &str| super::hover(text, text.find(word).unwrap() as u32).map(|card| card.title);
    assert_eq!(title("clamp").as_deref(), Some("clamp(a, min=…, max=…)"));
    assert_eq!(title("w [").as_deref(), Some("w [2 token, 3] f32"));
    assert_eq!(title("w,").as_deref(), Some("w [2 token, 3] f32"));
    assert_eq!(title("min").as_deref(), Some("min=…"));
    assert_eq!(title("*").as_deref(), Some("a * b"));
    assert_eq!(title("upstream").as_deref(), Some("rules upstream"));
    assert_eq!(title("c\n").as_deref(), Some("c (open)"));
    assert_eq!(title("?").as_deref(), Some("open-input"));
    let card = super::hover(text, text.find("clamp").unwrap() as u32).unwrap();
    assert!(card.lines.iter().any(|line| line.contains("no backward under upstream")), "{card:?}");
}
