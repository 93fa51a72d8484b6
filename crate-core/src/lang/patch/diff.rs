//! What changed between two texts, as edits of the lines that differ; and the edits that undo them.

use crate::lang::{Span, TextEdit};

/// Above so many pairs of lines the differing middle is replaced as one.
const MAX_PAIRS: usize = 1 << 20;

/// Edits that make `new` of `old`: in order, not overlapping, and only where something differs.
pub fn between(old: &str, new: &str) -> Vec<TextEdit> {
    let a: Vec<&str> = old.split_inclusive('\n').collect();
    let b: Vec<&str> = new.split_inclusive('\n').collect();
    let n_head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let rest = |of: &[&str]| of.len() - n_head;
    let tails = a.iter().rev().zip(b.iter().rev()).take(rest(&a).min(rest(&b)));
    let n_tail = tails.take_while(|(x, y)| x == y).count();
    let middle_a = a.get(n_head..a.len() - n_tail).unwrap_or(&[]);
    let middle_b = b.get(n_head..b.len() - n_tail).unwrap_or(&[]);
    let mut at = a.iter().take(n_head).map(|line| line.len()).sum::<usize>();
    let mut edits = Vec::new();
    let (mut gone, mut come) = (String::new(), String::new());
    for piece in pieces(middle_a, middle_b) {
        match piece {
            Piece::Gone(line) => gone.push_str(line),
            Piece::Come(line) => come.push_str(line),
            Piece::Same(line) => {
                edits.extend(narrow(at, &gone, &come));
                at += gone.len() + line.len();
                gone.clear();
                come.clear();
            }
        }
    }
    edits.extend(narrow(at, &gone, &come));
    edits
}

/// The edits of the new text that give the old one back.
pub fn inverse(text: &str, edits: &[TextEdit]) -> Vec<TextEdit> {
    let mut order: Vec<&TextEdit> = edits.iter().collect();
    order.sort_by_key(|edit| edit.span);
    let mut shift = 0i64;
    let back = order.into_iter().map(|edit| {
        let start = (i64::from(edit.span.start) + shift) as u32;
        let len = edit.text.len() as u32;
        shift += i64::from(len) - i64::from(edit.span.end - edit.span.start);
        TextEdit::replace(Span::new(start, start + len), edit.span.of(text))
    });
    back.collect()
}

enum Piece<'t> {
    Same(&'t str),
    Gone(&'t str),
    Come(&'t str),
}

/// A longest common part of the lines, and what differs around it.
fn pieces<'t>(a: &[&'t str], b: &[&'t str]) -> Vec<Piece<'t>> {
    let all = || a.iter().map(|x| Piece::Gone(x)).chain(b.iter().map(|y| Piece::Come(y)));
    let width = b.len() + 1;
    if a.len().saturating_mul(width) > MAX_PAIRS {
        return all().collect();
    }
    // common[i * width + j]: how many lines a[i..] and b[j..] share.
    let mut common = vec![0u32; (a.len() + 1) * width];
    let at = |of: &[u32], i: usize, j: usize| of.get(i * width + j).copied().unwrap_or(0);
    for (i, x) in a.iter().enumerate().rev() {
        for (j, y) in b.iter().enumerate().rev() {
            let best = if x == y {
                at(&common, i + 1, j + 1) + 1
            } else {
                at(&common, i + 1, j).max(at(&common, i, j + 1))
            };
            if let Some(slot) = common.get_mut(i * width + j) {
                *slot = best;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut out = Vec::with_capacity(a.len() + b.len());
    loop {
        match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) if x == y => {
                out.push(Piece::Same(x));
                i += 1;
                j += 1;
            }
            (Some(x), y) if y.is_none() || at(&common, i + 1, j) >= at(&common, i, j + 1) => {
                out.push(Piece::Gone(x));
                i += 1;
            }
            (_, Some(y)) => {
                out.push(Piece::Come(y));
                j += 1;
            }
            _ => return out,
        }
    }
}

/// One edit without what both sides begin and end with.
fn narrow(at: usize, gone: &str, come: &str) -> Option<TextEdit> {
    if gone == come {
        return None;
    }
    let head: usize =
        gone.chars().zip(come.chars()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum();
    let (gone, come) = (gone.get(head..).unwrap_or(""), come.get(head..).unwrap_or(""));
    let tail: usize = gone
        .chars()
        .rev()
        .zip(come.chars().rev())
        .take_while(|(x, y)| x == y)
        .map(|(x, _)| x.len_utf8())
        .sum();
    let come = come.get(..come.len() - tail).unwrap_or("");
    let start = (at + head) as u32;
    let span = Span::new(start, start + (gone.len() - tail) as u32);
    Some(TextEdit::replace(span, come))
}
