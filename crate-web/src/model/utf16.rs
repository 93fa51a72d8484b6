//! Between the engine's bytes and the browser's UTF-16 units. It happens once, at the editor.

/// How many units stand before a byte.
pub fn units(text: &str, byte: usize) -> u32 {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    text[..byte].chars().map(|c| c.len_utf16() as u32).sum()
}

/// The byte before which so many units stand.
pub fn byte(text: &str, units: u32) -> usize {
    let mut left = units as usize;
    for (at, c) in text.char_indices() {
        if left < c.len_utf16() {
            return at;
        }
        left -= c.len_utf16();
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{byte, units};

    #[test]
    fn there_and_back() {
        let text = "aé𝛁b";
        for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
            assert_eq!(byte(text, units(text, at)), at);
        }
        assert_eq!(units(text, 3), 2);
        assert_eq!(units(text, 7), 4);
        assert_eq!(byte(text, 3), 3, "inside a pair is before it");
        assert_eq!(byte(text, 99), text.len());
        assert_eq!(units(text, 2), 1, "inside a character is before it");
    }
}
