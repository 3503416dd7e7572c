//! Seeded numbers for tests: the same on every machine.

/// A small generator of 64-bit numbers (SplitMix64; Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator that begins at `seed`.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next_u64() % u64::try_from(n).unwrap_or(u64::MAX)).unwrap_or(0)
    }

    /// A float in [-1, 1).
    pub fn unit(&mut self) -> f64 {
        let bits = u32::try_from(self.next_u64() >> 32).unwrap_or(0);
        f64::from(bits) / 2_147_483_648.0 - 1.0
    }

    /// One of `items`.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// `n` floats in [-1, 1), rounded to f32.
    pub fn f32s(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| extenso_core::kernels::narrow_f32(self.unit())).collect()
    }
}
