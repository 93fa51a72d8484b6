//! The limits of the language, at both sides of each. Nothing is allocated before a limit is checked, so that most of
//! them are shown by lowering alone.

use foldback::construct::Budget;
use foldback::lang;
use foldback_tests::analyse;

/// What is wrong with a text, by parsing and lowering alone.
fn codes(text: &str) -> Vec<String> {
    let parsed = lang::parse(text);
    let lowered = lang::lower(&parsed.ast, text, &Budget::default());
    let all = parsed.diagnostics.iter().chain(&lowered.diagnostics);
    all.map(|d| d.code.name().to_owned()).collect()
}

fn check(code: &str, inside: &str, outside: &str) {
    assert_eq!(codes(inside), Vec::<String>::new(), "inside the limit of {code}");
    assert!(codes(outside).iter().any(|c| c == code), "no {code}: {:?}", codes(outside));
}

fn chain(n: usize) -> String {
    let line = |ix: usize| format!("n{ix} = sqr(n{})\n", ix - 1);
    std::iter::once("param n0 = 1\n".to_owned())
        .chain((1..n).map(line))
        .collect::<Vec<String>>()
        .concat()
}

#[test]
fn twenty_thousand_nodes() {
    check("too-many-nodes", &chain(20_000), &chain(20_001));
}

#[test]
fn gradient_nodes_count_as_well() {
    let budget = |nodes| Budget { nodes, ..Budget::default() };
    let text = format!("{}backward n9\n", chain(10));
    let whole = foldback::report::analyse(&text, &Budget::default());
    let n = whole.trace.graph.len();
    assert!(n > 20);
    let outcome =
        |nodes| foldback_tests::outcome(&foldback::report::analyse(&text, &budget(nodes)));
    assert_eq!(outcome(n), "built");
    assert!(outcome(n - 1).starts_with("too-many-nodes"), "{}", outcome(n - 1));
    assert!(outcome(10).starts_with("too-many-nodes"), "{}", outcome(10));
}

#[test]
fn elements_of_one_tensor() {
    check("too-many-elements", "param x [4096,4096] = 0", "param x [4097,4096] = 0");
    check("too-many-elements", "param x [16777216] = 0", "param x [16777217] = 0");
    let outside = "param x [100000,100000] = 0";
    assert!(codes(outside).contains(&"too-many-elements".to_owned()));
}

#[test]
fn elements_of_a_result() {
    let outer = |n: u32| {
        format!("param a [{n},1] = 0\nparam b [1,4096] = 0\ny = repeat(a, shape=[{n},4096]) * b\n")
    };
    check("too-many-elements", &outer(4096), &outer(4097));
}

#[test]
fn elements_of_all_tensors_together() {
    let text = |n: usize| -> String {
        let line = |ix| format!("const c{ix} [4096,4096] = 0\n");
        (0..n).map(line).collect::<Vec<String>>().concat()
    };
    check("too-many-elements", &text(4), &format!("{}const one = 0\n", text(4)));
}

#[test]
fn a_view_owns_no_elements() {
    let view = |ix: i32| format!("v{ix} = c[:, {ix}:]\n");
    let views = (0..8).map(view).collect::<Vec<String>>().concat();
    assert_eq!(codes(&format!("const c [4096,4096] = 0\n{views}")), Vec::<String>::new());
}

#[test]
fn events_of_a_trace() {
    let text = format!("{}backward n9\n", chain(10));
    let whole = analyse(&text);
    let n = whole.trace.events.len();
    let outcome = |events| {
        let budget = Budget { events, ..Budget::default() };
        foldback_tests::outcome(&foldback::report::analyse(&text, &budget))
    };
    assert_eq!(outcome(n), "built");
    assert!(outcome(n / 2).starts_with("too-many-steps"), "{}", outcome(n / 2));
}

#[test]
fn steps_of_training() {
    let text = |n: u32| format!("param x = 1\nloss = sqr(x)\ntrain sgd lr=0.1 steps={n}\n");
    check("too-many-steps", &text(100_000), &text(100_001));
}

#[test]
fn brackets_sixty_four_deep() {
    let deep = |n: usize| format!("param x = 1\ny = {}x{}\n", "(".repeat(n), ")".repeat(n));
    check("syntax", &deep(64), &deep(65));
    let calls = |n: usize| format!("param x = 1\ny = {}x{}\n", "sqr(".repeat(n), ")".repeat(n));
    check("syntax", &calls(64), &calls(65));
    let lists = |n: usize| format!("param x = {}1{}\n", "[".repeat(n), "]".repeat(n));
    assert!(codes(&lists(65)).contains(&"syntax".to_owned()));
    // Far beyond: nothing recurses over the text.
    assert!(codes(&deep(200_000)).contains(&"syntax".to_owned()));
    let minus = format!("param x = 1\ny = {}x\n", "-".repeat(100_000));
    assert!(
        codes(&minus).iter().all(|c| c == "syntax" || c == "too-many-nodes"),
        "{:?}",
        codes(&minus)
    );
}

#[test]
fn one_mebibyte_of_text() {
    let text = |n: usize| {
        let mut text = "param x = 1\nloss = sqr(x)\n#".to_owned();
        text.push_str(&" ".repeat(n - text.len()));
        text
    };
    assert_eq!(codes(&text(1 << 20)), Vec::<String>::new());
    let beyond = codes(&text((1 << 20) + 1));
    assert_eq!(beyond, ["syntax"]);
}

#[test]
fn names_and_texts_of_a_thousand_letters() {
    let name = |n: usize| format!("param {} = 1\n", "n".repeat(n));
    check("syntax", &name(1000), &name(1001));
    let axis = |n: usize| format!("param x [2 {}] = 1\n", "t".repeat(n));
    check("syntax", &axis(1000), &axis(1001));
    // The quotes count.
    let text = |n: usize| format!("param x = load(\"{}\")\n", "f".repeat(n));
    assert_eq!(codes(&text(998)), ["bad-file"]);
    assert_eq!(codes(&text(999)), ["syntax"]);
}

/// A call's nodes begin with its name, and so do the calls in it: 2^24 letters in all.
#[test]
fn letters_of_the_nodes_names() {
    let nested = |depth: usize| -> String {
        let line = |ix: usize| format!("fn f{ix}(x) {{ s = f{}(x); return s }}\n", ix - 1);
        let all: String = (1..depth).map(line).collect::<Vec<String>>().concat();
        format!("fn f0(x) {{ return sqr(x) }}\n{all}param x = 1\nr = f{}(x)\n", depth - 1)
    };
    check("too-many-nodes", &nested(2500), &nested(6000));
    // Derived names repeat a long one.
    let sums = |n: usize| format!("param a = 1\n{} = a{}\n", "n".repeat(1000), " + a".repeat(n));
    check("too-many-nodes", &sums(16_000), &sums(17_000));
}

/// Constants beside each other are computed at once and are no nodes; they count all the same.
#[test]
fn elements_of_constants() {
    let parts = |n: usize, of: u32| {
        let all = vec![format!("repeat([1], reps=[{of}])"); n];
        format!("param x = 1\ny = x * sum(stack({}, axis=0))\n", all.join(", "))
    };
    check("too-many-elements", &parts(3, 1 << 20), &parts(5, 1 << 24));
    let lines = |n: usize| -> String {
        let line = |ix| format!("y{ix} = sum(repeat([1], reps=[8388608])) * x\n");
        let all: String = (0..n).map(line).collect::<Vec<String>>().concat();
        format!("param x = 1\n{all}")
    };
    check("too-many-elements", &lines(3), &lines(6));
}

/// All closed forms together are one more graph.
#[test]
fn elements_of_formulas() {
    let text = |n: usize| {
        format!(
            "param w [1024,1024] = 1\nloss = sum(w)\n{}",
            "check formula w = w * 0 + 1\n".repeat(n)
        )
    };
    check("too-many-elements", &text(12), &text(14));
}

/// What is wrong is all listed; edits that mend it are offered for the first hundred.
#[test]
fn edits_of_the_first_hundred_findings() {
    let divs = " / c".repeat(300);
    let text = format!("rules upstream\nparam w [1,2] = 1\nc = sum_rows(w)\nloss = sum(w{divs})\n");
    let report = analyse(&text).report;
    let mended = report.findings.iter().filter(|f| !f.fixes.is_empty()).count();
    assert!(report.findings.len() >= 300, "{}", report.findings.len());
    assert_eq!(mended, 100);
    assert!(report.findings.iter().flat_map(|f| &f.fixes).all(|fix| fix.title.len() < 300));
}

/// Sixty thousand unknown names: the nearest one is not looked for each time.
#[test]
fn a_thousand_complaints() {
    let line = |ix: u32| format!("x{ix} = q{ix}\n");
    let text = (0..60_000).map(line).collect::<Vec<String>>().concat();
    assert_eq!(codes(&text).len(), 1000);
}

#[test]
fn micro_batches_are_steps() {
    let text = |period: u32| {
        format!("param x = 1\nloss = sqr(x)\ntrain sgd lr=0.1 steps=1000 period={period}\n")
    };
    check("too-many-steps", &text(100), &text(101));
}

/// What is written over is kept, to be shown; so are the views of it that were made before.
#[test]
fn elements_of_what_is_written_over() {
    let writes = |n: usize| {
        let line = |ix| format!("b{ix} = scale!(a, 1)\n");
        let all: String = (0..n).map(line).collect::<Vec<String>>().concat();
        format!("const c [2048,2048] = 1\na = sqr(c)\n{all}")
    };
    check("too-many-elements", &writes(14), &writes(15));
    let views = |n: usize| {
        let line = |ix| format!("v{ix} = a[:, 0:]\n");
        let all: String = (0..n).map(line).collect::<Vec<String>>().concat();
        format!("const c [2048,2048] = 1\na = sqr(c)\n{all}b = scale!(a, 1)\n")
    };
    check("too-many-elements", &views(13), &views(14));
}

/// What an op holds at work may be larger than its operands and its result.
#[test]
fn elements_of_an_op_at_work() {
    let vecdot = |n: u32| {
        format!("rules numpy\nconst a [{n},1] = 1\nconst b [1,4096] = 1\ny = vecdot(a, b)\n")
    };
    check("too-many-elements", &vecdot(4096), &vecdot(4097));
    let einsum =
        |n: u32| format!("const a [{n}] = 1\nconst b [4096] = 1\ny = einsum(\"i,j->\", a, b)\n");
    check("too-many-elements", &einsum(4096), &einsum(4097));
    let pool = |n: u32| {
        format!("const x [1,1,8,8] = 1\ny = max_pool_2d(x, [4096,{n}], stride=1, padding=2048)\n")
    };
    check("too-many-elements", &pool(4096), &pool(4097));
}

/// Fifteen thousand writes into one storage: each keeps what is there once.
#[test]
fn many_writes_in_place() {
    let line = |ix: u32| format!("b{ix} = scale!(a, 1)\n");
    let all: String = (0..15_000).map(line).collect::<Vec<String>>().concat();
    let analysis = analyse(&format!("param w [4] = 2\na = sqr(w)\n{all}loss = sum(w)\n"));
    assert_eq!(foldback_tests::outcome(&analysis), "built");
    let last = analysis.report.nodes.iter().find(|n| n.name == "b14999").unwrap();
    assert_eq!(last.values, [4.0; 4]);
}
