//! Levels to slots: at each depth, what is there or null, and how many items each list has.
//!
//! An entry of a column is a definition and a repetition level. It begins a slot at a depth if it repeats nothing deeper and is
//! defined so far that the depth has an item (Melnik et al., "Dremel", 2010). So the slots of a depth are found among the entries
//! that begin one of the depth below, from the inside out.
//!
//! Invariant: the starts of a depth never decrease, and are at most the number of slots of the next.

use super::hybrid::Levels;
use super::way::Way;
use super::{Stop, bad};

/// The slots of all depths, the rows first.
#[derive(Debug)]
pub struct Nest {
    pub depths: Vec<Slots>,
}

/// The slots of one depth.
#[derive(Default, Debug)]
pub struct Slots {
    /// The definition level of each.
    pub levels: SlotLevels,
    /// How many slots the next depth has before those of each; of none, if there is no next depth.
    pub starts: Vec<usize>,
}

/// The definition level of each slot, which is not written down as long as all are the largest.
#[derive(Default, Debug)]
pub struct SlotLevels {
    len: usize,
    each: Vec<u8>,
}

impl From<Vec<u8>> for SlotLevels {
    fn from(each: Vec<u8>) -> SlotLevels {
        SlotLevels { len: each.len(), each }
    }
}

impl SlotLevels {
    pub fn len(&self) -> usize {
        self.len
    }

    /// The levels from a slot on; none if all of all slots are the largest.
    pub fn each(&self, start: usize) -> Option<&[u8]> {
        self.each.get(start..).filter(|_| !self.each.is_empty())
    }

    fn add_largest(&mut self, n: usize, most: u8) {
        self.len += n;
        if !self.each.is_empty() {
            self.each.resize(self.len, most);
        }
    }

    fn add(&mut self, levels: impl IntoIterator<Item = u8>, most: u8) {
        self.each.resize(self.len, most);
        self.each.extend(levels);
        self.len = self.each.len();
    }

    fn append(&mut self, other: &SlotLevels, most: u8) {
        match other.each(0) {
            Some(each) => self.add(each.iter().copied(), most),
            None => self.add_largest(other.len, most),
        }
    }
}

impl Nest {
    pub fn new(way: &Way) -> Nest {
        Nest { depths: way.depths.iter().map(|_| Slots::default()).collect() }
    }

    /// How many slots a depth has.
    pub fn len(&self, depth: usize) -> usize {
        self.depths.get(depth).map_or(0, |slots| slots.levels.len())
    }

    /// Adds the slots of entries, and gets how many of the values are there.
    ///
    /// Errors: the levels are not of the same entries.
    pub fn add(&mut self, way: &Way, levels: &Levels, repeats: &Levels) -> Result<usize, Stop> {
        if levels.len() != repeats.len() {
            return Err(bad("there are not as many repetition levels as definition levels"));
        }
        let before: Vec<usize> = self.depths.iter().map(|slots| slots.levels.len()).collect();
        let last = self.depths.len() - 1;
        let values = self.add_items(way, last, levels);
        // Where all repeat the innermost list, no other depth begins.
        let Levels::Each(repeats) = repeats else { return Ok(values) };
        let levels = match levels {
            Levels::Largest(_) => None,
            Levels::Each(each) => Some(&each[..]),
        };
        let mut inner = Begun::default();
        for depth in (0..last).rev() {
            let from = way.depths[depth + 1].from;
            let outer = match depth + 1 == last {
                true => Begun::at(depth, from, way.there, levels, repeats),
                false => Begun::at(depth, from, way.there, Some(&inner.levels), &inner.repeats),
            };
            self.add_outer(depth, way, &outer, before[depth + 1]);
            inner = outer;
        }
        Ok(values)
    }

    /// Adds the slots of values.
    fn add_items(&mut self, way: &Way, depth: usize, levels: &Levels) -> usize {
        let (from, items) = (way.depths[depth].from, &mut self.depths[depth].levels);
        match levels {
            Levels::Largest(n) => {
                items.add_largest(*n, way.there);
                *n
            }
            Levels::Each(each) => {
                let values = count(each, way.there);
                let slots =
                    if from == way.there { values } else { each.iter().filter(|level| **level >= from).count() };
                match slots {
                    _ if slots == values => items.add_largest(slots, way.there),
                    _ if slots == each.len() => items.add(each.iter().copied(), way.there),
                    _ => items.add(each.iter().copied().filter(|level| *level >= from), way.there),
                }
                values
            }
        }
    }

    fn add_outer(&mut self, depth: usize, way: &Way, begun: &Begun, base: usize) {
        let from = way.depths[depth].from;
        let Slots { levels, starts } = &mut self.depths[depth];
        let is_slot = |level: &u8| *level >= from;
        levels.add(begun.levels.iter().copied().filter(is_slot), way.there);
        let slots = begun.levels.iter().zip(&begun.before).filter(|(level, _)| is_slot(level));
        starts.extend(slots.map(|(_, before)| base + before));
    }

    /// Adds the slots of what follows.
    pub fn append(&mut self, way: &Way, other: &Nest) {
        let next: Vec<usize> = self.depths.iter().skip(1).map(|slots| slots.levels.len()).collect();
        for (depth, (slots, more)) in self.depths.iter_mut().zip(&other.depths).enumerate() {
            slots.levels.append(&more.levels, way.there);
            let base = next.get(depth).copied().unwrap_or(0);
            slots.starts.extend(more.starts.iter().map(|start| base + start));
        }
    }
}

/// How many levels are at least `least`.
fn count(levels: &[u8], least: u8) -> usize {
    // Counted in bytes, as many as a byte can count, so that many are compared at a time.
    let counts = levels.chunks(255).map(|some| some.iter().map(|level| u8::from(*level >= least)).sum::<u8>());
    counts.map(usize::from).sum()
}

/// The entries that begin a slot at some depth or further out, with how many slots of the next depth are before each.
#[derive(Default)]
struct Begun {
    levels: Vec<u8>,
    repeats: Vec<u8>,
    before: Vec<usize>,
}

/// The highest bit and the lowest of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;
const LOW: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each byte that is at least `least`; all are below 128.
fn at_least(bytes: u64, least: u8) -> u64 {
    ((bytes | HIGH) - u64::from(least) * LOW) & HIGH
}

impl Begun {
    /// Those at `depth`, where an item of the next depth is defined `from` a level on. Without levels all are the largest.
    fn at(depth: usize, from: u8, most: u8, levels: Option<&[u8]>, repeats: &[u8]) -> Begun {
        let mut begun = Begun::default();
        // There are fewer lists than levels.
        let deeper = u8::try_from(depth + 1).unwrap_or(u8::MAX);
        let mut before = 0;
        let (eights, rest) = repeats.as_chunks::<8>();
        for (i, eight) in eights.iter().enumerate() {
            let here = levels.and_then(|levels| levels.get(8 * i..)?.first_chunk::<8>());
            let items = here.map_or(HIGH, |levels| at_least(u64::from_le_bytes(*levels), from));
            let mut begins = !at_least(u64::from_le_bytes(*eight), deeper) & HIGH;
            while begins != 0 {
                let bit = begins.trailing_zeros();
                let place = (bit / 8) as usize;
                let items_before = (items & ((1 << bit) - 1)).count_ones() as usize;
                begun.push(here.map_or(most, |levels| levels[place]), eight[place], before + items_before);
                begins &= begins - 1;
            }
            before += items.count_ones() as usize;
        }
        for (i, repeat) in rest.iter().enumerate() {
            let level = levels.map_or(most, |levels| levels[8 * eights.len() + i]);
            if *repeat < deeper {
                begun.push(level, *repeat, before);
            }
            before += usize::from(level >= from);
        }
        begun
    }

    fn push(&mut self, level: u8, repeat: u8, before: usize) {
        self.levels.push(level);
        self.repeats.push(repeat);
        self.before.push(before);
    }
}
