//! FarmHash's `Fingerprint64`, the hash of bytes that is the same on every machine.
//!
//! Source: G. Pike, FarmHash 1.1, `farmhashna::Hash64` (<https://github.com/google/farmhash>). What is at most 64 bytes long is left to the
//! crate `farmhash`, which takes one block too many of longer bytes whose number is a multiple of 64.

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;
const SEED: u64 = 81;
const BLOCK: usize = 64;

/// The fingerprint of some bytes.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    if bytes.len() <= BLOCK { farmhash::fingerprint64(bytes) } else { long(bytes) }
}

/// Two numbers that a block is mixed into.
type Pair = (u64, u64);

struct State {
    x: u64,
    y: u64,
    z: u64,
    v: Pair,
    w: Pair,
}

/// Of more than one block: all but the last, and then the last 64 bytes, which may overlap the block before.
fn long(bytes: &[u8]) -> u64 {
    let y = SEED.wrapping_mul(K1).wrapping_add(113);
    let x = SEED.wrapping_mul(K2).wrapping_add(word(bytes, 0));
    let z = shift_mix(y.wrapping_mul(K2).wrapping_add(113)).wrapping_mul(K2);
    let mut state = State { x, y, z, v: (0, 0), w: (0, 0) };
    let last = bytes.len() - BLOCK;
    for block in bytes[..bytes.len() - 1].chunks_exact(BLOCK) {
        state.mix(block, K1, 1);
    }
    let mul = K1.wrapping_add((state.z & 0xff) << 1);
    let rest = u64::try_from((bytes.len() - 1) % BLOCK).unwrap_or(0);
    state.w.0 = state.w.0.wrapping_add(rest);
    state.v.0 = state.v.0.wrapping_add(state.w.0);
    state.w.0 = state.w.0.wrapping_add(state.v.0);
    state.mix(&bytes[last..], mul, 9);
    let State { x, y, z, v, w } = state;
    let first = both(v.0, w.0, mul).wrapping_add(shift_mix(y).wrapping_mul(K0)).wrapping_add(z);
    both(first, both(v.1, w.1, mul).wrapping_add(x), mul)
}

impl State {
    /// Mixes 64 bytes in; what the last block counts more often is multiplied by `times`.
    #[inline]
    fn mix(&mut self, s: &[u8], mul: u64, times: u64) {
        let State { mut x, mut y, mut z, v, w } = *self;
        let turned = |number: u64, by: u32| number.rotate_right(by).wrapping_mul(mul);
        x = turned(x.wrapping_add(y).wrapping_add(v.0).wrapping_add(word(s, 1)), 37);
        y = turned(y.wrapping_add(v.1).wrapping_add(word(s, 6)), 42);
        x ^= w.1.wrapping_mul(times);
        y = y.wrapping_add(v.0.wrapping_mul(times)).wrapping_add(word(s, 5));
        z = turned(z.wrapping_add(w.0), 33);
        self.v = weak(s, 0, v.1.wrapping_mul(mul), x.wrapping_add(w.0));
        self.w = weak(s, 4, z.wrapping_add(w.1), y.wrapping_add(word(s, 2)));
        (self.x, self.y, self.z) = (z, y, x);
    }
}

/// Mixes four words, from the `at`-th on, into two seeds.
#[inline]
fn weak(s: &[u8], at: usize, a: u64, b: u64) -> Pair {
    let a = a.wrapping_add(word(s, at));
    let sum = a.wrapping_add(word(s, at + 1)).wrapping_add(word(s, at + 2));
    let b = b.wrapping_add(a).wrapping_add(word(s, at + 3)).rotate_right(21).wrapping_add(sum.rotate_right(44));
    (sum.wrapping_add(word(s, at + 3)), b.wrapping_add(a))
}

/// One number of two.
fn both(u: u64, v: u64, mul: u64) -> u64 {
    let a = shift_mix((u ^ v).wrapping_mul(mul));
    shift_mix((v ^ a).wrapping_mul(mul)).wrapping_mul(mul)
}

fn shift_mix(x: u64) -> u64 {
    x ^ (x >> 47)
}

/// The `i`-th eight bytes.
#[inline]
fn word(s: &[u8], i: usize) -> u64 {
    s.get(8 * i..8 * i + 8).and_then(|eight| eight.try_into().ok()).map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_the_crate_has_right_agree_with_it() {
        let bytes: Vec<u8> = (0..700_u32).map(|i| (i * i % 251) as u8).collect();
        for len in (0..700).filter(|len| *len < 128 || len % BLOCK != 0) {
            assert_eq!(fingerprint(&bytes[..len]), farmhash::fingerprint64(&bytes[..len]), "{len} bytes");
        }
    }
    #[test]
    fn whole_blocks_have_the_fingerprints_of_tensorflow() {
        for (len, wanted) in [(128, 6265265620439288234), (192, 12736865461686660036), (1024, 14164468186350699129)] {
            let mut bytes = vec![b'q'; len - 1];
            bytes.push(b'z');
            assert_eq!(fingerprint(&bytes), wanted, "{len} bytes");
        }
    }
}
