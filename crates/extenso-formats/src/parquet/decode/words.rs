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
use std::collections::HashMap;

/// Growing categories, in parts of one dictionary each.
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

impl<T: ByteArrayType> Words<T> {
    fn add(&mut self, mut part: Part<T>) {
        match self.0.last_mut().filter(|last| same(&last.words, &part.words)) {
            Some(last) => last.places.append(&mut part.places),
            None => self.0.push(part),
        }
    }
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
        self.add(Part { words, places: spread(0.., room), distinct: false });
        Ok(())
    }

    fn placed(&mut self, words: &GenericByteArray<T>, places: Places<'_>, room: Room<'_>) -> Result<(), Stop> {
        let found = places.all(words.len())?;
        let places = if room.levels.is_none() { found } else { spread(found, room) };
        self.add(Part { words: words.clone(), places, distinct: true });
        Ok(())
    }

    fn append(&mut self, more: Words<T>) -> Result<(), ArrowError> {
        more.0.into_iter().for_each(|part| self.add(part));
        Ok(())
    }

    fn finish(self, data_type: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let DataType::Dictionary(keys, of) = data_type else {
            return Err(ArrowError::CastError(format!("categories are no {data_type}")));
        };
        if let [Part { words, places, distinct: true }] = &self.0[..]
            && (!words.is_empty() || nulls.is_some())
        {
            let places = places.iter().map(|place| if *place == NONE { 0 } else { *place as usize });
            return dictionary(places, words.to_data(), data_type, keys, nulls).map(make_array);
        }
        let (mut known, mut words) = (HashMap::<&[u8], usize>::new(), Vec::new());
        let mut places = Vec::with_capacity(self.0.iter().map(|part| part.places.len()).sum());
        for part in &self.0 {
            let place = |i: usize| {
                let word: &[u8] = part.words.value(i).as_ref();
                *known.entry(word).or_insert_with(|| {
                    words.push(word);
                    words.len() - 1
                })
            };
            let known: Vec<usize> = (0..part.words.len()).map(place).collect();
            places.extend(part.places.iter().map(|place| known.get(*place as usize).copied().unwrap_or(0)));
        }
        if words.is_empty() && nulls.is_none() && !places.is_empty() {
            words.push(&[]);
        }
        let words = joined(of, || words.iter().copied())?.build()?;
        dictionary(places.iter().copied(), words, data_type, keys, nulls).map(make_array)
    }
}
