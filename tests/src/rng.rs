//! A small deterministic generator of test inputs, the language's own splitmix64.
//! Deliberately absent: entropy, and shrinking: a failing seed names its input, and inputs are short.
//! A property-testing crate would bring its own strategies, while ours come from the op table.

/// A stream of draws; the same seed gives the same stream everywhere.
pub struct Rng(u64);

impl Rng {
    /// The stream of this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 where there is none.
    pub const fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.bits() % n as u64) as usize }
    }

    /// One of these.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        let ix = self.below(list.len());
        *list.get(ix).expect("something to pick from")
    }

    /// True in so many of a hundred draws.
    pub const fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A number in `[lo, hi)`.
    pub fn number(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * ((self.bits() >> 11) as f64 / 9_007_199_254_740_992.0)
    }
}
