//! What changed between two texts, line by line.

/// A line of a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line<'a> {
    /// In both.
    Same(&'a str),
    /// In the old one alone.
    Gone(&'a str),
    /// In the new one alone.
    Come(&'a str),
}

/// So many pairs of lines are compared at most; of longer changes all old lines go and all new ones come.
const PAIRS: usize = 1 << 20;

/// The lines of both texts, the fewest of them gone and come.
pub fn lines<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let pairs = old.iter().zip(&new);
    let head = pairs.take_while(|(a, b)| a == b).count();
    let (a, b) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, after) = a.split_at(a.len() - tail);
    let b = b.get(..b.len() - tail).unwrap_or_default();
    let mut lines: Vec<Line<'a>> = old.iter().take(head).map(|line| Line::Same(line)).collect();
    if a.len().saturating_mul(b.len()) > PAIRS {
        lines.extend(a.iter().map(|line| Line::Gone(line)));
        lines.extend(b.iter().map(|line| Line::Come(line)));
    } else {
        middle(a, b, &mut lines);
    }
    lines.extend(after.iter().map(|line| Line::Same(line)));
    lines
}

/// By the longest lines in common: `longest[i][j]` of what is left from `i` and `j` on.
fn middle<'a>(a: &[&'a str], b: &[&'a str], lines: &mut Vec<Line<'a>>) {
    let width = b.len() + 1;
    let mut longest = vec![0_u32; (a.len() + 1) * width];
    let at = |i: usize, j: usize| i * width + j;
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[at(i, j)] = if a[i] == b[j] {
                longest[at(i + 1, j + 1)] + 1
            } else {
                longest[at(i + 1, j)].max(longest[at(i, j + 1)])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            lines.push(Line::Same(a[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || longest[at(i + 1, j)] >= longest[at(i, j + 1)]) {
            lines.push(Line::Gone(a[i]));
            i += 1;
        } else {
            lines.push(Line::Come(b[j]));
            j += 1;
        }
    }
}

/// A difference in words: `2 lines added, 1 removed`.
pub fn words(lines: &[Line<'_>]) -> String {
    let count = |is: fn(&Line<'_>) -> bool| lines.iter().filter(|line| is(line)).count();
    let (come, gone) =
        (count(|line| matches!(line, Line::Come(_))), count(|line| matches!(line, Line::Gone(_))));
    let some = |n: usize| format!("{n} line{}", if n == 1 { "" } else { "s" });
    match (come, gone) {
        (0, 0) => "Only blanks or line ends changed".to_owned(),
        (come, 0) => format!("{} added", some(come)),
        (0, gone) => format!("{} removed", some(gone)),
        (come, gone) if come == gone => format!("{} changed", some(come)),
        (come, gone) => format!("{} added, {gone} removed", some(come)),
    }
}
