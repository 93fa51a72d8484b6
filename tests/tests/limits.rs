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
