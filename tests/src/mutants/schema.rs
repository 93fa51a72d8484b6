//! Many mutants in one text: each stands beside the original, and a number at run time chooses. So the engine is
//! compiled once for all of them.
//! Deliberately absent: line breaks of its own, because events and refusals name lines of rules.

use std::fmt::Write as _;
use std::ops::Range;

use super::{Guard, Mutant};

/// What the scratch copy of the engine gets beside its own modules.
pub const MODULE: &str = r#"//! Which mutant is at work.
use std::sync::OnceLock;
use crate::graph::NodeId;
use crate::ops::def::{self, Contribution, Contributions};
use crate::refusal::Reason;

/// Whether this one is.
pub fn is(n: u32) -> bool {
    static CHOSEN: OnceLock<u32> = OnceLock::new();
    *CHOSEN.get_or_init(|| std::env::var("FOLDBACK_MUTANT").ok().and_then(|x| x.parse().ok()).unwrap_or(u32::MAX)) == n
}
/// Whether none of these is.
pub fn none(all: &[u32]) -> bool {
    !all.iter().any(|n| is(*n))
}
/// `folded`, or what is not.
pub fn folded(n: u32, src: usize, value: NodeId) -> Contribution {
    Contribution { fold: !is(n), ..def::folded(src, value) }
}
/// `push`, or nothing.
pub fn push(n: u32, out: &mut Contributions, value: Contribution) {
    if !is(n) {
        out.push(value);
    }
}
/// `one`, or none.
pub fn one(n: u32, value: NodeId) -> Result<Contributions, Reason> {
    if is(n) { Ok(Vec::new()) } else { def::one(value) }
}
"#;

/// A text in which mutants are woven, and where each of them stands.
#[derive(Debug, Default)]
pub struct Woven {
    /// The text.
    pub text: String,
    /// Number of the mutant, what it puts in, and that together with what it replaces.
    places: Vec<(usize, Range<usize>, Range<usize>)>,
    /// Mutants that are not in it, because they overlap others.
    pub left: Vec<usize>,
}

/// Weaves mutants, each with its number, into their file.
pub fn weave(text: &str, mutants: &[(usize, &Mutant)]) -> Woven {
    let mut order: Vec<(usize, &Mutant)> = mutants.to_vec();
    order.sort_by_key(|(n, m)| (m.span.start, usize::MAX - m.span.end, *n));
    let mut out = Woven::default();
    put(text, 0..text.len(), &order, &mut out);
    out
}

/// Writes a part of the text with the mutants that stand in it, outer ones first.
fn put(text: &str, part: Range<usize>, mutants: &[(usize, &Mutant)], out: &mut Woven) {
    let mut at = part.start;
    let mut rest = mutants;
    while let Some((_, first)) = rest.first() {
        let span = first.span.clone();
        let n_here = rest.iter().take_while(|(_, m)| m.span.start < span.end).count();
        let (here, after) = rest.split_at(n_here);
        rest = after;
        out.text.push_str(&text[at..span.start]);
        at = span.end;
        let start = out.text.len();
        let same: Vec<(usize, &Mutant)> =
            here.iter().copied().filter(|(_, m)| m.span == span).collect();
        let inside: Vec<(usize, &Mutant)> = here
            .iter()
            .copied()
            .filter(|(_, m)| m.span != span && m.span.end <= span.end)
            .collect();
        out.left.extend(here.iter().filter(|(_, m)| m.span.end > span.end).map(|(n, _)| *n));
        if let Guard::Text(guard) = first.guard {
            if let Some((n, _)) = same.first() {
                out.text.push_str(&guard.replace('#', &n.to_string()));
                out.places.push((*n, start..out.text.len(), start..out.text.len()));
            }
            out.left.extend(same.iter().skip(1).chain(&inside).map(|(n, _)| *n));
            continue;
        }
        // The original stands first: its type is then the one that the others must have.
        let numbers: Vec<String> = same.iter().map(|(n, _)| n.to_string()).collect();
        let _ = write!(out.text, "(if crate::mutant::none(&[{}]) {{ ", numbers.join(", "));
        put(text, span, &inside, out);
        let n_before = out.places.len();
        for (ix, (n, mutant)) in same.iter().enumerate() {
            if ix + 1 == same.len() {
                out.text.push_str(" } else { ");
            } else {
                let _ = write!(out.text, " }} else if crate::mutant::is({n}) {{ ");
            }
            let own = out.text.len();
            out.text.push_str(&flat(&mutant.with));
            out.places.push((*n, own..out.text.len(), start..start));
        }
        out.text.push_str(" })");
        let end = out.text.len();
        for place in out.places.iter_mut().skip(n_before) {
            place.2.end = end;
        }
    }
    out.text.push_str(&text[at..part.end]);
}

/// One line, without comments.
fn flat(text: &str) -> String {
    let bare = |line: &str| line.split("//").next().unwrap_or("").trim().to_owned();
    text.lines().map(bare).collect::<Vec<_>>().join(" ")
}

impl Woven {
    /// The mutants to blame for what a compiler says of these places: those that put in what is wrong, else those of
    /// the closest branch around it.
    pub fn to_blame(&self, places: &[Range<usize>]) -> Vec<usize> {
        let within = |inner: &Range<usize>, outer: &Range<usize>| {
            outer.start <= inner.start && inner.start < outer.end
        };
        for place in places {
            let own = self.places.iter().filter(|(_, own, _)| within(place, own));
            if let Some(least) = own.map(|(_, own, _)| own.len()).min() {
                let of = |(n, own, _): &(usize, Range<usize>, Range<usize>)| {
                    (within(place, own) && own.len() == least).then_some(*n)
                };
                return self.places.iter().filter_map(of).collect();
            }
        }
        for place in places {
            let around = self.places.iter().filter(|(.., whole)| within(place, whole));
            if let Some(least) = around.map(|(.., whole)| whole.len()).min() {
                let of = |(n, _, whole): &(usize, Range<usize>, Range<usize>)| {
                    (within(place, whole) && whole.len() == least).then_some(*n)
                };
                return self.places.iter().filter_map(of).collect();
            }
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::weave;
    use crate::mutants::mutants;
    use crate::sources::Source;

    #[test]
    fn the_original_stands_beside_its_mutants() {
        let text = "const DEF: u8 = 1;\nfn rule() { f(emit.mul(emit.neg(a)?, b)?) }\n";
        let source = Source { path: "ops/x.rs".into(), at: "x".into(), text: text.into() };
        let all = mutants(&source);
        let numbered: Vec<_> = all.iter().enumerate().collect();
        let woven = weave(text, &numbered);
        let expected = "f((if crate::mutant::none(&[0, 1]) { emit.mul((if crate::mutant::none(&[2]) { emit.neg(a)? } \
                        else { a }), b)? } else if crate::mutant::is(0) { emit.neg(a)? } else { b }))";
        assert!(woven.text.contains(expected), "{}", woven.text);
        let at = woven.text.find("else { b }").map_or(0, |at| at + 7);
        assert_eq!(woven.to_blame(std::slice::from_ref(&(at..at + 1))), [1]);
    }
}
