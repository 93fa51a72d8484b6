//! Type-ahead: how well a query finds a name, and which letters it found.

/// How a query found a name: the smaller, the better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Found {
    /// It is the name.
    Whole,
    /// It begins the name.
    Prefix,
    /// It stands in the name.
    Inside,
    /// Its letters stand in the name, in this order.
    Letters,
}

/// How a query finds a name, and the places of the letters; an empty query finds everything.
pub(super) fn find(query: &str, name: &str) -> Option<(Found, Vec<u32>)> {
    let letters = |text: &str| -> Vec<char> {
        text.chars().take(64).map(|c| c.to_ascii_lowercase()).collect()
    };
    let (wanted, name) = (letters(query), letters(name));
    let run = |at: usize| (at as u32..(at + wanted.len()) as u32).collect::<Vec<u32>>();
    if wanted == name {
        return Some((Found::Whole, run(0)));
    }
    if name.starts_with(&wanted) {
        return Some((Found::Prefix, run(0)));
    }
    let inside = name.windows(wanted.len().max(1)).position(|part| part == wanted);
    if let Some(at) = inside {
        return Some((Found::Inside, run(at)));
    }
    let mut places = Vec::with_capacity(wanted.len());
    let mut rest = name.iter().enumerate();
    for c in &wanted {
        let (at, _) = rest.find(|(_, letter)| *letter == c)?;
        places.push(at as u32);
    }
    Some((Found::Letters, places))
}
