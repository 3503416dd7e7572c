//! Random bits from a key and a counter: Threefry-2x32 with 20 rounds.
//!
//! Invariant: the bits at a place are a function of the key and of the place alone, so that neither threads, nor the instruction
//! set, nor how many others are asked for changes them. Source: J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random
//! numbers: as easy as 1, 2, 3" (2011). Not for secrets.

use super::isa::multiversion;

/// What a stream of random bits is a function of.
pub type Key = [u32; 2];

/// The counters of keys that come from keys: no place of a stream has this bit.
const DERIVED: u32 = 1 << 31;
/// The counters of second attempts, where a first was refused.
const AGAIN: u32 = 1 << 30;

/// The block of a counter.
#[inline(always)]
pub fn threefry(key: Key, counter: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let schedule = [key[0], key[1], 0x1bd1_1bda ^ key[0] ^ key[1]];
    let mut x = counter[0].wrapping_add(schedule[0]);
    let mut y = counter[1].wrapping_add(schedule[1]);
    for round in 0..5_usize {
        for rotation in ROTATIONS[round % 2] {
            x = x.wrapping_add(y);
            y = y.rotate_left(rotation) ^ x;
        }
        x = x.wrapping_add(schedule[(round + 1) % 3]);
        y = y.wrapping_add(schedule[(round + 2) % 3]).wrapping_add(round as u32 + 1);
    }
    [x, y]
}

#[inline(always)]
fn words_of(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

#[inline(always)]
fn joined([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The key of a seed.
pub fn key_of(seed: u64) -> Key {
    words_of(seed)
}

/// A key from a key and a number; other numbers give other keys, and none gives a place of the key's own stream.
pub fn derived(key: Key, number: u64) -> Key {
    let [low, high] = words_of(number);
    threefry(threefry(key, [low, DERIVED]), [high, DERIVED])
}

multiversion! {
    /// What a function makes of 32 bits at each place; `first` is the number of the first block, and a block has two places.
    pub fn fill_words<T, F: Fn(u32) -> T>(key: Key, first: u64, out: &mut [T], f: F) {
        let mut pairs = out.chunks_exact_mut(2);
        let mut block = first;
        for pair in &mut pairs {
            let [x, y] = threefry(key, words_of(block));
            pair[0] = f(x);
            pair[1] = f(y);
            block += 1;
        }
        if let [last] = pairs.into_remainder() {
            *last = f(threefry(key, words_of(block))[0]);
        }
    }

    /// What a function makes of 64 bits at each place, of which the first is `first`.
    pub fn fill_blocks<T, F: Fn(u64) -> T>(key: Key, first: u64, out: &mut [T], f: F) {
        for (at, out) in out.iter_mut().enumerate() {
            *out = f(joined(threefry(key, words_of(first + at as u64))));
        }
    }
}

/// Numbers below `span`, each as likely as the others.
///
/// Source: D. Lemire, "Fast random integer generation in an interval" (2019): the high word of a product, and another
/// attempt, with bits of its own, where the low word is among the few that would favour a number.
pub fn fill_below<T, F: Fn(u64) -> T>(key: Key, first: u64, span: u64, out: &mut [T], f: F) {
    let refused = span.wrapping_neg() % span;
    for (at, out) in out.iter_mut().enumerate() {
        let place = words_of(first + at as u64);
        let (mut key, mut attempt) = (key, 0);
        *out = loop {
            let product = u128::from(joined(threefry(key, place))) * u128::from(span);
            if product as u64 >= refused {
                break f((product >> 64) as u64);
            }
            attempt += 1;
            key = threefry(key, [attempt, AGAIN]);
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::isa::{supported, with_isa};
    use super::*;

    #[test]
    fn blocks_are_the_published_ones() {
        // `threefry2x32 20` of `kat_vectors` of Random123, the library of the paper.
        let pi = [0x243f_6a88, 0x85a3_08d3];
        for (counter, key, block) in [
            ([0, 0], [0, 0], [0x6b20_0159, 0x99ba_4efe]),
            ([u32::MAX, u32::MAX], [u32::MAX, u32::MAX], [0x1cb9_96fc, 0xbb00_2be7]),
            (pi, [0x1319_8a2e, 0x0370_7344], [0xc492_3a9c, 0x483d_f7a0]),
        ] {
            assert_eq!(threefry(key, counter), block, "{key:x?} {counter:x?}");
        }
    }

    #[test]
    fn a_place_has_the_same_bits_however_many_are_asked_for() {
        for &isa in supported() {
            with_isa(isa, || {
                let (mut words, mut blocks) = (vec![0; 101], vec![0; 101]);
                fill_words([1, 2], 0, &mut words, |word| word);
                fill_blocks([1, 2], 0, &mut blocks, |block| block);
                for at in 0..50_u32 {
                    let block = threefry([1, 2], [at, 0]);
                    assert_eq!(words[2 * at as usize..][..2], block, "{isa}");
                    assert_eq!(blocks[at as usize], joined(block), "{isa}");
                }
                let mut rest = vec![0; 41];
                fill_words([1, 2], 30, &mut rest, |word| word);
                assert_eq!(rest, words[60..], "{isa}");
            });
        }
    }

    #[test]
    fn numbers_below_a_span_are_equally_likely() {
        let mut counts = [0_u32; 3];
        let mut out = vec![0; 30_000];
        fill_below([7, 8], 0, 3, &mut out, |number| number);
        out.iter().for_each(|&number| counts[number as usize] += 1);
        assert!(counts.iter().all(|count| (9_700..10_300).contains(count)), "{counts:?}");
        // Nearly half of the attempts are refused, and every number is in range still.
        let span = (1 << 63) + 1;
        fill_below([7, 8], 0, span, &mut out, |number| number);
        let above = out.iter().filter(|&&number| number > span / 2).count();
        assert!(out.iter().all(|&number| number < span) && (14_500..15_500).contains(&above), "{above}");
    }

    #[test]
    fn derived_keys_differ() {
        let numbers = (0..1000).chain([1 << 32, 1 << 33, u64::MAX]);
        let keys: std::collections::BTreeSet<Key> = numbers.map(|number| derived([0, 0], number)).collect();
        assert_eq!(keys.len(), 1003);
    }
}
