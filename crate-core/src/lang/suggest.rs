//! The nearest name to a misspelt one.
//!
//! It knows no language and no table: the caller brings the candidates.

/// Names longer than this are not compared.
const MAX_LEN: usize = 48;

/// The candidate that is nearest to `name`, where one is near enough to be meant.
///
/// Near enough is one slip in three letters: a letter too many, too few, wrong, or two swapped.
/// The first of equally near candidates wins, so the order of the candidates is the tie break.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.chars().take(MAX_LEN + 1).collect();
    if wanted.is_empty() || wanted.len() > MAX_LEN {
        return None;
    }
    let limit = (wanted.len() / 3).max(1);
    let mut best: Option<((usize, usize), &str)> = None;
    for candidate in candidates {
        // Of equally many slips the one that keeps the length is likelier.
        let below = best.map_or((limit + 1, 0), |(score, _)| score);
        let longer = candidate.len().abs_diff(name.len());
        if candidate == name || longer > below.0 {
            continue;
        }
        let letters: Vec<char> = candidate.chars().take(MAX_LEN + 1).collect();
        if letters.len() > MAX_LEN {
            continue;
        }
        let slips = slips(&wanted, &letters);
        // Of a short word nothing may be left over by chance: `x` is not near `y`.
        if (slips, longer) < below && slips < wanted.len().max(letters.len()) {
            best = Some(((slips, longer), candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The Damerau-Levenshtein distance with adjacent swaps; a letter in the other case is no slip.
fn slips(a: &[char], b: &[char]) -> usize {
    let same = |x: char, y: char| x.eq_ignore_ascii_case(&y);
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut earlier_a = None;
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        let mut left = i + 1;
        row.push(left);
        let mut earlier_b = None;
        for (j, &y) in b.iter().enumerate() {
            let cell = |from: &[usize], ix: usize| from.get(ix).copied().unwrap_or(usize::MAX / 2);
            let mut best = (cell(&last, j) + usize::from(!same(x, y)))
                .min(cell(&last, j + 1) + 1)
                .min(left + 1);
            let swapped =
                earlier_a.is_some_and(|p| same(p, y)) && earlier_b.is_some_and(|p| same(x, p));
            if swapped {
                best = best.min(cell(&before, j.wrapping_sub(1)) + 1);
            }
            row.push(best);
            left = best;
            earlier_b = Some(y);
        }
        before = std::mem::replace(&mut last, row);
        earlier_a = Some(x);
    }
    last.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_finds_slips_and_leaves_strangers() {
        let names = ["clamp", "sum", "sum_rows", "mean", "softmax", "x"];
        for (typed, meant) in [
            ("clmap", Some("clamp")),
            ("sumrows", Some("sum_rows")),
            ("Softmax", Some("softmax")),
            ("smu", Some("sum")),
            ("maen", Some("mean")),
            ("y", None),
            ("conv2d", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names), meant, "{typed}");
        }
    }

    #[test]
    fn nearest_does_not_compare_endless_names() {
        let long = "a".repeat(100_000);
        assert_eq!(nearest(&long, ["a"]), None);
        assert_eq!(nearest("aaaa", [long.as_str()]), None);
    }
}
