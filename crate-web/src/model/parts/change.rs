//! What differs between two markups with the same tags: some words, some attributes.
//!
//! A list can be of thousands of lines, and a jump changes a word in each. Changing the word costs a tenth of reading
//! the line's markup again, and what has the focus keeps it. No parser of HTML: what it cannot tell, it leaves alone.

/// What an element gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change<'a> {
    /// Which one, in the order in which the markup opens them.
    pub element: u32,
    /// The attribute, or nothing for its words.
    pub name: &'a str,
    /// What it is to be.
    pub value: &'a str,
}

/// Puts what makes the first markup the second one, and says how many elements there are; `None` where the second has
/// to be read, or where something could not be put. Some of it may be put by then.
pub fn changes<'a>(
    was: &str,
    is: &'a str,
    put: &mut dyn FnMut(Change<'a>) -> Option<()>,
) -> Option<u32> {
    let (mut was, mut is) = (was.split('<'), is.split('<'));
    let mut n = 0;
    loop {
        let (was, is) = match (was.next(), is.next()) {
            (Some(was), Some(is)) => (was, is),
            (None, None) => return Some(n),
            _ => return None,
        };
        let opens = !is.is_empty() && !is.starts_with('/');
        if was != is {
            // Words after an end are of the element around.
            if !opens {
                return None;
            }
            within(n, was, is, put)?;
        }
        n += u32::from(opens);
    }
}

/// What differs from one tag to the next: in its attributes, each in double quotes, and in the words after it.
fn within<'a>(
    element: u32,
    was: &str,
    is: &'a str,
    put: &mut dyn FnMut(Change<'a>) -> Option<()>,
) -> Option<()> {
    let ((was, old), (is, words)) = (was.split_once('>')?, is.split_once('>')?);
    let (mut was, mut is) = (was.split('"'), is.split('"'));
    let (mut before, mut quoted) = ("", false);
    loop {
        match (was.next(), is.next()) {
            (None, None) => break,
            (Some(was), Some(same)) if was == same => before = same,
            // A name, and what stands for a sign, has to be read.
            (Some(_), Some(value)) if quoted && !value.contains('&') => {
                let (_, name) = before.rsplit_once(' ')?;
                put(Change { element, name: name.trim_end_matches('='), value })?;
            }
            _ => return None,
        }
        quoted = !quoted;
    }
    if old == words {
        return Some(());
    }
    // Where there were no words is nothing to change.
    if old.is_empty() || words.is_empty() || words.contains('&') {
        return None;
    }
    put(Change { element, name: "", value: words })
}

#[cfg(test)]
mod tests {
    use super::{Change, changes};

    fn found<'a>(was: &str, is: &'a str) -> Option<(u32, Vec<Change<'a>>)> {
        let mut found = Vec::new();
        let n = changes(was, is, &mut |change| {
            found.push(change);
            Some(())
        })?;
        Some((n, found))
    }

    const fn change<'a>(element: u32, name: &'a str, value: &'a str) -> Change<'a> {
        Change { element, name, value }
    }

    #[test]
    fn words_and_attributes_are_found_by_their_element() {
        let was = "<li><i class=\"a\" id=\"x\"/><b>1 of 2</b></li><li>not yet</li>";
        let is = "<li><i class=\"b\" id=\"x\"/><b>2 of 2</b></li><li>ready</li>";
        let all = vec![change(1, "class", "b"), change(2, "", "2 of 2"), change(3, "", "ready")];
        assert_eq!(found(was, is), Some((4, all)));
        assert_eq!(found(was, was), Some((4, Vec::new())));
        assert_eq!(found("", ""), Some((0, Vec::new())));
        assert_eq!(changes(was, is, &mut |_| None), None, "what cannot be put is said");
    }

    #[test]
    fn what_is_more_than_that_is_read_anew() {
        for (was, is) in [
            ("<li>a</li>", "<li>a</li><li>b</li>"),
            ("<li>a</li><li>b</li>", "<li>a</li>"),
            ("<b>a</b>", "<i>a</i>"),
            ("<b>a</b>", "<b>a</i>"),
            ("<b class=\"a\">a</b>", "<b id=\"a\">a</b>"),
            ("<b>a</b>", "<b id=\"a\">a</b>"),
            ("<b hidden id=\"a\">a</b>", "<b id=\"a\">a</b>"),
            // No element has words yet, or they are not where it begins.
            ("<b></b>", "<b>a</b>"),
            ("<b>a</b>", "<b></b>"),
            ("<p><b>a</b>b</p>", "<p><b>a</b>c</p>"),
            // Signs that have to be read.
            ("<b>a</b>", "<b>a &lt; b</b>"),
            ("<b id=\"a\">a</b>", "<b id=\"&amp;\">a</b>"),
            ("a", "b"),
        ] {
            assert_eq!(found(was, is), None, "{was} to {is}");
        }
    }
}
