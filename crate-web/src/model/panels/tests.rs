use super::{Opened, panel, paths};
use crate::model::examples::EXAMPLES;
use crate::model::markup::command;
use crate::model::number::short;

/// The steps of a text that fold.
fn folds(opened: &Opened) -> Vec<usize> {
    let ticks = opened.report().ticks.iter().enumerate();
    ticks.filter(|(_, tick)| tick.fold.is_some()).map(|(step, _)| step).collect()
}

/// Every panel of a text.
fn all(text: &str) -> Vec<(String, String)> {
    let opened = Opened::new(text);
    let mut asks = vec!["rules".to_owned(), "reference ".to_owned(), "reference find=a".to_owned()];
    // Of a large graph a few steps and nodes, spread over all of it.
    let (n_ticks, n_nodes) = (opened.report().ticks.len(), opened.report().nodes.len());
    asks.extend((0..n_ticks).step_by(n_ticks / 12 + 1).map(|step| format!("fold {step}")));
    asks.extend((0..n_ticks).step_by(n_ticks / 12 + 1).map(|step| format!("quiz {step} s=0 v=1")));
    asks.extend(folds(&opened).iter().map(|step| format!("fold {step} order=1,0 sheet=1")));
    for node in (0..n_nodes).step_by(n_nodes / 8 + 1) {
        asks.push(format!("side 0 {node}"));
        asks.push(format!("paths {node} "));
        asks.push(format!("paths {node} of={node} without=0 open=0,0.0,0.1,1.0.0.0"));
        asks.push(format!("take npy {node}"));
    }
    asks.into_iter().map(|ask| (panel(&opened, &ask), ask)).map(|(html, ask)| (ask, html)).collect()
}

#[test]
fn every_command_of_a_panel_is_understood_and_no_style_is_in_it() {
    let mut n = 0;
    for example in EXAMPLES {
        for (ask, html) in all(example.text) {
            assert!(!html.contains(" style="), "{ask}: the content security policy forbids it");
            for piece in html.split("data-do=\"").skip(1) {
                let command = piece.split('"').next().unwrap_or_default();
                let known = command == "open-text" || command::read(command).is_some();
                assert!(known, "{ask}: {command}");
                n += 1;
            }
        }
    }
    assert!(n > 500, "only {n}");
}

#[test]
fn whatever_is_asked_nothing_breaks_and_words_stay_text() {
    let opened = Opened::new("param x = 3\nloss = x * x\n");
    for word in ["fold", "rules", "paths", "side", "reference", "take", "", "nothing", "fold\u{0}"]
    {
        for rest in [
            "",
            " ",
            " 99999999999",
            " -1",
            " 0 0",
            " x y z",
            " 0 order=9,9 sheet=77",
            " npy",
            " op=<b>",
        ] {
            let html = panel(&opened, &[word, rest].concat());
            assert!(!html.contains("<b>"), "{word}{rest}");
        }
    }
}

#[test]
fn names_are_text_and_never_markup() {
    // A file's name comes back in a finding.
    let text = "# <img src=x>\nparam a [2] = load(\"<img src=y>.npy\")\nloss = sum(a)\n";
    let opened = Opened::new(text);
    let html = panel(&opened, "rules");
    assert!(html.contains("&lt;img src=y&gt;"), "it is said at all: {html}");
    for ask in
        ["rules", "checks", "reference find=<img>", "draw new - <img>", "draw connect <img> - "]
    {
        let html = panel(&opened, ask);
        assert!(!html.contains("<img"), "{ask}: {html}");
    }
    for (ask, html) in all(text) {
        assert!(!html.contains("<img"), "{ask}");
    }
}

#[test]
fn a_fold_ends_in_the_engines_own_numbers() {
    let mut n = 0;
    for example in EXAMPLES {
        let opened = Opened::new(example.text);
        for step in folds(&opened) {
            let fold = opened.report().ticks[step].fold.clone();
            let fold = fold.as_ref().map(|fold| (fold.axes.len(), opened.elements(fold.to)));
            let Some((1, sums)) = fold else { continue };
            let html = panel(&opened, &format!("fold {step}"));
            for sum in sums.iter().take(3) {
                // The engine adds up in another order: to four digits the two are the same.
                // The total itself, not a running one.
                let shown = [">", &short(*sum, 4), "</text>"].concat();
                let mut totals = html.split("<text class=\"num all\"").skip(1);
                let is =
                    |total: &str| total.find(&shown).is_some_and(|at| !total[..at].contains('>'));
                assert!(totals.any(is), "{}: step {step}: {shown}", example.name);
                n += 1;
            }
        }
    }
    assert!(n > 10, "only {n}");
}

#[test]
fn an_op_that_sums_is_folded_forward_and_a_mean_is_stamped() {
    let text = "rules numpy\nparam x [2,3] = [[1,2,3],[4,5,9]]\nm = mean(x, axis=1)\ns = sum(x, axis=0)\nr = sqr(x)\nloss = sum(m) + sum(s) + sum(r)\n";
    let opened = Opened::new(text);
    let of = |name: &str| {
        let at = opened.report().nodes.iter().position(|node| node.name == name);
        let is = |tick: &foldback::report::TickRow| {
            tick.node == at.map(|at| at as u32) && tick.title.starts_with("Value of")
        };
        opened
            .report()
            .ticks
            .iter()
            .position(is)
            .map(|step| panel(&opened, &format!("fold {step}")))
    };
    let mean = of("m").unwrap_or_default();
    assert!(mean.contains("a mean: the total / 3") && mean.contains(">/ 3</text>"), "{mean}");
    assert!(mean.contains(">6</text>"), "(4 + 5 + 9) / 3");
    let sum = of("s").unwrap_or_default();
    assert!(!sum.contains("a mean") && sum.contains(">12</text>"), "3 + 9");
    assert!(of("r").unwrap_or_default().contains("Nothing is folded"));
}

#[test]
fn the_paths_of_every_node_add_up_to_its_gradient() {
    let mut n = 0;
    for example in EXAMPLES {
        let opened = Opened::new(example.text);
        let report = opened.report();
        if report.findings.iter().any(|finding| finding.stops) {
            continue;
        }
        for ix in 0..report.n_forward {
            let Some(gradient) = report.grads[ix as usize] else { continue };
            let rows = paths::ledger(&opened, ix);
            let mut sum = vec![0.0_f64; opened.elements(ix).len()];
            for row in &rows {
                sum.iter_mut().zip(&row.values).for_each(|(sum, x)| *sum += x);
            }
            for (a, b) in sum.iter().zip(opened.elements(gradient)) {
                let name = &report.nodes[ix as usize].name;
                assert!((a - b).abs() <= 1e-5 * b.abs().max(1e-6), "{}: {name}", example.name);
            }
            n += rows.len();
        }
    }
    assert!(n > 100, "only {n}");
}

#[test]
fn rules_side_by_side_name_what_upstream_refuses() {
    let router = EXAMPLES.iter().find(|example| example.text.contains("rules ggml"));
    let html = router.map(|router| panel(&Opened::new(router.text), "rules")).unwrap_or_default();
    for word in
        ["gradient-shape", "no-backward", "not reached", "ggml.c:", "data-do=\"rules numpy\""]
    {
        assert!(html.contains(word), "{word}");
    }
}

#[test]
fn every_op_and_every_code_has_its_page() {
    let opened = Opened::new("");
    for op in foldback::ops::OpKind::ALL {
        let def = op.def();
        let html = panel(&opened, &format!("reference op={}", def.name));
        assert!(html.contains("<math"), "{}", def.name);
        assert_eq!(html.contains("open-text"), !def.check.samples.is_empty(), "{}", def.name);
    }
    for code in foldback::refusal::Code::ALL {
        let html = panel(&opened, &format!("reference code={}", code.name()));
        assert!(html.contains("<p class=\"prose\">"), "{}", code.name());
    }
}

#[test]
fn an_example_of_the_reference_can_be_built() {
    for op in foldback::ops::OpKind::ALL {
        let html = panel(&Opened::new(""), &format!("reference op={}", op.def().name));
        for piece in html.split("data-text=\"").skip(1) {
            let text = piece.split('"').next().unwrap_or_default();
            let text = text.replace("&gt;", ">").replace("&lt;", "<").replace("&quot;", "\"");
            let text = text.replace("&amp;", "&");
            let opened = Opened::new(&text);
            assert!(opened.report().whole, "{}: {text}", op.def().name);
        }
    }
}

#[test]
fn a_ledgers_rows_open_hop_by_hop_and_few_paths_are_listed() {
    let opened =
        Opened::new("rules numpy\nparam a [2] = 1\nb = a * 2\nc = a + b\nloss = sum(c * a)\n");
    let a = opened.report().nodes.iter().position(|node| node.name == "a").expect("it is there");
    let html = panel(&opened, &format!("paths {a} "));
    // a -> b -> c -> loss, a -> c -> loss and a -> loss, each through the product.
    assert!(html.contains("<span class=\"sub\">3</span>"), "{html}");
    assert_eq!(html.matches("<li><code>a").count(), 3, "{html}");
    assert!(!html.contains("class=\"hop\""));
    let opens = format!("tell of={a} without= open=0");
    assert!(html.contains(&opens), "{html}");
    let html = panel(&opened, &format!("paths {a} {}", &opens[5..]));
    assert!(html.contains("class=\"hop\"") && html.contains("aria-expanded=\"true\""), "{html}");
    // It closes again.
    assert!(html.contains(&format!("tell of={a} without= open=\"")), "{html}");
}

#[test]
fn paths_without_number_are_counted_and_not_listed() {
    let mut text = "rules numpy\nparam a0 = 1\n".to_owned();
    for ix in 1..=100 {
        text += &format!("a{ix} = a{0} + a{0}\n", ix - 1);
    }
    text += "backward a100\n";
    let opened = Opened::new(&text);
    let html = panel(&opened, "paths 0 of=0 without= open=0,1");
    assert!(html.contains("more than 10<sup>19</sup>"), "2^100 of them");
    assert!(!html.contains("<li><code>"));
    let near = opened.report().nodes.iter().position(|node| node.name == "a94");
    let html = panel(&opened, &format!("paths {} ", near.expect("it is there")));
    assert_eq!(html.matches("<li><code>a94").count(), 64, "2^6 are listed");
    let over = opened.report().nodes.iter().position(|node| node.name == "a93");
    let html = panel(&opened, &format!("paths {} ", over.expect("it is there")));
    assert!(html.contains("<span class=\"sub\">128</span>") && !html.contains("<li><code>"));
}
