//! Categories: places among words.
//!
//! Invariant: a word is there once for each dictionary that has it, and in the end once. Words that are written one after another are a
//! dictionary of their own.

use super::super::views::{dictionary, joined};
use super::Stop;
use super::texts::array;
use super::values::{Leaf, Places, Room};
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, ArrayRef, GenericByteArray, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};
use foldhash::HashMap;

/// Growing categories, in parts of one dictionary each, as several neighbours may have it.
pub struct Words<T: ByteArrayType>(Vec<Part<T>>);

struct Part<T: ByteArrayType> {
    words: GenericByteArray<T>,
    /// The place of each slot in them.
    places: Vec<u32>,
    /// Whether they are those of a dictionary of the file, in which each stands once.
    distinct: bool,
}

/// The place of a slot that has none.
const NONE: u32 = u32::MAX;

impl<T: ByteArrayType> Default for Words<T> {
    fn default() -> Words<T> {
        Words(Vec::new())
    }
}

/// The place of a slot that has one.
fn there(place: u32) -> Option<usize> {
    (place != NONE).then_some(place as usize)
}

/// Whether two dictionaries are one in memory.
fn same<T: ByteArrayType>(a: &GenericByteArray<T>, b: &GenericByteArray<T>) -> bool {
    a.len() == b.len() && std::ptr::eq(a.value_offsets().as_ptr(), b.value_offsets().as_ptr())
}

/// The places of slots, of which some have none.
fn spread(places: impl IntoIterator<Item = u32>, room: Room<'_>) -> Vec<u32> {
    let mut out = Vec::with_capacity(room.slots);
    room.fill(places, |place| out.push(place.unwrap_or(NONE)));
    out
}

impl<T: ByteArrayType> Leaf for Words<T> {
    type Dictionary = GenericByteArray<T>;

    fn dictionary(bytes: &[u8], count: usize) -> Result<GenericByteArray<T>, Stop> {
        array(bytes, count)
    }

    fn plain(&mut self, bytes: &[u8], room: Room<'_>) -> Result<(), Stop> {
        let words = array::<T>(bytes, room.values)?;
        self.0.push(Part { words, places: spread(0.., room), distinct: false });
        Ok(())
    }

    fn placed(&mut self, words: &GenericByteArray<T>, places: Places<'_>, room: Room<'_>) -> Result<(), Stop> {
        let found = places.all(words.len())?;
        let places = if room.levels.is_none() { found } else { spread(found, room) };
        self.0.push(Part { words: words.clone(), places, distinct: true });
        Ok(())
    }

    fn append(&mut self, mut more: Words<T>) -> Result<(), ArrowError> {
        self.0.append(&mut more.0);
        Ok(())
    }

    fn finish(self, data_type: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let DataType::Dictionary(keys, of) = data_type else {
            return Err(ArrowError::CastError(format!("categories are no {data_type}")));
        };
        let n = self.0.iter().map(|part| part.places.len()).sum();
        let dictionaries: Vec<&[Part<T>]> = self.0.chunk_by(|a, b| same(&a.words, &b.words)).collect();
        if let [[Part { words, distinct: true, .. }, ..]] = dictionaries[..]
            && (!words.is_empty() || nulls.is_some())
        {
            let places = self.0.iter().map(|part| part.places.iter().map(|place| there(*place).unwrap_or(0)));
            return dictionary((n, places), words.to_data(), data_type, keys, nulls).map(make_array);
        }
        let (mut table, mut words) = (HashMap::<&[u8], usize>::default(), Vec::new());
        let mut known = Vec::with_capacity(dictionaries.len());
        for part in dictionaries.iter().filter_map(|parts| parts.first()) {
            let place = |i: usize| {
                let word: &[u8] = part.words.value(i).as_ref();
                *table.entry(word).or_insert_with(|| {
                    words.push(word);
                    words.len() - 1
                })
            };
            known.push((0..part.words.len()).map(place).collect::<Vec<usize>>());
        }
        if words.is_empty() && nulls.is_none() && n > 0 {
            words.push(&[]);
        }
        let words = joined(of, || words.iter().copied())?.build()?;
        let parts =
            dictionaries.iter().zip(&known).flat_map(|(parts, known)| parts.iter().map(move |part| (part, known)));
        let place = |place: u32, known: &[usize]| there(place).and_then(|place| known.get(place)).copied().unwrap_or(0);
        let places = parts.map(|(part, known)| part.places.iter().map(move |at| place(*at, known)));
        dictionary((n, places), words, data_type, keys, nulls).map(make_array)
    }
}
