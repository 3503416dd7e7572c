//! Texts and bytes.
//!
//! Invariant: texts are UTF-8 where their type says so. A dictionary and a page are looked at once, and not again for each value.
//! What all texts of a read come to is bounded, as few bytes can say many times which text of a dictionary they mean.

use super::page::{length, split};
use super::values::{Leaf, Places, Room};
use super::way::Way;
use super::{Stop, bad};
use arrow_array::builder::GenericByteBuilder;
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, ArrayRef, GenericByteArray};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use extenso_core::kernels::pool::affordable;
use extenso_types::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes texts may still have, all together.
#[derive(Debug)]
pub struct Budget(AtomicUsize);

impl Budget {
    pub fn new(bytes: usize) -> Budget {
        Budget(AtomicUsize::new(bytes))
    }

    /// Takes so many of them.
    ///
    /// Errors: there are fewer.
    pub fn take(&self, bytes: usize) -> Result<(), Error> {
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map(drop).map_err(|_| too_much())
    }
}

/// The error of texts that few bytes say.
pub fn too_much() -> Error {
    let error = Error::data("the texts have far more bytes than the file, which says many times what they are");
    error.wanted("bytes in proportion to the file").hint("Read it in blocks of rows, or fewer columns or row groups.")
}

/// Growing texts.
pub struct Texts<T: ByteArrayType> {
    /// Texts put together already.
    parts: Vec<GenericByteArray<T>>,
    building: GenericByteBuilder<T>,
    /// Whether a null is one, and not only nothing below one.
    nullable: bool,
    /// One text of no bytes.
    nothing: GenericByteArray<T>,
    budget: Arc<Budget>,
}

impl<T: ByteArrayType> Texts<T> {
    pub fn new(way: &Way, budget: &Arc<Budget>) -> Texts<T> {
        let building = GenericByteBuilder::with_capacity(0, 0);
        let nothing = GenericByteArray::new(OffsetBuffer::new_zeroed(1), Buffer::default(), None);
        Texts { parts: Vec::new(), building, nullable: way.nullable, nothing, budget: budget.clone() }
    }

    /// Makes sure that so many more bytes can be counted, and has room for the first of them.
    fn grow(&mut self, texts: usize, bytes: usize) -> Result<(), Stop> {
        self.budget.take(bytes)?;
        affordable(bytes)?;
        if self.building.offsets_slice().len() == 1 {
            self.building = GenericByteBuilder::with_capacity(texts, bytes);
        }
        let all = self.building.values_slice().len().checked_add(bytes);
        match all.and_then(T::Offset::from_usize) {
            Some(_) => Ok(()),
            None => Err(bad("the texts of a column have more bytes than its type counts")),
        }
    }

    /// Adds texts, of which there are as many as the room has values.
    fn fill<'a>(&mut self, texts: impl IntoIterator<Item = &'a T::Native>, room: Room<'_>) {
        let (building, nullable, nothing) = (&mut self.building, self.nullable, &self.nothing);
        room.fill(texts, |text| match text {
            Some(text) => building.append_value(text),
            None if nullable => building.append_null(),
            None => building.append_value(nothing.value(0)),
        });
    }
}

/// Texts that are written one after another, each behind its length.
pub fn array<T: ByteArrayType>(bytes: &[u8], count: usize) -> Result<GenericByteArray<T>, Stop> {
    let least = count.saturating_mul(4);
    if least > bytes.len() {
        return Err(bad(format!("{count} texts are said to follow, and {} bytes do", bytes.len())));
    }
    let (mut texts, mut offsets) = (Vec::with_capacity(bytes.len() - least), Vec::with_capacity(count + 1));
    offsets.push(T::Offset::default());
    let mut rest = bytes;
    for _ in 0..count {
        let (n, behind) = length(rest)?;
        let (text, behind) = split(behind, n)?;
        texts.extend_from_slice(text);
        rest = behind;
        offsets.push(T::Offset::from_usize(texts.len()).ok_or_else(|| bad("a page has more bytes than are counted"))?);
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    GenericByteArray::try_new(offsets, texts.into(), None).map_err(|e| bad(e.to_string()))
}

impl<T: ByteArrayType> Leaf for Texts<T> {
    type Dictionary = GenericByteArray<T>;

    fn dictionary(bytes: &[u8], count: usize) -> Result<GenericByteArray<T>, Stop> {
        array(bytes, count)
    }

    fn plain(&mut self, bytes: &[u8], room: Room<'_>) -> Result<(), Stop> {
        let texts = array::<T>(bytes, room.values)?;
        self.grow(room.slots, texts.value_data().len())?;
        match room.levels {
            None => self.building.append_array(&texts).map_err(|e| bad(e.to_string()))?,
            Some(_) => self.fill((0..texts.len()).map(|i| texts.value(i)), room),
        }
        Ok(())
    }

    fn placed(&mut self, dictionary: &GenericByteArray<T>, places: Places<'_>, room: Room<'_>) -> Result<(), Stop> {
        let found = places.all(dictionary.len())?;
        let length = |place: &u32| dictionary.value_length(*place as usize).as_usize();
        self.grow(room.slots, found.iter().map(length).fold(0, usize::saturating_add))?;
        self.fill(found.iter().map(|place| dictionary.value(*place as usize)), room);
        Ok(())
    }

    fn append(&mut self, mut more: Texts<T>) -> Result<(), ArrowError> {
        self.parts.append(&mut more.parts);
        self.parts.push(more.building.finish());
        Ok(())
    }

    fn finish(mut self, _: &DataType, _: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        if self.building.offsets_slice().len() > 1 || self.parts.is_empty() {
            self.parts.push(self.building.finish());
        }
        let parts: Vec<&dyn Array> = self.parts.iter().map(|part| part as &dyn Array).collect();
        arrow_select::concat::concat(&parts)
    }
}
