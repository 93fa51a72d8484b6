//! What documents mean: which nodes they make, in which order, and what is said of mistakes.

use std::fmt::Write as _;

use super::{CheckKind, Lowered, lower};
use crate::construct::Budget;
use crate::graph::{Init, NodeKind, Value};
use crate::lang::{edit, format, parse};
use crate::ops::def::ParamKind;
use crate::refusal::Severity;

fn lowered(text: &str) -> Lowered {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
    lower(&parsed.ast, text, &Budget::default())
}

/// The nodes, one a line: `name: op(sources; attributes) [shape]`.
fn nodes(lowered: &Lowered) -> String {
    let mut out = String::new();
    for (id, node) in lowered.graph.nodes() {
        let name = |id: crate::graph::NodeId| {
            let node = lowered.graph.node(id);
            match (&node.name, &node.kind) {
                (Some(name), _) => name.to_string(),
                (None, NodeKind::Leaf(Init::Fill(x))) => format!("{x}"),
                (None, NodeKind::Leaf(Init::Literal(x))) => format!("{x:?}"),
                _ => "?".to_owned(),
            }
        };
        let what = match &node.kind {
            NodeKind::Leaf(_) if node.flags.inline => continue,
            NodeKind::Leaf(init) => {
                let role = if node.flags.param { "param" } else { "const" };
                match init {
                    Init::Fill(x) => format!("{role} {x}"),
                    Init::Literal(x) => format!("{role} {x:?}"),
                    other => format!("{role} {other:?}"),
                }
            }
            NodeKind::Op { op, src, params } => {
                let mut words: Vec<String> = src.iter().map(|s| name(*s)).collect();
                for (spec, value) in op.def().params.iter().zip(params.values()) {
                    match value {
                        Value::None => {}
                        // It stands among the sources.
                        _ if spec.kind == ParamKind::Node => {}
                        Value::Num(x) => words.push(format!("{}={x}", spec.name)),
                        Value::Int(x) => words.push(format!("{}={x}", spec.name)),
                        Value::Bool(x) => words.push(format!("{}={x}", spec.name)),
                        Value::Ints(x) => words.push(format!("{}={x:?}", spec.name)),
                        Value::Text(x) => words.push(format!("{}={x:?}", spec.name)),
                        Value::Index(x) => words.push(format!("{}={}", spec.name, x.len())),
                    }
                }
                let bang = if node.flags.in_place { "!" } else { "" };
                format!("{}{bang}({})", op.def().name, words.join(", "))
            }
        };
        let _ = writeln!(out, "{}: {what} {}", name(id), node.ty.shape);
    }
    out
}

fn complaints(text: &str) -> String {
    let parsed = parse(text);
    let lowered = lower(&parsed.ast, text, &Budget::default());
    let mut out = String::new();
    for diagnostic in parsed.diagnostics.iter().chain(&lowered.diagnostics) {
        let (code, span) = (diagnostic.code.name(), diagnostic.span.of(text));
        let weight = if diagnostic.severity == Severity::Error { "" } else { "warning " };
        let _ = writeln!(out, "{weight}{code} at `{span}`: {}", diagnostic.message);
        for fix in &diagnostic.fixes {
            let fixed = edit::apply(text, &fix.edits).unwrap_or_else(|e| e.to_string());
            let _ = writeln!(out, "  {} -> {fixed:?}", fix.title);
        }
    }
    out
}

#[track_caller]
fn check_nodes(text: &str, expected: &str) {
    let lowered = lowered(text);
    let found = nodes(&lowered);
    let trim = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(lowered.diagnostics, [], "\n{text}\n{found}");
    assert_eq!(trim(&found), trim(expected), "\n{text}\n{found}");
    // The canonical form means the same.
    let spelled = format(text);
    let again = super::lower(&parse(&spelled).ast, &spelled, &Budget::default());
    assert_eq!(nodes(&again), found, "\n{spelled}");
}

#[track_caller]
fn check_complaints(text: &str, expected: &str) {
    let found = complaints(text);
    let trim = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(trim(&found), trim(expected), "\n{text}\n{found}");
}

#[test]
fn nested_expressions_get_derived_names_in_order() {
    check_nodes(
        "rules numpy\nparam w [1, 2] = [[0.3, 0.2]]\ny = w / sum(w * 2, axis=1, keepdims=true) - -w\nloss = y[0, 0]",
        "w: param [0.3, 0.2] [1,2]
         y.1: mul(w, 2) [1,2]
         y.2: sum(y.1, axis=1, keepdims=true) [1,1]
         y.3: div(w, y.2) [1,2]
         y.4: neg(w) [1,2]
         y: sub(y.3, y.4) [1,2]
         loss: slice(y, index=2) []",
    );
}

#[test]
fn numbers_alone_are_computed_and_beside_a_tensor_they_take_its_shape() {
    let lowered = lowered("rules ggml\nparam x [2, 3] = ones\ny = 1/2^3 * x ^ (1 - -1)\nk = 3 - 1");
    assert_eq!(
        nodes(&lowered),
        "x: param 1 [2,3]\ny.1: pow(x, 2) [2,3]\ny: mul(0.125, y.1) [2,3]\nk: const 2 []\n"
    );
    let inline: Vec<_> =
        lowered.graph.nodes().filter(|(_, n)| n.flags.inline).map(|(_, n)| n.ty.shape).collect();
    assert_eq!(inline.len(), 2);
    assert!(inline.iter().all(|shape| shape.dims() == [2, 3]));
}

#[test]
fn a_line_that_is_needed_earlier_is_made_just_before_its_first_user() {
    check_nodes(
        "y = sqr(a) + b\nb = a * c\nparam a = [1, 2]\nc = 2 * a\nz = y",
        "a: param [1.0, 2.0] [2]
         y.1: sqr(a) [2]
         c: mul(2, a) [2]
         b: mul(a, c) [2]
         y: add(y.1, b) [2]
         z: view(y) [2]",
    );
}

#[test]
fn calls_take_tensors_then_attributes_by_order_or_name() {
    check_nodes(
        "param x [2 row, 3 col] = ones\na = clamp(x, 0)\nb = clip(x, max=1, min=0)\nc = x.softmax(dim=0)
         d = torch.permute(x, 1, 0)\ne = np.sum(x, axis=(-1), keepdims=True)\nf = x.sum(0, 1)\ng = sum(x, axis=[row, col])
         h = softmax(x, axis=col)\ni = repeat(x, [2, 1])\nj = x.repeat(2, 1)\nk = transpose(x, row, col)\nl = x.T
         m = sum(x, None, true)\nn = reshape(x, 3, 2)\no = where(x > 0, x, 0)\np = stack(x, x, axis=1)
         q = scale(x, 1/2, bias=q0)\nq0 = 3",
        "x: param 1 [2,3]
         a: clamp(x, min=0) [2,3]
         b: clamp(x, min=0, max=1) [2,3]
         c: softmax(x, axis=0) [2,3]
         d: permute(x, axes=[1, 0]) [3,2]
         e: sum(x, axis=-1, keepdims=true) [2,1]
         f: sum(x, axis=[0, 1], keepdims=false) []
         g: sum(x, axis=[0, 1], keepdims=false) []
         h: softmax(x, axis=1) [2,3]
         i: repeat(x, reps=[2, 1]) [4,3]
         j: repeat(x, reps=[2, 1]) [4,3]
         k: transpose(x, axis=0, other=1) [3,2]
         l: transpose(x) [3,2]
         m: sum(x, keepdims=true) [1,1]
         n: reshape(x, shape=[3, 2]) [3,2]
         o.1: greater(x, 0) [2,3]
         o: where(o.1, x, 0) [2,3]
         p: stack(x, x, axis=1) [2,2,3]
         q0: const 3 []
         q: scale(x, s=0.5, bias=3) [2,3]",
    );
}

#[test]
fn functions_make_nodes_under_the_name_of_their_call() {
    check_nodes(
        "rules numpy\nfn double(a, by=2) { return by * a }
         fn f(w, eps=1e-3) {\n  t = s + h\n  s = clamp(w, min=eps)\n  const h [2] = [1, 2]\n  return t / sum(double(s))\n}
         r = f(x)\nparam x = [3, 4]\nz = f(w=x * 2, eps=1/4) - double(2) * x",
        "x: param [3.0, 4.0] [2]
         r.s: clamp(x, min=0.001) [2]
         r.h: const [1.0, 2.0] [2]
         r.t: add(r.s, r.h) [2]
         r.1: mul(2, r.s) [2]
         r.2: sum(r.1, keepdims=false) []
         r: div(r.t, r.2) [2]
         z.1: mul(x, 2) [2]
         z.2.s: clamp(z.1, min=0.25) [2]
         z.2.h: const [1.0, 2.0] [2]
         z.2.t: add(z.2.s, z.2.h) [2]
         z.2.1: mul(2, z.2.s) [2]
         z.2.2: sum(z.2.1, keepdims=false) []
         z.2: div(z.2.t, z.2.2) [2]
         z.3: mul(4, x) [2]
         z: sub(z.2, z.3) [2]",
    );
    check_nodes(
        "fn id(a) { return a }\nparam x = 1\ny = id(x)\nz = id(3)\nw = x.id()",
        "x: param 1 []\ny: view(x) []\nz: const 3 []\nw: view(x) []",
    );
}

#[test]
fn a_later_line_reads_what_was_written_in_place() {
    check_nodes(
        "param x = [3, 4]\ns = x * x\nv = s\nc = clamp!(s, min=4)\ny = s + v\nd = cpy(x, into=s)\nz = s\nq = exp!(s) + s",
        "x: param [3.0, 4.0] [2]
         s: mul(x, x) [2]
         v: view(s) [2]
         c: clamp!(s, min=4) [2]
         y: add(c, c) [2]
         d: cpy!(x, c) [2]
         z: view(d) [2]
         q.1: exp!(d) [2]
         q: add(q.1, q.1) [2]",
    );
    // A function writes into what it was given.
    check_nodes(
        "fn f(a) { return exp!(a) }\nparam x = [3, 4]\ns = x * x\nr = f(s)\ny = s + 1",
        "x: param [3.0, 4.0] [2]
         s: mul(x, x) [2]
         r: exp!(s) [2]
         y: add(r, 1) [2]",
    );
}

#[test]
fn what_a_name_means_now_is_not_looked_for_among_all_writes() {
    // One half of a storage is written over, and the other is read.
    let looks = |n| {
        let line = |i| format!("x{i} = exp!(x{})\ny{i} = h * h\n", i - 1);
        let lines: String = (1..=n).map(line).collect();
        let text = format!("param w = [1, 2]\nc = w + w\nx0 = c[:1]\nh = c[1:]\n{lines}");
        let ast = parse(&text).ast;
        crate::looks::count(|| drop(lower(&ast, &text, &Budget::default())))
    };
    let (few, many) = (looks(100), looks(1_000));
    assert!(few > 100 && many < 11 * few, "{few} looks grow to {many}");
}

#[test]
fn leaves_are_filled() {
    check_nodes(
        "param a [2, 3] = 0.5\nconst b ne[3, 2] f16 = [[1, 2, 3], [4, 5, 6]]\nconst c [] = -inf\nconst d [2] bool = [true, false]
         const e [2, 2] = eye\nconst f [3] = arange(step=2)\nconst g [3] = linspace(0, 1)\nconst h [2] = rand(seed=18446744073709551615)
         const i [2] = randn()\nconst j [0, 2] = zeros\nconst k = []\nconst l [2, 2] = [1, 2, 3, 4]\nconst m [2] i32 = full(1/1)\nconst n = [[1], [2]]",
        "a: param 0.5 [2,3]
         b: const [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] [2,3]
         c: const -inf []
         d: const [1.0, 0.0] [2]
         e: const Eye [2,2]
         f: const Arange { start: 0.0, step: 2.0 } [3]
         g: const Linspace { a: 0.0, b: 1.0 } [3]
         h: const Rand { seed: 18446744073709551615, lo: 0.0, hi: 1.0 } [2]
         i: const Randn { seed: 1 } [2]
         j: const 0 [0,2]
         k: const [] [0]
         l: const [1.0, 2.0, 3.0, 4.0] [2,2]
         m: const 1 [2]
         n: const [1.0, 2.0] [2,1]",
    );
}

#[test]
fn directives_are_read() {
    let lowered = lowered(
        "rules upstream\nparam w [1, 2] = [[0.3, 0.2]]\ny = w / sum_rows(w)\nloss = y[0, 0]
         accumulator y.1 [1, 1] = 2\nbackward y with [[1, 0]]\ncheck fd points=4\ncheck adjoint
         check formula w = [[w[0,1], -w[0,0]]] / (w[0,0] + w[0,1])^2\ntrain adamw lr=0.1 steps=3 clip=1\nlayout y 1 -2",
    );
    assert_eq!(lowered.diagnostics, []);
    let name = |id| lowered.graph.node(id).name.as_deref().unwrap_or("");
    assert_eq!(lowered.rules.name(), "upstream");
    assert_eq!(lowered.loss.map(name), Some("y"));
    let backward = lowered.backward.as_ref().and_then(|backward| backward.with.as_ref());
    assert_eq!(backward.map(|with| with.shape.to_string()).as_deref(), Some("[1,2]"));
    assert_eq!(lowered.accumulators.iter().map(|a| name(a.0)).collect::<Vec<_>>(), ["y.1"]);
    let pins: Vec<_> = lowered.pins.iter().map(|pin| (name(pin.node), pin.x, pin.y)).collect();
    assert_eq!(pins, [("y", 1.0, -2.0)]);
    let train = lowered.train.as_ref();
    let train = train.map(|train| (train.optimizer.name(), train.steps, train.period));
    assert_eq!(train, Some(("adamw", 3, 1)));
    let [fd, adjoint, formula] = lowered.checks.as_slice() else {
        unreachable!("three checks, not {}", lowered.checks.len());
    };
    assert!(matches!(fd.kind, CheckKind::Fd) && fd.settings == [("points".to_owned(), 4.0)]);
    assert!(matches!(adjoint.kind, CheckKind::Adjoint));
    let CheckKind::Formula(formula) = &formula.kind else {
        unreachable!("the third is a formula");
    };
    assert_eq!(name(formula.of), "w");
    assert_eq!(formula.inputs.iter().map(|(_, node)| name(*node)).collect::<Vec<_>>(), ["w"]);
    let mut values = crate::forward::Values::<f64>::new();
    for (leaf, _) in &formula.inputs {
        values.give(*leaf, vec![0.3, 0.2]);
    }
    values.eval(&formula.graph, 0..formula.graph.len());
    let found = values.read_f64(&formula.graph, formula.value);
    let expected = [0.2 / 0.25, -0.3 / 0.25];
    assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12), "{found:?}");
    assert_eq!(formula.graph.node(formula.value).ty.shape.to_string(), "[1,2]");
}

#[test]
fn the_node_called_loss_is_the_loss() {
    let name = |text: &str| {
        let lowered = lower(&parse(text).ast, text, &Budget::default());
        lowered.loss.and_then(|id| lowered.graph.node(id).name.as_deref().map(str::to_owned))
    };
    assert_eq!(name("param a = 1\nloss = a").as_deref(), Some("loss"));
    assert_eq!(name("param a = 1\ny = a"), None);
    assert_eq!(name("param a = 1\nloss = b\ny = a"), None);
}

#[test]
fn every_mistake_is_named_once_with_what_to_do() {
    for (text, expected) in [
        (
            "param a = 1\ny = a + b + b",
            "unknown-name at `b`: nothing is called `b`\nunknown-name at `b`: nothing is called `b`",
        ),
        (
            "param ab = 1\ny = ba",
            "unknown-name at `ba`: nothing is called `ba`\nWrite `ab` -> \"param ab = 1\\ny = ab\"",
        ),
        (
            "param xs = 1\ny = smu(xx)",
            "unknown-op at `smu`: there is no op called `smu`\nWrite `sum` -> \"param xs = 1\\ny = sum(xx)\"\nunknown-name at `xx`: nothing is called `xx`\nWrite `xs` -> \"param xs = 1\\ny = smu(xs)\"",
        ),
        (
            "param x = 1\ny = clamp(x, mn=1)",
            "wrong-arguments at `mn`: `clamp` has `min` and `max`, each once\nWrite `min` -> \"param x = 1\\ny = clamp(x, min=1)\"",
        ),
        (
            "param x = 1\ny = clamp(x, 0, 1, 2)",
            "wrong-arguments at `2`: `clamp` takes 1 tensor and `min` and `max`",
        ),
        ("param x = 1\ny = clamp(x, x)", "wrong-arguments at `x`: CLAMP: min must be a number."),
        (
            "param x = 1\ny = sum(x, axis=0.5)",
            "wrong-arguments at `0.5`: SUM: axis must be an axis or a list of axes.",
        ),
        ("param x = 1\ny = sum(x, axis=1)", "wrong-arguments at `1`: SUM: [] has no axis 1."),
        (
            "param x [2 tok] = 1\ny = softmax(x, axis=tik)",
            "wrong-arguments at `tik`: no axis is called `tik`; here are tok\nWrite `tok` -> \"param x [2 tok] = 1\\ny = softmax(x, axis=tok)\"",
        ),
        (
            "y = ? + 1\nz = y * 2\nparam w = 1\nv = w",
            "open-input at `?`: this input is not connected yet; write a name or a number",
        ),
        (
            "x = 1\nx = x + 1\ny = x",
            "duplicate-name at `x`: `x` is defined already; a name is defined once\nRename to `x2` -> \"x = 1\\nx2 = x + 1\\ny = x2\"",
        ),
        ("y = z\nz = y", "cycle at `y`: `y` needs `z`, which needs `y`"),
        ("y = y + 1", "cycle at `y`: `y` needs itself"),
        (
            "fn f(a) { return g(a) }\nfn g(a) { return f(a) }\ny = f(1)",
            "cycle at `f`: `f` calls `g`, which calls `f`",
        ),
        ("fn f(a) { return f(a) }", "cycle at `f`: `f` calls itself"),
        (
            "fn f(a) { return sqtr(a) }",
            "unknown-op at `sqtr`: there is no op called `sqtr`\nWrite `sqrt` -> \"fn f(a) { return sqrt(a) }\"",
        ),
        (
            "fn f(a) { return w }\nparam w = 1\ny = f(w)",
            "unknown-name at `w`: a fn reads only its arguments; pass `w` to it",
        ),
        (
            "fn f(a, b) { return a }\nparam w = 1\ny = f(w)\nz = f(w, 1, 2)\nu = f(w, c=1, b=2)",
            "wrong-arguments at `f`: `f` takes `a` and `b`; `b` is missing\nwrong-arguments at `2`: `f` takes `a` and `b`, not 3 arguments\nwrong-arguments at `c`: `f` takes `a` and `b`, each once",
        ),
        (
            "param a [2] = [1, 2, 3]",
            "bad-literal at `[1, 2, 3]`: this list has 3 numbers, and [2] needs 2",
        ),
        (
            "param a = [[1], [2, 3]]",
            "bad-literal at `[[1], [2, 3]]`: the parts of a list have one shape; here are [1] and [2]",
        ),
        (
            "param a = rand",
            "bad-literal at `rand`: this needs a shape; write `[2, 3]` before the `=`",
        ),
        (
            "param a [2] f23 = 1",
            "bad-literal at `f23`: `f23` is no type; write f32, f16, bf16, i32, bool\nWrite `f32` -> \"param a [2] f32 = 1\"",
        ),
        (
            "const a i32 = 0.5",
            "bad-literal at `0.5`: i32 holds whole numbers up to 2^31 - 1, not 0.5",
        ),
        (
            "const a [2] = rnd(seed=1)",
            "unknown-op at `rnd`: nothing called `rnd` fills a leaf\nWrite `rand` -> \"const a [2] = rand(seed=1)\"",
        ),
        (
            "const a [2] = rand(1, sed=2)",
            "wrong-arguments at `sed`: `rand` takes seed, lo, hi, each once\nWrite `seed` -> \"const a [2] = rand(1, seed=2)\"",
        ),
        (
            "const a = load(\"f.csv\")",
            "bad-file at `\"f.csv\"`: \"f.csv\" cannot be used: no files can be read here",
        ),
        (
            "const a [1, 1, 1, 1, 1] = 1",
            "bad-literal at `[1, 1, 1, 1, 1]`: a tensor has at most 4 axes, this has 5",
        ),
        ("const a [2 t, 2 t] = 1", "duplicate-name at `2 t`: two axes are called `t`; rename one"),
        (
            "const a [4000000000, 4000000000] = 1",
            "too-many-elements at `const a [4000000000, 4000000000] = 1`: a would have more than 16777216 elements.",
        ),
        (
            "const a [5000000000] = 1",
            "too-many-elements at `5000000000`: this tensor would have more than 16777216 elements.",
        ),
        (
            "param a = 1\ny = [a, 1]",
            "bad-literal at `[a, 1]`: a list holds numbers; a tensor cannot stand in it",
        ),
        (
            "param a [2] = 1\nparam b [3] = 1\ny = a + b",
            "shapes-do-not-broadcast at `b`: y: [2] and [3] do not broadcast.",
        ),
        (
            "param a [2] = 1\nparam b [] = 1\ny = b + a",
            "broadcast-not-allowed at `b`: y: [] would have to stretch to [2], and these rules stretch only the second operand.\nUse rules numpy -> \"rules numpy\\nparam a [2] = 1\\nparam b [] = 1\\ny = b + a\"",
        ),
        (
            "rules gml\nrules numpy",
            "unknown-name at `gml`: there are no rules called `gml`; write `ggml`, `upstream`, `numpy`\nWrite `ggml` -> \"rules ggml\\nrules numpy\"\nduplicate-name at `rules numpy`: a document has one `rules` line; remove this one\nRemove it -> \"rules gml\\n\"",
        ),
        (
            "param a = 1\nbackward a\nbackward a",
            "duplicate-name at `backward a`: a document has one `backward` line; remove this one\nRemove it -> \"param a = 1\\nbackward a\\n\"",
        ),
        (
            "param yes = 1\nbackward yse\nlayout yes.1 0 0",
            "unknown-name at `yse`: no node is called `yse`\nWrite `yes` -> \"param yes = 1\\nbackward yes\\nlayout yes.1 0 0\"\nwarning unknown-name at `yes.1`: no node is called `yes.1`\nRemove the line -> \"param yes = 1\\nbackward yse\\n\"",
        ),
        (
            "train sdg\ntrain sgd",
            "unknown-name at `sdg`: `sdg` is no method; write `sgd` or `adamw`\nWrite `sgd` -> \"train sgd\\ntrain sgd\"\nduplicate-name at `train sgd`: a document has one `train` line; remove this one\nRemove it -> \"train sdg\\n\"",
        ),
        (
            "train sgd lr=1 beta1=2 steps=0.5",
            "wrong-arguments at `beta1`: `sgd` takes lr, momentum, wd, steps, period, clip, each once\nbad-literal at `0.5`: `steps` is a whole number from 1 on",
        ),
        (
            "check fd ponts=4 step=1e-3 points=3\ncheck adjoint points=2\ncheck fd points=2 points=4",
            "wrong-arguments at `ponts`: `check fd` takes points, each once\nWrite `points` -> \"check fd points=4 step=1e-3 points=3\\ncheck adjoint points=2\\ncheck fd points=2 points=4\"\nwrong-arguments at `step`: `check fd` takes points, each once\nbad-literal at `3`: a difference takes `points=2` or `points=4`\nwrong-arguments at `points`: `check adjoint` takes no settings\nwrong-arguments at `points`: `check fd` takes points, each once",
        ),
        (
            "train sgd steps=1000000",
            "too-many-steps at `1000000`: This would take more than 100000 steps.",
        ),
        (
            "y = zeros\nz = rand(2)",
            "unknown-name at `zeros`: `zeros` fills a leaf; write `const NAME [SHAPE] = zeros`\nunknown-op at `rand`: `rand` fills a leaf; write `const NAME [SHAPE] = rand(\u{2026})`",
        ),
        // What a broken line defines is known, and what needs it is no mistake.
        (
            "y = )\nz = y + 1\nbackward z",
            "syntax at `)`: a value is missing before `)`\nAdd `?` -> \"y = ?)\\nz = y + 1\\nbackward z\"",
        ),
        (
            "fn f( {\nreturn a\n}\nz = f(1)",
            "syntax at `{`: expected the name of an argument, found `{`",
        ),
    ] {
        check_complaints(text, expected);
    }
}

#[test]
fn a_mistake_spoils_only_what_needs_it() {
    let text = "param a = 1\nb = a + nope\nc = b * 2\nd = a * 2\nloss = c";
    let lowered = lower(&parse(text).ast, text, &Budget::default());
    assert_eq!(nodes(&lowered), "a: param 1 []\nd: mul(a, 2) []\n");
    let names: Vec<_> = lowered.valueless.iter().map(|name| name.text.as_str()).collect();
    assert_eq!(names, ["b", "c", "loss"]);
}

#[test]
fn text_and_nodes_find_each_other() {
    let text = "param w = [1, 2]\nfn f(a) { return a * a }\ny = 3 * f(w) / w";
    let lowered = lowered(text);
    let named = |name: &str| lowered.names.get(name).copied();
    let text_of = |name: &str| named(name).and_then(|id| lowered.map.span(id)).map(|s| s.of(text));
    assert_eq!(text_of("w"), Some("param w = [1, 2]"));
    assert_eq!(text_of("y"), Some("3 * f(w) / w"));
    assert_eq!(text_of("y.1"), Some("a * a"));
    assert_eq!(text_of("y.2"), Some("3 * f(w)"));
    let operand = |src| named("y").and_then(|y| lowered.map.operand(y, src)).map(|s| s.of(text));
    assert_eq!(operand(0), Some("3 * f(w)"));
    assert_eq!(operand(1), Some("w"));
    let site = named("y.1").and_then(|id| lowered.map.node(id)).and_then(|node| node.site);
    assert_eq!(site.map(|span| span.of(text)), Some("f(w)"));
    let line = named("y").and_then(|y| lowered.map.line(y)).unwrap_or_default();
    assert_eq!(line.of(text), "y = 3 * f(w) / w");
    assert_eq!(lowered.map.within(line).count(), 3);
    let at = |piece: &str| {
        let node = text.find(piece).and_then(|place| lowered.map.at(place as u32));
        let name = |id| lowered.graph.node(id).name.as_deref().unwrap_or("inline").to_owned();
        node.map(name).unwrap_or_default()
    };
    assert_eq!(
        ["w = [1", "a * a", "3 * f", "/ w", "y = 3"].map(at),
        ["w", "y.1", "inline", "y", "y"]
    );
}

#[test]
fn long_and_deep_documents_are_bounded() {
    let budget = Budget::default();
    let lower = |text: &str| lower(&parse(text).ast, text, &budget);
    let codes =
        |lowered: &Lowered| lowered.diagnostics.iter().map(|d| d.code.name()).collect::<Vec<_>>();
    let long = format!("param a = 1\ny = a{}", "+a".repeat(100_000));
    assert_eq!(codes(&lower(&long)), ["too-many-nodes"]);
    // Each line needs the next.
    let lines = |n: usize, line: &dyn Fn(usize) -> String| {
        (0..n).map(line).collect::<Vec<_>>().join("\n") + "\n"
    };
    let mut chain = lines(15_000, &|n| format!("a{n} = a{} + 1", n + 1));
    chain.push_str("param a15000 = 1\n");
    assert_eq!(codes(&lower(&chain)), ["too-many-nodes"]);
    let mut views = lines(15_000, &|n| format!("a{n} = a{}", n + 1));
    views.push_str("param a15000 = 1\n");
    let made = lower(&views);
    assert_eq!((codes(&made).len(), made.graph.len()), (0, 15_001));
    // Twice as many calls at each level, none of which makes a node.
    let mut calls = "fn f0(a) { return a }\n".to_owned();
    for n in 1..60 {
        let _ = writeln!(calls, "fn f{n}(a) {{ return f{0}(a) + f{0}(a) }}", n - 1);
    }
    calls.push_str("y = f59(1)");
    assert_eq!(codes(&lower(&calls)), ["too-many-nodes"]);
    let cycle = lines(20_000, &|n| format!("a{n} = a{}", (n + 1) % 20_000));
    assert_eq!(codes(&lower(&cycle)), ["cycle"]);
    let next = |n: usize| (n + 1) % 20_000;
    let functions = lines(20_000, &|n| format!("fn f{n}(a) {{ return f{}(a) }}", next(n)));
    assert_eq!(codes(&lower(&functions)), ["cycle"]);
    let ones = "1,".repeat(200_000);
    assert_eq!(codes(&lower(&format!("const a = [{ones}]\nb = [{ones}]"))), [""; 0]);
    assert_eq!(codes(&lower("y = repeat([1], reps=[100000000])")), ["too-many-elements"]);
    assert_eq!(codes(&lower(&"x = 1\n".repeat(100_000))).len(), 1000);
}

#[test]
fn nothing_that_can_be_read_makes_lowering_panic() {
    const PIECES: &[&str] = &[
        "a",
        "b",
        "x",
        "y",
        "1",
        "0",
        "0.5",
        "-1",
        "inf",
        "true",
        "?",
        "[1, 2]",
        "[[1], [2]]",
        "[a, 1]",
        "(",
        ")",
        ")",
        ")\n",
        ",",
        " = ",
        "\n",
        "\n",
        "\n",
        "+",
        "-",
        "*",
        "/",
        "@",
        "^",
        "<",
        "axis=",
        "min=",
        "into=",
        ".T",
        "[0]",
        "[:, _]",
        "[...]",
        "sum(",
        "clamp!(",
        "clamp(",
        "where(",
        "permute(",
        "repeat(",
        "cpy(",
        "f(",
        "np.sum(",
        "stack(",
        "mul_mat(",
        "param a [2] = ones\n",
        "const b [2 t, 2] = rand\n",
        "x = a * b\n",
        "y = clamp!(x)\n",
        "fn f(a, k=2) { s = a * k\nreturn s + a }\n",
        "y = f(x)\n",
        "backward y with ",
        "check formula a = ",
        "accumulator x ",
        "layout x 1 2\n",
        "train sgd lr=1\n",
        "rules numpy\n",
        "t",
        "rules upstream\n",
        "None",
        "load(\"f\")",
        "zeros",
        "linspace(1, ",
        "x.",
        "y.1",
        "x = ",
        "y = ",
        "z = ",
        "z = ",
        "u = ",
        "v = ",
    ];
    let mut seed = 3u64;
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) % n as u64) as usize
    };
    let budget = Budget { nodes: 200, tensor_elements: 1000, elements: 5000, ..Budget::default() };
    for _ in 0..20_000 {
        let n = 1 + below(30);
        let text: String =
            (0..n).filter_map(|_| PIECES.get(below(PIECES.len())).copied()).collect();
        let lowered = lower(&parse(&text).ast, &text, &budget);
        let mapped = lowered.graph.nodes().filter(|(id, _)| lowered.map.node(*id).is_some());
        assert_eq!(mapped.count(), lowered.graph.len(), "{text:?}");
        for diagnostic in &lowered.diagnostics {
            assert!(text.get(diagnostic.span.range()).is_some(), "{text:?}\n{diagnostic:?}");
            for fix in &diagnostic.fixes {
                assert!(edit::apply(&text, &fix.edits).is_ok(), "{text:?}\n{fix:?}");
            }
        }
        let mut values = crate::forward::Values::<f32>::new();
        values.eval(&lowered.graph, 0..lowered.graph.len());
    }
}
