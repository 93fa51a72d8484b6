//! Changes of bytes that know nothing of what they mean, and numbers read from bytes.

use super::pick;
use crate::rng::Rng;

/// Longer inputs reach nothing that shorter ones do not.
const MOST: usize = 4096;

/// One of the pool with some bytes changed.
pub fn mutate(rng: &mut Rng, pool: &[Vec<u8>]) -> Vec<u8> {
    let mut out = pick(rng, pool).to_vec();
    for _ in 0..=rng.below(6) {
        change(rng, &mut out, pool);
    }
    out.truncate(MOST);
    out
}

/// One change.
pub fn change(rng: &mut Rng, out: &mut Vec<u8>, pool: &[Vec<u8>]) {
    let at = rng.below(out.len() + 1);
    let end = (at + 1 + rng.below(8)).min(out.len());
    match rng.below(8) {
        0 if at < out.len() => out[at] ^= 1 << rng.below(8),
        1 if at < out.len() => out[at] = rng.bits() as u8,
        2 if at < out.len() => out[at] = rng.pick(&[0, 1, 0x7f, 0x80, 0xff]),
        3 => {
            out.drain(at..end);
        }
        4 => {
            let part = out[at..end].to_vec();
            let to = rng.below(out.len() + 1);
            out.splice(to..to, part);
        }
        5 => {
            let other = pick(rng, pool);
            let from = rng.below(other.len() + 1);
            let part = other[from..(from + rng.below(32)).min(other.len())].to_vec();
            out.splice(at..end, part);
        }
        6 => out.truncate(at),
        _ => out.insert(at, rng.bits() as u8),
    }
}

/// Bytes that are read one after the other; zeros after the last.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// From the first.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all are read.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next.
    pub fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// A number below `n`; 0 where there is none.
    pub fn below(&mut self, n: usize) -> usize {
        let wide = if n > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (wide | usize::from(self.byte())) % n.max(1)
    }

    /// One of these.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// True for so many of 256 bytes.
    pub fn chance(&mut self, of: u8) -> bool {
        self.byte() < of
    }
}
