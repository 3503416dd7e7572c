//! Texts in order: by numbers that order as their first bytes do, and by their ranks where few of them differ.
//!
//! Invariant: texts compare by their bytes. Whether ranks are taken, and what they are, does not depend on the secret of the hash.

use super::words::hash;
use std::hash::{BuildHasher, RandomState};

/// So many bytes of a text are in its number.
const LEADING: usize = 15;

/// Fewer texts are compared as they are.
const SOME: usize = 64;

/// Texts are ranked where at most one in so many is new.
const SHARE: usize = 4;

/// Of so many texts, some came before, if that may be.
const SAMPLE: usize = 4096;

/// The number of the first bytes of a text, which orders as they do; those of texts that go on may be equal where the texts are not.
#[inline(always)]
pub fn leading(text: &[u8]) -> u128 {
    let low = |bytes: &[u8]| bytes.iter().fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
    match (text.first_chunk::<16>(), text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(chunk), _, _) => u128::from_be_bytes(*chunk) & !0xff | 16,
        (None, Some(first), Some(last)) => {
            let (first, last) = (u128::from(u64::from_be_bytes(*first)), u128::from(u64::from_be_bytes(*last)));
            // The bytes that are in both are the same there.
            first << 64 | last << (8 * (16 - text.len())) | text.len() as u128
        }
        _ => low(text) << (8 * (16 - text.len()) % 128) | text.len() as u128,
    }
}

/// Whether texts whose leading numbers are equal are equal.
fn is_whole(leading: u128) -> bool {
    leading as u8 as usize <= LEADING
}

/// For each text the number of those that are less than it, among those that differ; none if it is not worth it, as many differ.
pub fn ranks<'a>(texts: impl ExactSizeIterator<Item = &'a [u8]>) -> Option<Vec<u32>> {
    let n = texts.len();
    if n < SOME {
        return None;
    }
    let mut ranks = Vec::with_capacity(n);
    let mut known = Known::new();
    let sample = (n / 16).clamp(SOME, SAMPLE);
    for text in texts {
        ranks.push(known.place(text));
        let most = if ranks.len() == sample { sample / 16 * 15 } else { n / SHARE };
        if known.words.len() > most {
            return None;
        }
    }
    let ranks_of = known.ranks();
    ranks.iter_mut().for_each(|place| *place = ranks_of[*place as usize]);
    Some(ranks)
}

/// Texts that differ, in the order in which they came, with open addressing; at most half of the slots are taken.
struct Known<'a> {
    /// One more than a place, or 0.
    slots: Vec<u32>,
    words: Vec<(u128, &'a [u8])>,
    // Texts may come from outside: a hash with a random state cannot be made to collide.
    state: RandomState,
    secret: [u64; 2],
}

impl<'a> Known<'a> {
    fn new() -> Known<'a> {
        let state = RandomState::new();
        let secret = [state.hash_one(0), state.hash_one(1)];
        Known { slots: vec![0; 4 * SOME], words: Vec::new(), state, secret }
    }

    /// The place of a text, which is added if it is new.
    fn place(&mut self, text: &'a [u8]) -> u32 {
        let number = leading(text);
        let slot = self.slot(number, text);
        if self.slots[slot] > 0 {
            return self.slots[slot] - 1;
        }
        self.words.push((number, text));
        self.slots[slot] = self.words.len() as u32;
        if 2 * self.words.len() > self.slots.len() {
            self.slots = vec![0; 4 * self.slots.len()];
            for place in 0..self.words.len() {
                let (number, text) = self.words[place];
                let slot = self.slot(number, text);
                self.slots[slot] = place as u32 + 1;
            }
        }
        self.words.len() as u32 - 1
    }

    /// Where a text stands, or the free slot where it would.
    #[inline(always)]
    fn slot(&self, number: u128, text: &[u8]) -> usize {
        let whole = is_whole(number);
        let hash = if whole { hash(number, self.secret) } else { self.state.hash_one(text) };
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(place) = (self.slots[slot] as usize).checked_sub(1) {
            let (word, there) = self.words[place];
            if word == number && (whole || there == text) {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// The rank of each text.
    fn ranks(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.words.len() as u32).collect();
        order.sort_unstable_by_key(|place| self.words[*place as usize]);
        let mut ranks = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(place, rank)| ranks[*place as usize] = rank);
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<Vec<u8>> {
        let mut texts: Vec<Vec<u8>> = (0..40).map(|n| vec![b'a'; n]).collect();
        texts.extend((0..40).map(|n| [vec![b'a'; n], vec![0]].concat()));
        texts.extend((0..40).map(|n| [vec![b'a'; n], vec![0xff, b'b']].concat()));
        texts.extend((0..20).map(|n| vec![0; n]));
        texts
    }

    #[test]
    fn leading_numbers_order_as_texts() {
        for a in &texts() {
            for b in &texts() {
                let (x, y) = (leading(a), leading(b));
                assert_eq!(x.cmp(&y).then_with(|| a.cmp(b)), a.cmp(b), "{a:?} {b:?}");
                assert!(x != y || a == b || !is_whole(x), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn ranks_are_places_among_those_that_differ() {
        let words = texts();
        let mut sorted = words.clone();
        sorted.sort();
        sorted.dedup();
        for n in [63, 64, 700, 5000] {
            let few: Vec<&[u8]> = (0..n).map(|i| &words[i * i % words.len()][..]).collect();
            let found = ranks(few.iter().copied());
            assert_eq!(found.is_some(), n >= 700, "{n}");
            let mut differ: Vec<&&[u8]> = few.iter().collect();
            differ.sort();
            differ.dedup();
            let rank = |text: &&[u8]| differ.binary_search(&text).expect("known") as u32;
            assert!(found.is_none_or(|ranks| ranks == few.iter().map(rank).collect::<Vec<_>>()), "{n}");
        }
        let many: Vec<Vec<u8>> = (0..5000).map(|i| i.to_string().into_bytes()).collect();
        assert_eq!(ranks(many.iter().map(Vec::as_slice)), None);
        // Many that come late are known only there.
        let late = (0..9000).map(|i: usize| &many[i.saturating_sub(4000)][..]);
        assert_eq!(ranks(late), None);
    }
}
