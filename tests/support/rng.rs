//! Numbers that a seed repeats.

/// The generator xorshift64*.
#[derive(Clone, Copy)]
pub struct Rng(u64);

impl Rng {
    /// The same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Any number.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        (self.draw() >> 11) % end
    }

    /// Another generator, for another thread.
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self::new(self.draw())
    }
}
