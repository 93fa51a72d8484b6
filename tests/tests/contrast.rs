//! The design's colours hold the contrast that WCAG asks for, in both themes: computed from the tokens themselves.
//! Formula: WCAG 2.2, relative luminance and contrast ratio.

#![expect(clippy::unwrap_used, reason = "a check that cannot be made has failed")]

use std::collections::BTreeMap;

use foldback::math::Real;
use foldback_tests::golden::root;

type Tokens = BTreeMap<String, [f64; 3]>;

/// The colours that a rule's block gives, as red, green and blue from 0 to 1.
fn tokens(css: &str, selector: &str) -> Tokens {
    let block = css.split_once(selector).unwrap().1.split_once('{').unwrap().1;
    let block = block.split_once('}').unwrap().0;
    let mut out = Tokens::new();
    for line in block.split(';') {
        let line = line.rsplit("*/").next().unwrap_or("").trim();
        let Some((name, value)) = line.split_once(':') else { continue };
        let Some(hex) = value.trim().strip_prefix('#') else { continue };
        let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        out.insert(name.trim().trim_start_matches("--").to_owned(), [part(0), part(2), part(4)]);
    }
    out
}

fn luminance(rgb: [f64; 3]) -> f64 {
    let linear =
        rgb.map(|c| if c <= 0.040_45 { c / 12.92 } else { Real::pow((c + 0.055) / 1.055, 2.4) });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn ratio(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// A share of one colour over another, as `color-mix(in srgb, …)` has it.
fn mixed(over: [f64; 3], share: f64, under: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|ix| over[ix] * share + under[ix] * (1.0 - share))
}

const HUES: [&str; 5] = ["fw", "bw", "fold", "refuse", "ok"];
const SURFACES: [&str; 5] = ["canvas", "panel", "raised", "sunken", "hover"];

/// Every pair that stands on the page, with what it needs.
fn pairs(t: &Tokens) -> Vec<(String, f64, f64)> {
    let mut out = Vec::new();
    let mut need = |name: String, a: [f64; 3], b: [f64; 3], least: f64| {
        out.push((name, ratio(a, b), least));
    };
    for surface in SURFACES {
        for ink in ["ink", "ink-2", "ink-3"] {
            need(format!("{ink} on {surface}"), t[ink], t[surface], 4.5);
        }
        for line in ["line-strong", "focus"] {
            need(format!("{line} on {surface}"), t[line], t[surface], 3.0);
        }
        for hue in HUES {
            need(format!("{hue} on {surface}"), t[hue], t[surface], 3.0);
            let ink = format!("{hue}-ink");
            need(format!("{ink} on {surface}"), t[&ink], t[surface], 4.5);
        }
    }
    for hue in HUES {
        let (ink, tint) = (format!("{hue}-ink"), format!("{hue}-tint"));
        need(format!("{ink} on {tint}"), t[&ink], t[&tint], 4.5);
        need(format!("ink on {tint}"), t["ink"], t[&tint], 4.5);
        need(format!("ink-2 on {tint}"), t["ink-2"], t[&tint], 4.5);
        // The strongest cell of a grid: 46 % of the hue.
        let cell = mixed(t[hue], 0.46, t["panel"]);
        need(format!("ink on the strongest {hue} cell"), t["ink"], cell, 4.5);
    }
    need("on-ink on ink".to_owned(), t["on-ink"], t["ink"], 4.5);
    out
}

fn css() -> String {
    std::fs::read_to_string(root().join("www/tokens.css")).unwrap()
}

#[test]
fn every_pair_of_colours_has_its_contrast_in_both_themes() {
    let css = css();
    let mut short = Vec::new();
    for (theme, selector) in [("light", ":root {"), ("dark", ":root[data-theme=\"dark\"] {")] {
        let selector = selector.trim_end_matches(" {");
        let pairs = pairs(&tokens(&css, selector));
        assert!(pairs.len() > 80, "{theme}: only {}", pairs.len());
        for (name, ratio, least) in pairs {
            if ratio < least {
                short.push(format!("{theme}: {name} has {ratio:.2} of {least}"));
            }
        }
    }
    assert!(short.is_empty(), "{}", short.join("\n"));
}

#[test]
fn the_dark_values_are_the_same_in_both_places() {
    let css = css();
    let by_system = tokens(&css, ":root:not([data-theme=\"light\"])");
    assert_eq!(by_system, tokens(&css, ":root[data-theme=\"dark\"]"));
}

#[test]
fn the_formula_gives_the_known_ratios() {
    assert!((ratio([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
    let grey = f64::from(0x76_u8) / 255.0;
    assert!((ratio([grey; 3], [1.0; 3]) - 4.54).abs() < 0.01, "WCAG's own example, #767676");
}
